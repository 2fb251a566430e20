"""API key records in the shapes of the specification, read and made in Python; amounts stay exact."""

import json
import pickle
import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ratecard.accounts import Amounts, ApiKey, ApiKeyList, ConsumptionLimits, KeyUsage

RECORD: dict[str, Any] = {
    "apiKeyType": "ADMIN",
    "consumptionLimits": {"usd": 50, "diem": 10.5, "vcu": 30},
    "limitPeriod": "MONTH",
    "modelPrivacy": "ALL",
    "createdAt": "2026-01-01T12:00:00.000Z",
    "expiresAt": "2027-01-01T00:00:00.000Z",
    "id": "e28e82dc-9df2-4b47-b726-d0a222ef2ab5",
    "last6Chars": "2V2jNW",
    "lastUsedAt": "2026-09-28T12:00:00.000Z",
    "description": "Example API Key",
    "usage": {"trailingSevenDays": {"usd": "10.2424", "vcu": "42.2424", "diem": "0.10000000000000000001"}},
    "currentPeriodUsage": {"usd": "12.3400", "diem": "1.1"},
}


def test_a_record_of_the_specification() -> None:
    for key in (ApiKey.model_validate(RECORD), ApiKey.model_validate_json(json.dumps(RECORD))):
        assert (key.id, key.apiKeyType, key.last6Chars) == (RECORD["id"], "ADMIN", "2V2jNW")
        assert (key.limitPeriod, key.modelPrivacy, key.description) == ("MONTH", "ALL", "Example API Key")
        assert key.createdAt == datetime(2026, 1, 1, 12, tzinfo=UTC)
        assert key.expiresAt == datetime(2027, 1, 1, tzinfo=UTC)
        assert key.lastUsedAt == datetime(2026, 9, 28, 12, tzinfo=UTC)
        limits = key.consumptionLimits
        assert (limits.usd, limits.diem, limits.vcu) == (Decimal(50), Decimal("10.5"), Decimal(30))
        assert str(key.usage.trailingSevenDays.diem) == "0.10000000000000000001"
        assert str(key.currentPeriodUsage.usd) == "12.3400"
        assert key.currentPeriodUsage.vcu == 0
        assert json.loads(key.model_dump_json())["currentPeriodUsage"]["usd"] == "12.3400"


def test_the_list_wrapper() -> None:
    found = ApiKeyList.model_validate({"data": [RECORD, RECORD | {"id": "other"}], "object": "list", "more": 1})
    assert [key.id for key in found.data] == [RECORD["id"], "other"]
    assert ApiKeyList.model_validate({"data": []}).object == "list"
    for wrong in ({"data": [RECORD], "object": "lists"}, {"object": "list"}, {"data": RECORD}, {"data": [5]}):
        with pytest.raises(ValidationError):
            ApiKeyList.model_validate(wrong)


def test_what_the_api_may_leave_out_or_add() -> None:
    key = ApiKey.model_validate({"id": "k", "expiresAt": None, "lastUsedAt": None, "consumptionLimits": {"usd": None}})
    assert key.consumptionLimits.usd is None
    assert key.usage.trailingSevenDays.usd == 0
    assert ApiKey.model_validate(RECORD | {"newField": [1]}) == ApiKey.model_validate(RECORD)


