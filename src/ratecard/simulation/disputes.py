"""The disputed rows of a bill, one by one: what was billed, what it should be, and why."""

import csv
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow

from ratecard.base.csv_text import text_cell
from ratecard.base.errors import SimulationError
from ratecard.base.files import replacing
from ratecard.base.money import EXACT, minus, multiply, plain, text
from ratecard.simulation.billing import BY_USAGE, CONTRACT_ROW, Dispute, LedgerPricer
from ratecard.simulation.groups.shapes import Counted
from ratecard.simulation.prices.sides import Specification
from ratecard.simulation.result import Simulation
from ratecard.simulation.rows.billing_export import ROW_COLUMNS, number_of
from ratecard.simulation.simulate import simulate

DISPUTE_COLUMNS = ("requestId", "timestamp", "sku", "billed", "should be", "difference", "currency", "reason")
_BATCH = 10_000
# The reasons of rows that cannot be checked: refunds, and prices from a contract, a source video or rounded units.
_UNCHECKED = ("amount: above zero", CONTRACT_ROW, "structure: the units of SKU", "structure: the price of SKU")

# The reasons why rows are not compared; the refusal of a row in another currency begins with the second one.
_SAYS_TOO_LITTLE, _FOREIGN = "says too little", "currency: charged in"


class DisputedRows(NamedTuple):
    """The counts of a bill's rows, of the disputed rows, and of the disputed rows without a known price.

    `unchecked` rows say too little to be compared, and `foreign` rows are in another currency than `currency`.
    `difference` is the amount that was billed too much, for the disputed rows with a known price.
    """

    rows: int
    disputed: int
    unpriced: int
    unchecked: int
    difference: Decimal
    currency: str
    foreign: int = 0


def write_disputes(usage: Any, current: Specification | None, path: Path, **settings: Any) -> DisputedRows:
    """Write the disputed rows of a billing export to a CSV file, in order of time.

    `current` are the tables by which it was billed, each row at its own time; `settings` are further arguments of
    `simulate`. Amounts are in the currency of the simulation. Raises `SimulationError` for usage that is not a billing
    export, for an export that seems to name its requests, contracts or accounts in a column that is not read, and for
    a file that cannot be written.
    """
    with simulate(usage, current, (), by=ROW_COLUMNS, **settings) as simulation:
        # If requests or contracts were not read, a wrong bill would seem right.
        if simulation.reading.meant:
            raise SimulationError(simulation.reading.warnings()[0])
        pricer = cast(LedgerPricer, simulation.pricer)
        disputes: dict[int, Dispute | str] = {}
        unpriced, others = 0, Counter[str]()
        for number, counted in enumerate(simulation.comparison.roll_up.shapes):
            dispute, other = _dispute(pricer, counted)
            others[other] += counted.requests
            if dispute:
                disputes[number] = dispute
                is_priced = isinstance(dispute, Dispute) and dispute.expected is not None
                unpriced += 0 if is_priced else counted.requests
        difference, disputed = Decimal(0), 0
        try:
            with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(DISPUTE_COLUMNS)
                for shape, times, sku, row in _rows(simulation, disputes):
                    cells, excess = _cells(disputes[shape], row, pricer.currency)
                    names = (text_cell(words or "") for words in (row[1], row[0], sku))
                    writer.writerows([[*names, *cells]] * times)
                    disputed += times
                    difference = EXACT.add(difference, multiply(excess, Decimal(times)))
        except OSError as error:
            raise SimulationError(f"{path} cannot be written: {error.strerror}") from None
        amount = plain(difference)
        unchecked, foreign = others[_SAYS_TOO_LITTLE], others[_FOREIGN]
        return DisputedRows(simulation.rows, disputed, unpriced, unchecked, amount, pricer.currency, foreign)


def _dispute(pricer: LedgerPricer, counted: Counted) -> tuple[Dispute | str | None, str]:
    """Return the dispute about the rows of a shape (or why they have no price), and why they cannot be compared."""
    if dispute := pricer.disputed(counted.shape):
        return dispute, ""
    refusal = pricer.price(pricer.billed, counted.shape).refusal
    if refusal is None:
        return None, "" if pricer.is_checked(counted.shape) else _SAYS_TOO_LITTLE
    if refusal.reason.startswith(_UNCHECKED):
        return None, _SAYS_TOO_LITTLE
    if refusal.reason.startswith(_FOREIGN):
        return None, _FOREIGN
    return refusal.reason.removeprefix("structure: ").removesuffix(f"; {BY_USAGE}"), ""


def _rows(
    simulation: Simulation, disputes: dict[int, Dispute | str]
) -> Iterator[tuple[int, int, str, tuple[str | None, ...]]]:
    """Yield disputed rows in order of time: number of the shape, number of equal rows, SKU, `ROW_COLUMNS`."""
    rolled = simulation.comparison.roll_up
    shapes = pyarrow.table({"shape": pyarrow.array(disputes, pyarrow.int32())})
    keys = ", ".join(rolled.plan.key_columns)
    with rolled.workspace.another() as connection:
        connection.register("disputed_shapes", shapes)
        disputed = f"{rolled.groups} SEMI JOIN disputed_shapes USING (shape)"
        result = connection.execute(f"SELECT shape, requests, {keys} FROM {disputed} ORDER BY {keys}")
        while rows := result.fetchmany(_BATCH):
            for shape, times, *row in rows:
                values = rolled.shapes[shape].shape.values()
                yield shape, times, values.get("ledger_sku") or "", tuple(row)


def _cells(dispute: Dispute | str, row: tuple[str | None, ...], currency: str) -> tuple[list[str], Decimal]:
    """Return the cells of one row after its SKU, and the amount that was billed too much."""
    _, _, unit, paid = row
    if isinstance(dispute, str):
        return [text_cell((paid or "").removeprefix("-")), "", "", "", dispute], Decimal(0)
    billed = multiply(minus(number_of("amount", paid)), dispute.entry.worth)
    if dispute.expected is None:
        return [text(plain(billed)), "", "", currency, dispute.reason], Decimal(0)
    expected = multiply(number_of("unit", unit), dispute.expected.price)
    excess = EXACT.subtract(billed, expected)
    reason = f"{dispute.reason}{f' ({dispute.expected.source})' if dispute.expected.source else ''}"
    return [*(text(plain(amount)) for amount in (billed, expected, excess)), currency, reason], excess
