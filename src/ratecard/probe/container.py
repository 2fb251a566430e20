"""What a video file says of itself, checked against its frames: by FFmpeg, through PyAV."""

from fractions import Fraction
from io import BytesIO, RawIOBase
from typing import Any, cast

import av
import av.error
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from ratecard.probe.duration import seconds_of
from ratecard.probe.frame_rate import standard
from ratecard.probe.unreadable import UnreadableError
from ratecard.rating.source_video import SourceVideo

# A reader is named by the first bytes of a file; FFmpeg never guesses. So no playlist, no session description and no
# concatenation is read, which would make it open other files, and it may open none anyway.
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
# Beyond these a file is a mistake or an attack: a day, and the fastest of cameras. The size is that of a real frame.
_LONGEST, _FASTEST = 86_400, 1_000
_COVERS = Disposition.attached_pic | Disposition.timed_thumbnails | Disposition.still_image


def facts_of(file: RawIOBase | BytesIO, size: int) -> SourceVideo:
    """Seconds, size as shown and frames per second of a video file of so many bytes. Raises `UnreadableError`.

    The frame rate is the average one, frames divided by seconds, because that is how many frames there are to process;
    it is what a constant rate says too, and the only one that a variable rate has.
    """
    reader = _reader_of(file)
    try:
        with av.open(file, "r", format=reader, options=OPTIONS, metadata_errors="replace") as container:
            video = _only_video(container)
            width, height = _shown_size(container, video)
            facts = (seconds_of(container, video, size), width, height, video.average_rate)
    except av.error.FFmpegError:
        raise UnreadableError("it is damaged, or cut short") from None
    return _plausible(*facts)


def _reader_of(file: RawIOBase | BytesIO) -> str:
    start = file.read(12) or b""
    file.seek(0)
    if start.startswith(_MATROSKA):
        return "matroska"
    if start[4:8] in _MOV_BOXES:
        return "mov"
    raise UnreadableError("it is not an MP4, MOV, WebM or Matroska file")


def _only_video(container: InputContainer) -> VideoStream:
    """The one video track. With several it is not known which one will be processed, so which one to price."""
    videos = [video for video in container.streams.video if not video.disposition & _COVERS]
    if len(videos) != 1:
        raise UnreadableError(f"it has {len(videos) or 'no'} video tracks, where one is allowed")
    (video,) = videos
    # PyAV declares that there is a decoder always; FFmpeg knows tracks that it has none for.
    decoder = cast(Any, video.codec_context)
    if decoder is None or decoder.codec.canonical_name not in CODECS:
        raise UnreadableError(f"its codec is not one of {', '.join(CODECS)}")
    return video


def _shown_size(container: InputContainer, video: VideoStream) -> tuple[int, int]:
    """Width and height as a player shows them, from the first frame: what the container says may be a lie."""
    stated = video.width, video.height
    video.codec_context.thread_count = 1
    video.codec_context.options = {"max_pixels": OPTIONS["max_pixels"]}
    frame = next(container.decode(video), None)
    if frame is None:
        raise UnreadableError("it has no frame that can be decoded")
    if (frame.width, frame.height) != stated:
        raise UnreadableError(
            f"it says that it is {stated[0]}x{stated[1]}, and its frames are {frame.width}x{frame.height}"
        )
    return (frame.height, frame.width) if frame.rotation % 180 == 90 else (frame.width, frame.height)


def _plausible(seconds: Fraction, width: int, height: int, fps: Fraction | None) -> SourceVideo:
    if not 0 < seconds <= _LONGEST:
        raise UnreadableError(
            f"it says that it takes {round(seconds)} seconds. Allowed: more than 0, at most {_LONGEST}"
        )
    if fps is None or not 0 < fps <= _FASTEST:
        raise UnreadableError(
            f"it says that it has {fps and round(fps)} frames a second. Allowed: more than 0, at most {_FASTEST}"
        )
    return SourceVideo(seconds=seconds, width=width, height=height, fps=standard(fps))
