"""Which calculator rates which kind of charge."""

from ratecard.rating.compiling import Calculator, Compiling
from ratecard.rating.interpolation_rate import interpolation_rate
from ratecard.rating.megapixel_rate import megapixel_rate
from ratecard.rating.per_clip import per_clip
from ratecard.rating.per_second import per_second
from ratecard.rating.token_formula import token_formula
from ratecard.rating.upscale_rate import upscale_rate
from ratecard.tables.video_charges import (
    InterpolationRate,
    MegapixelRate,
    PerClip,
    PerSecond,
    TokenFormula,
    UpscaleRate,
)


def calculator(charge: Compiling) -> Calculator:
    """The function that turns a shape into this charge's line item."""
    match charge.charge:
        case PerSecond():
            return per_second(charge)
        case PerClip():
            return per_clip(charge)
        case TokenFormula() as options:
            return token_formula(charge, options)
        case MegapixelRate() as options:
            return megapixel_rate(charge, options)
        case UpscaleRate() as options:
            return upscale_rate(charge, options)
        case InterpolationRate() as options:
            return interpolation_rate(charge, options)
        case other:
            raise NotImplementedError(f"no calculator for {other.method}")
