"""Read the usage object of a text request, as its provider wrote it, into counts by bucket.

Counts are inclusive: tokens read from the cache are part of the prompt; `rating/tokens.py` makes them disjoint. A
counter that is not known is refused when it is above zero, because it could have a price; other unknown values are
listed as ignored.

`counters.py` lists every count with every path at which a provider writes it. Ordinary usages are read by the compiled
functions of `usage_layouts.py`; this file reads all others with care, and says what is wrong.
"""

from collections import Counter as Counts
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.messages import (
    NOT_AN_INTEGER,
    REQUIRED,
    NotOffered,
    Path,
    Problems,
    field_name,
    invalid_enum,
    too_big,
    too_small,
    wrong_type,
)
from ratecard.base.suggestions import did_you_mean
from ratecard.requests.body import MOST_PROBLEMS, mapping_of
from ratecard.requests.counters import (
    COUNTER,
    COUNTERS,
    FIELDS,
    MOST_TOKENS,
    USAGE,
    Fields,
    TokenCounts,
    path_of,
    value_at,
)
from ratecard.requests.fields import decimal, whole
from ratecard.requests.metered import unrecognized
from ratecard.requests.usage_layouts import LayoutReaders

ITERATIONS = "iterations"

# The conditions that a usage may state: by name, every spelling of the values that the model knows, and its value.
Accepted = Mapping[str, Mapping[str, str]]
_COUNTING = ("_requests", "_queries", "_seconds", "_images", "_characters")


def is_counter(name: object) -> bool:
    """Whether a number under this name counts something that could have a price.

    >>> [is_counter(name) for name in ("cachedContentTokenCount", "web_fetch_requests", "cost")]
    [True, True, False]
    """
    lower = name.lower() if isinstance(name, str) else ""
    return "token" in lower or lower.endswith(_COUNTING)


def count_messages(given: object, most: int = MOST_TOKENS) -> list[str]:
    """The problems of a count: not a number, a fraction, negative, or above `most`."""
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


def read_conditions(usage: Mapping[Any, Any], accepted: Accepted, problems: Problems) -> dict[str, str]:
    """Read the conditions that a usage states beside its tokens."""
    stated: dict[str, str] = {}
    for name, spellings in accepted.items():
        if (given := usage.get(name)) is None:
            continue
        if given.__class__ is str and (value := spellings.get(given)) is not None:
            stated[name] = value
        else:
            problems += [((name,), words) for words in _state(name, given, accepted, stated)]
    return stated


def _state(name: str, given: object, accepted: Accepted, stated: dict[str, str]) -> list[str]:
    """Put the value of a condition into `stated`; return its problems. None says nothing."""
    if given is None:
        return []
    value = accepted[name].get(given) if isinstance(given, str) else None
    if value is None:
        words = invalid_enum(accepted[name], given)
        return [NotOffered(words) if isinstance(given, str) else words]
    if stated.setdefault(name, value) != value:
        return [f"Expected '{stated[name]}', as {name} beside the usage says"]
    return []


# Marks, until `_conflicts` words it, a count whose names disagree.
_CONFLICT = "conflict"
_OF_CACHE = ("read", "written")
NO_PRICE = "No price is known for this count"
AMBIGUOUS = "In the prompt, or beside it? Give them with input_tokens alone, or with prompt_tokens alone"

# Bounds on unknown values: levels of nesting, and their number.
DEEPEST, _MOST_VALUES = 20, 10_000
TOO_DEEP = f"Object must be nested at most {DEEPEST} levels deep"


NO_TOKENS: TokenCounts = (("input", "output"), (0, 0), None, ())
# The counts that were read, by counter.
_Counts = dict[str, int]


class _Other(NamedTuple):
    """A value under an unknown name, in the object at `path`, and the names `known` there."""

    path: Path
    name: Any
    given: Any
    known: tuple[str, ...]


_READERS = {is_text: LayoutReaders(is_text=is_text) for is_text in (False, True)}


def read_tokens(
    given: object, problems: Problems, is_text: bool, accepted: Accepted, stated: dict[str, str]
) -> TokenCounts:
    """Read a usage object; its problems are added to `problems`, each at its exact field.

    A usage of text needs a completion. The conditions that it states are put into `stated`, if they are `accepted`.

    >>> read_tokens({"input_tokens": 5, "cache_read_input_tokens": 90}, [], False, {}, {})[:2]
    (('input', 'output', 'cache_input'), (95, 0, 90))
    """
    if given.__class__ is dict and (counts := _READERS[is_text].read(given)):
        return counts
    fields = mapping_of(given)
    if fields is None:
        problems.append((USAGE, wrong_type("object", given)))
        return NO_TOKENS
    wrong: Problems = []
    counted: _Counts = {}
    others = _sort_out(FIELDS, fields, USAGE, counted, wrong)
    _conflicts(wrong, fields, USAGE)
    # `prompt_tokens` includes the cache, `input_tokens` need not.
    if not counted.keys() & {"prompt", "input"}:
        _require("prompt", "input", fields, wrong)
    if "completion" not in counted and is_text:
        _require("completion", "completion", fields, wrong)
    ignored = _Further(wrong, accepted, stated).read(others, counted) if others else ()
    buckets: dict[str, int] = {}
    if not wrong:
        buckets = _buckets(counted, fields, wrong, is_text)
    if wrong:
        problems += wrong
        return NO_TOKENS
    return tuple(buckets), tuple(buckets.values()), counted.get("searches"), ignored


