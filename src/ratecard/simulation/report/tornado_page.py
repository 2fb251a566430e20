"""A tornado as a sentence, a table, and a page with its bars; the page needs no script and no network."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, fields
from decimal import Decimal
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

from ratecard.base.money import round_half_up, text
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.report.figures import Figures
from ratecard.simulation.report.page import STYLE
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import scope
from ratecard.simulation.report.table import Column, Kind, Table, Value
from ratecard.simulation.results.tornado import Swing

# Half of the drawing, in its own units; and of the bars of a terminal, in columns.
_HALF, _COLUMNS = 5_000, 16
_BARS = """
.tornado { list-style: none; padding: 0; } .tornado li { display: grid; gap: .1rem .9rem; align-items: center;
  grid-template-columns: minmax(7rem, 12rem) 7.5rem 1fr 7.5rem; padding: .25rem 0; border-top: 1px solid var(--edge); }
.tornado svg { width: 100%; height: 1rem; display: block; } .tornado rect.fall { fill: var(--fall); }
.tornado rect.rise { fill: var(--rise); } .tornado line { stroke: var(--quiet); vector-effect: non-scaling-stroke; }
.tornado .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@media (max-width: 40rem) { .tornado li { grid-template-columns: 1fr 1fr; }
  .tornado svg, .tornado .name { grid-column: 1 / -1; } .tornado svg { order: 1; }
  .tornado .name + .number { text-align: left; } }
"""


def tornado_headline(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    """`Revenue is moved most by veo: 5% more or less of its prices is +$334.10 or -$334.12 of $48,708.27.`"""
    figures, percent = report.figures, report.figures.percent(share, signed=False)
    moving = [swing for swing in swings if swing.fall is not None and swing.rise is not None]
    if not moving:
        return "No family of this usage has prices that can be moved."
    rise, fall = (_change(figures, amount) for amount in (moving[0].rise, moving[0].fall))
    whole = figures.money(report.rounded(0))
    return (
        f"Revenue is moved most by {moving[0].family}: {percent} more or less on its prices is {rise} or {fall},"
        f" of {whole}."
    )


def tornado_table(report: Report, share: Fraction, swings: Sequence[Swing], *, bars: bool = False) -> Table:
    """A row for each family; with `bars`, a drawing for a terminal too."""
    down, up = _names(report.figures, share)
    columns = [Column("Revenue", Kind.MONEY), Column(down, Kind.CHANGE), Column(up, Kind.CHANGE), Column("Family")]
    columns += [Column("Effect")] if bars else []
    columns.append(Column("Not moved"))
    most = max((swing.size for swing in swings), default=Decimal(0))
    rows = []
    for swing in swings:
        row: list[Value] = [round_half_up(swing.revenue, report.figures.places)]
        row += [each and round_half_up(each, report.figures.places) for each in (swing.fall, swing.rise)]
        rows.append((*row, swing.family, *([_drawn(swing, most)] if bars else []), swing.reason))
    return Table("Revenue if one family alone were cheaper or dearer", tuple(columns), tuple(rows))


def write_tornado(report: Report, share: Fraction, swings: Sequence[Swing], path: Path) -> None:
    """Write it as the ending of the name says: .html, .csv or .json. Raises `SimulationError`."""
    writers = {".html": _html, ".csv": _csv, ".json": _json}
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_text(writers[path.suffix.lower()](report, share, swings), encoding="utf-8", newline="")
        beside.replace(path)
    except OSError as error:
        raise SimulationError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


def _json(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    rows = [{key: _exact(value) for key, value in asdict(swing).items()} for swing in swings]
    head = {"command": report.question.command or None, "currency": report.figures.currency}
    whole = {
        "share": report.figures.percent(share, signed=False),
        "revenue": _exact(report.simulation.total.amounts[0]),
    }
    counts = {"rows": report.simulation.rows, "unpriced": report.unpriced}
    return json.dumps({**head, **whole, **counts, "families": rows}, indent=1, ensure_ascii=False) + "\n"


def _csv(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    from io import StringIO

    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(Swing))
    writer.writerows([_exact(value) for value in astuple(swing)] for swing in swings)
    return out.getvalue()


def _html(report: Report, share: Fraction, swings: Sequence[Swing]) -> str:
    return "".join(_page(report, share, swings))


def _page(report: Report, share: Fraction, swings: Sequence[Swing]) -> Iterator[str]:
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    down, up = _names(report.figures, share)
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Tornado: {escape(up)} by family</title><style>{STYLE}{_BARS}</style></head>\n<body><main>"
    yield f"<h1>{escape(tornado_headline(report, share, swings))}</h1><p>{escape(scope(report))}</p>"
    yield f"<h2>Revenue if one family alone were {escape(down)} or {escape(up)}</h2>"
    yield '<ol class="tornado">'
    most = max((swing.size for swing in swings), default=Decimal(0))
    for swing in swings:
        yield _row(report.figures, swing, most)
    yield "</ol>"
    yield f'<p class="quiet">{escape(report.question.command)}</p></main></body></html>\n'


def _row(figures: Figures, swing: Swing, most: Decimal) -> str:
    money = figures.money(round_half_up(swing.revenue, figures.places))
    name = f'<span class="name">{escape(swing.family)} <small class="quiet">{escape(money)}</small></span>'
    if swing.fall is None or swing.rise is None:
        return f"<li>{name}<span></span><span>not moved: {escape(swing.reason)}</span><span></span></li>\n"
    parts = []
    for amount in (swing.fall, swing.rise):
        length = _length(amount, most, _HALF)
        kind = "rise" if amount > 0 else "fall"
        at = _HALF if amount > 0 else _HALF - length
        parts.append(f'<rect class="{kind}" x="{at}" y="2" width="{length}" height="12"/>' if amount else "")
    box = f'viewBox="0 0 {2 * _HALF} 16" preserveAspectRatio="none" aria-hidden="true"'
    drawn = f'<svg {box}>{"".join(parts)}<line x1="{_HALF}" x2="{_HALF}" y1="0" y2="16"/></svg>'
    left, right = (f'<span class="number">{escape(_change(figures, each))}</span>' for each in (swing.fall, swing.rise))
    return f"<li>{name}{left}{drawn}{right}</li>\n"


def _drawn(swing: Swing, most: Decimal) -> str:
    """Bars on both sides of a line: what falls to the left, what rises to the right."""
    lengths = [_length(each, most, _COLUMNS) for each in (swing.fall, swing.rise) if each is not None and each]
    if len(lengths) < 2:
        return ""
    left, right = lengths
    return f"{'█' * left:>{_COLUMNS}}|{'█' * right}"


def _length(amount: Decimal, most: Decimal, whole: int) -> int:
    return max(1, round(whole * abs(Fraction(amount)) / Fraction(most))) if amount and most else 0


def _names(figures: Figures, share: Fraction) -> tuple[str, str]:
    percent = figures.percent(share, signed=False)
    return f"{percent} cheaper", f"{percent} dearer"


def _change(figures: Figures, amount: Decimal | None) -> str:
    return "" if amount is None else figures.change(round_half_up(amount, figures.places))


def _exact(value: Any) -> Any:
    return text(value) if isinstance(value, Decimal) else value
