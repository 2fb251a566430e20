"""`ratecard quote` and `ratecard rate`: one request of any type, however it is sent."""

import io
import json
import shlex
from collections import defaultdict
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from ratecard import PriceBook, QuoteError, RateCard, usage_from
from ratecard.cli import main
from ratecard.cli.quote import _LIKE_USAGE
from ratecard.load.folder import shipped_folder
from ratecard.simulation.rows.columns import USAGE_COLUMNS
from ratecard.tables.metered import UsageExample
from ratecard.tables.video import VideoExample
from token_tables import by_tokens, family, text_model

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
BODIES: list[dict[str, Any]] = [KLING, REFERENCE, KLING | {"audio": False}, {"model": "ovi-image-to-video"}]
REFUSED_BODIES: list[dict[str, Any]] = [
    SEEDANCE | {"aspect_ratio": "99:1", "target_fps": 500},
    {"model": "veo-3-1-ful-text-to-video"},
    {"duration": "5s"},
    {"model": "kling-o3-pro-text-to-video", "duration": "5"},
    {"model": "topaz-video-upscale", "upscale_factor": 3},
]
Quote = Callable[..., Result]


@pytest.fixture
def quote() -> Quote:
    def run(*words: str, stdin: bytes | str | None = None) -> Result:
        return CliRunner().invoke(main, ["quote", DAY, *words], input=stdin)

    return run


def as_flags(body: dict[str, Any]) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in body.items()]


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
    "source", ["seconds", "seconds=x", "seconds=-1", "depth=3", "seconds=1,seconds=2", "height=4.5", "seconds=1/0"]
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


@pytest.mark.parametrize("locale", ["xx_YY", "german", "de_DE_DE_DE"])
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


TOKENS = {"prompt_tokens": 5500, "completion_tokens": 300, "prompt_tokens_details": {"cached_tokens": 5000}}
USAGES: list[dict[str, Any]] = [
    {"model": "grok-4-3", "usage": TOKENS},
    {"type": "text", "model": "grok-4-3:enable_web_search=on", "usage": TOKENS, "scraped_urls": 2},
    {"model": "tts-kokoro", "characters": 77},
    {"type": "upscale", "model": "qwen-image-2", "factor": "2x"},
    {"model": "openai/whisper-large-v3", "seconds": 1.25},
    {"network": "base-mainnet", "calls": [{"method": "eth_call", "failed": True}, {"method": "eth_call"}]},
    {"model": "web-search", "count": 3},
    {"model": "kling-o3-pro-text-to-video", "duration": "5s"},
]
REFUSED: list[dict[str, Any]] = [
    {},
    {"model": "no-such-model"},
    {"type": "image", "model": "grok-4-3"},
    {"model": "grok-4-3", "usage": {"prompt_tokens": -1}},
    {"model": "tts-kokoro"},
]
Rate = Callable[..., Result]


@pytest.fixture
def rate() -> Rate:
    def run(*words: str, stdin: bytes | str | None = None) -> Result:
        return CliRunner().invoke(main, ["rate", DAY, *words], input=stdin)

    return run


def answer(prices: PriceBook, command: str, given: Any) -> str:
    """What the library answers, as a line."""
    price = prices.quote_video if command == "quote" else prices.rate
    return price(given).to_json().decode() + "\n"


@pytest.mark.parametrize(
    ("command", "given"),
    [*(("quote", body) for body in BODIES), *(("rate", usage) for usage in USAGES)],
    ids=lambda given: given if isinstance(given, str) else str(given.get("model", "rpc")),
)
def test_json_is_that_of_the_library_however_a_request_is_sent(
    prices: PriceBook, tmp_path: Path, command: str, given: dict[str, Any]
) -> None:
    text = json.dumps(given)
    (tmp_path / "given.json").write_text(text, encoding="utf-8")
    for words, stdin in (
        (["--json", text], None),
        (["--json", f"@{tmp_path / 'given.json'}"], None),
        (["--json", "-"], text),
        (["--batch", "-"], text),
    ):
        sent = CliRunner().invoke(main, [command, DAY, *words], input=stdin)
        assert (sent.exit_code, sent.stdout) == (0, answer(prices, command, text))