@pytest.mark.parametrize(
    "wrong",
    [{"createdAt": "soon"}, {"usage": {"trailingSevenDays": {"usd": "ten"}}}, {"consumptionLimits": {"usd": "NaN"}},
     {"consumptionLimits": 5}, {"id": None}],
)  # fmt: skip
def test_a_record_of_another_shape(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ApiKey.model_validate(RECORD | wrong)


def test_a_record_does_not_change() -> None:
    with pytest.raises(ValidationError):
        setattr(ApiKey.model_validate(RECORD), "id", "other")  # noqa: B010 - what a program might do


def test_a_record_is_written_as_it_was_read() -> None:
    for key in (ApiKey.model_validate(RECORD), ApiKey.model_validate_json(json.dumps(RECORD))):
        assert key.model_dump() == RECORD
        assert json.loads(key.model_dump_json()) == key.model_dump(mode="json") == RECORD
        assert list(key.model_dump()) == list(RECORD)
        assert ApiKey.model_validate_json(key.model_dump_json()) == key
        assert pickle.loads(pickle.dumps(key)).model_dump() == RECORD  # noqa: S301 - our own


@pytest.mark.parametrize(
    "written",
    [
        "{}",
        '{"id":"k"}',
        '{"consumptionLimits":null,"usage":null,"currentPeriodUsage":null}',
        '{"consumptionLimits":{"usd":null,"diem":null,"vcu":null},"usage":{"trailingSevenDays":null}}',
        '{"currentPeriodUsage":{"usd":null,"diem":null},"usage":{"trailingSevenDays":{"usd":null,"vcu":"1"}}}',
        '{"consumptionLimits":{"usd":50,"diem":10.50,"vcu":0.10000000000000000000000000001}}',
        '{"consumptionLimits":{"usd":"50.00"},"limitPeriod":"LIFETIME"}',
        '{"createdAt":"2026-01-01T12:00:00.000Z","expiresAt":"2027-01-01T00:00:00+02:00","lastUsedAt":null}',
        '{"id":"k","newField":{"deep":[1.10,{"x":12345678901234567890.123456789}],"none":null},"other":true}',
        '{"description":"日本 \\"quoted\\" \\u2028","":1}',
    ],
)
def test_what_is_read_from_json_is_written_with_every_digit(written: str) -> None:
    key = ApiKey.model_validate_json(written)
    expected = written.replace("\\u2028", "\u2028")
    assert key.model_dump_json() == expected
    assert ApiKeyList.model_validate_json(f'{{"data":[{written}],"object":"list","more":1.50}}').model_dump_json() == (
        f'{{"data":[{expected}],"object":"list","more":1.50}}'
    )
    assert json.loads(key.model_dump_json(indent=2)) == json.loads(written)


def test_null_means_unlimited_and_zero_spent() -> None:
    key = ApiKey.model_validate({"consumptionLimits": None, "usage": None, "currentPeriodUsage": {"usd": None}})
    assert key.consumptionLimits.usd is None
    assert (key.usage.trailingSevenDays.diem, key.currentPeriodUsage.usd) == (Decimal(0), Decimal(0))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    | st.decimals(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip
AMOUNTS = st.none() | st.decimals(0, 10**6, allow_nan=False) | st.integers(0, 10**30)
STRINGS = st.none() | st.decimals(0, 10**6, allow_nan=False).map(str)
TIMES = st.none() | st.sampled_from(["2026-01-01T12:00:00.000Z", "2026-01-01T12:00:00+02:00", "2026-01-01 12:00:00Z"])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.fixed_dictionaries({}, optional=fields)


SPENT = some(usd=STRINGS, diem=STRINGS, vcu=STRINGS, other=VALUES)
RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text(), "apiKeyType": st.none() | st.text(), "limitPeriod": st.none() | st.text(),
        "consumptionLimits": some(usd=AMOUNTS, diem=AMOUNTS, vcu=AMOUNTS, eur=AMOUNTS),
        "usage": some(trailingSevenDays=SPENT, ever=VALUES), "currentPeriodUsage": SPENT,
        "createdAt": TIMES, "expiresAt": TIMES, "lastUsedAt": TIMES, "newField": VALUES,
    },
)  # fmt: skip


@given(RECORDS)
def test_every_record_is_written_as_it_was_read(record: dict[str, Any]) -> None:
    key = ApiKey.model_validate(record)
    assert key.model_dump() == record
    written = key.model_dump_json()
    again = ApiKey.model_validate_json(written)
    assert (again, again.model_dump_json()) == (key, written)
    assert exactly(json.loads(written, parse_float=Decimal)) == exactly(record)
    listed = ApiKeyList.model_validate({"data": [record]})
    assert (listed.data[0], listed.model_dump_json()) == (key, f'{{"data":[{written}]}}')


def exactly(value: Any) -> Any:
    """Numbers as decimals: a whole one is written without a point."""
    if isinstance(value, dict):
        return {name: exactly(part) for name, part in value.items()}
    if isinstance(value, list):
        return [exactly(part) for part in value]
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


