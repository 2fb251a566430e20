"""The statement of every account and month of a made-up usage equals fractions that are computed from the YAML.

Once at the prices of the list, and once of accounts with contracts, whose terms begin and end between the months, and
which last beyond a change of the list.
"""

from datetime import datetime
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import floor
from pathlib import Path
from typing import Any

import pytest
import yaml
from statement_tables import CLIPS, MONTHLY, SOUND, WORDS, rows, write_rows, write_tables

from ratecard.statements import Statement, statement
from ratecard.statements.simulated import simulated_months

MONTHS = ("2026-09", "2026-10", "2026-11")
ROWS = rows(7, 700)
MILLION = 10**6
ACCOUNTS = ("acme", "bolt", "corp")
CONTRACTS = {
    "acme": """
contract: acme
accounts: [acme]
from: 2026-10-01
source: a test
overrides:
  - {for: {type: text}, percent: -20%}
  - {for: {type: text}, at_most: 3.1}
  - {for: {type: speech}, at_least: 12.5}
""",
    "bolt": """
contract: bolt
accounts: [bolt]
from: 2026-09-17
until: 2026-11-17
source: a test
overrides:
  - {for: {type: speech}, rate: 10.01}
  - {for: {type: video}, factor: 1.5}
  - {for: {type: video}, at_most: 0.045}
""",
    "corp": """
contract: corp
accounts: [corp]
from: 2026-09-01
source: a test
overrides:
  - {for: {type: text}, rate: 3.7}
  - {for: {type: video}, at_least: 0.04}
""",
}
# The contracts of the tables: none, or all of them.
SIDES: tuple[dict[str, str], ...] = ({}, CONTRACTS)


@cache
def loaded(text: str) -> Any:
    """The table of a text, which no test changes."""
    return yaml.load(text, yaml.BaseLoader)  # noqa: S506 (every scalar stays text)


def half_up(amount: Fraction, places: int) -> Fraction:
    return Fraction(floor(amount * 10**places + Fraction(1, 2)), 10**places)


def version_at(text: str, instant: str) -> Any:
    (model,) = loaded(text)["models"]
    return next(each for each in model["versions"] if each["effective"] <= instant[:10])


def tokens_of(row: dict[str, Any]) -> list[tuple[str, int]]:
    cached = row["cached_tokens"] or 0
    counts = [("cache_input", cached), ("input", row["prompt_tokens"] - cached), ("output", row["completion_tokens"])]
    return [(name, count) for name, count in counts if count]


def rate_of(row: dict[str, Any], listed: str, contracts: dict[str, str]) -> Fraction:
    """The rate of a request: that of the list, changed by what its account's contract says of its type."""
    rate, day = Fraction(listed), row["timestamp"][:10]
    of_account = loaded(contracts.get(row["account"], "{from: never}"))
    if not of_account["from"] <= day < of_account.get("until", "9999"):
        return rate
    said: dict[str, str] = {}
    for override in of_account["overrides"]:
        if override["for"]["type"] == row["type"]:
            said |= override
    if "percent" in said:
        rate *= 1 + Fraction(said["percent"].removesuffix("%")) / 100
    rate = Fraction(said["rate"]) if "rate" in said else rate * Fraction(said.get("factor", 1))
    rate = min(rate, Fraction(said["at_most"])) if "at_most" in said else rate
    return max(rate, Fraction(said["at_least"])) if "at_least" in said else rate