@pytest.mark.parametrize(
    ("command", "flags", "given"),
    [
        (
            "rate",
            "--model=grok-4-3 --prompt-tokens=5500 --completion-tokens=300 --cached-tokens=5000",
            {"model": "grok-4-3", "usage": TOKENS},
        ),
        (
            "rate",
            "--type=text --model=grok-4-3 --prompt-tokens=9 --completion-tokens=1 --enable-x-search=true"
            " --x-search-results=7",
            {
                "model": "grok-4-3",
                "usage": {"prompt_tokens": 9, "completion_tokens": 1},
                "x_search_results": 7,
                "service_parameters": {"enable_x_search": True},
            },
        ),
        (
            "rate",
            "--model=openai/whisper-large-v3 --seconds=1.25",
            {"model": "openai/whisper-large-v3", "seconds": 1.25},
        ),
        (
            "rate",
            "--model=flux-2-max-edit --input-images=3 --n=2",
            {"model": "flux-2-max-edit", "input_images": 3, "n": 2},
        ),
        (
            "rate",
            "--network=base-mainnet --method=eth_call --failed=true",
            {"network": "base-mainnet", "calls": [{"method": "eth_call", "failed": True}]},
        ),
        ("rate", "--model=x-search --count=25", {"type": "surcharge", "model": "x-search", "count": 25}),
        (
            "rate",
            "--model=kling-o3-pro-text-to-video --duration=5s --audio=false",
            {"model": "kling-o3-pro-text-to-video", "duration": "5s", "audio": False},
        ),
        *(("quote", " ".join(as_flags(body)), body) for body in BODIES),
    ],
)
def test_options_and_a_csv_name_the_same_fields(
    prices: PriceBook, command: str, flags: str, given: dict[str, Any]
) -> None:
    cells = [flag.removeprefix("--").partition("=") for flag in flags.split()]
    row = "\n".join(",".join(column) for column in zip(*((n.replace("-", "_"), v) for n, _, v in cells), strict=True))
    for words, stdin in ((["--json", *flags.split()], None), (["--batch", "-"], row)):
        sent = CliRunner().invoke(main, [command, DAY, *words], input=stdin)
        assert sent.stdout == answer(prices, command, given)


def test_every_column_of_a_table_of_usage_is_an_option() -> None:
    read = {name for name, column in USAGE_COLUMNS.items() if column.path[0] not in ("source",)}
    assert {name for name in read if not name.startswith("ledger_")} <= set(_LIKE_USAGE)
    assert set(_LIKE_USAGE) - read == {"type", "model", "count"}


@pytest.mark.parametrize(
    ("command", "given"),
    [*(("quote", body) for body in REFUSED_BODIES), *(("rate", usage) for usage in REFUSED)],
    ids=str,
)
def test_json_of_a_refusal_is_that_of_the_library_and_exits_with_1(
    prices: PriceBook, command: str, given: dict[str, Any]
) -> None:
    with pytest.raises(QuoteError) as refused:
        answer(prices, command, given)
    for words in ([json.dumps(given)], *([as_flags(given)] if command == "quote" else ())):
        sent = CliRunner().invoke(main, [command, DAY, "--json", *words])
        assert sent.exit_code == 1
        assert json.loads(sent.stdout) == refused.value.body()


def test_a_batch_is_answered_in_order_with_bad_rows_in_their_place(rate: Rate, prices: PriceBook) -> None:
    rows = [*USAGES[:4], *REFUSED, *USAGES[4:]]
    answers = []
    for usage in map(json.dumps, rows):
        try:
            answers.append(prices.rate(usage).to_json().decode())
        except QuoteError as error:
            answers.append(error.to_json().decode())
    sent = rate("--batch", "-", stdin="\n".join([*map(json.dumps, rows), "[1]", "{"]))
    assert sent.stdout.splitlines()[:-2] == answers
    assert all("error" in json.loads(line) for line in sent.stdout.splitlines()[-2:])
    assert sent.stderr.splitlines()[-1] == "15 rows: 8 rated, 7 refused"
    assert sent.exit_code == 1


