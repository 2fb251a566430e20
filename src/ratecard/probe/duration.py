"""How long the video track of a file is: never as the container says alone, always as its frames confirm."""

import re
from fractions import Fraction

import av.error
from av.container import InputContainer
from av.stream import Discard
from av.video.stream import VideoStream

from ratecard.probe.unreadable import UnreadableError

# Later than any frame: the end of a file is searched by it.
_NEVER = 2**62
# By how much a length that Matroska states may differ from the end of its packets, in seconds. More is a lie or a loss.
_SLACK = Fraction(1, 5)
# The same for the length of all tracks together, where it is to stand for that of the video track: about a frame.
_ROUNDING = Fraction(1, 20)
_TAG = re.compile(r"(\d{1,4}):(\d\d):(\d\d\.\d{1,9})", re.ASCII)


def seconds_of(container: InputContainer, video: VideoStream, size: int) -> Fraction:
    """Exact seconds of the video track, in a file of so many bytes. Raises `UnreadableError`.

    It is the track's, not the container's: sound that goes on after the picture is not video to process.
    """
    if container.format.name.startswith("matroska"):
        return _by_the_last_packets(container, video)
    return _by_the_index(container, video, size)


def _by_the_index(container: InputContainer, video: VideoStream, size: int) -> Fraction:
    """MP4 and MOV list time and place of every frame, so nothing but these lists is read."""
    for stream in container.streams:
        stream.discard = Discard.all
    for _ in container.demux():
        pass  # the lists of later fragments are read on the way; the media is passed over
    entries = list(video.index_entries)
    end = max((entry.pos + entry.size for entry in entries), default=0)
    if end > size:
        raise UnreadableError(f"it is cut short: {size} bytes of at least {end}")
    # What an edit list leaves out is listed, but not shown.
    shown = [entry.timestamp for entry in entries if not entry.is_discard]
    if not shown or not video.duration or video.time_base is None:
        raise UnreadableError("it has no duration")
    span = max(shown) - min(shown)
    if span > video.duration:
        raise UnreadableError(
            f"it says that it is {_milliseconds(video.duration * video.time_base)} long, "
            f"and its frames take {_milliseconds(span * video.time_base)}"
        )
    return video.duration * video.time_base


def _by_the_last_packets(container: InputContainer, video: VideoStream) -> Fraction:
    """Matroska and WebM state one length for all tracks, or none: the packets after the last key frame are read.

    Their clock ticks in milliseconds as a rule. A length that the file states to the nanosecond is taken where these
    packets confirm it, else their own.
    """
    whole = Fraction(container.duration or 0, av.time_base)
    end_of_all, end = _ends(container, video)
    if whole > end_of_all + _SLACK:
        raise UnreadableError(
            f"it is cut short: it says that it is {_milliseconds(whole)} long, "
            f"and ends after {_milliseconds(end_of_all)}"
        )
    measured = end - (video.start_time or 0) * (video.time_base or 0)
    stated = (_tagged(video), _SLACK), (whole, _ROUNDING)
    return next((length for length, most in stated if length and abs(length - measured) <= most), measured)


def _ends(container: InputContainer, video: VideoStream) -> tuple[Fraction, Fraction]:
    """When the last packet of all tracks ends, and that of the video track."""
    ends: dict[int, Fraction] = {}
    try:
        container.seek(_NEVER, stream=video)
    except av.error.FFmpegError:
        raise UnreadableError("its index is damaged, or it is cut short") from None
    for packet in container.demux():
        if packet.pts is not None and packet.time_base is not None:
            end = (packet.pts + (packet.duration or 0)) * packet.time_base
            ends[packet.stream.index] = max(end, ends.get(packet.stream.index, end))
    if video.index not in ends:
        raise UnreadableError("it has no duration")
    return max(ends.values()), ends[video.index]


def _milliseconds(seconds: Fraction) -> str:
    return f"{round(seconds * 1000)} ms"


def _tagged(video: VideoStream) -> Fraction:
    """The length of the track as writers of Matroska tag it, `00:00:02.002000000`; zero without such a tag."""
    found = _TAG.fullmatch(video.metadata.get("DURATION", ""))
    return int(found[1]) * 3600 + int(found[2]) * 60 + Fraction(found[3]) if found else Fraction(0)
