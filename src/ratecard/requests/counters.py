"""The counts of providers in the usage object of a text request, each with every path at which it is written.

Counts are inclusive: tokens read from the cache are part of the prompt. `UsageDialect` is what can be said of the usage
of one provider; those of all providers are in `dialects.py`.
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
# Where a word says something, and which words say it; without words, anything there but null, false and empty text.
Sign = tuple[Way, frozenset[str]]


class Counter(NamedTuple):
    """A count, every path at which providers write it, the count that it is a part of, if any, and its bucket.

    The bucket is that of meters.yaml; a part without one is charged with its whole. A count `beside` a bucket is not in
    the count of that bucket yet, although it is a part of it. One `without` a bucket is of tokens that this does not
    count. A count of something else than tokens has its `meter`, of which there may be `fractions`, as of seconds.
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


def _of_completion(bucket: str, *names: str) -> Counter:
    return Counter(
        names[0], (*((name,) for name in names), *_within(_COMPLETION_DETAILS, *names)), "completion", bucket
    )


def _by_modality(name: str, whole: str, bucket: str, objects: tuple[str, ...], *inner: str) -> list[Counter]:
    """Return the parts of a count by modality, which lie in these objects and, in each of them, in an inner one."""
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
    # Parts: charged with their whole, unless their bucket has a rate of its own.
    _of_completion("output_reasoning", "reasoning_tokens", "thinking_tokens"),
    _of_completion("", "accepted_prediction_tokens"),
    _of_completion("", "rejected_prediction_tokens"),
    *_by_modality("completion", "completion", "output", _COMPLETION_DETAILS),
    *_by_modality("prompt", "prompt", "input", _PROMPT_DETAILS),
    *_by_modality("cache", "read", "cache_input", _PROMPT_DETAILS, "cached_tokens_details")[:-1],  # no video
    Counter("written for 5 minutes", (("cache_creation", "ephemeral_5m_input_tokens"),), "written"),
    Counter("written for 1 hour", (("cache_creation", "ephemeral_1h_input_tokens"),), "written", "cache_write_1h"),
)
COUNTER = {counter.name: counter for counter in COUNTERS}
# The count of each bucket: of those above, the first.
_COUNT_OF = {counter.bucket: counter for counter in reversed(COUNTERS) if counter.bucket}