def read_buckets(given: object, known: Collection[str], problems: Problems) -> TokenCounts:
    """Read `tokens`, the counts by bucket, of which `known` are those of the tables; problems are added."""
    at: Path = ("tokens",)
    fields = mapping_of(given)
    if fields is None:
        problems.append((at, wrong_type("object", given)))
        return NO_TOKENS
    problems += unrecognized(fields, dict.fromkeys(known).keys(), at)
    wrong = [((*at, name), words) for name in known if name in fields for words in count_messages(fields[name])]
    problems += wrong
    if wrong:
        return NO_TOKENS
    counts = {name: int(fields[name]) for name in known if name in fields}
    counts = {"input": 0, "output": 0} | counts
    return tuple(counts), tuple(counts.values()), None, ()


def _sort_out(known: Fields, fields: Mapping[Any, Any], at: Path, counted: _Counts, problems: Problems) -> list[_Other]:
    """Put the counts of the object at `at` into `counted`; return the values under unknown names."""
    others: list[_Other] = []
    for name, value in fields.items():
        path, counter = (*at, name), known.counters.get(name)
        if counter is None and name not in known.objects:
            others.append(_Other(at, name, value, known.names))
        elif value is None:
            continue
        elif counter is None:
            if (inside := mapping_of(value)) is None:
                problems.append((path, wrong_type("object", value)))
            else:
                others += _sort_out(known.objects[name], inside, path, counted, problems)
        elif messages := count_messages(value):
            problems += [(path, message) for message in messages]
        elif counted.setdefault(counter, count := whole(value) or 0) != count:
            problems.append((path, _CONFLICT))
    return others


def _conflicts(problems: Problems, fields: Mapping[Any, Any], at: Path) -> None:
    """Word the conflicts between names of one count, in the order of `COUNTERS`, not of the usage."""
    if all(message is not _CONFLICT for _, message in problems):
        return
    problems[:] = [problem for problem in problems if problem[1] is not _CONFLICT]
    for counter in COUNTERS:
        values = [(path, value_at(path, fields)) for path in counter.paths]
        said = [(path, whole(value)) for path, value in values if not count_messages(value)]
        problems += [((*at, *path), disagrees(said[0][1])) for path, count in said if count != said[0][1]]


def disagrees(known: int | Decimal | None) -> str:
    """The message for a count that another name of it contradicts."""
    return f"Expected {known}, as another name of this count says"


def too_many_together(together: int | Decimal, name: str, count: int | Decimal) -> str:
    """Return the message for entries that count more than the usage that they are a breakdown of."""
    return f"The entries have {together} {name} together, and the usage has {count}"


def no_price(name: object, known: Iterable[str]) -> str:
    """The message for a count under a name that is not `known`, and which of those may be meant."""
    near = did_you_mean(field_name(name), known, slip=True)
    return f"{NO_PRICE}.{near}" if near else NO_PRICE


def _require(count: str, other: str, fields: Mapping[Any, Any], problems: Problems) -> None:
    """Add the problem of a required count that was not read, unless a wrong value of it is a problem already."""
    names = [str(path[0]) for name in dict.fromkeys((count, other)) for path in COUNTER[name].paths]
    if all(fields.get(name) is None for name in names):
        message = wrong_type("number", None) if names[0] in fields else REQUIRED
        problems.append(((*USAGE, names[0]), message))


def _buckets(counted: _Counts, fields: Mapping[Any, Any], problems: Problems, is_text: bool) -> dict[str, int]:
    """Return the counts by bucket; a part that exceeds its whole and a wrong total are problems."""
    prompt, cached, written = _whole_prompt(counted, fields, problems)
    completion = counted.get("completion", 0)
    if problems:
        return {}
    if cached + written > prompt:
        excess, most = ("read", prompt) if cached > prompt else ("written", prompt - cached)
        problems.append((path_of(excess, fields), too_big(most)))
    buckets = {"input": prompt, "output": completion}
    buckets |= {name: count for name, count in (("cache_input", cached), ("cache_write", written)) if count}
    wholes = {"prompt": prompt, "completion": completion, "read": cached, "written": written}
    for counter in COUNTERS:
        if not counter.whole or (count := counted.get(counter.name)) is None:
            continue
        if count > wholes[counter.whole]:
            problems.append((path_of(counter.name, fields), too_big(wholes[counter.whole])))
        elif counter.bucket:
            buckets[counter.bucket] = count
    expected, kinds = (prompt + completion, "prompt and completion") if is_text else (prompt, "prompt")
    if counted.get("total", expected) != expected:
        # A total of another sum counts something unknown.
        problems.append((path_of("total", fields), f"Expected {expected}, the sum of all {kinds} tokens"))
    return buckets


