"""Real videos, made by FFmpeg's own writers, in every container: small, and noisy enough to have many bytes."""

import io
import struct
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import av
import numpy as np
from av.stream import Disposition

NTSC = Fraction(30000, 1001)
# For each container: the encoder of the pictures, that of the sound, and the format of its samples.
_ENCODERS = {
    "mp4": ("libx264", "aac", "fltp"),
    "mov": ("libx264", "aac", "fltp"),
    "webm": ("libvpx", "libopus", "flt"),
    "matroska": ("libx264", "aac", "fltp"),
}
_TICK = Fraction(1, 48000)


class Stream(io.BytesIO):
    """A file without seeking, like the stream of a browser's camera: lengths cannot be filled in later."""

    def seekable(self) -> bool:
        return False


@cache
def video(
    container: str = "mp4",
    *,
    rate: Fraction = NTSC,
    frames: int = 60,
    size: tuple[int, int] = (160, 120),
    rotation: int = 0,
    sound: int = 0,
    times: Sequence[int] | None = None,
    live: bool = False,
    **options: str,
) -> bytes:
    """A video: `times` of frames are in ms, `sound` in seconds, `live` cannot seek, and options go to the writer."""
    pictures, sounds, layout = _ENCODERS[container]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"video.{container}"
        stream = Stream()
        with av.open(stream if live else str(path), "w", format=container, options=options) as file:
            track: Any = file.add_stream(pictures, rate=rate)
            track.width, track.height, track.pix_fmt = *size, "yuv420p"
            track.options = {"bf": "0", "g": "10", "sc_threshold": "0", "threads": "1", "preset": "ultrafast"}
            if rotation:
                track.set_display_rotation(rotation)
            if times:
                track.codec_context.time_base = Fraction(1, 1000)
            track_of_sound: Any = file.add_stream(sounds, rate=48000) if sound else None
            noise = np.random.default_rng(1)
            for number in range(len(times) if times else frames):
                picture = noise.integers(0, 255, (size[1], size[0], 3), np.uint8)
                frame = av.VideoFrame.from_ndarray(picture, "rgb24")
                frame.pts, frame.time_base = (times[number], Fraction(1, 1000)) if times else (number, 1 / rate)
                file.mux(track.encode(frame))
            file.mux(track.encode(None))
            if track_of_sound:
                for number in range(sound * 50):
                    file.mux(track_of_sound.encode(silence(number, layout)))
                file.mux(track_of_sound.encode(None))
        return stream.getvalue() if live else path.read_bytes()


def mp4() -> bytes:
    """An MP4 with its tables in front."""
    return video("mp4", movflags="faststart")


def silence(number: int, layout: str) -> av.AudioFrame:
    """A fiftieth of a second."""
    frame = av.AudioFrame(layout, "stereo", 960)
    frame.pts, frame.sample_rate, frame.time_base = number * 960, 48000, _TICK
    for plane in frame.planes:
        plane.update(bytes(plane.buffer_size))
    return frame


def sound_alone() -> bytes:
    """An MP4 without a picture."""
    stream = io.BytesIO()
    with av.open(stream, "w", format="mp4") as file:
        track = file.add_stream("aac", rate=48000)
        file.mux(track.encode(silence(0, "fltp")))
        file.mux(track.encode(None))
    return stream.getvalue()


def black(container: str, encoder: str, pixels: str, tracks: int = 1) -> bytes:
    """Two black pictures on each track."""
    stream = io.BytesIO()
    with av.open(stream, "w", format=container) as file:
        every: list[Any] = [file.add_stream(encoder, rate=30) for _ in range(tracks)]
        for track in every:
            track.width, track.height, track.pix_fmt = 64, 48, pixels
        for track in every:
            for number in range(2):
                frame = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), "rgb24")
                frame.pts, frame.time_base = number, Fraction(1, 30)
                file.mux(track.encode(frame.reformat(format=pixels)))
            file.mux(track.encode(None))
    return stream.getvalue()


def with_cover() -> bytes:
    """An MP4 with a picture for lists of files."""
    stream = io.BytesIO()
    with av.open(stream, "w", format="mp4") as file:
        track: Any = file.add_stream("libx264", rate=30)
        cover: Any = file.add_stream("png", rate=30)
        cover.disposition = Disposition.attached_pic
        tracks = ((track, "yuv420p"), (cover, "rgb24"))
        for each, pixels in tracks:
            each.width, each.height, each.pix_fmt = 64, 48, pixels
        for each, pixels in tracks:
            frame = av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), "rgb24").reformat(format=pixels)
            frame.pts, frame.time_base = 0, Fraction(1, 30)
            file.mux(each.encode(frame))
            file.mux(each.encode(None))
    return stream.getvalue()


def patched(file: bytes, box: bytes, offset: int, value: bytes) -> bytes:
    """A file with other bytes so far after the name of its first box of that name."""
    at = file.index(box) + len(box) + offset
    return file[:at] + value + file[at + len(value) :]


def number(value: int) -> bytes:
    """Four bytes, as MP4 writes its numbers."""
    return struct.pack(">I", value)
