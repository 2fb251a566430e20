"""API key records as the API lists them, limit periods, whether a charge stays within a limit, and what a key spent."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, NoReturn, Self, cast, overload

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, to_jsonable_python

from ratecard.base.errors import CurrencyError, InstantError
from ratecard.base.instants import in_utc, next_month, read_instant, utc
from ratecard.base.json_text import JsonError, read_json, spaced
from ratecard.base.messages import echo
from ratecard.base.money import EXACT, add, text, zero_or_more
from ratecard.base.suggestions import did_you_mean, suggestions
from ratecard.line_items.ledger_entry import LedgerEntry, check_paid, worth_of
from ratecard.line_items.quote import Estimate, Quote

# The values of `limitPeriod`. An epoch is a day of the staking token; a lifetime never ends.
KEY_PERIODS = ("DAY", "EPOCH", "LIFETIME", "MONTH")


@overload
def period_start(period: Literal["DAY", "EPOCH", "MONTH"], instant: datetime | date) -> datetime: ...
@overload
def period_start(period: str, instant: datetime | date) -> datetime | None: ...
def period_start(period: str, instant: datetime | date) -> datetime | None:
    """Return the beginning of the limit period that contains an instant, in UTC; None for LIFETIME.

    An instant is an aware datetime; a date means its 00:00 UTC. DAY and EPOCH begin at 00:00 UTC, MONTH on its first
    day. Raises `InstantError`, and `ValueError` for another period.

    >>> from datetime import UTC
    >>> period_start("MONTH", datetime(2026, 9, 29, 12, tzinfo=UTC)).isoformat()
    '2026-09-01T00:00:00+00:00'
    """
    day = in_utc(instant).replace(hour=0, minute=0, second=0, microsecond=0)
    if period not in KEY_PERIODS:
        hint = did_you_mean(period, KEY_PERIODS) if isinstance(period, str) else ""
        raise ValueError(f"limitPeriod {period!r} is not known.{hint} Allowed: {', '.join(KEY_PERIODS)}")
    if period == "LIFETIME":
        return None
    return day.replace(day=1) if period == "MONTH" else day


@overload
def period_end(period: Literal["DAY", "EPOCH", "MONTH"], instant: datetime | date) -> datetime: ...
@overload
def period_end(period: str, instant: datetime | date) -> datetime | None: ...
def period_end(period: str, instant: datetime | date) -> datetime | None:
    """Return the first instant after the limit period that contains an instant, in UTC; None for LIFETIME.

    From then on the amount spent counts from 0 again. Raises the errors of `period_start`.

    >>> from datetime import UTC
    >>> period_end("MONTH", datetime(2026, 9, 29, 12, tzinfo=UTC)).isoformat()
    '2026-10-01T00:00:00+00:00'
    >>> period_end("EPOCH", datetime(2026, 9, 29, 12, tzinfo=UTC)).isoformat()
    '2026-09-30T00:00:00+00:00'
    """
    start = period_start(period, instant)
    if start is None:
        return None
    try:
        return utc(next_month(start)) if period == "MONTH" else start + timedelta(days=1)
    except (OverflowError, ValueError):
        raise InstantError(f"{instant!r} is in the last period of the calendar") from None


def next_refresh(instant: datetime | date) -> datetime:
    """Return the next refresh of the daily allowance, at the end of the epoch: 00:00 UTC after an instant."""
    return period_end("EPOCH", instant)


# Key records neither limit nor count this balance.
UNLIMITED = "BUNDLED_CREDITS"
_LOST = "a float has lost its digits already. Give a Decimal, an int or text"


class _Record(BaseModel):
    """A record of the API. Unknown fields are kept, unless they look like a known one, and written as they were read.

    Records are equal if their known fields are.
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    _as_read: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, /, **fields: Any) -> None:
        """Make a record from values of Python; refuse floats, which may have lost digits."""
        self._refuse_floats(fields)
        super().__init__(**fields)

    # Without this, pydantic calls `__init__` for data that it validates too. There a float is allowed: another parser
    # of JSON may have read the limits as floats, which is not the caller's mistake.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def _refuse_floats(cls, fields: Mapping[str, Any]) -> None:
        if path := _float_in(fields, ()):
            _refuse(cls.__name__, PydanticCustomError("float", _LOST), path, fields)

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(given, Mapping):
            _check_spelling(given, cls.model_fields)
        record = read(given)
        if isinstance(given, Mapping):
            record._as_read = cls._as_written(_copied(given))
        return record

    @classmethod
    def _as_written(cls, given: dict[str, Any]) -> dict[str, Any]:
        return given

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Read a record from JSON; numbers keep every digit. Raises pydantic's `ValidationError`."""
        try:
            data = _copied(read_json(json_data), _finite)
            if _float_in(data, ()):  # NaN or Infinity: all other numbers are decimals
                raise JsonError("has a number that JSON does not have: NaN or Infinity")
        except JsonError as error:
            custom_error = PydanticCustomError("json_invalid", "The record {reason}", {"reason": str(error)})
            _refuse(cls.__name__, custom_error, (), json_data)
        return cls.model_validate(data, **options)

    def model_dump_json(self, *, indent: int | None = None, ensure_ascii: bool = False, **options: Any) -> str:
        """Write the record as it was read: nothing is added, and numbers keep every digit.

        The options are those of pydantic, such as `include`, `exclude`, `exclude_none` and `by_alias`.
        """
        written = _json(self.model_dump(**options), ensure_ascii)
        return written if indent is None else spaced(written, indent)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy of the record with the values of `update`, which are validated."""
        self._refuse_floats(update or {})
        return self.model_validate({**self._as_read, **(update or {})})

    @model_serializer(mode="wrap")
    def _as_it_was_read(self, write: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        # The options decide which fields are written; nested records write themselves as they were read.
        selected = write(self)
        # In JSON mode pydantic has turned the decimals of unknown fields into text, so these fields are copied as read.
        parts = type(self).model_fields if info.mode_is_json() else selected
        written = {
            name: _copied(selected[name] if name in parts and isinstance(value, (dict, list)) else value)
            for name, value in self._as_read.items()
            if name in selected and not (value is None and info.exclude_none)
        }
        return cast(dict[str, Any], _copied(written, _plain)) if info.mode_is_json() else written

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__


def _refuse(record: str, wrong: PydanticCustomError, at: tuple[str | int, ...], given: object) -> NoReturn:
    problem = InitErrorDetails(type=wrong, loc=at, input=given)
    raise ValidationError.from_exception_data(record, [problem]) from None


def _float_in(given: object, at: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the path of a float in a value; empty if there is none."""
    if isinstance(given, float):
        return at
    parts: Iterable[tuple[str | int, object]] = given.items() if isinstance(given, Mapping) else ()
    if isinstance(given, (list, tuple)):
        parts = enumerate(given)
    return next((path for name, part in parts if (path := _float_in(part, (*at, name)))), ())


