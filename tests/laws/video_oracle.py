"""The price of a request by the plain formulas of the specification, in fractions: short, slow, and independent."""

from fractions import Fraction
from math import ceil, floor, log
from typing import Any

from video_requests import REFERENCE, Request

from ratecard.methods.video import InterpolationRate, UpscaleRate
from ratecard.methods.video_sizes import MegapixelRate, TokenFormula
from ratecard.tables.rate import Rate
from ratecard.tables.video import VideoCharge


def expected(request: Request) -> Fraction:
    """The exact amount: each charge to 12 places, half-up, and their sum."""
    amounts = (amount_of(charge, request) for charge in request.cell.version.charges)
    return sum((Fraction(floor(amount * 10**12 + Fraction(1, 2)), 10**12) for amount in amounts), Fraction(0))


def amount_of(charge: VideoCharge, request: Request) -> Fraction:
    body, source = request.meant, request.source
    if isinstance(charge, TokenFormula):
        seconds = seconds_of(request) + reference_of(request)
        if reference_of(request):
            seconds = max(seconds, Fraction(ceil(seconds_of(request) * Fraction(5, 3))))
        return seconds * pixels_of(charge, request) * 24 / 1024 / 1_000_000 * rate_of(charge, request)
    if isinstance(charge, UpscaleRate):
        height = source.height * int(body.get("upscale_factor", 2)) if source and source.height else None
        fps = body.get("target_fps") or (source.fps if source else None)
        return seconds_of(request) * rate_of(charge, request, height) * (2 if fps is None or fps >= 48 else 1)
    if isinstance(charge, InterpolationRate):
        rate = rate_of(charge, request, source.height if source else None)
        return seconds_of(request) * int(body.get("slowdown_factor", 1)) * Fraction(body["target_fps"]) * rate / 60
    if isinstance(charge, MegapixelRate):
        return frames_of(charge, request) * pixels_of(charge, request) / 1_000_000 * rate_of(charge, request)
    seconds = Fraction(1) if charge.unit in ("clip", "image", "input_image") else seconds_of(request)
    return seconds * rate_of(charge, request)


def reference_of(request: Request) -> Fraction:
    takes_it = request.cell.version.accepts.reference_video_total_duration
    return Fraction(request.meant.get(REFERENCE, 0)) if takes_it else Fraction(0)


def seconds_of(request: Request) -> Fraction:
    if request.cell.of_source and request.source and request.source.seconds:
        return request.source.seconds
    word = str(request.meant.get("duration", (request.cell.version.accepts.duration or ("",))[0]))
    return Fraction(int(word[:-1])) if word.endswith("s") else Fraction(ceil(reference_of(request)))


def frames_of(charge: MegapixelRate, request: Request) -> Fraction:
    if charge.sizes:
        return 24 * seconds_of(request) + 1
    assert request.source
    assert request.source.fps
    return seconds_of(request) * request.source.fps


def pixels_of(charge: TokenFormula | MegapixelRate, request: Request) -> int:
    if not charge.sizes:
        assert request.source
        assert request.source.width
        assert request.source.height
        return request.source.width * request.source.height * int(request.meant.get("upscale_factor", 2)) ** 2
    asked = {name: value_of(request, name) for name in ("resolution", "aspect_ratio")}
    sizes = {
        entry.aspect_ratio: entry.size for entry in charge.sizes if entry.resolution in (None, asked["resolution"])
    }
    source = request.source
    if asked["aspect_ratio"] in ("auto", "adaptive") and source and source.width and source.height:
        wide = log(source.width / source.height)
        ratio = min(sizes, key=lambda words: abs(log_of(words or "1:1") - wide))
        return sizes[ratio].width * sizes[ratio].height
    if asked["aspect_ratio"] in sizes:
        return sizes[asked["aspect_ratio"]].width * sizes[asked["aspect_ratio"]].height
    return max(size.width * size.height for size in sizes.values())


def log_of(words: str) -> float:
    width, height = words.split(":")
    return log(int(width) / int(height))


def value_of(request: Request, name: str) -> Any:
    """What a field stands for where it is left out, and in the model's own spelling."""
    accepts, given = request.cell.version.accepts, request.meant.get(name)
    if name == "audio":
        return {"none": "false", "always": "true"}.get(accepts.audio, str(request.meant.get("audio", True)).lower())
    if name == "video_input":
        return str(bool(reference_of(request))).lower()
    values = getattr(accepts, name) or (None,)
    return request.cell.version.defaults.get(name, values[0]) if given is None else given


def rate_of(charge: VideoCharge, request: Request, height: int | None = None) -> Fraction:
    """The rate whose attributes all fit: at the first tier that holds the height, or at the dearest."""
    fitting = [rate for rate in charge.rates if fits(rate, request)]
    edges = [(Fraction(rate.rate), edge) for rate in fitting for edge in rate.attributes.get("up_to", ("any",))]
    if height is None:
        return max(edges)[0] * Fraction(charge.markup)
    by_edge = {float("inf") if edge == "any" else int(edge): rate for rate, edge in edges}
    return by_edge[min(edge for edge in by_edge if edge >= height)] * Fraction(charge.markup)


def fits(rate: Rate, request: Request) -> bool:
    return all(value_of(request, name) in words for name, words in rate.attributes.items() if name != "up_to")
