"""Writes reports to files, each whole or not at all; and the result as JSON, its amounts as text with all digits."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

import duckdb

from ratecard.base.money import nearest, text
from ratecard.base.money import total as total_of
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.answers.attribution import Part
from ratecard.simulation.answers.discounts import Discounted
from ratecard.simulation.answers.margin import Cost, Margin
from ratecard.simulation.answers.rows import OwnDays, Uncommon
from ratecard.simulation.answers.volume import Expected
from ratecard.simulation.errors import SimulationError
from ratecard.simulation.report.bridge_tables import bridge_record
from ratecard.simulation.report.figures import FRACTION_PLACES, adding_up
from ratecard.simulation.report.groups import (
    GroupField,
    groups_query,
    side_names,
    write_csv,
    write_parquet,
)
from ratecard.simulation.report.page import write_page
from ratecard.simulation.report.place import beside
from ratecard.simulation.report.report import CUSTOMER, Question, Report
from ratecard.simulation.report.workbook import write_spreadsheet
from ratecard.simulation.workspace.duckdb_sql import DuckDbSql

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
        "unpriced": [asdict(each) for each in report.without_price],
        "disputed": [asdict(each) for each in simulation.disputed],
        "total": _total(report),
        "attribution": {
            report.names[candidate]: [_part(part) for part in report.attribution(candidate).parts]
            for candidate in report.candidates
        },
        "lost": _uncommon(report, simulation.lost),
        "new": _uncommon(report, simulation.new),
        "margin": _margin(report.margin, report.names) if report.margin else None,
        "discounts": [_discounted(each, report.names) for each in report.discounts],
        "own_days": _own_days(report.own_days),
        "pace": _pace(report),
        "customers": _customers(report),
        "expected": _expected(report, report.expected) if report.expected else None,
        "target": _target(report.question),
        "bridge": bridge_record(report.bridge) if report.bridge else None,
        "by": list(simulation.by),
    }


def _own_days(found: OwnDays | str | None) -> dict[str, Any] | None:
    """What the usage came to at the prices of its own days; or why that cannot be had."""
    if isinstance(found, str):
        return {"reason": found}
    if found is None:
        return None
    return asdict(found) | {"amount": text(found.amount), "difference": text(found.difference)}


def _pace(report: Report) -> dict[str, Any] | None:
    """The days that a year is reckoned from, and what each side brings, or a candidate changes, in a year."""
    pace, found = report.pace, report.paced
    if pace is None or found is None:
        return None
    revenues = found.total.revenues or (Fraction(0),) * len(report.names)
    changes = [pace.year(revenue - revenues[0]) for revenue in revenues[1:]]
    year = [pace.year(revenues[0]), *changes]
    names = ["current", *(f"{name} change" for name in report.names[1:])]
    growth = None if pace.growth is None else text(nearest(pace.growth, FRACTION_PLACES))
    return {
        "first": pace.first.isoformat(),
        "last": pace.last.isoformat(),
        "days": pace.days,
        "empty": pace.empty,
        "growth": growth,
        "year": {name: text(nearest(each, FRACTION_PLACES)) for name, each in zip(names, year, strict=True)},
    }


def _target(question: Question) -> dict[str, str | None] | None:
    """The factor that reaches a target, with what it brings; or why none does."""
    found = question.reached
    if found is None:
        return None
    if isinstance(found, str):
        return {"reason": found}
    return {name: each and text(each) for name, each in asdict(found).items()}


def _customers(report: Report) -> dict[str, Any] | None:
    """How many customers pay more, less and the same under each candidate; and more by more than was asked for."""
    if not report.has(CUSTOMER):
        return None
    found = {report.names[candidate]: report.customers(candidate) for candidate in report.candidates}
    rise = text(nearest(report.question.rise, FRACTION_PLACES))
    return {
        name: {"more": each.more, "less": each.less, "same": each.same, "losing": each.losing}
        | {"rise": rise, "above": each.above(report.question.rise)}
        for name, each in found.items()
        if each is not None
    }


def _expected(report: Report, expected: Expected) -> dict[str, Any]:
    """Every side at the volume that is expected; the models add up to the total."""
    words = {"requests": "requests", "revenues": "revenue"}
    words |= {"costs": "cost", "margins": "margin"} if report.margin else {}
    models: list[dict[str, Any]] = [{"model": each.model} for each in expected.models]
    total: dict[str, dict[str, str]] = {}
    for side, name in enumerate(side_names(report)):
        amounts = {word: [getattr(each, key)[side] for each in expected.models] for key, word in words.items()}
        columns = {word: adding_up(parts) for word, parts in amounts.items()}
        for number, model in enumerate(models):
            model[name] = {word: text(column[number]) for word, column in columns.items()}
        total[name] = {word: text(total_of(column)) for word, column in columns.items()}
        low, high = (text(nearest(each, FRACTION_PLACES)) for each in expected.ranges[side])
        total[name] |= {"low": low, "high": high}
    elasticities = report.question.elasticities.items()
    return {
        "elasticities": {
            name: {key: text(value) for key, value in asdict(each).items()} for name, each in elasticities
        },
        "volumes": {name: text(each) for name, each in report.question.volumes.items()},
        "total": total,
        "models": models,
    }


def _uncommon(report: Report, found: Callable[[int], Sequence[Uncommon]]) -> dict[str, list[dict[str, Any]]]:
    return {
        report.names[candidate]: [asdict(each) | {"amount": text(each.amount)} for each in found(candidate)]
        for candidate in report.candidates
    }


def _margin(margin: Margin, names: Sequence[str]) -> dict[str, Any]:
    """Cost and margin under each side, of all and by model."""
    return {"total": _cost(margin.total, names), "models": [_cost(each, names) for each in margin.models]}


def _discounted(found: Discounted, names: Sequence[str]) -> dict[str, Any]:
    """List, discount and net of a customer under each side, and its margin where costs are given."""
    record: dict[str, Any] = {"customer": found.customer, "requests": found.requests}
    for side, name in enumerate(names):
        amounts = {"list": found.lists[side], "discount": found.discount(side), "net": found.nets[side]}
        amounts |= {"margin": found.margins[side]} if found.margins else {}
        record[name] = {word: text(amount) for word, amount in amounts.items()}
    return record


def _cost(cost: Cost, names: Sequence[str]) -> dict[str, Any]:
    named: dict[str, Any] = {"model": cost.model} if cost.model else {}
    named |= {"requests": cost.requests, "requests_without_cost": cost.unknown}
    amounts = zip(names, cost.revenues, cost.costs, cost.unknown_revenues, strict=True)
    for side, (name, revenue, paid, unknown) in enumerate(amounts):
        parts = {"revenue": revenue, "cost": paid, "margin": cost.margin(side), "revenue_without_cost": unknown}
        named[name] = {word: text(amount) for word, amount in parts.items()}
    return named


def _total(report: Report) -> dict[str, Any]:
    row = report.simulation.total
    numbers: dict[str, Any] = {"requests": row.requests}
    numbers |= {name: text(value) for name, value in zip(QUANTITY_NAMES, row.quantities, strict=True)}
    current, *candidates = side_names(report)
    numbers[current] = text(row.amounts[0])
    for side, name in enumerate(candidates, 1):
        uneven = row.beside(side)
        parts = {"": row.amounts[side], " difference": row.difference(side), " lost": uneven.lost, " new": uneven.new}
        numbers |= {f"{name}{word}": text(amount) for word, amount in parts.items()}
        numbers[f"{name} percent"] = row.percent(side).removesuffix("%") or None
    return numbers


def _part(part: Part) -> dict[str, Any]:
    return {name: text(value) if isinstance(value, Decimal) else value for name, value in asdict(part).items()}


def _write_groups(report: Report, out: TextIO) -> None:
    source, fields = groups_query(report)
    chosen = ", ".join(map(_value, fields))
    connection = report.simulation.comparison.roll_up.workspace.connection
    found = connection.execute(f"SELECT {chosen} FROM {source}")
    comma = "\n  "
    while rows := found.fetchmany(_BATCH):
        for group in _objects(fields, rows):
            out.write(comma + group)
            comma = ",\n  "


def _objects(fields: Sequence[GroupField], rows: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    names = [field.name for field in fields]
    return (json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows)


def _value(field: GroupField) -> str:
    if field.places is None:
        return field.expression
    return (
        f"CAST({field.expression} AS BIGINT)"
        if field.kind == "count"
        else DuckDbSql().decimal_text(field.expression, field.places)
    )


Write = Callable[[Report, Path], None]

WRITERS: Mapping[str, Write] = {
    ".html": write_page,
    ".xlsx": write_spreadsheet,
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".json": write_json,
}
_ALLOWED = ", ".join(WRITERS)


def write(report: Report, paths: Sequence[Path]) -> None:
    """Write a report in the formats that the names end in; a file that is there is replaced.

    Everything is written beside the files first, and only when all is on the disk they get their names. Raises
    `SimulationError` where that fails; then every file is as it was before.
    """
    for path in paths:
        if path.suffix.lower() not in WRITERS:
            raise SimulationError(f"{path}: '{path.suffix}' is not a format of reports. Allowed: {_ALLOWED}")
    made: dict[Path, Path] = {}
    path = Path()
    try:
        for path in paths:
            made[path.resolve()] = place = beside(path)
            WRITERS[path.suffix.lower()](report, place)
            _keep(place)
        for target, place in made.items():
            if place.is_dir():  # it cannot replace a file
                target.unlink(missing_ok=True)
            place.replace(target)
    except SimulationError as error:  # of an engine that writes a folder, which is beside its place until it is whole
        raise SimulationError(str(error).replace(f"file://{beside(path)}", str(path))) from None
    except (OSError, duckdb.Error) as error:
        raise SimulationError(f"{path} cannot be written: {_reason(error)}. No report is written") from None
    finally:
        for place in made.values():
            if place.is_dir():
                shutil.rmtree(place)
            place.unlink(missing_ok=True)


def _keep(path: Path) -> None:
    """Returns when the file, or each one of the folder, is on the disk."""
    for each in path.iterdir() if path.is_dir() else [path]:
        with each.open("rb+") as file:
            os.fsync(file.fileno())


def _reason(error: OSError | duckdb.Error) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).splitlines()[0].rpartition(": ")[2].rstrip(".")