def _check_spelling(given: Mapping[Any, Any], known: Collection[str]) -> None:
    """Refuse an unknown name that looks like a known one, because a limit under another name would not apply.

    If the known name is there too, only another spelling of it is refused: `updatedAt` next to `createdAt` is accepted.
    """
    fields = {_folded(name): name for name in known}
    missing = [spelling for spelling, name in fields.items() if name not in given]
    for name in given:
        if name in known:
            continue
        spelling = _folded(str(name))
        for nearest in [spelling] if spelling in fields else suggestions(spelling, missing, most=1):
            words = f"'{echo(str(name))}' is not known. Did you mean '{fields[nearest]}'? Allowed: {', '.join(known)}"
            raise PydanticCustomError("misspelt", "{words}", {"words": words})


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _finite(number: Decimal) -> Decimal:
    if not number.is_finite():
        raise JsonError("has a number that is too large")
    return number


def _json(value: Any, ascii_only: bool) -> str:
    """Return JSON text with decimals as numbers of all their digits; the standard encoder refuses decimals."""
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"JSON has no {value}")
        return str(value)
    if isinstance(value, datetime):
        return json.dumps(value.isoformat())
    if isinstance(value, Mapping):
        fields = (f"{_json(str(name), ascii_only)}:{_json(part, ascii_only)}" for name, part in value.items())
        return "{" + ",".join(fields) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_json(part, ascii_only) for part in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, default=to_jsonable_python)


