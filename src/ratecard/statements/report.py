"""A statement for people and programs: as tables, and as text, Markdown, CSV, JSON, HTML, a workbook and FOCUS."""

import csv
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from io import BytesIO, StringIO
from pathlib import Path
from typing import NamedTuple

from babel import Locale

from ratecard.base.csv_text import text_cell
from ratecard.base.errors import SimulationError
from ratecard.base.files import beside
from ratecard.base.instants import month_before
from ratecard.base.money import LINE_PLACES, nearest, plain, text
from ratecard.pages import page_text
from ratecard.review.report import escaped, markdown_table
from ratecard.simulation.report.figures import ENGLISH, Column, Figures, Kind, Table, Value, written
from ratecard.statements.focus import write_focus
from ratecard.statements.issued import Statement, line_record
from ratecard.statements.lines import CORRECTION_LINE, OF_EARLIER, StatementError, StatementLine
from ratecard.statements.settle import TermLine

FOCUS = ".focus"
STATEMENT_ENDINGS = (".md", ".csv", ".json", ".html", ".xlsx", ".focus.csv", ".focus.parquet")
_NUMBERS = (Kind.EXACT, Kind.RATE, Kind.QUANTITY, Kind.MONEY, Kind.COUNT)
_EXACT = ("Quantity", "Rate", "Amount", "List rate", "List amount", "Balance")
_CSV: tuple[str, ...] = ("part", "sku", "model", "words", "quantity", "unit", "rate", "amount", "source", "contract")
_CSV += ("list_rate", "list_amount", "list_source", "opening_balance", "balance", "paid_in")
_CSV_TEXTS = ("part", "sku", "model", "words", "unit", "source", "contract", "list_source", "paid_in")


def title_of(statement: Statement) -> str:
    """Return the title of a statement."""
    return f"Statement of {statement.account} for {statement.month:%Y-%m}"


def sentences(statement: Statement, locale: Locale = ENGLISH) -> list[str]:
    """Return sentences on the amount of a statement, its prices, and what is not known."""
    figures = Figures(locale, statement.currency)
    lines = [f"Payable: {figures.money(statement.payable)}"]
    if statement.list_total is not None and statement.list_total != statement.charges:
        listed, charges = figures.exact(statement.list_total), figures.exact(statement.charges)
        lines.append(f"At list prices the usage would be {listed}; at those of the contract it is {charges}")
    rated = "Booked amounts" if statement.lines or statement.refunds else "No usage"
    prices = f"Prices {', '.join(statement.digests)}" if statement.digests else rated
    return [*lines, f"{prices}, statement {statement.digest}", *statement.notes]


def tables_of(statement: Statement) -> list[Table]:
    """Return the tables of a statement: lines, terms, refunds, the sums, and the change against the month before."""
    tables = [_lines("Lines", statement.lines)] if statement.lines else []
    tables += [_terms(statement.terms)] if statement.terms else []
    tables += [_lines("Refunds", statement.refunds)] if statement.refunds else []
    sums: list[tuple[Value, ...]] = [
        ("Usage", statement.charges),
        ("Terms of the month", _amount(statement.terms_total)),
        ("Refunds", _amount(Fraction(statement.refunds_total))),
        ("Exact", _amount(statement.exact)),
        ("Payable", statement.payable),
    ]
    tables.append(Table("Sums", _columns("", "Amount"), tuple(sums)))
    if change := statement.change:
        before = f"{month_before(statement.month):%Y-%m}"
        rows = [(before, change.before), *((name.capitalize(), part) for name, part in change.parts.items())]
        rows.append((f"{statement.month:%Y-%m}", change.after))
        amounts = tuple((name, _amount(amount)) for name, amount in rows)
        tables.append(Table(f"Change against {before}", _columns("", "Amount"), amounts))
    return tables


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, Kind.EXACT) if name in _EXACT else Column(name) for name in names)


def _lines(title: str, lines: Sequence[StatementLine]) -> Table:
    rates = ("Rate", "Amount", "List rate", "List amount")
    columns = _columns("SKU", "Quantity", "Unit", *rates, "Contract", "Rate from", "List rate from")
    return Table(title, columns, tuple(map(_line, lines)))


def _line(line: StatementLine) -> tuple[Value, ...]:
    rated = line.rated
    listed = rated.list_source if rated.list_source != rated.source else ""
    remarks = [f"paid in {rated.paid_in}"] if rated.paid_in else []
    remarks += [OF_EARLIER] if rated.kind == CORRECTION_LINE else []
    name = f"{rated.sku} ({', '.join(remarks)})" if remarks else rated.sku
    rate: Value = rated.unit_rate if rated.counts else None
    list_rate: Value = rated.list_rate if rated.counts else None
    amounts = (rate, line.amount, list_rate, line.list_amount)
    return (name, line.quantity, rated.unit or "", *amounts, rated.contract, rated.source, listed)


def _terms(terms: Sequence[TermLine]) -> Table:
    columns = _columns("Term", "Quantity", "Unit", "Amount", "Balance", "From")
    rows = []
    for line in terms:
        balance = None if line.balance is None else _amount(line.balance[1])
        rows.append((line.words, _amount(line.quantity), line.unit, _amount(line.amount), balance, line.source))
    return Table("Terms of the month", columns, tuple(rows))


def _amount(amount: Fraction) -> Decimal:
    """Round an amount for a reader: to 12 places if no decimal holds it."""
    return plain(nearest(amount, LINE_PLACES))


