"""The token usage of a text request, as its provider wrote it -> disjoint buckets of tokens.

The buckets are made disjoint here, once: uncached = prompt - cached - written. Tokens read from the cache are part of
the prompt, so a bill that adds both counts them twice. Whatever else the object counts is refused, because it could
have a price; what counts nothing is listed.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from ratecard.rating.compiling import new
from ratecard.requests.fields import decimal, whole
from ratecard.requests.token_fields import (
    COUNTERS,
    FIRST_PART,
    ITERATIONS,
    SELECTORS,
    SLOTS,
    USAGE,
    Place,
    is_counter,
)
from ratecard.words.suggest import did_you_mean
from ratecard.words.tree import Path
from ratecard.words.wording import (
    NOT_AN_INTEGER,
    REQUIRED,
    NotOffered,
    field_name,
    invalid_enum,
    too_big,
    too_small,
    wrong_type,
)

Problems = list[tuple[Path, str]]
Found = list[int | None]
# Upper bound for token counts; anything larger is rejected.
MOST_TOKENS = 10**18
NO_PRICE = "No price is known for this count"
AMBIGUOUS = "In the prompt, or beside it? Give them with input_tokens alone, or with prompt_tokens alone"

_AT: Path = ("usage",)
_NOTHING: Found = [None] * len(COUNTERS)
_NO_PARTS: Found = _NOTHING[FIRST_PART:]
# Of what is not known: how deep it may be nested, how many values it may have, how many problems are told.
_DEEPEST, _MOST_VALUES, _MOST_PROBLEMS = 20, 10_000, 50


class TokenCounts(NamedTuple):
    """Disjoint buckets, whose sum without `completion` is the whole prompt; then what else the usage says.

    `searches` is None where it counts none; `ignored` are the dotted paths of what has no effect on the price.
    """

    uncached: int
    cached: int
    written: int
    completion: int
    searches: int | None = None
    ignored: tuple[str, ...] = ()


class _Other(NamedTuple):
    """A value under a name that is not of the table, in the object at `path`, of which `known` are the names."""

    path: Path
    name: Any
    given: Any
    known: Collection[str]


NO_TOKENS = TokenCounts(0, 0, 0, 0)


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


def read_tokens(given: object, problems: Problems, *, completion_required: bool) -> TokenCounts:
    """The buckets of a usage object; what is wrong with it is added to `problems`, each at its exact field.

    >>> read_tokens({"input_tokens": 5, "cache_read_input_tokens": 90}, [], completion_required=False)
    TokenCounts(uncached=5, cached=90, written=0, completion=0, searches=None, ignored=())
    """
    fields: Any = given if given.__class__ is dict else mapping_of(given)
    if fields is None:
        problems.append((_AT, wrong_type("object", given)))
        return NO_TOKENS
    before, found = len(problems), _NOTHING.copy()
    others: list[_Other] = []
    _gather(USAGE, fields, _AT, found, problems, others)
    named, inputs, given_completion, total, cached, written, top_cached, top_written, searches = found[:FIRST_PART]
    if named is None and inputs is None:
        _require("prompt", "input", fields, problems)
    if given_completion is None and completion_required:
        _require("completion", "completion", fields, problems)
    ignored = _Further(problems).read(others, found) if others else ()
    if len(problems) > before:
        return NO_TOKENS
    if inputs is not None or top_cached is not None or top_written is not None:
        named, cached, written = _in_dialect(found, fields, problems)
    prompt, completion, cached, written = named or 0, given_completion or 0, cached or 0, written or 0
    if cached + written > prompt:
        excess, most = ("read", prompt) if cached > prompt else ("written", prompt - cached)
        problems.append((path_of(excess, fields), too_big(most)))
    if found[FIRST_PART:] != _NO_PARTS:
        of_whole = {"prompt": found[0] or found[1] or 0, "completion": completion, "written": written}
        _check_parts(found, of_whole, fields, problems)
    if total is not None and total != prompt + (completion if completion_required else 0):
        expected, kinds = (prompt + completion, "prompt and completion") if completion_required else (prompt, "prompt")
        problems.append((path_of("total", fields), f"Expected {expected}, the sum of all {kinds} tokens"))
    if len(problems) > before:
        return NO_TOKENS
    return new(TokenCounts, (prompt - cached - written, cached, written, completion, searches, ignored))


def path_of(count: str, usage: object) -> Path:
    """Where a usage says a count: its first name that is given."""
    counters = [COUNTERS[SLOTS[name]] for name in (count, f"top {count}") if name in SLOTS]
    paths = [path for counter in counters for path in counter.paths]
    for path in paths:
        inside = usage
        for name in path:
            fields = mapping_of(inside)
            inside = None if fields is None else fields.get(name)
        if inside is not None:
            return (*_AT, *path)
    return (*_AT, *paths[0])


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


def selector_messages(name: str, given: object) -> list[str]:
    """What is wrong with a key that selects a price: any value but those of the listed price."""
    allowed = SELECTORS[name]
    return [] if given is None or (isinstance(given, str) and given in allowed) else [invalid_enum(allowed, given)]


def selector_problems(usage: Mapping[Any, Any]) -> Problems:
    """What is wrong with the keys beside the tokens that select a price."""
    return [((name,), words) for name in SELECTORS if name in usage for words in selector_messages(name, usage[name])]


def _gather(
    place: Place, fields: Mapping[Any, Any], at: Path, found: Found, problems: Problems, others: list[_Other]
) -> None:
    """Put the counters of an object into `found`; what is under other names is added to `others`."""
    keys = tuple(fields)
    plan = place.plans.get(keys) or place.plan(keys)
    for name, slot in plan.counts:
        given = fields[name]
        if given.__class__ is not int or not 0 <= given <= MOST_TOKENS:
            if given is None:
                continue
            if messages := count_messages(given):
                problems += [((*at, *place.path, name), message) for message in messages]
                continue
            given = whole(given)
        known = found[slot]
        if known is None:
            found[slot] = given
        elif known != given:
            problems.append(((*at, *place.path, name), _disagrees(known)))
    for name, inner in plan.objects:
        given = fields[name]
        if given is None:
            continue
        inside = given if given.__class__ is dict else mapping_of(given)
        if inside is None:
            problems.append(((*at, *inner.path), wrong_type("object", given)))
        else:
            _gather(inner, inside, at, found, problems, others)
    if plan.others:
        path, known_names = (*at, *place.path), (*place.counts, *place.objects)
        others += [_Other(path, name, fields[name], known_names) for name in plan.others]


def _disagrees(known: int | None) -> str:
    return f"Expected {known}, as another name of this count says"


def _require(count: str, other: str, fields: Mapping[Any, Any], problems: Problems) -> None:
    """A count that was not read: it is missing or null, unless what is wrong with it has been said."""
    names = [str(path[0]) for name in dict.fromkeys((count, other)) for path in COUNTERS[SLOTS[name]].paths]
    if all(fields.get(name) is None for name in names):
        message = wrong_type("number", None) if names[0] in fields else REQUIRED
        problems.append(((*_AT, names[0]), message))


def _in_dialect(found: Found, fields: Mapping[Any, Any], problems: Problems) -> tuple[int, int | None, int | None]:
    """The whole prompt, and what of it was read from the cache and written to it.

    The cache counts of Anthropic's own object lie beside its `input_tokens`. With `prompt_tokens` they are part of it,
    and so they are in the details, whatever the prompt is called.
    """
    named, inputs, _, _, cached, written, top_cached, top_written, _ = found[:FIRST_PART]
    tops = [name for name, count in (("top read", top_cached), ("top written", top_written)) if count]
    if inputs is not None and tops:
        if named is None and not (cached or written):
            return inputs + (top_cached or 0) + (top_written or 0), top_cached, top_written
        problems += [(path_of(name, fields), AMBIGUOUS) for name in tops]
        return inputs, None, None
    if named is None:
        return inputs or 0, cached, written
    if inputs not in (None, named):
        problems.append((path_of("input", fields), _disagrees(named)))
    for name, inside, top in (("top read", cached, top_cached), ("top written", written, top_written)):
        if inside is not None and top not in (None, inside):
            problems.append((path_of(name, fields), _disagrees(inside)))
    return named, top_cached if cached is None else cached, top_written if written is None else written


def _check_parts(found: Found, of_whole: Mapping[str, int], fields: Mapping[Any, Any], problems: Problems) -> None:
    for counter, count in zip(COUNTERS[FIRST_PART:], found[FIRST_PART:], strict=True):
        if count is not None and count > of_whole[counter.whole]:
            problems.append((path_of(counter.name, fields), too_big(of_whole[counter.whole])))


class _Further:
    """Reads what is not of the table: a counter above zero is refused, what counts nothing is listed."""

    def __init__(self, problems: Problems) -> None:
        self.problems, self.told, self.values = problems, 0, 0
        self.ignored: list[str] = []

    def read(self, others: Iterable[_Other], found: Found) -> tuple[str, ...]:
        """The dotted paths of what has no effect."""
        for other in others:
            if other.name == ITERATIONS and other.path == _AT and isinstance(other.given, (list, tuple)):
                self._iterations(other.given, found)
            else:
                self._other(other)
        return tuple(self.ignored)

    def _other(self, other: _Other) -> None:
        counts = any(map(is_counter, (*other.path[1:], other.name)))
        self._value((*other.path, field_name(other.name)), other.name, other.given, counts, other.known)

    def _iterations(self, entries: Iterable[Any], found: Found) -> None:
        """Anthropic's breakdown: no counter of its entries may be more, together, than that of the usage."""
        sums, before = [0] * len(COUNTERS), len(self.problems)
        for index, entry in enumerate(entries):
            at, fields = (*_AT, ITERATIONS, index), mapping_of(entry)
            if fields is None:
                self._value(at, index, entry, False)
                continue
            inside, others = _NOTHING.copy(), list[_Other]()
            _gather(USAGE, fields, at, inside, self.problems, others)
            for other in others:
                self._other(other)
            sums = [known + (count or 0) for known, count in zip(sums, inside, strict=True)]
            if not self._within_limits():
                return
        for counter, together, own in zip(COUNTERS, sums, found, strict=True):
            if together > (own or 0) and len(self.problems) == before:
                name = ".".join(map(str, counter.paths[0]))
                words = f"The entries have {together} {name} together, and the usage has {own or 0}"
                self._tell((*_AT, ITERATIONS), words)

    def _value(self, path: Path, name: Any, given: Any, counts: bool, known: Collection[str] = ()) -> None:
        """One value; `counts` where it, or what it is part of, is named like a counter."""
        if given is None:
            return
        self.values += 1
        if not self._within_limits():
            return
        if isinstance(name, str) and name in SELECTORS:
            self._tell(path, *selector_messages(name, given))
            return
        listed = isinstance(given, (list, tuple))
        inside = None if listed else mapping_of(given)
        if inside or (listed and given):
            if len(path) >= _DEEPEST:
                self._tell(path, f"Object must be nested at most {_DEEPEST} levels deep")
                return
            for key, value in enumerate(given) if listed else (inside or {}).items():
                self._value((*path, key if listed else field_name(key)), key, value, counts or is_counter(key))
                if not self._within_limits():
                    return
        elif counts and inside is None and not listed:
            messages = count_messages(given)
            if whole(given) and not messages:
                near = did_you_mean(field_name(name), known, slip=True)
                messages = [f"{NO_PRICE}.{near}" if near else NO_PRICE]
            self._tell(path, *messages)
        else:
            self.ignored.append(".".join(map(str, path)))

    def _within_limits(self) -> bool:
        if self.values == _MOST_VALUES + 1:
            self.values += 1
            self.problems.append((_AT, f"Object must have at most {_MOST_VALUES} values"))
        return self.values <= _MOST_VALUES

    def _tell(self, path: Path, *messages: str) -> None:
        self.told += len(messages)
        if self.told <= _MOST_PROBLEMS:
            self.problems += [(path, message) for message in messages]
