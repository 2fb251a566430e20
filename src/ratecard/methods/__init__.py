"""The pricing methods: one class for each, which a table names, knows all of it; everything else asks it."""

from ratecard.methods.audio import DurationBand, PerAudioSecond, PerCharacter, PerSong
from ratecard.methods.count import PerCount
from ratecard.methods.images import PerImage, PerInputImage, PerUpscale
from ratecard.methods.method import METHODS, method_of, register
from ratecard.methods.rpc import RpcCredits
from ratecard.methods.surcharge import Surcharge
from ratecard.methods.tokens import TokensByBucket
from ratecard.methods.video import InterpolationRate, PerClip, PerSecond, UpscaleRate
from ratecard.methods.video_sizes import MegapixelRate, TokenFormula

__all__ = ["METHODS", "method_of", "register"]

register(TokensByBucket)
register(PerImage)
register(PerInputImage)
register(PerUpscale)
register(PerCharacter)
register(PerAudioSecond)
register(PerSong)
register(DurationBand)
register(Surcharge)
register(RpcCredits)
register(PerCount)
register(PerSecond)
register(PerClip)
register(TokenFormula)
register(MegapixelRate)
register(UpscaleRate)
register(InterpolationRate)
