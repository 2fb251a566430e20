"""What providers count in the usage object of a text request: each count, and every path at which it is written.

Counts are inclusive: tokens read from the cache are part of the prompt.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ratecard.base.messages import Path
from ratecard.requests.body import mapping_of

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
COUNTER = {counter.name: counter for counter in COUNTERS}
# The count of each bucket: of those above, the first.
_COUNT_OF = {counter.bucket: counter for counter in reversed(COUNTERS) if counter.bucket}


# Upper bound for token counts; anything larger is rejected.
MOST_TOKENS = 10**18
# What a usage counts: buckets by name and their inclusive tokens, searches, and the dotted paths of what has no effect.
# The prompt and the completion come first; searches are None if the usage does not count any.
TokenCounts = tuple[_Names, tuple[int, ...], int | None, _Names]
# The counts that text without objects has (examples of tables, options, columns): the path of each, and its bucket.
FLAT = {_COUNT_OF[bucket].paths[0]: bucket for bucket in ("input", "output", "cache_input", "cache_write")}
USAGE: Path = ("usage",)


def path_of_bucket(bucket: str, usage: Mapping[Any, Any]) -> Path:
    """The path at which a usage counts a bucket."""
    return ("tokens", bucket) if "tokens" in usage else path_of(_COUNT_OF[bucket].name, usage.get("usage"))


def usage_of_buckets(buckets: Mapping[str, Any]) -> dict[str, Any]:
    """A usage that counts these buckets, as a provider writes it where one does: `usage`, or else `tokens`.

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
    """The path of a count in a usage: its first name that is given, else its first name."""
    paths = [path for name in (count, f"top {count}") if name in COUNTER for path in COUNTER[name].paths]
    return (*USAGE, *next((path for path in paths if value_at(path, usage) is not None), paths[0]))


def value_at(path: Iterable[str], usage: object) -> Any:
    """The value at a path of a usage, or None."""
    for name in path:
        fields = mapping_of(usage)
        usage = None if fields is None else fields.get(name)
    return usage