def _copied(value: Any, change: Callable[[Decimal], Any] | None = None) -> Any:
    """Return a copy of JSON data, with records as they were read, and `change` applied to every decimal."""
    if isinstance(value, _Record):
        value = value._as_read
    if isinstance(value, Mapping):
        return {name: _copied(part, change) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(part, change) for part in value]
    return change(value) if change and isinstance(value, Decimal) else value


def _plain(number: Decimal) -> Any:
    """Return a number for a JSON writer that has no decimals. Raises `ValueError` if digits would be lost."""
    parsed = json.loads(str(number))
    if Decimal(str(parsed)) != number:
        raise ValueError(f"{number} has more digits than this writer keeps; use model_dump_json")
    return parsed


def _nothing_is(empty: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: empty if value is None else value)


def _amount(given: object) -> object:
    if isinstance(given, bool):
        raise ValueError("must be an amount, not true or false")
    if isinstance(given, str) and (not given.isascii() or "_" in given):
        raise ValueError("must be a number in the digits 0 to 9")
    return given


def _no_float(given: object) -> object:
    if isinstance(given, float):
        raise ValueError(_LOST)
    return given


_Limit = Annotated[Decimal | None, BeforeValidator(_amount)]
_Spent = Annotated[Decimal, _nothing_is(0), BeforeValidator(_no_float), BeforeValidator(_amount)]


class ConsumptionLimits(_Record):
    """The most that a key may spend in one limit period, by currency; None means unlimited.

    >>> ConsumptionLimits(usd=Decimal("10.50"), diem=None).model_dump_json()
    '{"usd":10.50,"diem":null}'
    """

    usd: _Limit = None
    diem: _Limit = None
    vcu: _Limit = None


class Amounts(_Record):
    """Amounts that were spent, by currency: exact decimals, which the API writes as text; null means 0.

    >>> Amounts(usd=Decimal("1.10"), diem=2).model_dump_json()
    '{"usd":"1.10","diem":"2"}'
    """

    usd: _Spent = Decimal(0)
    diem: _Spent = Decimal(0)
    vcu: _Spent = Decimal(0)

    @classmethod
    def _as_written(cls, given: dict[str, Any]) -> dict[str, Any]:
        numbers = {name: given[name] for name in cls.model_fields if isinstance(given.get(name), (int, Decimal))}
        return given | {name: text(Decimal(number)) for name, number in numbers.items()}


class KeyUsage(_Record):
    """What a key spent in the last seven days."""

    trailingSevenDays: Annotated[Amounts, _nothing_is({})] = Amounts()  # noqa: N815 - the API's spelling


class ApiKey(_Record):
    """An API key record, without the key itself. `model_dump` and `model_dump_json` write it as it was read or made.

    What was spent is written as text, as the API does. An unknown field is kept; one that looks like a known one is
    refused (`ValidationError`), because a limit under a misspelt name would be none.

    >>> record = ApiKey.model_validate({"id": "k", "usage": {"trailingSevenDays": {"usd": "1.10"}}})
    >>> record.usage.trailingSevenDays.usd
    Decimal('1.10')
    >>> record.model_dump_json()
    '{"id":"k","usage":{"trailingSevenDays":{"usd":"1.10"}}}'
    """

    id: str = ""
    apiKeyType: str | None = None  # noqa: N815
    consumptionLimits: Annotated[ConsumptionLimits, _nothing_is({})] = ConsumptionLimits()  # noqa: N815
    limitPeriod: str | None = None  # noqa: N815
    modelPrivacy: str | None = None  # noqa: N815
    createdAt: datetime | None = None  # noqa: N815
    expiresAt: datetime | None = None  # noqa: N815
    last6Chars: str | None = None  # noqa: N815
    lastUsedAt: datetime | None = None  # noqa: N815
    description: str | None = None
    usage: Annotated[KeyUsage, _nothing_is({})] = KeyUsage()
    currentPeriodUsage: Annotated[Amounts, _nothing_is({})] = Amounts()  # noqa: N815


class ApiKeyList(_Record):
    """A list of API key records, as the API answers it."""

    data: tuple[ApiKey, ...]
    object: Literal["list"] = "list"


