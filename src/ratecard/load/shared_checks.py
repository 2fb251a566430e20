"""Rules of the files that all tables share: units.yaml, vocabulary.yaml and limits.yaml."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ratecard.load.checks import Finding, check_currency
from ratecard.tables.limits import LIMIT_TYPES, TIERS, Limits, LimitsFile
from ratecard.tables.video import SOURCE_MATCHED_RATIOS
from ratecard.tables.vocabulary import Units, VideoFields
from ratecard.words.currency import BALANCES, ISO_4217

_RATIO = re.compile(r"[1-9]\d{0,3}:[1-9]\d{0,3}", re.ASCII)
# Every way to write a resolution in capital and small letters is kept, so that a look-up is one step.
_LETTERS = 10


def check_units(part: Units) -> Iterator[Finding]:
    """Each unit stands once, and holds a power of ten."""
    seen: set[str] = set()
    for index, unit in enumerate(part.units):
        if unit.unit in seen:
            yield ("units", index, "unit"), f"unit '{unit.unit}' stands twice; keep one"
        if str(unit.per).strip("0") != "1":
            words = "is not a power of ten: the price of one would not be a decimal. Write 1, 1000, 1000000"
            yield ("units", index, "per"), f"per {unit.per} {words}"
        seen.add(unit.unit)


def check_vocabulary(fields: VideoFields) -> Iterator[Finding]:
    """Ratios can be compared, resolutions matched without regard to case, and ranges rise."""
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
    """There are limits, newest first, and each says everything once."""
    if not part.limits:
        yield ("limits",), "limits is empty. Write at least one, with the day from which it holds"
    for index, (newer, older) in enumerate(pairwise(part.limits)):
        if newer.effective <= older.effective:
            words = f"effective {older.effective} must be before {newer.effective}: newest first"
            yield ("limits", index + 1, "effective"), words
    for index, limits in enumerate(part.limits):
        yield from ((("limits", index, *path), words) for path, words in _check_dated(limits))


def _check_dated(limits: Limits) -> Iterator[Finding]:
    text = [(each.tier, each.partner) for each in limits.text]
    types = [(each.type, each.partner) for each in limits.types]
    # A type without a limit for partners has that of everybody; the tiers of partners are a table of their own.
    needed = [(tier, partner) for partner in (False, True) for tier in TIERS]
    yield from _each_once("text", "tier", text, needed)
    yield from _each_once("types", "type", types, [(type_, False) for type_ in LIMIT_TYPES])
    yield from check_currency(("top_up", "currency"), limits.top_up.currency)
    for word in limits.top_up.paid_in if limits.top_up.currency in ISO_4217 else ():
        # A token of dollars is worth one; another currency is not, and of a balance `rates` says what it is worth.
        if word != limits.top_up.currency and (word in ISO_4217 or word in BALANCES):
            words = f"paid_in has '{word}', which is not worth one {limits.top_up.currency}. Leave it out"
            yield ("top_up", "paid_in"), words
    seen: set[str] = set()
    for index, each in enumerate(limits.sunsets):
        path = ("sunsets", index)
        if each.endpoint in seen:
            yield (*path, "endpoint"), f"endpoint '{each.endpoint}' is listed twice; keep one"
        seen.add(each.endpoint)
        if each.sunset < each.deprecated:
            words = f"sunset {each.sunset} is before {each.deprecated}, from which it is deprecated. Write a later day"
            yield (*path, "sunset"), words
        if each.successor in (other.endpoint.partition(" ")[2] for other in limits.sunsets):
            yield (*path, "successor"), f"successor '{each.successor}' ends itself. Name the path of one that stays"


def _each_once(
    rows: str, name: str, given: Sequence[tuple[str, bool]], needed: Sequence[tuple[str, bool]]
) -> Iterator[Finding]:
    for index, (word, partner) in enumerate(given):
        if (word, partner) in given[:index]:
            yield (rows, index), f"{name} {word}, partner {str(partner).lower()} is listed twice; keep one"
    for word, partner in needed:
        if (word, partner) not in given:
            yield (rows,), f"no limit for {name} {word}, partner {str(partner).lower()}. Add a line for it"
