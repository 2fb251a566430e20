"""Money as people of a locale write it."""

from decimal import Decimal

from babel import Locale
from babel.numbers import format_currency, format_decimal


def money(amount: Decimal, currency: str, locale: Locale) -> str:
    """An amount with every digit that it has, and at least the currency's own.

    >>> money(Decimal("1234.5"), "USD", Locale.parse("de_DE")).replace(chr(0xA0), " ")
    '1.234,50 $'
    """
    return format_currency(amount, currency, locale=locale, decimal_quantization=False, numbering_system="default")


def number(quantity: Decimal, locale: Locale) -> str:
    """A quantity with every digit that it has.

    >>> number(Decimal("0.108"), Locale.parse("de_DE"))
    '0,108'
    """
    return format_decimal(quantity, locale=locale, decimal_quantization=False, numbering_system="default")
