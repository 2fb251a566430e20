"""Seconds, size and frame rate of a video: read from its container with FFmpeg (PyAV), and checked by its frames."""

import re
from fractions import Fraction
from io import BytesIO, RawIOBase
from typing import Any, cast

import av
import av.error
from av.container import InputContainer
from av.stream import Discard, Disposition
from av.video.stream import VideoStream

from ratecard.line_items.source_video import SourceVideo
from ratecard.probe.probing import UnreadableError

# Matroska keeps the length of a frame in whole nanoseconds, and FFmpeg a rate as a fraction of small numbers: together
# they are off by less than this part of the rate.
_RATE_ROUNDING = Fraction(1, 10**6)


def standard(rate: Fraction) -> Fraction:
    """Return the exact rate for a rounded one: whole, or NTSC (a whole rate times 1000/1001); any other unchanged.

    >>> standard(Fraction(19001, 317)), standard(Fraction(160000, 7189))
    (Fraction(60000, 1001), Fraction(160000, 7189))
    """
    ntsc = Fraction(1000, 1001)
    for exact in (Fraction(round(rate)), round(rate / ntsc) * ntsc):
        if abs(exact - rate) < rate * _RATE_ROUNDING:
            return exact
    return rate


# Later than any frame: seeking to it finds the end of a file.
_NEVER = 2**62
# The most seconds between the length that a Matroska file states and the end of its packets. If they differ by more,
# the length is wrong or the file is cut short.
_SLACK = Fraction(1, 5)
# The same limit if the length of all tracks is used for the video track: about one frame.
_ROUNDING = Fraction(1, 20)
_TAG = re.compile(r"(\d{1,4}):(\d\d):(\d\d\.\d{1,9})", re.ASCII)


def _by_the_index(container: InputContainer, video: VideoStream, size: int) -> Fraction:
    """Return the length of an MP4 or MOV from its lists, which have time and place of every frame; read no media."""
    for stream in container.streams:
        stream.discard = Discard.all
    for _ in container.demux():
        pass  # this reads the lists of later fragments, and skips the media
    entries = list(video.index_entries)
    end = max((entry.pos + entry.size for entry in entries), default=0)
    if end > size:
        raise UnreadableError(f"it is cut short: {size} bytes of at least {end}")
    # Frames that an edit list leaves out are listed, but not shown.
    shown_times = [entry.timestamp for entry in entries if not entry.is_discard]
    if not shown_times or not video.duration or video.time_base is None:
        raise UnreadableError("it has no duration")
    span = max(shown_times) - min(shown_times)
    if span > video.duration:
        stated, measured = (_milliseconds(ticks * video.time_base) for ticks in (video.duration, span))
        raise UnreadableError(f"it says that it is {stated} long, and its frames take {measured}")
    return video.duration * video.time_base


def _by_the_last_packets(container: InputContainer, video: VideoStream) -> Fraction:
    """Return the length by the packets after the last key frame; Matroska has at most one length for all tracks.

    Times of packets are usually in milliseconds. A length that the file states to the nanosecond is used if these
    packets confirm it, else the end of the packets.
    """
    container_length = Fraction(container.duration or 0, av.time_base)
    container_end, end = _ends(container, video)
    if container_length > container_end + _SLACK:
        length, ends = map(_milliseconds, (container_length, container_end))
        raise UnreadableError(f"it is cut short: it says that it is {length} long, and ends after {ends}")
    measured = end - (video.start_time or 0) * (video.time_base or 0)
    candidates = (_tagged(video), _SLACK), (container_length, _ROUNDING)
    return next(
        (length for length, tolerance in candidates if length and abs(length - measured) <= tolerance), measured
    )


def _ends(container: InputContainer, video: VideoStream) -> tuple[Fraction, Fraction]:
    """Return the end of the last packet of any track, and of the last packet of the video track, in seconds."""
    ends: dict[int, Fraction] = {}
    container.seek(_NEVER, stream=video)
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
    """Return the length of the track from its Matroska tag, like `00:00:02.002000000`; 0 without the tag."""
    tag = _TAG.fullmatch(video.metadata.get("DURATION", ""))
    return int(tag[1]) * 3600 + int(tag[2]) * 60 + Fraction(tag[3]) if tag else Fraction(0)


