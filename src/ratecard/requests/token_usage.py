"""Read a usage object, as its provider wrote it, into counts by bucket.

Counts are inclusive: tokens read from the cache are part of the prompt; `rating/tokens.py` makes them disjoint. A
counter that is not known is refused when it is above zero, because it could have a price; other unknown values are
listed as ignored.

`dialects.py` lists every count with every path at which a provider writes it, and `usage_plan.py` says what they mean
together. Ordinary usages are read by the compiled functions of `usage_layouts.py`; this file reads all others, and
those of responses, with care, and says what is wrong.
"""

from collections import Counter as Counts
from collections.abc import Collection, Iterable, Mapping, Sequence
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
from ratecard.requests.counters import COUNTER, MOST_TOKENS, USAGE, TokenCounts
from ratecard.requests.dialects import ANY_USAGE, UsageDialect, Way
from ratecard.requests.fields import decimal, whole
from ratecard.requests.metered import unrecognized
from ratecard.requests.usage_layouts import LayoutReaders
from ratecard.requests.usage_plan import any_usage_plan

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


NO_PRICE = "No price is known for this count"
AMBIGUOUS = "In the prompt, or beside it? Give them with input_tokens alone, or with prompt_tokens alone"

# Bounds on unknown values: levels of nesting, and their number.
DEEPEST, _MOST_VALUES = 20, 10_000
TOO_DEEP = f"Object must be nested at most {DEEPEST} levels deep"


NO_TOKENS: TokenCounts = (("input", "output"), (0, 0), None, ())
# Counts by counter, and by the way to each.
CountOf = dict[str, int | Decimal]
CountAt = dict[Way, int | Decimal]

# The readers of ordinary usage objects, of embeddings and of text.
ORDINARY = {is_text: LayoutReaders(is_text=is_text).read for is_text in (False, True)}


def read_tokens(
    given: object, problems: Problems, is_text: bool, accepted: Accepted, stated: dict[str, str]
) -> TokenCounts:
    """Read a usage object; its problems are added to `problems`, each at its exact field.

    A usage of text needs a completion. The conditions that it states are put into `stated`, if they are `accepted`.

    >>> read_tokens({"input_tokens": 5, "cache_read_input_tokens": 90}, [], False, {}, {})[:2]
    (('input', 'output', 'cache_input'), (95, 0, 90))
    """
    if given.__class__ is dict and (counts := ORDINARY[is_text](given)):
        return counts
    return _read_with_care(given, problems, is_text, accepted, stated)


def _read_with_care(
    given: object, problems: Problems, is_text: bool, accepted: Accepted, stated: dict[str, str]
) -> TokenCounts:
    """Read a usage object that no layout reads. In the function above, these variables would slow down every call."""
    fields = mapping_of(given)
    if fields is None:
        problems.append((USAGE, wrong_type("object", given)))
        return NO_TOKENS
    wrong: Problems = []
    reading = CarefulReader(ANY_USAGE, wrong, USAGE, accepted, stated)
    reading.sort_out(fields)
    found = agreed(ANY_USAGE, reading.counts, USAGE, wrong)
    # `prompt_tokens` includes the cache, `input_tokens` need not.
    if not found.counts.keys() & {"prompt", "input"}:
        _require("prompt", "input", fields, wrong)
    if "completion" not in found.counts and is_text:
        _require("completion", "completion", fields, wrong)
    reading.read_others()
    reading.check_iterations(found.counts)
    searches = found.counts.get("searches")
    if not wrong:
        wrong += _one_prompt(found)
    plan = any_usage_plan(found.counts.keys(), is_text)
    if not wrong:
        wrong += [(found.at[name], words) for name, words in plan.failures(found.counts)]
    if wrong:
        problems += wrong
        return NO_TOKENS
    buckets = {name: int(sum(found.counts[each] for each in of)) for name, of in plan.buckets.items()}
    ignored = tuple(sorted(reading.ignored))
    return tuple(buckets), tuple(buckets.values()), None if searches is None else int(searches), ignored


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


def disagrees(known: int | Decimal | None) -> str:
    """The message for a count that another name of it contradicts."""
    return f"Expected {known}, as another name of this count says"


def no_price(name: object, known: Iterable[str]) -> str:
    """The message for a count under a name that is not `known`, and which of those may be meant."""
    near = did_you_mean(field_name(name), known, slip=True)
    return f"{NO_PRICE}.{near}" if near else NO_PRICE


class Found(NamedTuple):
    """The counts of a usage by counter, and where each was read."""

    counts: CountOf
    at: dict[str, Path]