def within_limits(
    quote: Quote | Estimate,
    key_record: ApiKey | Mapping[str, Any],
    spent: Mapping[str, Decimal] | Decimal | None = None,
    *,
    currency: str | None = None,
    paid: Mapping[str, Decimal] | None = None,
) -> bool:
    """Return True if a key stays within its spending limits of the current period when it pays a charge.

    The charge is the total of a quote, or the highest amount of an estimate, to check a text request before it runs.

    `currency` (`usd`, `diem`, `vcu`) pays the charge; by default it is that of the quote. If several balances pay,
    `paid` has the amount of each, as `settle` splits it, and each is compared with its own limit. `spent` is what the
    key has spent in the period so far: amounts by currency, or one amount in the currency that pays; by default the
    record's `currentPeriodUsage`, where a negative amount counts as 0. A currency without a limit is unlimited, and so
    are bundled credits. Raises `CurrencyError` for a quote that is not in USD, for a currency that key records do not
    have or without a rate in limits.yaml, and for an amount that is not exact; pydantic's `ValidationError` for a
    mapping that is not a key record.

    >>> from datetime import UTC
    >>> from ratecard import load_rate_card
    >>> from ratecard.accounts import settle
    >>> quote = load_rate_card().at(datetime(2026, 10, 1, tzinfo=UTC)).quote_video({"model": "ovi-image-to-video"})
    >>> key = {"consumptionLimits": {"usd": "0.10", "diem": "0.20"}}
    >>> paid = settle(quote, {"DIEM": Decimal("0.20"), "USD": Decimal(5)})
    >>> within_limits(quote, key), within_limits(quote, key, paid=paid)
    (False, True)
    """
    fields = key_record if isinstance(key_record, Mapping) else getattr(key_record, "__dict__", {})
    for field in ("consumptionLimits", "currentPeriodUsage") if spent is None else ("consumptionLimits",):
        _check_currencies(field, fields.get(field))
    key = ApiKey.model_validate(key_record)
    charge = quote.highest if isinstance(quote, Estimate) else quote.total
    if paid is not None and currency is not None:
        raise CurrencyError("currency and paid are both given. Leave out currency")
    if paid is not None:
        check_paid(charge, quote.currency, quote.rates, paid)
        amounts = {name.lower(): part for name, part in paid.items() if part and name != UNLIMITED}
    else:
        payer = quote.currency if currency is None else str(currency).upper()
        _limit_of(key, payer.lower())
        amounts = {payer.lower(): EXACT.divide(charge, worth_of(payer, quote.currency, quote.rates))}
    spent_so_far = _spent(key, spent, amounts)
    limits = {name: _limit_of(key, name) for name in amounts}
    return all(limit is None or add(spent_so_far[name], amounts[name]) <= limit for name, limit in limits.items())


def _limit_of(key: ApiKey, name: str) -> Decimal | None:
    if name not in Amounts.model_fields:
        allowed = ", ".join(Amounts.model_fields)
        raise CurrencyError(f"currency={name.upper()!r} has no spending limit. Allowed: {allowed}")
    limit: Decimal | None = getattr(key.consumptionLimits, name)
    return limit


def _spent(
    key: ApiKey, spent: Mapping[str, Decimal] | Decimal | None, parts: Mapping[str, Decimal]
) -> Mapping[str, Decimal]:
    if spent is None:
        # If refunds exceed the spending, the key may still spend no more than its limit.
        return {name: max(Decimal(0), getattr(key.currentPeriodUsage, name)) for name in Amounts.model_fields}
    if not isinstance(spent, Mapping):
        if len(parts) > 1:
            raise CurrencyError(f"spent={spent!r} of a charge that {', '.join(parts)} pay. Give it by currency")
        return dict.fromkeys(parts, zero_or_more("spent", spent, CurrencyError))
    amounts: dict[str, Decimal] = {}
    for name, amount in spent.items():
        currency = str(name).lower()
        if currency not in Amounts.model_fields:
            raise CurrencyError(f"spent has {name!r}. Allowed: {', '.join(Amounts.model_fields)}")
        if currency in amounts:
            raise CurrencyError(f"spent has {name!r} twice; keep one")
        amounts[currency] = zero_or_more(f"spent[{name!r}]", amount, CurrencyError)
    return dict.fromkeys(Amounts.model_fields, Decimal(0)) | amounts


