"""Request limits and endpoints that stopped answering, from the dated table of limits."""

from datetime import date
from typing import Any, NamedTuple

from ratecard.tables.limits import Limits
from ratecard.words.errors import RateCardError
from ratecard.words.suggest import did_you_mean


class Limit(NamedTuple):
    """Requests a minute, and tokens a minute for text models."""

    requests: int
    tokens: int | None = None


class LimitError(RateCardError, ValueError):
    """A type or tier that has no published limit."""


class Sunset(NamedTuple):
    """What an endpoint answers after its sunset."""

    status: int
    headers: dict[str, str]
    body: dict[str, Any]


def limit_of(limits: Limits, type_: str, tier: str | None, partner: bool) -> Limit:
    """The limit of a type; of a text model's tier, with the tokens a minute. Raises `LimitError`."""
    who = "partners" if partner else "everybody"
    if type_ == "text":
        by_tier = {each.tier: Limit(each.requests, each.tokens) for each in limits.text if each.partner == partner}
        if tier not in by_tier:
            raise LimitError(f"tier={tier!r} of text has no limit for {who}. Tiers: {', '.join(by_tier)}")
        return by_tier[tier]
    by_type = {each.type: Limit(each.requests) for each in limits.types if each.partner == partner}
    if type_ not in by_type:
        near = did_you_mean(type_, ("text", *by_type))
        raise LimitError(f"type {type_!r} has no limit for {who}.{near} Types: text, {', '.join(by_type)}")
    if tier is not None:
        raise LimitError(f"tier={tier!r}: only text models have tiers; leave it out for {type_}")
    return by_type[type_]


def sunset_of(limits: Limits, endpoint: str, day: date) -> Sunset | None:
    """What an endpoint answers from its sunset on: 410, its headers, and what to use instead."""
    for each in limits.sunsets:
        if each.endpoint == endpoint and each.on <= day:
            renamed = "; ".join(f"`{old}` is now {new}" for old, new in each.renamed.items())
            message = f"{endpoint} was sunset on {each.on}. Use {each.successor} instead: {renamed}."
            headers = {"Deprecation": each.deprecated, "Link": each.link, "Sunset": each.sunset}
            return Sunset(410, headers, {"error": message})
    return None
