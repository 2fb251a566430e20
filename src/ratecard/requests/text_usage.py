"""What every object and every count of a usage must be, and which keys select another price."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from ratecard.requests.fields import decimal, whole
from ratecard.requests.token_fields import SELECTORS
from ratecard.words.tree import Path
from ratecard.words.wording import NOT_AN_INTEGER, NotOffered, invalid_enum, too_big, too_small, wrong_type

Problems = list[tuple[Path, str]]
# Upper bound for token counts; anything larger is rejected.
MOST_TOKENS = 10**18


def mapping_of(given: object) -> Mapping[Any, Any] | None:
    """An object as a mapping: a mapping itself, or an object of a client's library with such attributes.

    Fields of a pydantic model that are None were not given.
    """
    if isinstance(given, Mapping):
        return given
    if given is None or isinstance(given, (str, bytes, int, float, list, tuple, set, type)):
        return None
    if isinstance(given, BaseModel):
        fields = {**given.__dict__, **(given.__pydantic_extra__ or {})}
        return {name: value for name, value in fields.items() if value is not None}
    try:
        dump = getattr(given, "model_dump", None)
        found = dump() if callable(dump) else getattr(given, "__dict__", None)
    except Exception:  # noqa: BLE001 - code of a client, which may raise anything
        return None
    return found if isinstance(found, Mapping) else None


def count_messages(given: object, most: int = MOST_TOKENS) -> list[str]:
    """What is wrong with a count: its type, a fraction, a negative, or more than can be."""
    if given.__class__ is int and 0 <= given <= most:
        return []
    number = decimal(given)
    if number is None:
        return [wrong_type("number", given)]
    messages = [NOT_AN_INTEGER] if -MOST_TOKENS < number < MOST_TOKENS and whole(given) is None else []
    if number < 0:
        messages.append(too_small(0))
    elif number > most:
        messages.append(NotOffered(too_big(most)))
    return messages


def selector_messages(name: str, given: object) -> list[str]:
    """What is wrong with a key that selects a price: any value but those of the listed price."""
    allowed = SELECTORS[name]
    return [] if given is None or (isinstance(given, str) and given in allowed) else [invalid_enum(allowed, given)]


def selector_problems(usage: Mapping[Any, Any]) -> Problems:
    """What is wrong with the keys beside the tokens that select a price."""
    if usage.keys().isdisjoint(SELECTORS):
        return []
    return [((name,), words) for name in SELECTORS if name in usage for words in selector_messages(name, usage[name])]
