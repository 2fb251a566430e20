"""The tables of a report: groups of the usage, customers, why revenue changes, margin, and what was read.

The columns of a table of groups add up to the totals that are shown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from typing import Any

from ratecard.base.money import EXACT, from_fraction, minus, round_half_up, total
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.answers.attribution import BILLED, LOST_PART, MOVED, NEW_PART, RATE, Part, Untouched
from ratecard.simulation.answers.bridge import EFFECTS, Bridge
from ratecard.simulation.answers.customers import Customers, Discounted
from ratecard.simulation.answers.margin import Cost, Margin
from ratecard.simulation.answers.rows import OF_ALIKE, OwnDays, Row, remaining
from ratecard.simulation.answers.volume import Expected
from ratecard.simulation.prices.outcome import ROUNDING_PART
from ratecard.simulation.prices.sides import OWN_DATE
from ratecard.simulation.report.figures import (
    FRACTION_PLACES,
    Column,
    Kind,
    LazyRows,
    Table,
    Value,
    apportion,
    apportion_rows,
    share_of,
)
from ratecard.simulation.report.report import CURRENT, Report, expectation, share_of_change, share_of_prices

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
    return _table_of(report, keys, None, (), report.candidates, several=several)


def narrow(report: Report, key: str) -> Iterator[tuple[Sequence[int], Table]]:
    """Yield tables by a key, each after the numbers of its candidates: as many as fit on a page."""
    rows = rows_of(report, key, min(1, len(report.candidates)))
    amounts = shown(report, rows)
    if len(report.candidates) <= 1:
        yield report.candidates, _table_of(report, (key,), rows, amounts, report.candidates)
        return
    most = _MOST_CHANGES // (4 if report.lost_and_new else 2)
    for first in range(1, len(report.names), most):
        chosen = report.candidates[first - 1 : first - 1 + most]
        table = _table_of(report, (key,), rows, amounts, chosen, several=True)
        # A key may be called like an amount, so that columns are chosen by their place.
        kept = [at for at, of in enumerate(table.columns) if of.kind is not Kind.MONEY or of.name == CURRENT]
        yield chosen, table.columns_at(kept)


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
    return _table_of(report, (key,), kept, kept_amounts, [candidate])


def largest(report: Report, key: str, most: int) -> Table:
    """Return the groups of a key with most revenue at the current prices, with their shares, and all others."""
    rows = rows_of(report, key, 0)
    amounts = [row_amounts[0] for row_amounts in shown(report, rows)]
    order = sorted(range(len(rows)), key=lambda at: (rows[at].key == (ALL_OTHERS,), minus(amounts[at])))
    revenue = report.rounded(0)

    def line(name: str, chosen: Sequence[int]) -> tuple[Value, ...]:
        amount = _sum(amounts[at] for at in chosen)
        return name, sum(rows[at].requests for at in chosen), amount, share_of(amount, revenue)

    lines = [line(_name(rows[at]), [at]) for at in order[:most]]
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


def _table_of(
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


def winners_table(report: Report, customers: Customers) -> Table:
    """List the customers who pay less, the greatest change first."""
    return _customers_table(report, customers, "Winners: they pay less", customers.winners)


def losers_table(report: Report, customers: Customers) -> Table:
    """List the customers who pay more, the greatest change first."""
    return _customers_table(report, customers, "Losers: they pay more", customers.losers)


def beyond_table(report: Report, candidate: int, rows: Sequence[Row]) -> Table:
    """List customers whose payments rise by more than a limit, in the order of `rows`."""

    def values(row: Row) -> tuple[Value, ...]:
        pair = list(map(report.round, row.both(candidate)))
        return (*values_of(pair, [share_of_prices(row, candidate)]), _name(row))

    return Table("Beyond the limit", (*columns_of(report, [candidate]), Column("Customer")), tuple(map(values, rows)))


def customers_table(report: Report, customers: Customers) -> Table:
    """List losers, then winners, with a word that says which they are and the exact amounts, for a workbook."""
    losers = _customers_table(report, customers, "", customers.losers)
    winners = _customers_table(report, customers, "", customers.winners)
    rows = (*(("pays more", *row) for row in losers.rows), *(("pays less", *row) for row in winners.rows))
    return Table("Winners and losers", (Column("Who"), *losers.columns), rows)


def _customers_table(report: Report, customers: Customers, title: str, chosen: tuple[Row, ...]) -> Table:
    candidate, places = customers.candidate, report.figures.places
    pairs: Sequence[Sequence[Decimal]] = [row.both(candidate) for row in chosen]
    if not report.exact:
        before, after = map(report.round, report.simulation.total.both(candidate))
        amounts = customers.apportioned(chosen, "before", places, before)
        changes = customers.apportioned(chosen, "change", places, EXACT.subtract(after, before))
        pairs = [(amount, EXACT.add(amount, change)) for amount, change in zip(amounts, changes, strict=True)]

    def values(row: Row, pair: Sequence[Decimal]) -> tuple[Value, ...]:
        shares = [share_of_prices(row, candidate)]
        return (_name(row), row.both_requests(candidate), *values_of(pair, shares))

    columns = (Column("Customer"), Column("Requests", Kind.COUNT), *columns_of(report, [candidate]))
    return Table(title, columns, tuple(map(values, chosen, pairs)))


def lost_customers_table(report: Report, customers: Customers, most: int) -> Table:
    """List the first `most` customers with requests that a candidate does not offer, and their revenue now."""
    candidate, places = customers.candidate, report.figures.places
    chosen = customers.first_lost(most)
    lost = report.round(report.simulation.total.beside(candidate).lost)
    amounts = customers.apportioned(chosen, "lost", places, lost)
    rows = (
        (_name(row), row.beside(candidate).lost_requests, amount, row.requests)
        for row, amount in zip(chosen, amounts, strict=True)
    )
    columns = (Column("Customer"), Column("Requests lost", Kind.COUNT), Column("Lost", Kind.MONEY))
    table = Table("They lose requests", (*columns, Column("Of requests", Kind.COUNT)), tuple(rows))
    return table._replace(further=customers.losing - len(chosen))


def uncommon_table(report: Report, candidate: int) -> Table:
    """List the requests that only one side offers, and why the other side does not; the greatest amount first."""
    _, lost_total, new_total = report.parts(candidate)
    lost, new = report.simulation.lost(candidate), report.simulation.new(candidate)
    one_sided = [*(("lost", uncommon) for uncommon in lost), *(("new", uncommon) for uncommon in new)]
    amounts = [
        *report.shown([EXACT.minus(uncommon.amount) for uncommon in lost], lost_total),
        *report.shown([uncommon.amount for uncommon in new], new_total),
    ]
    rows = tuple(
        (word, uncommon.requests, uncommon.type or NO_VALUE, uncommon.model or NO_VALUE, uncommon.reason, amount)
        for (word, uncommon), amount in zip(one_sided, amounts, strict=True)
    )
    columns = (Column("What"), Column("Requests", Kind.COUNT), Column("Type"), Column("Model"), Column("Reason"))
    tones = [Kind(word) for word, _ in one_sided]
    requests, change = sum(uncommon.requests for _, uncommon in one_sided), EXACT.add(lost_total, new_total)
    last = ("Total", requests, "", "", "", change) if one_sided else None
    return Table("Lost and new", (*columns, Column("Adds", Kind.CHANGE)), rows, last, tones=tuple(tones))


def _name(row: Row) -> str:
    return NO_VALUE if row.key[0] is None else row.key[0]


def unpriced_table(report: Report) -> Table:
    """List the rows without a price, by reason."""
    rows = (
        (unpriced.rows, unpriced.type or NO_VALUE, unpriced.reason, unpriced.side, _example(unpriced.examples[0]))
        for unpriced in report.without_price
    )
    columns = (Column("Rows", Kind.COUNT), Column("Type"), Column("Reason"), Column("Prices"), Column("For example"))
    return Table("Rows without a price", columns, tuple(rows))


def disputed_table(report: Report) -> Table:
    """List the rows of a billing export that do not agree with the prices under which they were billed."""
    rows = ((disputed.rows, disputed.reason, _example(disputed.examples[0])) for disputed in report.simulation.disputed)
    return Table("Disputed rows", (Column("Rows", Kind.COUNT), Column("Reason"), Column("For example")), tuple(rows))


def _example(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items() if name != "type")


_REQUEST_PLACES = 1
_RATES = (Column("Old", Kind.RATE), Column("New", Kind.RATE), Column("Rate changes", Kind.PERCENT))
_TONES = {LOST_PART: Kind.LOST, NEW_PART: Kind.NEW}
_KINDS = {"terms": "other quantity", "added": "new rate", "removed": "rate gone", ROUNDING_PART: "rounding"}
_KINDS |= {LOST_PART: "lost", NEW_PART: "new", MOVED: "other model", BILLED: "not known"}


def attribution_table(report: Report, candidate: int) -> Table:
    """List every part of a candidate's difference, the greatest first; the parts add up to it."""
    attribution = report.attribution(candidate)
    difference = attribution.difference if report.exact else report.difference(candidate)
    amounts = report.shown([part.amount for part in attribution.parts], difference)
    rows: list[tuple[Value, ...]] = []
    for part, amount in zip(attribution.parts, amounts, strict=True):
        lines = " → ".join(filter(None, (part.old_source, part.new_source)))
        cells = (part.unit, amount, part.amount, lines)
        rows.append((part.model, part.label, part.old, part.new, _share(part), *cells))
    columns = (
        *(Column("Model"), Column("Rate")),
        *_RATES,
        *(Column("Per"), Column("Adds", Kind.CHANGE), Column("Adds, exact", Kind.EXACT), Column("Lines")),
    )
    last: tuple[Value, ...] = ("Total", "", None, None, "", "", difference, attribution.difference, "")
    tones = tuple(_TONES.get(part.kind, Kind.CHANGE) for part in attribution.parts)
    return Table("Why", columns, tuple(rows), last, tones=tones)


