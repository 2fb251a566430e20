"""Tables of groups: requests, the amount under each side, and its change; columns add up to the totals shown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ratecard.base.money import EXACT, from_fraction, round_half_up, total
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.answers.rows import OF_ALIKE, OwnDays, Row, remaining
from ratecard.simulation.prices.sides import OWN_DATE
from ratecard.simulation.report.figures import FRACTION_PLACES, apportion_rows, share_of
from ratecard.simulation.report.report import CURRENT, Report, expectation, share_of_change
from ratecard.simulation.report.table import Column, Kind, LazyRows, Table, Value

_HEADINGS = {"model": "Model", "day": "Day", "week": "Week of", "month": "Month", "customer": "Customer"}
_DAYS = ("day", "week")
# The name of a key that the usage leaves empty.
NO_VALUE = "(none)"
TOTAL, ALL_OTHERS = "Total", "All others"
# The number of columns of changes that fit on a page beside a name, requests and the current amount.
_MOST_CHANGES = 8
# The most rows of a key on a page, which a browser can still sort at once; the files have all rows.
MOST_OF_KEY = 1_000


def heading(key: str) -> str:
    """Return the heading of a key's column; a column of the usage has its own name."""
    return _HEADINGS.get(key, key)


def breakdown(report: Report, *keys: str) -> Table:
    """Return the table by some keys for a workbook: quantities, exact amounts, and these again as text with all digits.

    Its rows are made one at a time, when they are read.
    """
    several = len(report.candidates) > 1
    return _table(report, keys, None, (), report.candidates, several=several)


def narrow(report: Report, key: str) -> Iterator[tuple[Sequence[int], Table]]:
    """Yield tables by a key, each after the numbers of its candidates: as many as fit on a page."""
    rows = rows_of(report, key, min(1, len(report.candidates)))
    amounts = shown(report, rows)
    if len(report.candidates) <= 1:
        yield report.candidates, _table(report, (key,), rows, amounts, report.candidates)
        return
    most = _MOST_CHANGES // (4 if report.lost_and_new else 2)
    for first in range(1, len(report.names), most):
        chosen = report.candidates[first - 1 : first - 1 + most]
        table = _table(report, (key,), rows, amounts, chosen, several=True)
        names = {report.names[candidate] for candidate in chosen}
        yield chosen, table.columns_named(*(column.name for column in table.columns if column.name not in names))


def changing_most(report: Report, key: str, most: int, candidate: int) -> Table:
    """Return the groups of a key whose amount changes most under a candidate, and all others as one row."""
    rows = report.simulation.table(key)
    amounts = shown(report, rows)
    order = sorted(range(len(rows)), key=lambda index: rows[index].difference(candidate).copy_abs(), reverse=True)
    chosen = [index for index in order[:most] if rows[index].difference(candidate)]
    rest = order[len(chosen) :]
    kept, kept_amounts = [rows[index] for index in chosen], [amounts[index] for index in chosen]
    if rest:
        kept.append(replace(_rest(report.simulation.total, kept), key=(ALL_OTHERS,)))
        kept_amounts.append(tuple(map(_sum, zip(*(amounts[index] for index in rest), strict=True))))
    return _table(report, (key,), kept, kept_amounts, [candidate])


def largest(report: Report, key: str, most: int) -> Table:
    """Return the groups of a key with most revenue at the current prices, with their shares, and all others."""
    rows = rows_of(report, key, 0)
    amounts = [row_amounts[0] for row_amounts in shown(report, rows)]
    order = sorted(
        range(len(rows)), key=lambda at: (rows[at].key == (ALL_OTHERS,), -amounts[at], rows[at].key[0] or "")
    )
    revenue = report.rounded(0)

    def line(name: str, chosen: Sequence[int]) -> tuple[Value, ...]:
        amount = _sum(amounts[at] for at in chosen)
        return name, sum(rows[at].requests for at in chosen), amount, share_of(amount, revenue)

    lines = [line(NO_VALUE if rows[at].key[0] is None else str(rows[at].key[0]), [at]) for at in order[:most]]
    if order[most:]:
        lines.append(line(ALL_OTHERS, order[most:]))
    columns = (Column(heading(key)), Column("Requests", Kind.COUNT), Column(CURRENT, Kind.MONEY))
    title = f"Largest by {heading(key).lower()}" if order[most:] else f"By {heading(key).lower()}"
    return Table(title, (*columns, Column("Share", Kind.SHARE)), tuple(lines), line(TOTAL, order))


