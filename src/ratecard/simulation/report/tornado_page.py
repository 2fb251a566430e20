"""A tornado: how revenue changes if all prices of one family alone rise or fall by a few percent.

It is a sentence, a table, and a page with bars.
"""

import csv
import json
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass, fields, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path

from ratecard.base.csv_text import text_cell
from ratecard.base.errors import SimulationError
from ratecard.base.files import replacing
from ratecard.base.money import EXACT, from_fraction, text, total
from ratecard.candidates.rates import Refusal, moved, rates_of, scaled
from ratecard.card import RateCard
from ratecard.pages import page_text
from ratecard.requests.service_parameters import family_of
from ratecard.review.sides import Side
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.groups.shapes import Counted
from ratecard.simulation.prices.outcome import PricedShape
from ratecard.simulation.report.figures import Column, Figures, Kind, Table, Value
from ratecard.simulation.report.groups import json_plain
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import scope
from ratecard.tables.candidate import Scale
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.selection import Selection

_PLACES = 12


@dataclass(frozen=True, slots=True)
class Swing:
    """The change of revenue if one family's prices fall or rise by the share.

    `revenue` is what its models bring now. If its prices cannot be scaled, `reason` says why; both changes are None.
    """

    family: str
    revenue: Decimal
    fall: Decimal | None
    rise: Decimal | None
    reason: str = ""

    @property
    def size(self) -> Decimal:
        """Return the greater of both effects."""
        return max((effect.copy_abs() for effect in (self.fall, self.rise) if effect is not None), default=Decimal(0))


def step_of(share: Fraction) -> Decimal:
    """Return a share by which prices can rise and fall. Raises `SimulationError` for another one."""
    step = from_fraction(share, _PLACES)
    if not 0 < share < 1 or Fraction(step) != share:
        raise SimulationError("a tornado needs a percentage above 0% and below 100%, with at most 10 decimals")
    return step


def tornado(simulation: Answers, share: Fraction) -> tuple[Swing, ...]:
    """Rank every family of the usage by its effect, the greatest first; each effect is priced request by request.

    The usage is that of the simulation and stays as it is: no request is made or left out because of a price. A family
    also changes charges of other families by its rates (searches). Raises `SimulationError` for a share from 100 % on.
    """
    side = simulation.sides[0]
    step = step_of(share)
    if not side.has_rates:
        raise SimulationError("a tornado scales rates, and a bill has none. Name the prices: --current")
    families: dict[str, list[str]] = {}
    for name, family in side.card.tables.families.items():
        families.setdefault(family, []).append(name)
    shapes = _alike(simulation)
    revenues: dict[str, list[Decimal]] = {}
    for row in simulation.by_model:
        revenues.setdefault(family_of(side.card.tables, row.key[0]), []).append(row.amounts[0])
    swings = []
    for family, names in families.items():
        revenue = total(revenues.get(family, []))
        try:
            fall, rise = (_effect(simulation, shapes, names, EXACT.add(Decimal(1), change)) for change in (-step, step))
        except (Refusal, SimulationError) as error:
            words = error.findings[0][1] if isinstance(error, Refusal) else str(error)
            swings.append(Swing(family, revenue, None, None, words))
            continue
        if revenue or fall or rise:
            swings.append(Swing(family, revenue, fall, rise))
    return tuple(sorted(swings, key=lambda swing: (-swing.size, -swing.revenue, swing.family)))


_Priced = Sequence[tuple[Counted, PricedShape]]


def _alike(simulation: Answers) -> Collection[_Priced]:
    """Return the shapes that have a price, grouped by what decides it."""
    by_basis: dict[tuple[bool, str | None, date | None], list[tuple[Counted, PricedShape]]] = {}
    for _, counted, prices in simulation.comparison.priced:
        if prices[0] is not None:
            shape = counted.shape
            by_basis.setdefault((shape.type == "rpc", shape.model, shape.moment), []).append((counted, prices[0]))
    return by_basis.values()


def _effect(simulation: Answers, shapes: Collection[_Priced], names: Sequence[str], factor: Decimal) -> Decimal:
    """Return the change of all charges if the rates of some models are multiplied by a factor."""
    current = simulation.sides[0]
    # The worked examples are of the unscaled prices, so they cannot prove this card.
    card = RateCard(_scaled(current.card.tables, names, factor))._unproved
    side = Side(f"times {factor}", card, current.at)
    # A pricer of its own forgets the prices of this family afterwards.
    pricer = simulation.pricer.apart()
    added = []
    for priced in shapes:
        if pricer.alike(current, side, priced[0][0].shape):
            continue
        for counted, was in priced:
            now = pricer.price(side, counted.shape)
            if now.refusal:
                raise SimulationError(f"{counted.requests} rows have no price then: {now.refusal.reason}")
            if now is not was:
                before, after = (simulation.comparison.charge(counted, price.amounts) for price in (was, now))
                added.append(EXACT.subtract(after, before))
    return total(added)


