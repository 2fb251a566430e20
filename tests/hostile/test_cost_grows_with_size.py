"""Nothing that anybody sends costs more than its size: every entry point is given inputs of n and 4n.

`make test-hostile` runs it by itself, as it measures CPU time; `make test` does not.
"""

import csv
import io
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from growth import Entry, check_growth
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.pool import StaticPool
from starlette.testclient import TestClient

from ratecard import RateCard, simulate, usage_from
from ratecard.accounts import ApiKey, ApiKeyList, settle, trailing_seven_days
from ratecard.base.suggestions import suggestions
from ratecard.candidates.file import candidate_from
from ratecard.cli.batch import answer_batch
from ratecard.ledger import append_many, charge, ledger_csv, ledger_json, open_ledger, read_ledger, refund
from ratecard.ledger.clock import Clock
from ratecard.ledger.files import join_parts
from ratecard.ledger.rows import NewCharge
from ratecard.ledger.store import Ledger, Walk
from ratecard.load.folder import tables_from
from ratecard.load.positions import Positions
from ratecard.load.yaml_text import read_yaml_text
from ratecard.price_lists.litellm import read_litellm
from ratecard.price_lists.models_dev import read_models_dev
from ratecard.price_lists.write import import_list
from ratecard.probe.container import facts_of
from ratecard.probe.probing import UnreadableError
from ratecard.requests.dialects import DIALECTS
from ratecard.requests.service_parameters import split_model
from ratecard.requests.text_body import body_of_text
from ratecard.review.compare import compare_sides
from ratecard.review.promote import promotion
from ratecard.review.sides import Side
from ratecard.server import LiveRateCard, application
from ratecard.server.auth import ApiKeys
from ratecard.server.charges import read_charge, read_refund
from ratecard.server.http import decoder, preferred
from ratecard.server.usage_history import Cursors, read_query
from ratecard.simulation.rows.where import read_condition
from ratecard.tables.card import matcher_of, share_a_name
from ratecard.whatif.draft import Draft, Factor, from_json, to_json
from shipped import CARD
from token_tables import by_tokens, family, text_model

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
PRICES = CARD.at(WHEN)
VIDEO = {"model": "kling-o3-pro-text-to-video", "duration": "5s"}
TEXT, COUNTS = "zai-org-glm-5-2", {"prompt_tokens": 10, "completion_tokens": 5}


def body(**fields: object) -> bytes:
    return json.dumps({**VIDEO, **fields}).encode()


def text(**fields: object) -> dict[str, Any]:
    return {"type": "text", "model": TEXT, "usage": COUNTS, **fields}


def names(count: int, like: str = "k", value: object = 1) -> dict[str, Any]:
    return {f"{like}{number}": value for number in range(count)}


def nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "1" + closing * levels


def quoted(make: Callable[[int], bytes | str], name: str, largest: int = 1 << 16) -> Entry:
    return Entry(f"quote: {name}", make, PRICES.quote_video, largest)


def rated(make: Callable[[int], Any], name: str) -> Entry:
    return Entry(f"rate: {name}", make, PRICES.rate)