def rows_of(report: Report, key: str, candidate: int) -> Sequence[Row]:
    """Return the groups of a key; of more than `MOST_OF_KEY`, those that change most, and all others as one row.

    Without a candidate (0), those with most revenue. The engine selects them, because there may be millions.
    """
    simulation = report.simulation
    if simulation.size(key) <= MOST_OF_KEY:
        return simulation.table(key)
    order = f"abs(amount{candidate}) DESC, {OF_ALIKE}"
    rows = simulation.comparison.sums((key,)).rows("TRUE", order, MOST_OF_KEY, candidate)
    return [*rows, _rest(simulation.total, rows)]


def changes_of(table: Table, kind: Kind = Kind.CHANGE) -> list[Decimal]:
    """Return the changes in a table of one candidate, or its lost or new amounts; empty without such a column."""
    place = next((number for number, column in enumerate(table.columns) if column.kind is kind), None)
    if place is None:
        return []
    return [value for row in table.rows if isinstance(value := row[place], Decimal)]


def sides_table(report: Report) -> Table:
    """Return a table of all usage with a row for each side."""
    usage = report.simulation.total
    amounts = [report.rounded(side) for side in range(len(report.names))]
    before = amounts[0]
    rows: list[tuple[Value, ...]] = [(report.names[0], report.simulation.sides[0].label, before, None, None)]
    for candidate in report.candidates:
        change = EXACT.subtract(amounts[candidate], before)
        side, reason = report.simulation.sides[candidate], report.simulation.no_effect[candidate - 1]
        name = report.names[candidate] + (f" (no change: {reason})" if reason else "")
        rows.append((name, side.label, amounts[candidate], change, share_of_change(usage, candidate)))
    columns = [Column("Revenue", Kind.MONEY), Column("Change", Kind.CHANGE), Column("%", Kind.PERCENT)]
    if report.lost_and_new:
        columns += [Column("By prices", Kind.CHANGE), Column("Lost", Kind.LOST), Column("New", Kind.NEW)]
        parts = [(None,) * 3, *(report.parts(side) for side in report.candidates)]
        rows = [(*row, *cells) for row, cells in zip(rows, parts, strict=True)]
    rows += [(*row, *(None,) * (len(columns) - 3)) for row in _further_sides(report)]
    return Table("Revenue under each", (Column("Prices"), Column("Of"), *columns), tuple(rows))


def _further_sides(report: Report) -> Iterator[tuple[Value, ...]]:
    """Yield rows at the expected volume, and at the prices of each row's own day, if the report has them."""
    places = FRACTION_PLACES if report.exact else report.figures.places
    if (expected := report.expected) is not None:
        revenues = [round_half_up(from_fraction(revenue, places), places) for revenue in expected.total.revenues]
        for side, name in enumerate(report.names):
            change = EXACT.subtract(revenues[side], revenues[0]) if side else None
            share = report.share(side) if side else None
            yield f"{name}, expected", expectation(report, side), revenues[side], change, share
    if isinstance(days := report.own_days, OwnDays):
        yield (
            "Own days",
            OWN_DATE,
            *report.shown_own_days(days),
            share_of(days.difference, report.simulation.total.amounts[0]),
        )
    elif days is not None:
        yield "Own days", f"cannot be had: {days}", None, None, None


def shown(report: Report, rows: Sequence[Row]) -> Sequence[tuple[Decimal, ...]]:
    """Round the amounts of rows that make up all usage so that they add up to its rounded amount."""
    if report.exact:
        return [row.amounts for row in rows]
    return apportion_rows([row.amounts for row in rows], report.simulation.total.amounts, report.figures.places)


def columns_of(
    report: Report, candidates: Sequence[int], *, named: bool = False, several: bool = False
) -> Iterator[Column]:
    """Yield the columns of amounts: the current one; each candidate's amount, change and change in percent.

    With `several`, all headings have the names of the candidates; with `named`, only those of amounts have.
    """
    yield Column(CURRENT, Kind.MONEY)
    for candidate in candidates:
        name = report.names[candidate]
        yield Column(name if several or named else "Candidate", Kind.MONEY)
        yield Column(f"{name}: change" if several else "Change", Kind.CHANGE, CURRENT)
        yield Column(f"{name}: %" if several else "%", Kind.PERCENT, CURRENT)


def values_of(amounts: Sequence[Decimal], shares: Sequence[Fraction | None]) -> Iterator[Value]:
    """Yield the values of the columns of `columns_of`."""
    yield amounts[0]
    for amount, share in zip(amounts[1:], shares, strict=True):
        yield from (amount, EXACT.subtract(amount, amounts[0]), share)


