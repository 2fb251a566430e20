"""API key records as the API lists them, and whether a charge stays within a key's spending limit."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializationInfo,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from ratecard.base.errors import CurrencyError
from ratecard.base.messages import echo
from ratecard.base.money import EXACT, READING, add
from ratecard.rating.ledger_entry import check_paid, worth_of
from ratecard.rating.quote import Quote

# The balance that a key record has no limit for.
_UNLIMITED = "BUNDLED_CREDITS"


class _Record(BaseModel):
    """A record of the API. Unknown fields are kept, and the record is written as it was read.

    Records are equal if their known fields are.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
    _as_read: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        record = read(given)
        if isinstance(given, Mapping):
            record._as_read = _copied(given)
        return record

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Read a record from JSON; numbers keep every digit. Raises pydantic's `ValidationError`."""
        try:
            given = json.loads(json_data, parse_float=_number, parse_constant=_number, object_pairs_hook=_object)
            return cls.model_validate(given, **options)
        except ValidationError:
            raise
        except (ValueError, RecursionError) as error:
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            wrong = PydanticCustomError("json_invalid", "Invalid JSON: {reason}", {"reason": reason})
            raise ValidationError.from_exception_data(
                cls.__name__, [InitErrorDetails(type=wrong, loc=(), input=json_data)], input_type="json"
            ) from None

    def model_dump_json(self, *, indent: int | None = None) -> str:  # type: ignore[override]
        """Write the record as it was read: nothing is added, and numbers keep every digit."""
        return _json(self._as_read, indent)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the record with other values, which are validated."""
        return self.model_validate({**self._as_read, **(update or {})})

    @model_serializer(mode="plain")
    def _as_it_was_read(self, info: SerializationInfo) -> dict[str, Any]:
        found: dict[str, Any] = _copied(self._as_read, _plain if info.mode_is_json() else None)
        return found

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__


def _number(word: str) -> Decimal:
    number = READING.create_decimal(word)
    if not number.is_finite():
        raise ValueError(f"{echo(word)} is not a number")
    return number


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _json(value: Any, indent: int | None, level: int = 1) -> str:
    """JSON with decimals as numbers of all their digits; the standard encoder refuses decimals."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return json.dumps(value.isoformat())
    if not isinstance(value, (Mapping, list, tuple)) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    space, end = ("", "") if indent is None else ("\n" + " " * indent * level, "\n" + " " * indent * (level - 1))
    colon = ":" if indent is None else ": "
    if isinstance(value, Mapping):
        parts = [f"{_json(str(name), None)}{colon}{_json(part, indent, level + 1)}" for name, part in value.items()]
        return "{" + ",".join(f"{space}{part}" for part in parts) + end + "}"
    return "[" + ",".join(f"{space}{_json(part, indent, level + 1)}" for part in value) + end + "]"


def _copied(value: Any, change: Callable[[Decimal], Any] | None = None) -> Any:
    """A copy of JSON data, with `change` applied to every decimal."""
    if isinstance(value, Mapping):
        return {name: _copied(part, change) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(part, change) for part in value]
    return change(value) if change and isinstance(value, Decimal) else value


def _plain(number: Decimal) -> Any:
    """A number for a JSON writer that has no decimals. Raises `ValueError` if digits would be lost."""
    shown = json.loads(str(number))
    if Decimal(str(shown)) != number:
        raise ValueError(f"{number} has more digits than this writer keeps; use model_dump_json")
    return shown


def _nothing_is(empty: Any) -> BeforeValidator:
    """Read null as `empty`."""
    return BeforeValidator(lambda given: empty if given is None else given)


class ConsumptionLimits(_Record):
    """The most that a key may spend in one limit period, by currency; None means unlimited."""

    usd: Decimal | None = None
    diem: Decimal | None = None
    vcu: Decimal | None = None


class Amounts(_Record):
    """Amounts that were spent, by currency: exact decimals; null means 0."""

    usd: Annotated[Decimal, _nothing_is(0)] = Decimal(0)
    diem: Annotated[Decimal, _nothing_is(0)] = Decimal(0)
    vcu: Annotated[Decimal, _nothing_is(0)] = Decimal(0)


class KeyUsage(_Record):
    """What a key spent in the last seven days."""

    trailingSevenDays: Annotated[Amounts, _nothing_is({})] = Amounts()  # noqa: N815 - the API's spelling


