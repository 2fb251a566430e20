"""Retirements, successors, other models, costs and targets of mixed usage: every figure equals that of row by row."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet
import pytest
from candidate_files import candidate as candidate_of
from oracle import Paid, Told, amounts, by_model, lost_and_new, paid, told
from rows import Row, table_of
from usage import row

from nightly import examples
from ratecard import Quote, RateCard
from ratecard.base.money import places_of
from ratecard.simulation.answers.target import read_target, smallest_factor
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.prices.sides import Costs, costs_of
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from shipped import FEW as SHIPPED
from shipped import few_models

ROWS = examples(600, nightly=200_000)
# One model is retired with a successor, one without; rates are scaled; later models are new.
MIXED = (
    "{retire: claude-opus-4-6, successor: claude-sonnet-4-6}",
    "retire: kling-o3-pro-text-to-video",
    "{scale: {type: text}, factor: 1.1}",
    "{scale: {type: image}, factor: 0.9}",
)


class Usage(NamedTuple):
    path: Path
    rows: list[Row]


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Usage:
    path = tmp_path_factory.mktemp("usage") / "usage.parquet"
    demo_usage(path, ROWS, seed=11, card=SHIPPED)
    return Usage(path, pyarrow.parquet.read_table(path).to_pylist())


@pytest.fixture(scope="module")
def candidate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return candidate_of(tmp_path_factory.mktemp("candidates"), *MIXED, name="mixed", day="2026-10-12")


def check(found: Simulation, listed: list[Told]) -> None:
    assert found.priced == len(listed)
    assert found.rows == found.priced + sum(each.rows for each in found.unpriced)
    assert found.total.amounts == amounts(listed)
    assert found.total.beside() == lost_and_new(listed)
    assert found.total.difference() == found.total.change() - found.total.beside().lost + found.total.beside().new
    assert found.attribution().difference == found.total.difference()
    rows = by_model(listed)
    rpc = next(model.model for model in SHIPPED.tables.models.values() if model.type == "rpc")
    if "None" in rows:
        rows[rpc] = rows.pop("None")
    assert {row.key[0]: row.amounts for row in found.by_model} == {name: amounts(each) for name, each in rows.items()}
    assert {row.key[0]: row.beside() for row in found.by_model} == {
        name: lost_and_new(each) for name, each in rows.items()
    }
    lost = sum((each.amount for each in found.lost()), Decimal(0)), sum(each.requests for each in found.lost())
    assert lost == (found.total.beside().lost, found.total.beside().lost_requests)
    new = sum((each.amount for each in found.new()), Decimal(0)), sum(each.requests for each in found.new())
    assert new == (found.total.beside().new, found.total.beside().new_requests)
    parts = found.attribution().parts
    assert sum(part.amount for part in parts if part.kind == "lost") == -lost[0]
    assert sum(part.amount for part in parts if part.kind == "new") == new[0]


def with_costs(found: Simulation, costs: Costs | None) -> Simulation:
    return Simulation(found.comparison.roll_up, found.sides, found.pricer, found.outcomes, costs)


def check_margin(found: Simulation, expected: Paid) -> None:
    whole = found.margin().total
    assert (whole.requests, whole.unknown, whole.costs, whole.revenues) == expected
    assert whole.requests + whole.unknown == found.priced
    ((pairs),) = found.costs_by().values()
    assert tuple(cost for cost, _ in pairs) == whole.costs
    assert tuple(margin for _, margin in pairs) == (whole.margin(0), whole.margin(1))


@pytest.fixture(scope="module")
def card(candidate: Path) -> RateCard:
    return SHIPPED.with_candidate(candidate)


@pytest.fixture(scope="module")
def listed(usage: Usage, card: RateCard) -> list[Told]:
    return [each for row in usage.rows if (each := told(SHIPPED, card, row, {}))]


@pytest.fixture(scope="module")
def found(usage: Usage, candidate: Path) -> Iterator[Simulation]:
    with simulate(usage.path, SHIPPED, candidate, by=["model", "day"]) as result:
        yield result


def test_what_is_lost_and_new(found: Simulation, listed: list[Told]) -> None:
    assert found.total.beside().lost_requests
    check(found, listed)


def test_days_on_which_prices_stand(usage: Usage, candidate: Path) -> None:
    """From one day to another: what came between is new, and what went is lost."""
    with simulate(usage.path, date(2026, 8, 3), date(2026, 11, 10), by=["model"]) as result:
        days = [row | {"timestamp": row["timestamp"]} for row in usage.rows]
        expected = [each for row in days if (each := told(standing(2026, 8, 3), standing(2026, 11, 10), row, {}))]
        assert result.total.beside().lost_requests and result.total.beside().new_requests
        check(result, expected)
        # With our own tables as costs, the margin is zero on either day.
        own = with_costs(result, costs_of(SHIPPED, result.sides, None))
        assert own.margin().total.costs == result.total.amounts
        assert [own.margin().total.margin(side) for side in (0, 1)] == [0, 0]


class Standing:
    """A card at one day, whenever it is asked."""

    def __init__(self, day: date) -> None:
        self.day, self.tables = day, SHIPPED.tables

    def at(self, _: object) -> object:
        return SHIPPED.at(self.day)


def standing(*day: int) -> RateCard:
    return Standing(date(*day))  # type: ignore[return-value]


def test_costs(usage: Usage, candidate: Path, found: Simulation, listed: list[Told], tmp_path: Path) -> None:
    share = with_costs(found, costs_of("60%", found.sides, None))
    check_margin(share, paid(listed, lambda row, quote, now: (now or quote).total * Decimal("0.6")))

    overlay = candidate_of(tmp_path, "{scale: {type: text}, factor: 0.6}", name="what we pay", day="2026-09-30")
    ours = SHIPPED.with_candidate(overlay)

    def by_card(row: Row, quote: Quote, now: Quote | None) -> Decimal | None:
        model = str(row["model"])
        scaled = row["type"] != "rpc" and ours.tables.named(model) is not SHIPPED.tables.named(model)
        if scaled and row["timestamp"] < datetime(2026, 9, 30, tzinfo=UTC):
            return None  # the costs do not hold yet
        each = told(ours, ours, row, {})
        return each.now.total if each and each.now else None

    # The days on which a card of costs changes are known before the usage is read.
    with simulate(usage.path, SHIPPED, candidate, by=["model"], costs=overlay) as cards:
        check_margin(cards, paid(listed, by_card))

    units = {
        (name, charge.unit): Decimal(len(name) % 7 + 1) / 1000
        for name, model in SHIPPED.tables.models.items()
        if len(name) % 5
        for version in model.versions
        for charge in version.charges
    }
    file = tmp_path / "costs.csv"
    file.write_text("model,unit,cost\n" + "".join(f"{name},{unit},{cost}\n" for (name, unit), cost in units.items()))
    by_unit = with_costs(found, costs_of(file, found.sides, None))
    assert by_unit.margin().total.unknown

    def by_line(row: Row, quote: Quote, now: Quote | None) -> Decimal | None:
        total = Decimal(0)
        for line in quote.lines:
            cost = units.get((quote.model, line.unit))
            if cost is None:
                return None
            assert places_of(line.quantity) <= 18
            total += line.quantity * cost
        return total

    check_margin(by_unit, paid(listed, by_line))


def test_successors(usage: Usage, candidate: Path, card: RateCard) -> None:
    expected = [each for row in usage.rows if (each := told(SHIPPED, card, row, {}, successors=True))]
    assert any(each.asked is not each.row for each in expected)
    with simulate(usage.path, SHIPPED, candidate, by=["model"], successors=True, costs="60%") as result:
        check(result, expected)
        check_margin(result, paid(expected, lambda row, quote, now: (now or quote).total * Decimal("0.6")))


def test_a_stack_of_candidates(usage: Usage, candidate: Path, card: RateCard, tmp_path: Path) -> None:
    """What is lost or new under one candidate over another is what the stack itself refuses or prices."""
    changes = "{scale: {type: text}, factor: 0.8}", "{scale: {type: video}, factor: 1.25}"
    sale = candidate_of(tmp_path, *changes, name="sale", day="2026-10-20", until="2026-11-05")
    stack = card.with_candidate(sale)
    expected = [each for row in usage.rows if (each := told(SHIPPED, stack, row, {}))]
    with simulate(usage.path, SHIPPED, f"{candidate}+{sale}", by=["model"]) as result:
        check(result, expected)


def test_other_models(usage: Usage, candidate: Path, card: RateCard) -> None:
    """Of the same type, of another, and one that cannot take most of the rows."""
    names = {str(row["model"]) for row in usage.rows}
    videos = sorted(name for name in names if name.endswith("-text-to-video"))
    remap = {"claude-opus-4-6": "claude-sonnet-4-6", videos[0]: "ovi-image-to-video", videos[1]: "claude-opus-4-6"}
    remap |= {videos[2]: videos[3]}
    remap = {old: new for old, new in remap.items() if old in names}
    expected = [each for row in usage.rows if (each := told(SHIPPED, card, row, remap))]
    with simulate(usage.path, SHIPPED, candidate, by=["model"], remap=remap, costs=SHIPPED) as result:
        check(result, expected)

        def cost(row: Row, quote: Quote, now: Quote | None) -> Decimal | None:
            each = told(SHIPPED, SHIPPED, row, {})
            return each.now.total if each and each.now else None

        check_margin(result, paid(expected, cost))


TEXT, KLING = "{scale: {type: text}, factor: 1.1}", "kling-o3-pro-text-to-video"
MIXES = (
    # Changes beside the factor: after it, before it, and one that takes revenue away.
    (TEXT, f"{{set: {KLING}, where: {{audio: true}}, rate: 0.5}}"),
    ("{set: claude-opus-4-6, where: {context: base, tokens: input}, rate: 6.6}", TEXT),
    (f"retire: {KLING}", TEXT.replace("1.1", "2")),
    ("retire: claude-opus-4-6", TEXT.replace("1.1", "1.5"), "{scale: {family: kling-o3}, factor: 2}"),
)


TARGETS = [(kind, steps) for kind in ("revenue", "margin") for steps in (-3, 0, 1)]
# Half of all cases include every kind with every number of steps, and each of both with every mix; `make nightly` tries
# all.
EVERY = examples(2, nightly=1)
HALVES = [(changes, TARGETS[number % EVERY :: EVERY]) for number, changes in enumerate(MIXES)]


@pytest.mark.parametrize(("changes", "targets"), HALVES)
def test_the_smallest_factor_by_trying_all(
    tmp_path: Path, changes: tuple[str, ...], targets: list[tuple[str, int]]
) -> None:
    """Each factor as a candidate of its own, row by row: one ten-thousandth below the answer the target is missed."""
    path = candidate_of(tmp_path, *changes, name="scaled", day="2026-10-12")
    rows = [each | {"timestamp": datetime(2026, 10, 14, tzinfo=UTC)} for each in TEN]

    @cache
    def tried(factor: str) -> tuple[Decimal, Decimal, Decimal]:
        """Revenue now, revenue at a factor, and its cost: 60 % of what is charged now."""
        own = [re.sub(r"factor: [^}]*", f"factor: {factor}", change) for change in changes]
        own = [change for change in own if factor != "1" or "scale" not in change]
        written = candidate_of(tmp_path, *own, name=f"at-{factor}", day="2026-10-12")
        card = OF_TEN.with_candidate(written) if own else OF_TEN
        listed = [each for row in rows if (each := told(OF_TEN, card, row, {}))]
        cost = paid(listed, lambda row, quote, now: (now or quote).total * Decimal("0.6")).costs[1]
        return (*amounts(listed), cost)

    now, _, cost = tried("1")
    with simulate(table_of(rows), OF_TEN, path, by=[], costs="60%") as result:
        for kind, steps in targets:
            aimed = tried(f"{1 + Decimal(steps) / 10_000}")[1]
            # The target is a little below the share that a factor brings, so that this factor reaches it.
            share = Fraction(aimed) / Fraction(now) - 1 if kind == "revenue" else 1 - Fraction(cost) / Fraction(aimed)
            percent = (100 * share * 10**9).__floor__()
            least = Fraction(percent, 100 * 10**9)

            def enough(factor: Decimal, kind: str = kind, least: Fraction = least) -> bool:
                _, brings, costs = tried(f"{factor.normalize():f}")
                if kind == "revenue":
                    return Fraction(brings) >= Fraction(now) * (1 + least)
                return brings - costs >= Fraction(brings) * least

            reached = smallest_factor(result, path, read_target(f"{kind}={Decimal(percent).scaleb(-9)}%"))
            assert enough(reached.factor)
            assert reached.revenue == tried(f"{reached.factor.normalize():f}")[1]
            step = Decimal("0.0001")
            below = (reached.factor - number * step for number in range(1, 4))
            assert not [factor for factor in below if factor > 0 and enough(factor)]
            assert reached.factor <= 1 + steps * step


TEN = [
    row("text", "claude-opus-4-6", "a", prompt_tokens=5_500_000, cached_tokens=5_000, completion_tokens=100_000),
    row("text", "claude-sonnet-4-6", "a", prompt_tokens=7_000_000, completion_tokens=70_000),
    *[row("video", "kling-o3-pro-text-to-video", "b", duration="5s") for _ in range(3)],
    row("rpc", None, "b", network="ethereum-mainnet", method="eth_call"),
]
OF_TEN = few_models(*filter(None, (each["model"] for each in TEN)), "crypto-rpc", of_each=0)
