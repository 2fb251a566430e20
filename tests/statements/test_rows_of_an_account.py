"""Whose rows a statement is of, which rows stop it, and what it needs to know of the months before."""

import json
import shutil
from collections.abc import Callable
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow
import pytest
from statement_tables import WORDS, write_rows, write_tables

from ratecard import load_rate_card
from ratecard.base.errors import SimulationError
from ratecard.simulation.simulate import simulate
from ratecard.statements import StatementError, differences, make, statement
from ratecard.statements import rows as statement_rows
from ratecard.statements.focus import focus_rows
from shipped import CARD

ROOT = Path(__file__).parents[2]


def speech(when: str, characters: int = 1_000_000, **other: Any) -> dict[str, Any]:
    return {"type": "speech", "model": "voice", "timestamp": when, "account": "acme", "characters": characters, **other}


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    return write_tables(tmp_path / "tables", monthly=None)


def test_a_month_begins_and_ends_at_midnight_utc(tmp_path: Path, tables: Path) -> None:
    times: tuple[str, ...] = (
        "2026-09-30T23:59:59.999999Z",
        "2026-10-01T00:00:00Z",
        "2026-10-31T23:59:59.999999Z",
        "2026-11-01T00:00:00Z",
    )
    times += ("2026-10-31T22:30:00-02:00", "2026-10-01T01:00:00+02:00")
    usage = write_rows(tmp_path / "usage.csv", [speech(when, 10**number) for number, when in enumerate(times)])
    (line,) = statement(usage, account="acme", month="2026-10", tables=tables).lines
    assert line.quantity * 10**6 == 10 + 100


def test_each_row_has_the_price_of_its_own_instant(tmp_path: Path, tables: Path) -> None:
    text = {"type": "text", "model": "scribe", "account": "acme", "prompt_tokens": 1_000_000, "completion_tokens": 0}
    days = ("2026-10-11T23:59:59Z", "2026-10-12T00:00:00Z")
    usage = write_rows(tmp_path / "usage.csv", [{**text, "timestamp": when} for when in days])
    found = statement(usage, account="acme", month="2026-10", tables=tables).lines
    assert [(line.rated.unit_rate, line.rated.source, line.amount) for line in found] == [
        (Decimal("4"), "words.yaml:18", Decimal("4")),
        (Decimal("3.3"), "words.yaml:33", Decimal("3.3")),
    ]


def test_it_comes_to_what_a_simulation_of_the_same_rows_comes_to(tmp_path: Path, tables: Path) -> None:
    from statement_tables import rows

    usage = write_rows(tmp_path / "usage.csv", rows(11, 200))
    with simulate(usage, tables=tables, by=["account", "month"]) as done:
        sums = {row.key: row.amounts[0] for row in done.groups}
    for account in ("acme", "bolt", "corp"):
        found = statement(usage, account=account, month="2026-10", tables=tables)
        assert found.charges == sums[account, "2026-10"]
        assert found.list_total == found.charges


def test_rows_of_others_and_of_nobody_are_not_on_it(tmp_path: Path, tables: Path) -> None:
    day = "2026-10-02T00:00:00Z"
    usage = write_rows(tmp_path / "usage.csv", [speech(day), speech(day, account="bolt"), speech(day, account=None)])
    assert statement(usage, account="acme", month="2026-10", tables=tables).payable == Decimal("12.34")
    assert statement(usage, account="corp", month="2026-10", tables=tables).lines == ()


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        ("customer", None, ""),
        ("payer", {"account": "payer"}, ""),
        ("payer", None, "neither a column 'account' nor 'customer'"),
    ],
)
def test_the_account_is_a_column(
    tmp_path: Path, tables: Path, name: str, columns: dict[str, str] | None, words: str
) -> None:
    usage = tmp_path / "usage.jsonl"
    row = speech("2026-10-02T00:00:00Z")
    row[name] = row.pop("account")
    usage.write_text(json.dumps(row) + "\n", encoding="utf-8")
    if words:
        with pytest.raises(StatementError, match=words):
            statement(usage, account="acme", month="2026-10", tables=tables, columns=columns)
    else:
        made = statement(usage, account="acme", month="2026-10", tables=tables, columns=columns)
        assert made.payable == Decimal("12.34")


