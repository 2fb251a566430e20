"""Spans and spend logs as usage tables: the same amounts as their rows have, read one by one."""

import csv
import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner
from few import card_of_models

from ratecard import QuoteError, RateCard, usage_from
from ratecard.base.errors import SimulationError
from ratecard.cli import main
from ratecard.load.folder import tables_from
from ratecard.requests.counters import Counter
from ratecard.requests.dialects import DIALECTS, TableDialect
from ratecard.review.sides import Side
from ratecard.simulation.simulate import simulate
from shipped import few_models
from token_tables import by_tokens, family, text_model

RATES = """
- {{tokens: input, rate: {0}}}
- {{tokens: cache_input, rate: 0.5}}
- {{tokens: cache_write, rate: 7}}
- {{tokens: output, rate: 25}}
- {{tokens: output_audio, rate: 60}}
"""
MILLION = "{prompt_tokens: 1000000, completion_tokens: 0}"
PRICES = {"claude-opus-4-6": 5, "grok-4-3": 3}
TABLE = family(
    *(text_model(name, by_tokens(RATES.format(rate), usage=MILLION, total=rate)) for name, rate in PRICES.items())
)
CARD = RateCard(tables_from({"made-up.yaml": TABLE.encode()}))
SPANS: list[dict[str, Any]] = [
    {"gen_ai.request.model": "claude-opus-4-6", "gen_ai.usage.input_tokens": 1000, "gen_ai.usage.output_tokens": 20}
    | {"gen_ai.usage.cache_read.input_tokens": 400, "gen_ai.usage.cache_creation.input_tokens": 100},
    {"gen_ai.request.model": "claude-opus-4-6", "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3},
    {"gen_ai.request.model": "asked", "gen_ai.response.model": "grok-4-3", "gen_ai.usage.input_tokens": 50}
    | {"gen_ai.usage.output_tokens": 5, "gen_ai.usage.reasoning.output_tokens": 4},
    {"gen_ai.request.model": "grok-4-3", "gen_ai.usage.prompt_tokens": 9, "gen_ai.usage.completion_tokens": 1},
]
WHEN = {"start_time": "2026-10-01T10:00:00Z"}
AGENT: dict[str, Any] = WHEN | {"gen_ai.operation.name": "invoke_agent"}
AGENT |= {"gen_ai.usage.input_tokens": 1007, "gen_ai.usage.output_tokens": 23}
SPANS = [WHEN | {"gen_ai.operation.name": "chat"} | span for span in SPANS]
LOGS = [
    {"model": "claude-opus-4-6", "prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    | {"prompt_tokens_details": {"cached_tokens": 400, "cache_creation_tokens": 100, "image_count": 0}},
    {"model": "grok-4-3", "prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
    | {"completion_tokens_details": {"reasoning_tokens": 4}, "cost": 0.0001},
]


def priced(path: Path, dialect: Any, **options: Any) -> tuple[Decimal, int, int]:
    """Return the price of all rows together, the number of priced rows, and that of the others."""
    with simulate(path, CARD, dialect=dialect, by=["model"], **options) as found:
        return found.total.amounts[0], found.priced, found.rows - found.priced


def one_by_one(dialect: str, rows: list[dict[str, Any]]) -> Decimal:
    prices = CARD.at(date(2026, 10, 1))
    return sum((prices.rate(usage_from(dialect, row)).exact for row in rows), Decimal())


def spend_log(usage: dict[str, Any], **other: Any) -> dict[str, Any]:
    """A row of the table of spend logs: most of it is JSON as text."""
    counts = {name: count for name, count in usage.items() if name != "model"}
    return {
        "call_type": "acompletion",
        "model": usage["model"],
        "spend": "0.1",
        "startTime": "2026-10-01T10:00:00Z",
        "prompt_tokens": usage["prompt_tokens"],
        "completion_tokens": usage["completion_tokens"],
        "metadata": json.dumps({"status": "success", "usage_object": counts}),
    } | other


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path
    table = path.with_suffix(".csv")
    with table.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, names)
        writer.writeheader()
        writer.writerows(rows)
    if path.suffix == ".parquet":
        duckdb.connect().execute(f"COPY (FROM read_csv('{table}')) TO '{path}'")
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_spans_whose_attributes_are_columns(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path / f"spans.{ending}", [*SPANS, AGENT])
    # An agent's span repeats the tokens of its calls, so it is not among the rows.
    with simulate(path, CARD, dialect="opentelemetry", by=["model"]) as found:
        assert (found.total.amounts, found.priced) == ((one_by_one("opentelemetry", SPANS),), 4)
        assert (found.reading.found, found.rows) == (5, 4)
        assert {*found.reading.unused} == {"start_time", "gen_ai.request.model", "gen_ai.response.model"}
        assert found.reading.chosen.startswith('where ("gen_ai.operation.name" is missing or')


def test_spans_of_a_table_without_the_column_of_input_tokens_have_no_price(tmp_path: Path) -> None:
    """The same spans one by one are refused: nothing says how many tokens they had."""
    span = {"gen_ai.request.model": "claude-opus-4-6", "gen_ai.usage.output_tokens": 5, **WHEN}
    assert priced(written(tmp_path / "spans.jsonl", [span]), "opentelemetry") == (Decimal(0), 0, 1)


def test_spans_with_their_attributes_in_one_column(tmp_path: Path) -> None:
    rows = [{"name": "chat", "attributes": span, **WHEN} for span in [*SPANS, AGENT]]
    expected = (one_by_one("opentelemetry", SPANS), 4, 0)
    lines = written(tmp_path / "spans.jsonl", rows)
    assert priced(lines, "opentelemetry") == expected
    # A map of texts, as exporters to tables write it; and JSON in a cell.
    texts = [{name: str(value) for name, value in span.items()} for span in [*SPANS, AGENT]]
    maps = ", ".join(f"(MAP {each})" for each in texts)
    rows_of_maps = f"SELECT *, '2026-10-01' AS start_time FROM (VALUES {maps}) AS spans(attributes)"  # noqa: S608 - of our own
    duckdb.connect().execute(f"COPY ({rows_of_maps}) TO '{tmp_path / 'maps.parquet'}'")
    assert priced(tmp_path / "maps.parquet", "opentelemetry") == expected
    cells = written(tmp_path / "cells.csv", [{"attributes": json.dumps(span), **WHEN} for span in [*SPANS, AGENT]])
    assert priced(cells, "opentelemetry") == expected


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_spend_logs_by_the_usage_in_their_metadata(tmp_path: Path, ending: str) -> None:
    image = spend_log(LOGS[0], call_type="aimage_generation")
    path = written(tmp_path / f"logs.{ending}", [*map(spend_log, LOGS), image])
    expected = one_by_one("litellm", list(map(spend_log, LOGS)))
    with simulate(path, CARD, dialect="litellm", by=["model", "day"]) as found:  # each priced at its own time
        assert (found.total.amounts, found.priced, found.rows) == ((expected,), 2, 2)
        assert {row.key[1] for row in found.groups} == {"2026-10-01"}


def test_spend_logs_that_are_chosen(tmp_path: Path) -> None:
    path = written(tmp_path / "logs.jsonl", list(map(spend_log, LOGS)))
    assert priced(path, "litellm", where="model = 'grok-4-3'") == (one_by_one("litellm", [spend_log(LOGS[1])]), 1, 0)


def test_calls_of_tools_are_counted_by_meter(tmp_path: Path) -> None:
    searched = LOGS[0] | {"server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 0}}
    rows = [spend_log(searched), spend_log(LOGS[1] | {"server_tool_use": {"web_search_requests": 0}})]
    path = written(tmp_path / "logs.parquet", rows)
    card, at = few_models(*PRICES, of_each=0), datetime(2026, 10, 1, tzinfo=UTC)  # with the prices of searches
    with simulate(path, Side("now", card, at), dialect="litellm", by=[]) as found:
        prices = card.at(at)
        exact = [prices.rate(usage_from("litellm", row)).exact for row in rows]
        assert (found.total.amounts, found.unpriced) == ((sum(exact),), ())
        assert exact[0] > Decimal("0.02")  # 10 per 1,000 searches


def test_a_part_of_a_call_is_no_count_though_its_meter_takes_fractions(tmp_path: Path) -> None:
    charge = "- {charge: searches, method: count, unit: search, rates: [{rate: 0.01}]}"
    table = TABLE.replace("        examples:", f"          {charge}\n        examples:")
    files = {"made-up.yaml": table, "units.yaml": "units:\n  - {unit: search, counts: web_search, per: 1}\n"}
    files["meters.yaml"] = "meters:\n  - {meter: web_search, every_usage: 0}\n"
    card = RateCard(tables_from({name: text.encode() for name, text in files.items()}))
    rows = [spend_log(LOGS[0] | {"server_tool_use": {"web_search_requests": count}}) for count in (2, 1.5)]
    exact = card.at(date(2026, 10, 1)).rate(usage_from("litellm", rows[0])).exact
    with simulate(written(tmp_path / "logs.jsonl", rows), card, dialect="litellm", by=[]) as found:
        assert (found.total.amounts, found.priced) == ((exact,), 1)


def test_a_row_without_its_counts_has_no_price(tmp_path: Path) -> None:
    half = spend_log(LOGS[1], metadata='{"usage_object": {"completion_tokens": 5}}')
    path = written(tmp_path / "logs.jsonl", [spend_log(LOGS[0]), spend_log(LOGS[1], metadata="{}"), half])
    assert priced(path, "litellm") == (one_by_one("litellm", [spend_log(LOGS[0])]), 1, 2)


WRONG_LOGS: dict[str, dict[str, Any]] = {
    "a total of another sum": {"total_tokens": 1021},
    "two names that disagree": {"output_tokens": 19},
    "a part above its whole": {"completion_tokens_details": {"reasoning_tokens": 21}},
    "more from the cache than in the prompt": {"prompt_tokens_details": {"cached_tokens": 1001}},
    "more in the cache than in the prompt": {
        "prompt_tokens_details": {"cached_tokens": 600, "cache_creation_tokens": 401}
    },
    "more text than is left beside the sound": {"completion_tokens_details": {"text_tokens": 15, "audio_tokens": 6}},
    "hits and misses that are not the prompt": {"prompt_cache_hit_tokens": 400, "prompt_cache_miss_tokens": 5},
    "a total with a fraction": {"total_tokens": 1020.4},
    "a total that no integer of the database holds": {"total_tokens": 2**64},
    "less than no tokens of a part without a column": {"completion_tokens_details": {"rejected_prediction_tokens": -1}},
    "a fraction under another name of the output": {"output_tokens": 19.6},
}


def test_rows_that_contradict_themselves_have_no_price_as_by_themselves(tmp_path: Path) -> None:
    sound = [spend_log(LOGS[0], why="sound"), spend_log(LOGS[1], why="sound")]
    odd = [spend_log(LOGS[0] | wrong, why=why) for why, wrong in WRONG_LOGS.items()]
    odd.append(spend_log(LOGS[0], why="the row and its metadata disagree", completion_tokens=21))
    odd.append(spend_log(LOGS[0] | {"service_tier": "flex"}, why="they disagree on the tier", service_tier="priority"))
    for row in odd:
        with pytest.raises(QuoteError):
            usage_from("litellm", row)
    path = written(tmp_path / "logs.jsonl", [sound[0], *odd, sound[1]])
    with simulate(path, CARD, dialect="litellm", by=["why"]) as found:
        assert {row.key[0]: row.requests for row in found.groups} == {"sound": 2}
        assert (found.total.amounts[0], found.rows - found.priced) == (one_by_one("litellm", sound), len(odd))


def test_a_row_that_leaves_the_column_of_a_condition_empty_states_it_elsewhere(tmp_path: Path) -> None:
    line = "- {{tokens: output, rate: 25}}\n"
    flex = "".join(f"- {{{{tokens: {way}, service_tier: flex, rate: 2}}}}\n" for way in ("input", "output"))
    rates = RATES.replace(line, line + flex).format(5)
    rates = by_tokens(rates, "without_rate: {flex: default}", usage=MILLION, total=5)
    card = card_of_models(text_model("claude-opus-4-6", rates))
    usages = [LOGS[0] | tier for tier in ({"service_tier": "flex"}, {"service_tier": ""}, {})]
    logs = [spend_log(usage, service_tier=tier) for usage in usages for tier in ("flex", "", None)]
    spans = [SPANS[1] | {"service_tier": None, "openai.response.service_tier": tier} for tier in ("flex", "", None)]
    prices = card.at(date(2026, 10, 1))
    dialects: dict[TableDialect, list[dict[str, Any]]] = {"litellm": logs, "opentelemetry": spans}
    for dialect, rows in dialects.items():
        path = written(tmp_path / f"{dialect}.jsonl", rows)
        exact = [prices.rate(usage_from(dialect, row)).exact for row in rows]
        with simulate(path, card, dialect=dialect, by=[]) as found:
            assert (found.total.amounts, found.unpriced) == ((sum(exact),), ())
        assert len({*exact}) == 2


def test_an_amount_of_a_span_is_not_a_counter(tmp_path: Path) -> None:
    costly = [span | {"gen_ai.usage.cost": 0.3, "gen_ai.usage.total_cost": 2} for span in SPANS]
    path = written(tmp_path / "spans.jsonl", costly)
    assert priced(path, "opentelemetry") == (one_by_one("opentelemetry", costly), 4, 0)


def test_a_span_that_contradicts_itself_has_no_price(tmp_path: Path) -> None:
    wrong = ({"gen_ai.usage.prompt_tokens": 999}, {"gen_ai.usage.reasoning.output_tokens": 21})
    odd = [SPANS[0] | each for each in wrong]
    for row in odd:
        with pytest.raises(QuoteError):
            usage_from("opentelemetry", row)
    path = written(tmp_path / "spans.jsonl", [*SPANS, *odd])
    assert priced(path, "opentelemetry") == (one_by_one("opentelemetry", SPANS), 4, len(odd))


SMELL = {"gen_ai.usage.smell.input_tokens": 2}


@pytest.mark.parametrize(
    ("dialect", "row", "said"),
    [
        ("opentelemetry", SPANS[0] | SMELL, "gen_ai.usage.smell.input_tokens: No price"),
        ("opentelemetry", {"attributes": SPANS[0] | SMELL}, "gen_ai.usage.smell.input"),
        ("opentelemetry", {"model": "grok-4-3", "prompt_tokens": 5}, "the usage has none of the counts of its dialect"),
        ("litellm", {"model": "grok-4-3", "prompt_tokens": 5}, "They are in usage, metadata.usage_object"),
        ("litellm", spend_log(LOGS[0] | {"prompt_tokens_details": {"image_count": 2}}), "tokens_details.image_count"),
        ("litellm", spend_log(LOGS[0] | {"completion_tokens": "20"}), "completion_tokens: Expected number"),
        ("litellm", spend_log(LOGS[0] | {"audio_tokens": "5"}), "audio_tokens: Expected number"),
        ("anthropic", SPANS[0], "dialect is 'anthropic'. Allowed for a table: opentelemetry, litellm"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, dialect: str, row: dict[str, Any], said: str) -> None:
    path = written(tmp_path / "rows.jsonl", [row])
    with pytest.raises(SimulationError) as caught:
        priced(path, dialect)
    assert said in str(caught.value)


def test_a_new_counter_is_one_line_of_its_dialect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both doors read it by the data: the reader of one response, and the view of a table."""
    output = "- {tokens: output, rate: 25}\n"
    table = TABLE.replace(output, f"{output}{' ' * 14}- {{tokens: output_citation, rate: 3}}\n")
    card = RateCard(tables_from({"made-up.yaml": table.encode()}))
    row = spend_log(LOGS[1] | {"completion_tokens_details": {"cited_tokens": 2}})
    path = written(tmp_path / "logs.jsonl", [row])
    with pytest.raises(SimulationError, match="cited_tokens: No price is known"):
        simulate(path, card, dialect="litellm", by=[])
    counter = Counter("cited", (("completion_tokens_details", "cited_tokens"),), "completion", "output_citation")
    dialect = DIALECTS["litellm"]
    monkeypatch.setitem(DIALECTS, "litellm", replace(dialect, counters=(*dialect.counters, counter)))
    exact = card.at(date(2026, 10, 1)).rate(usage_from("litellm", row)).exact
    assert exact == Decimal("0.000231")  # 50 x 3, 3 x 25 and 2 x 3 a million
    with simulate(path, card, dialect="litellm", by=[]) as found:
        assert found.total.amounts == (exact,)


def test_spark_reads_no_responses(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="responses are read by DuckDB"):
        simulate(written(tmp_path / "spans.jsonl", SPANS), CARD, dialect="opentelemetry", engine="spark")


def test_the_command_line_reads_them_too(tmp_path: Path) -> None:
    path = written(tmp_path / "spans.jsonl", [*SPANS, AGENT])
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "made-up.yaml").write_text(TABLE, encoding="utf-8")
    words = ["simulate", str(path), "--tables", str(tables), "--current=2026-10-01", "--tornado=5%"]
    assert CliRunner().invoke(main, [*words, "--dialect=opentelemetry"]).exit_code == 0
    assert CliRunner().invoke(main, [*words, "--dialect=anthropic"]).exit_code == 2