def greatest_parts(report: Report, candidate: int, most: int) -> list[tuple[str, Decimal, Kind]]:
    """Return the greatest parts, each as name, amount and kind (`CHANGE`, `LOST` or `NEW`), and all others as one."""
    parts = report.attribution(candidate).parts
    amounts = report.shown([part.amount for part in parts], report.difference(candidate))
    named = [
        (name_of(part), amount, _TONES.get(part.kind, Kind.CHANGE)) for part, amount in zip(parts, amounts, strict=True)
    ]
    if len(named) <= most + 1:
        return named
    rest = [amount for _, amount, _ in named[most:]]
    return [*named[:most], (f"{len(rest)} others", total(rest), Kind.CHANGE)]


def untouched_table(report: Report, candidate: int) -> Table:
    """List the changed rates that charged no usage, so that no figure includes them."""
    rows = (_unused(rate) for rate in report.attribution(candidate).untouched)
    columns = (Column("Model"), Column("Rate"), *_RATES, Column("Lines"))
    return Table("Changed rates without usage", columns, tuple(rows))


def name_of(part: Part) -> str:
    """Name a part, like `kling-o3-pro, video: audio true`, with its kind if that is not a changed rate."""
    kind = _KINDS.get(part.kind)
    if part.kind in _TONES:
        return f"{part.model} ({kind})"
    words = f"{part.model}, {part.label}"
    return words if part.kind in (RATE, ROUNDING_PART) or kind is None else f"{words} ({kind})"


