"""Amounts added up by key where the rows lie: of keys that say nothing of the price, like customers.

Facts by such keys may be as many as the rows. Rows that are joined with the prices of their cell and added up at once
are as few as the values of the keys.
"""

from collections.abc import Mapping, Sequence
from itertools import islice

from ratecard.simulation.errors import SimulationError
from ratecard.simulation.results.priced_facts import QUANTITY_COLUMNS, UNEVEN, PricedFacts, uneven_columns
from ratecard.simulation.usage.engines.duckdb_engine import integer_of
from ratecard.simulation.usage.plan import parts_of
from ratecard.simulation.usage.roll_up import RowsAgain, Taken
from ratecard.simulation.usage.roll_up_sql import ALWAYS, NEVER, AddedByKey, CellPrices, Summand

_SHORT = 2**63


def add_by_key(priced: PricedFacts, again: RowsAgain) -> AddedByKey:
    """What the facts of each combination of keys come to: the columns of `PricedFacts`, added up.

    The rows of `again` are joined with the prices of their cells, which are proved to give sums that fit. Raises
    `SimulationError` where they are not the rows that were grouped.
    """
    roll_up, sides = priced.roll_up, range(len(priced.sides))
    uneven = [side for side in sides[1:] if priced.coverage.uneven[side]]
    columns = [*QUANTITY_COLUMNS, *(f"amount{side}" for side in sides)]
    columns += [f"{name}{side}" for side in uneven for name in UNEVEN]
    joins = "".join(priced.uneven(side, "LEFT JOIN") for side in uneven)
    found: list[CellPrices] = []
    counted, together = [0] * (1 + len(QUANTITY_COLUMNS)), list[Taken]()
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
    if list(ask(f"SELECT {_summed(('requests', *QUANTITY_COLUMNS))} FROM {added.table}")[0]) != counted:
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
    types = parts_of(roll_up.plan.layouts)[taken.grouping.name]
    quantities = priced.quantities(types)
    sums = {name: Summand(each, each) for name, each in quantities.items()}
    # What each price is multiplied by, for all rows of a cell; one of them comes to no more where no quantity is below
    # zero.
    counts = {0: "requests"} | {number + 1: f"q{number}" for number in summed}
    sizes = [[_size(side, number) for number in counts] for side in sides]
    of_cells = [" + ".join(map("{} * {}".format, counts.values(), each)) for each in sizes]
    asked = [f"max({size})" for each in sizes for size in each] + [f"max({each})" for each in of_cells]
    asked += [f"sum({each})" for each in ("requests", *(quantities.get(name, "0") for name in QUANTITY_COLUMNS))]
    query = f"SELECT count(*), {', '.join(f'coalesce({each}, 0)' for each in asked)} {source}"
    count, *found = workspace.connection.execute(query).fetchall()[0]
    if not count:
        return None
    answers = iter(found)
    largest = [dict(zip(counts, islice(answers, len(counts)), strict=True)) for _ in sides]
    of_cell, own = (list(islice(answers, length)) for length in (len(sides), None))
    short, integer = ALWAYS, integer_of(workspace.connection, taken.grouping, taken.groups)
    if integer != "BIGINT" or max(*own, *(max(each.values()) for each in largest)) >= _SHORT:
        short = NEVER
    elif max(of_cell) >= _SHORT:
        short = _short(largest)
    prices, columns, terms = workspace.new_table("cell_prices"), ["cell"], list[Summand]()
    for side in sides:
        # Most prices of most groupings are zero.
        numbers = [number for number, size in largest[side].items() if size]
        type_ = "HUGEINT" if short == NEVER else "BIGINT"
        columns += [f"CAST(coalesce(side{side}.p{number}, 0) AS {type_}) AS p{side}_{number}" for number in numbers]
        terms.append(Summand(_terms(side, numbers, "q{}"), _terms(side, numbers, "CAST(q{} AS {{integer}})")))
        if numbers:
            sums[f"amount{side}"] = terms[side]
    for side in sides[1:]:
        if priced.coverage.uneven[side]:
            columns.append(f"uneven{side}.kind AS kind{side}")
            numbers_apart, wide_apart = (
                uneven_columns(side, f"kind{side}", "1", *each) for each in zip(terms[0], terms[side], strict=True)
            )
            sums |= {name: Summand(each, wide_apart[name]) for name, each in numbers_apart.items()}
    workspace.connection.execute(f"CREATE TABLE {prices} AS SELECT {', '.join(columns)} {source}")
    return CellPrices(taken.grouping, taken.groups, prices, sums, short), own


def _summed(numbers: Sequence[str]) -> str:
    return ", ".join(f"coalesce(sum({number}), 0)" for number in numbers)


def _size(side: int, number: int) -> str:
    return f"abs(CAST(side{side}.p{number} AS HUGEINT))"


def _short(largest: Sequence[Mapping[int, int]]) -> str:
    """The quantities of which 64 bits hold what a row comes to on every side; `largest`: of the prices of each."""
    room = min((_SHORT - 1 - each[0]) // max(sum(each.values()) - each[0], 1) for each in largest)
    numbers = {number for each in largest for number, size in each.items() if number and size}
    return " AND ".join(f"q{number - 1} <= {room}" for number in sorted(numbers)) or ALWAYS


def _terms(side: int, numbers: Sequence[int], quantity: str) -> str:
    """What a row comes to at these prices of a side, of which the first is that of a request, and the others those of
    each `quantity`.
    """
    terms = (f"{quantity.format(number - 1)} * p{side}_{number}" if number else f"p{side}_0" for number in numbers)
    return " + ".join(terms) or "0"
