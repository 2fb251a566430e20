"""What is not so much for so much (odd units, blocks, minimums) is part of the shape, for every compared card."""

import re
from decimal import Decimal
from itertools import count
from operator import add
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rows import Row, expected, quantities, table_of
from uneven import START, random_card, random_rows

import ratecard
from ratecard import RateCard
from ratecard.base.errors import SimulationError
from ratecard.review.sides import Side
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate


def check(found: Simulation, cards: list[RateCard], rows: list[Row]) -> None:
    for number, card in enumerate(cards):
        sums, refused = expected(card, rows, ("model", "customer"))
        assert {row.key: row.amounts[number] for row in found.groups} == sums
        assert found.rows - found.priced == refused
    counted: dict[Any, list[Decimal]] = {row.key: [Decimal(0)] * len(QUANTITY_NAMES) for row in found.groups}
    for row in rows:
        if expected(cards[0], [row], ())[0]:
            counted[row["model"], row["customer"]] = list(
                map(add, counted[row["model"], row["customer"]], quantities(row))
            )
    assert {row.key: list(row.quantities) for row in found.groups} == counted


@pytest.mark.parametrize("seed", range(5))
def test_every_sum_is_that_of_the_rows(tmp_path: Path, seed: int) -> None:
    random = Random(seed)  # noqa: S311
    cards = [random_card(tmp_path / name, random, plain=seed % 3 == 1 and name == "now") for name in ("now", "then")]
    rows = random_rows(random, 80)
    with simulate(table_of(rows), Side("now", cards[0]), [Side("then", cards[1])], by=("model", "customer")) as found:
        check(found, cards, rows)
        assert found.attribution().difference == found.total.difference()
        assert sum(part.amount for part in found.attribution().parts) == found.total.difference()


def test_only_the_models_that_need_it_are_kept_apart(tmp_path: Path) -> None:
    """Rows of one linear model are one shape, however many counts they have; those of the other have one for each."""
    random = Random(0)  # noqa: S311
    card = random_card(tmp_path, random, plain=True)
    text = (tmp_path / "t.yaml").read_text().replace("unit: audio_second", "unit: audio_hour", 1)
    (tmp_path / "t.yaml").write_text(text)
    odd = ratecard.load_rate_card(tmp_path)
    seconds = count(1)
    rows = [
        {"type": "transcription", "model": name, "seconds": Decimal(next(seconds)), "timestamp": START, "customer": "a"}
        for name in ("transcription-1", "transcription-2", "transcription-2:x=1")
        for _ in range(5)
    ]
    with simulate(table_of(rows), Side("now", card), by=("model",)) as found:
        assert len(found.comparison.roll_up.shapes) == 3
    with simulate(table_of(rows), Side("now", odd), by=("model",)) as found:
        shapes = [each.shape.model for each in found.comparison.roll_up.shapes]
        assert sorted(map(shapes.count, set(shapes))) == [1, 5, 5]
        assert shapes.count("transcription-2") == 1
        check_sums, _ = expected(odd, rows, ("model",))
        assert {row.key: row.amounts[0] for row in found.groups} == check_sums
    # The usage was rolled up for cards that are linear: another one cannot be priced from it.
    with (
        simulate(table_of(rows), Side("now", card), by=("model", "day")) as found,
        pytest.raises(SimulationError, match="anew"),
    ):
        found.against(Side("then", odd))


def test_bills_of_rounded_units_and_of_minimums_are_rated_again_from_usage(tmp_path: Path) -> None:
    card = random_card(tmp_path / "plain", Random(0), plain=True)  # noqa: S311
    text = (tmp_path / "plain" / "t.yaml").read_text()
    hourly = text.replace("unit: audio_second", "unit: audio_hour", 1).replace("source: price page", "source: other", 1)
    (tmp_path / "plain" / "t.yaml").write_text(
        re.sub(r"(speech-1.*?        )(charges.*?total: )0", r"\1minimum: 0.01\n        \g<2>0.01", hourly, flags=re.S)
    )
    odd = ratecard.load_rate_card(tmp_path / "plain")
    rows = [
        {"type": "transcription", "model": "transcription-1", "seconds": Decimal(1)},
        {"type": "speech", "model": "speech-1", "characters": 1},
        {"type": "speech", "model": "speech-2", "characters": 1},
    ]
    quotes = [odd.at(START).rate(row) for row in rows]
    entries = [
        entry
        for number, quote in enumerate(quotes)
        for entry in quote.ledger_entries(timestamp=START, request_id=str(number))
    ]
    file = tmp_path / "export.csv"
    file.write_text(ratecard.ledger.ledger_csv(entries), encoding="utf-8")
    with simulate(str(file), Side("now", odd), by=("model",)) as found:
        # A version without the change charges the minimum again.
        assert {row.key[0]: row.amounts[0] for row in found.groups} == {
            "speech-1": Decimal("0.01"),
            "speech-2": quotes[2].total,
        }
        assert not found.disputed
        assert [each.reason for each in found.unpriced] == [
            "structure: the units of SKU transcription-1-audio-hour are rounded; re-rate from usage"
        ]
    with simulate(str(file), Side("now", odd), [Side("then", card)], by=("model",)) as found:
        words = "structure: a request of speech-1 costs a minimum, and a row is not all of one; re-rate from usage"
        assert words in {each.reason for each in found.unpriced} | {str(each) for each in found.unpriced}
    # The same version of another side charges the same minimum, and a version with another one does not.
    again = Side("again", ratecard.load_rate_card(tmp_path / "plain"))
    sums = {"speech-1": (Decimal("0.01"),) * 2, "speech-2": (quotes[2].total,) * 2}
    with simulate(str(file), "as-billed", [again], tables=tmp_path / "plain", by=("model",)) as found:
        assert {row.key[0]: row.amounts for row in found.groups} == sums
    text = (tmp_path / "plain" / "t.yaml").read_text().replace("minimum: 0.01", "minimum: 0.02")
    (tmp_path / "plain" / "t.yaml").write_text(text.replace("total: 0.01", "total: 0.02"))
    dearer = Side("dearer", ratecard.load_rate_card(tmp_path / "plain"))
    with simulate(str(file), Side("now", odd), [dearer], by=("model",)) as found:
        assert words in {each.reason for each in found.unpriced}


def test_a_name_that_one_card_knows_as_an_alias_is_kept_apart_with_its_model(tmp_path: Path) -> None:
    card = random_card(tmp_path, Random(0), plain=True)  # noqa: S311
    text = (tmp_path / "t.yaml").read_text().replace("unit: audio_second", "unit: audio_hour", 1)
    # Here `transcription-2` is another name of the first one.
    one, _, _ = text.replace("name: A\n    type: transcription", "name: A\n    aliases: [transcription-2]\n"
                             "    type: transcription", 1).rpartition("  - model: transcription-2")  # fmt: skip
    (tmp_path / "t.yaml").write_text(one)
    odd = ratecard.load_rate_card(tmp_path)
    rows = [
        {"type": "transcription", "model": "transcription-2", "seconds": Decimal(seconds), "timestamp": START}
        for seconds in (1, 2, 3)
    ]
    with simulate(table_of(rows), Side("now", card), [Side("then", odd)], by=("model",)) as found:
        check_sums, _ = expected(odd, rows, ("model",))
        assert {row.key: row.amounts[1] for row in found.groups} == check_sums
        assert len(found.comparison.roll_up.shapes) == 3