def parts_of(row: dict[str, Any], contracts: dict[str, str]) -> list[tuple[str, Fraction, Fraction]]:
    """(what is counted, units, amount) of each line of a request, in the order of SKUs."""
    if row["type"] == "text":
        (charge,) = version_at(WORDS, row["timestamp"])["charges"]
        rates = {rate["tokens"]: rate_of(row, rate["rate"], contracts) for rate in charge["rates"]}
        return [("mtoken", Fraction(n, MILLION), Fraction(n, MILLION) * rates[name]) for name, n in tokens_of(row)]
    if row["type"] == "speech":
        (rate,) = version_at(SOUND, row["timestamp"])["charges"][0]["rates"]
        units = Fraction(row["characters"], MILLION)
        return [("mcharacter", units, units * rate_of(row, rate["rate"], contracts))]
    (rate,) = version_at(CLIPS, row["timestamp"])["charges"][0]["rates"]
    seconds = Fraction(row["duration"].removesuffix("s"))
    return [("video_second", seconds, half_up(seconds * rate_of(row, rate["rate"], contracts), 2))]


def instant(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["timestamp"])


def in_order(account: str, month: str) -> list[dict[str, Any]]:
    own = [row for row in ROWS if row["account"] == account and row["timestamp"].startswith(month)]
    return sorted(own, key=instant)


def month_of(
    account: str, month: str, balance: Fraction, contracts: dict[str, str]
) -> tuple[dict[str, Fraction], Fraction]:
    """Return the amount of each term and of the whole month, and the rest of the commitment."""
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
        for unit, units, amount in parts_of(row, contracts):
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


Made = dict[tuple[str, str], Statement]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Made, ...]:
    """The statements without contracts, and those with them."""
    found = []
    for contracts in SIDES:
        folder = tmp_path_factory.mktemp("statements")
        tables, usage = write_tables(folder / "tables"), write_rows(folder / "usage.csv", ROWS)
        (tables / "contracts").mkdir()
        for name, content in contracts.items():
            (tables / "contracts" / f"{name}.yaml").write_text(content, encoding="utf-8")
        months = simulated_months(usage, accounts=ACCOUNTS, tables=tables)
        made = {(each.account, f"{each.month:%Y-%m}"): each.statement for each in months}
        found.append({place: each for place, each in made.items() if each})
    return tuple(found)


@pytest.fixture
def made(both: tuple[Made, ...]) -> Made:
    """The statements without contracts."""
    return both[0]


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("account", ACCOUNTS)
def test_every_month_equals_fractions_of_the_yaml(account: str, side: int, both: tuple[Made, ...]) -> None:
    assert both[side].keys() == {(name, month) for name in ACCOUNTS for month in MONTHS}
    balance = Fraction(10)
    for month in MONTHS:
        expected, balance = month_of(account, month, balance, SIDES[side])
        found = both[side][account, month]
        sums: dict[str, Fraction] = {}
        for line in found.terms:
            sums[line.kind] = sums.get(line.kind, Fraction(0)) + line.amount
        assert Fraction(found.charges) == expected.pop("charges")
        assert {kind: sums.get(kind, Fraction(0)) for kind in expected} == expected
        assert [line.balance[1] for line in found.terms if line.balance] == [balance]
        exact = Fraction(found.charges) + sum(expected.values(), Fraction(0))
        assert found.exact == exact
        assert Fraction(found.payable) == half_up(exact, 2)


def test_the_usage_reaches_every_tier_and_both_sides_of_each_term(made: Made) -> None:
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


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_change_adds_up_to_the_digit(account: str, made: Made) -> None:
    assert made[account, "2026-09"].change is None
    for before, after in pairwise(MONTHS):
        change = made[account, after].change
        assert change is not None
        assert change.before + sum(change.parts.values(), Fraction(0)) == change.after
        assert (change.before, change.after) == (made[account, before].exact, made[account, after].exact)


def test_the_order_of_rows_and_how_often_it_is_made_mean_nothing(tmp_path: Path, made: Made) -> None:
    tables = write_tables(tmp_path / "tables")
    usage = write_rows(tmp_path / "usage.csv", ROWS[::-1])
    again = statement(usage, account="bolt", month="2026-11", tables=tables)
    known = made["bolt", "2026-11"].to_dict()
    assert {**again.to_dict(), "usage": "", "digest": ""} == {**known, "usage": "", "digest": ""}
