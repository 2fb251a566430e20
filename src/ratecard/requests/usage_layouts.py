"""Read usage objects of ordinary layouts by functions that are compiled at the first usage of each layout.

A layout is the names of an object, nested, in their order. A compiled function accepts plain counts that agree, and
returns None for all others: `token_usage.py` then reads them with care and gives the reasons.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from ratecard.requests.counters import MOST_TOKENS, TokenCounts
from ratecard.requests.dialects import ANY_USAGE, Way
from ratecard.requests.usage_plan import any_usage_plan

# The function of a layout: the counts of a usage, or None.
_Reader = Callable[[dict[Any, Any]], TokenCounts | None]
# The names of the objects of a usage, and its readers by the names in these.
_Inside = tuple[tuple[str, ...], dict[tuple[Any, ...], _Reader]]
# Layouts beyond this number, which only hostile usages have, are read with care each time.
MOST_LAYOUTS = 1_000
# Marks among the names of a layout, which no usage can name.
_END, _NO_OBJECT = object(), object()


class LayoutReaders:
    """The compiled readers of usage objects of text, or of embeddings, which have no completion."""

    def __init__(self, *, is_text: bool) -> None:
        self._is_text = is_text
        # By the names of a usage.
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
        objects, readers = self._readers.get((*usage,)) or _objects_of(usage)
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


def _objects_of(usage: dict[Any, Any]) -> _Inside:
    return tuple(name for name in usage if (name,) in ANY_USAGE.objects), {}


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

    plan = any_usage_plan(variables.keys(), is_text)
    for check in plan.checks:
        limit = " - ".join(filter(None, (added(check.of) or "0", added(check.less, " - "))))
        lines += [f"if {variables[check.name]} {'!=' if check.words else '>'} {limit}: return None"]
    values = ", ".join(added(counts) or "0" for counts in plan.buckets.values())
    lines += [f"return {(*plan.buckets,)}, ({values}), {variables.get('searches')}, ()"]
    return "\n    ".join(["def read(usage):", *lines])


def _is_plain(counts: Collection[str]) -> bool:
    """Return True if the names of counts alone say what the prompt is, and what of it was in the cache."""
    tops = {"top read", "top written"}.intersection(counts)
    others = {"input", *tops} if "prompt" in counts else {"read", "written"} if tops else set()
    return ("prompt" in counts or "input" in counts) and others.isdisjoint(counts)


def _unpack(
    place: Way, fields: Mapping[Any, Any], of: str, variables: dict[str, str], numbers: Iterator[int]
) -> list[str] | None:
    """Return the lines that put the counts of an object into variables; None for a name that is not read so."""
    names = {name: f"v{next(numbers)}" for name in fields}
    lines = [f"{', '.join(names.values())}, = {of}.values()"] if names else []
    if len(place) > 1:  # the names of the usage and of its objects are those of the layout already
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
