"""Seconds, size and frame rate of real files, exactly."""

import struct
from base64 import b64encode
from collections.abc import Callable
from fractions import Fraction

import pytest
from made_videos import NTSC, number, patched, video, with_cover

from ratecard import PriceBook, SourceVideo
from ratecard.probe import probe
from ratecard.probe.container import standard
from ratecard.probe.probing import UnreadableError
from ratecard.probe.worker import facts_of_bytes as facts

TWO_SECONDS = SourceVideo(seconds=Fraction(60 * 1001, 30000), width=160, height=120, fps=NTSC)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: video("mp4"), id="mp4, its tables at the end"),
        pytest.param(lambda: video("mp4", movflags="faststart"), id="mp4, its tables in front"),
        pytest.param(lambda: video("mp4", movflags="frag_keyframe+empty_moov"), id="mp4 in fragments"),
        pytest.param(
            lambda: video("mp4", movflags="dash+frag_keyframe+empty_moov"), id="mp4 in fragments with indexes"
        ),
        pytest.param(lambda: video("mov"), id="mov"),
        pytest.param(lambda: video("webm"), id="webm"),
        pytest.param(lambda: video("webm", live=True), id="webm of a browser, without lengths or index"),
        pytest.param(lambda: video("matroska"), id="mkv"),
        pytest.param(lambda: video("mp4", sound=4), id="mp4, its sound goes on after the picture"),
        pytest.param(lambda: video("webm", sound=4), id="webm, its sound goes on after the picture"),
    ],
)
def test_every_container_gives_the_same_facts(made: Callable[[], bytes]) -> None:
    assert facts(made()) == TWO_SECONDS


@pytest.mark.parametrize("sound", [0, 2])
def test_matroska_states_its_seconds_to_the_nanosecond_and_packets_confirm_them(sound: int) -> None:
    assert facts(video("matroska", rate=Fraction(48), frames=60, sound=sound)).seconds == Fraction(60, 48)


@pytest.mark.parametrize(
    ("rotation", "shown"), [(0, (160, 120)), (90, (120, 160)), (180, (160, 120)), (270, (120, 160))]
)
def test_size_is_as_shown(rotation: int, shown: tuple[int, int]) -> None:
    found = facts(video("mov", frames=3, rotation=rotation))
    assert (found.width, found.height) == shown


@pytest.mark.parametrize(
    "rate", [Fraction(24), Fraction(24000, 1001), Fraction(25), Fraction(48), Fraction(60000, 1001)]
)
@pytest.mark.parametrize("container", ["mp4", "webm"])
def test_frame_rates_are_exact(container: str, rate: Fraction) -> None:
    assert facts(video(container, rate=rate, frames=30, size=(64, 48))).fps == rate


def test_a_variable_frame_rate_is_the_average() -> None:
    times = (0, 10, 50, 90, 100, 300, 333, 366, 500, 900)
    found = facts(video("mp4", times=times, size=(64, 48)))
    assert found.seconds is not None and found.fps is not None
    assert Fraction(9, 10) < found.seconds <= Fraction(1)
    assert found.fps * found.seconds == len(times)


@pytest.mark.parametrize(("container", "seconds"), [("mp4", Fraction(15894, 16000)), ("matroska", Fraction(993, 1000))])
def test_a_picture_that_begins_late_takes_the_time_from_its_first_frame(container: str, seconds: Fraction) -> None:
    assert facts(video(container, times=tuple(range(1000, 2000, 40)), size=(64, 48))).seconds == seconds


def test_the_lists_of_later_fragments_are_read_also_where_an_index_in_front_says_a_length() -> None:
    file = video("mp4", movflags="dash+frag_keyframe+empty_moov")
    last_time = file.rindex(b"tfdt") + 8
    late = file[:last_time] + struct.pack(">Q", 1_000_000) + file[last_time + 8 :]
    assert facts(late).seconds == Fraction(1_010_010, 30_000)


def test_a_length_that_the_file_states_is_used_where_the_packets_differ_by_their_rounding() -> None:
    """Without the tag of the track, the length of all tracks; the times of packets are whole milliseconds."""
    file = video("webm", rate=Fraction(48), frames=61).replace(b"DURATION", b"UNKNOWN!")
    assert facts(patched(file, b"\x44\x89\x88", 0, struct.pack(">d", 1270.833))).seconds == Fraction(1270833, 10**6)


@pytest.mark.parametrize(("rate", "exact"), [("30.00002", 30), ("30.00004", Fraction("30.00004"))])
def test_a_rate_is_rounded_by_less_than_a_millionth(rate: str, exact: Fraction) -> None:
    assert standard(Fraction(rate)) == exact


@pytest.mark.parametrize("first", [0, 15])
def test_an_edit_list_decides_what_is_shown(first: int) -> None:
    """One second of two is shown, as after a cut without encoding; all frames are still in the file.

    The fifteenth frame is not a key frame, so those from the tenth on are decoded and not shown.
    """
    cut = patched(video("mp4", movflags="faststart"), b"elst", 8, number(1000) + number(first * 1001))
    assert facts(cut).seconds == 1


def test_a_name_that_is_not_text_does_not_matter() -> None:
    file = video("mp4").replace(b"VideoHandler", b"\xff\xfe\xfd\xfcHandler!")
    assert file != video("mp4")
    assert facts(file) == TWO_SECONDS


def test_a_cover_is_not_a_video_track() -> None:
    assert facts(with_cover()).fps == 30


def test_a_data_uri_is_probed_and_priced(prices: PriceBook) -> None:
    uri = "data:video/mp4;base64," + b64encode(video("mp4", frames=30, rate=Fraction(60))).decode()
    source = probe(uri)
    assert source == SourceVideo(seconds="0.5", width=160, height=120, fps=60)
    body = {"model": "topaz-video-upscale", "upscale_factor": 2, "video_url": uri}
    quote = prices.quote_video(body, source=source)
    assert (str(quote.lines[0].quantity), quote.lines[0].note) == ("0.5", "x2 from 48 frames per second")


def test_the_tables_of_a_file_are_compared_with_its_end() -> None:
    whole = video("mp4", movflags="faststart")
    with pytest.raises(UnreadableError, match=f"cut short: {len(whole) // 2} bytes of at least {len(whole)}"):
        facts(whole[: len(whole) // 2])
