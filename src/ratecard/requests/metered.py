"""Request schema of one metered model version: fields, required fields, defaults, and its `counts` by meter."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, KeysView, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.messages import MOST_NAMES, REQUIRED, NotOffered, Path, Problems, field_names, wrong_type
from ratecard.base.suggestions import suggestions
from ratecard.requests.body import INVALID, mapping_of
from ratecard.requests.counters import FLAT, USAGE
from ratecard.requests.dialects import DIALECT_METERS
from ratecard.requests.fields import Field, RequestShape, accepted, decimal, field_problems

# A function of (request, shape, problems), which adds to the shape and to the problems.
Settle = Callable[[Mapping[str, Any], RequestShape, Problems], None]
# Keys that every usage may have beside the fields of its type; `metadata` is the caller's own.
COMMON = ("type", "model", "metadata")

# The types of models that make images, and enlarge them too.
IMAGE_TYPES = ("image", "edit")


def type_left_out(fields: Collection[str], of_model: str) -> str:
    """Return the type of a usage that does not state it, from that of its model: only an upscale has a `factor`.

    >>> type_left_out(["factor"], "image"), type_left_out(["n"], "image"), type_left_out(["factor"], "text")
    ('upscale', 'image', 'text')
    """
    return "upscale" if "factor" in fields and of_model in IMAGE_TYPES else of_model


def usage_keys(fields: Iterable[str]) -> KeysView[str]:
    """Return the keys that a usage with these fields may have."""
    return dict.fromkeys((*fields, *COMMON)).keys()


def unrecognized(
    given: Mapping[Any, Any], known: KeysView[str], at: Path = (), *, unsaid: Collection[str] = ()
) -> Problems:
    """Return the problem of unknown keys in an object, with suggestions except `unsaid`; empty if all are known."""
    if given.keys() <= known:
        return []
    names = field_names(name for name in given if name not in known)
    suggested = {name: name for name in known if name not in unsaid}
    # A count of `usage` may stand beside it in JSON, and always does in a row of CSV.
    inner = {str(path[-1]): ".".join(map(str, USAGE + path)) for path in FLAT} if USAGE[0] in known else {}
    places = inner | suggested
    near = dict.fromkeys(places[word] for name in names for word in suggestions(name, places, most=1))
    suggestion = _quoted(near) if near else f"one of {_quoted([name for name in suggested if name not in COMMON[:2]])}"
    return [(at, f"Unrecognized key(s) in object: {_quoted(names)}. Did you mean {suggestion}?")]


def usage_problems(usage: Mapping[Any, Any], known: KeysView[str], unsaid: Collection[str] = ()) -> Problems:
    """Return the problems of a usage's keys and its `metadata`; suggest `known` keys that are not `unsaid`.

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

    `settle` reads the `further` keys, which need more than the check of a field: it takes the request, and adds to the
    shape and to the problems. The `unsaid` keys are never suggested, because they do not affect this price.
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


# The key for items that a response lists beside its counts: the path of each item -> its meter, or empty text.
LISTED = "listed"
_NOT_LISTED = "Expected meters by the paths of what is listed, as usage_from returns them"


class Meterage(NamedTuple):
    """The check of a meter's count, and the count of a usage that leaves it out; None if the count is required."""

    field: Field
    otherwise: int | None


def read_counts(
    usage: Mapping[Any, Any], meters: Mapping[str, Meterage], declared: Collection[str], problems: Problems
) -> dict[str, int | Decimal]:
    """Read the `counts` of a usage, and add a problem at each wrong meter. Only `meters` have a price.

    >>> from ratecard.requests.fields import WholeNumber
    >>> problems: Problems = []
    >>> pages = {"page": Meterage(WholeNumber(0, 100), None)}
    >>> read_counts({"counts": {"page": 12}}, pages, ["page"], problems), problems
    ({'page': 12}, [])
    """
    stated = mapping_of(usage.get("counts", {}))
    if stated is None:
        problems.append((("counts",), wrong_type("object", usage["counts"])))
        return {}
    # A count in a provider's response is not a typing mistake, even if these tables do not know it.
    known = (*meters, *declared)
    named = {name: count for name, count in stated.items() if name in known or name not in DIALECT_METERS}
    problems += unrecognized(named, dict.fromkeys(known).keys(), ("counts",))
    unpriced = (name for name in stated if name not in meters and (name in declared or name in DIALECT_METERS))
    problems += [(("counts", name), NotOffered(f"No price is known for {name} of this model")) for name in unpriced]
    counts: dict[str, int | Decimal] = {}
    for name, (meter, otherwise) in meters.items():
        if name not in stated:
            if otherwise is None:
                problems.append((("counts", name), REQUIRED))
            elif otherwise:
                counts[name] = otherwise
            continue
        count = accepted(meter, stated[name])
        if count is None:
            problems += [(("counts", name), message) for message in meter.messages(stated[name])]
        else:
            counts[name] = count
    return counts


def count_listed(usage: Mapping[str, Any], meters: Collection[str]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return a usage with its listed items of these meters added to its `counts`, and the paths of all other items.

    Raises `QuoteError` if `listed` has another form.

    >>> count_listed({"listed": {"output.0": "shell", "output.1": "shell", "output.2": "image"}}, ["shell"])
    ({'counts': {'shell': 2}}, ('output.2',))
    """
    listed = mapping_of(usage[LISTED])
    others = {name: value for name, value in usage.items() if name != LISTED}
    if listed is None or not all(isinstance(word, str) for entry in listed.items() for word in entry):
        words = wrong_type("object", usage[LISTED]) if listed is None else _NOT_LISTED
        raise QuoteError(INVALID, [((LISTED,), words)])
    counts = mapping_of(usage.get("counts", {}))
    of_meters = Counter(meter for meter in listed.values() if meter in meters)
    if of_meters and counts is not None:
        # A wrong count is kept unchanged, so that it is refused.
        sums = {
            name: count + counts.get(name, 0)
            for name, count in of_meters.items()
            if (number := decimal(counts.get(name, 0))) is not None and number >= 0
        }
        others["counts"] = {**counts, **sums}
    return others, tuple(path for path, meter in listed.items() if meter not in meters)