def test_every_row_without_a_price_is_named_and_there_is_no_statement(tmp_path: Path, tables: Path) -> None:
    day = "2026-10-02T00:00:00Z"
    rows = [speech(day), speech(day, model="vioce"), speech(day, model="vioce"), speech(day, type=None, model="nobody")]
    rows.append({"type": "video", "model": "reel", "timestamp": day, "account": "acme", "duration": "7s"})
    usage = write_rows(tmp_path / "usage.csv", rows)
    with pytest.raises(StatementError) as caught:
        statement(usage, account="acme", month="2026-10", tables=tables)
    words = str(caught.value)
    assert words.startswith("no statement of acme for 2026-10: 4 rows without a price\n")
    for part in (
        "2 rows of vioce:",
        "1 row of nobody: type: missing",
        "1 row of reel: duration:",
        "first at 2026-10-02T",
    ):
        assert part in words


def test_a_row_without_an_instant_is_of_no_month_and_stops_it(tmp_path: Path, tables: Path) -> None:
    rows = [speech("2026-10-02T00:00:00Z"), speech("yesterday"), speech("yesterday", account="bolt")]
    usage = write_rows(tmp_path / "usage.csv", rows)
    with pytest.raises(StatementError, match="1 row of acme: timestamp is missing or not an instant"):
        statement(usage, account="acme", month="2026-10", tables=tables)


def test_spans_of_a_dialect_are_read_and_those_of_agents_are_not_charged_again(tmp_path: Path, tables: Path) -> None:
    span = {"start_time": "2026-10-13T10:00:00Z", "account": "acme", "gen_ai.request.model": "scribe"}
    counts = {"gen_ai.usage.input_tokens": 1_000_000, "gen_ai.usage.output_tokens": 0}
    kinds = ("chat", "invoke_agent")
    spans = [{**span, **counts, "gen_ai.operation.name": kind} for kind in kinds]
    usage = tmp_path / "spans.jsonl"
    usage.write_text("".join(json.dumps(each) + "\n" for each in spans), encoding="utf-8")
    found = statement(usage, account="acme", month="2026-10", tables=tables, dialect="opentelemetry")
    assert (str(found.payable), [line.lines for line in found.lines]) == ("4.00", [1])


@pytest.mark.parametrize(
    "month",
    [
        "2026",
        "20261001",
        "2026-10-01",
        "2026-W40",
        " 2026-10",
        "2026-13",
        "October",
        "2026-10-02",
        "",
        "0001-01",
        "9999-12",
    ],
)
def test_a_month_is_a_month(tmp_path: Path, tables: Path, month: str) -> None:
    with pytest.raises(StatementError, match=r"is not a month\. Write it like 2026-10"):
        statement(tmp_path / "none.csv", account="acme", month=month, tables=tables)


COMMITMENT = "monthly:\n  - {commitment: 100, currency: USD, from: 2026-09-01}\n"


def test_a_commitment_is_carried_from_month_to_month(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=COMMITMENT)
    months = ("2026-09-02", "2026-10-02", "2026-11-02")
    usage = write_rows(tmp_path / "usage.csv", [speech(f"{day}T00:00:00Z", 3_000_000) for day in months])
    found = [statement(usage, account="acme", month=day[:7], tables=tables) for day in months]
    balances = [tuple(map(str, line.balance)) for each in found for line in each.terms if line.balance]
    assert balances == [("100", "3149/50"), ("3149/50", "649/25"), ("649/25", "0")]
    assert [str(each.payable) for each in found] == ["0.00", "0.00", "11.06"]


