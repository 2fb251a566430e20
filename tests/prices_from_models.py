"""What a client of its own would write: prices from nothing but the JSON of `GET /models`, as docs/clients.md says.

Nothing of ratecard is imported. Amounts are fractions, so that only the rounding that the listing states is done.
"""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from fnmatch import fnmatchcase
from fractions import Fraction
from math import ceil, log
from typing import Any

Fields = Mapping[str, Any]
# Amounts are fractions; the type is Any, because values of JSON have no type.
Amount = Any
_WIDE = Context(prec=200)


def rounded(amount: Fraction, places: int) -> Fraction:
    """Round half-up."""
    number = _WIDE.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    return Fraction(number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _WIDE))


class PricesFromModels:
    """The listed models by their ids."""

    def __init__(self, listing: Fields) -> None:
        self.models = {model["id"]: model for model in listing["data"]}

    def price(self, model: str, fields: Fields, source: Fields | None = None) -> Amount:
        """The total of a request: a body of a video, or a usage of another type."""
        listed = self.models[model]
        if listed["type"] == "video":
            return video(listed, fields, source or {})
        amount, pricing = metered(listed, fields), listed["pricing"]
        least, below = Fraction(pricing.get("minimum", 0)), Fraction(amount).denominator
        if pow(10, below.bit_length(), below):  # no decimal holds the amount, so this line is rounded
            amount = rounded(amount, pricing.get("line_places", 12))
        return max(amount, least) + self.searches(listed, fields)

    def searches(self, listed: Fields, fields: Fields) -> Amount:
        """The searches of a text request, each at the model of type surcharge that its model names."""
        counts = {"web_search": "web_search_requests", "web_scraping": "scraped_urls", "x_search": "x_search_results"}
        found = Fraction(0)
        for kind, model in listed["pricing"].get("surcharges", {}).items():
            if count := fields.get(counts[kind], 0):
                found += metered(self.models[model], {"count": count})
        return found


def rate_of(charge: Fields, **values: str | None) -> Amount:
    """The first rate whose attributes hold; one that it does not name has no effect."""
    rates = (rate for rate in charge["rates"] if all(values[name] in rate[name] for name in rate if name != "rate"))
    return Fraction(next(rates)["rate"]) / charge["per"]


def charges_of(listed: Fields, fields: Fields) -> dict[str, Fields]:
    """The charges by their methods, as they are under the conditions that a usage states."""
    pricing, defaults = listed["pricing"], listed["constraints"].get("defaults", {})
    chosen = ("resolution", "quality")  # these choose an image, and are not conditions
    stated = {name: fields.get(name, default) for name, default in defaults.items() if name not in chosen}
    return {charge["method"]: under(charge, stated, pricing["factors"]) for charge in pricing["charges"]}


def under(charge: Fields, stated: Fields, factors: list[Fields]) -> Fields:
    """The rates that hold, times the factors of conditions that they do not name; what names more comes first."""
    found = []
    for rate in charge["rates"]:
        named = [name for name in stated if name in rate]
        amount = Fraction(rate["rate"])
        for factor in (*charge.get("factors", ()), *factors):
            conditions = factor["conditions"]
            if not conditions.keys() & set(named) and all(stated[name] == conditions[name] for name in conditions):
                amount *= Fraction(factor["factor"])
        if all(stated[name] in rate[name] for name in named):
            kept = {name: value for name, value in rate.items() if name not in named}
            found.append((-len(named), {**kept, "rate": amount}))
    return {**charge, "rates": [rate for _, rate in sorted(found, key=lambda each: each[0])]}


# Models that are not video.


def metered(listed: Fields, fields: Fields) -> Amount:
    """The exact amount of a usage."""
    charges = charges_of(listed, fields)
    counts, found = fields.get("counts", {}), Fraction(0)
    if counted := charges.pop("count", None):
        found = charged(counted, counts.get(counted["counts"], counted.get("every_usage"))) * rate_of(counted)
    return found + (alone(listed, charges, fields) if charges else 0)


def alone(listed: Fields, charges: Mapping[str, Fields], fields: Fields) -> Amount:
    """The exact amount of what a model charges beside counts."""
    first = next(iter(charges.values()))
    match first["method"]:
        case "tokens":
            return tokens(first, fields["usage"])
        case "rpc-credits":
            return rpc(first, fields)
        case "surcharge":
            return charged(first, 1 if first["counts"] == "prompt" else fields["count"]) * rate_of(first)
        case "per-character":
            return charged(first, fields.get("characters", fields.get("character_count"))) * rate_of(first)
        case "per-audio-second":
            return charged(first, fields.get("seconds", fields.get("duration_seconds"))) * rate_of(first)
        case "per-song":
            return rate_of(first)
        case "duration-band":
            return song(first, fields.get("duration_seconds"))
    if "factor" in fields:
        return rate_of(charges["per-upscale"], factor=fields["factor"])
    return images(listed, charges, fields)


