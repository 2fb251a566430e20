"""Read a usage object, as its provider wrote it, into counts by bucket.

Counts are inclusive: tokens read from the cache are part of the prompt; `line_items/tokens.py` makes them disjoint. An
unknown counter above zero is refused, because it could have a price; other unknown values are listed as ignored.

`counters.py` lists every count with every path at which a provider writes it, and a plan says what they mean together.
Compiled functions read ordinary usages. `CarefulReader` reads all others and those of responses, to say what is wrong.
"""

from collections import Counter as Counts
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, count
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
    ANY_USAGE,
    COUNTER,
    MODALITIES,
    MOST_TOKENS,
    USAGE,
    TokenCounts,
    UsageDialect,
    Way,
)
from ratecard.requests.fields import decimal, whole
from ratecard.requests.metered import unrecognized
from ratecard.tables.meters import COMPLETION, PROMPT

# The conditions that a usage may state: by name, every spelling of a value that the model knows -> the value.
Accepted = Mapping[str, Mapping[str, str]]
_COUNTING = ("_requests", "_queries", "_seconds", "_images", "_characters")


def is_counter(name: object) -> bool:
    """Return True if a number under this name counts something that could have a price.

    >>> [is_counter(name) for name in ("cachedContentTokenCount", "web_fetch_requests", "cost")]
    [True, True, False]
    """
    lower = name.lower() if isinstance(name, str) else ""
    return "token" in lower or lower.endswith(_COUNTING)


def count_messages(given: object, most: int = MOST_TOKENS) -> list[str]:
    """Return the problems of a count: not a number, a fraction, negative, or above `most`."""
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


def checked_count(given: Any, at: Path, problems: Problems, fractions: bool = False) -> int | Decimal | None:
    """Return a count; add a problem and return None for any other value. With `fractions`, it need not be whole."""
    messages = [words for words in count_messages(given) if not (fractions and words == NOT_AN_INTEGER)]
    problems += [(at, message) for message in messages]
    return None if messages else decimal(given) if fractions else whole(given)


def read_conditions(usage: Mapping[Any, Any], accepted: Accepted, problems: Problems) -> dict[str, str]:
    """Read the conditions that a usage states beside its tokens."""
    stated: dict[str, str] = {}
    for name in accepted:
        if (word := usage.get(name)) is not None:
            problems += [((name,), words) for words in _state(name, word, accepted, stated)]
    return stated


def _state(name: str, given: object, accepted: Accepted, stated: dict[str, str]) -> list[str]:
    """Put the value of a condition into `stated`; return its problems."""
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
# Counts by the name of their counter, and by the way to each.
CountOf = dict[str, int | Decimal]
CountAt = dict[Way, int | Decimal]


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


# The names of each count that a usage needs; an embedding needs only the first count.
_REQUIRED = [[path[0] for name in of for path in COUNTER[name].paths] for of in (("prompt", "input"), ("completion",))]


def _read_with_care(
    given: object, problems: Problems, is_text: bool, accepted: Accepted, stated: dict[str, str]
) -> TokenCounts:
    """Read a usage object that no layout reads. Within `read_tokens`, these variables would slow down every call."""
    fields = mapping_of(given)
    if fields is None:
        problems.append((USAGE, wrong_type("object", given)))
        return NO_TOKENS
    wrong: Problems = []
    reading = CarefulReader(ANY_USAGE, wrong, USAGE, accepted, stated)
    reading.sort_out(fields)
    agreed_counts = agreed(ANY_USAGE, reading.counts, USAGE, wrong)
    # `prompt_tokens` includes the cache; `input_tokens` may leave it out.
    for first, *others in _REQUIRED if is_text else _REQUIRED[:1]:
        if all(fields.get(name) is None for name in (first, *others)):
            wrong.append(((*USAGE, first), wrong_type("number", None) if first in fields else REQUIRED))
    reading.read_others()
    reading.check_iterations(agreed_counts.counts)
    if not wrong:
        wrong += _one_prompt(agreed_counts)
    plan = any_usage_plan(agreed_counts.counts.keys())
    if not wrong:
        wrong += plan.failures(agreed_counts)
    if wrong:
        problems += wrong
        return NO_TOKENS
    buckets, searches = plan.totals(agreed_counts.counts), agreed_counts.counts.get("searches")
    ignored = tuple(sorted(reading.ignored))
    return tuple(buckets), tuple(buckets.values()), None if searches is None else int(searches), ignored


