"""Rules across the fields of a video request: what a reference clip or a source video decides.

A rule completes the shape in place and returns the problems that it finds; with none, the shape can be rated.
"""

from collections.abc import Callable
from math import ceil
from typing import Any

from ratecard.rating.compiling import SECONDS
from ratecard.rating.source_video import SourceVideo
from ratecard.tables.video import SOURCE_MATCHED_DURATIONS, SOURCE_MATCHED_RATIOS, ReferenceVideo, VideoVersion
from ratecard.tables.video_charges import InterpolationRate, MegapixelRate, UpscaleRate
from ratecard.words.tree import Path
from ratecard.words.wording import REQUIRED, NotOffered, too_big, too_small

Problems = list[tuple[Path, str]]
Shape = dict[str, Any]
Rule = Callable[[Shape, SourceVideo | None], Problems]

NO_DURATION = "Could not read the duration of the video"
NO_SIZE = "Could not read the size of the video"
NO_FRAME_RATE = "Could not read the frame rate of the video"


def rule_of(version: VideoVersion) -> Rule | None:
    """The rule of a version: of its source video, of its reference video, or none."""
    if any(isinstance(charge, (UpscaleRate, InterpolationRate)) for charge in version.charges):
        return _source_rule(version)
    if any(isinstance(charge, MegapixelRate) and not charge.sizes for charge in version.charges):
        return _source_rule(version)
    if version.accepts.reference_video_total_duration:
        return _reference_rule(version.accepts.reference_video_total_duration)
    return None


def _reference_rule(limits: ReferenceVideo) -> Rule:
    """With reference video: the tier with video input; `-1` and `auto` take its seconds, rounded up."""
    name = "reference_video_total_duration"
    field: Path = (name,)

    def settle(shape: Shape, source: SourceVideo | None) -> Problems:
        problems: Problems = []
        reference = shape.pop(name, None) or None
        duration, ratio = shape.get("duration", ""), shape.get("aspect_ratio")
        if duration in SOURCE_MATCHED_DURATIONS and reference is not None:
            if reference < limits.source_min:
                problems.append((field, NotOffered(too_small(limits.source_min))))
            if reference > limits.source_max:
                problems.append((field, NotOffered(too_big(limits.source_max))))
            shape["duration"] = f"{ceil(reference)}s"
        elif reference is None and (duration in SOURCE_MATCHED_DURATIONS or ratio in SOURCE_MATCHED_RATIOS):
            problems.append((field, REQUIRED))
        shape["video_input"] = "false" if reference is None else "true"
        shape["reference_seconds"], shape["source"] = reference, source
        return problems

    return settle


def _source_rule(version: VideoVersion) -> Rule:
    """Seconds, size and frame rate are those of the source video, else the stated seconds at the dearest tier.

    What has no dearest is an error: the size and the frame rate of megapixels, and the frame rate of an interpolation.
    """
    longest = version.accepts.video_url.max_seconds if version.accepts.video_url else None
    needs_size = any(isinstance(charge, MegapixelRate) for charge in version.charges)
    needs_rate = any(isinstance(charge, InterpolationRate) for charge in version.charges)
    url: Path = ("video_url",)

    def settle(shape: Shape, source: SourceVideo | None) -> Problems:
        problems: Problems = []
        sent = shape.pop("video_url", None)
        stated = SECONDS.get(shape.pop("duration", ""))
        seconds = source.seconds if source and source.seconds else stated
        there = sent or source
        no_rate = not (source and source.fps) and (needs_size or (needs_rate and not shape.get("target_fps")))
        if seconds is None:
            problems.append((url, NO_DURATION if sent else REQUIRED))
        elif longest is not None and seconds > longest:
            problems.append((url, NotOffered(f"The video may have at most {longest} seconds")))
        elif needs_size and not (source and source.width and source.height):
            problems.append((url, NO_SIZE if there else REQUIRED))
        elif no_rate and there:
            problems.append((url, NO_FRAME_RATE))
        if no_rate and needs_rate and not there:
            problems.append((("target_fps",), REQUIRED))
        shape["seconds"], shape["source"] = seconds, source
        return problems

    return settle
