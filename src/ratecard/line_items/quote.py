"""The price of one request, the line items that add up to it, and the estimate before it runs."""

import json
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, make_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from ratecard.base.errors import CurrencyError
from ratecard.base.instants import aware
from ratecard.base.messages import plural
from ratecard.base.money import LINE_PLACES, USD, minus, multiply, nearest, plain, plain_text, text
from ratecard.line_items.ledger_entry import InferenceDetails, LedgerEntry, check_paid, pay_lines, worth_of
from ratecard.tables.limits import Rates
from ratecard.tables.rate import ListRate

# The unit of the line that raises a request to its minimum.
MINIMUM = "minimum"


class _DataFields:
    """A descriptor with the fields of a msgspec class, in the form that `dataclasses.replace` and `fields` expect."""

    def __get__(self, record: object, of: type[Struct]) -> dict[str, Field[Any]]:
        return {data_field.name: data_field for data_field in fields(_data_class(of))}


@cache
def _data_class(of: type[Struct]) -> Any:
    return make_dataclass(of.__name__, of.__struct_fields__)


class _Value(Struct, frozen=True, gc=False):
    """A frozen value for `dataclasses`, made by msgspec in C: a frozen data class takes five times as long."""

    __dataclass_fields__: ClassVar[Any] = _DataFields()


class LineRate(_Value, frozen=True, gc=False):
    """The rate of a line: SKU, unit, price of one unit, `file:line`, and a note for the reader.

    `of_unit` is the size of one counted thing in units: 0.000001 for tokens by the `mtoken`, and a fraction if no
    decimal is exact, as for seconds by the hour; quantities and amounts are then rounded to `line_places`. `factors`
    are those in the price, each in words and with its `file:line`. `listed` is the rate of the list, if the price is a
    contract's.
    """

    sku: str
    unit: str
    unit_rate: Decimal
    source: str
    note: str = ""
    of_unit: Decimal | Fraction = Decimal(1)
    line_places: int = LINE_PLACES
    factors: tuple[tuple[str, str], ...] = ()
    listed: ListRate | None = None

    def price(self, count: int | Decimal) -> Decimal:
        """Return the price of a number of counted things, rounded once if no decimal is exact."""
        if isinstance(self.of_unit, Decimal):
            return multiply(multiply(count, self.of_unit), self.unit_rate)
        return nearest(Fraction(count) * self.of_unit * Fraction(self.unit_rate), self.line_places)


class LineItem(_Value, frozen=True, gc=False):
    """One line of a quote: a rate, the count it was applied to, and the amount. Lines of a rate share its `LineRate`.

    `count` is the charged count; if the options of a charge change the count, the note says so. `quantity` is in units
    (`mtoken`: millions of tokens), `amount` is quantity x unit rate. Both are rounded half-up to the line places that
    the table declares (12 by default), but only if no decimal is exact; the amount of a video always is.

    >>> line = LineItem(LineRate("m-fixed", "clip", Decimal("0.22"), "video/ovi.yaml:26"), 2, Decimal("0.44"))
    >>> line.sku, line.quantity, line.unit_rate, line.amount
    ('m-fixed', Decimal('2'), Decimal('0.22'), Decimal('0.44'))
    """

    rate: LineRate
    count: int | Decimal
    amount: Decimal

    @property
    def sku(self) -> str:
        """Return the name of the charge in the ledger."""
        return self.rate.sku

    @property
    def quantity(self) -> Decimal:
        """Return the number of units that are charged."""
        rate = self.rate
        if isinstance(rate.of_unit, Decimal):
            return multiply(self.count, rate.of_unit)
        return nearest(Fraction(self.count) * rate.of_unit, rate.line_places)

    @property
    def unit(self) -> str:
        """Return the unit, as `units.yaml` names it."""
        return self.rate.unit

    @property
    def unit_rate(self) -> Decimal:
        """Return the price of one unit."""
        return self.rate.unit_rate

    @property
    def source(self) -> str:
        """Return the `file:line` of the rate."""
        return self.rate.source

    @property
    def list_rate(self) -> Decimal:
        """Return the list's price of one unit; it differs from `unit_rate` only if that is a contract's."""
        return self.rate.listed.rate if self.rate.listed else self.rate.unit_rate

    @property
    def list_amount(self) -> Decimal:
        """Return what the list charges for the same count; where no decimal is exact, it is rounded as `amount` is."""
        if self.list_rate == self.unit_rate:
            return self.amount
        return replace(self.rate, unit_rate=self.list_rate).price(self.count)

    @property
    def list_source(self) -> str:
        """Return the `file:line` of the list's rate."""
        return self.rate.listed.source if self.rate.listed else self.rate.source

    @property
    def note(self) -> str:
        """Return a note for the reader, such as an assumption; may be empty."""
        return self.rate.note

    def to_dict(self) -> dict[str, Any]:
        """Return the line as a dict; numbers are text, so that no reader makes floats of them."""
        record = {
            "sku": self.sku,
            "quantity": plain_text(self.quantity),
            "unit": self.unit,
            "unit_rate": plain_text(self.unit_rate),
            "amount": plain_text(self.amount),
            "source": self.source,
        }
        if self.rate.listed:
            record |= {"list_rate": plain_text(self.list_rate), "list_source": self.list_source}
        return record | {"note": self.note} if self.note else record