def read_buckets(given: object, known: Collection[str], problems: Problems) -> TokenCounts:
    """Read `tokens`, the counts by bucket, and add its problems. `known` are the buckets of the tables."""
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
    counts = {PROMPT: 0, COMPLETION: 0} | {name: int(fields[name]) for name in known if name in fields}
    return tuple(counts), tuple(counts.values()), None, ()


def disagrees(known: int | Decimal | None) -> str:
    """Return the message for a count that another name of it contradicts."""
    return f"Expected {known}, as another name of this count says"


class Found(NamedTuple):
    """The counts of a usage by counter, and where each was read."""

    counts: CountOf
    at: dict[str, Path]


def agreed(dialect: UsageDialect, counts: CountAt, at: Path, problems: Problems) -> Found:
    """Return the counts of a usage by counter; it is a problem if two names of one count disagree.

    The dialect, not the order of the usage, decides with which name the others are compared.
    """
    result = Found({}, {})
    for counter in dialect.counters:
        for way in (path for path in counter.paths if path in counts):
            known = result.counts.setdefault(counter.name, counts[way])
            result.at.setdefault(counter.name, (*at, *way))
            if counts[way] != known:
                problems.append(((*at, *way), disagrees(known)))
    return result


def _one_prompt(found: Found) -> Problems:
    """Keep one count for the prompt, and one for each part of it in the cache; return the problems.

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
        for name, synonym in (("input", "prompt"), ("top read", "read"), ("top written", "written")):
            if name in counts:
                found.at.setdefault(synonym, found.at[name])
                if counts.setdefault(synonym, counts[name]) != counts[name]:
                    problems.append((found.at[name], disagrees(counts[synonym])))
        if problems:
            return problems
        others = ("input", *tops)
    else:
        others = tops
    for name in others:
        counts.pop(name, None)
    return []


class CarefulReader:
    """A reader of a usage object, which keeps its counts by path, its problems, and its values without effect."""

    def __init__(
        self,
        dialect: UsageDialect,
        problems: Problems,
        at: Path,
        accepted: Accepted | None = None,
        stated: dict[str, str] | None = None,
    ) -> None:
        self._dialect, self._problems, self._usage, self.at = dialect, problems, at, at
        self._accepted, self._stated = accepted or {}, {} if stated is None else stated
        self.counts: CountAt = {}
        self.ignored: list[str] = []
        # The counts of a breakdown by requests, added up.
        self.together = Counts[str]()
        self._breakdown: Way = (dialect.iterations,) if dialect.iterations else ()
        # Values under unknown names: the way to their object, the name, and the value.
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
                if (count := checked_count(value, (*self.at, *way), self._problems, counter.fractions)) is not None:
                    self.counts[way] = count
            elif not place and name in dialect.entries:
                self._read_entries(value, way)
            elif way not in dialect.objects or not (dialect.names_say_counts or value):
                self._others.append((place, name, value))
            elif (inside := mapping_of(value)) is None:
                self.refuse(way, wrong_type("object", value))
            else:
                self.sort_out(inside, way)

    def refuse(self, way: Path, *messages: str) -> None:
        """Add problems at a path within the usage, until the most that are listed is reached."""
        self._listed += len(messages)
        if self._listed <= MOST_PROBLEMS:
            self._problems += [((*self.at, *way), message) for message in messages]

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
            kind, number = (
                next((name for name in names if fields.get(name) is not None), "") for names in (kinds, numbers)
            )
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
            if way == self._breakdown and self.at == self._usage and isinstance(value, (list, tuple)):
                self._sum_iterations(value)
            else:
                known = self._dialect.names_in(place) if self._listed < MOST_PROBLEMS else ()
                self._read_other((*place, field_name(name)), name, value, any(map(is_counter, way)), known)

    def _sum_iterations(self, entries: Iterable[Any]) -> None:
        """Add up Anthropic's breakdown, whose entries are the usages of the requests made for this one."""
        counts, sound = self.counts, True
        for index, entry in enumerate(entries):
            fields = mapping_of(entry)
            if fields is None:
                self._read_other((*self._breakdown, index), index, entry, False)
                continue
            problem_count, self.counts = len(self._problems), {}
            self.at = (*self._usage, *self._breakdown, index)
            self.sort_out(fields)
            agreed_counts = agreed(self._dialect, self.counts, self.at, self._problems)
            if self._dialect.names_say_counts:  # a response may have names of another dialect here
                self.read_others()
            self.at, self._others = self._usage, []
            sound = sound and len(self._problems) == problem_count
            self.together.update({name: int(count) for name, count in agreed_counts.counts.items()})
            if not self._within_limits():
                break
        self.counts = counts
        if not sound:
            self.together.clear()

    def check_iterations(self, counts: CountOf) -> None:
        """Refuse a breakdown that counts more than its usage."""
        for counter in self._dialect.counters:
            entries_sum, count = self.together[counter.name], counts.get(counter.name, 0)
            if entries_sum > count:
                path = ".".join(counter.paths[0])
                words = f"The entries have {entries_sum} {path} together, and the usage has {count}"
                self.refuse(self._breakdown, words)
                break

    def _read_other(self, way: Path, name: Any, given: Any, counts: bool, known: Sequence[str] = ()) -> None:
        """Read one value; `counts` is True if it, or an object that contains it, is named like a counter."""
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
            if len(self.at) + len(way) >= DEEPEST:
                self.refuse(way, TOO_DEEP)
                return
            for key, value in enumerate(given) if listed else (inside or {}).items():
                self._read_other((*way, key if listed else field_name(key)), key, value, counts or is_counter(key))
                if not self._within_limits():
                    return
        elif number or (counts and inside is None and not listed):
            messages = [] if number else count_messages(given)
            if (given if number else whole(given)) and not messages and self._listed < MOST_PROBLEMS:
                near = did_you_mean(field_name(name), known, slip=True)
                messages = [f"{NO_PRICE}.{near}" if near else NO_PRICE]
            self.refuse(way, *messages)
        else:
            self.ignored.append(".".join(map(str, (*self.at, *way))))

    def _within_limits(self) -> bool:
        if self._values == _MOST_VALUES + 1:
            self._values += 1
            self._problems.append((self._usage, f"Object must have at most {_MOST_VALUES} values"))
        return self._values <= _MOST_VALUES