QUOTES = (
    quoted(lambda n: body(**names(n)), "unknown keys"),
    quoted(lambda n: body(**names(n, "duratio")), "misspelt keys"),
    quoted(lambda n: body(**names(n), duration="99s"), "unknown keys and a wrong one"),
    quoted(lambda n: body(duration="5" * n), "a long duration"),
    quoted(lambda n: body(model="kling-o3-" * n), "a long model"),
    quoted(lambda n: body(video_url="https://" + "a" * n), "a long address"),
    quoted(lambda n: body(x=[1] * n), "a long array"),
    quoted(lambda n: body(x=[":"] * n), "an array of colons"),
    quoted(lambda n: body(x=[names(2)] * n), "an array of objects"),
    quoted(lambda n: body(x='\\"\n' * n), "a text with escapes"),
    quoted(lambda n: body(**names(n, "\\u003a:")), "keys with colons"),
    quoted(lambda n: b'{"x": ' + b" " * n + b"1}", "white space"),
    quoted(lambda n: " " * n + "x", "white space before what is not JSON"),
    quoted(lambda n: body(x=names(n)).replace(b'"k1"', b'"k0"', 1), "a key twice at the beginning"),
    quoted(lambda n: body(x=names(n))[:-2] + b', "k0": 1}}', "a key twice at the end"),
    quoted(lambda n: "{" + '"a": 1, ' * n + '"b": 1}', "one key again and again"),
    quoted(lambda n: f'{{"x": {nested(n)}}}', "nested arrays"),
    quoted(lambda n: nested(n, '{"a":', "}"), "nested objects"),
    quoted(lambda n: "[" * n, "open brackets"),
    quoted(lambda n: '{"x": "' + "a" * n, "a text without an end"),
    quoted(lambda n: b'{"x": "' + b"a" * n + b'\xff"}', "a wrong byte at the end"),
    quoted(lambda n: '{"target_fps": ' + "9" * n + "}", "a long number"),
    quoted(lambda n: '{"target_fps": 1.' + "9" * n + "}", "a long decimal"),
    quoted(lambda n: f'{{"x": [{",".join(["9" * 4_000] * (n // 64 + 1))}]}}', "many long numbers"),
    quoted(lambda n: '{"reference_video_total_duration": 1e' + "9" * n + "}", "a long exponent"),
    Entry("audio: unknown keys", lambda n: {"model": "elevenlabs-music", **names(n)}, PRICES.quote_audio),
)
RATES = (
    rated(lambda n: text(**names(n)), "unknown keys"),
    rated(lambda n: text(**names(n, "web_search_request")), "misspelt keys"),
    rated(lambda n: text(usage=COUNTS | names(n)), "unknown values in a usage"),
    rated(lambda n: text(usage=COUNTS | names(n, "x_tokens")), "unknown counters"),
    rated(lambda n: text(usage=COUNTS | names(n, "prompt_tokens")), "misspelt counters"),
    rated(lambda n: text(usage=COUNTS | names(n, "prompt_tokens", -1)), "wrong counters"),
    rated(lambda n: text(usage=COUNTS | {"prompt_tokens_details": names(n, "cached_tokens")}), "misspelt details"),
    rated(lambda n: text(usage=COUNTS | {"iterations": [{"input_tokens": 0}] * n}), "iterations"),
    rated(lambda n: text(usage=COUNTS | {"x": [[[1] * 16] * 16] * n}), "nested values"),
    rated(lambda n: text(usage=COUNTS | {"a" * n: 1}), "a long counter"),
    rated(lambda n: text(usage=COUNTS, service_tier="x" * n), "a long condition"),
    rated(lambda n: {"type": "text", "model": TEXT, "tokens": names(n, "input")}, "unknown buckets"),
    rated(lambda n: text(counts=names(n, "web_search")), "unknown counts"),
    rated(lambda n: text(service_parameters=names(n, "enable_web_searc")), "unknown parameters"),
    rated(lambda n: text(service_parameters={"character_slug": "x" * n}), "a long parameter"),
    rated(lambda n: text(model=f"{TEXT}:{'&'.join(names(n))}=1"), "parameters in the name of a model"),
    rated(lambda n: text(model=f"{TEXT}{':' * n}"), "colons in the name of a model"),
    rated(lambda n: text(model=f"{TEXT}{':a=' * n}"), "parameters by colons in the name of a model"),
    rated(lambda n: text(model="x" * n), "a long name of a model"),
    rated(lambda n: text(metadata=names(n)), "metadata"),
    rated(lambda n: {"type": "x" * n, "model": TEXT}, "a long type"),
    rated(
        lambda n: {"type": "rpc", "network": "ethereum-mainnet", "calls": [{"method": "eth_calls"}] * n}, "calls of RPC"
    ),
    rated(lambda n: {"type": "rpc", "network": "x" * n, "calls": [{"method": "y" * n}]}, "long names of RPC"),
    rated(lambda n: {"type": "image", "model": "flux-2-pro", "n": "9" * n, **names(n)}, "an image"),
    rated(lambda n: json.dumps(text(usage=COUNTS | names(n))), "JSON"),
    Entry("the name of a model is split", lambda n: f"m{':a=b&c' * n}", split_model),
    Entry(
        "estimate: counts and parameters",
        lambda n: {"counts": names(n, "web_search"), "service_parameters": names(n, "enable_web_searc")},
        lambda given: PRICES.estimate_text(TEXT, prompt_tokens=1, max_completion_tokens=1, **given),
    ),
    Entry("a body of text", lambda n: names(n, value="1" * 20), body_of_text),
    Entry("a charge", lambda n: json.dumps({**names(n), "usage": text(**names(n))}), lambda b: read_charge(b, CARD)),
    Entry(
        "a charge with a payment",
        lambda n: json.dumps({"paid": names(n, "US", "1"), "usage": text()}),
        lambda given: read_charge(given, CARD),
    ),
    Entry("a refund", lambda n: json.dumps(names(n, "amoun")), read_refund),
)


CHAT = {"prompt_tokens": 1, "completion_tokens": 1}
# The path to the usage in a response of each dialect, and the fewest counts that it needs.
LEAST: dict[str, tuple[str, dict[str, Any]]] = {
    **dict.fromkeys(DIALECTS, ("usage", CHAT)),
    **dict.fromkeys(("anthropic", "genai-prices"), ("usage", {"input_tokens": 1, "output_tokens": 1})),
    **dict.fromkeys(
        ("opentelemetry", "otlp"), ("attributes", {"gen_ai.usage.input_tokens": 1, "gen_ai.usage.output_tokens": 1})
    ),
    "gemini": ("usageMetadata", {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}),
    "gemini-interactions": ("usage", {"total_input_tokens": 1, "total_output_tokens": 1}),
    "bedrock": ("usage", {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}),
    "cohere": ("usage", {"billed_units": {"input_tokens": 1, "output_tokens": 1}}),
    "voyage": ("usage", {"total_tokens": 1}),
    "langchain": ("usage_metadata", {"input_tokens": 1, "output_tokens": 1}),
    "vercel": ("usage", {"inputTokens": 1, "outputTokens": 1}),
}


