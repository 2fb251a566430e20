"""The arguments of the strategies, checked: a strategy never becomes empty without a word."""

from collections.abc import Collection, Sequence
from typing import TypeVar

from hypothesis.errors import InvalidArgument

from ratecard.price_book import PriceBook
from ratecard.tables.card import AnyModel
from ratecard.tables.version import Version
from ratecard.words.errors import QuoteError
from ratecard.words.suggest import did_you_mean

Word = TypeVar("Word", bound=str)


def check_prices(prices: object) -> PriceBook:
    """A price book; a card has to be asked for one instant first."""
    if not isinstance(prices, PriceBook):
        raise InvalidArgument(f"Expected a PriceBook, like card.at(instant), but got prices={prices!r}")
    return prices


def check_range(low_name: str, low: object, high_name: str, high: object, *, least: int = 1) -> None:
    """Two whole numbers of at least `least`, the second not below the first."""
    for name, value in ((low_name, low), (high_name, high)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InvalidArgument(f"Expected a whole number of at least {least} but got {name}={value!r}")
    if int(str(high)) < int(str(low)):
        raise InvalidArgument(f"Cannot have {high_name}={high!r} < {low_name}={low!r}")


def check_words(name: str, given: object, known: Sequence[Word]) -> tuple[Word, ...]:
    """Some of the known words, in their order; all of them for None."""
    if given is None:
        return tuple(known)
    if not isinstance(given, Collection) or isinstance(given, (str, bytes)) or not given:
        raise InvalidArgument(f"Expected some of {', '.join(known)} but got {name}={given!r}")
    for word in given:
        if word not in known:
            near = did_you_mean(str(word), known)
            raise InvalidArgument(f"Got {name}={given!r}: {word!r} is not known.{near} Allowed: {', '.join(known)}")
    return tuple(word for word in known if word in given)


def priced_models(prices: PriceBook, model: object, types: Collection[str]) -> list[tuple[AnyModel, Version]]:
    """The models of these types that have a price in the book, or the one that is named."""
    if model is None:
        found = [each for each in prices.in_effect_all() if each[0].type in types]
        if not found:
            raise InvalidArgument(f"No model of type {' or '.join(types)} has a price on {prices.day}")
        return found
    if not isinstance(model, str):
        raise InvalidArgument(f"Expected the name of a model but got model={model!r}")
    try:
        named = prices.in_effect(model)
    except QuoteError as error:
        raise InvalidArgument(f"Got model={model!r}: {error}") from error
    if named[0].type not in types:
        raise InvalidArgument(f"Got model={model!r}, which is of type {named[0].type}. Allowed: {', '.join(types)}")
    return [named]