def word_of(given: Any) -> str:
    """Return a word as text; in clients, a word may be a member of an enumeration."""
    return str(getattr(given, "value", given))


# A plan says what the counts of a usage mean together. It is made from a dialect and the names of the counts that a
# usage has. It is evaluated above, compiled below, and written in SQL by a simulation of responses.


_Names = tuple[str, ...]
_UNCLEAR = "This count is not clear by itself: give {} too"
_TWO_WAYS = "The same tokens may be counted here twice: give this or {}"


class CountCheck(NamedTuple):
    """A rule for a count: it is at most the sum `of` other counts minus `less`.

    With `words`, it must equal that; if `apart`, it or the sum must be 0.
    """

    name: str
    of: _Names
    less: _Names = ()
    words: str = ""
    apart: bool = False


class UsagePlan(NamedTuple):
    """The buckets of a usage, each the sum of some of its counts, and the checks between the counts."""

    buckets: Mapping[str, _Names]
    checks: tuple[CountCheck, ...]

    def totals(self, counts: CountOf) -> dict[str, int]:
        """Add up the counts of each bucket."""
        return {bucket: int(sum(counts[name] for name in names)) for bucket, names in self.buckets.items()}

    def failures(self, found: Found) -> Iterator[tuple[Path, str]]:
        """Yield each check that fails: the path of its count, and the message."""
        counts = found.counts
        for check in self.checks:
            count, limit = counts[check.name], sum(counts.get(name, 0) for name in check.of)
            less = sum(counts.get(name, 0) for name in check.less)
            # A part that is too large by itself is reported once, by its own check.
            fails = count and limit if check.apart else count != limit if check.words else count > limit - less
            if less <= limit and fails:
                yield found.at[check.name], check.words.format(limit) if check.words else too_big(limit - less)