@dataclass(frozen=True, slots=True)
class UsageDialect:
    """The way in which one provider writes usage.

    A way is the names that lead from a response to a value; of several ways, the first at whose end is one counts.
    """

    counters: tuple[Counter, ...]
    # The counts that every usage has; of an embedding, the first.
    required: Way = ()
    # A count -> all counts that it is the sum of. It is checked where it is given, and the last of its parts.
    sums: Mapping[str, Way] = field(default_factory=dict)
    # A count above 0 -> the counts of which one must be beside it: alone, it does not say what contains it.
    only_with: Mapping[str, Way] = field(default_factory=dict)
    # A count above 0 -> those that must be 0 beside it: together, the same tokens may be counted twice.
    never_with: Mapping[str, Way] = field(default_factory=dict)
    # Lists of counts in the usage: the name of the list -> what names an entry, and what counts it.
    entries: Mapping[str, tuple[Way, Way]] = field(default_factory=dict)
    # Where the usage lies in a response or in one part of a stream; if nowhere, what is given is the usage.
    usage: tuple[Way, ...] = (("usage",),)
    # Only names with this beginning are of the usage.
    prefix: str = ""
    # Where an export of several requests has each of them, and in it attributes as a list of names and typed values.
    exported: Way = ()
    attributes: str = ""
    model: tuple[Way, ...] = (("model",),)
    # When a row of a table of responses was made.
    moment: tuple[Way, ...] = ()
    conditions: Mapping[str, tuple[Way, ...]] = field(default_factory=dict)
    # By condition, the provider's words that are not those of meters.yaml or its synonyms; an empty one says nothing.
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # Parts of a stream: the last usage counts, each count replaces the one before it, or counts are added up.
    stream: Literal["last", "replace", "add", "refuse"] = "last"
    # What all parts of a stream have in common, if they say it, and the number by which they are in order. Ids that
    # begin as those of the client are compared with each other alone; those of a part's own say nothing of the stream.
    id: tuple[Way, ...] = ()
    ids_of_client: Way = ()
    ids_of_parts: Way = ()
    order: tuple[Way, ...] = ()
    # What begins a stream, or a turn of it, and what ends it. A dialect without ends has no streams that can break off.
    begins: tuple[Sign, ...] = ()
    ends: tuple[Sign, ...] = ()
    # Parts without an id whose usage goes on counting what an earlier part counted.
    continues: tuple[Sign, ...] = ()
    # A response by itself, which is not a part of a stream.
    complete: tuple[Sign, ...] = ()
    # Turns of a session, each with a usage of its own: these are added up.
    turns: tuple[Sign, ...] = ()
    # Events of a session whose usage is that of another model.
    of_another_model: tuple[Sign, ...] = ()
    # The parts of a usage that do not affect its price.
    no_price: frozenset[str] = frozenset()
    # Requests that were made for this one: one, or a list, of which those of the type `message` are in its counts.
    apart: tuple[Way, ...] = ()
    # The usage of all steps, of which the usage is the last one.
    of_all_steps: Way = ()
    # The breakdown of a usage by its requests, in the usage: together they count no more than it.
    iterations: str = ""
    # What a response may be of: a kind that is not listed is not counted in tokens, or counts those of others again.
    kinds: tuple[Way, ...] = ()
    read_kinds: frozenset[str] = frozenset()
    # Calls of tools that a response counts outside of its usage, by meter; and where it does not, the kinds of calls
    # among its output.
    calls_at: Mapping[str, tuple[Way, ...]] = field(default_factory=dict)
    calls: Mapping[Way, str] = field(default_factory=dict)
    # What providers bill by the call, by the session, in tokens or not at all: the tables say which. By the kind of a
    # call, and by the way to what is listed, its meter.
    listed_calls: Mapping[str, str] = field(default_factory=dict)
    listed: Mapping[Way, str] = field(default_factory=dict)
    # Where audio says its seconds, and images their pieces, if no tokens are counted; and what each piece has one of.
    seconds: tuple[Way, ...] = ()
    pieces: tuple[Way, ...] = ()
    piece: Way = ()
    # The keys by which a response is the response of an embedding.
    embedding: tuple[Sign, ...] = ()
    # Numbers under names that are not those of counters have no price; of a provider's response, each could have one.
    names_say_counts: bool = False
    # The count at each way, and the ways to the objects that hold counts.
    counter_at: dict[Way, Counter] = field(init=False)
    objects: set[Way] = field(init=False)

    def __post_init__(self) -> None:
        """Gather the ways of the counters."""
        ways = {way: counter for counter in self.counters for way in counter.paths}
        object.__setattr__(self, "counter_at", ways)
        object.__setattr__(self, "objects", {way[:end] for way in ways for end in range(1, len(way))})

    def names_in(self, place: Way) -> list[str]:
        """Return every name that is known in the object at a place."""
        return [way[-1] for way in (*self.counter_at, *self.objects) if way[:-1] == place]


# The usage object of `prices.rate`, whichever provider wrote it.
ANY_USAGE = UsageDialect(COUNTERS, iterations="iterations", names_say_counts=True)


# Upper bound for token counts; anything larger is rejected.
MOST_TOKENS = 10**18
# What a usage counts: buckets by name and their inclusive tokens, searches, and the dotted paths of what has no effect.
# The prompt and the completion come first; searches are None if the usage does not count any.
TokenCounts = tuple[tuple[str, ...], tuple[int, ...], int | None, tuple[str, ...]]
# The counts that text without objects has (examples of tables, options, columns): the path of each, and its bucket.
FLAT = {_COUNT_OF[bucket].paths[0]: bucket for bucket in ("input", "output", "cache_input", "cache_write")}
USAGE: Path = ("usage",)


def path_of_bucket(bucket: str, usage: Mapping[Any, Any]) -> Path:
    """Return the path at which a usage counts a bucket."""
    return ("tokens", bucket) if "tokens" in usage else path_of(_COUNT_OF[bucket].name, usage.get("usage"))


def usage_of_buckets(buckets: Mapping[str, Any]) -> dict[str, Any]:
    """Return a usage that counts these buckets, as a provider writes it where one does: `usage`, or else `tokens`.

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
    """Return the path of a count in a usage: its first name that is given, else its first name."""
    paths = [path for name in (count, f"top {count}") if name in COUNTER for path in COUNTER[name].paths]
    return (*USAGE, *next((path for path in paths if value_at(path, usage) is not None), paths[0]))


def value_at(path: Iterable[str], usage: object) -> Any:
    """Return the value at a path of a usage, or None."""
    for name in path:
        fields = mapping_of(usage)
        usage = None if fields is None else fields.get(name)
    return usage
