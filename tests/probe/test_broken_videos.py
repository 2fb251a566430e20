"""Files that lie, are broken, or are not videos: an error at `video_url` that says what is wrong."""

import struct
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from unittest.mock import Mock

import av
import pytest
from made_videos import black, mp4, number, patched, sound_alone, video

from ratecard import QuoteError
from ratecard.probe import Limits, probe, worker
from ratecard.probe.container import OPTIONS
from ratecard.probe.probing import UnreadableError
from ratecard.probe.worker import decode, facts_of_bytes, read_source

NO_VIDEO_FILE = "it is not an MP4, MOV, WebM or Matroska file"


def webm() -> bytes:
    return video("webm")


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(b"\0", id="one byte"),
        pytest.param(b"this is only text, with any name", id="text"),
        pytest.param(b"<!doctype html><title>Sign in</title>", id="page"),
        pytest.param(b"#EXTM3U\n#EXTINF:5,\nfile:///etc/passwd\n", id="playlist of HLS"),
        pytest.param(b"ffconcat version 1.0\nfile '/etc/passwd'\n", id="concatenation"),
        pytest.param(b"v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n", id="session description"),
        pytest.param(b'<?xml version="1.0"?><MPD><BaseURL>http://127.0.0.1/</BaseURL></MPD>', id="manifest of DASH"),
        pytest.param(black("gif", "gif", "rgb8"), id="gif"),
        pytest.param(b"RIFF\x24\0\0\0WEBPVP8 ", id="webp"),
    ],
)
def test_only_four_containers_are_read(file: bytes) -> None:
    with pytest.raises(UnreadableError, match=NO_VIDEO_FILE):
        facts_of_bytes(file)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        pytest.param(bytes, "it is empty", id="empty"),
        pytest.param(sound_alone, "it has no video tracks, where one is allowed", id="sound alone"),
        pytest.param(
            lambda: black("mp4", "libx264", "yuv420p", tracks=2),
            "it has 2 video tracks, where one is allowed",
            id="two pictures",
        ),
        pytest.param(lambda: mp4()[:900], "it is damaged, or cut short", id="cut in its tables"),
        pytest.param(lambda: mp4()[:3000], "it is damaged, or cut short", id="cut in its first frame"),
        pytest.param(lambda: video("mp4")[:20_000], "it is damaged, or cut short", id="cut before its tables"),
        pytest.param(
            lambda: mp4()[: mp4().index(b"mdat") + 4].ljust(len(mp4()), b"Z"),
            "it is damaged, or cut short",
            id="frames of rubbish",
        ),
        pytest.param(lambda: mp4()[:32] + number(8) + b"free", "it is damaged, or cut short", id="no tables"),
        pytest.param(
            lambda: patched(mp4(), b"mdhd", 16, number(3000)),
            "it says that it is 100 ms long, and its frames take 1969 ms",
            id="says that it is shorter",
        ),
        pytest.param(lambda: patched(mp4(), b"mdhd", 16, number(0)), "it has no duration", id="says no length"),
        pytest.param(
            lambda: video(frames=2, rate=Fraction(1, 50_000), size=(64, 48)),
            "it says that it takes 100000 seconds. Allowed: more than 0, at most 86400",
            id="longer than a day",
        ),
        pytest.param(
            lambda: video(frames=2, rate=Fraction(2000), size=(64, 48)),
            "it says that it has 2000 frames a second. Allowed: more than 0, at most 1000",
            id="faster than a camera",
        ),
        pytest.param(
            lambda: black("matroska", "ffv1", "yuv420p"), "its codec is not one of h264, hevc", id="rare codec"
        ),
        pytest.param(
            lambda: patched(webm(), b"\xb0\x81", 0, b"\x40"),
            "it says that it is 64x120, and its frames are 160x120",
            id="says that it is smaller",
        ),
        pytest.param(
            lambda: patched(webm(), b"\x44\x89\x88", 0, struct.pack(">d", 100_000)),
            "it is cut short: it says that it is 100000 ms long, and ends after 2002 ms",
            id="says that it is longer",
        ),
        pytest.param(
            lambda: video("matroska", frames=200, cluster_time_limit="100")[:300_000],
            "cut short",
            id="webm cut in the middle",
        ),
    ],
)
def test_lies_and_damage_are_named(made: Callable[[], bytes], reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        facts_of_bytes(made())


def test_a_lie_about_a_length_that_the_frames_do_not_confirm_has_no_effect() -> None:
    """A longer length of MP4 is that of its frames; a shorter one of WebM is that of its last packets."""
    truth = facts_of_bytes(mp4())
    assert facts_of_bytes(patched(mp4(), b"mdhd", 16, number(3_000_000))) == truth
    assert facts_of_bytes(patched(mp4(), b"mvhd", 16, number(1))) == truth
    truth = facts_of_bytes(webm())
    assert facts_of_bytes(patched(webm(), b"\x44\x89\x88", 0, struct.pack(">d", 1))) == truth
    assert facts_of_bytes(webm().replace(b"00:00:02.002", b"00:00:00.002")) == truth
    assert b"00:00:02.002" in webm()


def test_a_list_of_files_could_not_be_followed_even_if_it_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FFmpeg is told its reader, and two options forbid other files: each of the three is enough."""
    (tmp_path / "other.mp4").write_bytes(mp4())
    monkeypatch.chdir(tmp_path)

    def follows(**options: str) -> bool:
        try:
            with av.open(
                BytesIO(b"ffconcat version 1.0\nfile 'other.mp4'\n"), format="concat", options=options
            ) as file:
                return file.streams.video[0].width == 160
        except av.error.FFmpegError:
            return False

    assert follows()
    for lock in ("format_whitelist", "protocol_whitelist"):
        assert not follows(**{lock: OPTIONS[lock]})


def test_a_reference_to_data_elsewhere_is_not_followed() -> None:
    at = mp4().index(b"dref")
    alias = b"url \0\0\0\0/etc/passwd"
    with pytest.raises(UnreadableError):
        facts_of_bytes(mp4()[: at + 16] + alias.ljust(40, b"\0") + mp4()[at + 56 :])


def test_an_error_is_a_tree_at_the_field() -> None:
    with pytest.raises(QuoteError) as caught:
        probe("data:video/mp4;base64," + b64encode(b"only text, no video").decode())
    assert caught.value.body() == {
        "error": "Invalid request body",
        "details": {"_errors": [], "video_url": {"_errors": [f"Could not read the video: {NO_VIDEO_FILE}"]}},
    }


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("data:video/mp4;base64", "its data URI has no comma"),
        ("data:video/mp4;base64,AAE", "its data URI is not valid base64"),
        ("data:video/mp4;base64,AA EC", "its data URI is not valid base64"),
        ("data:video/mp4;base64,AAEé", "its data URI is not valid base64"),
        ("data:video/mp4;base64,", "it is empty"),
        ("data:,", "it is empty"),
        ("data:,é", NO_VIDEO_FILE),
        ("DATA:video/mp4,%00%01", NO_VIDEO_FILE),
        ("data:;base64," + "A" * 2000, "its data URI holds more than 1000 bytes"),
        ("data:," + "A" * 1001, "its data URI holds more than 1000 bytes"),
        ("data:," + "A" * 3001, "its data URI holds more than 1000 bytes"),
    ],
)
def test_data_uris_are_bounded_and_strict(uri: str, reason: str) -> None:
    with pytest.raises(UnreadableError, match=reason):
        read_source(uri, Limits(max_bytes=1000))


@pytest.mark.parametrize(("length", "reason"), [(4000, "its data URI holds more than"), (4001, "its URL is too long")])
def test_a_data_uri_longer_than_any_encoding_is_refused_before_it_is_sent_on(length: int, reason: str) -> None:
    with pytest.raises(QuoteError, match=reason):
        probe("data:,".ljust(length, "A"), Limits(max_bytes=1000))


def test_base64_may_be_percent_encoded_too() -> None:
    assert decode("data:;base64," + "%41" * 400 + "A" * 800, Limits(max_bytes=1000)) == bytes(900)


def test_a_file_that_needs_more_memory_than_the_process_may_have_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "read_source", Mock(side_effect=MemoryError))
    answer = worker._answer({"video_url": "data:,x", "limits": asdict(Limits())})
    assert answer == {"refused": "it would take too much memory to read"}


def test_a_data_uri_that_is_too_long_is_not_decoded_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("binascii.a2b_base64", None)
    monkeypatch.setattr("ratecard.probe.worker.unquote_to_bytes", None)
    for uri in ("data:;base64," + "A" * 1400, "data:;base64,%41" + "A" * 3000, "data:," + "A" * 3001):
        with pytest.raises(UnreadableError, match="its data URI holds more than 1000 bytes"):
            read_source(uri, Limits(max_bytes=1000))


def test_a_table_of_two_thousand_million_frames_is_refused_in_time() -> None:
    bomb = patched(patched(mp4(), b"stsz", 4, number(1)), b"stsz", 8, number(2**31 - 1))
    with pytest.raises(QuoteError, match="Could not read the video: "):
        probe("data:;base64," + b64encode(bomb).decode(), Limits(seconds=10))


def test_a_crash_of_the_media_library_is_an_error_at_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The crash ends another process; its output is logged, and this one answers."""
    crashing = tmp_path / "python"
    crashing.write_text("#!/bin/sh\necho 'a fault in C' >&2\nkill -SEGV $$\n", encoding="utf-8")
    crashing.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(crashing))
    with pytest.raises(QuoteError, match="Could not read the video: it is damaged"):
        probe("data:,x")
    assert "status -11: a fault in C" in caplog.text


def test_the_process_gets_nothing_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    curious = tmp_path / "python"
    curious.write_text(f'#!/bin/sh\nenv > {tmp_path}/seen\necho \'{{"refused": "it was seen"}}\'\n', encoding="utf-8")
    curious.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(curious))
    monkeypatch.setenv("API_KEY", "a-secret")
    with pytest.raises(QuoteError, match="it was seen"):
        probe("data:,x")
    seen = (tmp_path / "seen").read_text(encoding="utf-8")
    assert "PYTHONPATH=" in seen and "a-secret" not in seen


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such bounds")
def test_the_process_is_confined(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from ratecard.probe.worker import confine
confine(1)
print(signal.alarm(2), resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_CORE))
try:
    bytearray(3 * 2**30)
except MemoryError:
    print("no more memory")
try:
    with open("file", "w") as file:
        file.write("x")
except OSError as error:
    print(error.strerror)
sys.stdout.flush()
while True:
    pass
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["2 (2, 2) (0, 0)", "no more memory", "File too large"]
    assert done.returncode < 0
