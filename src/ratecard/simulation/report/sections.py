"""The tables of a report: customers, why revenue changes, margin, rows without a price, and the usage that was read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from typing import Any

from ratecard.base.money import EXACT, from_fraction, round_half_up, total
from ratecard.simulation.answers.attribution import BILLED, LOST_PART, MOVED, NEW_PART, RATE, Part, Untouched
from ratecard.simulation.answers.bridge import EFFECTS, Bridge
from ratecard.simulation.answers.customers import Customers, Discounted
from ratecard.simulation.answers.margin import Cost, Margin
from ratecard.simulation.answers.rows import Row
from ratecard.simulation.answers.volume import Expected
from ratecard.simulation.prices.outcome import ROUNDING_PART
from ratecard.simulation.report.breakdown import (
    ALL_OTHERS,
    MOST_OF_KEY,
    NO_VALUE,
    TOTAL,
    columns_of,
    heading,
    values_of,
)
from ratecard.simulation.report.figures import apportion, apportion_rows, share_of
from ratecard.simulation.report.report import Report, share_of_prices
from ratecard.simulation.report.table import Column, Kind, Table, Value


def winners_table(report: Report, customers: Customers) -> Table:
    """List the customers who pay less, the greatest change first."""
    return _table(report, customers, "Winners: they pay less", customers.winners)


def losers_table(report: Report, customers: Customers) -> Table:
    """List the customers who pay more, the greatest change first."""
    return _table(report, customers, "Losers: they pay more", customers.losers)


def beyond_table(report: Report, candidate: int, rows: Sequence[Row]) -> Table:
    """List customers whose payments rise by more than a limit, in the order of `rows`."""

    def values(row: Row) -> tuple[Value, ...]:
        pair = list(map(report.round, row.both(candidate)))
        return (*values_of(pair, [share_of_prices(row, candidate)]), _name(row))

    return Table("Beyond the limit", (*columns_of(report, [candidate]), Column("Customer")), tuple(map(values, rows)))


def customers_table(report: Report, customers: Customers) -> Table:
    """List losers, then winners, with a word that says which they are and the exact amounts, for a workbook."""
    losers = _table(report, customers, "", customers.losers)
    winners = _table(report, customers, "", customers.winners)
    rows = (*(("pays more", *row) for row in losers.rows), *(("pays less", *row) for row in winners.rows))
    return Table("Winners and losers", (Column("Who"), *losers.columns), rows)


def _table(report: Report, customers: Customers, title: str, chosen: tuple[Row, ...]) -> Table:
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


# Fractions are apportioned with more decimals than any amount that is shown.
_PLACES, _REQUEST_PLACES = 12, 1
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
    models = sorted(margin.models, key=lambda model: (-model.revenues[0], model.model))
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
        rows = [tuple(from_fraction(amount, 2 * _PLACES) for amount in row) for row in exact]
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
            ranked.append((not below, -max(discounts), party.customer or "", at))
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
    return list(apportion([from_fraction(part, 2 * _PLACES) for part in parts], report.figures.places, total))


def _size_shown(size: Fraction | None) -> Decimal | None:
    return None if size is None else round_half_up(from_fraction(size, _SIZE_PLACES), _SIZE_PLACES)
