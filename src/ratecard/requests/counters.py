"""The counts of providers in the usage object of a text request, each with every path at which it is written.

Counts are inclusive: tokens read from the cache are part of the prompt. `UsageDialect` describes the usage of one
provider; the dialects of all providers are in `dialects.py`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ratecard.base.messages import Path
from ratecard.requests.body import mapping_of

_PROMPT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_COMPLETION_DETAILS = ("completion_tokens_details", "output_tokens_details")
MODALITIES = ("text", "audio", "image", "video")

# The names that lead to a value; `*` is every entry of a list.
Way = tuple[str, ...]
# A way, and the words that are the sign at its end; without words, any value but null, false and empty text.
Sign = tuple[Way, frozenset[str]]


class Counter(NamedTuple):
    """A count: every path at which providers write it, the count that includes it (`whole`), if any, and its bucket.

    The bucket is one of meters.yaml; a part without a bucket is charged with its whole. A count `beside` a bucket is
    part of that bucket, but the bucket's own count leaves it out. A count `without` a bucket does not include that
    bucket's tokens. A count of other things than tokens has a `meter`, and may be a fraction, like seconds.
    """

    name: str
    paths: tuple[Way, ...]
    whole: str = ""
    bucket: str = ""
    beside: str = ""
    without: str = ""
    meter: str = ""
    fractions: bool = False


def _within(objects: tuple[str, ...], *names: str) -> tuple[Way, ...]:
    return tuple((outer, name) for outer in objects for name in names)


def _written_for(name: str) -> tuple[Way, ...]:
    return tuple((outer, "cache_write_tokens_details", name) for outer in _PROMPT_DETAILS)


def _of_completion(bucket: str, *names: str) -> Counter:
    paths = (*((name,) for name in names), *_within(_COMPLETION_DETAILS, *names))
    return Counter(names[0], paths, "completion", bucket)


def _by_modality(name: str, whole: str, bucket: str, objects: tuple[str, ...], *inner: str) -> list[Counter]:
    """Return the parts of a count by modality: in each of these objects, or in an `inner` object of each."""
    return [
        Counter(
            f"{modality} of the {name}",
            tuple((outer, *inner, f"{modality}_tokens") for outer in objects),
            whole,
            f"{bucket}_{modality}",
        )
        for modality in MODALITIES
    ]


# Anthropic's own object counts cache reads and writes beside `input_tokens`; `prompt_tokens` includes both. So "input",
# "top read" and "top written" are counts of their own, and `token_usage.py` says which of them mean the same.
COUNTERS = (
    Counter("prompt", (("prompt_tokens",),), bucket="input"),
    Counter("input", (("input_tokens",),), bucket="input"),
    Counter("completion", (("completion_tokens",), ("output_tokens",)), bucket="output"),
    Counter("total", (("total_tokens",),)),
    Counter("read", _within(_PROMPT_DETAILS, "cached_tokens"), "prompt", "cache_input"),
    Counter(
        "written",
        _within(_PROMPT_DETAILS, "cache_creation_input_tokens", "cache_write_tokens"),
        "prompt",
        "cache_write",
        without="cache_input",
    ),
    Counter("top read", (("cache_read_input_tokens",),), bucket="cache_input", beside="input"),
    Counter("top written", (("cache_creation_input_tokens",),), bucket="cache_write", beside="input"),
    Counter("searches", (("server_tool_use", "web_search_requests"),), meter="web_search"),
    # These parts are charged with their whole, unless their bucket has a rate of its own.
    _of_completion("output_reasoning", "reasoning_tokens", "thinking_tokens"),
    _of_completion("output_prediction", "accepted_prediction_tokens"),
    _of_completion("output_prediction", "rejected_prediction_tokens"),
    *_by_modality("completion", "completion", "output", _COMPLETION_DETAILS),
    *_by_modality("prompt", "prompt", "input", _PROMPT_DETAILS),
    # These details have no count of cached video.
    *_by_modality("cache", "read", "cache_input", _PROMPT_DETAILS, "cached_tokens_details")[:-1],
    Counter(
        "written for 5 minutes",
        (("cache_creation", "ephemeral_5m_input_tokens"),),
        "written",
        without="cache_write_1h",
    ),
    Counter("written for 1 hour", (("cache_creation", "ephemeral_1h_input_tokens"),), "written", "cache_write_1h"),
    Counter("written for 30 minutes", _written_for("ttl_30m_tokens"), "written", without="cache_write_12h"),
    Counter("written for 12 hours", _written_for("ttl_12h_tokens"), "written", "cache_write_12h"),
)
# The parts of what is written to the cache. Those that a usage leaves out are 0.
LIFETIMES = tuple(counter.name for counter in COUNTERS if counter.name.startswith("written for"))
COUNTER = {counter.name: counter for counter in COUNTERS}
# The count of each bucket: the first of the counters above that have the bucket.
_COUNT_OF = {counter.bucket: counter for counter in reversed(COUNTERS) if counter.bucket}


@dataclass(frozen=True, slots=True)
class UsageDialect:
    """A description of how one provider writes usage.

    A way is the names that lead from a response to a value. Where a field has several ways, the first that leads to a
    value counts.
    """

    counters: tuple[Counter, ...]
    # The counts that every usage must have; an embedding needs only the first.
    required: Way = ()
    # A count -> all counts that add up to it. The sum is checked if a usage has the count and the last of its parts.
    sums: Mapping[str, Way] = field(default_factory=dict)
    # A count -> all counts that add up to it; those that a usage leaves out are 0, unless it has none of them.
    breakdowns: Mapping[str, Way] = field(default_factory=lambda: dict.fromkeys(("written", "top written"), LIFETIMES))
    # A count above 0 -> other counts, one of which must be given too: alone, it does not show which count contains it.
    only_with: Mapping[str, Way] = field(default_factory=dict)
    # A count above 0 -> the counts that must be 0 then: together, they may count the same tokens twice.
    never_with: Mapping[str, Way] = field(default_factory=dict)
    # Lists of counts in the usage: the name of the list -> the keys for an entry's name, and the keys for its count.
    entries: Mapping[str, tuple[Way, Way]] = field(default_factory=dict)
    # The ways to the usage in a response, or in a part of a stream; without any, the response is the usage itself.
    usage: tuple[Way, ...] = (("usage",),)
    # Only names with this prefix belong to the usage.
    prefix: str = ""
    # The way to the requests of an export, and the key of a request's attributes, a list of names and typed values.
    exported: Way = ()
    attributes: str = ""
    model: tuple[Way, ...] = (("model",),)
    # The way to the time of a row in a table of responses.
    moment: tuple[Way, ...] = ()
    conditions: Mapping[str, tuple[Way, ...]] = field(default_factory=dict)
    # By condition: a word of the provider that meters.yaml does not know -> the word there; empty if it states nothing.
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # Parts of a stream: the last usage counts, a count replaces an earlier one, counts add up, or parts are refused.
    stream: Literal["last", "replace", "add", "refuse"] = "last"
    # The id that all parts of a stream share, if they have one, and the number that orders them. Ids with a prefix of
    # the client are compared only with each other; ids with a prefix of parts are not compared.
    id: tuple[Way, ...] = ()
    ids_of_client: Way = ()
    ids_of_parts: Way = ()
    order: tuple[Way, ...] = ()
    # The signs that a stream, or a turn in it, begins or ends. Without signs of an end, no stream counts as cut off.
    begins: tuple[Sign, ...] = ()
    ends: tuple[Sign, ...] = ()
    # The sign of a part without an id whose usage continues the counts of an earlier part.
    continues: tuple[Sign, ...] = ()
    # The sign of an object that counts several requests together, which may be of different tiers.
    of_several: tuple[Sign, ...] = ()
    # The sign of a complete response, which is not a part of a stream.
    complete: tuple[Sign, ...] = ()
    # The sign of a turn of a session. Each turn has a usage of its own, and these are added up.
    turns: tuple[Sign, ...] = ()
    # The sign of an event of a session whose usage belongs to another model.
    of_another_model: tuple[Sign, ...] = ()
    # The parts of a usage that do not affect its price.
    no_price: frozenset[str] = frozenset()
    # The ways to the usages of requests that were made for a response. Its own counts include only the type `message`.
    apart: tuple[Way, ...] = ()
    # The way to the usage of all steps of a response, whose own usage is that of the last step.
    of_all_steps: Way = ()
    # The key of a usage's breakdown by requests, which together must not count more than the usage.
    iterations: str = ""
    # The ways to the kind of a response, and the kinds to read: others have no tokens, or repeat other responses.
    kinds: tuple[Way, ...] = ()
    read_kinds: frozenset[str] = frozenset()
    # For each meter, the ways to the calls of tools that a response counts outside of its usage; and the meter of each
    # kind of call in its output, for responses that do not count the calls.
    calls_at: Mapping[str, tuple[Way, ...]] = field(default_factory=dict)
    calls: Mapping[Way, str] = field(default_factory=dict)
    # The meter of other items, by the kind of a call and by the way to listed items. Providers bill them by the call,
    # by the session, in tokens or not at all, as the tables say.
    listed_calls: Mapping[str, str] = field(default_factory=dict)
    listed: Mapping[Way, str] = field(default_factory=dict)
    # For usages without tokens: the ways to the seconds of audio and to the listed images, and the keys of an image.
    seconds: tuple[Way, ...] = ()
    pieces: tuple[Way, ...] = ()
    piece: Way = ()
    # The signs of a response that is an embedding.
    embedding: tuple[Sign, ...] = ()
    # True if only numbers with names like those of counters could have a price; in a response, any number could.
    names_say_counts: bool = False
    # The count at each way, and the ways to the objects that hold counts.
    counter_at: dict[Way, Counter] = field(init=False)
    objects: set[Way] = field(init=False)

    def __post_init__(self) -> None:
        """Gather the ways of the counters, and those of the conditions: a usage may state each of them too."""
        ways = {way: counter for counter in self.counters for way in counter.paths}
        object.__setattr__(self, "counter_at", ways)
        object.__setattr__(self, "objects", {way[:end] for way in ways for end in range(1, len(way))})
        conditions = {
            name: tuple(dict.fromkeys((*places, *((*at, name) for at in self.usage))))
            for name, places in self.conditions.items()
        }
        object.__setattr__(self, "conditions", conditions)

    def names_in(self, place: Way) -> list[str]:
        """Return every known name in the object at a place."""
        return [way[-1] for way in (*self.counter_at, *self.objects) if way[:-1] == place]


# The usage object of `prices.rate`, whichever provider wrote it.
ANY_USAGE = UsageDialect(COUNTERS, iterations="iterations", names_say_counts=True)


# Upper bound for token counts; anything larger is rejected.
MOST_TOKENS = 10**18
# The counts of a usage: names of buckets, their inclusive tokens, searches, and dotted paths of values without effect.
# The prompt and the completion come first; searches are None if the usage does not count any.
TokenCounts = tuple[tuple[str, ...], tuple[int, ...], int | None, tuple[str, ...]]
# The path and the bucket of each count that flat text can have (examples of tables, options, columns).
FLAT = {_COUNT_OF[bucket].paths[0]: bucket for bucket in ("input", "output", "cache_input", "cache_write")}
USAGE: Path = ("usage",)


def path_of_bucket(bucket: str, usage: Mapping[Any, Any]) -> Path:
    """Return the path at which a usage counts a bucket."""
    return ("tokens", bucket) if "tokens" in usage else path_of(_COUNT_OF[bucket].name, usage.get("usage"))


def usage_of_buckets(buckets: Mapping[str, Any]) -> dict[str, Any]:
    """Return a usage that counts these buckets: in a provider's `usage` if that can count them all, else in `tokens`.

    >>> usage_of_buckets({"input": 5, "output": 1, "cache_input": 4})["usage"]
    {'prompt_tokens': 5, 'completion_tokens': 1, 'prompt_tokens_details': {'cached_tokens': 4}}
    """
    if not all(bucket in _COUNT_OF for bucket in buckets):
        return {"tokens": dict(buckets)}
    usage: dict[str, Any] = {}
    for bucket, count in buckets.items():
        *way, name = _COUNT_OF[bucket].paths[0]
        within = usage
        for part in way:
            within = within.setdefault(part, {})
        within[name] = count
    return {"usage": usage}


def path_of(count: str, usage: object) -> Path:
    """Return the path of a count in a usage: the first of its paths that has a value, else its first path."""
    paths = [path for name in (count, f"top {count}") if name in COUNTER for path in COUNTER[name].paths]
    return (*USAGE, *next((path for path in paths if value_at(path, usage) is not None), paths[0]))


def value_at(path: Iterable[str], usage: object) -> Any:
    """Return the value at a path of a usage, or None."""
    for name in path:
        fields = mapping_of(usage)
        usage = None if fields is None else fields.get(name)
    return usage
