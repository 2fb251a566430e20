"""Request schema of one metered model version: fields, required fields, defaults."""

from collections.abc import Callable, Collection, Iterable, KeysView, Mapping
from dataclasses import dataclass, field
from typing import Any

from ratecard.base.errors import QuoteError
from ratecard.base.messages import MOST_NAMES, Path, Problems, field_names, wrong_type
from ratecard.base.suggestions import suggestions
from ratecard.requests.body import INVALID, mapping_of
from ratecard.requests.fields import Field, RequestShape, field_problems

# (request, shape, problems): adds to the last two.
Settle = Callable[[Mapping[str, Any], RequestShape, Problems], None]
# Keys that every usage may have beside the fields of its type; `metadata` is the caller's own.
COMMON = ("type", "model", "metadata")


def usage_keys(fields: Iterable[str]) -> KeysView[str]:
    """Return the keys that a usage with these fields may have."""
    return dict.fromkeys((*fields, *COMMON)).keys()


def unrecognized(
    given: Mapping[Any, Any], known: KeysView[str], at: Path = (), *, unsaid: Collection[str] = ()
) -> Problems:
    """Return the problem of an object with unknown keys and a suggestion, never one of `unsaid`; empty without any."""
    if given.keys() <= known:
        return []
    names = field_names(name for name in given if name not in known)
    said = [name for name in known if name not in unsaid]
    near = dict.fromkeys(word for name in names for word in suggestions(name, said, most=1))
    meant = _quoted(near) if near else f"one of {_quoted([name for name in said if name not in COMMON[:2]])}"
    return [(at, f"Unrecognized key(s) in object: {_quoted(names)}. Did you mean {meant}?")]


def usage_problems(usage: Mapping[Any, Any], known: KeysView[str], unsaid: Collection[str] = ()) -> Problems:
    """Return the problems of a usage's keys and its `metadata`; suggestions are any of `known` but the `unsaid`.

    >>> usage_problems({"type": "speech", "model": "m", "character": 5, "metadata": {}}, usage_keys(["characters"]))
    [((), "Unrecognized key(s) in object: 'character'. Did you mean 'characters'?")]
    """
    problems = unrecognized(usage, known, unsaid=unsaid)
    if "metadata" in usage and mapping_of(usage["metadata"]) is None:
        problems.append((("metadata",), wrong_type("object", usage["metadata"])))
    return problems


def _quoted(names: Collection[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


@dataclass(frozen=True, slots=True)
class UsageSchema:
    """The fields of a request, in order. `inert` fields are checked and have no effect on the price.

    `settle` reads what fields cannot say, under the `further` keys: it is given the request, and adds to the shape and
    to the problems. `unsaid` are keys that are not suggested, as they have no effect on this price.
    """

    fields: Mapping[str, Field]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    required: Collection[str] = ()
    inert: Collection[str] = ()
    further: Collection[str] = ()
    settle: Settle | None = None
    unsaid: Collection[str] = ()
    known: KeysView[str] = field(init=False)

    def __post_init__(self) -> None:
        """Gather the keys that a usage may have."""
        object.__setattr__(self, "known", usage_keys((*self.fields, *self.further)))

    def read(self, given: Mapping[str, Any], *, body: bool = False) -> tuple[RequestShape, tuple[str, ...]]:
        """Return the shape of a request and its fields without effect. Raises `QuoteError` with every problem.

        Unknown keys are an error in a usage; in the `body` of a quote they are listed as fields without effect.
        """
        shape = dict(self.defaults)
        problems = field_problems(given, self.fields, shape, self.required)
        if self.settle:
            self.settle(given, shape, problems)
        if not body:
            problems = usage_problems(given, self.known, self.unsaid) + problems
        if problems:
            raise QuoteError(INVALID, problems)
        ignored = tuple(name for name in self.fields if name in given and name in self.inert)
        if body:
            known = (*self.fields, *self.further, "model")
            ignored += field_names((name for name in given if name not in known), MOST_NAMES - len(ignored))
        return shape, ignored