def usage_plan(dialect: UsageDialect, given: Collection[str]) -> UsagePlan:
    """Return the plan of usages that have the `given` counts.

    >>> from ratecard.requests.dialects import DIALECTS
    >>> usage_plan(DIALECTS["anthropic"], ["input", "completion", "top read"]).buckets
    {'input': ('input', 'top read'), 'output': ('completion',), 'cache_input': ('top read',)}
    """
    buckets: dict[str, _Names] = {PROMPT: (), COMPLETION: ()}
    bucket_of = {counter.name: counter.bucket for counter in (*COUNTER.values(), *dialect.counters)}
    paths = {counter.name: ".".join(counter.paths[0]) for counter in dialect.counters}
    for counter in dialect.counters:
        if counter.name in given:
            # If a usage counts the prompt, that already includes the counts beside the input.
            outer_bucket = "" if counter.beside == PROMPT and "prompt" in given else counter.beside
            for bucket in filter(None, (counter.bucket, outer_bucket)):
                buckets[bucket] = (*buckets.get(bucket, ()), counter.name)
    checks = [
        CountCheck(
            counter.name,
            buckets.get(bucket_of[counter.whole], ()) if bucket_of[counter.whole] else (counter.whole,),
            buckets.get(counter.without, ()),
        )
        for counter in dialect.counters
        if counter.whole and counter.name in given
    ]
    for container in (PROMPT, COMPLETION, f"cache_{PROMPT}"):
        text, *further = (buckets.get(f"{container}_{modality}", ()) for modality in (*MODALITIES, "document"))
        # A table need not have a rate for text: without this check, text could then be more than what is left of it.
        if text and any(further):
            checks.append(CountCheck(text[0], buckets.get(container, ()), (*text[1:], *chain(*further))))
    sums = [(total, parts) for total, parts in dialect.sums.items() if parts[-1] in given]
    sums += [(total, tuple(name for name in parts if name in given)) for total, parts in dialect.breakdowns.items()]
    checks += [
        CountCheck(total, parts, words=f"Expected {{}}, the sum of {', '.join(paths[name] for name in parts)}")
        for total, parts in sums
        if total in given and parts
    ]
    for pairs, words, exclusive in ((dialect.only_with, _UNCLEAR, False), (dialect.never_with, _TWO_WAYS, True)):
        for name, others in pairs.items():
            if name in given and any(other in given for other in others) is exclusive:
                message = words.format(" or ".join(paths[other] for other in others))
                checks.append(CountCheck(name, others if exclusive else (), words=message, apart=exclusive))
    return UsagePlan(buckets, tuple(checks))


def any_usage_plan(given: Collection[str]) -> UsagePlan:
    """Return the plan of a usage object of text, or of an embedding."""
    plan = usage_plan(ANY_USAGE, given)
    if "total" not in given:
        return plan
    # A total that differs from this sum counts something unknown.
    words = "Expected {}, the sum of all prompt and completion tokens"
    check = CountCheck("total", (*plan.buckets[PROMPT], *plan.buckets[COMPLETION]), words=words)
    return plan._replace(checks=(*plan.checks, check))


# Usage objects of ordinary layouts are read by functions that are compiled at the first usage of each layout. A layout
# is the nested names in their order. A compiled function accepts plain counts that agree; it returns None for others.


# The compiled function of a layout, which returns the counts of a usage, or None.
_Reader = Callable[[dict[Any, Any]], TokenCounts | None]
# The names of a usage's objects, and the readers by the names in these objects.
_Inside = tuple[tuple[str, ...], dict[tuple[Any, ...], _Reader]]
# Layouts beyond this number, which only hostile usages have, are read with care each time.
MOST_LAYOUTS = 1_000
# Marks among the names of a layout, which no usage can name.
_END, _NO_OBJECT = object(), object()