class ApiKey(_Record):
    """An API key record, without the key itself. `model_dump` and `model_dump_json` write it as it was read.

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
    quote: Quote,
    key_record: ApiKey | Mapping[str, Any],
    spent: Mapping[str, Decimal] | Decimal | None = None,
    *,
    currency: str | None = None,
    paid: Mapping[str, Decimal] | None = None,
) -> bool:
    """Whether a key stays within its spending limits of the current period if it pays a charge.

    `currency` (`usd`, `diem`, `vcu`) is what pays the charge, by default that of the quote; if several balances pay,
    `paid` is what each of them pays, as `settle` splits it, and each is compared with its own limit. `spent` is what
    the key spent in the period so far, by currency or in the one that pays; by default the record's
    `currentPeriodUsage`. A currency without a limit is unlimited, and so are bundled credits. Raises `CurrencyError`
    for a quote that is not in USD, for a currency without a limit or a rate in limits.yaml, and for an amount that is
    not exact.

    >>> from datetime import UTC
    >>> from ratecard import load_rate_card, settle
    >>> quote = load_rate_card().at(datetime(2026, 10, 1, tzinfo=UTC)).quote_video({"model": "ovi-image-to-video"})
    >>> key = {"consumptionLimits": {"usd": "0.10", "diem": "0.20"}}
    >>> paid = settle(quote, {"DIEM": Decimal("0.20"), "USD": Decimal(5)})
    >>> within_limits(quote, key), within_limits(quote, key, paid=paid)
    (False, True)
    """
    key = key_record if isinstance(key_record, ApiKey) else ApiKey.model_validate(key_record)
    if paid is not None and currency is not None:
        raise CurrencyError("currency and paid are both given. Leave out currency")
    if paid is not None:
        check_paid(quote.total, quote.currency, quote.rates, paid)
        parts = {name.lower(): part for name, part in paid.items() if part and name != _UNLIMITED}
    else:
        payer = quote.currency if currency is None else str(currency).upper()
        _limit_of(key, payer.lower())
        parts = {payer.lower(): EXACT.divide(quote.total, worth_of(payer, quote.currency, quote.rates))}
    _check_names("consumptionLimits", key.consumptionLimits)
    before = _spent(key, spent, parts)
    limits = {name: _limit_of(key, name) for name in parts}
    return all(limit is None or add(before[name], parts[name]) <= limit for name, limit in limits.items())


def _limit_of(key: ApiKey, name: str) -> Decimal | None:
    if name not in Amounts.model_fields:
        allowed = ", ".join(Amounts.model_fields)
        raise CurrencyError(f"currency={name.upper()!r} has no spending limit. Allowed: {allowed}")
    limit: Decimal | None = getattr(key.consumptionLimits, name)
    return limit


def _spent(
    key: ApiKey, spent: Mapping[str, Decimal] | Decimal | None, parts: Mapping[str, Decimal]
) -> Mapping[str, Decimal]:
    """The amounts spent so far, by currency."""
    if spent is None:
        _check_names("currentPeriodUsage", key.currentPeriodUsage)
        return {name: getattr(key.currentPeriodUsage, name) for name in Amounts.model_fields}
    if not isinstance(spent, Mapping):
        if len(parts) > 1:
            raise CurrencyError(f"spent={spent!r} of a charge that {', '.join(parts)} pay. Give it by currency")
        return dict.fromkeys(parts, _exact("spent", spent))
    before: dict[str, Decimal] = {}
    for name, amount in spent.items():
        known = str(name).lower()
        if known not in Amounts.model_fields:
            raise CurrencyError(f"spent has {name!r}. Allowed: {', '.join(Amounts.model_fields)}")
        if known in before:
            raise CurrencyError(f"spent has {name!r} twice; keep one")
        before[known] = _exact(f"spent[{name!r}]", amount)
    return dict.fromkeys(Amounts.model_fields, Decimal(0)) | before


def _exact(name: str, given: object) -> Decimal:
    if isinstance(given, bool) or not isinstance(given, (Decimal, int)) or not Decimal(given).is_finite() or given < 0:
        raise CurrencyError(f"{name}={given!r} must be a finite Decimal, zero or more")
    return Decimal(given)


def _check_names(field: str, record: _Record) -> None:
    """Refuse amounts in unknown currencies, because no limit applies to them."""
    for name, given in record._as_read.items():
        if name not in Amounts.model_fields and given is not None:
            raise CurrencyError(f"{field} has {name!r}. Allowed: {', '.join(Amounts.model_fields)}")