def agreed(dialect: UsageDialect, counts: CountAt, at: Path, problems: Problems) -> Found:
    """Return the counts of a usage by counter; names of one count that disagree are problems.

    Which name is held against the others is said by the dialect, and not by the order of the usage.
    """
    found = Found({}, {})
    for counter in dialect.counters:
        for way in (path for path in counter.paths if path in counts):
            known = found.counts.setdefault(counter.name, counts[way])
            found.at.setdefault(counter.name, (*at, *way))
            if counts[way] != known:
                problems.append(((*at, *way), disagrees(known)))
    return found


def _one_prompt(found: Found) -> Problems:
    """Leave one count for the prompt, and one for each part of it in the cache; return the problems.

    At the top of a usage, Anthropic's cache counts are beside `input_tokens`, but included in `prompt_tokens`. In the
    details, they are always included.
    """
    counts, tops = found.counts, ("top read", "top written")
    if "input" in counts and any(map(counts.get, tops)):
        if "prompt" in counts or counts.get("read") or counts.get("written"):
            return [(found.at[name], AMBIGUOUS) for name in tops if counts.get(name)]
        others: Iterable[str] = ("read", "written")
    elif "prompt" in counts:
        problems: Problems = []
        for name, same in (("input", "prompt"), ("top read", "read"), ("top written", "written")):
            if name in counts:
                found.at.setdefault(same, found.at[name])
                if counts.setdefault(same, counts[name]) != counts[name]:
                    problems.append((found.at[name], disagrees(counts[same])))
        if problems:
            return problems
        others = ("input", *tops)
    else:
        others = tops
    for name in others:
        counts.pop(name, None)
    return []


def _require(count: str, other: str, fields: Mapping[Any, Any], problems: Problems) -> None:
    """Add the problem of a required count that was not read, unless a wrong value of it is a problem already."""
    names = [str(path[0]) for name in dict.fromkeys((count, other)) for path in COUNTER[name].paths]
    if all(fields.get(name) is None for name in names):
        message = wrong_type("number", None) if names[0] in fields else REQUIRED
        problems.append(((*USAGE, names[0]), message))


