"""Candidates change factors, and rates in a tier or under a condition; they are promoted and compared."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow
import pytest
from made_up_provider import table

from ratecard import RateCard, load_rate_card
from ratecard.base.errors import TableError
from ratecard.review.promote import promotion
from ratecard.simulation.simulate import simulate
from ratecard.whatif.draft import Choices

DAY = date(2026, 6, 1)
CHANGES = """
  - set: m
    where: {service_tier: batch}
    factor: 0.6
  - set: m
    where: {tokens: input, above: 128000, service_tier: priority}
    rate: 22
  - set: m
    where: {tokens: input, context: base, service_tier: standard}
    rate: 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "made-up.yaml").write_text(table())
    return tmp_path / "tables"


def candidate(folder: Path, changes: str) -> Path:
    head = f"candidate: c\neffective: {DAY}\nproposed_by: tests\nwhy: to see\nchanges:{changes}"
    path = folder.parent / "candidate.yaml"
    path.write_text(head)
    return path


def refused(folder: Path, changes: str) -> str:
    with pytest.raises(TableError) as caught:
        load_rate_card(folder).with_candidate(candidate(folder, changes))
    [fault] = caught.value.faults
    return fault.message


def price(card: RateCard, prompt: int, **conditions: str) -> Decimal:
    usage = {"type": "text", "model": "m", "tokens": {"input": prompt}, **conditions}
    return card.at(DAY).rate(usage).total


def test_factors_and_rates_of_conditions_and_tiers_are_set(folder: Path) -> None:
    card = load_rate_card(folder).with_candidate(candidate(folder, CHANGES))
    assert price(card, 1_000) == Decimal("0.003")
    assert price(card, 1_000, service_tier="batch") == Decimal("0.0018")
    assert price(card, 1_000, service_tier="priority") == Decimal("0.007")
    assert price(card, 200_000, service_tier="priority") == Decimal("4.4")
    assert price(card, 200_000) == Decimal("1.2")


def test_what_is_promoted_means_the_same(folder: Path) -> None:
    path = candidate(folder, CHANGES)
    wanted = load_rate_card(folder).with_candidate(path)
    found = promotion(folder, path, DAY)
    found.write()
    assert load_rate_card(folder).digest == wanted.digest
    assert "{service_tier: batch, factor: 0.6}" in found.added[0].text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "\n  - set: m\n    where: {tokens: input}\n    rate: 9\n",
            "service_tier: standard | priority; above: 128000 | 1000000",
        ),
        ("\n  - set: m\n    where: {service_tier: flex}\n    factor: 0.5\n", "no factor of m is for exactly these"),
        (
            "\n  - set: m\n    where: {service_tier: batch}\n    factor: 0.5\n",
            "m has this factor already (made-up.yaml:",
        ),
        (
            "\n  - set: m\n    where: {service_tier: batch}\n    factor: 0.5\n    rate: 1\n",
            "beside factor; keep",
        ),
        ("\n  - set: m\n    charge: tokens\n    where: {}\n    factor: 0.5\n", "It has: service_tier batch; "),
        ("\n  - set: m\n    charge: token\n    where: {}\n    factor: 0.5\n", "no factor of charge 'token' of m"),
    ],
)
def test_what_is_not_clear_is_refused(folder: Path, change: str, words: str) -> None:
    assert words in refused(folder, change)


def test_the_difference_is_attributed_to_factors_and_conditions(folder: Path) -> None:
    path = candidate(folder, CHANGES)
    rows = {"tokens.input": [1_000, 1_000, 200_000, 200_000], "service_tier": ["batch", None, "priority", "auto"]}
    whole = {"type": ["text"] * 4, "model": ["m"] * 4, "timestamp": [datetime(2026, 7, 1, tzinfo=UTC)] * 4}
    with simulate(pyarrow.table(whole | rows), None, path, tables=folder, by=("service_tier",)) as found:
        parts = {part.label: (part.old, part.new, str(part.amount.normalize())) for part in found.attribution().parts}
        assert found.attribution().untouched == ()
    batch = "tokens: context base, tokens input, service_tier standard, service_tier batch"
    assert parts == {
        "tokens: tokens input, above 128000, service_tier priority": (Decimal(11), Decimal(22), "2.2"),
        "tokens: context base, tokens input, service_tier standard": (Decimal(4), Decimal(3), "-0.001"),
        batch: (Decimal(2), Decimal("1.8"), "-0.0002"),
    }


def test_each_rate_and_factor_that_the_what_if_page_offers_can_be_set_by_itself(folder: Path) -> None:
    card = load_rate_card(folder)
    choices = Choices(card, DAY).rates("m")
    assert [sum(choice.word == word for choice in choices) for word in ("rate", "factor")] == [15, 3]
    for number, choice in enumerate(choices):
        where = ", ".join(f"{name}: {' | '.join(values)}" for name, values in choice.where)
        charge = f"    charge: {choice.charge}\n" if choice.charge else ""
        change = f"\n  - set: m\n{charge}    where: {{{where}}}\n    {choice.word}: 0.123\n"
        changed = Choices(card.with_candidate(candidate(folder, change)), DAY).rates("m")
        assert [at for at, (old, new) in enumerate(zip(choices, changed, strict=True)) if old != new] == [number]