def _share(part: Part) -> Fraction | str:
    """Return the change of a rate as a share; for a part that is not a changed rate, a word for its kind."""
    return _KINDS.get(part.kind, "") if part.kind != RATE or not part.old else _change(part.old, part.new)


def _change(old: Decimal | Fraction, new: Decimal | Fraction | None) -> Fraction | str:
    return Fraction(new) / Fraction(old) - 1 if old and new is not None else "from zero"


def _unused(rate: Untouched) -> tuple[Value, ...]:
    old, new = rate.change.old, rate.change.new
    label = f"{rate.change.charge}: {rate.change.attributes}" if rate.change.attributes else rate.change.charge
    lines = " → ".join(side.source for side in (old, new) if side)
    share = _change(old.each, new.each) if old and new else rate.change.kind
    return (rate.model, label, old and old.amount, new and new.amount, share, lines)


# The name of a request that has nothing but its quantities.
PLAIN = "(plain)"


def margin_table(report: Report, margin: Margin, sides: Sequence[int]) -> Table:
    """List cost and margin by model under some sides, for rows of known cost; the greatest revenue first."""
    models = sorted(margin.models, key=lambda model: (minus(model.revenues[0]), model.model))
    columns = [Column("Model"), Column("Requests", Kind.COUNT), Column("Without cost", Kind.COUNT)]
    for name in (report.names[side] for side in sides):
        revenue, cost = (f"{name}: revenue", f"{name}: cost") if report.exact else ("", "")
        columns += [Column(revenue, Kind.MONEY)] if report.exact else []
        columns += [Column(f"{name}: cost", Kind.MONEY), Column(f"{name}: margin", Kind.MONEY, cost, revenue)]
        columns.append(Column(f"{name}: margin %", Kind.SHARE, revenue))

    costs = [report.shown([model.costs[side] for model in models]) for side in sides]
    margins = [report.shown([model.margin(side) for model in models]) for side in sides]

    def values(each: Cost, paid: Sequence[Decimal], left: Sequence[Decimal]) -> tuple[Value, ...]:
        listed: list[Value] = [each.model, each.requests, each.unknown]
        for side, *amounts in zip(sides, paid, left, strict=True):
            revenue = each.revenues[side]
            listed += [*([revenue] if report.exact else []), *amounts, share_of(each.margin(side), revenue)]
        return tuple(listed)

    rows = tuple(map(values, models, zip(*costs, strict=True), zip(*margins, strict=True)))
    total_row = replace(margin.total, model="Total")
    last = ([total_row.costs[side] for side in sides], [total_row.margin(side) for side in sides])
    paid, left = ([report.round(amount) for amount in amounts] for amounts in last)
    return Table("Margin by model", tuple(columns), rows, values(total_row, paid, left))