def charged(charge: Fields, count: Any) -> Amount:
    """Return the charged part of a count: less the included part, at least the minimum, in whole blocks."""
    left = max(Fraction(count) - Fraction(charge.get("included", 0)), Fraction(0))
    left = max(left, Fraction(charge.get("at_least", 0))) if left else left
    return ceil(left / Fraction(charge["started"])) * Fraction(charge["started"]) if "started" in charge else left


def tokens(charge: Fields, usage: Fields) -> Amount:
    """Tokens by bucket; the whole prompt decides whether all of them are at the extended rates."""
    details = usage.get("prompt_tokens_details") or {}
    cached, written = details.get("cached_tokens", 0), details.get("cache_creation_input_tokens", 0)
    prompt = usage["prompt_tokens"]
    counts = {"input": prompt - cached - written, "cache_input": cached, "cache_write": written}
    counts["output"] = usage.get("completion_tokens", 0)
    threshold = charge.get("context_token_threshold")
    contexts = ["extended", "base"] if threshold is not None and prompt > threshold else ["base"]

    def rate(bucket: str) -> Amount:
        for context in contexts:
            for listed in charge["rates"]:
                if bucket in listed["tokens"] and context in listed.get("context", ["base"]):
                    return Fraction(listed["rate"]) / charge["per"]
        assert charge["missing_cache_rate"] == "input"
        return rate("input")

    return sum((count * rate(bucket) for bucket, count in counts.items() if count), Fraction(0))


def rpc(charge: Fields, usage: Fields) -> Amount:
    """The chain's credits times the factor of each method's first tier; a failed call has its own credits."""
    chain = next(
        chain
        for chain in charge["chains"]
        if usage["network"] in [f"{chain['chain']}-{network}" for network in chain["networks"]]
    )
    found = Fraction(0)
    for call in usage["calls"]:
        if call.get("failed"):
            found += charge["failed_credits"]
            continue
        tier = next(
            tier
            for tier in charge["tiers"]
            if ("chains" not in tier or {chain["chain"], chain.get("kind")} & set(tier["chains"]))
            and any(fnmatchcase(call["method"], pattern) for pattern in tier["methods"])
        )
        found += Fraction(tier["factor"]) * chain["credits"]
    return found * rate_of(charge)


def song(charge: Fields, seconds: int | None) -> Amount:
    """The band that the seconds are in; the first one if they are left out."""
    bands: list[tuple[Any, ...]] = [
        (*map(int, band.split("..")), Fraction(rate["rate"])) for rate in charge["rates"] for band in rate["seconds"]
    ]
    if seconds is None:
        return min(bands)[2] / charge["per"]
    return next(rate for first, last, rate in bands if first <= seconds <= last) / charge["per"]


def images(listed: Fields, charges: Mapping[str, Fields], fields: Fields) -> Amount:
    """`n` images at a resolution and quality, and the input images of an edit beyond those that are included."""
    accepts, n, charge = listed["constraints"], fields.get("n", 1), charges["per-image"]
    words = {name: accepts[name] for name in ("resolution", "quality") if name in accepts}
    meant = {name: each[0] for name, each in words.items() if len(each) == 1} | accepts.get("defaults", {}) | fields
    if "quality" not in fields and ("resolution" in fields or "quality" not in meant):
        unstated = any("unstated" in rate.get("quality", ()) for rate in charge["rates"])
        meant |= {"quality": "unstated"} if unstated else {}
    found = n * rate_of(charge, resolution=meant.get("resolution"), quality=meant.get("quality"))
    if further := charges.get("per-input-image"):
        found += n * charged(further, fields.get("input_images", 1)) * rate_of(further)
    return found


# Videos.


def video(listed: Fields, body: Fields, source: Fields) -> Amount:
    """The sum of the charges, rounded once."""
    return rounded(sum(amounts_of_video(listed, body, source), Fraction(0)), listed["pricing"]["rounding"]["places"])


def amounts_of_video(listed: Fields, body: Fields, source: Fields) -> list[Fraction]:
    """The amount of each charge, rounded to the places of lines."""
    pricing, accepts = listed["pricing"], listed["constraints"]
    shape = {name: values[0] for name, values in accepts.items() if isinstance(values, list) and len(values) == 1}
    if len(accepts.get("topaz", {}).get("models", ())) == 1:
        shape["enhancement_model"] = accepts["topaz"]["models"][0]
    shape |= accepts.get("defaults", {}) | body
    if "resolution" in shape:
        words = {word.lower(): word for word in accepts.get("resolution", ())}
        words |= {each.lower(): word for each, word in accepts.get("resolution_aliases", {}).items()}
        shape["resolution"] = words.get(shape["resolution"].lower())
    sound = {"none": False, "always": True}.get(accepts["audio"], shape.get("audio", True))
    reference = shape.get("reference_video_total_duration") or None
    if "reference_video_total_duration" not in accepts:
        reference = None
    shape |= {"audio": str(bool(sound)).lower(), "video_input": str(reference is not None).lower()}
    if reference is not None and shape.get("duration") in ("-1", "auto", "Auto"):
        shape["duration"] = f"{ceil(reference)}s"
    return [
        rounded(METHODS[charge["method"]](charge, shape, source, reference), pricing["rounding"]["line_places"])
        for charge in pricing["charges"]
    ]