class WrittenTable(NamedTuple):
    """A table as text: its title, headings (each with True above numbers), and rows."""

    title: str
    headings: list[tuple[str, bool]]
    rows: list[list[str]]


def written_tables(statement: Statement, locale: Locale = ENGLISH) -> Iterator[WrittenTable]:
    """Yield each table as text in a locale, without empty columns."""
    figures = Figures(locale, statement.currency)
    for table in tables_of(statement):
        kinds = [column.kind for column in table.columns]
        rows = [[written(value, kind, figures) for value, kind in zip(row, kinds, strict=True)] for row in table.rows]
        kept = [at for at in range(len(kinds)) if any(row[at] for row in rows)]
        headings = [(table.columns[at].name, kinds[at] in _NUMBERS) for at in kept]
        yield WrittenTable(table.title, headings, [[row[at] for at in kept] for row in rows])


def statement_markdown(statement: Statement, locale: Locale = ENGLISH) -> str:
    """Write a statement as Markdown."""
    first, *others = sentences(statement, locale)
    parts = [f"## {escaped(title_of(statement))}", f"**{escaped(first)}**", *map(escaped, others)]
    for title, headings, rows in written_tables(statement, locale):
        names = [name for name, _ in headings]
        parts += markdown_table(title, names, [[escaped(words) for words in row] for row in rows])
    return "\n\n".join(parts) + "\n"


def statement_html(statement: Statement, locale: Locale = ENGLISH) -> str:
    """Write a statement as one HTML page that loads nothing."""
    title, tables = title_of(statement), list(written_tables(statement, locale))
    return page_text("statement.html", title=title, sentences=sentences(statement, locale), tables=tables)


def statement_json(statement: Statement, locale: Locale = ENGLISH) -> str:
    """Write a statement as JSON, to be issued; amounts are text with all digits."""
    return json.dumps(statement.to_dict(), indent=1, ensure_ascii=False) + "\n"


def statement_csv(statement: Statement, locale: Locale = ENGLISH) -> str:
    """Write a statement as CSV: a row for each line, term and refund, and a last one for the payable amount.

    A text that a spreadsheet would run as a formula has an apostrophe before it.
    """
    rows: list[dict[str, str]] = [{"part": "line", **line_record(line)} for line in statement.lines]
    rows += [{**line.to_dict(), "part": line.kind} for line in statement.terms]
    rows += [{"part": "refund", **line_record(line)} for line in statement.refunds]
    payable = {"part": "payable", "unit": statement.currency, "amount": text(statement.payable)}
    out = StringIO()
    writer = csv.DictWriter(out, _CSV, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in (*rows, payable):
        writer.writerow(row | {name: text_cell(row[name]) for name in _CSV_TEXTS if name in row})
    return out.getvalue()


def _write_workbook(statement: Statement, path: Path, locale: Locale) -> None:
    from xlsxwriter import Workbook

    from ratecard.simulation.report.workbook import Sheets

    file = BytesIO()  # In memory, the library cannot fail halfway.
    workbook = Workbook(file, {"in_memory": True})
    sheets = Sheets(workbook, Figures(locale, statement.currency))
    first, *others = sorted(tables_of(statement), key=lambda table: table.title != "Sums")
    sheets.add("Statement", first, [title_of(statement), *sentences(statement, locale)])
    for table in others:
        sheets.add(table.title, table)
    workbook.close()
    path.write_bytes(file.getbuffer())


_TEXTS = {
    ".md": statement_markdown,
    ".csv": statement_csv,
    ".json": statement_json,
    ".html": statement_html,
}


def ending_of(path: Path) -> str:
    """Return the ending that decides the format of a file. Raises `StatementError` for an unknown one."""
    ending = "".join(path.suffixes[-2:]).lower() if path.stem.lower().endswith(FOCUS) else path.suffix.lower()
    if ending not in STATEMENT_ENDINGS:
        allowed = ", ".join(STATEMENT_ENDINGS)
        raise StatementError(f"{path}: '{ending}' is not a format of statements. Allowed: {allowed}")
    return ending


def check_outputs(paths: Sequence[Path], issuer: str) -> None:
    """Refuse files in unknown formats, and those of FOCUS without an issuer. Raises `StatementError`."""
    for path in paths:
        if FOCUS in ending_of(path) and not issuer.strip():
            raise StatementError(f"{path}: FOCUS says who sends the bill. Name it: --issuer NAME")


def write_statement(statement: Statement, *paths: Path, issuer: str = "", locale: Locale = ENGLISH) -> None:
    """Write a statement in the formats that the names end in; existing files are replaced, all or none.

    `issuer` is who sends the bill; only FOCUS needs it. Raises `StatementError`; then every file is as it was before.
    """
    check_outputs(paths, issuer)
    places: dict[Path, Path] = {}
    path = Path()
    try:
        for path in paths:
            ending = ending_of(path)
            places[path.resolve()] = place = beside(path).with_suffix(Path(ending).suffix)
            if FOCUS in ending:
                write_focus(statement, issuer, place)
            elif ending == ".xlsx":
                _write_workbook(statement, place, locale)
            else:
                place.write_text(_TEXTS[ending](statement, locale), encoding="utf-8")
        for path, place in places.items():
            place.replace(path)
    except SimulationError as error:
        raise StatementError(f"{path}: {error}. No file is written") from None
    except OSError as error:
        raise StatementError(f"{path} cannot be written: {error.strerror}. No file is written") from None
    finally:
        for place in places.values():
            place.unlink(missing_ok=True)
