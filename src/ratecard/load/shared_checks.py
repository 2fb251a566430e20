"""Rules of the two files that all tables share: units.yaml and vocabulary.yaml."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ratecard.load.checks import Finding
from ratecard.tables.limits import LimitsFile
from ratecard.tables.video import SOURCE_MATCHED_RATIOS
from ratecard.tables.vocabulary import Units, VideoFields

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
    """There are limits, and they stand newest first."""
    if not part.limits:
        yield ("limits",), "limits is empty. Write at least one, with the day from which it holds"
    for index, (newer, older) in enumerate(pairwise(part.limits)):
        if newer.effective <= older.effective:
            words = f"effective {older.effective} must be before {newer.effective}: limits stand newest first"
            yield ("limits", index + 1, "effective"), words
