"""Rules between the parts of a table: for all models, for shared files, for names, for metered models and for video.

Each finding is (path into the part that was checked, message).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from ratecard.base.instants import utc
from ratecard.base.messages import Finding, Path, below, listed_twice
from ratecard.base.money import ISO_4217, USD, no_currency
from ratecard.base.suggestions import did_you_mean, meant_or_allowed
from ratecard.load.faults import TextFile
from ratecard.methods import METHODS
from ratecard.methods.conditions import (
    CheckOfCharge,
    at_each_condition,
    at_each_hour,
    check_factors,
    check_hours,
    check_not_sold,
    check_rates,
    check_without_rate,
)
from ratecard.methods.method import AUDIO_BODY, method_of
from ratecard.tables.card import AnyModel, share_a_name
from ratecard.tables.limits import LIMIT_TYPES, TIERS, Limits, LimitsFile, Rates, TopUp
from ratecard.tables.metered import MeteredModel, MeteredVersion, TextModel, Tokens
from ratecard.tables.meters import (
    COMPLETION,
    PROMPT,
    TOKEN,
    USAGE_KEYS,
    Meter,
    Meters,
    Unit,
    Units,
    UsageCondition,
    VideoFields,
    Vocabulary,
)
from ratecard.tables.rate import WINDOW, Charge, Conditioned
from ratecard.tables.version import Model, Rounding, Version
from ratecard.tables.video import (
    LISTED_NUMBERS,
    LISTED_WORDS,
    LONGEST,
    REQUEST_FIELDS,
    SOURCE_MATCHED_DURATIONS,
    SOURCE_MATCHED_RATIOS,
    VideoAccepts,
    VideoModel,
    VideoVersion,
)

# The greatest `line_places`: more than any amount needs, and few enough to stay quick.
_LINE_PLACES = 100


def check_model(model: Model[Any], units: Mapping[str, Unit] | None, meters: Meters | None) -> Iterator[Finding]:
    """Check the rules for models of any type. `units` and `meters` are None if their file itself is at fault."""
    yield from check_currency(("currency",), model.currency)
    if not model.versions:
        yield ("versions",), "versions is empty. A model without a known price does not belong in the tables"
        return
    for index, (newer, older) in enumerate(pairwise(model.versions)):
        if newer.begins <= older.begins:
            path = ("versions", index + 1, "effective")
            yield (
                path,
                f"effective {older.effective} must be before {newer.effective}: versions are listed newest first",
            )
    first = model.versions[-1]
    if model.retired and utc(model.retired.on) <= first.begins:
        words = f"retired on {model.retired.on}, but the first version takes effect on {first.effective}"
        yield ("retired", "on"), words
    for index, version in enumerate(model.versions):
        yield from below(("versions", index), _check_version(version, units, meters))


def check_currency(path: Path, currency: str) -> Iterator[Finding]:
    """Check that a currency is an ISO 4217 code."""
    if words := no_currency(currency):
        yield path, words


def _check_version(version: Version, units: Mapping[str, Unit] | None, meters: Meters | None) -> Iterator[Finding]:
    if not version.charges:
        yield ("charges",), "charges is empty. A version without a known price does not belong in the tables"
    if not version.examples:
        yield ("examples",), "examples is empty. Write at least one request with its total, worked by hand"
    names: set[str] = set()
    counted: set[str | None] = set()
    for number, charge in enumerate(version.charges):
        at = ("charges", number)
        if charge.charge.casefold() in names:
            yield (*at, "charge"), f"charge '{charge.charge}' is listed twice; give each its own name"
        names.add(charge.charge.casefold())
        if units is not None and meters is not None:
            yield from below(at, check_unit(charge, units, meters))
            counted.add(units[charge.unit].counts if charge.ANY_METER and charge.unit in units else None)
        yield from below(at, check_hours(charge))
    for name in version.searches:
        if name in counted:
            yield ("surcharges", name), f"surcharge '{name}' has the name of a meter that a charge counts. Rename it"


def check_line_places(line_places: int | None) -> Iterator[Finding]:
    """Check that amounts do not have so many decimal places that pricing is slow."""
    if line_places is not None and line_places > _LINE_PLACES:
        yield ("line_places",), f"line_places {line_places} is too many. Allowed: 0 to {_LINE_PLACES}"


def check_references(model: Model[Any], models: Mapping[str, Model[Any]], broken: Collection[str]) -> Iterator[Finding]:
    """Check that the models that a model names are in the tables; `broken` models have faults of their own."""
    successor = model.retired.successor if model.retired else None
    if successor is not None and successor not in models and successor not in broken:
        near = did_you_mean(successor, models)
        yield ("retired", "successor"), f"successor '{successor}' is not in the tables.{near} Name a model's id"
    if successor is not None and model.model in _successors(successor, models):
        words = "is this model" if successor == model.model else "leads back to this model, by successors of its own"
        yield ("retired", "successor"), f"successor '{successor}' {words}. Name one that stays, or leave it out"
    for index, version in enumerate(model.versions):
        for kind, name in version.searches.items():
            at, surcharge = ("versions", index, "surcharges", kind), models.get(name)
            if name in broken:
                continue
            if surcharge is None or surcharge.type != "surcharge":
                known = [other.model for other in models.values() if other.type == "surcharge"]
                words = f"surcharge '{name}' is not in the tables.{did_you_mean(name, known)} Known: {', '.join(known)}"
                yield at, words
            elif surcharge.currency != model.currency:
                words = f"surcharge '{name}' is in {surcharge.currency}, and its amounts are added to {model.currency}"
                yield at, f"{words}. Write one in {model.currency}"


def _successors(name: str, models: Mapping[str, Model[Any]]) -> list[str]:
    """Return a model and its successors, each once."""
    names = [name]
    while (model := models.get(names[-1])) and model.retired and (further := model.retired.successor):
        if further in names:
            break
        names.append(further)
    return names


def check_unit(charge: Charge, units: Mapping[str, Unit], meters: Meters) -> Iterator[Finding]:
    """Check that a charge's unit exists, and counts what its method counts."""
    counted = (*charge.METERS, *(meters.counted if charge.ANY_METER else ()))
    fitting = (unit.unit for unit in units.values() if unit.counts in counted)
    if charge.unit not in units:
        known = list(fitting)
        near = did_you_mean(charge.unit, known)
        allowed = f"Allowed for {charge.method}: {', '.join(known)}"
        yield ("unit",), f"unit '{charge.unit}' is not in units.yaml.{near} {allowed}"
    elif units[charge.unit].counts not in counted:
        counts = f"counts {_one(units[charge.unit].counts)}, but {charge.method} counts {_one(' or '.join(counted))}"
        yield ("unit",), f"unit '{charge.unit}' {counts}. Allowed: {', '.join(fitting)}"
    elif charge.OF_DECIMALS and not units[charge.unit].is_decimal:
        words = f"1 of {units[charge.unit].per} is not a decimal, as {charge.method} needs. Write 1000000 there"
        yield ("unit",), f"unit '{charge.unit}': {words}"


