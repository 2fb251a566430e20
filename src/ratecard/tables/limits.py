"""Numbers of the API that are not prices: dated like prices, with a source."""

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from ratecard.tables.scalars import Day, Frozen, Integer, Number, Text


def _read_flag(given: object) -> object:
    return {"true": True, "false": False}.get(str(given), given)


Flag = Annotated[bool, BeforeValidator(_read_flag), WithJsonSchema({"enum": [True, False, "true", "false"]})]


class TextLimit(Frozen):
    """Requests and tokens a minute of one tier of text models."""

    tier: Text
    partner: Flag
    requests: Integer
    tokens: Integer


class TypeLimit(Frozen):
    """Requests a minute of one other type."""

    type: Text
    partner: Flag
    requests: Integer


class FailedRequests(Frozen):
    """More failures than this within so many seconds block all requests for a while."""

    more_than: Integer
    within_seconds: Integer
    blocked_seconds: Integer


class TopUp(Frozen):
    """The least amount of one top-up."""

    currency: Text
    least: Number


class Diem(Frozen):
    """What one staked token gives a day, and how many must be staked at least."""

    usd_per_day: Number
    least_staked: Number


class Sunset(Frozen):
    """An endpoint that stopped answering: its headers, and what to use instead."""

    endpoint: Text
    deprecated: Text
    sunset: Text
    on: Day
    successor: Text
    link: Text
    renamed: dict[str, Text]


class Limits(Frozen):
    """All limits from one date until the next."""

    effective: Day
    checked: Day
    source: Text
    text: tuple[TextLimit, ...]
    types: tuple[TypeLimit, ...]
    failed_requests: FailedRequests
    scraped_urls: Integer
    top_up: TopUp
    diem: Diem
    sunsets: tuple[Sunset, ...]


class LimitsFile(Frozen):
    """The file of limits, newest first."""

    limits: tuple[Limits, ...]
