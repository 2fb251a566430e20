"""The counters of a token usage: every name under which each is known, as one table of paths."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_PROMPT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_COMPLETION_DETAILS = ("completion_tokens_details", "output_tokens_details")

Names = tuple[str, ...]


class Counter(NamedTuple):
    """A count, every path at which providers write it, and the count of which it is a part ("": of none)."""

    name: str
    paths: tuple[Names, ...]
    whole: str = ""


def _within(objects: Names, *names: str) -> tuple[Names, ...]:
    return tuple((outer, name) for outer in objects for name in names)


def _of_completion(name: str) -> Counter:
    return Counter(name, ((name,), *_within(_COMPLETION_DETAILS, name)), "completion")


# Anthropic's own object counts what was read from the cache and written to it beside `input_tokens`; `prompt_tokens`
# holds both. So these are counts of their own, and `read_tokens` says which of them mean the same.
COUNTERS = (
    Counter("prompt", (("prompt_tokens",),)),
    Counter("input", (("input_tokens",),)),
    Counter("completion", (("completion_tokens",), ("output_tokens",))),
    Counter("total", (("total_tokens",),)),
    Counter("read", _within(_PROMPT_DETAILS, "cached_tokens")),
    Counter("written", _within(_PROMPT_DETAILS, "cache_creation_input_tokens", "cache_write_tokens")),
    Counter("top read", (("cache_read_input_tokens",),)),
    Counter("top written", (("cache_creation_input_tokens",),)),
    Counter("searches", (("server_tool_use", "web_search_requests"),)),
    # Parts that are charged with their whole.
    *map(_of_completion, ("reasoning_tokens", "thinking_tokens")),
    *map(_of_completion, ("accepted_prediction_tokens", "rejected_prediction_tokens")),
    Counter("text of the prompt", _within(_PROMPT_DETAILS, "text_tokens"), "prompt"),
    Counter("text of the completion", _within(_COMPLETION_DETAILS, "text_tokens"), "completion"),
    Counter("written for 5 minutes", (("cache_creation", "ephemeral_5m_input_tokens"),), "written"),
)
SLOTS = {counter.name: slot for slot, counter in enumerate(COUNTERS)}
# The counters before this one decide the price.
FIRST_PART = next(slot for slot, counter in enumerate(COUNTERS) if counter.whole)
ITERATIONS = "iterations"

# Keys that select a price, and the values that select the listed one.
SELECTORS: Mapping[str, Names] = {
    **dict.fromkeys(("service_tier", "speed", "processing"), ("standard", "default", "auto")),
    "inference_geo": ("", "not_available", "global"),
}
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
    """What the object at `path` may have, by name: the slots of its counters, and the objects in it.

    `parts` are those counters that are charged with their whole, so that their numbers decide nothing.
    """

    path: Names = ()
    counters: dict[str, int] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    objects: dict[str, "Fields"] = field(default_factory=dict)

    @property
    def names(self) -> Names:
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


# The same by name, for each object of a usage.
FIELDS = _fields()
