"""A change as it stands on the page: texts that a person typed, which the candidate file repeats."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

# What YAML reads as the same text; anything else is written in double quotes.
_PLAIN = re.compile(r"[A-Za-z0-9][\w./-]*( [\w./-]+)*", re.ASCII)

# The words of a change of a candidate file, with their values, in the order in which they are written.
Entry = tuple[tuple[str, str], ...]


class Factor(NamedTuple):
    """Every rate of some models, or of each family or type that is named, times a factor."""

    part: str = "family"
    names: tuple[str, ...] = ()
    factor: str = ""

    @property
    def finished(self) -> bool:
        """Whether a person has said all that it takes."""
        return bool(self.names and self.factor)

    def entries(self) -> Iterator[Entry]:
        """One change of a candidate for each name."""
        for name in self.names:
            yield ("scale", flow({self.part: (name,)})), ("factor", scalar(self.factor))


class NewRate(NamedTuple):
    """One rate of one model becomes another."""

    model: str = ""
    charge: str = ""
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rate: str = ""

    @property
    def finished(self) -> bool:
        """Whether a person has said all that it takes."""
        return bool(self.model and self.charge and self.rate)

    def entries(self) -> Iterator[Entry]:
        """The change of a candidate."""
        where = (("where", flow(dict(self.where))),) if self.where else ()
        yield ("set", scalar(self.model)), ("charge", scalar(self.charge)), *where, ("rate", scalar(self.rate))


Change = Factor | NewRate


def flow(values: Mapping[str, tuple[str, ...]]) -> str:
    """A mapping on one line; several values are a list.

    >>> flow({"resolution": ("480p", "720p"), "aspect_ratio": ("16:9",)})
    '{resolution: [480p, 720p], aspect_ratio: "16:9"}'
    """
    parts = []
    for name, (first, *more) in values.items():
        listed = ", ".join(map(scalar, (first, *more)))
        parts.append(f"{scalar(name)}: {f'[{listed}]' if more else listed}")
    return f"{{{', '.join(parts)}}}"


def scalar(text: str) -> str:
    r"""A text as YAML: as it is where no part of it means anything there, else in double quotes.

    >>> print(scalar("0.17"), scalar("dearer: 5 %"), scalar('a "b"\n'))
    0.17 "dearer: 5 %" "a \"b\"\U0000000a"
    """
    return text if _PLAIN.fullmatch(text) else f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