def test_a_commitment_that_has_ended_stops_no_later_month(tmp_path: Path) -> None:
    ended = "  - {commitment: 20, currency: USD, for: {type: speech}, from: 2026-08-01, until: 2026-10-01}\n"
    running = "  - {commitment: 1, currency: USD, for: {type: video}, from: 2026-09-01}\n"
    tables = write_tables(tmp_path / "tables", monthly=f"monthly:\n{ended}{running}")
    months = ("2026-08-02", "2026-09-02", "2026-10-02", "2026-11-02")
    made = [speech(f"{day}T00:00:00Z", 1_000_000) for day in months]
    made += [{**speech(f"{day}T01:00:00Z"), "type": "video", "model": "reel", "duration": "10s"} for day in months]
    usage = write_rows(tmp_path / "usage.csv", made)
    found = [statement(usage, account="acme", month=day[:7], tables=tables) for day in months]
    balances = [{line.source[-1]: str(line.balance[1]) for line in each.terms if line.balance} for each in found]
    assert balances == [{"2": "383/50"}, {"2": "0", "3": "67/100"}, {"3": "17/50"}, {"3": "1/100"}]
    # 12.34 for speech and 0.33 for a video: August has only the video, September only the part above 7.66.
    assert [str(each.payable) for each in found] == ["0.33", "4.68", "12.34", "12.34"]
    assert [each.change is None for each in found] == [True, False, False, False]


def test_commitments_on_one_line_of_yaml_are_carried_apart(tmp_path: Path) -> None:
    """20 for speech of 12.34 a month, and 0.5 for videos of 0.33."""
    spoken, videos = (
        f"{{commitment: {amount}, currency: USD, for: {{type: {type_}}}, from: 2026-09-01}}"
        for amount, type_ in ((20, "speech"), (0.5, "video"))
    )
    days = ("2026-09-02", "2026-10-02")
    made = [speech(f"{day}T00:00:00Z") for day in days]
    made += [{**speech(f"{day}T01:00:00Z"), "type": "video", "model": "reel", "duration": "10s"} for day in days]
    usage = write_rows(tmp_path / "usage.csv", made)
    for ordered in ((spoken, videos), (videos, spoken)):
        tables = write_tables(tmp_path / "tables", monthly=f"monthly: [{', '.join(ordered)}]\n")
        found = statement(usage, account="acme", month="2026-10", tables=tables)
        balances = {tuple(map(str, line.balance)) for line in found.terms if line.balance}
        assert balances == {("383/50", "0"), ("17/100", "0")}
        assert str(found.payable) == "4.84"


def test_a_commitment_that_began_in_the_month_before_leaves_the_change_known(tmp_path: Path) -> None:
    ended = "monthly:\n  - {commitment: 20, currency: USD, from: 2026-09-01, until: 2026-10-01}\n"
    tables = write_tables(tmp_path / "tables", monthly=ended)
    days = ("2026-09-02", "2026-10-02")
    usage = write_rows(tmp_path / "usage.csv", [speech(f"{day}T00:00:00Z", 1_000_000) for day in days])
    found = statement(usage, account="acme", month="2026-10", tables=tables)
    assert found.change is not None
    assert found.change.to_dict()["terms"] == "12.34"
    write_tables(tables, monthly=COMMITMENT)
    for balance in (None, Decimal("87.66")):
        carried = statement(usage, account="acme", month="2026-10", tables=tables, opening_balance=balance)
        assert carried.change is not None
        assert carried.change.to_dict()["terms"] == "0"


def test_a_commitment_needs_the_usage_since_its_beginning_or_an_opening_balance(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=COMMITMENT)
    usage = write_rows(tmp_path / "usage.csv", [speech("2026-11-02T00:00:00Z"), speech("2026-09-02T00:00:00Z")])
    with pytest.raises(StatementError, match="no row of 2026-10, so that it is not known what is left of it"):
        statement(usage, account="acme", month="2026-11", tables=tables)
    for balance, payable in ((Decimal(0), "12.34"), (Decimal(10), "2.34"), (Decimal(100), "0.00")):
        known = statement(usage, account="acme", month="2026-11", tables=tables, opening_balance=balance)
        assert str(known.payable) == payable
    for wrong, words in ((Decimal("100.01"), "is not from 0 to the commitment"), (Decimal(-1), "is not from 0")):
        with pytest.raises(StatementError, match=words):
            statement(usage, account="acme", month="2026-11", tables=tables, opening_balance=wrong)
    of_another_kind: tuple[tuple[Any, str], ...] = (
        (0.1, "a float has lost its digits"),
        ("50", "must be a Decimal or an int"),
        (Decimal("NaN"), "must be a finite number"),
    )
    for wrong, words in of_another_kind:
        with pytest.raises(StatementError, match=words):
            statement(usage, account="acme", month="2026-11", tables=tables, opening_balance=wrong)
    for month, currency in (("2026-08", "USD"), ("2026-11", "EUR")):
        with pytest.raises(StatementError, match="an opening balance is of one commitment, and acme has none"):
            statement(usage, account="acme", month=month, tables=tables, opening_balance=Decimal(1), currency=currency)


