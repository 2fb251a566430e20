"""A statement as cost and usage of FOCUS 1.3, the FinOps Open Cost and Usage Specification.

List and contracted costs are unit prices times quantities. So amounts that rounding adds, or that no decimal holds, are
in an extra row, and the billed costs of all rows add up to the payable amount.
"""

import csv
import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from ratecard.base.csv_text import text_cell
from ratecard.base.instants import next_month
from ratecard.base.money import minus, multiply, nearest, plain, plain_text
from ratecard.simulation.prices.outcome import ROUNDING_PART
from ratecard.statements.issued import Statement
from ratecard.statements.lines import CORRECTION_LINE, StatementLine
from ratecard.statements.settle import NEVER_PAID, TermLine
from ratecard.tables.monthly import COMMITMENT, INCLUDED

_PLACES = 12
_USAGE, _CREDIT, _ADJUSTMENT, _CORRECTION = "Usage", "Credit", "Adjustment", "Correction"
# Costs and other decimals; all other columns are text.
COSTS = ("BilledCost", "ContractedCost", "EffectiveCost", "ListCost")
_PRICES = ("ContractedUnitPrice", "ListUnitPrice")
_IN_PRICING_CURRENCY = {f"PricingCurrency{name}": name for name in (*_PRICES, "EffectiveCost")}
DECIMALS = (*COSTS, *_PRICES, *_IN_PRICING_CURRENCY, "ConsumedQuantity", "PricingQuantity")
_TEXTS = """
BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd BillingPeriodStart ChargeCategory ChargeClass
ChargeDescription ChargeFrequency ChargePeriodEnd ChargePeriodStart ConsumedUnit ContractApplied HostProviderName
InvoiceId InvoiceIssuerName PricingCategory PricingCurrency PricingUnit ProviderName PublisherName ServiceCategory
ServiceName ServiceProviderName ServiceSubcategory SkuId SkuMeter SkuPriceDetails SkuPriceId
"""
# Our own column comes last: the digest of the statement, which is not the number of an invoice.
FOCUS_COLUMNS = (*sorted((*DECIMALS, *_TEXTS.split())), "x_StatementDigest")
_Row = dict[str, Any]


def focus_rows(statement: Statement, issuer: str) -> list[_Row]:
    """Return the rows of a statement by the columns of FOCUS; `issuer` is who provides the service and sends the bill.

    Amounts are decimals, rounded to 12 places if no decimal holds them. The billed costs add up to the payable amount.
    """
    usage = [line for line in statement.lines if line.rated.sku != ROUNDING_PART]
    rows = [_usage(line) for line in usage]
    rows += [_term(line) for line in statement.terms if line.amount]
    rows += [_refund(line) for line in statement.refunds]
    rest = {name: _rest(statement, name, rows) for name in COSTS}
    if any(rest.values()):
        rows.append({"ChargeCategory": _ADJUSTMENT, "ChargeDescription": "rounding", **rest})
    common = _common(statement, issuer)
    return [_complete({**common, **row}) for row in rows]


def _common(statement: Statement, issuer: str) -> _Row:
    period = [f"{day:%Y-%m-%d}T00:00:00Z" for day in (statement.month, next_month(statement.month))]
    names = ("HostProviderName", "InvoiceIssuerName", "ProviderName", "PublisherName", "ServiceProviderName")
    return {
        **dict.fromkeys(names, issuer),
        "BillingAccountId": statement.account,
        "BillingAccountName": statement.account,
        "BillingCurrency": statement.currency,
        "PricingCurrency": statement.currency,
        "BillingPeriodStart": period[0],
        "BillingPeriodEnd": period[1],
        "ChargePeriodStart": period[0],
        "ChargePeriodEnd": period[1],
        "ChargeFrequency": "Usage-Based",
        "ServiceCategory": "AI and Machine Learning",
        "ServiceSubcategory": "Generative AI",
        "x_StatementDigest": statement.digest,
        "ServiceName": "inference",
    }


def _usage(line: StatementLine) -> _Row:
    rated = line.rated
    list_rate = rated.unit_rate if rated.list_rate is None else rated.list_rate
    # FOCUS writes units as words, without underscores.
    unit = (rated.unit or "unit").replace("_", " ")
    details = {f"x_{name}": ", ".join(values) for name, values in rated.attributes}
    row: _Row = {
        "ChargeCategory": _USAGE,
        "ChargeDescription": f"{rated.model}: {rated.sku}",
        "SkuId": rated.sku,
        "SkuPriceId": rated.sku,
        "SkuPriceDetails": json.dumps(details) if details else None,
        "SkuMeter": rated.charge or rated.sku,
        "PricingCategory": "Standard",
        "PricingQuantity": line.quantity,
        "PricingUnit": unit,
        "ConsumedQuantity": line.quantity,
        "ConsumedUnit": unit,
        "ListUnitPrice": list_rate,
        "ContractedUnitPrice": rated.unit_rate,
        "ListCost": multiply(line.quantity, list_rate),
        "ContractedCost": multiply(line.quantity, rated.unit_rate),
        # If two balances paid one charge, each row has the units and the price of the charge, but its own amount.
        "BilledCost": line.amount,
        "EffectiveCost": line.amount,
        "ServiceName": rated.type or "inference",
    }
    return row | _in_balance(line, row)