def chosen(charge: Fields, shape: Fields, **more: str) -> Amount:
    """The rate of a shape by the unit."""
    names = ("resolution", "audio", "duration", "video_input", "enhancement_model")
    return rate_of(charge, **{name: shape.get(name) for name in names}, **more)


def seconds_of(shape: Fields, source: Fields) -> Amount:
    return Fraction(source["seconds"]) if "seconds" in source else Fraction(shape["duration"].removesuffix("s"))


def size_of(charge: Fields, shape: Fields, source: Fields) -> Amount:
    """The pixels of the listed size that fits; for a ratio of the source the nearest, if it is known."""
    fitting = [
        each for each in charge["sizes"] if each.get("resolution", shape.get("resolution")) == shape.get("resolution")
    ]
    exact = [
        each for each in fitting if each.get("aspect_ratio", shape.get("aspect_ratio")) == shape.get("aspect_ratio")
    ]
    if not exact and {"width", "height"} <= source.keys():
        wide = log(source["width"] / source["height"])
        exact = [min(fitting, key=lambda each: abs(log_of(each["aspect_ratio"]) - wide))]
    return max(each["size"][0] * each["size"][1] for each in exact or fitting)


def log_of(ratio: str) -> float:
    width, height = ratio.split(":")
    return log(int(width) / int(height))


def per_clip(charge: Fields, shape: Fields, source: Fields, reference: Any) -> Amount:
    return chosen(charge, shape)


def per_second(charge: Fields, shape: Fields, source: Fields, reference: Any) -> Amount:
    return seconds_of(shape, {}) * chosen(charge, shape)


def token_formula(charge: Fields, shape: Fields, source: Fields, reference: Any) -> Amount:
    seconds = seconds_of(shape, {})
    billed = seconds
    if reference is not None:
        billed = max(seconds + Fraction(reference), Fraction(ceil(seconds * Fraction(charge["reference_minimum"]))))
    count = billed * size_of(charge, shape, source) * charge["frames_per_second"] / charge["pixels_per_token"]
    return count * chosen(charge, shape)


def megapixel_rate(charge: Fields, shape: Fields, source: Fields, reference: Any) -> Amount:
    if charge["sizes"]:
        frames = seconds_of(shape, {}) * charge["frames"]["per_second"] + charge["frames"]["plus"]
        pixels = size_of(charge, shape, source) * frames
    else:
        factor = int(shape["upscale_factor"])
        pixels = int(source["width"]) * int(source["height"]) * factor**2 * seconds_of(shape, source)
        pixels *= Fraction(source["fps"])
    if charge["megapixels"] == "rounded-up":
        pixels = Fraction(ceil(Fraction(pixels) / charge["per"])) * charge["per"]
    return pixels * chosen(charge, shape)


def tiered(charge: Fields, shape: Fields, height: int | None) -> Amount:
    """The rate of the first tier that is not below the height; the dearest if it is unknown."""
    model = shape.get("enhancement_model")
    rates = [rate for rate in charge["rates"] if model in rate.get("enhancement_model", [model])]
    tiers = sorted(
        (int(edge) if edge != "any" else 10**9, Fraction(each["rate"])) for each in rates for edge in each["up_to"]
    )
    if height is None:
        return max(rate for _, rate in tiers) / charge["per"]
    return next(rate for edge, rate in tiers if height <= edge) / charge["per"]


def upscale_rate(charge: Fields, shape: Fields, source: Fields, reference: Any) -> Amount:
    height = int(source["height"]) * int(shape["upscale_factor"]) if "height" in source else None
    step, fps = charge["frame_rate"], shape.get("target_fps") or source.get("fps")
    factor = Fraction(step["factor"])
    doubled = factor > 1 if fps is None else Fraction(fps) >= Fraction(step["from"])
    return seconds_of(shape, source) * tiered(charge, shape, height) * (factor if doubled else 1)


def interpolation_rate(charge: Fields, shape: Fields, source: Fields, reference: Any) -> Amount:
    height = int(source["height"]) if "height" in source else None
    fps = Fraction(shape.get("target_fps") or source["fps"])
    seconds = seconds_of(shape, source) * int(shape["slowdown_factor"]) * fps / Fraction(charge["at_frame_rate"])
    return seconds * tiered(charge, shape, height)


METHODS = {
    "fixed": per_clip,
    "duration-resolution-rate": per_clip,
    "duration-rate": per_second,
    "resolution-rate": per_second,
    "token-formula": token_formula,
    "megapixel-rate": megapixel_rate,
    "upscale-rate": upscale_rate,
    "interpolation-rate": interpolation_rate,
}