def expected_table(report: Report, expected: Expected) -> Table:
    """List each model at the volume expected under each side: requests, revenue, its change, cost and margin.

    The greatest change comes first; of equal ones, the greatest revenue.
    """
    figures = report.figures
    models = sorted(
        expected.models, key=lambda model: (-abs(model.revenues[-1] - model.revenues[0]), -model.revenues[0])
    )
    columns, last = [Column("Model")], list[Value](["Total"])
    values: list[Sequence[Value]] = [[model.model for model in models]]

    def shown(figure: str, places: int) -> list[tuple[Value, ...]]:
        """Return a figure under each side, of each model and last of all; what does not change is shown the same."""
        exact, totals = [getattr(model, figure) for model in models], getattr(expected.total, figure)
        if report.exact:
            return list(zip(*exact, totals, strict=True))
        whole = tuple(round_half_up(from_fraction(total, places), places) for total in totals)
        rows = [tuple(from_fraction(amount, 2 * FRACTION_PLACES) for amount in row) for row in exact]
        return list(zip(*apportion_rows(rows, whole, places), whole, strict=True))

    def add(name: str, kind: Kind, amounts: Sequence[Value]) -> None:
        columns.append(Column(name, kind))
        values.append(amounts[:-1])
        last.append(amounts[-1])

    requests, revenues = shown("requests", _REQUEST_PLACES), shown("revenues", figures.places)
    costs, margins = (shown(figure, figures.places) for figure in ("costs", "margins"))
    for side, name in enumerate(report.names):
        add(f"{name}: requests", Kind.QUANTITY, requests[side])
        add(f"{name}: revenue", Kind.MONEY, revenues[side])
        if side:
            minus: Any = Fraction.__sub__ if report.exact else EXACT.subtract
            add(f"{name}: change", Kind.CHANGE, [*map(minus, revenues[side], revenues[0])])
        if report.margin is not None:
            add(f"{name}: cost", Kind.MONEY, costs[side])
            add(f"{name}: margin", Kind.MONEY, margins[side])
    return Table("Expected by model", tuple(columns), tuple(zip(*values, strict=True)), tuple(last))