# The first bytes of a file choose the reader; FFmpeg never guesses. So it reads no playlist, session description or
# concatenation, which would make it open other files; `protocol_whitelist` forbids that too.
_MATROSKA = b"\x1a\x45\xdf\xa3"
_MOV_BOXES = {b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"}
CODECS = ("h264", "hevc", "av1", "vp8", "vp9", "mpeg4", "prores")
OPTIONS = {
    "codec_whitelist": ",".join((*CODECS, "libdav1d")),
    "format_whitelist": "mov,matroska",
    "max_pixels": str(2**26),
    "protocol_whitelist": "",
    "probesize": str(2**22),
    "threads": "1",
}
# Beyond a day, or the rate of the fastest cameras, a file is a mistake or an attack.
_LONGEST, _FASTEST = 86_400, 1_000
_COVERS = Disposition.attached_pic | Disposition.timed_thumbnails | Disposition.still_image


def facts_of(file: RawIOBase | BytesIO, size: int) -> SourceVideo:
    """Return seconds, size as shown and frames per second of a video file of `size` bytes. Raises `UnreadableError`.

    The frame rate is the average, frames divided by seconds, because each frame will be processed; the average of a
    constant rate is the rate itself.
    """
    reader = _reader_of(file)
    try:
        with av.open(file, "r", format=reader, options=OPTIONS, metadata_errors="replace") as container:
            video = _only_video(container)
            width, height = _shown_size(container, video)
            # The length is that of the track, not of the container: sound after the last picture is not processed.
            is_matroska = reader == "matroska"
            seconds = _by_the_last_packets(container, video) if is_matroska else _by_the_index(container, video, size)
            fps = video.average_rate
    except av.error.FFmpegError:
        raise UnreadableError("it is damaged, or cut short") from None
    return _plausible(seconds, width, height, fps)


def _reader_of(file: RawIOBase | BytesIO) -> str:
    start = file.read(12) or b""
    file.seek(0)
    if start.startswith(_MATROSKA):
        return "matroska"
    if start[4:8] in _MOV_BOXES:
        return "mov"
    raise UnreadableError("it is not an MP4, MOV, WebM or Matroska file")


def _only_video(container: InputContainer) -> VideoStream:
    """Return the only video track; refuse several, because it is unknown which one will be processed and priced."""
    videos = [video for video in container.streams.video if not video.disposition & _COVERS]
    if len(videos) != 1:
        raise UnreadableError(f"it has {len(videos) or 'no'} video tracks, where one is allowed")
    (video,) = videos
    # PyAV declares a decoder for every track, but FFmpeg lacks some decoders.
    decoder = cast(Any, video.codec_context)
    if decoder is None or decoder.codec.canonical_name not in CODECS:
        raise UnreadableError(f"its codec is not one of {', '.join(CODECS)}")
    return video


def _shown_size(container: InputContainer, video: VideoStream) -> tuple[int, int]:
    """Return width and height as a player shows them, from the first frame; the container may be wrong."""
    stated_size = video.width, video.height
    video.codec_context.thread_count = 1
    video.codec_context.options = {"max_pixels": OPTIONS["max_pixels"]}
    frame = next(container.decode(video), None)
    if frame is None:
        raise UnreadableError("it has no frame that can be decoded")
    if (frame.width, frame.height) != stated_size:
        words = f"it says that it is {stated_size[0]}x{stated_size[1]}"
        raise UnreadableError(f"{words}, and its frames are {frame.width}x{frame.height}")
    return (frame.height, frame.width) if frame.rotation % 180 == 90 else (frame.width, frame.height)


def _plausible(seconds: Fraction, width: int, height: int, fps: Fraction | None) -> SourceVideo:
    if not 0 < seconds <= _LONGEST:
        words = f"it says that it takes {round(seconds)} seconds"
        raise UnreadableError(f"{words}. Allowed: more than 0, at most {_LONGEST}")
    if fps is None or not 0 < fps <= _FASTEST:
        words = f"it says that it has {fps and round(fps)} frames a second"
        raise UnreadableError(f"{words}. Allowed: more than 0, at most {_FASTEST}")
    return SourceVideo(seconds=seconds, width=width, height=height, fps=standard(fps))
