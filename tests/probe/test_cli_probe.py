"""`ratecard quote --probe`."""

import json
from base64 import b64encode
from fractions import Fraction

import pytest
from click.testing import CliRunner
from made_videos import video

from ratecard.cli import main

BODY = {"model": "topaz-video-upscale", "upscale_factor": 2}


def uri() -> str:
    return "data:video/mp4;base64," + b64encode(video(frames=30, rate=Fraction(60))).decode()


def quote(*words: str, **fields: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["quote", "--at=2026-10-01", "--json", *words, json.dumps(BODY | fields)])
    return done.exit_code, done.output


def test_a_video_is_probed_and_priced() -> None:
    """Half a second at 60 frames a second: 0.0125 a second, doubled, rounded half-up."""
    assert quote("--probe", video_url=uri()) == (0, '{"quote":0.01}\n')
    assert "Could not read the duration of the video" in quote(video_url=uri())[1]


def test_what_cannot_be_read_is_an_error_at_the_field() -> None:
    status, answer = quote("--probe", video_url="http://127.0.0.1/video")
    assert status == 1
    assert list(json.loads(answer)["details"]["video_url"]) == ["_errors"]


@pytest.mark.parametrize("words", [["--probe", "--source=seconds=1"], ["--probe", "--batch=-"]])
def test_wrong_use(words: list[str]) -> None:
    assert quote(*words)[0] == 2


def test_a_body_without_a_video_is_judged_by_the_quote() -> None:
    assert quote("--probe") == (
        1,
        '{"error":"Invalid request body","details":{"_errors":[],"video_url":{"_errors":["Required"]}}}\n',
    )
    assert "Expected string, received number" in quote("--probe", video_url=5)[1]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ratecard.probe.probing.find_spec", lambda name: None)
    status, answer = quote("--probe", video_url=uri())
    assert status == 2
    assert "pip install 'ratecard[probe]'" in answer
