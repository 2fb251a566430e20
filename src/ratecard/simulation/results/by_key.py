"""Amounts added up by key where the rows lie: of keys that say nothing of the price, like customers.

Facts by such keys may be as many as the rows. Rows that are joined with the prices of their cell and added up at once
are as few as the values of the keys.
"""

from collections.abc import Sequence

from ratecard.simulation.errors import SimulationError
from ratecard.simulation.results.priced_facts import QUANTITY_NAMES, UNEVEN, PricedFacts, uneven_columns
from ratecard.simulation.usage.plan import parts_of
from ratecard.simulation.usage.roll_up import RowsAgain, Taken
from ratecard.simulation.usage.roll_up_sql import AddedByKey, CellPrices

_SHORT = 2**63
_QUANTITIES = [f"quantity{at}" for at in range(len(QUANTITY_NAMES))]


def add_by_key(priced: PricedFacts, again: RowsAgain) -> AddedByKey:
    """What the facts of each combination of keys come to: the columns of `PricedFacts`, added up.

    The rows of `again` are joined with the prices of their cells, which are proved to give sums that fit. Raises
    `SimulationError` where they are not the rows that were grouped.
    """
    roll_up, sides = priced.roll_up, range(len(priced.sides))
    uneven = [side for side in sides[1:] if priced.coverage.uneven[side]]
    columns = [*_QUANTITIES, *(f"amount{side}" for side in sides)]
    columns += [f"{name}{side}" for side in uneven for name in UNEVEN]
    joins = "".join(priced.uneven(side, "LEFT JOIN") for side in uneven)
    found: list[CellPrices] = []
    counted, together = [0] * (1 + len(_QUANTITIES)), list[Taken]()
    for taken in roll_up.taken:
        if not taken.grouping.facts:  # two of its cells have one number: its groups have the keys
            together.append(taken)
        elif known := _prices(priced, taken, priced.source(taken.cells, "LEFT JOIN", *sides, further=joins)):
            prices, own = known
            found.append(prices)
            counted = list(map(sum, zip(counted, own, strict=True)))
    added = again.amounts(found, columns, roll_up.plan, whole=bool(together))
    run = roll_up.workspace.connection.execute
    for prices in found:
        run(f"DROP TABLE {prices.prices}")
    ask = added.elsewhere.rows if added.elsewhere else lambda query: run(query).fetchall()
    if list(ask(f"SELECT {_summed(('requests', *_QUANTITIES))} FROM {added.table}")[0]) != counted:
        raise SimulationError("the usage changed while it was read: other rows came the second time")
    for taken in together:
        of_cells = priced.query(taken.cells, "LEFT JOIN", *sides, uneven=uneven, further=joins)
        listed = (*roll_up.plan.key_columns, "requests", *(f"coalesce({name}, 0)" for name in columns))
        run(f"INSERT INTO {added.table} SELECT {', '.join(listed)} FROM {of_cells}")
    return added


def _prices(priced: PricedFacts, taken: Taken, source: str) -> tuple[CellPrices, list[int]] | None:
    """The prices of the cells of a grouping, and the requests and quantities of its rows; None if none has a price."""
    roll_up, summed = priced.roll_up, taken.grouping.summed
    workspace, sides = roll_up.workspace, range(len(priced.sides))
    sums = priced.quantities(parts_of(roll_up.plan.layouts)[taken.grouping.name])
    # What all rows of a cell come to; one of them comes to no more where no quantity is below zero.
    most = ", ".join(f"coalesce(max(greatest({', '.join(_sizes(side, summed))})), 0)" for side in sides)
    added = (*(_sizes(side, summed)[0] for side in sides), "requests", *(sums.get(name, "0") for name in _QUANTITIES))
    query = f"SELECT count(*), {most}, {_summed(added)} {source}"
    count, *found = workspace.connection.execute(query).fetchall()[0]
    if not count:
        return None
    short = max(found) < _SHORT and not taken.grouping.signed
    found, own = found[: len(sides)], found[2 * len(sides) :]
    prices, columns = workspace.new_table("cell_prices"), ["cell"]
    for side, size in enumerate(found):
        if not size:
            continue
        type_ = "BIGINT" if size < _SHORT and not taken.grouping.signed else "HUGEINT"
        numbers = (0, *(number + 1 for number in summed))
        columns += [f"CAST(coalesce(side{side}.p{number}, 0) AS {type_}) AS p{side}_{number}" for number in numbers]
        sums[f"amount{side}"] = _terms(side, summed)
    for side in sides[1:]:
        if priced.coverage.uneven[side]:
            columns.append(f"uneven{side}.kind AS kind{side}")
            terms = (_terms(each, summed) if found[each] else "0" for each in (0, side))
            sums |= uneven_columns(side, f"kind{side}", "1", *terms)
    workspace.connection.execute(f"CREATE TABLE {prices} AS SELECT {', '.join(columns)} {source}")
    return CellPrices(taken.grouping, taken.groups, prices, sums, short), own


def _summed(numbers: Sequence[str]) -> str:
    return ", ".join(f"coalesce(sum({number}), 0)" for number in numbers)


def _sizes(side: int, summed: tuple[int, ...]) -> list[str]:
    """What no price of a cell, and no product or sum of those of its rows, is above."""
    sizes = [f"abs(CAST(side{side}.p{number} AS HUGEINT))" for number in (0, *(each + 1 for each in summed))]
    counts = ("requests", *(f"q{number}" for number in summed))
    return [" + ".join(f"{count} * {size}" for count, size in zip(counts, sizes, strict=True)), *sizes]


def _terms(side: int, summed: tuple[int, ...]) -> str:
    """What a row comes to at the prices of a side."""
    return " + ".join((f"p{side}_0", *(f"q{number} * p{side}_{number + 1}" for number in summed)))