def test_a_later_run_lists_what_differs(tmp_path: Path, tables: Path) -> None:
    usage = write_rows(tmp_path / "usage.csv", [speech("2026-10-02T00:00:00Z")])
    issued = statement(usage, account="acme", month="2026-10", tables=tables).to_dict()
    again = statement(usage, account="acme", month="2026-10", tables=tables)
    assert differences(json.loads(json.dumps(issued)), again) == ()
    assert again.digest == issued["digest"]
    copied = write_rows(tmp_path / "copied.csv", [speech("2026-10-02T00:00:00Z")])
    moved_usage = statement(copied, account="acme", month="2026-10", tables=tables)
    assert (moved_usage.digest, differences(issued, moved_usage)) == (issued["digest"], ())
    moved = (tables / "sound.yaml").read_text(encoding="utf-8")
    (tables / "sound.yaml").write_text("# One line more.\n" + moved, encoding="utf-8")
    assert differences(issued, statement(usage, account="acme", month="2026-10", tables=tables)) == ()
    (tables / "sound.yaml").write_text(moved.replace("12.34", "12.40"), encoding="utf-8")
    later = differences(issued, statement(usage, account="acme", month="2026-10", tables=tables))
    assert {(each.figure, each.issued, each.now) for each in later if each.part == "statement"} >= {
        ("payable", "12.34", "12.40")
    }
    assert ("amount", "12.34", "") in {(each.figure, each.issued, each.now) for each in later}


@pytest.mark.parametrize(
    ("month", "balance", "told"),
    [
        ("2026-09", "100", []),
        ("2026-09", "10", ["The opening balance is 10 as given; by the usage since 2026-09 it is 100"]),
        ("2026-10", "87.66", []),
        ("2026-10", "87.67", ["The opening balance is 87.67 as given; by the usage since 2026-09 it is 87.66"]),
        # It is not known what is left where the usage does not reach back: it has no row of November.
        ("2026-12", "10", []),
    ],
)
def test_an_opening_balance_is_held_against_the_usage(
    tmp_path: Path, month: str, balance: str, told: list[str]
) -> None:
    tables = write_tables(tmp_path / "tables", monthly=COMMITMENT)
    days = ("2026-09-02", "2026-10-02", "2026-12-02")
    usage = write_rows(tmp_path / "usage.csv", [speech(f"{day}T00:00:00Z") for day in days])
    found = statement(usage, account="acme", month=month, tables=tables, opening_balance=Decimal(balance))
    assert [line.balance[0] for line in found.terms if line.balance] == [Fraction(balance)]
    assert [note for note in found.notes if "opening balance" in note] == told


def test_what_is_payable_is_rounded_once_half_up(tmp_path: Path, tables: Path) -> None:
    """Two lines of 0.0125 are 0.03, and not 0.02 or 0.04; a refund of half a cent goes away from zero."""
    tables = write_tables(tmp_path / "t2", sound=None, monthly=None)
    text = {"type": "text", "model": "scribe", "timestamp": "2026-10-13T00:00:00Z", "account": "acme"}
    rows = [
        {**text, "prompt_tokens": 3_125, "completion_tokens": 0},
        {**text, "prompt_tokens": 3_125, "completion_tokens": 0},
    ]
    usage = write_rows(tmp_path / "usage.csv", rows)
    made = statement(usage, account="acme", month=date(2026, 10, 1), tables=load_rate_card(tables))
    assert (made.charges, str(made.payable)) == (Decimal("0.025"), "0.03")