def _term(line: TermLine) -> _Row:
    """Return a term's row: an included or drawn amount is a credit, a tier or a minimum an adjustment.

    The amount that a commitment pays was bought before: it is not billed again, and is the effective cost of usage.
    """
    amount = nearest(line.amount, _PLACES)
    credit = line.kind in (INCLUDED, COMMITMENT)
    effective = Decimal(0) if line.kind == COMMITMENT else amount
    costs = {"BilledCost": amount, "ContractedCost": amount, "ListCost": amount if credit else Decimal(0)}
    category = _CREDIT if credit else _ADJUSTMENT
    row: _Row = {"ChargeCategory": category, "ChargeDescription": line.words, **costs, "EffectiveCost": effective}
    row["ChargeClass"] = _CORRECTION if line.kind == NEVER_PAID[CORRECTION_LINE] else None
    if line.kind == COMMITMENT:
        # A line of YAML may have two commitments, and an edit above it moves them: its number names none.
        file = line.source.rpartition(":")[0]
        applied: dict[str, str | None] = {"ContractID": file, "ContractCommitmentID": f"{file}: {line.name}"}
        applied |= dict.fromkeys(("ContractCommitmentAppliedQuantity", "ContractCommitmentAppliedUnit"))
        # The cost is a number of JSON with every digit, which `json.dumps` would not write.
        cost = f'"ContractCommitmentAppliedCost": {plain_text(minus(amount))}'
        row["ContractApplied"] = f'{{"Elements": [{json.dumps(applied)[:-1]}, {cost}}}]}}'
    return row


def _refund(line: StatementLine) -> _Row:
    costs = dict.fromkeys(COSTS, line.amount)
    words = f"refund of {line.rated.model}: {line.rated.sku}"
    # FOCUS corrects only what an earlier period was billed.
    class_ = _CORRECTION if line.rated.kind == CORRECTION_LINE else None
    row = {"ChargeCategory": _CREDIT, "ChargeClass": class_, "ChargeDescription": words}
    return {**row, **costs, **_in_balance(line, costs)}


def _in_balance(line: StatementLine, row: _Row) -> _Row:
    """Return the prices and the cost of a row in the balance that paid it or got it back; empty without one."""
    if not line.rated.paid_in:
        return {}
    present = {name: source_name for name, source_name in _IN_PRICING_CURRENCY.items() if source_name in row}
    worth = Fraction(line.rated.worth)
    prices = {name: nearest(Fraction(row[source_name]) / worth, _PLACES) for name, source_name in present.items()}
    return {"PricingCurrency": line.rated.paid_in, **prices}


def _rest(statement: Statement, name: str, rows: list[_Row]) -> Decimal:
    """Return the part of the total of a cost that its rows lack because they are rounded."""
    due = Fraction(statement.payable)
    if name == "EffectiveCost":
        due -= sum(line.amount for line in statement.terms if line.kind == COMMITMENT)
    elif name == "ListCost":
        if statement.list_total is None:
            return Decimal(0)
        due, rows = Fraction(statement.list_total), [row for row in rows if row["ChargeCategory"] == _USAGE]
    return nearest(due - sum(Fraction(row[name]) for row in rows), _PLACES)


def _complete(row: _Row) -> _Row:
    """Complete a row with every column, and with its cost in the currency of its price."""
    for name, source_name in _IN_PRICING_CURRENCY.items():
        row.setdefault(name, row.get(source_name))
    return {name: row.get(name) for name in FOCUS_COLUMNS}


def write_focus(statement: Statement, issuer: str, path: Path) -> None:
    """Write the rows of FOCUS as `.csv` or `.parquet`; amounts keep every digit.

    In CSV, a text that a spreadsheet would run as a formula has an apostrophe before it.
    """
    rows = focus_rows(statement, issuer)
    if path.suffix.lower() == ".parquet":
        _write_parquet(rows, path)
        return
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(FOCUS_COLUMNS)
        writer.writerows([_cell(row[name]) for name in FOCUS_COLUMNS] for row in rows)


def _cell(value: Any) -> str:
    return plain_text(value) if isinstance(value, Decimal) else text_cell(value or "")


def _write_parquet(rows: list[_Row], path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    from ratecard.simulation.report.groups import table_of

    kinds = {name: pyarrow.string() for name in FOCUS_COLUMNS if name not in DECIMALS}
    kinds |= {name: pyarrow.decimal128(38, 0) for name in DECIMALS if all(row[name] is None for row in rows)}
    columns: dict[str, Sequence[Any]] = {name: [_value(row[name]) for row in rows] for name in FOCUS_COLUMNS}
    parquet.write_table(table_of(columns, kinds), path)


def _value(value: Any) -> Any:
    return plain(value) if isinstance(value, Decimal) else value
