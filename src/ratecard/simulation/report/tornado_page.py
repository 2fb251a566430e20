"""A tornado (how revenue moves with the prices of one family) as a sentence, a table, and a page with bars."""

import csv
import json
from collections.abc import Sequence
from dataclasses import astuple, fields
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path

from ratecard.base.csv_text import text_cell
from ratecard.base.errors import SimulationError
from ratecard.base.files import replacing
from ratecard.base.money import round_half_up, text
from ratecard.pages import page_text
from ratecard.simulation.answers.tornado import Swing
from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.groups import json_plain
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import scope
from ratecard.simulation.report.table import Column, Kind, Table, Value

# Half the width of the drawing, in its own units, and of the bars in a terminal, in columns.
_HALF, _COLUMNS = 5_000, 16


def tornado_headline(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    """Say `Revenue is moved most by veo: 5% more or less on its prices is +$334.10 or -$334.12, of $48,708.27.`"""
    figures, percent = report.figures, report.figures.percent(share, signed=False)
    moving = [swing for swing in swings if swing.fall is not None and swing.rise is not None]
    if not moving:
        return "No family of this usage has prices that can be moved."
    rise, fall = (_change(figures, amount) for amount in (moving[0].rise, moving[0].fall))
    revenue = figures.money(report.rounded(0))
    return (
        f"Revenue is moved most by {moving[0].family}: {percent} more or less on its prices is {rise} or {fall},"
        f" of {revenue}."
    )


def tornado_table(report: Report, share: Fraction, swings: Sequence[Swing], *, bars: bool = False) -> Table:
    """Return a row for each family; with `bars`, a drawing for a terminal too."""
    down, up = _names(report.figures, share)
    columns = [Column("Revenue", Kind.MONEY), Column(down, Kind.CHANGE), Column(up, Kind.CHANGE), Column("Family")]
    columns += [Column("Effect")] if bars else []
    columns.append(Column("Not moved"))
    most = max((swing.size for swing in swings), default=Decimal(0))
    rows = []
    for swing in swings:
        row: list[Value] = [round_half_up(swing.revenue, report.figures.places)]
        row += [amount and round_half_up(amount, report.figures.places) for amount in (swing.fall, swing.rise)]
        rows.append((*row, swing.family, *([_drawn(swing, most)] if bars else []), swing.reason))
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
            "revenue": figures.money(round_half_up(swing.revenue, figures.places)),
            "fall": _change(figures, swing.fall),
            "rise": _change(figures, swing.rise),
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
    return max(1, round(width * abs(Fraction(amount)) / Fraction(most))) if amount and most else 0


def _names(figures: Figures, share: Fraction) -> tuple[str, str]:
    percent = figures.percent(share, signed=False)
    return f"{percent} cheaper", f"{percent} dearer"


def _change(figures: Figures, amount: Decimal | None) -> str:
    return "" if amount is None else figures.change(round_half_up(amount, figures.places))
