"""The statement of a month: lines by SKU, the terms of the month, refunds, and the payable amount.

Why that differs from the month before is told by price, volume, mix, terms and refunds, which add up exactly.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Any

from ratecard.base.money import from_fraction, plain_text, round_half_up, text, total
from ratecard.statements.lines import CORRECTION_LINE, OF_EARLIER, StatementLine, exact_text, rate_order
from ratecard.statements.settle import TermLine

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class MonthChange:
    """The difference between a month and the one before, in parts that add up to it exactly.

    With the quantity q and the mean price p of each SKU, before (0) and after (1), and Q of all SKUs of one unit:
    `price` is q1 x (p1 - p0) of SKUs of both months, `volume` is p0 x q0 x (Q1 / Q0 - 1), and `mix` the rest: other
    shares of the SKUs, new ones, and those that are gone. `terms` and `refunds` are the differences of these.
    """

    before: Fraction
    after: Fraction
    price: Fraction
    volume: Fraction
    mix: Fraction
    terms: Fraction
    refunds: Fraction

    @property
    def parts(self) -> dict[str, Fraction]:
        """Return the parts by name."""
        return {name: getattr(self, name) for name in ("price", "volume", "mix", "terms", "refunds")}

    def to_dict(self) -> dict[str, str]:
        """Return the change as a dict; amounts are text."""
        amounts = {"before": self.before, **self.parts, "after": self.after}
        return {name: exact_text(amount) for name, amount in amounts.items()}


def change_of(before: "Statement", after: "Statement") -> MonthChange:
    """Return the change from one month to the next, in parts."""
    then, now = _by_sku(before.lines), _by_sku(after.lines)
    price = volume = _ZERO
    for unit in {unit for unit, _ in (*then, *now)}:
        quantities = [sum((pair[0] for key, pair in side.items() if key[0] == unit), _ZERO) for side in (then, now)]
        for key, (quantity, amount) in then.items():
            if key[0] == unit and quantities[0]:
                volume += amount * (quantities[1] / quantities[0] - 1)
            if key[0] == unit and quantity and (later := now.get(key, (_ZERO, _ZERO)))[0]:
                price += later[1] - later[0] * amount / quantity
    usage = [sum((amount for _, amount in side.values()), _ZERO) for side in (then, now)]
    mix = usage[1] - usage[0] - price - volume
    terms = after.terms_total - before.terms_total
    refunds = Fraction(after.refunds_total) - Fraction(before.refunds_total)
    return MonthChange(before.exact, after.exact, price, volume, mix, terms, refunds)


def _by_sku(lines: Sequence[StatementLine]) -> Mapping[tuple[str, str], tuple[Fraction, Fraction]]:
    """Return the quantity and the amount of each SKU, by unit and SKU."""
    sums: dict[tuple[str, str], tuple[Fraction, Fraction]] = {}
    for line in lines:
        key = (line.rated.unit or "", line.rated.sku)
        quantity, amount = sums.get(key, (_ZERO, _ZERO))
        sums[key] = (quantity + Fraction(line.quantity), amount + Fraction(line.amount))
    return sums


_PLACES = 2
_DIGITS = 16
# The fields that identify a line among those of another statement of the same month.
_NAMES = ("model", "sku", "unit", "rate", "contract", "words", "paid_in")
_COMPARED = ("quantity", "amount", "list_amount", "balance")


@dataclass(frozen=True, slots=True)
class Statement:
    """The bill of an account for a month: exact lines, and one amount that is rounded once, half-up, to cents.

    `lines` are the usage by SKU and rate, `terms` the lines of the terms of the month, `refunds` the amounts that were
    paid back in the month. `digests` are those of the prices that rated the lines, and `usage` is the fingerprint of
    the files. `change` is None if the month before is not known; `notes` say why.
    """

    account: str
    month: date
    currency: str
    lines: tuple[StatementLine, ...]
    terms: tuple[TermLine, ...]
    refunds: tuple[StatementLine, ...]
    digests: tuple[str, ...]
    usage: str = ""
    change: MonthChange | None = None
    notes: tuple[str, ...] = ()

    @property
    def charges(self) -> Decimal:
        """Return the exact sum of the lines, at contract prices."""
        return total([line.amount for line in self.lines])

    @property
    def list_total(self) -> Decimal | None:
        """Return the sum of the lines at list prices; None where one of these is not known."""
        amounts = [line.list_amount for line in self.lines]
        known = [amount for amount in amounts if amount is not None]
        return total(known) if len(known) == len(amounts) else None

    @property
    def terms_total(self) -> Fraction:
        """Return the exact sum of the terms."""
        return sum((line.amount for line in self.terms), _ZERO)

    @property
    def refunds_total(self) -> Decimal:
        """Return the exact sum of the refunds."""
        return total([line.amount for line in self.refunds])

    @property
    def exact(self) -> Fraction:
        """Return the exact sum of lines, terms and refunds."""
        return Fraction(self.charges) + self.terms_total + Fraction(self.refunds_total)

    @property
    def payable(self) -> Decimal:
        """Return the amount to pay: the exact sum, rounded once to cents, half-up; below zero if more was refunded."""
        return round_half_up(from_fraction(self.exact, _PLACES), _PLACES)

    @property
    def contracts(self) -> tuple[str, ...]:
        """Return the contracts whose rates are on the statement."""
        return tuple(sorted({line.rated.contract for line in self.lines} - {""}))

    @property
    def digest(self) -> str:
        """Return 16 hexadecimal digits that name the statement's content, whatever files it was read from."""
        content = self._content()
        return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_DIGITS]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as a dict to issue, and to compare with later; amounts are text of all digits."""
        change = self.change.to_dict() if self.change else None
        further = {"usage": self.usage, "change": change, "notes": list(self.notes), "digest": self.digest}
        return {**self._content(), **further}

    def _content(self) -> dict[str, Any]:
        return {
            "account": self.account,
            "month": f"{self.month:%Y-%m}",
            "currency": self.currency,
            "lines": [line_record(line) for line in self.lines],
            "terms": [line.to_dict() for line in self.terms],
            "refunds": [line_record(line) for line in self.refunds],
            "list_total": None if self.list_total is None else plain_text(self.list_total),
            "charges": plain_text(self.charges),
            "exact": exact_text(self.exact),
            "payable": text(self.payable),
            "prices": list(self.digests),
        }


def line_record(line: StatementLine) -> dict[str, str]:
    """Return a line as a dict; numbers are text, and what is not known is left out."""
    rated = line.rated
    record = {
        "sku": rated.sku,
        "model": rated.model,
        "quantity": plain_text(line.quantity),
        "unit": rated.unit or "",
        "rate": plain_text(rated.unit_rate),
        "amount": plain_text(line.amount),
        "source": rated.source,
        "contract": rated.contract,
    }
    if rated.kind == CORRECTION_LINE:
        record["words"] = OF_EARLIER
    if rated.paid_in:
        record["paid_in"] = rated.paid_in
    if rated.list_rate is not None and line.list_amount is not None:
        listed = {"list_rate": rated.list_rate, "list_amount": line.list_amount}
        record |= {name: plain_text(value) for name, value in listed.items()} | {"list_source": rated.list_source}
    return record


@dataclass(frozen=True, slots=True)
class IssuedDifference:
    """A figure of a line that differs between an issued statement and a later run, with both values."""

    part: str
    line: str
    figure: str
    issued: str
    now: str


def differences(issued: Mapping[str, Any], now: Statement) -> tuple[IssuedDifference, ...]:
    """List the figures that differ from the statement issued for the same month; empty if all are the same.

    Places of rates in files, and the files of the usage, are not compared. `issued` is a result of `to_dict`.
    """
    changes, content = [], now.to_dict()
    for part in ("lines", "terms", "refunds"):
        then, today = _by_name(issued.get(part, ())), _by_name(content[part])
        for name in dict.fromkeys((*then, *today)):
            old, new = then.get(name), today.get(name)
            for figure in _COMPARED:
                old_text, new_text = ("" if line is None else str(line.get(figure, "")) for line in (old, new))
                if old_text != new_text:
                    changes.append(IssuedDifference(part, name, figure, old_text, new_text))
    for figure in ("list_total", "charges", "exact", "payable", "prices"):
        old_text, new_text = (_words(record.get(figure)) for record in (issued, content))
        if old_text != new_text:
            changes.append(IssuedDifference("statement", "", figure, old_text, new_text))
    return tuple(changes)


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else "" if value is None else str(value)


def _by_name(lines: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return lines by name; several of one name by their number too, in the order of the places of their rates."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        name = " ".join(str(line[field]) for field in _NAMES if line.get(field))
        groups.setdefault(name, []).append(line)
    return {
        f"{name} ({number})" if number > 1 else name: line
        for name, group in groups.items()
        for number, line in enumerate(sorted(group, key=_rates), 1)
    }


def _rates(line: Mapping[str, Any]) -> tuple[object, ...]:
    return rate_order(*(str(line.get(name, "")) for name in ("source", "list_rate", "list_source")))
