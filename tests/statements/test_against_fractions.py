"""The statement of every account and month of a made-up usage equals fractions that are computed from the YAML."""

from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

import pytest
import yaml
from statement_tables import CLIPS, MONTHLY, SOUND, WORDS, rows, write_rows, write_tables

from ratecard.statements import Statement, statement

MONTHS = ("2026-09", "2026-10", "2026-11")
ROWS = rows(7, 700)
MILLION = 10**6


def loaded(text: str) -> Any:
    return yaml.load(text, yaml.BaseLoader)  # noqa: S506 (every scalar stays text)


def half_up(amount: Fraction, places: int) -> Fraction:
    return Fraction(floor(amount * 10**places + Fraction(1, 2)), 10**places)


def version_at(text: str, instant: str) -> Any:
    (model,) = loaded(text)["models"]
    return next(each for each in model["versions"] if each["effective"] <= instant[:10])


def tokens_of(row: dict[str, Any]) -> list[tuple[str, int]]:
    cached = row["cached_tokens"] or 0
    counts = [("input", row["prompt_tokens"] - cached), ("cache_input", cached), ("output", row["completion_tokens"])]
    return [(name, count) for name, count in counts if count]


def parts_of(row: dict[str, Any]) -> list[tuple[str, Fraction, Fraction]]:
    """(what is counted, units, amount) of each line of a request, in the order of the table's rates."""
    if row["type"] == "text":
        (charge,) = version_at(WORDS, row["timestamp"])["charges"]
        rates = {rate["tokens"]: Fraction(rate["rate"]) for rate in charge["rates"]}
        return [("mtoken", Fraction(n, MILLION), Fraction(n, MILLION) * rates[name]) for name, n in tokens_of(row)]
    if row["type"] == "speech":
        (rate,) = version_at(SOUND, row["timestamp"])["charges"][0]["rates"]
        units = Fraction(row["characters"], MILLION)
        return [("mcharacter", units, units * Fraction(rate["rate"]))]
    (rate,) = version_at(CLIPS, row["timestamp"])["charges"][0]["rates"]
    seconds = Fraction(row["duration"].removesuffix("s"))
    return [("video_second", seconds, half_up(seconds * Fraction(rate["rate"]), 2))]


def instant(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["timestamp"])


def in_order(account: str, month: str) -> list[dict[str, Any]]:
    own = [row for row in ROWS if row["account"] == account and row["timestamp"].startswith(month)]
    return sorted(own, key=instant)


def month_of(account: str, month: str, balance: Fraction) -> tuple[dict[str, Fraction], Fraction]:
    """What each term and all of a month comes to, and what is left of the commitment."""
    included, tiers, money, commitment, minimum = loaded(MONTHLY)["monthly"]
    free, counted, text, speech, clips = (
        Fraction(included["included"]),
        Fraction(0),
        Fraction(0),
        Fraction(0),
        Fraction(0),
    )
    before = {"text": Fraction(0), "speech": Fraction(0), "clips": Fraction(0)}
    for row in in_order(account, month):
        for unit, units, amount in parts_of(row):
            if unit == "mcharacter":
                before["speech"] += amount
                used = min(free, units)
                free -= used
                speech += amount * (units - used) / units
            elif unit == "mtoken":
                before["text"] += amount
                # Walk through the tiers one part at a time.
                left = units
                for tier in tiers["graduated"]:
                    edge = Fraction(tier["up_to"]) if "up_to" in tier else None
                    room = left if edge is None else max(Fraction(0), min(left, edge - counted))
                    if "rate" in tier:
                        text += room * Fraction(tier["rate"])
                    else:
                        times = Fraction(tier["factor"]) if "factor" in tier else Fraction(1)
                        text += amount * room / units * times
                    counted += room
                    left -= room
            else:
                before["clips"] += amount
                clips += amount
    tier = next(each for each in money["volume"] if "up_to" not in each or clips <= Fraction(each["up_to"]))
    clips_after = clips * (1 + Fraction(tier["percent"].removesuffix("%")) / 100)
    drawn = min(balance, text)
    charged = text + speech + clips_after
    short = max(Fraction(0), Fraction(minimum["minimum"]) - charged) if month >= "2026-10" else Fraction(0)
    terms = {
        "included": speech - before["speech"],
        "graduated": text - before["text"],
        "volume": clips_after - before["clips"],
        "commitment": -drawn,
        "minimum": short,
    }
    assert commitment["from"] == "2026-09-01"
    return {"charges": sum(before.values(), Fraction(0)), **terms}, balance - drawn


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Statement]:
    folder = tmp_path_factory.mktemp("statements")
    tables, usage = write_tables(folder / "tables"), write_rows(folder / "usage.csv", ROWS)
    return {
        (account, month): statement(usage, account=account, month=month, tables=tables)
        for account in ("acme", "bolt", "corp")
        for month in MONTHS
    }


@pytest.mark.parametrize("account", ["acme", "bolt", "corp"])
def test_every_month_equals_fractions_of_the_yaml(account: str, made: dict[tuple[str, str], Statement]) -> None:
    balance = Fraction(10)
    for month in MONTHS:
        expected, balance = month_of(account, month, balance)
        found = made[account, month]
        sums: dict[str, Fraction] = {}
        for line in found.terms:
            sums[line.kind] = sums.get(line.kind, Fraction(0)) + line.amount
        assert Fraction(found.charges) == expected.pop("charges")
        assert {kind: sums.get(kind, Fraction(0)) for kind in expected} == expected
        assert [line.balance[1] for line in found.terms if line.balance] == [balance]
        exact = Fraction(found.charges) + sum(expected.values(), Fraction(0))
        assert found.exact == exact
        assert Fraction(found.payable) == half_up(exact, 2)


def test_the_usage_reaches_every_tier_and_both_sides_of_each_term(made: dict[tuple[str, str], Statement]) -> None:
    """So that the comparison above is one of all of them."""
    words = {line.words for each in made.values() for line in each.terms}
    assert {word.partition(" at ")[2] for word in words if word.startswith("graduated")} == {
        "contract prices",
        "2.75 USD per mtoken",
        "-50 % of contract prices",
    }
    assert len({word for word in words if word.startswith("volume")}) >= 2
    balances = [line.balance for each in made.values() for line in each.terms if line.balance]
    assert any(after == 0 for _, after in balances)
    assert any(after > 0 for _, after in balances)
    assert len({any(line.kind == "minimum" for line in each.terms) for each in made.values()}) == 2


@pytest.mark.parametrize("account", ["acme", "bolt", "corp"])
def test_the_change_adds_up_to_the_digit(account: str, made: dict[tuple[str, str], Statement]) -> None:
    assert made[account, "2026-09"].change is None
    for before, after in pairwise(MONTHS):
        change = made[account, after].change
        assert change is not None
        assert change.before + sum(change.parts.values(), Fraction(0)) == change.after
        assert (change.before, change.after) == (made[account, before].exact, made[account, after].exact)


def test_the_order_of_rows_and_how_often_it_is_made_mean_nothing(
    tmp_path: Path, made: dict[tuple[str, str], Statement]
) -> None:
    tables = write_tables(tmp_path / "tables")
    usage = write_rows(tmp_path / "usage.csv", ROWS[::-1])
    again = statement(usage, account="bolt", month="2026-11", tables=tables)
    known = made["bolt", "2026-11"].to_dict()
    assert {**again.to_dict(), "usage": "", "digest": ""} == {**known, "usage": "", "digest": ""}