def _check_currencies(field: str, record: object) -> None:
    """Refuse amounts in unknown currencies, because no limit applies to them."""
    amounts = record._as_read if isinstance(record, _Record) else record
    for name, amount in amounts.items() if isinstance(amounts, Mapping) else ():
        if name not in Amounts.model_fields and amount is not None:
            raise CurrencyError(f"{field} has {name!r}. Allowed: {', '.join(Amounts.model_fields)}")


_WEEK = timedelta(days=7)


def trailing_seven_days(entries: Iterable[LedgerEntry], at: datetime | date) -> Amounts:
    """Return `usage.trailingSevenDays` of a key: what it spent in the seven days up to an instant.

    `entries` are the rows of the ledger for this key, in any order; those of other times do not count. A row of exactly
    seven days before does not count; a row of the instant itself does. Refunds count when they are paid back, and no
    amount is below 0. Bundled credits are not counted, as in `within_limits`. Exact. Raises `InstantError` for an
    instant or a row without a time zone, and `CurrencyError` for a currency without an amount in key records.

    >>> at = datetime.fromisoformat("2026-10-08T00:00:00Z")
    >>> amounts = [("2026-10-01T00:00:00+00:00", "-5"), ("2026-10-07T00:00:00+00:00", "-0.22")]
    >>> rows = [LedgerEntry(when, "s", Decimal(1), Decimal(1), Decimal(a), "USD", "", None) for when, a in amounts]
    >>> trailing_seven_days(rows, at).model_dump_json()
    '{"usd":"0.22","vcu":"0","diem":"0"}'
    """
    now = in_utc(at)
    spent = _spent_in(entry for entry, instant in _dated(entries) if now - instant < _WEEK and instant <= now)
    return _amounts(spent)


def current_period_usage(entries: Iterable[LedgerEntry], period: str, at: datetime | date) -> Amounts:
    """Return `currentPeriodUsage` of a key: what it spent from the beginning of its limit period up to an instant.

    `period` is the `limitPeriod` of the key: DAY, EPOCH, MONTH or LIFETIME. Rows, refunds and errors are those of
    `trailing_seven_days`; raises `ValueError` for another period too.

    >>> days = [("2026-09-30T23:59:59+00:00", "-5"), ("2026-10-01T00:00:00+00:00", "-0.22")]
    >>> rows = [LedgerEntry(when, "s", Decimal(1), Decimal(1), Decimal(a), "USD", "", None) for when, a in days]
    >>> current_period_usage(rows, "MONTH", date(2026, 10, 8)).usd
    Decimal('0.22')
    """
    now, start = in_utc(at), period_start(period, at)
    spent = _spent_in(entry for entry, when in _dated(entries) if (start is None or start <= when) and when <= now)
    # The API has no `vcu` here, so it is included only if some was spent.
    return _amounts({name: amount for name, amount in spent.items() if amount or name != "vcu"})


def _dated(entries: Iterable[LedgerEntry]) -> Iterator[tuple[LedgerEntry, datetime]]:
    for number, entry in enumerate(entries, 1):
        try:
            yield entry, in_utc(read_instant(entry.timestamp))
        except InstantError as error:
            raise InstantError(f"row {number}: timestamp {error}") from None


def _spent_in(entries: Iterable[LedgerEntry]) -> dict[str, Decimal]:
    spent = dict.fromkeys(("usd", "vcu", "diem"), Decimal(0))
    for entry in entries:
        name = entry.currency.lower()
        if name in spent:
            spent[name] = EXACT.subtract(spent[name], entry.amount)
        elif entry.currency != UNLIMITED:
            allowed = ", ".join(name.upper() for name in spent)
            words = f"a key record has no amount in {echo(entry.currency)!r}. Allowed: {allowed}, {UNLIMITED}"
            raise CurrencyError(f"{entry.sku} of {entry.timestamp}: {words}")
    return {name: max(amount, Decimal(0)) for name, amount in spent.items()}


def _amounts(spent: Mapping[str, Decimal]) -> Amounts:
    """Return the amounts as text, as the API writes them, because other programs would lose digits of numbers."""
    return Amounts.model_validate({name: text(amount) for name, amount in spent.items()})