def test_a_writer_without_decimals_loses_no_digit() -> None:
    key = ApiKey.model_validate_json('{"consumptionLimits":{"usd":10.5,"diem":50},"plan":{"fees":[1.5]}}')
    assert key.model_dump(mode="json") == {"consumptionLimits": {"usd": 10.5, "diem": 50}, "plan": {"fees": [1.5]}}
    longer = ApiKey.model_validate_json('{"consumptionLimits":{"usd":0.10000000000000000001}}')
    with pytest.raises(ValueError, match=r"0\.10000000000000000001 has more digits than this writer keeps"):
        longer.model_dump(mode="json")


def test_a_record_is_independent_of_what_it_was_read_from() -> None:
    limits: dict[str, Any] = {"usd": 1}
    key = ApiKey.model_validate({"consumptionLimits": limits})
    limits["usd"] = 2
    key.model_dump()["consumptionLimits"]["usd"] = 3
    assert key.model_dump() == {"consumptionLimits": {"usd": 1}}


def test_a_changed_copy_is_checked_and_written() -> None:
    key = ApiKey.model_validate(RECORD).model_copy(update={"description": "other", "lastUsedAt": None})
    assert (key.description, key.lastUsedAt) == ("other", None)
    assert key.model_dump() == RECORD | {"description": "other", "lastUsedAt": None}
    with pytest.raises(ValidationError):
        key.model_copy(update={"createdAt": "soon"})
    later = datetime(2026, 1, 2, tzinfo=UTC)
    assert '"createdAt":"2026-01-02T00:00:00+00:00"' in key.model_copy(update={"createdAt": later}).model_dump_json()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{", "The record is not JSON: "),
        ("", "The record is not JSON: it is empty"),
        ('{"id":"k","id":"k"}', "The record has the key 'id' twice; keep one"),
        ('{"more":NaN}', "The record has a number that JSON does not have"),
        ('{"more":1e99999999999999999999}', "The record has a number that is too large"),
        ('{"more":' + "[" * 100_000, "The record is not JSON: it is nested too deeply"),
        (b'{"id":"\xff"}', "The record is not JSON"),
        ('["k"]', "valid dictionary"),
    ],
)
def test_json_that_is_not_a_record(written: str | bytes, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ApiKey.model_validate_json(written)


@pytest.mark.parametrize(
    ("record", "name", "meant"),
    [
        ({"consumptionLimit": {"usd": 0}}, "consumptionLimit", "consumptionLimits"),
        ({"consumption_limits": {"usd": 0}}, "consumption_limits", "consumptionLimits"),
        ({"Consumption-Limits": {"usd": 0}}, "Consumption-Limits", "consumptionLimits"),
        ({"comsumptionLimits": {"usd": 0}}, "comsumptionLimits", "consumptionLimits"),
        ({"limits": {"usd": 0}}, "limits", "consumptionLimits"),
        ({"consumptionLimits": {"USD": 0}}, "USD", "usd"),
        ({"consumptionLimits": {"usd_": 0, "usd": 9}}, "usd_", "usd"),  # two spellings of one name
        ({"limit-period": "DAY", "limitPeriod": "DAY"}, "limit-period", "limitPeriod"),
        ({"consumptionLimits": {"dime": 0}}, "dime", "diem"),
        ({"limit_period": "DAY"}, "limit_period", "limitPeriod"),
        ({"currentperiodusage": {"usd": "9"}}, "currentperiodusage", "currentPeriodUsage"),
        ({"currentPeriodUsage": {"Usd": "9"}}, "Usd", "usd"),
        ({"usages": {"trailingSevenDays": {}}}, "usages", "usage"),
        ({"usage": {"trailing7Days": {"usd": "9"}}}, "trailing7Days", "trailingSevenDays"),
        ({"usage": {"trailingSevenDays": {"vcus": "9"}}}, "vcus", "vcu"),
        ({"expires_at": "2026-01-01T12:00:00Z"}, "expires_at", "expiresAt"),
    ],
)
def test_a_name_that_looks_like_a_known_one_is_refused(record: dict[str, Any], name: str, meant: str) -> None:
    said = re.escape(f"'{name}' is not known. Did you mean '{meant}'? Allowed: ")
    for read in (
        lambda: ApiKey.model_validate(record),
        lambda: ApiKey.model_validate_json(json.dumps(record)),
        lambda: ApiKey(**record),
        lambda: ApiKey(id="k").model_copy(update=record),
        lambda: ApiKeyList.model_validate({"data": [record]}),
    ):
        with pytest.raises(ValidationError, match=said):
            read()


@pytest.mark.parametrize("further", ["newField", "updatedAt", "lastUsedIp", "usageLimits", "name", ""])
def test_a_name_that_is_new_is_kept_beside_all_that_are_known(further: str) -> None:
    record = RECORD | {further: {"usd": 1}}
    assert ApiKey.model_validate(record).model_dump() == record
    listed = {"data": [record], "object": "list", further: 1}
    assert ApiKeyList.model_validate(listed).model_dump() == listed


def made() -> ApiKey:
    return ApiKey(
        id="k",
        limitPeriod="MONTH",
        createdAt=datetime(2026, 1, 1, tzinfo=UTC),
        consumptionLimits=ConsumptionLimits(usd=Decimal("10.50"), diem=3, vcu=None),
        usage=KeyUsage(trailingSevenDays=Amounts(usd=Decimal("1E+2"), vcu=Decimal("0.10000000000000000000000000001"))),
        currentPeriodUsage=Amounts(usd=7, diem=None),
    )


def test_a_record_made_in_python_is_written_as_the_api_does() -> None:
    written = (
        '{"id":"k","limitPeriod":"MONTH","createdAt":"2026-01-01T00:00:00+00:00",'
        '"consumptionLimits":{"usd":10.50,"diem":3,"vcu":null},'
        '"usage":{"trailingSevenDays":{"usd":"100","vcu":"0.10000000000000000000000000001"}},'
        '"currentPeriodUsage":{"usd":"7","diem":null}}'
    )
    assert made().model_dump_json() == written
    assert ApiKey.model_validate_json(written) == made()
    of_mappings = ApiKey(id="k", currentPeriodUsage={"usd": Decimal("1.10"), "vcu": 2})
    assert of_mappings.model_dump_json() == '{"id":"k","currentPeriodUsage":{"usd":"1.10","vcu":"2"}}'
    assert ApiKeyList(data=(made(),)).model_dump_json() == f'{{"data":[{written}]}}'
    assert ApiKeyList(data=(made(),), object="list").model_dump_json() == f'{{"data":[{written}],"object":"list"}}'


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"include": {"id"}}, {"id": "k"}),
        ({"include": {"currentPeriodUsage": {"usd"}}}, {"currentPeriodUsage": {"usd": "7"}}),
        ({"exclude": {"usage": True, "consumptionLimits": {"usd", "vcu"}, "createdAt": True, "limitPeriod": True}},
         {"id": "k", "consumptionLimits": {"diem": 3}, "currentPeriodUsage": {"usd": "7", "diem": None}}),
        ({"include": {"id", "consumptionLimits", "currentPeriodUsage"}, "exclude_none": True},
         {"id": "k", "consumptionLimits": {"usd": 10.5, "diem": 3}, "currentPeriodUsage": {"usd": "7"}}),
        ({"include": {"consumptionLimits", "currentPeriodUsage"}, "exclude_defaults": True},
         {"consumptionLimits": {"usd": 10.5, "diem": 3}, "currentPeriodUsage": {"usd": "7"}}),
        ({"include": {"id"}, "by_alias": True, "exclude_unset": True, "round_trip": True}, {"id": "k"}),
    ],
)  # fmt: skip
def test_pydantic_s_own_options_hold(options: dict[str, Any], expected: dict[str, Any]) -> None:
    assert json.loads(made().model_dump_json(**options)) == expected
    assert json.loads(made().model_dump_json(indent=2, **options)) == expected
    assert made().model_dump(mode="json", **options) == expected
    within = {name: {"data": {"__all__": part}} for name, part in options.items() if name in ("include", "exclude")}
    listed = ApiKeyList(data=(made(),))
    assert json.loads(listed.model_dump_json(**options | within)) == {"data": [expected]}


