"""`ratecard rate`: usages of every type, priced as `ratecard quote` prices a body."""

import json
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
from ratecard.simulation.rows.columns import USAGE_COLUMNS
from ratecard.tables.metered import UsageExample
from ratecard.tables.video import VideoExample

DAY = "--at=2026-09-29"
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


@pytest.mark.parametrize("usage", USAGES, ids=lambda usage: str(usage.get("model", "rpc")))
def test_json_is_that_of_the_library_however_a_usage_is_sent(
    rate: Rate, prices: PriceBook, tmp_path: Path, usage: dict[str, Any]
) -> None:
    text = json.dumps(usage)
    answer = prices.rate(text).to_json().decode() + "\n"
    (tmp_path / "usage.json").write_text(text, encoding="utf-8")
    for sent in (
        rate("--json", text),
        rate("--json", f"@{tmp_path / 'usage.json'}"),
        rate("--json", "-", stdin=text),
        rate("--batch", "-", stdin=text),
    ):
        assert (sent.exit_code, sent.stdout) == (0, answer)


@pytest.mark.parametrize(
    ("flags", "usage"),
    [
        (
            "--model=grok-4-3 --prompt-tokens=5500 --completion-tokens=300 --cached-tokens=5000",
            {"model": "grok-4-3", "usage": TOKENS},
        ),
        (
            "--type=text --model=grok-4-3 --prompt-tokens=9 --completion-tokens=1 --enable-x-search=true"
            " --x-search-results=7",
            {
                "model": "grok-4-3",
                "usage": {"prompt_tokens": 9, "completion_tokens": 1},
                "x_search_results": 7,
                "service_parameters": {"enable_x_search": True},
            },
        ),
        ("--model=openai/whisper-large-v3 --seconds=1.25", {"model": "openai/whisper-large-v3", "seconds": 1.25}),
        ("--model=flux-2-max-edit --input-images=3 --n=2", {"model": "flux-2-max-edit", "input_images": 3, "n": 2}),
        (
            "--network=base-mainnet --method=eth_call --failed=true",
            {"network": "base-mainnet", "calls": [{"method": "eth_call", "failed": True}]},
        ),
        ("--model=x-search --count=25", {"type": "surcharge", "model": "x-search", "count": 25}),
        (
            "--model=kling-o3-pro-text-to-video --duration=5s --audio=false",
            {"model": "kling-o3-pro-text-to-video", "duration": "5s", "audio": False},
        ),
    ],
)
def test_options_and_a_csv_name_the_same_fields(
    rate: Rate, prices: PriceBook, flags: str, usage: dict[str, Any]
) -> None:
    answer = prices.rate(usage).to_json().decode() + "\n"
    cells = [flag.removeprefix("--").partition("=") for flag in flags.split()]
    row = "\n".join(",".join(column) for column in zip(*((n.replace("-", "_"), v) for n, _, v in cells), strict=True))
    assert rate("--json", *flags.split()).stdout == answer
    assert rate("--batch", "-", stdin=row).stdout == answer


def test_every_column_of_a_table_of_usage_is_an_option() -> None:
    read = {name for name, column in USAGE_COLUMNS.items() if column.path[0] not in ("source",)}
    assert {name for name in read if not name.startswith("ledger_")} <= set(_LIKE_USAGE)
    assert set(_LIKE_USAGE) - read == {"type", "model", "count"}


@pytest.mark.parametrize("usage", REFUSED, ids=str)
def test_json_of_a_refusal_is_that_of_the_library_and_exits_with_1(
    rate: Rate, prices: PriceBook, usage: dict[str, Any]
) -> None:
    with pytest.raises(QuoteError) as refused:
        prices.rate(usage)
    sent = rate("--json", json.dumps(usage))
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


@pytest.mark.parametrize("words", [[], ["{}", "--model=x"], ["{}", "--batch=x.jsonl"], ["@/no/such/file"]])
def test_no_usage_or_two_is_wrong_use(rate: Rate, words: list[str]) -> None:
    sent = rate(*words)
    assert sent.exit_code == 2
    assert "Error: " in sent.stderr


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
