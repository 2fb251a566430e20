"""API key records in the shapes of the specification; decimal strings stay exact."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from ratecard import ApiKey, ApiKeyList

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