def test_text_is_written_in_ascii_if_that_is_asked_for() -> None:
    assert ApiKey(description="日").model_dump_json(ensure_ascii=True) == '{"description":"\\u65e5"}'


@pytest.mark.parametrize(
    "make",
    [
        lambda: ConsumptionLimits(usd=0.1),
        lambda: Amounts(diem=1.0),
        lambda: Amounts.model_validate({"diem": 1.0}),
        lambda: ApiKey(consumptionLimits={"usd": 0.1}),
        lambda: ApiKey(id="k").model_copy(update={"consumptionLimits": {"usd": 0.1}}),
        lambda: ApiKey(usage={"trailingSevenDays": {"vcu": 0.1}}),
        lambda: ApiKeyList(data=[{"currentPeriodUsage": {"usd": 0.1}}]),
    ],
)
def test_an_amount_made_of_a_float_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValidationError, match=r"a float has lost its digits already\. Give a Decimal, an int or text"):
        make()


def test_what_json_has_no_number_for_is_not_written() -> None:
    for word in ("NaN", "Infinity"):
        with pytest.raises(ValueError, match=f"JSON has no {word}"):
            ApiKey(newField=Decimal(word)).model_dump_json()
        with pytest.raises(ValueError, match="not JSON compliant"):
            ApiKey.model_validate({"newField": float(word)}).model_dump_json()