def _table(
    report: Report,
    keys: Sequence[str],
    rows: Sequence[Row] | None,
    amounts: Sequence[Sequence[Decimal]],
    candidates: Sequence[int],
    *,
    several: bool = False,
) -> Table:
    """Return a table of some rows with their shown amounts; without rows, a table of all groups with every detail."""
    details = rows is None
    used = [number for number in range(len(QUANTITY_NAMES)) if report.simulation.total.quantities[number]]
    names = [name.replace("_", " ").capitalize() for name in QUANTITY_NAMES]
    columns = [Column(heading(key), Kind.DAY if key in _DAYS else Kind.TEXT) for key in keys]
    columns.append(Column("Requests", Kind.COUNT))
    columns += [Column(names[number], Kind.QUANTITY) for number in used] if details else []
    columns += columns_of(report, candidates, named=report.exact, several=several)
    differing = [side for side in candidates if report.simulation.total.beside(side).requests]
    for side in differing:
        for kind in (Kind.LOST, Kind.NEW):
            columns.append(Column(f"{report.names[side]}: {kind.value}" if several else kind.value.capitalize(), kind))
    columns += [Column(f"{name}, exact", Kind.EXACT) for name in report.names] if details else []
    margins = report.simulation.costs_by(*keys) if details and report.margin else {}
    if margins:
        names = [f"{name}: {word}" for name in report.names for word in ("cost", "margin")]
        columns += [Column(name, Kind.MONEY) for name in names]
    usage = replace(report.simulation.total, key=(TOTAL, *[""] * (len(keys) - 1)))

    def values(row: Row, shown: Sequence[Decimal], more: Sequence[Decimal]) -> tuple[Value, ...]:
        named = (NO_VALUE if key is None else key for key in row.key)
        quantities = [row.quantities[number] for number in used] if details else []
        chosen = [shown[side] for side in (0, *candidates)]
        shares = [share_of_change(row, candidate) for candidate in candidates]
        digits = row.amounts if details else ()
        paid = (amount for pair in margins.get(row.key, ()) for amount in pair)
        return (*named, row.requests, *quantities, *values_of(chosen, shares), *more, *digits, *paid)

    if margins:
        margins[usage.key] = report.simulation.costs_by()[()]
    totals = [report.rounded(side) for side in range(len(report.names))]
    lines: Sequence[tuple[Value, ...]]
    if rows is None:
        sums = report.simulation.comparison.sums(keys)
        lines = LazyRows(
            lambda: (values(row, row.amounts, _lost_and_new(row, differing)) for row in sums.each()), sums.size
        )
    else:
        parts = [_lost_and_new_shown(report, rows, side) for side in differing]
        lost_and_new = list(zip(*(column for part in parts for column in part), strict=True)) or [()] * len(rows)
        lines = tuple(values(*arguments) for arguments in zip(rows, amounts, lost_and_new, strict=True))
    last = values(usage, totals, [amount for side in differing for amount in report.parts(side)[1:]])
    return Table(f"By {', '.join(keys)}", tuple(columns), lines, last)


def _lost_and_new_shown(report: Report, rows: Sequence[Row], side: int) -> tuple[Sequence[Decimal], ...]:
    """Return the lost and the new amount of each row, rounded to add up to the shown totals."""
    lost, new = zip(*(_lost_and_new(row, [side]) for row in rows), strict=True) if rows else ((), ())
    _, lost_shown, new_shown = report.parts(side)
    return report.shown(lost, lost_shown), report.shown(new, new_shown)


def _lost_and_new(row: Row, sides: Iterable[int]) -> list[Decimal]:
    """Return the lost and the new amount of a row under each side."""
    beside = [row.beside(side) for side in sides]
    return [amount for one_sided in beside for amount in (EXACT.minus(one_sided.lost), one_sided.new)]


def _rest(usage: Row, rows: Iterable[Row]) -> Row:
    """Return the usage without these rows, as one row."""
    for row in rows:
        usage = Row(
            (ALL_OTHERS,),
            usage.requests - row.requests,
            tuple(map(remaining, usage.quantities, row.quantities)),
            tuple(map(remaining, usage.amounts, row.amounts)),
            tuple(rest.less(part) for rest, part in zip(usage.lost_and_new, row.lost_and_new, strict=True)),
        )
    return usage


def _sum(amounts: Iterable[Decimal]) -> Decimal:
    return total(list(amounts))