def test_a_csv_of_several_types_is_answered_row_by_row(rate: Rate) -> None:
    text = (
        "model,prompt_tokens,completion_tokens,characters,source_seconds,tokens\n"
        "grok-4-3,100,5,,,\ntts-kokoro,,,77,,\ngrok-4-3,1.5,1,,,\nkling-o3-pro-text-to-video,,,,5,\n,,,,,,\n"
    )
    answers = [json.loads(line) for line in rate("--batch", "-", stdin=text).stdout.splitlines()]
    assert ["quote" in answer for answer in answers] == [True, True, False, False, False]
    assert "received float" in str(answers[2])
    assert answers[3]["details"]["source_seconds"]["_errors"] == [
        "A source video is not part of a usage. Price it by `ratecard quote`"
    ]
    assert answers[4]["details"]["_errors"] == ["Row 6 has more cells than the heading"]


ANSWER = {"model": "claude-opus-4-6", "usage": {"input_tokens": 3, "cache_read_input_tokens": 5000, "output_tokens": 4}}


def test_a_response_is_read_by_its_dialect(rate: Rate, prices: PriceBook, tmp_path: Path) -> None:
    quote = prices.rate(usage_from("anthropic", ANSWER))
    assert rate("--dialect=anthropic", json.dumps(ANSWER), "--json").stdout_bytes.strip() == quote.to_json()
    renamed = json.dumps(ANSWER | {"model": "claude"})
    assert (
        rate("--dialect=anthropic", renamed, "--model=claude-opus-4-6", "--json").stdout_bytes.strip()
        == quote.to_json()
    )
    lines = tmp_path / "answers.jsonl"
    lines.write_text(json.dumps(ANSWER) + "\n" + json.dumps({"model": "claude-opus-4-6"}), encoding="utf-8")
    answers = rate("--dialect=anthropic", f"--batch={lines}").stdout.splitlines()
    assert [json.loads(line).get("error") for line in answers] == [None, "Invalid response"]


