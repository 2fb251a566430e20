"""Read `counts`, the counts of a usage by meter, beside its tokens or fields."""

from collections import Counter
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.messages import REQUIRED, NotOffered, Problems, wrong_type
from ratecard.requests.body import INVALID, mapping_of
from ratecard.requests.dialects import DIALECT_METERS
from ratecard.requests.fields import Field, accepted, whole
from ratecard.requests.metered import unrecognized

# What a response lists beside its counts: by its path, the meter of which each is one; empty: of none.
LISTED = "listed"
_NOT_LISTED = "Expected meters by the paths of what is listed, as usage_from returns them"


class Meterage(NamedTuple):
    """What may be counted of a meter, and how many a usage has that does not count it; None: it has to."""

    field: Field
    otherwise: int | None


def read_counts(
    usage: Mapping[Any, Any], meters: Mapping[str, Meterage], declared: Collection[str], problems: Problems
) -> dict[str, int | Decimal]:
    """Read the counts of a usage, of which `meters` have a price; problems are added, each at its meter.

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
    for name, (field, otherwise) in meters.items():
        if name not in stated:
            if otherwise is None:
                problems.append((("counts", name), REQUIRED))
            elif otherwise:
                counts[name] = otherwise
            continue
        count = accepted(field, stated[name])
        if count is None:
            problems += [(("counts", name), message) for message in field.messages(stated[name])]
        else:
            counts[name] = count
    return counts


def count_listed(usage: Mapping[str, Any], meters: Collection[str]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return a usage whose `counts` are those of these meters, and the paths of other counts that it lists.

    Raises `QuoteError` for a list of another form.

    >>> count_listed({"listed": {"output.0": "shell", "output.1": "shell", "output.2": "image"}}, ["shell"])
    ({'counts': {'shell': 2}}, ('output.2',))
    """
    listed = mapping_of(usage[LISTED])
    others = {name: given for name, given in usage.items() if name != LISTED}
    if listed is None or not all(isinstance(word, str) for entry in listed.items() for word in entry):
        words = wrong_type("object", usage[LISTED]) if listed is None else _NOT_LISTED
        raise QuoteError(INVALID, [((LISTED,), words)])
    counts = mapping_of(usage.get("counts", {}))
    of_meters = Counter(meter for meter in listed.values() if meter in meters)
    if of_meters and counts is not None:
        sums = {name: count + (whole(counts.get(name)) or 0) for name, count in of_meters.items()}
        others["counts"] = {**counts, **sums}
    return others, tuple(path for path, meter in listed.items() if meter not in meters)