class LayoutReaders:
    """The compiled readers of usage objects of text, or of embeddings, which have no completion."""

    def __init__(self, *, is_text: bool) -> None:
        self._is_text = is_text
        # The objects and the readers by the names of a usage.
        self._readers: dict[tuple[Any, ...], _Inside] = {}
        self._compiled = 0

    def __len__(self) -> int:
        """Return the number of compiled layouts."""
        return self._compiled

    def read(self, usage: dict[Any, Any]) -> TokenCounts | None:
        """Return the counts of an ordinary usage object, and None for any that needs a closer look.

        >>> LayoutReaders(is_text=True).read({"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10})
        (('input', 'output'), (9, 1), None, ())
        >>> LayoutReaders(is_text=True).read({"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 11})
        """
        objects, readers = self._readers.get((*usage,)) or (_objects_of(usage), {})
        # The names in each of the objects of the usage, and a mark for one that is null.
        inside: tuple[Any, ...] = ()
        for name in objects:
            value = usage[name]
            inside += (*value, _END) if value.__class__ is dict else (_NO_OBJECT,)
        reader = readers.get(inside)
        if reader is None and (reader := self._compile(usage)):
            readers[inside] = reader
            self._readers[(*usage,)] = objects, readers
        return reader and reader(usage)

    def _compile(self, usage: dict[Any, Any]) -> _Reader | None:
        """Compile the reader of a layout; None for a layout that is always read with care."""
        if self._compiled >= MOST_LAYOUTS or (source := _source_of(usage, self._is_text)) is None:
            return None
        self._compiled += 1
        scope: dict[str, Any] = {"most": MOST_TOKENS}
        exec(source, scope)  # noqa: S102 (of a usage only names enter it, and only those that are known)
        reader: _Reader = scope["read"]
        return reader


def _objects_of(usage: dict[Any, Any]) -> tuple[str, ...]:
    return tuple(name for name in usage if (name,) in ANY_USAGE.objects)


def _source_of(usage: dict[Any, Any], is_text: bool) -> str | None:
    """Return the source of the reader of this layout; None for a layout that is always read with care."""
    variables: dict[str, str] = {}
    lines = _unpack((), usage, "usage", variables, count())
    if lines is None or not _is_plain(variables.keys()) or (is_text and "completion" not in variables):
        return None
    names = list(variables.values())
    lines += [f"if not ({' is '.join(f'{name}.__class__' for name in names)} is int): return None"]
    lines += [f"if not 0 <= {' | '.join(names)} <= most: return None"]

    def added(counts: Iterable[str], sign: str = " + ") -> str:
        return sign.join(variables[name] for name in counts if name in variables)

    plan = any_usage_plan(variables.keys())
    for check in plan.checks:
        limit = " - ".join(filter(None, (added(check.of) or "0", added(check.less, " - "))))
        lines += [f"if {variables[check.name]} {'!=' if check.words else '>'} {limit}: return None"]
    values = ", ".join(added(counts) or "0" for counts in plan.buckets.values())
    lines += [f"return {(*plan.buckets,)}, ({values}), {variables.get('searches')}, ()"]
    return "\n    ".join(["def read(usage):", *lines])


def _is_plain(counts: Collection[str]) -> bool:
    """Return True if the names of counts alone show what the prompt is, and which part of it was cached."""
    tops = {"top read", "top written"}.intersection(counts)
    others = {"input", *tops} if "prompt" in counts else {"read", "written"} if tops else set()
    return ("prompt" in counts or "input" in counts) and others.isdisjoint(counts)


def _unpack(
    place: Way, fields: Mapping[Any, Any], of: str, variables: dict[str, str], numbers: Iterator[int]
) -> list[str] | None:
    """Return the lines that put the counts of an object into variables; None if it has a name that needs care."""
    names = {name: f"v{next(numbers)}" for name in fields}
    lines = [f"{', '.join(names.values())}, = {of}.values()"] if names else []
    if len(place) > 1:  # the layout already has the names of the usage and of its objects
        lines.insert(0, f"if {of}.__class__ is not dict or (*{of},) != {(*names,)}: return None")
    for name, variable in names.items():
        way = (*place, name)
        if counter := ANY_USAGE.counter_at.get(way):
            if counter.name in variables:
                return None
            variables[counter.name] = variable
        elif way not in ANY_USAGE.objects:
            return None
        elif fields[name].__class__ is not dict:
            lines.append(f"if {variable} is not None: return None")
        else:
            inner = _unpack(way, fields[name], variable, variables, numbers)
            if inner is None:
                return None
            lines += inner
    return lines


# The readers of ordinary usage objects, of embeddings and of text.
ORDINARY = {is_text: LayoutReaders(is_text=is_text).read for is_text in (False, True)}