def test_a_list_of_parts_is_read_as_by_python(rate: Rate, prices: PriceBook, tmp_path: Path) -> None:
    begin = {"type": "message_start", "message": {"id": "a", **ANSWER}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    quote = prices.rate(usage_from("anthropic", [begin, end]))
    cut_off = prices.rate(usage_from("anthropic", [begin], partial=True))
    assert rate("--dialect=anthropic", json.dumps([begin, end]), "--json").stdout_bytes.strip() == quote.to_json()
    assert "This stream has not finished" in rate("--dialect=anthropic", json.dumps([begin])).stderr
    for given, expected in (([begin, end], quote), ([begin], cut_off)):
        sent = rate("--dialect=anthropic", "--partial", json.dumps(given), "--json")
        assert sent.stdout_bytes.strip() == expected.to_json()
    lines = tmp_path / "streams.jsonl"
    lines.write_text("\n".join(map(json.dumps, ([begin, end], [begin]))), encoding="utf-8")
    answers = rate("--dialect=anthropic", "--partial", f"--batch={lines}").stdout_bytes.splitlines()
    assert answers == [quote.to_json(), cut_off.to_json()]
    assert json.loads(rate("--dialect=anthropic", f"--batch={lines}").stdout.splitlines()[1])["error"]
    wrong = rate("--partial", "--model=grok-4-3", "--prompt-tokens=1")
    assert (wrong.exit_code, "give --dialect too" in wrong.stderr) == (2, True)


def test_a_response_has_neither_options_of_its_own_nor_columns(rate: Rate, tmp_path: Path) -> None:
    wrong = rate("--dialect=openai", "{}", "--cached-tokens=4")
    assert (wrong.exit_code, "leave out --cached-tokens" in wrong.stderr) == (2, True)
    table = tmp_path / "answers.csv"
    table.write_text("model\nm\n", encoding="utf-8")
    wrong = rate("--dialect=openai", f"--batch={table}")
    assert (wrong.exit_code, "a file of JSON lines" in wrong.stderr) == (2, True)


def test_a_usage_for_people_is_a_bill(rate: Rate) -> None:
    sent = rate("--locale=de_DE", "--model=grok-4-3", "--prompt-tokens=5500", "--completion-tokens=300")
    lines = sent.stdout.replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert lines[2] == "grok-4-3-llm-input-mtoken"
    assert lines[3].startswith("  text/grok.yaml:")
    assert lines[3].endswith("0,0055 mtoken     1,42 $   0,00781 $")
    assert lines[7].split() == ["Total", "0,008659", "$"]


@pytest.mark.parametrize("command", ["quote", "rate"])
@pytest.mark.parametrize("words", [[], ["{}", "--model=x"], ["{}", "--batch=x.jsonl"], ["@/no/such/file"]])
def test_no_request_or_two_is_wrong_use(command: str, words: list[str]) -> None:
    sent = CliRunner().invoke(main, [command, DAY, *words])
    assert (sent.exit_code, "Error: " in sent.stderr) == (2, True)


def test_a_batch_has_no_source_of_its_own(quote: Quote) -> None:
    sent = quote("--batch=x.jsonl", "--source=seconds=1")
    assert (sent.exit_code, "are for the video of one request; a batch has many" in sent.stderr) == (2, True)


# For people, a required field is followed by its choices.
@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        ("quote", ["--model=kling-o3-pro-text-to-video"], "duration: Required. Choices: 3s..15s"),
        ("rate", ["--model=kling-o3-pro-text-to-video"], "duration: Required. Choices: 3s..15s"),
        ("rate", ["--type=upscale", "--model=qwen-image-2"], "factor: Required. Choices: 2x, 4x"),
        ("rate", ["--method=eth_call"], "network: Required. Choices: ethereum-mainnet, "),
        ("rate", ["--network=base-mainnet"], 'calls: Required (a list, like [{"method": "eth_call"}]'),
        ("rate", ["--model=grok-4-3"], 'usage: Required (the counts of tokens, like {"prompt_tokens": 1000, '),
        ("rate", ["--model=grok-4-3", "--prompt-tokens=1"], "completion_tokens: Required (tokens of the answer)"),
        ("rate", ["--model=tts-kokoro"], "characters: Required (how many characters are spoken)"),
        ("quote", ["--duration=5s"], "model: Required (id of the model, see `ratecard models`)"),
    ],
)
def test_what_is_required_is_followed_by_its_choices(command: str, words: list[str], said: str) -> None:
    sent = CliRunner().invoke(main, [command, DAY, *words])
    assert (sent.exit_code, sent.stdout) == (1, "")
    assert said in sent.stderr
    as_json = CliRunner().invoke(main, [command, DAY, "--json", *words])
    assert '"Required"' in as_json.stdout
    assert "Choices" not in as_json.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["quote", "--model=grok-4-3"], "ratecard rate --model grok-4-3 --prompt-tokens "),
        (["quote", "--model=crypto-rpc"], "ratecard rate --network ethereum-mainnet --method eth_call"),
        (["quote", "--model=web-search"], "ratecard rate --model web-search --count 1000"),
        (["quote", '{"network": "base-mainnet", "calls": []}'], "ratecard rate --network ethereum-mainnet "),
        (["quote", "--model=grok-4-3:enable_web_search=on"], "ratecard rate --model grok-4-3:enable_web_search=on "),
        (["rate", "--type=image", "--model=tts-kokoro"], "ratecard rate --model tts-kokoro --characters "),
        (["rate", "--type=text", "--model=ovi-image-to-video"], "ratecard quote --model ovi-image-to-video"),
    ],
)
@pytest.mark.parametrize("json_flag", [[], ["--json"]])
def test_a_model_of_another_type_is_told_its_command_and_that_works(
    words: list[str], said: str, json_flag: list[str]
) -> None:
    sent = CliRunner().invoke(main, [*words, DAY, *json_flag])
    assert sent.exit_code == 1
    hint = sent.stderr.splitlines()[-1].removeprefix("It is priced so: ")
    assert hint.startswith(said)
    followed = CliRunner().invoke(main, [*hint.split()[1:], DAY])
    assert followed.exit_code == 0, followed.stderr


def test_a_model_whose_example_is_of_buckets_or_counts_is_told_its_command_too(tmp_path: Path) -> None:
    rates = "- {tokens: input, rate: 1}\n- {tokens: output, rate: 2}\n"
    tokens = text_model("m", by_tokens(rates, usage="{tokens: {input: 1000000}}", total=1))
    (tmp_path / "m.yaml").write_text(family(tokens))
    words = ["--tables", str(tmp_path), DAY]
    said = CliRunner().invoke(main, ["rate", "--type=image", "--model=m", *words]).stderr.splitlines()[-1]
    _, *told = shlex.split(said.removeprefix("It is priced so: "))
    assert CliRunner().invoke(main, [*told, *words]).exit_code == 0, said


