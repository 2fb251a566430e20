"""Reports as files, each written whole or not at all; in JSON, amounts are text with all digits."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import duckdb

from ratecard.base.errors import SimulationError
from ratecard.base.files import replacing
from ratecard.base.money import total as total_of
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.answers.bridge import EFFECTS, Bridge
from ratecard.simulation.answers.customers import Discounted
from ratecard.simulation.answers.margin import Cost
from ratecard.simulation.answers.volume import Expected
from ratecard.simulation.progress import Progress, silent
from ratecard.simulation.report.figures import adding_up
from ratecard.simulation.report.groups import groups_query, json_plain, json_value, side_names, write_csv, write_parquet
from ratecard.simulation.report.page import write_page
from ratecard.simulation.report.report import CUSTOMER, Report
from ratecard.simulation.report.workbook import write_spreadsheet
from ratecard.simulation.workspace import too_little

_BATCH = 10_000


def write_json(report: Report, path: Path) -> None:
    """Write one JSON object: the compared sides, rows, totals, attribution, and `groups`, an object for every group.

    The groups are read and written in batches, so that memory does not grow with their number.
    """
    with path.open("w", encoding="utf-8") as out:
        head = json.dumps(_head(report), indent=1, ensure_ascii=False, default=json_plain)
        out.write(f'{head.removesuffix("}").rstrip()},\n "groups": [')
        _write_groups(report, out)
        out.write("\n ]\n}\n")


def _head(report: Report) -> dict[str, Any]:
    simulation, margin = report.simulation, report.margin
    candidates = {report.names[candidate]: candidate for candidate in report.candidates}
    return {
        "command": report.question.command or None,
        "currency": report.figures.currency,
        "sides": [
            {"name": name, "label": side.label, "at": side.at, "digest": side.card.digest}
            | ({"digest_with_contracts": side.card.tables.digest_with_contracts} if simulation.by_account else {})
            for name, side in zip(report.names, simulation.sides, strict=True)
        ],
        "rows": simulation.rows,
        "priced": simulation.priced,
        "reading": asdict(simulation.reading),
        "unpriced": report.without_price,
        "disputed": simulation.disputed,
        "total": _total(report),
        "attribution": {name: report.attribution(candidate).parts for name, candidate in candidates.items()},
        "lost": {name: simulation.lost(candidate) for name, candidate in candidates.items()},
        "new": {name: simulation.new(candidate) for name, candidate in candidates.items()},
        "margin": margin
        and {
            "total": _cost(margin.total, report.names),
            "models": [_cost(model, report.names) for model in margin.models],
        },
        "discounts": [_discounted(customer, report.names) for customer in report.discounts],
        "own_days": _or_reason(report.own_days),
        "pace": _pace(report),
        "customers": _customers(report),
        "expected": _expected(report, report.expected) if report.expected else None,
        "target": _or_reason(report.question.reached),
        "bridge": _bridge(report.bridge) if report.bridge else None,
        "by": simulation.by,
    }


def _or_reason(answer: Any) -> Any:
    """Return an answer as it is; the reason for a missing answer becomes an object."""
    return {"reason": answer} if isinstance(answer, str) else answer


def _pace(report: Report) -> dict[str, Any] | None:
    """Return the days that a year is scaled from, the current revenue of a year, and how candidates change it."""
    pace, paced = report.pace, report.paced
    if pace is None or paced is None:
        return None
    now, *others = paced.total.revenues
    changes = {
        f"{name} change": pace.year(revenue - now) for name, revenue in zip(report.names[1:], others, strict=True)
    }
    days = {name: getattr(pace, name) for name in ("first", "last", "days", "empty", "growth")}
    return days | {"year": {"current": pace.year(now), **changes}}


def _customers(report: Report) -> dict[str, Any] | None:
    """Count the customers who pay more, less and the same by candidate, and those above the rise of the question."""
    if not report.has(CUSTOMER):
        return None
    by_name = {report.names[candidate]: report.customers(candidate) for candidate in report.candidates}
    rise = report.question.rise
    return {
        name: {"more": customers.more, "less": customers.less, "same": customers.same, "losing": customers.losing}
        | {"rise": rise, "above": customers.above(rise)}
        for name, customers in by_name.items()
        if customers is not None
    }


def _expected(report: Report, expected: Expected) -> dict[str, Any]:
    """Return every side at the expected volume; the models add up to the total."""
    words = {"requests": "requests", "revenues": "revenue"}
    words |= {"costs": "cost", "margins": "margin"} if report.margin else {}
    models: list[dict[str, Any]] = [{"model": expected_model.model} for expected_model in expected.models]
    total: dict[str, dict[str, Any]] = {}
    for side, name in enumerate(side_names(report)):
        columns = {
            word: adding_up([getattr(expected_model, key)[side] for expected_model in expected.models])
            for key, word in words.items()
        }
        for number, model in enumerate(models):
            model[name] = {word: column[number] for word, column in columns.items()}
        low, high = expected.ranges[side]
        total[name] = {word: total_of(column) for word, column in columns.items()} | {"low": low, "high": high}
    question = report.question
    return {"elasticities": question.elasticities, "volumes": question.volumes, "total": total, "models": models}


def _discounted(party: Discounted, names: Sequence[str]) -> dict[str, Any]:
    """Return list, discount and net of a customer under each side, and its margin where costs are given."""
    record: dict[str, Any] = {"customer": party.customer, "requests": party.requests}
    for side, name in enumerate(names):
        record[name] = {"list": party.lists[side], "discount": party.discount(side), "net": party.nets[side]}
        record[name] |= {"margin": party.margins[side]} if party.margins else {}
    return record


def _cost(cost: Cost, names: Sequence[str]) -> dict[str, Any]:
    record: dict[str, Any] = {"model": cost.model} if cost.model else {}
    record |= {"requests": cost.requests, "requests_without_cost": cost.unknown}
    amounts = zip(names, cost.revenues, cost.costs, cost.unknown_revenues, strict=True)
    for side, (name, revenue, paid, unknown) in enumerate(amounts):
        record[name] = {
            "revenue": revenue,
            "cost": paid,
            "margin": cost.margin(side),
            "revenue_without_cost": unknown,
        }
    return record


def _total(report: Report) -> dict[str, Any]:
    row = report.simulation.total
    numbers: dict[str, Any] = {"requests": row.requests, **dict(zip(QUANTITY_NAMES, row.quantities, strict=True))}
    current, *candidates = side_names(report)
    numbers[current] = row.amounts[0]
    for side, name in enumerate(candidates, 1):
        one_sided = row.beside(side)
        numbers |= {
            name: row.amounts[side],
            f"{name} difference": row.difference(side),
            f"{name} lost": one_sided.lost,
            f"{name} new": one_sided.new,
            f"{name} percent": row.percent(side).removesuffix("%") or None,
        }
    return numbers


def _write_groups(report: Report, out: TextIO) -> None:
    comparison, comma = report.simulation.comparison, "\n  "
    for part in comparison.ranges():
        source, fields = groups_query(report, part)
        names, columns = [field.name for field in fields], ", ".join(map(json_value, fields))
        cursor = comparison.roll_up.workspace.connection.execute(f"SELECT {columns} FROM {source}")
        while rows := cursor.fetchmany(_BATCH):
            for row in rows:
                out.write(comma + json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False))
                comma = ",\n  "


def _bridge(bridge: Bridge) -> dict[str, Any]:
    """Return the bridge for JSON: its effects, which add up, and those of each model.

    Effects that no decimal holds are rounded so that they add up; `exact` has them as fractions, `1/3`.
    """

    def named(effects: dict[str, Fraction]) -> dict[str, Decimal]:
        return dict(zip(effects, adding_up(list(effects.values())), strict=True))

    return {
        "periods": bridge.periods,
        "revenues": bridge.revenues,
        "effects": named(bridge.effects),
        "models": [
            {"model": step.model, "requests": step.requests, "revenues": step.revenues}
            | named(parts := {name: getattr(step, name) for name in EFFECTS})
            | {"exact": {name: str(part) for name, part in parts.items()}}
            for step in bridge.steps
        ],
        "gone": bridge.gone,
        "new": bridge.new,
    }


Write = Callable[[Report, Path], None]

WRITERS: Mapping[str, Write] = {
    ".html": write_page,
    ".xlsx": write_spreadsheet,
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".json": write_json,
}
_ALLOWED = ", ".join(WRITERS)


def write(report: Report, paths: Sequence[Path], progress: Progress = silent) -> None:
    """Write a report in the formats that the names end in; existing files are replaced.

    All files are written under other names first, and renamed once all are on the disk. A workbook reports its
    progress. Raises `SimulationError` if a file cannot be written; then every file is as it was before.
    """
    for path in paths:
        if path.suffix.lower() not in WRITERS:
            raise SimulationError(f"{path}: '{path.suffix}' is not a format of reports. Allowed: {_ALLOWED}")
    writers: dict[str, Write] = {**WRITERS, ".xlsx": partial(write_spreadsheet, progress=progress)}
    progress("Writing", None)
    path = Path()
    try:
        with ExitStack() as replaced:
            for target, path in {path.resolve(): path for path in paths}.items():
                new = replaced.enter_context(replacing(target))
                writers[path.suffix.lower()](report, new)
                with new.open("rb+") as file:
                    os.fsync(file.fileno())
    except (OSError, duckdb.Error) as error:
        raise SimulationError(f"{path} cannot be written: {_reason(error)}. No report is written") from None


def _reason(error: OSError | duckdb.Error) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, duckdb.OutOfMemoryException):
        return too_little(error)
    return str(error).splitlines()[0].rpartition(": ")[2].rstrip(".")