def test_the_context_of_the_host_rounds_and_stops_nothing(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=COMMITMENT.replace("100", "1234.56"))
    usage = write_rows(tmp_path / "usage.csv", [speech("2026-09-02T00:00:00Z", 1_000_000_000)])
    with localcontext(prec=3):
        made = statement(usage, account="acme", month="2026-09", tables=tables)
        applied = [row["ContractApplied"] for row in focus_rows(made, "Us") if row["ContractApplied"]]
        assert str(made.payable) == "11105.44"
    assert ['"ContractCommitmentAppliedCost": 1234.56}' in words for words in applied] == [True]


def test_ten_free_videos_cost_nothing(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly="monthly:\n  - {included: 50, unit: video_second}\n")
    clips = [
        {"type": "video", "model": "reel", "timestamp": f"2026-10-{day:02}T00:00:00Z", "account": "acme"}
        | {"duration": "5s"}
        for day in range(1, 12)
    ]
    for count, payable in ((10, "0.00"), (11, "0.17")):
        usage = write_rows(tmp_path / "usage.csv", clips[:count])
        found = statement(usage, account="acme", month="2026-10", tables=tables)
        assert str(found.payable) == payable
        assert found.exact == Decimal(payable)


def test_free_tokens_take_the_minimum_of_their_request_with_them(tmp_path: Path) -> None:
    words = WORDS.replace("        rounding: none", "        minimum: 5\n        rounding: none")
    monthly = "monthly:\n  - {included: 1, unit: mtoken}\n"
    tables = write_tables(tmp_path / "tables", monthly=monthly, words=words)
    requests = [text_of("2026-10-02T00:00:00Z", 1_000_000), text_of("2026-10-03T00:00:00Z", 1_000_000)]
    for count, payable in ((1, "0.00"), (2, "5.00")):
        usage = write_rows(tmp_path / "usage.csv", requests[:count])
        found = statement(usage, account="acme", month="2026-10", tables=tables)
        assert str(found.payable) == payable


def text_of(timestamp: str, tokens: int, account: str = "acme", model: str = "scribe") -> dict[str, Any]:
    row = {"type": "text", "model": model, "timestamp": timestamp, "account": account}
    return {**row, "prompt_tokens": tokens, "completion_tokens": 0}


def test_an_account_has_a_statement_for_each_currency(tmp_path: Path) -> None:
    tables = write_tables(tmp_path / "tables", monthly=None)
    euro = WORDS.replace("words", "mots").replace("scribe", "plume").replace("USD", "EUR")
    (tables / "mots.yaml").write_text(euro, encoding="utf-8")
    rows = [text_of("2026-10-02T00:00:00Z", 1_000_000), text_of("2026-10-03T00:00:00Z", 2_000_000, model="plume")]
    usage = write_rows(tmp_path / "usage.csv", rows)
    with pytest.raises(StatementError, match="acme has rows in EUR and USD in 2026-10, and a statement is in one"):
        statement(usage, account="acme", month="2026-10", tables=tables)
    for currency, payable, other in (("USD", "3.30", "EUR"), ("EUR", "6.60", "USD")):
        found = statement(usage, account="acme", month="2026-10", tables=tables, currency=currency)
        assert (found.currency, str(found.payable)) == (currency, payable)
        assert f"1 row in {other}: on a statement of their own, --currency {other}" in found.notes
    alone = statement(write_rows(usage, rows[1:]), account="acme", month="2026-10", tables=tables)
    assert (alone.currency, str(alone.payable)) == ("EUR", "6.60")


def test_calls_of_rpc_which_name_no_model_have_a_currency_too(tmp_path: Path, tables: Path) -> None:
    euro = WORDS.replace("words", "mots").replace("scribe", "plume").replace("USD", "EUR")
    (tables / "mots.yaml").write_text(euro, encoding="utf-8")
    shutil.copy(ROOT / "pricing_tables" / "rpc.yaml", tables)
    usage = tmp_path / "usage.csv"
    head = "type,model,timestamp,account,prompt_tokens,completion_tokens,network,method\n"
    text, call = "text,plume,2026-10-03,acme,1,1,,\n", "rpc,,2026-10-03,acme,,,ethereum-mainnet,eth_call\n"
    usage.write_text(head + text + call)
    with pytest.raises(StatementError, match="acme has rows in EUR and USD in 2026-10"):
        statement(usage, account="acme", month="2026-10", tables=tables)