def response(dialect: str, usage: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A response with the least counts of a dialect, and this beside them."""
    key, least = LEAST[dialect]
    prefix = DIALECTS[dialect].prefix
    return {"model": "m", "id": "x", **more, key: least | {f"{prefix}{name}": value for name, value in usage.items()}}


def responses(dialect: str) -> Iterable[Entry]:
    def read(given: object) -> object:
        return usage_from(dialect, given, model="m")

    made: dict[str, Callable[[int], Any]] = {
        "unknown keys": lambda n: response(dialect, {}, **names(n)),
        "unknown values": lambda n: response(dialect, names(n, value="x")),
        "unknown counts": lambda n: response(dialect, names(n, "input_token")),
        "nested counts": lambda n: response(dialect, {"x": [{"y": [0] * 8}] * n}),
        "a stream": lambda n: [response(dialect, {}) for _ in range(n)],
        "a stream without counts": lambda n: [{"type": "x", "choices": []} for _ in range(n)],
        "a stream of wrong parts": lambda n: ["x"] * n,
        "calls of tools": lambda n: response(
            dialect, {}, output=[{"type": "web_search_call", "action": {"type": "search"}, "usage": {"a": 1}}] * n
        ),
        "parts by modality": lambda n: response(
            dialect, {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 0}] * n, "server_tool_use": names(n)}
        ),
        "text": lambda n: json.dumps(response(dialect, names(n, value="x"))),
    }
    return (Entry(f"{dialect}: {name}", make, read, 1 << 16) for name, make in made.items())


# Two names may mean one dialect, which is read only once.
NAMES = {id(dialect): name for name, dialect in reversed(tuple(DIALECTS.items()))}
RESPONSES = (
    *(entry for name in NAMES.values() for entry in responses(name)),
    Entry(
        "otlp: attributes",
        lambda n: {"attributes": [{"key": f"gen_ai.usage.k{k}", "value": {"intValue": "1"}} for k in range(n)]},
        lambda given: usage_from("otlp", given, model="m"),
        1 << 16,
    ),
    Entry(
        "otlp: spans",
        lambda n: {"resourceSpans": [{"scopeSpans": [{"spans": [response("otlp", {})]}]}] * n},
        lambda given: usage_from("otlp", given, model="m"),
        1 << 16,
    ),
)
ROW = {
    "timestamp": "2026-10-01T00:00:00Z",
    "sku": "s",
    "pricePerUnitUsd": 1,
    "unit": 1,
    "amount": -1,
    "currency": "USD",
}
HEADING = "timestamp,sku,pricePerUnitUsd,unit,amount,currency"
CELLS = "2026-10-01T00:00:00Z,s,0.10,2,-0.20,USD"


def csv_of(columns: int, rows: int = 1) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([[f"c{number}" for number in range(columns)], *[["1"] * columns] * rows])
    return out.getvalue()


def ledgers(name: str, make: Callable[[int], str], largest: int = 1 << 16) -> Entry:
    return Entry(f"ledger: {name}", lambda n: make(n).encode(), read_ledger, largest)


ROWS = read_ledger(json.dumps([ROW]))
FACTOR = Factor("family", ("kling-o3",), "10%")
LEDGERS = (
    ledgers("rows", lambda n: json.dumps({"data": [ROW] * n})),
    ledgers("pages", lambda n: '{"data": []}' * n),
    ledgers("lists", lambda n: "[]" * n),
    ledgers("keys of a row", lambda n: json.dumps([ROW | names(n)])),
    ledgers("a key twice at the end", lambda n: json.dumps([ROW | names(n)])[:-2] + ', "k0": 1}]'),
    ledgers("keys of a page", lambda n: json.dumps({**names(n), "data": []})),
    ledgers("a long text", lambda n: json.dumps([ROW | {"notes": "x" * n * 16}])),
    ledgers("a text without an end", lambda n: '[{"a": "' + "x" * n * 8),
    ledgers("a list without an end", lambda n: json.dumps([[1] * n])[:-2]),
    ledgers("nested", lambda n: nested(n)),
    ledgers("white space", lambda n: " " * n * 16 + "[" + " \n" * n * 16 + "]"),
    ledgers("a long number", lambda n: '[{"amount": ' + "9" * n * 16 + "}]"),
    ledgers("lines of CSV", lambda n: f"{HEADING}\n" + f"{CELLS}\n" * n),
    ledgers("columns", lambda n: csv_of(n)),
    ledgers("more columns", lambda n: f"{HEADING},{csv_of(n)}"),
    ledgers("a column twice", lambda n: f"{HEADING},{'a,' * n}a\n"),
    ledgers("a long cell", lambda n: f"{HEADING}\n{CELLS},{'x' * n}"),
    ledgers("an open quotation mark", lambda n: f'{HEADING}\n"' + "a,b\n" * n),
    Entry("ledger: written as JSON", lambda n: ROWS * n, ledger_json),
    Entry("ledger: written as CSV", lambda n: ROWS * n, ledger_csv),
    Entry("ledger: parts are joined", lambda n: ROWS * n, join_parts),
    Entry("key record: unknown keys", lambda n: json.dumps({"id": "a", **names(n)}), ApiKey.model_validate_json),
    Entry(
        "key record: limits", lambda n: json.dumps({"consumptionLimits": names(n, "us")}), ApiKey.model_validate_json
    ),
    Entry(
        "key record: a key twice at the end",
        lambda n: json.dumps(names(n))[:-1] + ', "k0": 1}',
        ApiKey.model_validate_json,
    ),
    Entry("key record: nested", lambda n: nested(n), ApiKey.model_validate_json),
    Entry("key records", lambda n: json.dumps({"data": [{"id": "a"}] * n}), ApiKeyList.model_validate_json),
    Entry(
        "balances", lambda n: names(n, "US", Decimal(1)), lambda balances: settle(PRICES.quote_video(VIDEO), balances)
    ),
    Entry("pages of a draft", lambda n: to_json(Draft("2027-01-01", (FACTOR,) * n)), from_json),
    Entry("the file of a draft", lambda n: Draft("2027-01-01", (FACTOR,) * n), lambda draft: draft.text()),
)


QUOTE, CLOCK = PRICES.quote_video(VIDEO), Clock(now=lambda: WHEN)
USAGE = {"type": "video", **VIDEO}


def request(number: int, account: str = "a") -> NewCharge:
    return NewCharge(QUOTE, account, f"r-{number}", WHEN)


def refund_of(number: int, of: int, amount: str = "0.0001") -> dict[str, Any]:
    names = {"account": "a", "request_id": f"r-{of}", "refund_id": f"f-{number}", "sku": QUOTE.lines[0].sku}
    return {**names, "timestamp": WHEN, "amount": Decimal(amount), "clock": CLOCK}


def booked(charges: Sequence[NewCharge], refunds: Sequence[dict[str, Any]] = ()) -> Engine:
    """A database in memory that has these charges, and refunds of them."""
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    with open_ledger(engine, clock=CLOCK) as ledger:
        append_many(ledger, charges)
    with engine.begin() as connection:
        for each in refunds:
            refund(connection, **each)
    return engine


def in_database(
    name: str, make: Callable[[int], tuple[Engine, Any]], call: Callable[[Connection, Any], object], largest: int
) -> Entry:
    """Return an entry that works on a connection and rolls back, so that each call finds the same rows."""

    def run(given: tuple[Engine, Any]) -> None:
        engine, asked = given
        with engine.connect() as connection:
            call(connection, asked)
            connection.rollback()

    return Entry(f"database: {name}", make, run, largest)


def appended(name: str, charges: Callable[[int], list[NewCharge]], known: bool = False) -> Entry:
    def append(connection: Connection, given: list[NewCharge]) -> None:
        append_many(connection, given, clock=CLOCK)

    return in_database(name, lambda n: (booked(charges(n) if known else []), charges(n)), append, 1 << 11)


def charged(name: str, make: Callable[[int], dict[str, Any]]) -> Entry:
    what: dict[str, Any] = {"account": "a", "request_id": "new", "timestamp": WHEN, "clock": CLOCK}

    def one(connection: Connection, given: dict[str, Any]) -> None:
        charge(connection, CARD, **{"usage": USAGE, **what, **given})

    return in_database(name, lambda n: (booked([]), make(n)), one, 1 << 13)


def refunded(
    name: str,
    asked: Callable[[int], list[dict[str, Any]]],
    earlier: Callable[[int], list[dict[str, Any]]] = lambda n: [],
    largest: int = 1 << 7,
) -> Entry:
    """Refunds of as many charges, and of the first of them, beside earlier refunds."""

    def each(connection: Connection, given: list[dict[str, Any]]) -> None:
        for one in given:
            refund(connection, **one)

    return in_database(name, lambda n: (booked(list(map(request, range(n))), earlier(n)), asked(n)), each, largest)


def history(name: str, size: int, largest: int = 1 << 12, **asked: Any) -> Entry:
    """All pages of a history of so many rows, the last tenth of them in another currency."""

    def make(count: int) -> Ledger:
        others = [NewCharge(QUOTE, "a", f"x-{n}", WHEN, currency="DIEM") for n in range(count // 10)]
        return open_ledger(booked([*map(request, range(count - len(others))), *others]), clock=CLOCK)

    def read(ledger: Ledger) -> int:
        walk: Walk | None = ledger.walk("a", size=size, **asked)
        rows = 0
        while walk is not None:
            page = ledger.page("a", walk)
            rows, walk = rows + len(page.entries), page.next
        return rows

    return Entry(f"database: {name}", make, read, largest)


def refund_of_each(count: int) -> list[dict[str, Any]]:
    return [refund_of(number, number) for number in range(count)]


DATABASES = (
    appended("charges of one account", lambda n: [request(number) for number in range(n)]),
    appended("charges of many accounts", lambda n: [request(number, f"a-{number}") for number in range(n)]),
    appended("one charge again and again", lambda n: [request(1)] * n),
    appended("charges that are booked", lambda n: [request(number) for number in range(n)], known=True),
    appended(
        "booked charges of many accounts", lambda n: [request(0, f"a-{number}") for number in range(n)], known=True
    ),
    charged("a charge with balances", lambda n: {"paid": names(n, "US", Decimal(1))}),
    charged("a charge with unknown keys", lambda n: {"usage": USAGE | names(n)}),
    charged("a charge with metadata", lambda n: {"usage": text(metadata=names(n))}),
    charged("a charge with a long name", lambda n: {"request_id": "x" * n}),
    in_database(
        "a charge beside many",
        lambda n: (booked([request(number) for number in range(n)]), [request(-1)]),
        lambda connection, given: append_many(connection, given, clock=CLOCK),
        1 << 11,
    ),
    refunded("refunds of as many charges", refund_of_each),
    refunded("refunds that are booked", refund_of_each, refund_of_each),
    refunded(
        "a refund beside many of its charge",
        lambda n: [refund_of(-1, 0)],
        lambda n: [refund_of(number, 0) for number in range(n)],
    ),
    refunded(
        "a refund beside many of others",
        lambda n: [refund_of(-1, 0)],
        lambda n: [refund_of(number, number) for number in range(1, n)],
    ),
    history("a history in pages", 100),
    history("a history of one page", 1 << 20),
    history("a history in pages of one row", 1, 1 << 9),
    history("a history of one currency", 1, 1 << 11, currency="DIEM"),
    history("a history of a currency without rows", 1, currency="VCU"),
)


def batch(content: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("bodies.jsonl" if content.startswith("{") else "bodies.csv")
        path.write_text(content, encoding="utf-8")
        answer_batch(PRICES.quote_video, body_of_text, "quoted", path)


def of_models(count: int) -> str:
    rates = "- {tokens: input, rate: 1}\n- {tokens: output, rate: 1}"
    return family(*(text_model(f"m{number}", by_tokens(rates)) for number in range(count)))


def of_version(rates: str, further: str = "", more: str = "") -> str:
    both = "- {tokens: input, rate: 1}\n- {tokens: output, rate: 1}\n"
    return family(text_model("m", by_tokens(both + rates, further), further=more))


def lines(count: int, line: str) -> str:
    return "\n".join(line.format(number) for number in range(count))


def loaded(given: str | dict[str, str]) -> RateCard:
    files = {"a.yaml": given} if isinstance(given, str) else given
    return RateCard(tables_from({name: content.encode() for name, content in files.items()}))


def tables(name: str, make: Callable[[int], str | dict[str, str]], largest: int = 1 << 13) -> Entry:
    return Entry(f"tables: {name}", make, loaded, largest)


def with_meters(**files: str) -> dict[str, str]:
    return {f"{name}.yaml": content for name, content in files.items()} | {"a.yaml": of_version("")}


TABLES = (
    tables("models", of_models),
    tables("files", lambda n: {f"{number}.yaml": of_models(1).replace("m0", f"m{number}") for number in range(n)}),
    tables("models of one name", lambda n: family(*(text_model("m", by_tokens("- {tokens: x, rate: 1}"))) * n)),
    tables("versions", lambda n: family(text_model("m", *(by_tokens("- {tokens: input, rate: 1}"),) * n))),
    tables("tiers", lambda n: of_version(lines(n, "- {{tokens: input, above: 1{0:05}, rate: 1}}"))),
    tables("rates of one bucket", lambda n: of_version(lines(n, "- {{tokens: input, rate: {0}}}"))),
    tables("unknown buckets", lambda n: of_version(lines(n, "- {{tokens: input{0}, rate: 1}}"))),
    tables("unknown conditions", lambda n: of_version(lines(n, "- {{tokens: input, con{0}: x, rate: 1}}"))),
    tables("values of a condition", lambda n: of_version(lines(n, "- {{tokens: input, service_tier: t{0}, rate: 1}}"))),
    tables("factors", lambda n: of_version("", "factors:\n" + lines(n, "  - {{service_tier: batch, factor: 1.{0}}}"))),
    tables("unknown keys", lambda n: of_version("", more=lines(n, "mode{0}: x"))),
    tables("a key again and again", lambda n: of_version("", more=lines(n, "name: x"))),
    tables("aliases", lambda n: of_version("", more="aliases: [" + ", ".join(names(n)) + "]")),
    tables("one alias of many models", lambda n: of_models(n).replace("    name:", "    aliases: [x]\n    name:")),
    tables(
        "patterns",
        lambda n: {
            "names.yaml": "patterns: true\n",
            "a.yaml": "".join(
                part + (f"patterns: [p{number}-*-x]\n    name:" if number < n else "")
                for number, part in enumerate(of_models(n).split("name:"))
            ),
        },
    ),
    tables(
        "patterns that match the same",
        lambda n: {
            "names.yaml": "patterns: true\n",
            "a.yaml": of_models(n).replace("    name:", "    patterns: [x-*]\n    name:"),
        },
        256,
    ),
    tables(
        "conditions",
        lambda n: with_meters(
            meters="meters: []\nconditions:\n" + lines(n, "  - {{condition: c{0}, values: [a, b], default: a}}")
        ),
    ),
    tables(
        "values of conditions",
        lambda n: with_meters(
            meters=f"meters: []\nconditions:\n  - {{condition: c, values: [{', '.join(names(n))}], default: k0}}"
        ),
    ),
    tables("meters", lambda n: with_meters(meters="meters:\n" + lines(n, "  - {{meter: m{0}}}"))),
    tables("units", lambda n: with_meters(units="units:\n" + lines(n, "  - {{unit: u{0}, counts: page, per: 1}}"))),
    tables("words", lambda n: with_meters(vocabulary=f"video:\n  duration: [{', '.join(names(n))}]\n")),
    tables(
        "wrong limits", lambda n: with_meters(limits="limits:\n" + lines(n, "  - {{effective: 2026-01-01, x{0}: 1}}"))
    ),
    Entry("YAML: a long scalar", lambda n: b"a: " + b"x" * n * 16, lambda given: read_yaml_text("a", given)),
    Entry("YAML: a long key", lambda n: b"x" * n * 16 + b": a", lambda given: read_yaml_text("a", given)),
    Entry("YAML: a folded scalar", lambda n: b"a: >-\n" + b"  x\n" * n, lambda given: read_yaml_text("a", given)),
    Entry("YAML: nested", lambda n: b"[" * n, lambda given: read_yaml_text("a", given)),
    Entry("YAML: dashes", lambda n: b"- " * n, lambda given: read_yaml_text("a", given)),
    Entry("YAML: keys", lambda n: lines(n, "k{0}: 1").encode(), lambda given: read_yaml_text("a", given)),
    Entry("YAML: one key", lambda n: b"k: 1\n" * n, lambda given: read_yaml_text("a", given)),
    Entry("YAML: a list", lambda n: b"- 1\n" * n, lambda given: read_yaml_text("a", given)),
    Entry("YAML: anchors", lambda n: lines(n, "k{0}: &a{0} 1").encode(), lambda given: read_yaml_text("a", given)),
    Entry("YAML: aliases", lambda n: b"a: &a 1\nb:\n" + b"- *a\n" * n, lambda given: read_yaml_text("a", given)),
    Entry("YAML: documents", lambda n: b"--- 1\n" * n, lambda given: read_yaml_text("a", given)),
    Entry("YAML: places", lambda n: lines(n, "k{0}: &a{0} 1").encode(), lambda given: Positions("a", given)),
    Entry(
        "a pattern of stars",
        lambda n: ("*a" * 8, "a" * n),
        lambda given: matcher_of(given[0]).fullmatch(given[1] + "b"),
    ),
    Entry("two patterns", lambda n: ("*a" * 64, "a*" * n), lambda given: share_a_name(*given), 1 << 14),
)


HEAD = "candidate: c\neffective: 2027-09-01\nproposed_by: Pricing\nwhy: because\nchanges:\n"


def candidate(change: str, models: int | None = None) -> Callable[[int], Any]:
    """A card of some models, or of as many as there are changes, and a file of so many changes."""

    def make(count: int) -> Any:
        text = HEAD + lines(count, change)
        return loaded(of_models(models or count)), text.encode()

    return make


def overlaid(given: tuple[RateCard, bytes]) -> RateCard:
    card, content = given
    return card._overlaid(candidate_from("c.yaml", content))


def compared(given: tuple[RateCard, bytes]) -> object:
    card, _ = given
    return compare_sides(Side("before", card), Side("after", overlaid(given)))


def promoting(name: str, change: str, of: Callable[[int], str] = of_models) -> Entry:
    """Return an entry that lays a candidate with one change per model over the tables, writes and proves it."""

    def promote(given: tuple[str, str]) -> int:
        with TemporaryDirectory() as name:
            folder, file = Path(name, "tables"), Path(name, "c.yaml")
            folder.mkdir()
            (folder / "a.yaml").write_text(given[0], encoding="utf-8")
            file.write_text(given[1], encoding="utf-8")
            return len(promotion(folder, file, date(2027, 8, 1)).added)

    return Entry(f"promote: {name}", lambda n: (of(n), HEAD + lines(n, change)), promote, 1 << 9)


def of_shared_names(count: int) -> str:
    """Models whose name has an anchor, and whose source is an alias of it."""
    return "".join(
        part + (f"name: &a{number} Made" if number < count else "")
        for number, part in enumerate(of_models(count).split("name: Made"))
    ).replace("source: a", "source: *a0 #")


def of_commented_models(count: int) -> str:
    return of_models(count).replace("      - effective", "      # " + "a comment\n      # " * 8 + "\n      - effective")


NEW_VERSION = (
    "{{effective: 2027-09-01, checked: 2027-08-01, source: s, rounding: none, charges: [{{charge: t, method: tokens,"
    " unit: mtoken, rates: [{{tokens: input, rate: 1}}, {{tokens: output, rate: 1}}]}}], examples: [{{usage:"
    " {{prompt_tokens: 0, completion_tokens: 0}}, total: 0}}]}}"
)


def adding(family_name: str) -> str:
    head = f"  - family: {family_name}\n    add: {{{{model: new{{0}}, name: New, type: text, currency: USD, "
    return f"{head}versions: [{NEW_VERSION}]}}}}"


PROMOTIONS = (
    promoting("scales of models", "  - scale: {{model: m{0}}}\n    factor: 2"),
    promoting("scales of models with anchors", "  - scale: {{model: m{0}}}\n    factor: 2", of_shared_names),
    promoting("scales of models below comments", "  - scale: {{model: m{0}}}\n    factor: 2", of_commented_models),
    promoting("retirements", "  - retire: m{0}"),
    promoting("new models of one family", adding("made-up")),
    promoting("new families", adding("f{0}")),
)
CHANGES = (
    Entry("candidate: scales of models", candidate("  - scale: {{model: m{0}}}\n    factor: 2"), overlaid, 1 << 11),
    Entry("candidate: scales of one model", candidate("  - scale: {{model: m0}}\n    factor: 2"), overlaid, 1 << 11),
    Entry("candidate: scales of all", candidate("  - scale: {{type: text}}\n    factor: 2", 4), overlaid, 1 << 6),
    Entry("candidate: unknown models", candidate("  - scale: {{model: x{0}}}\n    factor: 2", 64), overlaid, 1 << 11),
    Entry("candidate: unknown kinds", candidate("  - scal{0}: {{model: x}}"), overlaid, 1 << 11),
    Entry("candidate: retired models", candidate("  - retire: m{0}"), overlaid, 1 << 11),
    Entry("differences", candidate("  - scale: {{model: m{0}}}\n    factor: 2"), compared, 1 << 9),
)


def in_file(read: Callable[[Path], object]) -> Callable[[str], object]:
    def call(content: str) -> object:
        with TemporaryDirectory() as folder:
            path = Path(folder, "list.json")
            path.write_text(content, encoding="utf-8")
            return read(path)

    return call


def litellm_list(count: int) -> str:
    entry = {"litellm_provider": "acme", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
    return json.dumps(names(count, "acme/m", entry))


def imported(path: Path) -> object:
    day = date(2026, 10, 1)
    return import_list(read_litellm(path), path.parent / "tables", effective=day, checked=day)


LISTS = (
    Entry("litellm: entries", litellm_list, in_file(read_litellm), 1 << 14),
    Entry("litellm: an import", litellm_list, in_file(imported), 1 << 9),
    Entry(
        "litellm: keys",
        lambda n: json.dumps({"m": {"litellm_provider": "acme", **names(n, "input_cost_per_token_above_")}}),
        in_file(read_litellm),
    ),
    Entry(
        "litellm: tiers",
        lambda n: json.dumps(
            {
                "m": {"litellm_provider": "acme", "input_cost_per_token": 1}
                | {f"input_cost_per_token_above_{number}k_tokens": 1 for number in range(1, n)}
            }
        ),
        in_file(read_litellm),
        1 << 12,
    ),
    Entry(
        "models.dev: models",
        lambda n: json.dumps({"p": {"models": names(n, "m", {"cost": {"input": 1, "output": 2}})}}),
        in_file(read_models_dev),
        1 << 14,
    ),
    Entry(
        "models.dev: tiers",
        lambda n: json.dumps(
            {
                "p": {
                    "models": {
                        "m": {
                            "cost": {
                                "input": 1,
                                "output": 2,
                                "tiers": [
                                    {"input": 1, "tier": {"type": "context", "size": number}} for number in range(1, n)
                                ],
                            }
                        }
                    }
                }
            }
        ),
        in_file(read_models_dev),
        1 << 12,
    ),
)
EMPTY = (lambda packer: packer.compress(b"") + packer.flush())(zlib.compressobj(9, zlib.DEFLATED, 31))


WORDS = [f"{'token_' * 12}{number}" for number in range(64)]


def simulated(name: str) -> Callable[[str], object]:
    def run(content: str) -> object:
        with TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_text(content, encoding="utf-8")
            with simulate(path, "2026-09-29", ["2026-11-10"]) as answers:
                return answers.total

    return run


def probed(content: bytes) -> None:
    with suppress(UnreadableError):
        facts_of(io.BytesIO(content), len(content))


SENT = (
    Entry("gzip: empty members", lambda n: EMPTY * n, decoder("gzip", 1 << 24)),
    Entry("gzip: members", lambda n: zlib.compress(b"x" * 100, wbits=31) * n, decoder("gzip", 1 << 30)),
    Entry("gzip: one member", lambda n: zlib.compress(b"x" * n * 64, wbits=31), decoder("gzip", 1 << 30)),
    Entry("gzip: what is none", lambda n: EMPTY + b"x" * n * 16, decoder("gzip", 1 << 24)),
    Entry("Content-Encoding", lambda n: "gzip, " * n, lambda given: decoder(given, 1)),
    Entry("Accept-Encoding", lambda n: "gzip;q=0.5, " * n, lambda given: preferred(given, ("gzip", "br"))),
    Entry(
        "Accept-Encoding of parameters", lambda n: "gzip" + ";a=b" * n, lambda given: preferred(given, ("gzip", "br"))
    ),
    Entry("Accept", lambda n: ", ".join(names(n, "a/b;q=0.")), lambda given: preferred(given, ["text/csv"])),
    Entry("a long quality", lambda n: "gzip;q=0." + "9" * n, lambda given: preferred(given, ("gzip", "br"))),
    Entry("keys", lambda n: ",".join(names(n)), lambda given: ApiKeys(given).account("x" * 9)),
    Entry("a long key", lambda n: "x" * n * 16, ApiKeys("abc").account),
    Entry("parameters of the history", lambda n: [(f"pageSiz{i}", "1") for i in range(n)], read_query),
    Entry("one parameter of the history", lambda n: [("currency", "USD")] * n, read_query),
    Entry("a long page size", lambda n: [("pageSize", "9" * n)], read_query),
    Entry("a long currency", lambda n: [("currency", "US" * n)], read_query),
    Entry("a long timestamp", lambda n: [("startTimestamp", "2026-10-01T00:00:00." + "0" * n)], read_query),
    Entry("a cursor", lambda n: "a." * n, lambda given: Cursors("x" * 32).read("acme", given)),
    Entry("did you mean: a long word", lambda n: "token_" * n, lambda given: suggestions(given, WORDS)),
    Entry(
        "did you mean: many words",
        lambda n: list(names(n, "prompt_token")),
        lambda known: suggestions("prompt_tokens", known),
    ),
    Entry(
        "did you mean: long words",
        lambda n: ["token_" * n] * 40,
        lambda known: suggestions("token_" * 20, known),
        1 << 12,
    ),
    Entry("where: and", lambda n: "a = 1" + " and a = 1" * n, read_condition),
    Entry("where: a list", lambda n: f"a in ({', '.join(['1'] * n)})", read_condition),
    Entry("where: parentheses", lambda n: "(" * n, read_condition),
    Entry("where: not", lambda n: "not " * n, read_condition),
    Entry("where: a long text", lambda n: "a = '" + "x''" * n, read_condition),
    Entry("where: spaces", lambda n: "a =" + " " * n + "!", read_condition),
    Entry("where: quotation marks", lambda n: '"' * n, read_condition),
    Entry("batch: lines", lambda n: '{"model": "ovi-image-to-video"}\n' * n, batch, 1 << 14),
    Entry("batch: columns", lambda n: csv_of(n), batch, 1 << 14),
    Entry("batch: a column twice", lambda n: "a," * n, batch, 1 << 14),
    Entry("simulation: columns of CSV", lambda n: csv_of(n), simulated("usage.csv"), 1 << 11),
    Entry("simulation: keys of JSON lines", lambda n: json.dumps(names(n)), simulated("usage.jsonl"), 1 << 11),
    Entry("a probe: boxes of a file", lambda n: b"\0\0\0\x08free" * n, probed, 1 << 14),
    Entry("a probe: noise", lambda n: b"\x1aE\xdf\xa3" + b"\x42" * n, probed),
    Entry("what a key has spent", lambda n: ROWS * n, lambda rows: trailing_seven_days(rows, WHEN)),
)


@cache
def client() -> TestClient:
    app = application(LiveRateCard(CARD, clock=lambda: int(WHEN.timestamp()) * 10**9), check={"right": "acme"}.get)
    return TestClient(app, headers={"authorization": "Bearer right"})


def posted(path: str, content: Callable[[int], bytes | str], largest: int = 1 << 15) -> Entry:
    json_body = {"content-type": "application/json"}

    def send(given: bytes | str) -> object:
        return client().post(f"/api/v1/{path}", content=given, headers=json_body)

    return Entry(f"POST /{path}", content, send, largest)


# Clients refuse to send longer ones, which are checked at four times the largest size too.
LONGEST_URL = 60_000


def asked(name: str, path: Callable[[int], str], **headers: Callable[[int], str]) -> Entry:
    largest = 1 << 14
    while len(path(4 * largest)) > LONGEST_URL:
        largest //= 2

    def make(count: int) -> tuple[str, dict[str, str]]:
        return path(count), {header.replace("_", "-"): value(count) for header, value in headers.items()}

    return Entry(f"GET {name}", make, lambda given: client().get(f"/api/v1/{given[0]}", headers=given[1]), largest)


HTTP = (
    posted("video/quote", lambda n: body(**names(n))),
    posted("video/quote", lambda n: body(x=[names(2)] * n)),
    posted("audio/quote", lambda n: json.dumps({"model": "elevenlabs-music", **names(n)})),
    posted("rate", lambda n: json.dumps(text(usage=COUNTS | names(n)))),
    posted("rate", lambda n: json.dumps({"usages": [{"model": f"kling-o3-pro-text-to-vide{i}"} for i in range(n)]})),
    posted("rate", lambda n: json.dumps({"usages": [1] * n})),
    posted(
        "estimate", lambda n: json.dumps({"model": TEXT, "counts": names(n, "web_search"), **names(n, "prompt_token")})
    ),
    asked("/models by parameters", lambda n: f"models?{'&'.join(names(n))}"),
    asked("/models by one parameter", lambda n: f"models?{'type=text&' * n}"),
    asked("/models by a long type", lambda n: f"models?type={'x' * n}"),
    asked("/models at a long instant", lambda n: f"models?at=2026-10-01T00:00:00.{'0' * n}"),
    asked("/models by a long name", lambda n: f"models/{'kling-' * n}"),
    asked("with a long key", lambda n: "models/veo3", authorization=lambda n: f"Bearer {'x' * n}"),
    asked("with encodings", lambda n: "models/veo3", accept_encoding=lambda n: "gzip;q=0.5, " * n),
    asked("with digests", lambda n: "models/veo3", if_none_match=lambda n: '"a", ' * n),
)

ENTRIES = (*QUOTES, *RATES, *RESPONSES, *LEDGERS, *DATABASES, *TABLES, *CHANGES, *PROMOTIONS, *LISTS, *SENT, *HTTP)


@pytest.mark.parametrize("entry", ENTRIES, ids=[f"{number} {entry.name}" for number, entry in enumerate(ENTRIES)])
def test_four_times_the_input_costs_about_four_times_as_much(entry: Entry) -> None:
    check_growth(entry)
