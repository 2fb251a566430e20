"""The whole result as JSON, for programs: every amount as text with all of its digits, the groups one on a line."""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

from ratecard.simulation.attribution import Part
from ratecard.simulation.comparison import QUANTITY_NAMES
from ratecard.simulation.report.groups_sql import Field, amount_names, decimal_text, groups_query
from ratecard.simulation.report.report import Report
from ratecard.words.money import text

_BATCH = 10_000


def write_json(report: Report, path: Path) -> None:
    """One object: what was compared, rows, totals, attribution, and `groups`, an object for every group.

    The groups are read and written in batches: their number does not matter to the memory.
    """
    with path.open("w", encoding="utf-8") as out:
        head = json.dumps(_head(report), indent=1, ensure_ascii=False)
        out.write(f'{head.removesuffix("}").rstrip()},\n "groups": [')
        _write_groups(report, out)
        out.write("\n ]\n}\n")


def _head(report: Report) -> dict[str, Any]:
    simulation = report.simulation
    return {
        "command": report.question.command or None,
        "currency": report.figures.currency,
        "sides": [
            {"name": name, "label": side.label, "at": side.at and side.at.isoformat(), "digest": side.card.digest}
            for name, side in zip(report.names, simulation.sides, strict=True)
        ],
        "rows": simulation.rows,
        "priced": simulation.priced,
        "reading": simulation.reading.record(),
        "unpriced": [each._asdict() for each in simulation.unpriced],
        "disputed": [each._asdict() for each in simulation.disputed],
        "total": _total(report),
        "attribution": {
            report.names[candidate]: [_part(part) for part in report.attribution(candidate).parts]
            for candidate in report.candidates
        },
        "by": list(simulation.by),
    }


def _total(report: Report) -> dict[str, Any]:
    row = report.simulation.total
    numbers: dict[str, Any] = {"requests": row.requests}
    numbers |= {name: text(value) for name, value in zip(QUANTITY_NAMES, row.quantities, strict=True)}
    for name, _ in amount_names(len(row.amounts)):
        kind, _, number = name.partition("_")
        side = 0 if kind == "current" else int(number or 1)
        amount: Decimal | str = row.percent(side) if kind == "percent" else row.amounts[side]
        amount = row.difference(side) if kind == "difference" else amount
        numbers[name] = text(amount) if isinstance(amount, Decimal) else amount.removesuffix("%") or None
    return numbers


def _part(part: Part) -> dict[str, Any]:
    return {name: text(value) if isinstance(value, Decimal) else value for name, value in part._asdict().items()}


def _write_groups(report: Report, out: TextIO) -> None:
    comparison = report.simulation.comparison
    source, fields = groups_query(comparison)
    chosen = ", ".join(map(_value, fields))
    found = comparison.roll_up.workspace.connection.execute(f"SELECT {chosen} FROM {source}")
    comma = "\n  "
    while rows := found.fetchmany(_BATCH):
        for group in _objects(fields, rows):
            out.write(comma + group)
            comma = ",\n  "


def _objects(fields: Sequence[Field], rows: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    names = [field.name for field in fields]
    return (json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows)


def _value(field: Field) -> str:
    if field.places is None:
        return field.expression
    return (
        f"CAST({field.expression} AS BIGINT)"
        if field.name == "requests"
        else decimal_text(field.expression, field.places)
    )
