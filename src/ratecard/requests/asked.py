"""What one version asks of a request that is not a video: fields, requirements, defaults."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ratecard.requests.body import INVALID
from ratecard.requests.fields import Field
from ratecard.words.errors import QuoteError
from ratecard.words.tree import Path
from ratecard.words.wording import REQUIRED

Shape = dict[str, Any]
Problems = list[tuple[Path, str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """The fields of a request in their order; those without effect on the price are the `inert` ones."""

    fields: Mapping[str, Field]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    required: Collection[str] = ()
    inert: Collection[str] = ()

    def read(self, given: Mapping[str, Any]) -> tuple[Shape, tuple[str, ...]]:
        """The shape of a request and its fields without effect. Raises `QuoteError` with every problem."""
        shape, problems = self.checked(given)
        if problems:
            raise QuoteError(INVALID, problems)
        return shape, tuple(name for name in self.fields if name in given and name in self.inert)

    def checked(self, given: Mapping[str, Any]) -> tuple[Shape, Problems]:
        """The sound fields with every default filled in, and what is wrong with the others, in order."""
        shape, problems = dict(self.defaults), Problems()
        for name, expected in self.fields.items():
            if name not in given:
                if name in self.required:
                    problems.append(((name,), REQUIRED))
                continue
            value = accepted(expected, given[name])
            if value is None:
                problems += [((name,), message) for message in expected.messages(given[name])]
            else:
                shape[name] = value
        return shape, problems


def accepted(expected: Field, given: object) -> Any:
    """A field's value as the shape keeps it; None where it is refused."""
    try:
        return expected.accept(given)
    except TypeError:  # a list or an object is no key of a look-up
        return None
