"""The groups of a simulation as one query, its integers written out as decimals without a float on the way."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ratecard.simulation.comparison import QUANTITY_NAMES, Comparison
from ratecard.simulation.side_prices import SidePrices

if TYPE_CHECKING:
    from ratecard.simulation.result import Simulation

_PERCENT_PLACES = 2
# A difference up to here can be multiplied for a percentage within 128 bits.
_MOST_EXACT = 10**33
# What is divided off both amounts beyond.
_COARSE = 10**6


class Field(NamedTuple):
    """A column of the groups: its name, its integer expression, and how many decimals that stands for (None: text)."""

    name: str
    expression: str
    places: int | None


def groups_query(simulation: "Simulation") -> tuple[str, tuple[Field, ...]]:
    """The source of the groups (a subquery, in order of their keys), and the columns to choose from it."""
    comparison = simulation.comparison
    keys, prices = comparison.roll_up.plan.by, simulation.cost_prices if simulation.costs else ()
    names = [f"key{number}" for number in range(len(keys))]
    quantities = [f"quantity{number}" for number in range(len(QUANTITY_NAMES))]
    amounts = [f"amount{side}" for side in range(comparison.amounts)]
    apart = [f"{word}{side}" for side in range(1, comparison.amounts) for word in ("lost", "new")]
    further = [each for pair in prices for each in pair]
    costs = [f"{word}{side}" for side in range(len(prices)) for word in ("cost", "margin")]
    columns = ", ".join((*names, "requests", *quantities, *amounts, *apart, *costs, *(["unknown"] if costs else [])))
    source = f"({comparison.groups(*further)}) AS groups({columns})"
    ordered = f"{source} ORDER BY {', '.join(names)}" if names else source
    numbers = [*_numbers(comparison), *_costs(prices)]
    return ordered, (*_keys(keys, {number.name for number in numbers}), *numbers)


def _keys(keys: Sequence[str], taken: Collection[str]) -> Iterator[Field]:
    for number, key in enumerate(keys):
        yield Field(f"by_{key}" if key in taken else key, f"key{number}", None)


def _numbers(comparison: Comparison) -> Iterator[Field]:
    yield Field("requests", "requests", 0)
    for number, name in enumerate(QUANTITY_NAMES):
        yield Field(name, f"quantity{number}", comparison.places[number])
    for name, expression in amount_names(comparison.amounts):
        yield Field(name, expression, _PERCENT_PLACES if name.startswith("percent") else comparison.scale)


def _costs(prices: Sequence[tuple[SidePrices, SidePrices]]) -> Iterator[Field]:
    """Cost and margin of each side, and the requests without a known cost, which are in neither."""
    for side, pair in enumerate(prices):
        name = f"candidate{_number(side)}_" if side else "current_"
        for word, each in zip(("cost", "margin"), pair, strict=True):
            yield Field(f"{name}{word}", f"{word}{side}", each.scale)
    if prices:
        yield Field("requests_without_cost", "unknown", 0)


def amount_names(amounts: int) -> Iterator[tuple[str, str]]:
    """(name, expression) of the amounts: the further candidates are numbered from the second on."""
    yield "current", "amount0"
    for side in range(1, amounts):
        number = _number(side)
        yield f"candidate{number}", f"amount{side}"
        yield f"difference{number}", f"(amount{side} - amount0)"
        yield f"percent{number}", _percent(f"(amount{side} - amount0)", "amount0")
        yield f"lost{number}", f"lost{side}"
        yield f"new{number}", f"new{side}"


def _number(side: int) -> str:
    return f"_{side}" if side > 1 else ""


def decimal_text(expression: str, places: int) -> str:
    """An integer of 10^-places as text: all of its digits, none too many."""
    whole = f"CAST({expression} AS VARCHAR)"
    if not places:
        return whole
    digits = f"CAST(abs({expression}) AS VARCHAR)"
    padded = f"lpad({digits}, CAST(greatest(length({digits}), {places + 1}) AS INTEGER), '0')"
    sign = f"CASE WHEN {expression} < 0 THEN '-' ELSE '' END"
    return f"{sign} || rtrim(rtrim({padded}[:-{places + 1}] || '.' || {padded}[-{places}:], '0'), '.')"


def _percent(difference: str, current: str) -> str:
    """The change in hundredths of a percent, rounded half-up; null where the current amount is zero."""

    def rounded(change: str, base: str) -> str:
        return f"({change} * {2 * 100 * 10**_PERCENT_PLACES} + {base}) // (2 * {base})"

    sign = f"CASE WHEN ({difference} < 0) = ({current} < 0) THEN 1 ELSE -1 END"
    exact = rounded(f"abs({difference})", f"nullif(abs({current}), 0)")
    coarse = rounded(f"(abs({difference}) // {_COARSE})", f"nullif(abs({current}) // {_COARSE}, 0)")
    fits = f"greatest(abs({difference}), abs({current})) < {_MOST_EXACT}::HUGEINT"
    return f"({sign}) * (CASE WHEN {fits} THEN {exact} ELSE {coarse} END)"