def _whole_prompt(counted: _Counts, fields: Mapping[Any, Any], problems: Problems) -> tuple[int, int, int]:
    """Return the whole prompt, and how many of its tokens were read from the cache and written to it.

    At the top of a usage, Anthropic's cache counts are beside `input_tokens`, but included in `prompt_tokens`. In the
    details, they are always included.
    """
    named, inputs = counted.get("prompt"), counted.get("input")
    read, written = (counted.get(name, 0) for name in _OF_CACHE)
    tops = [f"top {name}" for name in _OF_CACHE if counted.get(f"top {name}")]
    if inputs is not None and tops:
        if named is None and not (read or written):
            read, written = (counted.get(f"top {name}", 0) for name in _OF_CACHE)
            return inputs + read + written, read, written
        problems += [(path_of(name, fields), AMBIGUOUS) for name in tops]
    elif named is not None:
        if inputs not in (None, named):
            problems.append((path_of("input", fields), disagrees(named)))
        for name in _OF_CACHE:
            inside = counted.setdefault(name, counted.get(f"top {name}", 0))
            if counted.get(f"top {name}", inside) != inside:
                problems.append((path_of(f"top {name}", fields), disagrees(inside)))
        return named, counted["read"], counted["written"]
    return inputs or 0, read, written


class _Further:
    """Reads unknown values: a counter above zero is a problem, anything else is listed as ignored."""

    def __init__(self, problems: Problems, accepted: Accepted, stated: dict[str, str]) -> None:
        self.problems, self.listed, self.values = problems, 0, 0
        self._accepted, self._stated = accepted, stated
        self.ignored: list[str] = []

    def read(self, others: Iterable[_Other], counted: _Counts) -> tuple[str, ...]:
        """Return the dotted paths of what has no effect."""
        for other in others:
            if other.name == ITERATIONS and other.path == USAGE and isinstance(other.given, (list, tuple)):
                self._iterations(other.given, counted)
            else:
                self._other(other)
        return tuple(sorted(self.ignored))

    def _other(self, other: _Other) -> None:
        counts = any(map(is_counter, (*other.path[1:], other.name)))
        self._value((*other.path, field_name(other.name)), other.name, other.given, counts, other.known)

    def _iterations(self, entries: Iterable[Any], counted: _Counts) -> None:
        """Check Anthropic's breakdown: the sum of a counter over its entries must not exceed that of the usage."""
        sums, before = Counts[str](), len(self.problems)
        for index, entry in enumerate(entries):
            at, fields = (*USAGE, ITERATIONS, index), mapping_of(entry)
            if fields is None:
                self._value(at, index, entry, False)
                continue
            inside: _Counts = {}
            others = _sort_out(FIELDS, fields, at, inside, self.problems)
            _conflicts(self.problems, fields, at)
            for other in others:
                self._other(other)
            sums.update(inside)
            if not self._within_limits():
                return
        for counter in COUNTERS:
            together, count = sums[counter.name], counted.get(counter.name, 0)
            if together > count and len(self.problems) == before:
                self._tell((*USAGE, ITERATIONS), too_many_together(together, ".".join(counter.paths[0]), count))

    def _value(self, path: Path, name: Any, given: Any, counts: bool, known: tuple[str, ...] = ()) -> None:
        """Read one value; `counts` is whether it, or what it is part of, is named like a counter."""
        if given is None:
            return
        self.values += 1
        if not self._within_limits():
            return
        if isinstance(name, str) and name in self._accepted:
            self._tell(path, *_state(name, given, self._accepted, self._stated))
            return
        listed = isinstance(given, (list, tuple))
        inside = None if listed else mapping_of(given)
        if inside or (listed and given):
            if len(path) >= DEEPEST:
                self._tell(path, TOO_DEEP)
                return
            for key, value in enumerate(given) if listed else (inside or {}).items():
                self._value((*path, key if listed else field_name(key)), key, value, counts or is_counter(key))
                if not self._within_limits():
                    return
        elif counts and inside is None and not listed:
            messages = count_messages(given)
            if whole(given) and not messages and self.listed < MOST_PROBLEMS:
                messages = [no_price(name, known)]
            self._tell(path, *messages)
        else:
            self.ignored.append(".".join(map(str, path)))

    def _within_limits(self) -> bool:
        if self.values == _MOST_VALUES + 1:
            self.values += 1
            self.problems.append((USAGE, f"Object must have at most {_MOST_VALUES} values"))
        return self.values <= _MOST_VALUES

    def _tell(self, path: Path, *messages: str) -> None:
        self.listed += len(messages)
        if self.listed <= MOST_PROBLEMS:
            self.problems += [(path, message) for message in messages]
