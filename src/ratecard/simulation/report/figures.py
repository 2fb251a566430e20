"""Amounts, counts and percentages as the reader's locale writes them."""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from babel import Locale, UnknownLocaleError
from babel.numbers import NumberPattern, get_currency_symbol, parse_pattern

from ratecard.simulation.failure import SimulationError
from ratecard.words.money import ROUNDING, from_fraction, places_of, plain, step

ENGLISH = Locale("en", "US")
_PERCENT_PLACES = 2


@dataclass(frozen=True, slots=True)
class Figures:
    """A way to write numbers: for one locale and currency, every amount with so many decimals.

    Digits are 0 to 9 in every locale, as on the command line.
    """

    locale: Locale
    currency: str
    places: int

    def money(self, amount: Decimal) -> str:
        """An amount that is rounded already.

        >>> Figures(Locale("de", "DE"), "USD", 2).money(Decimal("1234.50")).replace(chr(0xA0), " ")
        '1.234,50 $'
        """
        return self._written(self.locale.currency_formats["standard"], amount, self.places)

    def change(self, amount: Decimal) -> str:
        """An amount with its sign."""
        return _plus(amount) + self.money(amount)

    def rate(self, amount: Decimal) -> str:
        """A rate with all of its digits.

        >>> Figures(ENGLISH, "USD", 2).rate(Decimal("0.00115"))
        '$0.00115'
        """
        short = plain(amount)
        return self._written(self.locale.currency_formats["standard"], short, max(2, places_of(short)))

    def count(self, number: int) -> str:
        """A whole number."""
        return self._written(self.locale.decimal_formats[None], Decimal(number), 0)

    def quantity(self, amount: Decimal) -> str:
        """A quantity with the decimals that it has.

        >>> Figures(ENGLISH, "USD", 2).quantity(Decimal("10108.30"))
        '10,108.30'
        """
        return self._written(self.locale.decimal_formats[None], amount, places_of(amount))

    def percent(self, share: Fraction | None, *, signed: bool = True) -> str:
        """A share of one as percent, rounded half-up to two decimals; nothing for none. A change has a sign.

        >>> Figures(ENGLISH, "USD", 2).percent(Fraction(1, 3)), Figures(ENGLISH, "USD", 2).percent(Fraction(-1, 10**6))
        ('+33.33%', '-<0.01%')
        """
        if share is None:
            return ""
        rounded = from_fraction(abs(share), _PERCENT_PLACES + 2)
        small = bool(share) and not rounded
        least = step(_PERCENT_PLACES + 2) if small else rounded
        digits = self._written(
            self.locale.percent_formats[None], least, _PERCENT_PLACES, _PERCENT_PLACES if signed else 0
        )
        sign = "-" if share < 0 else _plus(share) if signed else ""
        return f"{sign}{'<' if small else ''}{digits}"

    @property
    def symbol(self) -> tuple[str, str]:
        """What stands before and behind an amount."""
        before, _, behind = self.locale.currency_formats["standard"].pattern.partition("#")
        symbol = str(get_currency_symbol(self.currency, locale=self.locale))
        return (symbol, "") if "¤" in before else ("", f"\N{NO-BREAK SPACE}{symbol}" if "¤" in behind else "")

    @property
    def separators(self) -> str:
        """The decimal mark and that of thousands, together, as charts want them."""
        symbols = self.locale.number_symbols["latn"]
        return f"{symbols['decimal']}{symbols['group']}"

    def _written(self, like: NumberPattern, number: Decimal, places: int, least: int | None = None) -> str:
        pattern = parse_pattern(like.pattern)
        pattern.frac_prec = (places if least is None else least, places)
        with localcontext(ROUNDING):  # Babel computes in the host's context, whose digits may be too few
            return str(pattern.apply(number, self.locale, currency=self.currency, currency_digits=False))


def read_locale(given: str) -> Locale:
    """A locale by its name, like `de_DE` or `de-DE`. Raises `SimulationError`."""
    try:
        return Locale.parse(given, sep="-" if "-" in given else "_")
    except (ValueError, UnknownLocaleError):
        raise SimulationError(f"'{given}' is not a locale. Write one like en_US, de_DE, ja_JP, ar_EG") from None


def read_share(given: str) -> Fraction:
    """A percentage, `10%`, as a share of one. Raises `SimulationError`.

    >>> read_share("2.5%")
    Fraction(1, 40)
    """
    try:
        share = Fraction(Decimal(given.removesuffix("%"))) / 100
    except (ArithmeticError, ValueError):
        share = Fraction(-1)
    if share < 0 or not given.endswith("%"):
        raise SimulationError(f"'{given}' is not a percentage. Write it like 10%")
    return share


def _plus(number: Decimal | Fraction) -> str:
    return "+" if number > 0 else ""
