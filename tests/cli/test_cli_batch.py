"""`ratecard quote --batch`: many bodies, one answer a line, in the same order."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ratecard import PriceBook, QuoteError
from ratecard.cli import main, simulate_progress

BODIES: list[dict[str, Any]] = [
    {"model": "ovi-image-to-video"},
    {"model": "no-such-model"},
    {"model": "kling-o3-pro-text-to-video", "duration": "5s", "audio": False},
    {"model": "kling-o3-pro-text-to-video", "duration": "99s"},
    {"model": "topaz-video-upscale", "duration": "5s", "target_fps": 60},
]


def run(*words: str, stdin: bytes | str | None = None) -> Result:
    return CliRunner().invoke(main, ["quote", "--at=2026-09-29", "--batch", *words], input=stdin)


def answer(prices: PriceBook, body: Any) -> bytes:
    try:
        return prices.quote_video(body).to_json()
    except QuoteError as refused:
        return refused.to_json()


def as_csv(bodies: list[dict[str, Any]]) -> str:
    names = ("model", "duration", "audio", "target_fps")
    rows = [",".join(str(body.get(name, "")) for name in names) for body in bodies]
    return "\n".join([",".join(names), *rows]) + "\n"


def test_json_lines_are_answered_in_order_and_bad_rows_counted(prices: PriceBook, tmp_path: Path) -> None:
    path = tmp_path / "bodies.jsonl"
    path.write_text("".join(json.dumps(body) + "\n" for body in BODIES), encoding="utf-8")

    sent = run(str(path))

    assert sent.stdout_bytes.splitlines() == [answer(prices, body) for body in BODIES]
    assert sent.stderr == "5 rows: 3 quoted, 2 refused\n"
    assert sent.exit_code == 1


def test_csv_is_answered_as_the_same_bodies(prices: PriceBook, tmp_path: Path) -> None:
    path = tmp_path / "bodies.csv"
    path.write_text(as_csv(BODIES), encoding="utf-8")

    assert run(str(path)).stdout_bytes.splitlines() == [answer(prices, body) for body in BODIES]


@pytest.mark.parametrize("text", [as_csv(BODIES), "\n".join(map(json.dumps, BODIES))])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_standard_input_may_be_either_with_or_without_a_byte_order_mark(
    prices: PriceBook, text: str, mark: str
) -> None:
    sent = run("-", stdin=(mark + text).encode())
    assert sent.stdout_bytes.splitlines() == [answer(prices, body) for body in BODIES]


def test_a_batch_without_bad_rows_exits_with_0() -> None:
    sent = run("-", stdin='{"model": "ovi-image-to-video"}')
    assert (sent.exit_code, sent.stdout, sent.stderr) == (0, '{"quote":0.22}\n', "1 row: 1 quoted, 0 refused\n")


def test_what_has_no_effect_is_listed_beside_the_answers() -> None:
    rows = "topaz-video-upscale,5s,300,\novi-image-to-video,,300,x\nno-such-model,,,y\n"
    sent = run("-", stdin="model,duration,source_seconds,prompt\n" + rows)
    assert sent.stderr.splitlines() == [
        "3 rows: 2 quoted, 1 refused",
        "Without effect on these prices: duration (1 row), source_seconds (1 row), prompt (1 row)",
    ]


def test_a_cell_below_no_name_is_listed_in_words() -> None:
    sent = run("-", stdin="model,\novi-image-to-video,5s\n")
    assert sent.stderr.splitlines()[1] == "Without effect on these prices: a column without a name (1 row)"


def test_rows_say_what_is_known_of_their_source_video() -> None:
    rows = "10,,480,60\n10,,,\n0,1.5,,\nten,,,\n"
    rows = rows.replace("\n", ",topaz-video-upscale\n") + ",,,,ovi-image-to-video\n"
    sent = run("-", stdin="source_seconds,source_width,source_height,source_fps,model\n" + rows)
    enlarged, unknown, wrong, no_number, other = map(json.loads, sent.stdout.splitlines())
    assert (enlarged, unknown, other) == ({"quote": 0.5}, {"quote": 2}, {"quote": 0.22})
    assert {name: fault["_errors"] for name, fault in wrong["details"].items() if name != "_errors"} == {
        "source_seconds": ["seconds='0' must be more than zero"],
        "source_width": ["width='1.5' must be a whole number of pixels"],
    }
    assert no_number["details"]["source_seconds"]["_errors"] == ["Expected number, received string"]
    assert sent.stderr == "5 rows: 3 quoted, 2 refused\n"


def test_only_the_most_frequent_names_without_effect_are_listed() -> None:
    rows = [json.dumps({"model": "ovi-image-to-video", f"field_{number // 2}": 1}) for number in range(60)]
    listed = run("-", stdin="\n".join(rows)).stderr.splitlines()[1]
    assert listed.count("(2 rows)") == 20
    assert listed.endswith(" and 10 more")


@pytest.mark.parametrize("mark", [";", "\t"])
def test_columns_without_commas_are_wrong_use(mark: str) -> None:
    sent = run("-", stdin=f"model{mark}duration\novi-image-to-video{mark}5s\n")
    assert (sent.exit_code, sent.stdout) == (2, "")
    assert f"The heading of the CSV has {mark!r} between its columns. Write commas" in sent.stderr


@pytest.mark.parametrize("content", ["", "\n\n", "model,duration\n"])
def test_an_empty_batch_succeeds(content: str) -> None:
    sent = run("-", stdin=content)
    assert (sent.exit_code, sent.stdout, sent.stderr) == (0, "", "0 rows: 0 quoted, 0 refused\n")


def test_hostile_rows_are_answered_in_place() -> None:
    rows = [b"[]", b"{", b"\xff", b"[" * 100_000, b'{"model": 1e999}', b"null", b'{"model": "ovi-image-to-video"}']
    sent = run("-", stdin=b"\n".join(rows))
    answers = [json.loads(line) for line in sent.stdout_bytes.splitlines()]
    assert ["error" in given for given in answers] == [True] * 6 + [False]


def test_csv_rows_are_read_with_care() -> None:
    rows = (" model , duration ", '"ovi-image-to-video", 5s ', "ovi-image-to-video,", "ovi-image-to-video,5s,more", "")
    answers = run("-", stdin="\r\n".join((*rows, "ovi-image-to-video"))).stdout.splitlines()
    assert answers[:2] == ['{"quote":0.22}'] * 2
    assert json.loads(answers[2])["details"] == {"_errors": ["Row 4 has more cells than the heading"]}
    cut_off = ["Row 6 has fewer cells than the heading. Is the file cut off?"]
    assert [json.loads(answer)["details"] for answer in answers[3:]] == [{"_errors": cut_off}]


def test_a_cell_may_hold_a_whole_video(prices: PriceBook) -> None:
    body = {"model": "topaz-video-upscale", "duration": "5s", "video_url": "data:video/mp4;base64," + "A" * 200_000}
    sent = run("-", stdin="model,duration,video_url\n" + ",".join(f'"{value}"' for value in body.values()))
    assert sent.stdout_bytes.splitlines() == [answer(prices, body)]


def test_a_quotation_mark_that_is_not_closed_hides_no_rows() -> None:
    sent = run("-", stdin='model,prompt\n"ovi-image-to-video"x,a\novi-image-to-video,b\novi-image-to-video,"c\nx,d\n')
    answers = [json.loads(line) for line in sent.stdout.splitlines()]
    assert [answer.get("details") for answer in answers] == [
        {"_errors": ["Row 2 is not CSV: ',' expected after '\"'"]},
        None,
        {"_errors": ["Row 5 is not CSV: unexpected end of data"]},
    ]
    assert (sent.exit_code, run("-", stdin='model,"a\nx\n').exit_code) == (1, 2)


@pytest.mark.parametrize("heading", ["model,model", "model, model"])
def test_a_heading_that_names_a_field_twice_is_wrong_use(heading: str) -> None:
    sent = run("-", stdin=f"{heading}\nx,y\n")
    assert sent.exit_code == 2
    assert "names 'model' twice" in sent.stderr


def test_a_csv_that_is_not_utf_8_is_refused_where_it_is_not() -> None:
    sent = run("-", stdin=b"model,duration,note\novi-image-to-video,,caf\xe9\novi-image-to-video,,caf\xc3\xa9\n")
    refused, priced = map(json.loads, sent.stdout.splitlines())
    assert refused["details"]["_errors"] == ["Row 2 is not UTF-8. Save the file as UTF-8"]
    assert (priced, sent.exit_code) == ({"quote": 0.22}, 1)
    wide = run("-", stdin="model,duration\novi-image-to-video,\n".encode("utf-16"))
    assert (wide.exit_code, "The heading of the CSV is not UTF-8. Save the file as UTF-8" in wide.stderr) == (2, True)


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_wrong_use(name: str) -> None:
    sent = run(name)
    assert sent.exit_code == 2
    assert "Cannot read" in sent.stderr


def test_without_a_terminal_there_is_no_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(simulate_progress, "Progress")
    assert run("-", stdin='{"model": "ovi-image-to-video"}').exit_code == 0