def below_cost_table(report: Report, margin: Margin, side: int) -> Table:
    """List the requests that a side sells below cost, the greatest loss first."""
    cells = margin.below[side]
    losses = [EXACT.subtract(cell.revenue, cell.cost) for cell in cells]
    rows = tuple(
        (cell.model, cell.asked or PLAIN, cell.requests, cell.revenue, cell.cost, loss)
        for cell, loss in zip(cells, report.shown(losses), strict=True)
    )
    columns = [Column("Model"), Column("Request"), Column("Requests", Kind.COUNT)]
    kind = Kind.MONEY if report.exact else Kind.RATE
    columns += [Column("Revenue", kind), Column("Cost", kind), Column("Loss", Kind.CHANGE, "Cost", "Revenue")]
    requests = sum(cell.requests for cell in cells)
    revenue, cost = total([cell.revenue for cell in cells]), total([cell.cost for cell in cells])
    last = ("Total", "", requests, revenue, cost, report.round(total(losses)))
    return Table(f"Below cost: {report.names[side]}", tuple(columns), rows, last if cells else None)


_ROUNDING = (
    "Amounts are exact sums, shown with {places} decimals by the largest remainder, so that every column adds up to its"
    " total. Charts plot the rounded amounts."
)


def about_table(report: Report) -> Table:
    """List the command, the prices, the usage and the versions of programs."""
    simulation, count = report.simulation, report.figures.count
    rows = [("Command", report.question.command)] if report.question.command else []
    for name, side in zip(report.names, simulation.sides, strict=True):
        contracts = f", with contracts {side.card.tables.digest_with_contracts}" if simulation.by_account else ""
        rows.append((f"Prices: {name}", f"{side.label}, tables {side.card.digest}{contracts}"))
    if (costs := simulation.costs) is not None:
        rows.append(("Costs", costs.about))
    if (pace := report.pace) is not None:
        days = report.figures.counted(pace.days, "day")
        rows.append(("Pace of a year", f"{pace.first} to {pace.last}: {days}, x 365 / {pace.days}"))
    rows += [
        ("Rows", f"{count(simulation.rows)} = {count(simulation.priced)} priced + {count(report.unpriced)} not priced"),
        *_read(report),
        ("Grouped by", ", ".join(simulation.by)),
        ("Versions", f"ratecard {version('ratecard')}, DuckDB {version('duckdb')}"),
        ("Rounding", _ROUNDING.format(places=report.figures.places)),
    ]
    return Table("About", (Column("What"), Column("Is")), tuple(rows))