_RATIO = re.compile(r"[1-9]\d{0,3}:[1-9]\d{0,3}", re.ASCII)
# The most letters of a resolution: every spelling in capital and small letters is compiled into one look-up.
_LETTERS = 10


def _one(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeio' or noun.startswith('RPC') else 'a'} {noun}"


def check_units(part: Units) -> Iterator[Finding]:
    """Check that each unit is listed once."""
    yield from listed_twice("units", "unit", [unit.unit for unit in part.units])


def check_meters(part: Meters) -> Iterator[Finding]:
    """Check that meters, buckets and conditions are listed once, and name what they declare."""
    yield from listed_twice("meters", "meter", [meter.meter for meter in part.meters])
    yield from listed_twice("conditions", "condition", [condition.condition for condition in part.conditions])
    for index, meter in enumerate(part.meters):
        yield from below(("meters", index), _check_meter(meter))
    for index, condition in enumerate(part.conditions):
        yield from below(("conditions", index), _check_condition(condition))


def _check_meter(meter: Meter) -> Iterator[Finding]:
    yield from check_without_rate(meter.without_rate, meter)
    names = [bucket.bucket for bucket in meter.buckets]
    yield from listed_twice("buckets", "bucket", names)
    for number, bucket in enumerate(meter.buckets):
        at = ("buckets", number)
        for name, value in bucket.dimensions.items():
            if name not in meter.dimensions:
                words = f"'{name}' is not a dimension of {meter.meter}.{meant_or_allowed(name, meter.dimensions)}"
                yield (*at, name), words
            elif value not in (known := meter.dimensions[name]):
                yield (*at, name), f"{name} '{value}' is not known.{meant_or_allowed(value, known)}"
        for other in meter.buckets[:number]:
            if other.dimensions == bucket.dimensions:
                words = f"bucket '{bucket.bucket}' counts the same as '{other.bucket}'; keep one"
                yield (*at, "bucket"), words
                break
    if meter.meter == TOKEN:
        for name in (PROMPT, COMPLETION):
            if name not in names:
                yield ("buckets",), f"bucket '{name}' is missing: every usage of tokens has it"
        yield from _wrong_buckets(meter)


def _check_condition(condition: UsageCondition) -> Iterator[Finding]:
    name, values = condition.condition, condition.values
    if name in (*USAGE_KEYS, *Tokens.ATTRIBUTES, *WINDOW, "rate", "factor"):
        yield ("condition",), f"'{name}' is a key of usages or rates. Name the condition otherwise"
    for word in condition.same_as:
        if word in values:
            yield ("same_as",), f"'{word}' is a value itself, not another spelling. Leave it out of one of them"
    for key, value in (("default", condition.default), *(("same_as", value) for value in condition.same_as.values())):
        if value is not None and value not in values:
            yield (key,), f"'{value}' is not a value of {name}.{meant_or_allowed(value, values)}"


def _wrong_buckets(meter: Meter) -> Iterator[Finding]:
    """Check that each bucket is in the prompt or the completion, and has a name of its own in SKUs."""
    words: dict[str, str] = {}
    directions = [bucket for bucket in meter.buckets if bucket.bucket in (PROMPT, COMPLETION)]
    for number, bucket in enumerate(meter.buckets):
        at = ("buckets", number)
        if bucket not in directions and not any(bucket.within(direction) for direction in directions):
            yield at, f"bucket '{bucket.bucket}' is part of neither {PROMPT} nor {COMPLETION}. Name its direction"
        if (other := words.setdefault(bucket.sku_word, bucket.bucket)) != bucket.bucket:
            yield at, f"SKUs name bucket '{bucket.bucket}' like '{other}'. Give it another sku"


def check_vocabulary(part: Vocabulary) -> Iterator[Finding]:
    """Check that ratios are ratios, resolutions are short, and ranges rise."""
    fields = part.video
    for value in fields.aspect_ratio:
        if not _RATIO.fullmatch(value) and value not in SOURCE_MATCHED_RATIOS:
            allowed = " or ".join(SOURCE_MATCHED_RATIOS)
            yield ("video", "aspect_ratio"), f"aspect_ratio '{value}' is not a ratio. Write it like 16:9, or {allowed}"
    for value in fields.resolution:
        if sum(map(str.isalpha, value)) > _LETTERS:
            yield ("video", "resolution"), f"resolution '{value}' is too long. Allowed: at most {_LETTERS} letters"
    for name in ("target_fps", "reference_video_total_duration"):
        limits = getattr(fields, name)
        if limits.min > limits.max:
            yield ("video", name, "min"), f"min {limits.min} of {name} is above max. Allowed: at most {limits.max}"


def check_limits(part: LimitsFile) -> Iterator[Finding]:
    """Check that there are limits, newest first, and that each has every needed line once."""
    if not part.limits:
        yield ("limits",), "limits is empty. Write at least one, with the day from which it holds"
    for index, (newer, older) in enumerate(pairwise(part.limits)):
        if newer.effective <= older.effective:
            words = f"effective {older.effective} must be before {newer.effective}: newest first"
            yield ("limits", index + 1, "effective"), words
    for index, limits in enumerate(part.limits):
        yield from below(("limits", index), _check_dated(limits))


def _check_dated(limits: Limits) -> Iterator[Finding]:
    text = [(item.tier, item.partner) for item in limits.text]
    types = [(item.type, item.partner) for item in limits.types]
    # Partners have the general limit of a type unless it has one for them; but each tier needs a limit for both.
    needed = [(tier, partner) for partner in (False, True) for tier in TIERS] if text else []
    yield from _each_once("text", "tier", text, needed)
    yield from _each_once("types", "type", types, [(type_, False) for type_ in LIMIT_TYPES if types])
    if limits.top_up:
        yield from _check_top_up(limits.top_up, limits.rates)
    yield from listed_twice("sunsets", "endpoint", [item.endpoint for item in limits.sunsets])
    for index, item in enumerate(limits.sunsets):
        if item.sunset < item.deprecated:
            words = f"sunset {item.sunset} is before {item.deprecated}, from which it is deprecated. Write a later day"
            yield ("sunsets", index, "sunset"), words
        if item.successor in (other.endpoint.partition(" ")[2] for other in limits.sunsets):
            words = f"successor '{item.successor}' is an endpoint that ends too. Name one that stays"
            yield ("sunsets", index, "successor"), words


def _check_top_up(top_up: TopUp, rates: Rates) -> Iterator[Finding]:
    yield from check_currency(("top_up", "currency"), top_up.currency)
    for word in top_up.paid_in if top_up.currency in ISO_4217 else ():
        # What pays a top-up must be worth one of its currency. Another ISO 4217 currency is not. A balance in `rates`
        # must be worth exactly 1 US dollar. Any other word names a token, and is accepted.
        fills = top_up.currency == USD and rates.stated.get(word) == 1
        if word != top_up.currency and (word in ISO_4217 or word in rates.stated) and not fills:
            words = f"paid_in has '{word}', which is not worth one {top_up.currency}. Leave it out"
            yield ("top_up", "paid_in"), words


def _each_once(
    rows: str, name: str, given: Sequence[tuple[str, bool]], needed: Sequence[tuple[str, bool]]
) -> Iterator[Finding]:
    before = set[tuple[str, bool]]()
    for index, (word, partner) in enumerate(given):
        if (word, partner) in before:
            yield (rows, index), f"{name} {word}, partner {str(partner).lower()} is listed twice; keep one"
        before.add((word, partner))
    for word, partner in needed:
        if (word, partner) not in given:
            yield (rows,), f"no limit for {name} {word}, partner {str(partner).lower()}. Add a line for it"


# A pattern of a model: its file and place, the pattern, and the id of the model.
_Opened = tuple[TextFile, Path, str, str]


def check_names(models: Sequence[tuple[TextFile, int, AnyModel]], *, patterns: bool) -> None:
    """Record a fault, at each of their lines, for names that mean two models; `patterns` says whether they are on."""
    homes: dict[str, list[tuple[TextFile, Path, str]]] = {}
    opened: list[_Opened] = []
    for text, index, model in models:
        homes.setdefault(model.model, []).append((text, ("models", index, "model"), "model"))
        for alias in model.aliases or ():
            if alias == model.model:
                text.fault(("models", index, "aliases"), f"alias '{alias}' is the model's own id. Leave it out")
            else:
                homes.setdefault(alias, []).append((text, ("models", index, "aliases"), "alias"))
        for pattern in model.patterns or ():
            path: Path = ("models", index, "patterns")
            if not patterns:
                text.fault(path, "patterns are off. Write `patterns: true` in names.yaml, or write aliases")
            elif "[" in pattern:
                text.fault(path, f"pattern '{pattern}' has a [. Write * for any letters and ? for one")
            else:
                opened.append((text, path, pattern, model.model))
    for name, places in homes.items():
        if len(places) > 1 and any(kind == "alias" for _, _, kind in places):
            for text, place, kind in places:
                others = (other.place(at) for other, at, _ in places if (other, at) != (text, place))
                words = f"is a name of another model too ({next(others)}). Leave it out of one"
                text.fault(place, f"{kind} '{name}' {words}")
    for (text, place, pattern, owner), (other, path, rival, rival_owner) in _sharing(opened):
        words = "can match the same names. Let each name match one model"
        text.fault(place, f"pattern '{pattern}' and '{rival}' of {rival_owner} ({other.place(path)}) {words}")
        other.fault(path, f"pattern '{rival}' and '{pattern}' of {owner} ({text.place(place)}) {words}")


def _sharing(opened: Sequence[_Opened]) -> Iterator[tuple[_Opened, _Opened]]:
    """Yield (earlier pattern, pattern) for each pattern that can match the same names as one of another model.

    Patterns are sorted, and compared only with earlier ones whose letters before the first wildcard begin theirs.
    """
    before: list[tuple[str, _Opened]] = []
    for pattern in sorted(opened, key=_beginning):
        begins = _beginning(pattern)
        while before and not begins.startswith(before[-1][0]):
            before.pop()
        if other := next(
            (earlier for _, earlier in before if earlier[3] != pattern[3] and share_a_name(earlier[2], pattern[2])),
            None,
        ):
            yield other, pattern
        before.append((begins, pattern))


def _beginning(opened: _Opened) -> str:
    return re.split("[*?]", opened[2], maxsplit=1)[0]


def check_metered(model: MeteredModel | TextModel, meters: Meters) -> Iterator[Finding]:
    """Check the rules for models that are not video, beyond those for all models."""
    allowed = [name for name, method in METHODS.items() if model.type in method.TYPES]
    for index, version in enumerate(model.versions):
        yield from below(("versions", index), _check_metered_version(version, model.type, allowed, meters))


def _check_metered_version(
    version: MeteredVersion, type_: str, allowed: Collection[str], meters: Meters
) -> Iterator[Finding]:
    yield from check_factors(version.factors, meters)
    yield from below(("defaults",), _check_defaults(version))
    yield from check_not_sold(version, meters)
    if version.searches and version.tokens is None:
        yield ("surcharges",), "surcharges have no effect here: only a model that is charged by tokens has them"
    yield from check_line_places(version.line_places)
    if version.minimum and type_ == "surcharge":
        words = "minimum is for a whole request, and a surcharge is a part of one. Write at_least, or a minimum there"
        yield ("minimum",), words
    seen: set[str] = set()
    for number, charge in enumerate(version.charges):
        at, name = ("charges", number), charge.method
        if name not in allowed:
            yield (*at, "method"), f"method {name} does not price {type_}.{meant_or_allowed(name, allowed)}"
            continue
        method = METHODS[name]
        if not method.BESIDE:
            # An audio body has one quantity, so only one charge may bill it.
            several = method.SEVERAL and seen == {name}
            if seen and (name in seen or AUDIO_BODY in method.KINDS) and not several:
                yield (*at, "method"), f"method {name}: a second charge would never be billed; keep one"
            seen.add(name)
        yield from below(at, _check_charge(version, charge, type_, meters))


def _check_defaults(version: MeteredVersion) -> Iterator[Finding]:
    """Check that each default is a word of a choice that a request may leave out, as its charges say."""
    if not version.default_values:
        return
    charges = list(map(method_of, version.charges))
    allowed = {name: charge.words_of(name) for charge in charges for name in charge.DEFAULTED if charge.words_of(name)}
    for name, value in version.default_values.items():
        if name not in allowed:
            yield (name,), f"'{name}' cannot have a default.{meant_or_allowed(name, tuple(allowed) or ('none here',))}"
        elif value not in allowed[name]:
            yield (name,), f"default '{value}' of {name} is not accepted. Allowed: {', '.join(allowed[name])}"


def _check_charge(version: MeteredVersion, charge: Conditioned, type_: str, meters: Meters) -> Iterator[Finding]:
    """Check a charge as its method does: at each of its hours, and under each of the conditions that its rates name."""
    check: CheckOfCharge = lambda held: method_of(held).check(version, type_, meters)  # noqa: E731
    by_tokens = isinstance(charge, Tokens)
    yield from check_factors(charge.factors, meters, version.factors)
    meter = meters.by_name.get(TOKEN) if by_tokens else None
    yield from check_without_rate(charge.without_rate or {}, meter, meters.conditions)
    if not by_tokens:  # rates of tokens are chosen together with buckets and tiers
        check = partial(at_each_condition, version, meters=meters, check=check)
    yield from at_each_hour(version, charge, check)


_SOURCE_FIELDS = ("seconds", "width", "height", "fps")
_SECONDS = re.compile(r"[1-9]\d{0,2}s", re.ASCII)


def check_video(model: VideoModel, fields: VideoFields) -> Iterator[Finding]:
    """Check the rules for video models beyond those for all models."""
    for index, version in enumerate(model.versions):
        yield from below(("versions", index), _check_video_version(version, fields))


def _check_video_version(version: VideoVersion, fields: VideoFields) -> Iterator[Finding]:
    for check in (_check_known_values, _check_resolutions, _check_ranges):
        yield from below(("accepts",), check(version.accepts, fields))
    yield from _check_rounding(version.rounding)
    yield from _check_video_defaults(version)
    yield from _check_examples(version)
    yield from _check_charges(version)


def _check_known_values(accepts: VideoAccepts, fields: VideoFields) -> Iterator[Finding]:
    """Check that the API knows every value: any other is a typing mistake, or is missing in vocabulary.yaml."""
    for name in ("duration", "aspect_ratio", "resolution", *LISTED_NUMBERS):
        known = getattr(fields, name)
        for value in getattr(accepts, name) or ():
            if value not in known and str(value).casefold() not in {str(word).casefold() for word in known}:
                near = meant_or_allowed(str(value), [*map(str, known)])
                yield (name,), f"{name} '{value}' is not in vocabulary.yaml.{near}"


def _check_resolutions(accepts: VideoAccepts, fields: VideoFields) -> Iterator[Finding]:
    """Check that no two resolutions differ only in case, because requests may write them in any case."""
    seen: dict[str, str] = {}
    known = {value.casefold() for value in fields.resolution}
    for value in accepts.resolution or ():
        if value.casefold() in seen:
            yield ("resolution",), f"resolution '{value}' is '{seen[value.casefold()]}' in other letters; keep one"
        seen[value.casefold()] = value
    for alias, value in accepts.resolution_aliases.items():
        path = ("resolution_aliases", alias)
        if alias.casefold() in seen:
            yield path, f"alias '{alias}' is accepted as '{seen[alias.casefold()]}' already; leave the alias out"
        elif alias.casefold() not in known:
            yield path, f"alias '{alias}' is not in vocabulary.yaml. Allowed: {', '.join(fields.resolution)}"
        elif value not in (accepts.resolution or ()):
            allowed = ", ".join(accepts.resolution or ("none",))
            yield path, f"'{value}' is not a resolution that this version accepts. Allowed: {allowed}"
        seen[alias.casefold()] = alias


def _check_ranges(accepts: VideoAccepts, fields: VideoFields) -> Iterator[Finding]:
    if accepts.target_fps:
        lowest, highest, known = accepts.target_fps.min, accepts.target_fps.max, fields.target_fps
        if not known.min <= lowest <= highest <= known.max:
            words = f"target_fps {lowest} to {highest} must rise within {known.min} to {known.max}"
            yield ("target_fps",), words
    if accepts.reference_video_total_duration:
        cap, most = accepts.reference_video_total_duration.max, fields.reference_video_total_duration.max
        if cap > most:
            yield ("reference_video_total_duration", "max"), f"max {cap} is above what the API takes. Allowed: {most}"


def _check_rounding(rounding: Rounding) -> Iterator[Finding]:
    at, line_places = ("rounding",), rounding.line_places
    yield from below(at, check_line_places(line_places))
    if rounding.places > line_places:
        yield (*at, "places"), f"places {rounding.places} is more than line_places. Allowed: 0 to {line_places}"


def _check_video_defaults(version: VideoVersion) -> Iterator[Finding]:
    for name, value in version.defaults.items():
        path = ("defaults", name)
        if name not in LISTED_WORDS + LISTED_NUMBERS:
            allowed = ", ".join(LISTED_WORDS + LISTED_NUMBERS)
            yield path, f"'{name}' cannot have a default.{did_you_mean(name, LISTED_WORDS)} Allowed: {allowed}"
            continue
        accepted = [str(choice) for choice in getattr(version.accepts, name) or ()]
        if value not in accepted:
            yield path, f"default '{value}' of {name} is not accepted. Allowed: {', '.join(accepted) or 'none'}"


def _check_examples(version: VideoVersion) -> Iterator[Finding]:
    for index, example in enumerate(version.examples):
        for part, names, allowed in (
            ("request", example.request, REQUEST_FIELDS),
            ("source", example.source, _SOURCE_FIELDS),
        ):
            for name in names:
                if name not in allowed:
                    words = f"unknown key '{name}' in {part}.{did_you_mean(name, allowed)}"
                    yield ("examples", index, part, name), f"{words} Allowed here: {', '.join(allowed)}"
        for name in ("width", "height"):
            pixels = example.source.get(name)
            if pixels is not None and pixels != pixels.to_integral_value():
                yield ("examples", index, "source", name), f"{name} {pixels} is not a whole number of pixels"


def _check_charges(version: VideoVersion) -> Iterator[Finding]:
    for number, charge in enumerate(version.charges):
        yield from below(("charges", number), check_rates(version, charge))
        yield from below(("charges", number), charge.check_options(version))
    if version.of_source and version.accepts.reference_video_total_duration:
        words = "has no effect, as this version is priced by the video that is sent. Leave it out"
        yield ("accepts", "reference_video_total_duration"), f"reference_video_total_duration {words}"
    needed = {name: charge.method for charge in version.charges for name in charge.reads if name != "video_url"}
    for name, method in needed.items():
        if getattr(version.accepts, name) is None:
            yield ("accepts", name), f"{name} is missing in accepts: {method} depends on it"
    yield from _check_durations(version, needed.get("duration"))


def _check_durations(version: VideoVersion, billed_by: str | None) -> Iterator[Finding]:
    """Check that billed durations have seconds, and that source-matched durations have a clip to match."""
    path, listed = ("accepts", "duration"), version.accepts.duration or ()
    matched = [word for word in listed if word in SOURCE_MATCHED_DURATIONS]
    for word in listed:
        if billed_by and word not in matched and not _SECONDS.fullmatch(word):
            yield path, f"duration '{word}' has no seconds, but {billed_by} bills them. Write seconds, like 5s"
    if not matched or version.of_source:
        return
    reference = version.accepts.reference_video_total_duration
    if reference is None:
        if version.accepts.video_url is None or any("duration" in charge.fields for charge in version.charges):
            words = "but this version takes no video whose seconds are counted"
            yield path, f"duration '{matched[0]}' matches a source clip, {words}. Leave it out, or accept the clip"
        return
    first, last = reference.source_min, reference.longest_clip
    if last > LONGEST:
        words = f"source_max {reference.source_max} is a clip of {last} seconds. Allowed: {LONGEST}"
        yield ("accepts", "reference_video_total_duration", "source_max"), words
        return
    stated = any(map(_SECONDS.fullmatch, listed))
    absent = [f"{seconds}s" for seconds in range(first, last + 1) if stated and f"{seconds}s" not in listed]
    if first > last or absent:
        words = f"but not accepted: {', '.join(absent)}" if absent else "which no clip has"
        yield path, f"duration '{matched[0]}' means a clip of {first} to {last} seconds, {words}"