def test_rows_that_are_on_no_statement_are_counted(tmp_path: Path, tables: Path) -> None:
    at = "2026-10-02T00:00:00Z"
    rows = [text_of(at, 1), text_of(at, 2, "bolt"), text_of(at, 3, ""), text_of(at, 4, " "), text_of("2026-09-02", 1)]
    found = statement(write_rows(tmp_path / "usage.csv", rows), account="acme", month="2026-10", tables=tables)
    assert found.notes[:2] == (
        "Of 5 rows, 1 of acme in 2026-10, 2 of other accounts or months",
        "2 rows (40 % of the usage) of no account: on no statement",
    )


def test_a_row_without_a_type_is_an_upscale_where_it_has_a_factor(tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    usage.write_text("type,model,timestamp,account,factor\n,qwen-image-2,2026-10-03,acme,4x\n")
    made = statement(usage, account="acme", month="2026-10", tables=CARD)
    assert made.charges == CARD.at(date(2026, 10, 3)).rate({"model": "qwen-image-2", "factor": "4x"}).total


@pytest.mark.parametrize("head", ["type,model", "model,region"])  # a row without a type has that of its model
def test_a_column_that_looks_like_a_missing_one_is_named(tmp_path: Path, tables: Path, head: str) -> None:
    usage = tmp_path / "usage.csv"
    usage.write_text(f"{head},timestamp,account,prompt_tokens,completion_tokens,Cached_Tokens,characters\n")
    with usage.open("a") as file:
        file.write(f"{head.replace('type', 'text').replace('model', 'scribe')},2026-10-03,acme,9,1,5,\n")
    words = "Column 'Cached_Tokens' is not read. Did you mean 'cached_tokens'? Then name it: --map cached_tokens="
    found = statement(usage, account="acme", month="2026-10", tables=tables)
    assert [note for note in found.notes if "is not read" in note] == [f"{words}Cached_Tokens"]
    named = statement(usage, account="acme", month="2026-10", tables=tables, columns={"cached_tokens": "Cached_Tokens"})
    assert not [note for note in named.notes if "is not read" in note]
    assert named.lines != found.lines
    with pytest.raises(SimulationError, match=r"'cached_tokns' is not a column .*Did you mean 'cached_tokens'"):
        statement(usage, account="acme", month="2026-10", tables=tables, columns={"cached_tokns": "Cached_Tokens"})


def test_a_column_that_looks_like_a_condition_is_named(tmp_path: Path, tables: Path) -> None:
    usage = tmp_path / "usage.csv"
    heading = "type,model,timestamp,account,prompt_tokens,completion_tokens,service_teir"
    usage.write_text(f"{heading}\ntext,scribe,2026-10-03,acme,9,1,batch\n")
    words = (
        "Column 'service_teir' is not read. Did you mean 'service_tier'? Then name it: --map service_tier=service_teir"
    )
    assert words in statement(usage, account="acme", month="2026-10", tables=tables).notes


def test_an_account_without_a_row_in_a_month_is_not_taken_for_a_slip_if_it_has_others(
    tmp_path: Path, tables: Path
) -> None:
    rows = [text_of("2026-09-02T00:00:00Z", 1, "bolt"), text_of("2026-10-02T00:00:00Z", 1, "bolt2")]
    usage = write_rows(tmp_path / "usage.csv", rows)
    for account, words in (("bolt", ""), ("bolk", ". Did you mean 'bolt'?")):
        found = statement(usage, account=account, month="2026-10", tables=tables)
        assert found.notes[0] == f"The usage has no row of {account} in 2026-10{words}"


@pytest.mark.parametrize(
    ("account", "written", "signed", "named"),
    [
        ("acme", ("acme", " acme ", "Acme", "bolt"), "corp", "' acme ' and 'Acme'"),
        (" acme ", (" acme ",), "acme", "'acme'"),
        ("ACME", ("acme",), "Acme", "'Acme' and 'acme'"),
        ("acme", ("acme", "acme2", "ac me"), "acme", ""),
    ],
)
def test_accounts_of_nearly_the_same_name_are_told(
    tmp_path: Path, tables: Path, account: str, written: tuple[str, ...], signed: str, named: str
) -> None:
    (tables / "contracts").mkdir()
    terms = f"contract: one\naccounts: [{signed}]\nfrom: 2026-09-01\nsource: a test\n"
    (tables / "contracts" / "one.yaml").write_text(terms, encoding="utf-8")
    usage = write_rows(tmp_path / "usage.csv", [text_of("2026-10-02T00:00:00Z", 1, name) for name in written])
    found = statement(usage, account=account, month="2026-10", tables=tables)
    note = f"Accounts of nearly the same name: {named}. Nothing of theirs is on this statement"
    assert [words for words in found.notes if "nearly" in words] == ([note] if named else [])


def _relation(rows: list[dict[str, Any]]) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(pyarrow.Table.from_pylist(rows))


@pytest.mark.parametrize("frame_of", [pyarrow.Table.from_pylist, polars.DataFrame, polars.LazyFrame, _relation])
def test_a_frame_has_the_statement_of_a_file_with_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frame_of: Callable[[list[dict[str, Any]]], Any]
) -> None:
    """Rows are read in batches, of which there are several."""
    monkeypatch.setattr(statement_rows, "_BATCH", 2)
    tables = write_tables(tmp_path / "tables", monthly=COMMITMENT)
    rows = [text_of(f"2026-{month}-0{day}T00:00:00Z", 900_000) for month in ("09", "10") for day in range(1, 6)]
    of_file = statement(write_rows(tmp_path / "usage.csv", rows), account="acme", month="2026-10", tables=tables)
    of_frame = statement(frame_of(rows), account="acme", month="2026-10", tables=tables)
    assert (str(of_frame.payable), of_frame.digest) == ("0.00", of_file.digest)
    assert [str(line.balance[1]) for line in of_frame.terms if line.balance] == ["703/10"]