def _read(report: Report) -> Iterator[tuple[str, str]]:
    """Yield which files, columns and rows were read."""
    reading, count = report.simulation.reading, report.figures.count
    source = reading.source
    if source.files:
        files = report.figures.counted(source.files, "file")
        yield "Usage", f"{files}, {count(source.bytes)} bytes, fingerprint {source.fingerprint}"
    if account := report.simulation.by_account:
        without = report.figures.counted(reading.without_account, "row")
        yield "By contract", f"of the account in the column {account}; {without} without one at list prices"
    if reading.chosen:
        words = f"{count(report.simulation.rows)} of {count(reading.found)} rows: {reading.chosen}"
        yield "Rows chosen", words
    named = (name if name == column else f"{name} (in the usage: {column})" for name, column in reading.columns.items())
    yield "Columns read", ", ".join(named)
    if reading.missing:
        missing = (f"{type_}: {', '.join(names)}" for type_, names in reading.missing.items())
        yield "Known columns that are missing", "; ".join(missing)
    if reading.unused:
        unused = (
            f"{name} (did you mean {reading.meant[name]}?)" if name in reading.meant else name
            for name in reading.unused
        )
        yield "Columns not used", ", ".join(unused)


def discounts_table(report: Report, sides: Sequence[int]) -> Table:
    """List accounts below cost, then others with a discount, the greatest first; then all others as one row.

    Each side has the amount at list prices, the discount and the net amount.
    """
    customers, names = report.discounts, [report.names[side] for side in sides]
    columns = [Column(heading(report.simulation.by_account)), Column("Requests", Kind.COUNT)]
    for name in names:
        columns.append(Column(f"{name}: list", Kind.MONEY))
        columns.append(Column(f"{name}: discount", Kind.MONEY, f"{name}: net", f"{name}: list"))
        columns.append(Column(f"{name}: net", Kind.MONEY))
    shown = {side: _shown(report, customers, side) for side in sides}
    ranked = []
    for at, party in enumerate(customers):
        below, discounts = any(map(party.below_cost, sides)), list(map(party.discount, sides))
        if below or any(discounts):
            ranked.append((not below, minus(max(discounts)), party.customer or "", at))
    named = [at for *_, at in sorted(ranked)[:MOST_OF_KEY]]

    def line(name: str, chosen: Sequence[int]) -> tuple[Value, ...]:
        cells: list[Value] = [name, sum(customers[at].requests for at in chosen)]
        for side in sides:
            listed, net = (total([amounts[at] for at in chosen]) for amounts in shown[side])
            cells += [listed, EXACT.subtract(listed, net), net]
        below = (report.names[side] for side in sides if len(chosen) == 1 and customers[chosen[0]].below_cost(side))
        return (*cells, ", ".join(below)) if report.margin else tuple(cells)

    lines = [line(NO_VALUE if (customer := customers[at].customer) is None else customer, [at]) for at in named]
    if others := sorted({*range(len(customers))} - {*named}):
        lines.append(line(ALL_OTHERS, others))
    columns += [Column("Below cost under")] if report.margin else []
    return Table("List, discount and net", tuple(columns), tuple(lines), line(TOTAL, range(len(customers))))


def _shown(report: Report, customers: Sequence[Discounted], side: int) -> tuple[Sequence[Decimal], Sequence[Decimal]]:
    """Return list and net of each customer; rounded so that they and the discounts add up."""
    lists, nets = [customer.lists[side] for customer in customers], [customer.nets[side] for customer in customers]
    if report.exact:
        return lists, nets
    net = report.rounded(side)
    given_up = EXACT.subtract(report.round(total(lists)), net)
    shown = report.shown(nets, net)
    discounts = report.shown([customer.discount(side) for customer in customers], given_up)
    return list(map(EXACT.add, shown, discounts)), shown


_SIZE_PLACES = 2
_MEANINGS = {
    "price": "other prices for the same requests",
    "size": "other sizes or kinds of a request, within a model",
    "volume": "more or fewer requests, at the mean revenue of one before",
    "mix": "a move to dearer or cheaper models",
}


