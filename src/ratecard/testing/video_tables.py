"""Strategies for versions of video models, one for each method."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from ratecard.testing.table_parts import Draft, charges, numbers, rates_by, some

DURATIONS = ("1s", "4s", "5s", "10s", "30s")
RESOLUTIONS = ("480p", "720p", "1080p", "4k")
RATIOS = ("16:9", "1:1", "9:16")
AUDIO = ("none", "always", "configurable")
_HEARD = {"none": ["false"], "always": ["true"], "configurable": ["false", "true"]}
_WIDTH, _HEIGHT = st.integers(1, 99_999).map(str), st.integers(1, 99_999).map(str)


@st.composite
def by_the_second(draw: st.DrawFn, method: str) -> Draft:
    """Seconds times a rate, and perhaps a fee for the image that is sent."""
    accepts = draw(_accepts())
    rates = draw(rates_by(_choices(accepts, "resolution", "audio")))
    found = [draw(charges(method, "video_second", rates))]
    if draw(st.booleans()):
        found.append(draw(charges("fixed", "input_image", draw(rates_by({})))))
    return draw(_version(accepts, found))


@st.composite
def by_the_clip(draw: st.DrawFn, method: str) -> Draft:
    """One price a clip."""
    accepts = draw(_accepts())
    rates = draw(rates_by(_choices(accepts, "resolution", "audio", "duration")))
    return draw(_version(accepts, [draw(charges(method, "clip", rates))]))


@st.composite
def by_video_tokens(draw: st.DrawFn, method: str) -> Draft:
    """Tokens of pixels, with reference video or without."""
    accepts = draw(_accepts(audio=False))
    clips = draw(st.booleans())
    sizes = draw(_sizes(accepts))
    if clips:
        cap = draw(st.integers(1, 15))
        accepts["reference_video_total_duration"] = {"max": str(cap)}
        if cap >= 4 and draw(st.booleans()):  # a clip of 4 seconds or more may say how long the video is
            accepts["duration"] = [f"{second}s" for second in range(4, cap + 1)] + ["-1"]
        if "aspect_ratio" in accepts and draw(st.booleans()):
            accepts["aspect_ratio"] = [*accepts["aspect_ratio"], "adaptive"]
    choices = _choices(accepts, "resolution") | ({"video_input": ["false", "true"]} if clips else {})
    options = {
        "frames_per_second": draw(st.sampled_from(("24", "30"))),
        "pixels_per_token": draw(st.sampled_from(("1024", "1000"))),
        "reference_minimum": draw(st.sampled_from(("5/3", "0", "2"))),
        "sizes": sizes,
    }
    return draw(_version(accepts, [draw(charges(method, "mtoken", draw(rates_by(choices)), **options))]))


@st.composite
def by_the_megapixel(draw: st.DrawFn, method: str) -> Draft:
    """Megapixels of listed sizes, or of the source video."""
    options: Draft = {"megapixels": draw(st.sampled_from(("exact", "rounded-up")))}
    if draw(st.booleans()):
        accepts = draw(_accepts(audio=False))
        plus = str(draw(st.integers(0, 1)))
        options |= {"frames": {"per_second": "24", "plus": plus}, "sizes": draw(_sizes(accepts))}
        rates = draw(rates_by(_choices(accepts, "resolution")))
    else:
        accepts = draw(_source())
        rates = draw(rates_by({}))
    return draw(_version(accepts, [draw(charges(method, "megapixel", rates, **options))]))


@st.composite
def by_the_tier(draw: st.DrawFn, method: str) -> Draft:
    """Upscaling or interpolation: a rate for every tier of heights, and perhaps for every enhancement model."""
    accepts = draw(_source(factor="upscale_factor" if method == "upscale-rate" else "slowdown_factor"))
    accepts["target_fps"] = {"min": "16", "max": "120"}
    choices = {"up_to": [*draw(some(("480", "720", "1080"))), "any"]}
    if draw(st.booleans()):
        choices["enhancement_model"] = accepts["enhancement_model"] = draw(some(("Proteus", "Gaia")))
    rates = draw(rates_by(choices).filter(lambda rates: "up_to" in rates[0]))
    if method == "upscale-rate":
        step = {"from": str(draw(st.integers(17, 120))), "factor": draw(numbers(most=4))}
        found = charges(method, "video_second", rates, frame_rate=step)
    else:
        found = charges(method, "interpolated_second", rates, at_frame_rate=draw(st.sampled_from(("60", "24"))))
    return draw(_version(accepts, [draw(found)]))


@st.composite
def _accepts(draw: st.DrawFn, audio: bool = True) -> Draft:
    accepts: Draft = {"duration": draw(some(DURATIONS))}
    for name, values in (("resolution", RESOLUTIONS), ("aspect_ratio", RATIOS)):
        if draw(st.booleans()):
            accepts[name] = draw(some(values))
    return accepts | {"audio": draw(st.sampled_from(AUDIO)) if audio else "none"}


@st.composite
def _source(draw: st.DrawFn, factor: str = "upscale_factor") -> Draft:
    factors = draw(some(("1", "2", "4")))
    limit = {"video_url": {"max_seconds": str(draw(st.integers(1, 300)))}} if draw(st.booleans()) else {}
    return {"duration": [*draw(some(DURATIONS)), "Auto"], factor: factors, "audio": "none", **limit}


@st.composite
def _sizes(draw: st.DrawFn, accepts: Draft) -> list[Draft]:
    named = [(name, accepts[name]) for name in ("resolution", "aspect_ratio") if name in accepts]
    keys: list[Draft] = [{}]
    for name, values in named:
        keys = [{**key, name: value} for key in keys for value in values]
    return [{**key, "size": f"{draw(_WIDTH)}x{draw(_HEIGHT)}"} for key in keys]


@st.composite
def _version(draw: st.DrawFn, accepts: Draft, found: list[Draft]) -> Draft:
    """With a default for some of the choices, and with what is asked in its example."""
    names = [name for name, values in accepts.items() if isinstance(values, list)]
    defaults = {name: draw(st.sampled_from(accepts[name])) for name in names if draw(st.booleans())}
    places = draw(st.integers(0, 4))
    rounding = {"places": str(places), "mode": "half-up"}
    if draw(st.booleans()):
        rounding["line_places"] = str(draw(st.integers(places, 12)))
    kept = {"defaults": defaults} if defaults else {}
    return {"accepts": accepts, **kept, "charges": found, "rounding": rounding}


def _choices(accepts: Draft, *names: str) -> dict[str, list[str]]:
    """The values by which rates may differ."""
    found: dict[str, Any] = {name: accepts[name] for name in names if name in accepts}
    return found | ({"audio": _HEARD[accepts["audio"]]} if "audio" in names else {})


VERSIONS: dict[str, tuple[str, Callable[[str], st.SearchStrategy[Draft]]]] = {
    "fixed": ("text-to-video", by_the_clip),
    "duration-rate": ("text-to-video", by_the_second),
    "resolution-rate": ("image-to-video", by_the_second),
    "duration-resolution-rate": ("text-to-video", by_the_clip),
    "token-formula": ("reference-to-video", by_video_tokens),
    "megapixel-rate": ("text-to-video", by_the_megapixel),
    "upscale-rate": ("upscale", by_the_tier),
    "interpolation-rate": ("interpolation", by_the_tier),
}
