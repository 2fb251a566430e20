"""Read the usage object of a text request, as its provider wrote it, into counts by bucket.

Counts are inclusive: tokens read from the cache are part of the prompt; `rating/tokens.py` makes them disjoint. A
counter that is not known is refused when it is above zero, because it could have a price; other unknown values are
listed as ignored.

`COUNTERS` lists every count with every path at which a provider writes it. Plain integers under known names are read
in one pass (`_gather`); everything else takes the slower way (`_sort_out`, `_Further`).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
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
from ratecard.requests.fields import decimal, whole
from ratecard.requests.metered import unrecognized

_PROMPT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_COMPLETION_DETAILS = ("completion_tokens_details", "output_tokens_details")

_Names = tuple[str, ...]


class Counter(NamedTuple):
    """A count, every path at which providers write it, the count that it is a part of, if any, and its bucket.

    The bucket is that of meters.yaml; a part without one is charged with its whole. A count `beside` a bucket is not in
    the count of that bucket yet, although it is a part of it. A count of something else than tokens has its `meter`, of
    which there may be `fractions`, as of seconds.
    """

    name: str
    paths: tuple[_Names, ...]
    whole: str = ""
    bucket: str = ""
    beside: str = ""
    meter: str = ""
    fractions: bool = False


def _within(objects: _Names, *names: str) -> tuple[_Names, ...]:
    return tuple((outer, name) for outer in objects for name in names)


def _of_completion(bucket: str, *names: str) -> Counter:
    return Counter(
        names[0], (*((name,) for name in names), *_within(_COMPLETION_DETAILS, *names)), "completion", bucket
    )


def _of_prompt(modality: str) -> Counter:
    paths = _within(_PROMPT_DETAILS, f"{modality}_tokens")
    return Counter(f"{modality} of the prompt", paths, "prompt", f"input_{modality}")


def _of_cache(modality: str) -> Counter:
    paths = tuple((outer, "cached_tokens_details", f"{modality}_tokens") for outer in _PROMPT_DETAILS)
    return Counter(f"{modality} of the cache", paths, "read", f"cache_input_{modality}")


# Anthropic's own object counts cache reads and writes beside `input_tokens`; `prompt_tokens` includes both. So "input",
# "top read" and "top written" are counts of their own, and `_whole_prompt` says which of them mean the same.
COUNTERS = (
    Counter("prompt", (("prompt_tokens",),), bucket="input"),
    Counter("input", (("input_tokens",),), bucket="input"),
    Counter("completion", (("completion_tokens",), ("output_tokens",)), bucket="output"),
    Counter("total", (("total_tokens",),)),
    Counter("read", _within(_PROMPT_DETAILS, "cached_tokens"), bucket="cache_input"),
    Counter(
        "written", _within(_PROMPT_DETAILS, "cache_creation_input_tokens", "cache_write_tokens"), bucket="cache_write"
    ),
    Counter("top read", (("cache_read_input_tokens",),), bucket="cache_input", beside="input"),
    Counter("top written", (("cache_creation_input_tokens",),), bucket="cache_write", beside="input"),
    Counter("searches", (("server_tool_use", "web_search_requests"),), meter="web_search"),
    # Parts: charged with their whole, unless their bucket has a rate of its own.
    _of_completion("output_reasoning", "reasoning_tokens", "thinking_tokens"),
    _of_completion("", "accepted_prediction_tokens"),
    _of_completion("", "rejected_prediction_tokens"),
    *(
        Counter(
            f"{each} of the completion", _within(_COMPLETION_DETAILS, f"{each}_tokens"), "completion", f"output_{each}"
        )
        for each in ("text", "audio", "image", "video")
    ),
    *map(_of_prompt, ("text", "audio", "image", "video")),
    *map(_of_cache, ("text", "audio", "image")),
    Counter("written for 5 minutes", (("cache_creation", "ephemeral_5m_input_tokens"),), "written"),
    Counter("written for 1 hour", (("cache_creation", "ephemeral_1h_input_tokens"),), "written", "cache_write_1h"),
)
_SLOTS = {counter.name: slot for slot, counter in enumerate(COUNTERS)}
# The count of each bucket: of those above, the first.
_COUNT_OF = {counter.bucket: counter.name for counter in reversed(COUNTERS) if counter.bucket}
# The index of the first part: the counters before it decide the price.
FIRST_PART = next(slot for slot, counter in enumerate(COUNTERS) if counter.whole)
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


@dataclass(frozen=True, slots=True)
class Fields:
    """The known names in the object at `path`: counters and parts with their index in `COUNTERS`, and objects."""

    path: _Names = ()
    counters: dict[str, int] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    objects: dict[str, "Fields"] = field(default_factory=dict)

    @property
    def names(self) -> _Names:
        """Every name that is known here."""
        return (*self.counters, *self.parts, *self.objects)


def _fields() -> Fields:
    root = Fields()
    for slot, counter in enumerate(COUNTERS):
        for *way, name in counter.paths:
            fields = root
            for part in way:
                fields = fields.objects.setdefault(part, Fields((*fields.path, part)))
            (fields.counters if slot < FIRST_PART else fields.parts)[name] = slot
    return root


# `COUNTERS` by name, for each object of a usage.
FIELDS = _fields()

# Upper bound for token counts; anything larger is rejected.
MOST_TOKENS = 10**18


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


# The counts of a usage before the first part, by their index in `COUNTERS`; and the parts that it counts, by theirs.
Found = list[int | None]
_Parts = dict[int, int]
# Marks, until `_conflicts` words it, a count whose names disagree.
_CONFLICT = "conflict"
NO_PRICE = "No price is known for this count"
AMBIGUOUS = "In the prompt, or beside it? Give them with input_tokens alone, or with prompt_tokens alone"

_AT: Path = ("usage",)
_NOTHING: Found = [None] * FIRST_PART
# Bounds on unknown values: levels of nesting, and their number.
DEEPEST, _MOST_VALUES = 20, 10_000
TOO_DEEP = f"Object must be nested at most {DEEPEST} levels deep"


# What a usage counts: buckets by name and their inclusive tokens, searches, and the dotted paths of what has no effect.
# The prompt and the completion come first; searches are None if the usage does not count any.
TokenCounts = tuple[_Names, tuple[int, ...], int | None, _Names]
_PLAIN = ("input", "output")
_WITH_CACHED, _WITH_WRITTEN = (*_PLAIN, "cache_input"), (*_PLAIN, "cache_input", "cache_write")
# The counts that text without objects has (examples of tables, options, columns): the path of each, and its bucket.
FLAT = {COUNTERS[_SLOTS[_COUNT_OF[bucket]]].paths[0]: bucket for bucket in _WITH_WRITTEN}
NO_TOKENS: TokenCounts = (_PLAIN, (0, 0), None, ())


class _Other(NamedTuple):
    """A value under an unknown name, in the object at `path`, and the names `known` there."""

    path: Path
    name: Any
    given: Any
    known: _Names


# What an object may have, and a name and value of it that is not a plain integer under a known name.
_Odd = tuple[Fields, Any, Any]


def read_tokens(
    given: object, problems: Problems, is_text: bool, accepted: Accepted, stated: dict[str, str]
) -> TokenCounts:
    """Read a usage object; its problems are added to `problems`, each at its exact field.

    A usage of text needs a completion. The conditions that it states are put into `stated`, if they are `accepted`.

    >>> read_tokens({"input_tokens": 5, "cache_read_input_tokens": 90}, [], False, {}, {})[:2]
    (('input', 'output', 'cache_input'), (95, 0, 90))
    """
    fields: Any = given if given.__class__ is dict else mapping_of(given)
    if fields is None:
        problems.append((_AT, wrong_type("object", given)))
        return NO_TOKENS
    wrong: Problems = []
    odd: list[_Odd] = []
    others: Collection[_Other] = ()
    parts: _Parts = {}
    found = _NOTHING.copy()
    _gather(FIELDS, fields, found, parts, odd)
    if odd:
        others = _sort_out(odd, _AT, found, parts, wrong)
        if wrong:
            _conflicts(wrong, fields, _AT)
    # In the order of `COUNTERS`; `named` is `prompt_tokens`, which includes the cache, `inputs` is `input_tokens`.
    named, inputs, completion, total, cached, written, top_cached, top_written, searches = found
    if named is None and inputs is None:
        _require("prompt", "input", fields, wrong)
    if completion is None and is_text:
        _require("completion", "completion", fields, wrong)
    ignored = _Further(wrong, accepted, stated).read(others, found, parts) if others else ()
    if not wrong and (inputs is not None or top_cached is not None or top_written is not None):
        named, cached, written = _whole_prompt(found, fields, wrong)
    prompt, completion = named or 0, completion or 0
    cached, written = cached or 0, written or 0
    if not wrong:
        if cached + written > prompt:
            excess, most = ("read", prompt) if cached > prompt else ("written", prompt - cached)
            wrong.append((path_of(excess, fields), too_big(most)))
        if parts:
            buckets = _with_parts(parts, prompt, completion, cached, written, fields, wrong)
        if total is not None:
            wrong += _total_problems(total, prompt, completion if is_text else None, fields)
    if wrong:
        problems += wrong
        return NO_TOKENS
    if parts:
        return tuple(buckets), tuple(buckets.values()), searches, ignored
    # Written out, because most usages are of these: their names are made once.
    if written:
        return _WITH_WRITTEN, (prompt, completion, cached, written), searches, ignored
    if cached:
        return _WITH_CACHED, (prompt, completion, cached), searches, ignored
    return _PLAIN, (prompt, completion), searches, ignored


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


def path_of_bucket(bucket: str, usage: Mapping[Any, Any]) -> Path:
    """The path at which a usage counts a bucket."""
    return ("tokens", bucket) if "tokens" in usage else path_of(_COUNT_OF.get(bucket, bucket), usage.get("usage"))


def usage_of_buckets(buckets: Mapping[str, Any]) -> dict[str, Any]:
    """A usage that counts these buckets, as a provider writes it where one does: `usage`, or else `tokens`.

    >>> usage_of_buckets({"input": 5, "output": 1, "cache_input": 4})["usage"]
    {'prompt_tokens': 5, 'completion_tokens': 1, 'prompt_tokens_details': {'cached_tokens': 4}}
    """
    if not all(bucket in _COUNT_OF for bucket in buckets):
        return {"tokens": dict(buckets)}
    usage: dict[str, Any] = {}
    for bucket, count in buckets.items():
        *way, name = COUNTERS[_SLOTS[_COUNT_OF[bucket]]].paths[0]
        within = usage
        for part in way:
            within = within.setdefault(part, {})
        within[name] = count
    return {"usage": usage}


def path_of(count: str, usage: object) -> Path:
    """The path of a count in a usage: its first name that is given, else its first name."""
    counters = [COUNTERS[_SLOTS[name]] for name in (count, f"top {count}") if name in _SLOTS]
    paths = [path for counter in counters for path in counter.paths]
    return (*_AT, *next((path for path in paths if _at(path, usage) is not None), paths[0]))


def _gather(known: Fields, fields: Mapping[Any, Any], found: Found, parts: _Parts, odd: list[_Odd]) -> None:
    """Put the counts of an object that are plain numbers into `found` and `parts`, and everything else into `odd`."""
    counters = known.counters
    for name, given in fields.items():
        slot = counters.get(name)
        if slot is not None and given.__class__ is int and 0 <= given <= MOST_TOKENS and found[slot] is None:
            found[slot] = given
        elif given.__class__ is dict and (inside := known.objects.get(name)) is not None:
            _gather(inside, given, found, parts, odd)
        elif (slot := known.parts.get(name)) is not None and given.__class__ is int and 0 <= given <= MOST_TOKENS:
            if parts.setdefault(slot, given) != given:
                odd.append((known, name, given))
        else:
            odd.append((known, name, given))


def _sort_out(odd: list[_Odd], at: Path, found: Found, parts: _Parts, problems: Problems) -> list[_Other]:
    """Put the counts among odd values of the object at `at` into `found` and `parts`; return the unknown values."""
    others: list[_Other] = []
    for known, name, given in odd:
        path, slot = (*at, *known.path, name), known.counters.get(name, known.parts.get(name))
        if slot is None and name not in known.objects:
            others.append(_Other(path[:-1], name, given, known.names))
        elif given is None:
            continue
        elif slot is None:
            if (inside := mapping_of(given)) is None:
                problems.append((path, wrong_type("object", given)))
                continue
            further: list[_Odd] = []
            _gather(known.objects[name], inside, found, parts, further)
            others += _sort_out(further, at, found, parts, problems)
        elif messages := count_messages(given):
            problems += [(path, message) for message in messages]
        elif _taken(slot, count := whole(given) or 0, found, parts) != count:
            problems.append((path, _CONFLICT))
    return others


def _taken(slot: int, count: int, found: Found, parts: _Parts) -> int:
    """Take a count, unless it was read under another name before; return what is counted."""
    if slot >= FIRST_PART:
        return parts.setdefault(slot, count)
    before = found[slot]
    known = found[slot] = count if before is None else before
    return known


def _conflicts(problems: Problems, fields: Mapping[Any, Any], at: Path) -> None:
    """Word the conflicts between names of one count, in the order of `COUNTERS`, not of the usage."""
    if all(message is not _CONFLICT for _, message in problems):
        return
    problems[:] = [problem for problem in problems if problem[1] is not _CONFLICT]
    for counter in COUNTERS:
        said = [(path, whole(_at(path, fields))) for path in counter.paths if not count_messages(_at(path, fields))]
        problems += [((*at, *path), disagrees(said[0][1])) for path, count in said if count != said[0][1]]


def _at(path: Iterable[str], usage: object) -> Any:
    """The value at a path of a usage, or None."""
    for name in path:
        fields = mapping_of(usage)
        usage = None if fields is None else fields.get(name)
    return usage


def disagrees(known: int | Decimal | None) -> str:
    """The message for a count that another name of it contradicts."""
    return f"Expected {known}, as another name of this count says"


def no_price(name: object, known: Iterable[str]) -> str:
    """The message for a count under a name that is not `known`, and which of those may be meant."""
    near = did_you_mean(field_name(name), known, slip=True)
    return f"{NO_PRICE}.{near}" if near else NO_PRICE


def _require(count: str, other: str, fields: Mapping[Any, Any], problems: Problems) -> None:
    """Add the problem of a required count that was not read, unless a wrong value of it is a problem already."""
    names = [str(path[0]) for name in dict.fromkeys((count, other)) for path in COUNTERS[_SLOTS[name]].paths]
    if all(fields.get(name) is None for name in names):
        message = wrong_type("number", None) if names[0] in fields else REQUIRED
        problems.append(((*_AT, names[0]), message))


def _whole_prompt(found: Found, fields: Mapping[Any, Any], problems: Problems) -> tuple[int, int | None, int | None]:
    """Return the whole prompt, and how many of its tokens were read from the cache and written to it.

    At the top of a usage, Anthropic's cache counts are beside `input_tokens`, but included in `prompt_tokens`. In the
    details, they are always included.
    """
    named, inputs, _, _, cached, written, top_cached, top_written, _ = found
    tops = [name for name, count in (("top read", top_cached), ("top written", top_written)) if count]
    if inputs is not None and tops:
        if named is None and not (cached or written):
            return inputs + (top_cached or 0) + (top_written or 0), top_cached, top_written
        problems += [(path_of(name, fields), AMBIGUOUS) for name in tops]
        return inputs, None, None
    if named is None:
        return inputs or 0, cached, written
    if inputs not in (None, named):
        problems.append((path_of("input", fields), disagrees(named)))
    for name, inside, top in (("top read", cached, top_cached), ("top written", written, top_written)):
        if inside is not None and top not in (None, inside):
            problems.append((path_of(name, fields), disagrees(inside)))
    return named, top_cached if cached is None else cached, top_written if written is None else written


def _with_parts(
    parts: _Parts,
    prompt: int,
    completion: int,
    cached: int,
    written: int,
    fields: Mapping[Any, Any],
    problems: Problems,
) -> dict[str, int]:
    """The counts of all buckets, also of parts; a part that exceeds its whole is a problem."""
    buckets = {"input": prompt, "output": completion, "cache_input": cached, "cache_write": written}
    wholes = {"prompt": prompt, "completion": completion, "read": cached, "written": written}
    for slot in sorted(parts):
        (name, _, within, bucket, *_), count = COUNTERS[slot], parts[slot]
        if count > wholes[within]:
            problems.append((path_of(name, fields), too_big(wholes[within])))
        elif bucket:
            buckets[bucket] = count
    return buckets


def _total_problems(total: int, prompt: int, completion: int | None, fields: Mapping[Any, Any]) -> Problems:
    """The problem of a total that is not prompt + completion (None for an embedding): it counts something unknown."""
    expected, kinds = (prompt, "prompt") if completion is None else (prompt + completion, "prompt and completion")
    words = f"Expected {expected}, the sum of all {kinds} tokens"
    return [] if total == expected else [(path_of("total", fields), words)]


def _in_order(found: Found, parts: _Parts) -> list[int]:
    """Every count of a usage, in the order of `COUNTERS`."""
    return [count or 0 for count in found] + [parts.get(slot, 0) for slot in range(FIRST_PART, len(COUNTERS))]


class _Further:
    """Reads unknown values: a counter above zero is a problem, anything else is listed as ignored."""

    def __init__(self, problems: Problems, accepted: Accepted, stated: dict[str, str]) -> None:
        self.problems, self.listed, self.values = problems, 0, 0
        self._accepted, self._stated = accepted, stated
        self.ignored: list[str] = []

    def read(self, others: Iterable[_Other], found: Found, parts: _Parts) -> tuple[str, ...]:
        """Return the dotted paths of what has no effect."""
        for other in others:
            if other.name == ITERATIONS and other.path == _AT and isinstance(other.given, (list, tuple)):
                self._iterations(other.given, found, parts)
            else:
                self._other(other)
        return tuple(sorted(self.ignored))

    def _other(self, other: _Other) -> None:
        counts = any(map(is_counter, (*other.path[1:], other.name)))
        self._value((*other.path, field_name(other.name)), other.name, other.given, counts, other.known)

    def _iterations(self, entries: Iterable[Any], found: Found, parts: _Parts) -> None:
        """Check Anthropic's breakdown: the sum of a counter over its entries must not exceed that of the usage."""
        sums, before = [0] * len(COUNTERS), len(self.problems)
        for index, entry in enumerate(entries):
            at, fields = (*_AT, ITERATIONS, index), mapping_of(entry)
            if fields is None:
                self._value(at, index, entry, False)
                continue
            inside, further, odd = _NOTHING.copy(), _Parts(), list[_Odd]()
            _gather(FIELDS, fields, inside, further, odd)
            others = _sort_out(odd, at, inside, further, self.problems)
            _conflicts(self.problems, fields, at)
            for other in others:
                self._other(other)
            sums = [known + count for known, count in zip(sums, _in_order(inside, further), strict=True)]
            if not self._within_limits():
                return
        for counter, together, own in zip(COUNTERS, sums, _in_order(found, parts), strict=True):
            if together > own and len(self.problems) == before:
                name = ".".join(map(str, counter.paths[0]))
                words = f"The entries have {together} {name} together, and the usage has {own}"
                self._tell((*_AT, ITERATIONS), words)

    def _value(self, path: Path, name: Any, given: Any, counts: bool, known: _Names = ()) -> None:
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
            self.problems.append((_AT, f"Object must have at most {_MOST_VALUES} values"))
        return self.values <= _MOST_VALUES

    def _tell(self, path: Path, *messages: str) -> None:
        self.listed += len(messages)
        if self.listed <= MOST_PROBLEMS:
            self.problems += [(path, message) for message in messages]