def effects_table(report: Report, bridge: Bridge) -> Table:
    """Return what each effect adds to the first period's revenue, the greatest first; they sum to the change."""
    effects, change = bridge.effects, _bridge_change(report, bridge)
    parts = list(effects.values())
    amounts: Sequence[Value] = parts if report.exact else _bridge_shown(report, parts, change)
    rows = [
        (name.capitalize(), amount, _MEANINGS.get(name, "models that the other period does not have"))
        for name, amount in zip(effects, amounts, strict=True)
    ]
    columns = (Column("Effect"), Column("Adds", Kind.CHANGE), Column("Is"))
    before, after = bridge.periods
    return Table(f"Why revenue differs from {before} to {after}", columns, tuple(rows), ("Total", change, ""))


def bridge_table(report: Report, bridge: Bridge) -> Table:
    """Return the effects of each model, the greatest change first, then the models of only one period."""
    before, after = bridge.periods
    alone = [(f"{name} (only in {before})", amount, Decimal(0)) for name, amount in bridge.gone.items()]
    alone += [(f"{name} (only in {after})", Decimal(0), amount) for name, amount in bridge.new.items()]
    wholes = [bridge.effects[name] for name in EFFECTS]
    changes_alone = [EXACT.subtract(then, now) for _, now, then in alone]
    fractions = [[getattr(step, name) for step in bridge.steps] for name in EFFECTS]
    sums: Sequence[Value] = wholes
    shown: Sequence[Sequence[Value]] = fractions
    if not report.exact:
        effects = [*wholes, Fraction(total(changes_alone))]
        *rounded, rest = _bridge_shown(report, effects, _bridge_change(report, bridge))
        sums, shown = rounded, list(map(partial(_bridge_shown, report), fractions, rounded))
        changes_alone = list(apportion(changes_alone, report.figures.places, rest))
    columns = [Column("Model"), *(Column(f"{period}: requests", Kind.COUNT) for period in bridge.periods)]
    columns += [Column(f"{period}: size", Kind.QUANTITY) for period in bridge.periods]
    columns += [Column(name.capitalize(), Kind.CHANGE) for name in EFFECTS]
    revenues = [f"{period}: revenue" for period in bridge.periods]
    columns += [Column(name, Kind.MONEY) for name in revenues] if report.exact else []
    columns.append(Column("Change", Kind.CHANGE, revenues[0] if report.exact else ""))
    rows: list[tuple[Value, ...]] = []
    for step, *parts in zip(bridge.steps, *shown, strict=True):
        if report.exact:
            change = EXACT.subtract(*reversed(step.revenues))
            rows.append((step.model, *step.requests, *step.sizes, *parts, *step.revenues, change))
        else:
            change = total([part for part in parts if isinstance(part, Decimal)])
            rows.append((step.model, *step.requests, *map(_size_shown, step.sizes), *parts, change))
    none = (None,) * (4 + len(EFFECTS))
    rows += [
        (name, *none, *((now, then) if report.exact else ()), amount)
        for (name, now, then), amount in zip(alone, changes_alone, strict=True)
    ]
    requests = [sum(step.requests[number] for step in bridge.steps) for number in (0, 1)]
    totals = bridge.revenues if report.exact else ()
    last = ("Total", *requests, None, None, *sums, *totals, _bridge_change(report, bridge))
    return Table(f"From {before} to {after}, by model", tuple(columns), tuple(rows), last)


def _bridge_change(report: Report, bridge: Bridge) -> Decimal:
    before, after = map(report.round, bridge.revenues)
    return EXACT.subtract(after, before)


def _bridge_shown(report: Report, parts: Sequence[Fraction], total: Decimal) -> list[Decimal]:
    return list(apportion([from_fraction(part, 2 * FRACTION_PLACES) for part in parts], report.figures.places, total))


def _size_shown(size: Fraction | None) -> Decimal | None:
    return None if size is None else round_half_up(from_fraction(size, _SIZE_PLACES), _SIZE_PLACES)
