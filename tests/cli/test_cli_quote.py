"""`ratecard quote`: one request, however it is sent."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ratecard import PriceBook, QuoteError
from ratecard.cli import main
from ratecard.load.folder import shipped_folder

DAY = "--at=2026-09-29"
KLING = {"model": "kling-o3-pro-text-to-video", "duration": "5s"}
SEEDANCE = {"model": "seedance-2-0-text-to-video-basic", "duration": "5s", "resolution": "720p"}
REFERENCE = {
    "model": "seedance-2-0-reference-to-video-basic",
    "duration": "5s",
    "resolution": "480p",
    "aspect_ratio": "16:9",
    "reference_video_total_duration": 15,
}
Quote = Callable[..., Result]


@pytest.fixture
def quote() -> Quote:
    def run(*words: str, stdin: bytes | str | None = None) -> Result:
        return CliRunner().invoke(main, ["quote", DAY, *words], input=stdin)

    return run


def as_flags(body: dict[str, Any]) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in body.items()]


@pytest.mark.parametrize("body", [KLING, REFERENCE, KLING | {"audio": False}, {"model": "ovi-image-to-video"}])
def test_json_is_what_the_api_answers_however_the_body_is_sent(
    quote: Quote, prices: PriceBook, tmp_path: Path, body: dict[str, Any]
) -> None:
    answer = prices.quote_video(body).to_json().decode() + "\n"
    text = json.dumps(body)
    (tmp_path / "body.json").write_text(text, encoding="utf-8")

    for sent in (
        quote("--json", text),
        quote("--json", f"@{tmp_path / 'body.json'}"),
        quote("--json", "-", stdin=text),
        quote("--json", *as_flags(body)),
    ):
        assert (sent.exit_code, sent.stdout) == (0, answer)


@pytest.mark.parametrize(
    "body",
    [
        SEEDANCE | {"aspect_ratio": "99:1", "target_fps": 500},
        {"model": "veo-3-1-ful-text-to-video"},
        {"duration": "5s"},
        {"model": "kling-o3-pro-text-to-video", "duration": "5"},
        {"model": "topaz-video-upscale", "upscale_factor": 3},
    ],
)
def test_json_of_a_refusal_is_what_the_api_answers_and_exits_with_1(
    quote: Quote, prices: PriceBook, body: dict[str, Any]
) -> None:
    with pytest.raises(QuoteError) as refused:
        prices.quote_video(body)

    for sent in (quote("--json", json.dumps(body)), quote("--json", *as_flags(body))):
        assert sent.exit_code == 1
        assert json.loads(sent.stdout) == refused.value.body()


def test_a_refusal_for_people_names_every_field_on_standard_error(quote: Quote) -> None:
    sent = quote(json.dumps(SEEDANCE | {"aspect_ratio": "99:1", "target_fps": 500}))

    assert (sent.exit_code, sent.stdout) == (1, "")
    ratios = "'21:9' | '16:9' | '4:3' | '1:1' | '3:4' | '9:16'"
    assert sent.stderr.splitlines() == [
        "Invalid request body",
        f"  aspect_ratio: Invalid enum value. Expected {ratios}, received '99:1'",
        "  target_fps: Number must be less than or equal to 120",
    ]


def test_a_quote_for_people_has_each_line_its_source_and_the_sum(quote: Quote) -> None:
    sent = quote("--model=grok-imagine-1-5-image-to-video-private", "--duration=5s", "--resolution=720p")

    lines = sent.stdout.splitlines()
    assert lines[2] == "grok-imagine-1-5-image-to-video-private-resolution-rate-5s-720p"
    assert lines[3].startswith("  video/grok-imagine.yaml:")
    assert lines[3].endswith("5 video_second     $0.161   $0.805")
    assert lines[4] == "grok-imagine-1-5-image-to-video-private-input-image-fixed"
    assert lines[5].endswith(" $0.0115  $0.0115")
    assert [line.split() for line in lines[7:9]] == [["Exact", "$0.8165"], ["Total", "$0.82"]]
    assert lines[9].startswith("Prices of 2026-09-28, tables ")


def test_an_exact_total_is_not_said_twice(quote: Quote) -> None:
    assert "Exact" not in quote(*as_flags(KLING)).stdout


def test_fields_without_effect_are_named(quote: Quote) -> None:
    sent = quote(*as_flags(KLING | {"target_fps": 24, "aspect_ratio": "16:9"}))
    assert "Without effect on this price: aspect_ratio, target_fps\n" in sent.stdout
    as_json = quote(*as_flags(KLING | {"target_fps": 24, "aspect_ratio": "16:9"}), "--json")
    assert as_json.stderr == "Without effect on this price: aspect_ratio, target_fps\n"


def test_a_file_may_begin_with_a_byte_order_mark(quote: Quote, tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text("\ufeff" + json.dumps({"model": "ovi-image-to-video"}), encoding="utf-8")
    assert quote(f"@{tmp_path / 'body.json'}", "--json").stdout == '{"quote":0.22}\n'


def test_a_note_says_why_a_rate_was_taken(quote: Quote) -> None:
    unknown = "(height unknown: dearest tier; frame rate unknown: x2 as from 48 per second)\n"
    assert unknown in quote("--model=topaz-video-upscale", "--duration=5s").stdout
    assert (
        "(height unknown: dearest tier)\n"
        in quote("--model=topaz-video-upscale", "--duration=5s", "--target-fps=30").stdout
    )


def test_a_source_video_decides_tier_and_seconds(quote: Quote) -> None:
    sent = quote("--model=topaz-video-upscale", "--source", "seconds=10, width=854, height=480, fps=60", "--json")
    assert sent.stdout == '{"quote":0.50}\n'


@pytest.mark.parametrize(
    "source", ["seconds", "seconds=x", "seconds=-1", "depth=3", "seconds=1,seconds=2", "height=4.5", "seconds=1/0", ""]
)
def test_a_wrong_source_is_wrong_use_and_shows_a_right_one(quote: Quote, source: str) -> None:
    sent = quote("--model=topaz-video-upscale", "--source", source)
    assert sent.exit_code == 2
    assert "Write seconds=10,width=854,height=480,fps=30" in sent.stderr


@pytest.mark.parametrize(("locale", "total"), [("en_US", "$1.39"), ("de_DE", "1,39 $"), ("ja_JP", "$1.39")])
def test_money_is_written_as_the_locale_writes_it(quote: Quote, locale: str, total: str) -> None:
    sent = quote("--model=kling-o3-4k-text-to-video", "--duration=3s", f"--locale={locale}")
    assert sent.stdout.replace("\N{NO-BREAK SPACE}", " ").splitlines()[-2].split("  ")[-1].strip() == total


def test_money_in_a_right_to_left_locale_is_aligned_with_its_marks(quote: Quote) -> None:
    sent = quote("--model=kling-o3-4k-text-to-video", "--duration=3s", "--locale=ar-EG")
    assert sent.stdout.splitlines()[-2].endswith("\N{RIGHT-TO-LEFT MARK}1.39\N{NO-BREAK SPACE}US$")


@pytest.mark.parametrize("locale", ["xx_YY", "german", "", "de_DE_DE_DE"])
def test_an_unknown_locale_is_wrong_use(quote: Quote, locale: str) -> None:
    sent = quote(*as_flags(KLING), f"--locale={locale}")
    assert sent.exit_code == 2
    assert "is not a locale. Write one like en_US, de_DE, ja_JP, ar_EG" in sent.stderr


@pytest.mark.parametrize("at", ["2026-10-16", "2026-10-16T00:00:00Z", "2026-10-16T09:00+09:00"])
def test_an_instant_decides_the_version(at: str) -> None:
    words = ["quote", "--at", at, "--json", "--model=flux-3-text-to-video", "--duration=5s", "--resolution=1440p"]
    sent = CliRunner().invoke(main, words)
    assert (sent.exit_code, sent.stdout) == (0, '{"quote":1.75}\n')


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-10-16T12:00:00", "has no time zone. Write 2026-10-16T12:00:00Z for UTC"),
        ("yesterday", "is not an instant. Write 2026-10-01 or 2026-10-01T12:00:00Z"),
        ("2026-02-30", "is not an instant"),
    ],
)
def test_a_wrong_instant_is_wrong_use(at: str, words: str) -> None:
    sent = CliRunner().invoke(main, ["quote", "--at", at, "--model=ovi-image-to-video"])
    assert sent.exit_code == 2
    assert words in sent.stderr


@pytest.mark.parametrize(
    "words",
    [[], ["{}", "--model=x"], ["{}", "--batch=x.jsonl"], ["--batch=x.jsonl", "--source=seconds=1"], ["@/no/such/file"]],
)
def test_no_body_or_two_is_wrong_use(quote: Quote, words: list[str]) -> None:
    sent = quote(*words)
    assert sent.exit_code == 2
    assert "Error: " in sent.stderr


def test_a_value_may_begin_with_a_dash(quote: Quote) -> None:
    sent = quote("--json", "--model", "seedance-2-0-text-to-video-basic", "--duration", "-1")
    assert "received '-1'" in sent.stdout


def test_tables_of_another_folder_are_used(quote: Quote, tmp_path: Path) -> None:
    text = (shipped_folder() / "video" / "ovi.yaml").read_text(encoding="utf-8")
    (tmp_path / "ovi.yaml").write_text(text.replace("0.22", "0.99"), encoding="utf-8")
    sent = quote("--tables", str(tmp_path), "--model=ovi-image-to-video", "--json")
    assert (sent.exit_code, sent.stdout) == (0, '{"quote":0.99}\n')


def test_tables_with_faults_are_told_by_line(quote: Quote, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("family: bad\nmodel: []\n", encoding="utf-8")
    sent = quote("--tables", str(tmp_path), "--model=ovi-image-to-video")
    assert sent.exit_code == 1
    assert "bad.yaml:2: unknown key 'model'. Did you mean 'models'?" in sent.stderr


def test_a_folder_that_is_not_there_is_wrong_use(quote: Quote) -> None:
    sent = quote("--tables", "no-such-folder", "--model=ovi-image-to-video")
    assert sent.exit_code == 2
    assert "no-such-folder" in sent.stderr


@pytest.mark.parametrize(
    "words", [["quote", *as_flags(KLING), "--audio="], ["rate", "--model=gpt-image-2", "--quality="]]
)
def test_an_empty_value_is_wrong_use(words: list[str]) -> None:
    sent = CliRunner().invoke(main, words)
    assert (sent.exit_code, sent.stdout) == (2, "")
    assert f"Invalid value for '{words[-1][:-1]}': It is empty. Give a value, or leave the option out" in sent.stderr