@pytest.mark.parametrize("record", [ConsumptionLimits, Amounts])
@pytest.mark.parametrize("given", ["2_0", "٢٠"])
def test_an_amount_is_written_in_digits(record: type[ConsumptionLimits | Amounts], given: str) -> None:
    with pytest.raises(ValidationError, match="must be a number in the digits 0 to 9"):
        record.model_validate({"usd": given})


@pytest.mark.parametrize("record", [ConsumptionLimits, Amounts])
def test_an_amount_is_not_true_or_false(record: type[ConsumptionLimits | Amounts]) -> None:
    for make in (record, lambda **given: record.model_validate(given)):
        with pytest.raises(ValidationError, match="must be an amount, not true or false"):
            make(usd=True)


SPENT_DECIMALS = st.none() | st.decimals(-(10**9), 10**9, allow_nan=False) | st.integers(0, 10**30)
MADE_AMOUNTS = st.fixed_dictionaries(
    {}, optional={"usd": SPENT_DECIMALS, "diem": SPENT_DECIMALS, "vcu": SPENT_DECIMALS}
)
MADE = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text(), "description": st.none() | st.text(), "limitPeriod": st.sampled_from(["DAY", "MONTH", None]),
        "createdAt": st.none() | st.datetimes(timezones=st.just(UTC)),
        "consumptionLimits": st.none() | MADE_AMOUNTS.map(lambda given: ConsumptionLimits(**given)),
        "usage": st.none() | MADE_AMOUNTS.map(lambda given: KeyUsage(trailingSevenDays=Amounts(**given))),
        "currentPeriodUsage": st.none() | MADE_AMOUNTS | MADE_AMOUNTS.map(lambda given: Amounts(**given)),
        "newField": VALUES,
    },
)  # fmt: skip


@given(st.lists(MADE, max_size=2))
def test_what_is_made_in_python_is_read_again_as_it_was(fields: list[dict[str, Any]]) -> None:
    keys = [ApiKey(**given) for given in fields]
    listed = ApiKeyList(data=tuple(keys))
    for record in (listed, *keys):
        written = record.model_dump_json()
        assert type(record).model_validate_json(written) == record
        assert type(record).model_validate_json(written).model_dump_json() == written
        assert type(record).model_validate(record.model_dump()) == record
        assert type(record).model_validate_json(record.model_dump_json(indent=2, ensure_ascii=True)) == record
    for key in keys:
        for of in (key.currentPeriodUsage, key.usage.trailingSevenDays):
            assert all(part is None or isinstance(part, str) for part in json.loads(of.model_dump_json()).values())