@pytest.mark.parametrize(
    "words",
    [
        ["quote", "--model=no-such"],
        ["quote", "--model=tts-kokoro:a=b"],
        ["quote", "{}"],
        ["rate", "--network=x-mainnet"],
        ["rate", "--type=upscale", "--model=qwen-image-2"],
    ],
)
def test_any_other_refusal_names_no_command(words: list[str]) -> None:
    assert "It is priced so" not in CliRunner().invoke(main, [*words, DAY]).stderr


def test_a_bill_by_video_tokens_shows_how_they_come_about() -> None:
    words = ["--model=seedance-2-5-reference-to-video-basic", "--duration=5s", "--resolution=1080p"]
    words += ["--aspect-ratio=16:9", "--reference-video-total-duration=7.5"]
    for command in ("quote", "rate"):
        sent = CliRunner().invoke(main, [command, DAY, *words])
        assert "  (12.5 s x 1920 x 1080 x 24 fps / 1024 = 607,500 tokens)\n" in sent.stdout
        assert "  (list rate $7.00 x 1.25)\n" in sent.stdout


class _Asked(NamedTuple):
    model: str
    given: str
    total: Decimal


def test_every_shipped_model_has_a_price_on_the_command_line(card: RateCard) -> None:
    """By an example of its newest version, worked by hand, on the first day of that version."""
    batches: dict[tuple[str, date], list[_Asked]] = defaultdict(list)
    priced, single = set(), 0
    for model in card.tables.models.values():
        version = model.versions[0]
        example = version.examples[0]
        if isinstance(example, VideoExample):
            body = {"model": model.model, **example.request}
            if example.source:
                words = [f"--{name.replace('_', '-')}={value}" for name, value in body.items()]
                words.append("--source=" + ",".join(f"{name}={value}" for name, value in example.source.items()))
                sent = CliRunner().invoke(main, ["quote", "--json", f"--at={version.effective}", *words])
                assert json.loads(sent.stdout, parse_float=Decimal) == {"quote": example.total}, model.model
                priced.add(model.model)
                single += 1
                continue
            batches["quote", version.effective].append(_Asked(model.model, _csv(body), example.total))
        else:
            assert isinstance(example, UsageExample)
            usage = {} if model.type == "rpc" else {"model": model.model}
            asked = _Asked(model.model, _csv(usage | example.usage), example.total)
            batches["rate", version.effective].append(asked)
    for (command, day), rows in batches.items():
        heading = ",".join(_FIELDS)
        text = "\n".join([heading, *(row.given for row in rows)])
        sent = CliRunner().invoke(main, [command, f"--at={day}", "--batch", "-"], input=text)
        answers = [json.loads(line, parse_float=Decimal, parse_int=Decimal) for line in sent.stdout.splitlines()]
        assert answers == [{"quote": row.total} for row in rows], [row.model for row in rows]
        priced |= {row.model for row in rows}
    assert priced == set(card.tables.models)
    assert (len(priced), single < 10) == (366, True)


_FIELDS = tuple(_LIKE_USAGE)


def _csv(fields: dict[str, Any]) -> str:
    assert set(fields) <= set(_FIELDS)
    return ",".join(f'"{fields[name]}"' if name in fields else "" for name in _FIELDS)


def test_a_csv_has_columns_of_buckets_and_conditions(rate: Rate, prices: PriceBook) -> None:
    text = (
        "model,tokens.input,tokens.cache_input,tokens.output,service_tier\n"
        "claude-opus-4-6,5500,5000,300,auto\n"
        "claude-opus-4-6,1000,,100,batch\n"
        "claude-opus-4-6,1000,1001,100,\n"
    )
    sent = rate("--batch", "-", stdin=text)
    tokens = {"input": 5500, "cache_input": 5000, "output": 300}
    usage = {"type": "text", "model": "claude-opus-4-6", "tokens": tokens, "service_tier": "auto"}
    first, second, third = map(json.loads, sent.stdout.splitlines())
    assert first == json.loads(prices.rate(usage).to_json())
    assert "service_tier" in second["details"]
    assert "tokens" in third["details"]


class Interrupted(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        if size == 0:  # `click` looks at what kind of file this is
            return b""
        raise KeyboardInterrupt


def test_ctrl_c_while_a_command_waits_for_its_body() -> None:
    done = CliRunner().invoke(main, ["quote", "-"], input=Interrupted())
    assert (done.exit_code, done.output) == (130, "Interrupted\n")
