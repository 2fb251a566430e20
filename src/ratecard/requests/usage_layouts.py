"""Read usage objects of ordinary layouts by functions that are compiled at the first usage of each layout.

A layout is the names of an object, nested, in their order. A compiled function accepts plain counts that agree, and
returns None for all others: `token_usage.py` then reads them with care and gives the reasons.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from ratecard.requests.counters import COUNTERS, FIELDS, MOST_TOKENS, Fields, TokenCounts

# The function of a layout: the counts of a usage, or None.
_Reader = Callable[[dict[Any, Any]], TokenCounts | None]
# Layouts beyond this number, which only hostile usages have, are read with care each time.
MOST_LAYOUTS = 1_000
# Marks among the names of a layout, which no usage can name.
_END, _NO_OBJECT = object(), object()


class LayoutReaders:
    """The compiled readers of usage objects of text, or of embeddings, which have no completion."""

    def __init__(self, *, is_text: bool) -> None:
        self._is_text = is_text
        # By the names of a usage: those of its objects, and its readers by the names in these.
        self._readers: dict[tuple[Any, ...], tuple[tuple[str, ...], dict[tuple[Any, ...], _Reader]]] = {}
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
        try:
            objects, readers = self._readers[(*usage,)]
            return readers[_names_inside(usage, objects)](usage)
        except KeyError:
            return self._compile(usage)

    def _compile(self, usage: dict[Any, Any]) -> TokenCounts | None:
        """Compile the reader of a layout, and read its first usage; None for a layout that is always read with care."""
        if self._compiled >= MOST_LAYOUTS or (source := _source_of(usage, self._is_text)) is None:
            return None
        self._compiled += 1
        scope: dict[str, Any] = {"most": MOST_TOKENS}
        exec(source, scope)  # noqa: S102 (of a usage only names enter it, and only those that are known)
        objects = tuple(name for name in usage if name in FIELDS.objects)
        reader: _Reader = scope["read"]
        self._readers.setdefault((*usage,), (objects, {}))[1][_names_inside(usage, objects)] = reader
        return reader(usage)


def _names_inside(usage: dict[Any, Any], objects: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the names in each of these objects of a usage, and a mark for one that is null."""
    names: tuple[Any, ...] = ()
    for each in objects:
        value = usage[each]
        names += (*value, _END) if value.__class__ is dict else (_NO_OBJECT,)
    return names


def _source_of(usage: dict[Any, Any], is_text: bool) -> str | None:
    """Return the source of the reader of this layout; None for a layout that is always read with care."""
    variables: dict[str, str] = {}
    lines, wholes = _unpack(FIELDS, usage, "usage", variables, count()), _whole_prompt(variables)
    if lines is None or wholes is None or (is_text and "completion" not in variables):
        return None
    prompt, cached, written = wholes
    completion = variables.get("completion", "0")
    names = list(variables.values())
    lines += [f"if not ({' is '.join(f'{name}.__class__' for name in names)} is int): return None"]
    lines += [f"if not 0 <= {' | '.join(names)} <= most: return None"]
    if cached != "0" or written != "0":
        lines += [f"if {cached} + {written} > {prompt}: return None"]
    if total := variables.get("total"):
        lines += [f"if {total} != {prompt}{f' + {completion}' if is_text else ''}: return None"]
    counts = {"input": prompt, "output": completion}
    counts |= {name: value for name, value in (("cache_input", cached), ("cache_write", written)) if value != "0"}
    of = {"prompt": prompt, "completion": completion, "read": cached, "written": written}
    for counter in COUNTERS:
        if counter.whole and (part := variables.get(counter.name)):
            lines += [f"if {part} > {of[counter.whole]}: return None"]
            counts |= {counter.bucket: part} if counter.bucket else {}
    lines += [f"return {(*counts,)}, ({', '.join(counts.values())}), {variables.get('searches')}, ()"]
    return "\n    ".join(["def read(usage):", *lines])


def _unpack(
    known: Fields, fields: Mapping[Any, Any], of: str, variables: dict[str, str], numbers: Iterator[int]
) -> list[str] | None:
    """Return the lines that put the counts of an object into variables; None for a name that is not read so."""
    places = {name: f"v{next(numbers)}" for name in fields}
    lines = [f"{', '.join(places.values())}, = {of}.values()"] if places else []
    if len(known.path) > 1:  # the names of the usage and of its objects are those of the layout already
        lines.insert(0, f"if {of}.__class__ is not dict or (*{of},) != {(*places,)}: return None")
    for name, place in places.items():
        if counter := known.counters.get(name):
            if counter in variables:
                return None
            variables[counter] = place
        elif name not in known.objects:
            return None
        elif fields[name].__class__ is not dict:
            lines.append(f"if {place} is not None: return None")
        else:
            inner = _unpack(known.objects[name], fields[name], place, variables, numbers)
            if inner is None:
                return None
            lines += inner
    return lines


def _whole_prompt(variables: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return what the whole prompt is, and how many of its tokens were read from the cache and written to it."""
    names = variables.keys()
    cached, written = (variables.get(name, "0") for name in ("read", "written"))
    tops = [variables[name] for name in ("top read", "top written") if name in names]
    if "prompt" in names:
        return None if tops or "input" in names else (variables["prompt"], cached, written)
    if "input" not in names or (tops and not names.isdisjoint(("read", "written"))):
        return None
    if tops:  # beside the input
        cached, written = (variables.get(name, "0") for name in ("top read", "top written"))
    return f"({' + '.join((variables['input'], *tops))})" if tops else variables["input"], cached, written
