"""Money and quantities as people of a locale write them, with every digit that they have.

Digits are 0 to 9 in every locale: Babel knows the separators of other number systems but not their digits, and a
mixture of both would be read wrongly.
"""

from decimal import Decimal, localcontext

from babel import Locale
from babel.numbers import format_currency, format_decimal

from ratecard.words.money import ROUNDING, plain


def money(amount: Decimal, currency: str, locale: Locale) -> str:
    """An amount with at least as many decimal places as its currency has.

    >>> money(Decimal("1234.5"), "USD", Locale.parse("de_DE")).replace(chr(0xA0), " ")
    '1.234,50 $'
    >>> money(Decimal("0.0115"), "USD", Locale.parse("en_US"))
    '$0.0115'
    """
    with localcontext(ROUNDING):  # Babel computes in the host's context, whose 28 digits may be too few
        return format_currency(plain(amount), currency, locale=locale, decimal_quantization=False)


def number(quantity: Decimal, locale: Locale) -> str:
    """A quantity.

    >>> number(Decimal("0.108"), Locale.parse("de_DE"))
    '0,108'
    """
    with localcontext(ROUNDING):
        return format_decimal(plain(quantity), locale=locale, decimal_quantization=False)