class CarefulReader:
    """Reads a usage object with care: its counts by the way to each, and what of it is wrong or has no effect."""

    def __init__(
        self,
        dialect: UsageDialect,
        problems: Problems,
        at: Path,
        accepted: Accepted | None = None,
        stated: dict[str, str] | None = None,
    ) -> None:
        self._dialect, self._problems, self._usage, self._at = dialect, problems, at, at
        self._accepted, self._stated = accepted or {}, {} if stated is None else stated
        self.counts: CountAt = {}
        self.ignored: list[str] = []
        # The counts of a breakdown by requests, added up.
        self.together = Counts[str]()
        self._breakdown: Way = (dialect.iterations,) if dialect.iterations else ()
        # The ways to values under unknown names.
        self._others: list[tuple[Way, object, Any]] = []
        self._listed, self._values = 0, 0

    def sort_out(self, fields: Mapping[Any, Any], place: Way = ()) -> None:
        """Read the counts of the object at a place; values under unknown names are kept for `read_others`."""
        dialect = self._dialect
        for name, value in fields.items():
            way = (*place, name)
            if value is None or not (place or str(name).startswith(dialect.prefix)):
                continue
            if counter := dialect.counter_at.get(way):
                if (count := self.number(value, way, fractions=counter.fractions)) is not None:
                    self.counts[way] = count
            elif not place and name in dialect.entries:
                self._read_entries(value, way)
            elif way not in dialect.objects or not (dialect.names_say_counts or value):
                self._others.append((place, name, value))
            elif (inside := mapping_of(value)) is None:
                self.refuse(way, wrong_type("object", value))
            else:
                self.sort_out(inside, way)

    def number(self, given: Any, way: Path, *, fractions: bool) -> int | Decimal | None:
        """Return a count, or None for what is none, which becomes a problem; seconds may be fractions."""
        messages = [words for words in count_messages(given) if not (fractions and words == NOT_AN_INTEGER)]
        self._problems += [((*self._at, *way), message) for message in messages]
        return None if messages else decimal(given) if fractions else whole(given)

    def refuse(self, way: Path, *messages: str) -> None:
        """Add problems at a way within the usage, unless there are enough."""
        self._listed += len(messages)
        if self._listed <= MOST_PROBLEMS:
            self._problems += [((*self._at, *way), message) for message in messages]

    def _read_entries(self, given: Any, way: Way) -> None:
        """Read a list whose entries say what they count: `[{modality: TEXT, tokenCount: 7}]`."""
        if not isinstance(given, (list, tuple)):
            self.refuse(way, wrong_type("array", given))
            return
        kinds, numbers = self._dialect.entries[way[-1]]
        counted: set[Way] = set()
        for index, entry in enumerate(given):
            fields = mapping_of(entry)
            if fields is None:
                self.refuse((*way, index), wrong_type("object", entry))
                continue
            kind, number = (next((name for name in of if fields.get(name) is not None), "") for of in (kinds, numbers))
            path = (*way, word_of(fields.get(kind)))
            if path in counted:
                self.refuse((*way, index), f"{field_name(path[-1])} is counted twice in this list")
                continue
            counted.add(path)
            self.sort_out({path[-1]: fields.get(number)}, way)
            self.sort_out({name: value for name, value in fields.items() if name not in (kind, number)}, path)

    def read_others(self) -> None:
        """Read the values under unknown names: a count above zero is a problem, anything else has no effect."""
        others, self._others = self._others, []
        for place, name, value in others:
            way = (*place, name)
            if way == self._breakdown and self._at == self._usage and isinstance(value, (list, tuple)):
                self._sum_iterations(value)
            else:
                known = self._dialect.names_in(place) if self._listed < MOST_PROBLEMS else ()
                self._read_other((*place, field_name(name)), name, value, any(map(is_counter, way)), known)

    def _sum_iterations(self, entries: Iterable[Any]) -> None:
        """Add up Anthropic's breakdown: its entries are usages, of the requests that this one took."""
        counts, sound = self.counts, True
        for index, entry in enumerate(entries):
            fields = mapping_of(entry)
            if fields is None:
                self._read_other((*self._breakdown, index), index, entry, False)
                continue
            before, self.counts = len(self._problems), {}
            self._at = (*self._usage, *self._breakdown, index)
            self.sort_out(fields)
            found = agreed(self._dialect, self.counts, self._at, self._problems)
            if self._dialect.names_say_counts:  # otherwise it may have the names of another dialect
                self.read_others()
            self._at, self._others = self._usage, []
            sound = sound and len(self._problems) == before
            self.together.update({name: int(count) for name, count in found.counts.items()})
            if not self._within_limits():
                break
        self.counts = counts
        if not sound:
            self.together.clear()

    def check_iterations(self, counts: CountOf) -> None:
        """Refuse a breakdown that counts more than its usage."""
        for counter in self._dialect.counters:
            together, count = self.together[counter.name], counts.get(counter.name, 0)
            if together > count:
                words = f"The entries have {together} {'.'.join(counter.paths[0])} together, and the usage has {count}"
                self.refuse(self._breakdown, words)
                break

    def _read_other(self, way: Path, name: Any, given: Any, counts: bool, known: Sequence[str] = ()) -> None:
        """Read one value; `counts` is whether it, or what it is part of, is named like a counter."""
        lenient = self._dialect.names_say_counts
        if given is None or not (lenient or (name not in self._dialect.no_price and "cost" not in str(name))):
            return
        self._values += 1
        if not self._within_limits():
            return
        if isinstance(name, str) and name in self._accepted:
            self.refuse(way, *_state(name, given, self._accepted, self._stated))
            return
        listed = isinstance(given, (list, tuple))
        inside = None if listed else mapping_of(given)
        number = not lenient and decimal(given) is not None
        if inside or (listed and given):
            if len(self._at) + len(way) >= DEEPEST:
                self.refuse(way, TOO_DEEP)
                return
            for key, value in enumerate(given) if listed else (inside or {}).items():
                self._read_other((*way, key if listed else field_name(key)), key, value, counts or is_counter(key))
                if not self._within_limits():
                    return
        elif number or (counts and inside is None and not listed):
            messages = [] if number else count_messages(given)
            if (given if number else whole(given)) and not messages and self._listed < MOST_PROBLEMS:
                messages = [no_price(name, known)]
            self.refuse(way, *messages)
        else:
            self.ignored.append(".".join(map(str, (*self._at, *way))))

    def _within_limits(self) -> bool:
        if self._values == _MOST_VALUES + 1:
            self._values += 1
            self._problems.append((self._usage, f"Object must have at most {_MOST_VALUES} values"))
        return self._values <= _MOST_VALUES


def word_of(given: Any) -> str:
    """Return a word as text; clients have words as members of an enumeration."""
    return str(getattr(given, "value", given))