def _scaled(tables: Tables, names: Sequence[str], factor: Decimal) -> Tables:
    """Return tables in which every rate of some models is multiplied, in all versions."""
    change, models = Scale(scale=Selection(), factor=factor), dict(tables.models)
    for name in names:
        model: AnyModel = models[name]
        versions = [
            version.model_copy(update=moved(version, scaled(version, change, rates_of(version).keys()), name))
            for version in model.versions
        ]
        models[name] = model.model_copy(update={"versions": tuple(versions)})
    return replace(tables, models=models)


# Half the width of the drawing, in its own units, and of the bars in a terminal, in columns.
_HALF, _COLUMNS = 5_000, 16


def tornado_headline(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    """Say `Revenue is moved most by veo: 5% more or less on its prices is +$334.10 or -$334.12, of $48,708.27.`"""
    figures, percent = report.figures, report.figures.percent(share, signed=False)
    moving = [swing for swing in swings if swing.fall is not None and swing.rise is not None]
    if not moving:
        return "No family of this usage has prices that can be moved."
    rise, fall = (_change(report, amount) for amount in (moving[0].rise, moving[0].fall))
    revenue = figures.money(report.rounded(0))
    return (
        f"Revenue is moved most by {moving[0].family}: {percent} more or less on its prices is {rise} or {fall},"
        f" of {revenue}."
    )


def tornado_table(report: Report, share: Fraction, swings: Sequence[Swing]) -> Table:
    """Return a row for each family, with a drawing for a terminal."""
    down, up = _names(report.figures, share)
    columns = [Column("Revenue", Kind.MONEY), Column(down, Kind.CHANGE), Column(up, Kind.CHANGE), Column("Family")]
    columns += [Column("Effect"), Column("Not moved")]
    most = max((swing.size for swing in swings), default=Decimal(0))
    rows = []
    for swing in swings:
        row: list[Value] = [report.round(swing.revenue)]
        row += [amount and report.round(amount) for amount in (swing.fall, swing.rise)]
        rows.append((*row, swing.family, _drawn(swing, most), swing.reason))
    return Table("Revenue if one family alone were cheaper or dearer", tuple(columns), tuple(rows))


def write_tornado(report: Report, share: Fraction, swings: Sequence[Swing], path: Path) -> None:
    """Write a tornado in the format that the name ends in: .html, .csv or .json. Raises `SimulationError`."""
    writers = {".html": _html, ".csv": _csv, ".json": _json}
    try:
        with replacing(path) as new:
            new.write_text(writers[path.suffix.lower()](report, share, swings), encoding="utf-8", newline="")
    except OSError as error:
        raise SimulationError(f"{path} cannot be written: {error.strerror}") from None


def _json(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    record = {
        "command": report.question.command or None,
        "currency": report.figures.currency,
        "share": report.figures.percent(share, signed=False),
        "revenue": report.simulation.total.amounts[0],
        "rows": report.simulation.rows,
        "unpriced": report.unpriced,
        "families": swings,
    }
    return json.dumps(record, indent=1, ensure_ascii=False, default=json_plain) + "\n"


def _csv(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Swing))
    for swing in swings:
        cells = astuple(swing)
        writer.writerow(text(cell) if isinstance(cell, Decimal) else cell and text_cell(cell) for cell in cells)
    return out.getvalue()


def _html(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    figures = report.figures
    down, up = _names(figures, share)
    most = max((swing.size for swing in swings), default=Decimal(0))
    rows = [
        {
            "family": swing.family,
            "revenue": figures.money(report.round(swing.revenue)),
            "fall": _change(report, swing.fall),
            "rise": _change(report, swing.rise),
            "drawn": _bars(swing, most),
            "reason": swing.reason,
        }
        for swing in swings
    ]
    return page_text(
        "tornado.html",
        headline=tornado_headline(report, share, swings),
        scope=scope(report),
        down=down,
        up=up,
        swings=rows,
        command=report.question.command,
    )


def _bars(swing: Swing, most: Decimal) -> tuple[int, int, list[tuple[str, int, int]]] | None:
    """Return the width of a family's drawing, the place of zero and the bars; None if its prices cannot be moved."""
    if swing.fall is None or swing.rise is None:
        return None
    bars = []
    for amount in filter(None, (swing.fall, swing.rise)):
        length = _length(amount, most, _HALF)
        bars.append(("rise", _HALF, length) if amount > 0 else ("fall", _HALF - length, length))
    return 2 * _HALF, _HALF, bars


def _drawn(swing: Swing, most: Decimal) -> str:
    """Draw bars on both sides of a line: `swing.fall` to the left, `swing.rise` to the right."""
    lengths = [_length(amount, most, _COLUMNS) for amount in (swing.fall, swing.rise) if amount is not None and amount]
    if len(lengths) < 2:
        return ""
    left, right = lengths
    return f"{'█' * left:>{_COLUMNS}}|{'█' * right}"


def _length(amount: Decimal, most: Decimal, width: int) -> int:
    return max(1, round(width * abs(Fraction(amount)) / Fraction(most)))


def _names(figures: Figures, share: Fraction) -> tuple[str, str]:
    percent = figures.percent(share, signed=False)
    return f"{percent} cheaper", f"{percent} dearer"


def _change(report: Report, amount: Decimal | None) -> str:
    return "" if amount is None else report.figures.change(report.round(amount))
