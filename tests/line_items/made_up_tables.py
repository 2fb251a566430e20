"""Tables for what no shipped model has, and the checks that every quote must pass."""

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from math import floor
from textwrap import indent

from ratecard import PriceBook, Quote, RateCard
from ratecard.load.folder import shipped_folder, tables_from

SHARED = ("units.yaml", "meters.yaml", "vocabulary.yaml", "limits.yaml")
MADE_UP_DAY = date(2026, 1, 1)
TABLE = """\
family: made-up
models:
  - model: made-up
    name: Made up
    type: video
    mode: {mode}
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a test
        accepts: {accepts}
        defaults: {defaults}
        rounding: {rounding}
        examples: [{{request: {{duration: 5s}}, total: 1}}]
        charges:
{charges}"""


def charge(options: str, rates: Sequence[str], name: str = "video") -> str:
    """One charge, with each rate on a line of its own."""
    lines = "".join(f"    - {{{rate}}}\n" for rate in rates)
    return f"- charge: {name}\n" + indent(f"{options}\nrates:\n{lines}", "  ")


def prices_of(
    accepts: str,
    *charges: str,
    defaults: str = "{}",
    mode: str = "text-to-video",
    rounding: str = "{places: 2, mode: half-up}",
    longest_reference: int = 150,
) -> PriceBook:
    """The price book of one model, called `made-up`."""
    table = TABLE.format(
        accepts=accepts, defaults=defaults, mode=mode, rounding=rounding, charges=indent("".join(charges), " " * 10)
    )
    files = {name: (shipped_folder() / name).read_bytes() for name in SHARED}
    files["vocabulary.yaml"] = files["vocabulary.yaml"].replace(b"max: 150", b"max: %d" % longest_reference)
    return RateCard(tables_from({**files, "video/made-up.yaml": table.encode()}))._unproved.at(MADE_UP_DAY)


def half_up(amount: Fraction, places: int) -> Fraction:
    """A non-negative amount to so many places; a tie goes up."""
    return Fraction(floor(amount * 10**places + Fraction(1, 2)), 10**places)


def assert_costs(quote: Quote, expected: Fraction | str | int, places: int = 2) -> None:
    """The exact amount to 12 places, the total rounded from it once, and lines that add up and multiply out."""
    assert quote.exact == half_up(Fraction(expected), 12)
    assert quote.total == half_up(Fraction(quote.exact), places)
    assert -int(quote.total.as_tuple().exponent) == places
    assert sum(Fraction(line.amount) for line in quote.lines) == quote.exact
    for line in quote.lines:
        product = Fraction(line.quantity) * Fraction(line.unit_rate)
        assert abs(product - Fraction(line.amount)) <= Fraction(line.unit_rate) / 10**12 + Fraction(1, 10**12)
