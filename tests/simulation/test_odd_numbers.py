"""Rates of many decimals, and counts that are written in any way: each row costs what `prices.rate` charges for it."""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from decimal import Decimal
from itertools import product
from typing import Any

import pyarrow
import pytest
from few import card_of_models, with_models
from usage import NOON

from ratecard import QuoteError, RateCard
from ratecard.base.errors import LedgerError, SimulationError
from ratecard.ledger.files import read_ledger
from ratecard.simulation.rows.billing_export import number_of
from ratecard.simulation.rows.columns import usage_of_row
from ratecard.simulation.simulate import simulate
from shipped import few_models
from token_tables import by_tokens, text_model

OPUS = few_models("claude-opus-4-6", of_each=0)
HEAD = {"type": "text", "model": "m", "timestamp": NOON}


def card_of(rate: str) -> RateCard:
    return card_of_models(text_model("m", by_tokens(f"- {{tokens: [input, output], rate: {rate}}}")))


def usage_of(*rows: dict[str, Any]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist([HEAD | row for row in rows])


@pytest.mark.parametrize("rate", ["0." + "0" * 29 + "1", "1." + "1" * 24, "1." + "0" * 20 + "1", "2.50" + "0" * 26])
def test_a_rate_of_up_to_thirty_decimals_is_added(rate: str) -> None:
    counts = {"prompt_tokens": 10, "completion_tokens": 7}
    charged = card_of(rate).at(NOON).rate({"type": "text", "model": "m", "usage": counts}).total
    with simulate(usage_of(*[counts] * 3), card_of(rate), by=[]) as found:
        assert (found.priced, found.total.amounts) == (3, (3 * charged,))


def test_rows_whose_rate_leaves_no_digits_for_a_sum_are_listed() -> None:
    rows = [{"prompt_tokens": 10**9, "completion_tokens": 7}]
    with simulate(usage_of(*rows), card_of("123456." + "1" * 30), by=[]) as found:
        assert [each.reason for each in found.unpriced] == ["charged to more than 24 decimals, which cannot be added"]
        further = found.against(card_of("1.5"))
        assert (further.total.beside().new_requests, further.priced) == (0, 0)


@pytest.mark.parametrize("way", ["against", "trying"])
def test_a_candidate_whose_rates_leave_no_digits_for_a_sum_leaves_its_rows_out(way: str) -> None:
    """As a simulation with this candidate from the beginning does; the next candidate is priced as ever."""
    rows: list[dict[str, Any]] = [
        {"prompt_tokens": 10**9, "completion_tokens": 7},
        {"model": "claude-opus-4-6", "prompt_tokens": 5},
    ]
    usage = usage_of(*(row | {"completion_tokens": 7} for row in rows))
    cards = [with_models(OPUS, card_of(rate)) for rate in ("1.5", "123456." + "1" * 30, "2.5")]
    with simulate(usage, cards[0], by=[]) as found, simulate(usage, cards[0], cards[1], by=[]) as whole:
        with found.trying(cards[1]) if way == "trying" else nullcontext(found.against(cards[1])) as trial:
            assert (trial.total, trial.unpriced) == (whole.total, whole.unpriced)
            assert [each.reason for each in trial.unpriced] == [
                "charged to more than 24 decimals, which cannot be added"
            ]
        assert found.against(cards[2]).total.difference() == 10**9 / Decimal(10**6) + 7 / Decimal(10**6)


def test_a_sum_that_no_integer_holds_is_refused() -> None:
    rows = [{"prompt_tokens": 10**17, "completion_tokens": 7}] * 50
    with pytest.raises(SimulationError, match="more than 38 digits at 24 decimals; split the usage, or write rates"):
        simulate(usage_of(*rows), card_of("12345.123456789012345678"), by=[])


@pytest.mark.parametrize("type_", [Decimal, float, str])
def test_counts_by_bucket_are_those_of_a_request_however_they_are_written(type_: Callable[[str], Any]) -> None:
    numbers = ("1.000000000000", "0", "0.0", None)
    names = ("tokens.cache_write", "tokens.input_text", "tokens.cache_write_audio", "tokens.input")
    head = {"type": "text", "model": "claude-opus-4-6"}
    rows, charged = list[dict[str, Any]](), dict[str, Decimal]()
    for number, counts in enumerate(product(numbers, numbers, numbers, ("5", "1.0", None))):
        given = {name: count for name, count in zip(names, counts, strict=True) if count} | {"tokens.output": "3"}
        rows.append(head | {name: type_(count) for name, count in given.items()} | {"customer": str(number)})
        tokens = {name.partition(".")[2]: Decimal(count) for name, count in given.items()}
        with suppress(QuoteError):
            charged[str(number)] = OPUS.at(NOON).rate({**head, "tokens": tokens}).total
    with simulate(usage_of(*rows), OPUS, by=["customer"]) as found:
        assert {row.key[0]: row.amounts[0] for row in found.groups} == charged
        assert 0 < found.priced == len(charged) < len(rows)


@pytest.mark.parametrize("way", ["1e3", "5E+0", "05", "50e-1", "5.0", "+5", "5.", ".5", " 5", "Infinity", "0x5"])
def test_a_cell_is_the_same_number_in_a_batch_and_in_a_simulation(way: str) -> None:
    row = {"prompt_tokens": way, "completion_tokens": "0"}
    with simulate(usage_of(row), card_of("1.5"), by=[]) as found:
        reasons, charged = [each.reason for each in found.unpriced], found.total.amounts[0]
    try:
        assert charged == card_of("1.5").at(NOON).rate(usage_of_row({"type": "text", "model": "m"} | row)).total > 0
    except QuoteError as error:
        assert [f"usage.prompt_tokens: {words}" for _, words in error.problems] == reasons


def test_digits_of_other_scripts_are_no_number_at_any_door() -> None:
    """Python reads them, JSON and CSV do not write them."""
    row = {"prompt_tokens": "٣", "completion_tokens": "0"}
    with simulate(usage_of(row), card_of("1.5"), by=[]) as found:
        assert [each.reason for each in found.unpriced] == ["usage.prompt_tokens: Expected number, received string"]
    with pytest.raises(ValueError, match="unit: ٣ is not a number"):
        number_of("unit", "٣")
    with pytest.raises(LedgerError, match="unit '٣' is not a number"):
        read_ledger("timestamp,sku,pricePerUnitUsd,unit,amount,currency\n2026-10-02T00:00:00Z,a,1,٣,-3,USD\n")