@pytest.mark.parametrize(
    ("account", "words"), [("", "is empty"), (" ", "is empty"), (5, "5 is not text"), (None, "None is not text")]
)
def test_a_statement_of_nobody_is_refused(tmp_path: Path, account: Any, words: str) -> None:
    with pytest.raises(StatementError, match=f"the account {words}"):
        statement(tmp_path / "usage.csv", account=account, month="2026-10")


@pytest.mark.parametrize(("now", "over"), [("2026-09-01", False), ("2026-10-01", False), ("2026-11-01", True)])
def test_a_month_that_is_not_over_is_told(
    tmp_path: Path, tables: Path, monkeypatch: pytest.MonkeyPatch, now: str, over: bool
) -> None:
    monkeypatch.setattr(make, "current_month", lambda: date.fromisoformat(now))
    usage = write_rows(tmp_path / "usage.csv", [text_of("2026-10-01T00:00:00Z", 1)])
    found = statement(usage, account="acme", month="2026-10", tables=tables)
    words = "2026-10 is not over: usage until its end is not on this statement yet"
    assert (words in found.notes) is not over


def test_a_row_without_a_type_has_that_of_the_model_which_an_alias_names(tmp_path: Path) -> None:
    words = WORDS.replace("    name: Scribe\n", "    aliases: [writer]\n    name: Scribe\n")
    tables = write_tables(tmp_path / "tables", words=words, monthly=None)
    row = {"model": "writer", "timestamp": "2026-10-03T10:00:00Z", "account": "acme"}
    usage = write_rows(tmp_path / "usage.csv", [row | {"prompt_tokens": 1_000_000, "completion_tokens": 0}])
    assert statement(usage, account="acme", month="2026-10", tables=tables).charges > 0


def test_rows_before_a_price_have_one_reason_on_all_days(tmp_path: Path, tables: Path) -> None:
    rows = [speech(f"2025-10-0{day}T00:00:00Z") for day in (1, 2, 3)]
    with pytest.raises(StatementError, match=r"3 rows of voice: No price for voice\. Its first version takes effect"):
        statement(write_rows(tmp_path / "usage.csv", rows), account="acme", month="2025-10", tables=tables)
