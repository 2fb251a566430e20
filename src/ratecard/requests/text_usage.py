"""The OpenAI-compatible usage object of a text request -> disjoint buckets of tokens.

The buckets are made disjoint here, once: uncached = prompt - cached - written. Tokens read from the cache are part of
the prompt, so a bill that adds both counts them twice.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ratecard.requests.fields import decimal, whole
from ratecard.words.tree import Path
from ratecard.words.wording import NOT_AN_INTEGER, REQUIRED, NotOffered, too_big, too_small, wrong_type

Problems = list[tuple[Path, str]]
# More tokens than all machines make in a year: a count beyond is no count.
MOST_TOKENS = 10**18

# The names of the same counts in the two dialects of OpenAI's clients.
_PROMPT = ("prompt_tokens", "input_tokens")
_COMPLETION = ("completion_tokens", "output_tokens")
_DETAILS = ("prompt_tokens_details", "input_tokens_details")
# The name that the API documents, and the one in the objects of OpenAI's own client.
_WRITTEN = ("cache_creation_input_tokens", "cache_write_tokens")


class TokenCounts(NamedTuple):
    """Disjoint buckets; their sum without `completion` is the whole prompt."""

    uncached: int
    cached: int
    written: int
    completion: int


def mapping_of(given: object) -> Mapping[str, Any] | None:
    """A usage as a mapping: a mapping itself, or an object of a client's library with such attributes."""
    if isinstance(given, Mapping):
        return given
    if given is None or isinstance(given, (str, bytes, int, float, list, tuple, set)):
        return None
    dump = getattr(given, "model_dump", None)
    found = dump() if callable(dump) else getattr(given, "__dict__", None)
    return found if isinstance(found, Mapping) else None


def read_tokens(given: object, problems: Problems, *, completion_required: bool) -> TokenCounts:
    """The buckets of a usage object; what is wrong with it is added to `problems`, each at its exact field."""
    usage = mapping_of(given)
    if usage is None:
        problems.append((("usage",), wrong_type("object", given)))
        return TokenCounts(0, 0, 0, 0)
    prompt = _count(usage, _PROMPT, ("usage",), problems, required=True)
    completion = _count(usage, _COMPLETION, ("usage",), problems, required=completion_required)
    name = _named(usage, _DETAILS)
    inside = mapping_of(usage[name]) if usage.get(name) is not None else {}
    if inside is None:
        problems.append((("usage", name), wrong_type("object", usage[name])))
        inside = {}
    at = ("usage", name)
    before = len(problems)
    cached = _count(inside, ("cached_tokens",), at, problems, required=False)
    written = _count(inside, _WRITTEN, at, problems, required=False)
    if len(problems) == before and not any(path == ("usage", _named(usage, _PROMPT)) for path, _ in problems):
        if cached > prompt:
            problems.append(((*at, "cached_tokens"), too_big(prompt)))
        elif cached + written > prompt:
            problems.append(((*at, _named(inside, _WRITTEN)), too_big(prompt - cached)))
    return TokenCounts(prompt - cached - written, cached, written, completion)


def _named(usage: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Which of these names a usage has; the first where it has none."""
    return next((name for name in names if usage.get(name) is not None), names[0])


def _count(usage: Mapping[str, Any], names: tuple[str, ...], at: Path, problems: Problems, *, required: bool) -> int:
    name = _named(usage, names)
    given = usage.get(name)
    if given is None and (name not in usage or not required):
        if required:
            problems.append(((*at, name), REQUIRED))
        return 0
    messages = count_messages(given)
    problems += [((*at, name), message) for message in messages]
    return 0 if messages else whole(given) or 0


def count_messages(given: object, most: int = MOST_TOKENS) -> list[str]:
    """What is wrong with a count: its type, a fraction, a negative, or more than can be."""
    number = decimal(given)
    if number is None:
        return [wrong_type("number", given)]
    messages = [NOT_AN_INTEGER] if -MOST_TOKENS < number < MOST_TOKENS and whole(given) is None else []
    if number < 0:
        messages.append(too_small(0))
    elif number > most:
        messages.append(NotOffered(too_big(most)))
    return messages