class PricedVersion(_Value, frozen=True, gc=False):
    """One version of a model as its quotes name it. Made once when it is compiled; all its quotes share it.

    `type` is the type of the requests, which for an image model may be `upscale`; `effective` is the first day of the
    version, `digest` names the tables, and `rates` has the worth of balances at the instant of the price book. `asked`
    is the model's name in the request, if it is another one, and `contract` the contract whose prices these are.
    """

    model: str
    type: str
    currency: str
    effective: date
    digest: str
    rates: Rates | None = None
    asked: str = ""
    contract: str | None = None


class Quote(_Value, frozen=True, gc=False):
    """The price of one request, with the lines that add up to it.

    `exact` is the exact sum of the lines' amounts; `total` is `exact`, for video rounded once, as the table says; both
    are in `currency`. `ignored` are the fields without effect on the price, `tokens` (prompt, completion), for language
    models only. `version` is the version that priced the request: its parts are properties of the quote.
    """

    version: PricedVersion
    total: Decimal
    exact: Decimal
    lines: tuple[LineItem, ...]
    ignored: tuple[str, ...] = ()
    tokens: tuple[int, int] | None = None

    @property
    def model(self) -> str:
        """Return the id of the model; the request may have named it in another way."""
        return self.version.model

    @property
    def asked(self) -> str:
        """Return the model's name in the request: its own, an alias, or one that matches an open pattern."""
        return self.version.asked or self.version.model

    def _asked_as(self, name: str) -> "Quote":
        """Return the same quote for a request that uses another name of the model."""
        return replace(self, version=replace(self.version, asked=name))

    @property
    def type(self) -> str:
        """Return the type of the request, such as `video` or `text`."""
        return self.version.type

    @property
    def currency(self) -> str:
        """Return the currency of all amounts."""
        return self.version.currency

    @property
    def effective(self) -> date:
        """Return the first day of the version that priced the request; an `Instant` where it began within a day."""
        return self.version.effective

    @property
    def digest(self) -> str:
        """Return the digest of the tables; under a contract, also of the contract and of those that it extends."""
        return self.version.digest

    @property
    def contract(self) -> str | None:
        """Return the name of the contract whose prices these are; None at the prices of the list."""
        return self.version.contract

    @property
    def rates(self) -> Rates | None:
        """Return the worth of balances at the instant of the price book; None for a quote without a price book."""
        return self.version.rates

    def __repr__(self) -> str:
        total, lines = self._total_text(), plural(len(self.lines), "line")
        return f"<Quote {self.model} {total} {self.currency}, {lines}, effective {self.effective}>"

    def _total_text(self) -> str:
        """Return the digits of the total: for a video, which is rounded, all places of the table, like `0.80`."""
        return text(self.total) if self.version.type == "video" else plain_text(self.total)

    def to_json(self) -> bytes:
        """Return the answer over HTTP: `{"quote":0.95}` in exact digits, and the currency if it is not USD."""
        version, amount = self.version, str(self.total)
        if version.type != "video" or "E" in amount or "e" in amount:
            amount = self._total_text()
        if version.currency == USD:
            return f'{{"quote":{amount}}}'.encode()
        return f'{{"quote":{amount},"currency":"{version.currency}"}}'.encode()

    def to_dict(self) -> dict[str, Any]:
        """Return the whole quote as a dict; amounts are text. For records and explanations."""
        return {
            "type": self.type,
            "model": self.model,
            **({"asked": self.asked} if self.version.asked else {}),
            "total": self._total_text(),
            "exact": plain_text(self.exact),
            "currency": self.currency,
            "lines": [line.to_dict() for line in self.lines],
            "effective": self.effective.isoformat(),
            "digest": self.digest,
            **({"contract": self.contract} if self.contract else {}),
            "ignored": list(self.ignored),
        }

    def ledger_entries(
        self,
        *,
        timestamp: datetime,
        request_id: str,
        execution_ms: int | None = None,
        currency: str | None = None,
        paid: Mapping[str, Decimal] | None = None,
    ) -> tuple[LedgerEntry, ...]:
        """Make the ledger rows of this charge: one for a video, at its rounded total; else one for each line.

        Rows are in the currency of the quote; or in `currency`, a balance that pays all of it, at its worth in the
        price book; or in the balances of `paid`, with what each pays (see `settle`). A row at which a balance ends is
        written once for each balance that pays it, with all units on the first. Amounts are negative and exact, and add
        up to minus `total`. Raises `InstantError` for a naive timestamp, and `CurrencyError` for a currency that cannot
        pay, or a `paid` that does not add up to the total.

        >>> from datetime import UTC
        >>> from ratecard import load_rate_card
        >>> from ratecard.accounts import settle
        >>> when = datetime(2026, 10, 1, tzinfo=UTC)
        >>> quote = load_rate_card().at(when).quote_video({"model": "ovi-image-to-video"})
        >>> paid = settle(quote, {"DIEM": Decimal("0.20"), "USD": Decimal(5)})
        >>> rows = quote.ledger_entries(timestamp=when, request_id="r-1", paid=paid)
        >>> [(str(row.price_per_unit), str(row.unit), str(row.amount), row.currency) for row in rows]
        [('0.22', '1', '-0.2', 'DIEM'), ('0.22', '0', '-0.02', 'USD')]
        """
        when = aware(timestamp).isoformat()
        rows = [(line.sku, line.unit_rate, line.quantity, line.amount) for line in self.lines]
        if self.type == "video":
            rows = [(self.lines[0].sku, self.total, Decimal(1), self.total)]
        if paid is None:
            payer = self.currency if currency is None else currency
            # Any amount will do, because the last payer pays the rest, and here there is only one.
            paid = {payer: worth_of(payer, self.currency, self.rates)}
        elif currency is not None:
            raise CurrencyError("currency and paid are both given. Leave out currency")
        else:
            check_paid(self.total, self.currency, self.rates, paid)
        details = InferenceDetails(request_id, execution_ms, *(self.tokens or (None, None)))
        entries = []
        for part in pay_lines([amount for *_, amount in rows], self.currency, self.rates, paid):
            sku, rate, unit, _ = rows[part.line]
            units, amount = plain(unit) if part.first else Decimal(0), plain(minus(part.amount))
            paid_in, worth, contract = part.currency, part.worth, self.contract
            row = LedgerEntry(when, sku, plain(rate), units, amount, paid_in, self.model, details, worth, contract)
            entries.append(row)
        return tuple(entries)

    def explain(self) -> str:
        """Return the whole quote as indented JSON, for a log or a terminal."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The least and the most that a text request can cost before it runs; exact, in `currency`.

    `ignored` are the fields without effect on the price, `rates` has the worth of balances at the instant
    of the price book.
    """

    lowest: Decimal
    highest: Decimal
    currency: str
    ignored: tuple[str, ...] = ()
    rates: Rates | None = field(default=None, repr=False, compare=False)
