"""Price counted requests: images, edits, upscales, audio, music and batches of RPC calls."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import product
from typing import Any, TypeVar

from ratecard.base.errors import QuoteError
from ratecard.base.messages import REQUIRED, NotOffered, Problems, echo, too_big, too_small, wrong_type
from ratecard.pricing.metered import Metered, Rater
from ratecard.rating.compiling import slug
from ratecard.rating.counts import Tier, networks_of, rpc_lines, tier_of_method
from ratecard.rating.quote import LineItem, Quote
from ratecard.requests.body import INVALID, mapping_of
from ratecard.requests.fields import Boolean, Choice, Field, NumberField, TextField, WholeNumber, WholeSeconds
from ratecard.requests.metered import UsageSchema, accepted, unrecognized, usage_keys, usage_problems
from ratecard.tables.metered import (
    UNSTATED,
    Chain,
    PerAudioSecond,
    PerCharacter,
    PerImage,
    PerInputImage,
    PerSong,
    PerUpscale,
    RpcCredits,
    band,
)
from ratecard.tables.rate import Charge, Rate

AnyCharge = TypeVar("AnyCharge", bound=Charge)
Lines = Callable[[Mapping[str, Any]], list[LineItem]]
# How usages are read, and the function from their shape to lines; None if the version has no such price.
Made = tuple[UsageSchema, Lines] | None

# The most of anything that a usage may count.
MOST_COUNTED = 10**12
_COUNT = WholeNumber(1, MOST_COUNTED)
_CHARACTERS, _WHOLE_SECONDS = WholeNumber(0, MOST_COUNTED), WholeSeconds(1, MOST_COUNTED)


def price_media(metered: Metered, type_: str) -> Rater | None:
    """Compile the function that rates usages of a type at one version; None if it has no price for the type."""
    makers = {
        "image": _images,
        "edit": _images,
        "upscale": _upscales,
        "speech": _characters,
        "transcription": _seconds,
        "music": _music,
    }
    return _rater(metered, type_, makers[type_](metered))


def price_audio(metered: Metered) -> Rater | None:
    """Compile the function that quotes audio bodies (speech, transcription, music), by the API's own two fields.

    None if the model is of another type.
    """
    seconds, characters = _of(metered, PerAudioSecond), _of(metered, PerCharacter)
    if metered.model.type == "speech" and characters:
        made: Made = _counted(
            metered, characters, "character_count", _CHARACTERS, also={"duration_seconds": _WHOLE_SECONDS}
        )
    elif metered.model.type == "transcription" and seconds:
        made = _counted(metered, seconds, "duration_seconds", _WHOLE_SECONDS, also={"character_count": _CHARACTERS})
    else:
        made = _music(metered) if metered.model.type == "music" else None
    return _rater(metered, metered.model.type, made, body=True)


def _rater(metered: Metered, type_: str, made: Made, *, body: bool = False) -> Rater | None:
    if made is None:
        return None
    schema, lines_of = made

    def rate(usage: Mapping[str, Any], suffix: Mapping[str, Any]) -> Quote:
        shape, ignored = schema.read(usage, body=body)
        return metered.quote(lines_of(shape), ignored, type_=type_)

    return rate


def _of(metered: Metered, kind: type[AnyCharge]) -> AnyCharge | None:
    return next((charge for charge in metered.version.charges if isinstance(charge, kind)), None)


def _images(metered: Metered) -> Made:
    """Images by resolution and quality; `n` multiplies everything, also the input images of an edit."""
    charge, further = _of(metered, PerImage), _of(metered, PerInputImage)
    if charge is None:
        return None
    choices = {name: _choices(charge, name) for name in ("resolution", "quality")}
    rates = {key: rate for rate in charge.rates for key in _keys(rate, choices)}
    choices["quality"] = tuple(quality for quality in choices["quality"] if quality != UNSTATED)
    fields: dict[str, Field] = {"n": _COUNT}
    fields |= {name: Choice(values, fold=True) if values else TextField() for name, values in choices.items()}
    if metered.model.type == "edit":
        fields["input_images"] = _COUNT
    defaults: dict[str, Any] = {"n": 1, "input_images": 1}
    lowest = min(choices["resolution"], key=_size, default=None)
    inert = {name for name, values in choices.items() if not values}
    if further is None:
        inert.add("input_images")
    count = metered.counter(charge)
    count_further = metered.counter(further) if further else None
    model = metered.model.model

    def lines(shape: Mapping[str, Any]) -> list[LineItem]:
        resolution = shape.get("resolution", lowest) if lowest else None
        quality = shape.get("quality") if choices["quality"] else None
        if choices["quality"] and quality is None:
            quality = _unnamed_quality(rates, resolution, named="resolution" in shape)
        words = [word for word in (resolution, quality) if word and word != UNSTATED]
        fixed = bool(words) or metered.model.type == "edit"
        sku = "-".join((model, "fixed", *words, "1img")) if fixed else f"{model}-{charge.unit}-unit"
        found = [count(shape["n"], rates[resolution, quality], sku)]
        if further and count_further:
            sku = f"{model}-additional-input-image-unit"
            line = count_further(shape["input_images"], further.rates[0], sku, shape["n"])
            found += [line] if line.count else []
        return found

    return UsageSchema(fields, defaults, (), inert), lines


def _unnamed_quality(rates: Mapping[Any, Rate], resolution: str | None, named: bool) -> str | None:
    """The quality that a request without one is billed as: a charge must never be too low.

    `unstated` if the request names the resolution and the table has that price; else `high` if it is priced; else the
    dearest.
    """
    priced = {quality: rate.rate for (of, quality), rate in rates.items() if of == resolution}
    if UNSTATED in priced and named:
        return UNSTATED
    return "high" if "high" in priced else max(priced, key=lambda quality: priced[quality])


def _upscales(metered: Metered) -> Made:
    """Upscales by factor; an upscaler may also have a price without a factor, for an image that keeps its size."""
    charge = _of(metered, PerUpscale)
    if charge is None:
        return None
    factors, plain = _choices(charge, "factor"), _of(metered, PerImage) if metered.model.type == "upscale" else None
    rates = {key[0]: rate for rate in charge.rates for key in _keys(rate, {"factor": factors})}
    count, model = metered.counter(charge), metered.model.model
    count_plain = metered.counter(plain) if plain else None
    fields: dict[str, Field] = {"factor": Choice(factors)}

    def lines(shape: Mapping[str, Any]) -> list[LineItem]:
        factor = shape.get("factor", "")
        if plain and count_plain and not factor:
            return [count_plain(1, plain.rates[0], f"{model}-{plain.unit}-unit")]
        return [count(1, rates[factor], f"{model}-upscale-{slug(factor)}-{charge.unit}-unit")]

    return UsageSchema(fields, {}, () if plain else ("factor",)), lines


def _characters(metered: Metered) -> Made:
    charge = _of(metered, PerCharacter)
    return None if charge is None else _counted(metered, charge, "characters", _CHARACTERS)


def _seconds(metered: Metered) -> Made:
    charge = _of(metered, PerAudioSecond)
    return (
        None if charge is None else _counted(metered, charge, "seconds", NumberField(Decimal(0), Decimal(MOST_COUNTED)))
    )


def _counted(
    metered: Metered, charge: Charge, field: str, expected: Field, also: Mapping[str, Field] | None = None
) -> tuple[UsageSchema, Lines]:
    """One required count times one rate; the fields of `also` are checked and have no effect."""
    count, sku = metered.counter(charge), f"{metered.model.model}-{slug(charge.unit)}"
    schema = UsageSchema({field: expected, **(also or {})}, {}, (field,), tuple(also or ()))
    return schema, lambda shape: [count(shape[field], charge.rates[0], sku)]


def _music(metered: Metered) -> Made:
    """Music by song, band of seconds, second or character; the count that is not billed has no effect."""
    charge, fields = metered.version.charges[0], {"duration_seconds": _WHOLE_SECONDS, "character_count": _CHARACTERS}
    count, model = metered.counter(charge), metered.model.model
    match charge:
        case PerSong():
            return UsageSchema(fields, {}, (), tuple(fields)), lambda shape: [
                count(1, charge.rates[0], f"{model}-fixed")
            ]
        case PerAudioSecond():
            return _counted(metered, charge, "duration_seconds", _WHOLE_SECONDS, {"character_count": _CHARACTERS})
        case PerCharacter():
            return _counted(metered, charge, "character_count", _CHARACTERS, {"duration_seconds": _WHOLE_SECONDS})
        case _:  # duration bands
            rows = [(band(value), rate) for rate in charge.rates for value in rate.attributes["seconds"]]
            bands = sorted(((edges, rate) for edges, rate in rows if edges), key=lambda row: row[0])
            schema = UsageSchema(fields, {"duration_seconds": bands[0][0][0]}, (), ("character_count",))
            return schema, lambda shape: [_in_band(shape["duration_seconds"], bands, count, model)]


def _in_band(seconds: int, bands: list[tuple[tuple[int, int], Rate]], count: Any, model: str) -> LineItem:
    for (first, last), rate in bands:
        if first <= seconds <= last:
            line: LineItem = count(1, rate, f"{model}-duration-based-{last}s")
            return line
    least, most = bands[0][0][0], bands[-1][0][1]
    message = too_small(least) if seconds < least else too_big(most) if seconds > most else f"No price for {seconds} s"
    raise QuoteError(INVALID, [(("duration_seconds",), NotOffered(message))])


def _choices(charge: Charge, attribute: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for rate in charge.rates for value in rate.attributes.get(attribute, ())))


def _keys(rate: Rate, choices: Mapping[str, tuple[str, ...]]) -> list[tuple[str | None, ...]]:
    """Every combination of choices that a rate applies to; an attribute that it does not name does not matter."""
    return list(product(*(rate.attributes.get(name, values or (None,)) for name, values in choices.items())))


def _size(resolution: str) -> tuple[int, str]:
    digits = "".join(letter for letter in resolution if letter.isdigit())
    return int(digits or 0), resolution


_BATCH_KEYS, _CALL_KEYS = usage_keys(("network", "calls")), dict.fromkeys(("method", "failed")).keys()


def price_rpc(metered: Metered, charge: RpcCredits) -> Rater:
    """Compile the function that rates batches of RPC calls."""
    chains = networks_of(charge)
    networks = Choice(chains, fold=False)

    def rate(usage: Mapping[str, Any], suffix: Mapping[str, Any]) -> Quote:
        problems = usage_problems(usage, _BATCH_KEYS)
        network = accepted(networks, usage.get("network"))
        if network is None:
            given = networks.messages(usage["network"]) if "network" in usage else [REQUIRED]
            problems += [(("network",), message) for message in given]
        calls = _read_calls(usage, charge, chains.get(network), problems)
        if problems:
            raise QuoteError(INVALID, problems)
        per, line_places, model = metered.per(charge.unit), metered.version.places_of_lines, metered.model.model
        return metered.quote(rpc_lines(charge, per, line_places, model, network, calls))

    return rate


def _read_calls(
    usage: Mapping[str, Any], charge: RpcCredits, chain: Chain | None, problems: Problems
) -> list[Tier | None]:
    given = usage.get("calls")
    if not isinstance(given, (list, tuple)):
        message = wrong_type("array", given) if "calls" in usage else REQUIRED
        problems.append((("calls",), message))
        return []
    if not given:
        problems.append((("calls",), "Array must contain at least 1 element(s)"))
    if len(given) > charge.max_calls:
        problems.append((("calls",), f"Array must contain at most {charge.max_calls} element(s)"))
        return []
    return [_read_call(call, index, charge, chain, problems) for index, call in enumerate(given)]


def _read_call(given: object, index: int, charge: RpcCredits, chain: Chain | None, problems: Problems) -> Tier | None:
    """Read the tier of a call; None if the call failed, or is wrong."""
    call = mapping_of(given)
    if call is None:
        problems.append((("calls", index), wrong_type("object", given)))
        return None
    problems += unrecognized(call, _CALL_KEYS, ("calls", index))
    method, failed, tier = accepted(TextField(), call.get("method")), "false", None
    if "failed" in call:
        failed = accepted(Boolean(), call["failed"])
    if method is None:
        message = wrong_type("string", call["method"]) if "method" in call else REQUIRED
        problems.append((("calls", index, "method"), message))
    elif failed != "true":
        tier = tier_of_method(charge, method, chain)
        if tier is None:
            where = f" on {chain.chain}" if chain and tier_of_method(charge, method) else ""
            words = NotOffered(f"This method is not supported{where}: {echo(method)}")
            problems.append((("calls", index, "method"), words))
    if failed is None:
        problems.append((("calls", index, "failed"), wrong_type("boolean", call["failed"])))
    return tier
