"""Amounts added up by key where the rows lie: of keys that say nothing of the price, like customers.

Facts by such keys may be as many as the rows. Rows that are joined with the prices of their cell and added up at once
are as few as the values of the keys.
"""

from ratecard.simulation.errors import SimulationError
from ratecard.simulation.results.priced_facts import QUANTITY_NAMES, UNEVEN, PricedFacts, uneven_columns
from ratecard.simulation.usage.plan import parts_of
from ratecard.simulation.usage.roll_up import RowsAgain, Taken

_SHORT = 2**63
_NOTHING = "CAST(0 AS HUGEINT)"


def add_by_key(priced: PricedFacts, again: RowsAgain) -> str:
    """The table of what the facts of each combination of keys come to: the columns of `PricedFacts`, added up.

    The rows of `again` are joined with the prices of their cells, which are proved to give sums that fit. Raises
    `SimulationError` where they are not the rows that were grouped.
    """
    roll_up = priced.roll_up
    candidates = range(1, len(priced.sides))
    uneven = [side for side in candidates if priced.coverage.uneven[side]]
    columns = [f"quantity{at}" for at in range(len(QUANTITY_NAMES))]
    columns += [f"amount{side}" for side in range(len(priced.sides))]
    columns += [f"{name}{side}" for side in uneven for name in UNEVEN]
    keys = [f"key{number}" for number in range(len(roll_up.plan.keys))]
    queries = []
    for taken in roll_up.taken:
        if taken.grouping.facts:
            table, found = _amounts(priced, taken, again)
            texts = [f"{text} AS {key}" for key, text in zip(keys, taken.grouping.keys, strict=True)]
        else:  # two of its cells have one number: its groups have the keys
            joins = "".join(priced.uneven(side, "LEFT JOIN") for side in uneven)
            sides = range(len(priced.sides))
            table = priced.query(taken.cells, "LEFT JOIN", *sides, uneven=uneven, further=joins)
            texts, found = keys, columns
        if table:
            listed = (
                f"coalesce({name}, 0) AS {name}" if name in found else f"{_NOTHING} AS {name}" for name in columns
            )
            queries.append(f"SELECT {', '.join((*texts, 'requests', *listed))} FROM {table}")
    if not queries:
        listed = (f"{_NOTHING} AS {name}" for name in ("requests", *columns))
        texts = [f"CAST(NULL AS VARCHAR) AS {key}" for key in keys]
        queries.append(f"SELECT {', '.join((*texts, *listed))} WHERE FALSE")
    name = roll_up.workspace.new_table("by_key")
    roll_up.workspace.connection.execute(f"CREATE TABLE {name} AS {' UNION ALL '.join(queries)}")
    return name


def _amounts(priced: PricedFacts, taken: Taken, again: RowsAgain) -> tuple[str, list[str]]:
    """The table of the sums of a grouping by its keys, and what they are; no table if no cell of it has a price."""
    roll_up, summed = priced.roll_up, taken.grouping.summed
    workspace, sides = roll_up.workspace, range(len(priced.sides))
    joins = "".join(priced.uneven(side, "LEFT JOIN") for side in sides[1:])
    source = priced.source(taken.cells, "LEFT JOIN", *sides, further=joins)
    # What all rows of a cell come to; one of them comes to no more where no quantity is below zero.
    most = [f"coalesce(max(greatest({', '.join(_sizes(side, summed))})), 0)" for side in sides]
    count, *found = workspace.connection.execute(f"SELECT count(*), {', '.join(most)} {source}").fetchall()[0]
    if not count:
        return "", []
    prices, columns, sums = workspace.new_table("cell_prices"), ["cell"], dict[str, str]()
    of_types = parts_of(roll_up.plan.layouts)[taken.grouping.name]
    sums |= priced.quantities(of_types)
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
    table = again.amounts(taken.grouping, taken.groups, prices, sums)
    _check(priced, source, table, list(priced.quantities(of_types).items()))
    workspace.connection.execute(f"DROP TABLE {prices}")
    return table, list(sums)


def _sizes(side: int, summed: tuple[int, ...]) -> list[str]:
    """What no price of a cell, and no product or sum of those of its rows, is above."""
    sizes = [f"abs(side{side}.p{number})" for number in (0, *(each + 1 for each in summed))]
    counts = ("requests", *(f"q{number}" for number in summed))
    return [" + ".join(f"{count} * {size}" for count, size in zip(counts, sizes, strict=True)), *sizes]


def _terms(side: int, summed: tuple[int, ...]) -> str:
    """What a row comes to at the prices of a side."""
    return " + ".join((f"p{side}_0", *(f"q{number} * p{side}_{number + 1}" for number in summed)))


def _check(priced: PricedFacts, source: str, table: str, quantities: list[tuple[str, str]]) -> None:
    """Raise `SimulationError` where the rows that were added up are not those of the cells."""
    run = priced.roll_up.workspace.connection.execute
    of_cells = ", ".join(f"coalesce(sum({each}), 0)" for each in ("requests", *(each for _, each in quantities)))
    of_rows = ", ".join(f"coalesce(sum({each}), 0)" for each in ("requests", *(name for name, _ in quantities)))
    if run(f"SELECT {of_cells} {source}").fetchall() != run(f"SELECT {of_rows} FROM {table}").fetchall():
        raise SimulationError("the usage changed while it was read: other rows came the second time")
