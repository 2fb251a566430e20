"""A change as it stands on the page: texts that a person typed, which the candidate file repeats."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from ratecard.tables.scalars import read_percent, read_positive
from ratecard.words.money import add, multiply, plain
from ratecard.words.money import text as digits

# What YAML reads as the same text; anything else is written in double quotes.
_PLAIN = re.compile(r"[A-Za-z0-9][\w./-]*( [\w./-]+)*", re.ASCII)

_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,12})?", re.ASCII)
# What programs put in the place of a hyphen and of a blank.
_SIGNS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{NARROW NO-BREAK SPACE}": " "})

# Attributes of rates, each with the values that are meant.
Where = tuple[tuple[str, tuple[str, ...]], ...]


class Times(NamedTuple):
    """A factor as it was understood: the key and the value by which a candidate says it, and the same in words."""

    key: str
    value: str
    factor: Decimal
    words: str


def read_times(typed: str) -> Times:
    """A factor (`1.10`, `1,10`) or a change in percent (`10%`, `-2,5 %`) as a person types it.

    Raises `ValueError`, which says what can be typed.

    >>> read_times("1,10").words, read_times("-15%").words
    ('Read as times 1.1, which is +10 %', 'Read as -15 %, which is times 0.85')
    """
    text = " ".join(typed.translate(_SIGNS).split())
    percent = text.endswith("%")
    number = text.removesuffix("%").rstrip()
    if "," in number and "." not in number:
        number = number.replace(",", ".", 1)
    if not _NUMBER.fullmatch(number) or (not percent and not number[0].isdigit()):
        how = "Write a factor like 1.10, or a change like 10% or -15%"
        raise ValueError(f"'{typed}' is neither a factor nor a percentage. {how}")
    if percent:
        share = read_percent(f"{number}%")
        factor = add(Decimal(1), share)
        words = f"Read as {_percent(share)}, which is times {digits(plain(factor))}"
        return Times("percent", f"{number.removeprefix('+')}%", factor, words)
    factor = read_positive(number)
    return Times(
        "factor",
        number,
        factor,
        f"Read as times {digits(plain(factor))}, which is {_percent(add(factor, Decimal(-1)))}",
    )


def _percent(share: Decimal) -> str:
    hundred = multiply(share, Decimal(100))
    return f"{'+' if hundred >= 0 else ''}{digits(plain(hundred))} %"


class Factor(NamedTuple):
    """The rates of some models, or of each family or type that is named, times a factor; `where` limits which.

    `factor` is what a person typed: `1.10`, `1,10` or `10%`.
    """

    part: str = "family"
    names: tuple[str, ...] = ()
    factor: str = ""
    where: Where = ()

    @property
    def finished(self) -> bool:
        """Whether a person has said all that it takes."""
        return bool(self.names and self.factor)

    @property
    def wrong(self) -> str:
        """Why the factor cannot be read, or nothing."""
        try:
            read_times(self.factor)
        except ValueError as error:
            return str(error)
        return ""

    def entries(self) -> Iterator[str]:
        """One change of a candidate for each name."""
        times = ("factor", scalar(self.factor)) if self.wrong else read_times(self.factor)[:2]
        for name in self.names:
            yield _lines(("scale", flow({self.part: (name,)})), *_where(self.where), times)


class NewRate(NamedTuple):
    """One rate of one model becomes another."""

    model: str = ""
    charge: str = ""
    where: Where = ()
    rate: str = ""

    @property
    def finished(self) -> bool:
        """Whether a person has said all that it takes."""
        return bool(self.model and self.charge and self.rate)

    def entries(self) -> Iterator[str]:
        """The change of a candidate."""
        head = ("set", scalar(self.model)), ("charge", scalar(self.charge))
        yield _lines(*head, *_where(self.where), ("rate", scalar(self.rate)))


class Kept(NamedTuple):
    """A change of a file that was opened, for which there are no controls: its lines as they are written there."""

    lines: str

    @property
    def finished(self) -> bool:
        """A person said it in the file."""
        return True

    def entries(self) -> Iterator[str]:
        """The change as it is."""
        yield self.lines


Change = Factor | NewRate | Kept


def _where(where: Where) -> Iterator[tuple[str, str]]:
    if where:
        yield "where", flow(dict(where))


def _lines(first: tuple[str, str], *more: tuple[str, str]) -> str:
    """A change of a candidate file, key by key."""
    words = [f"  - {first[0]}: {first[1]}", *(f"    {key}: {value}" for key, value in more)]
    return "".join(f"{line}\n" for line in words)


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
