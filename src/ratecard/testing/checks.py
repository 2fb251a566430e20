"""Everything that can be checked about the tables of a folder: each example, and each law for each model."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from functools import partial
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.examples import price_example
from ratecard.price_book import PriceBook
from ratecard.tables.card import AnyModel
from ratecard.tables.version import Example, Version
from ratecard.testing.case import Asked, BrokenLawError, Case
from ratecard.testing.laws import LAWS, Law, check
from ratecard.testing.request import Request
from ratecard.words.errors import QuoteError
from ratecard.words.money import text


class Check(NamedTuple):
    """One thing to check, where in the tables it stands, and how: `run` raises `BrokenLawError`."""

    file: str
    line: int
    name: str
    run: Callable[[], None]


def checks_of(
    card: RateCard, files: Mapping[str, bytes] | None = None, at: datetime | date | None = None
) -> Iterator[Check]:
    """Every example and every law of every version, on its first day; with `at`, of the versions in effect then.

    `files` are the tables by name, as bytes; the shipped ones where left out.
    """
    for prices, model, version in _versions(card, at):
        case = Case(prices, model.model, files)
        file, _, line = version.place.rpartition(":")
        name = f"{model.model}::{version.effective}"
        for number, example in enumerate(version.examples, 1):
            _, _, place = example.place.rpartition(":")
            yield Check(file, int(place), f"{name}::example {number}", partial(check_example, case, example))
        for law in LAWS:
            if law.applies(case):
                yield Check(file, int(line), f"{name}::law {law.name}", partial(_check_law, law, case))


def check_example(case: Case, example: Example) -> None:
    """A worked example has the total that a person wrote beside it. Raises `BrokenLawError`."""
    line = f"  {example.place}: {case.yaml_line(example.place)}"
    try:
        quote = price_example(case.prices, case.found, example)
    except QuoteError as error:
        words = f"The example says {text(example.total)}, but it is refused: {error}"
        raise BrokenLawError(f"{words}\n{line}") from None
    if quote.total != example.total:
        asked = Asked(Request({"model": case.model, **_written(example)}), quote, case)
        words = f"The example says {text(example.total)}, but the rates give {text(quote.total)}"
        raise BrokenLawError(f"{words}\n{line}\n{asked}")


def _check_law(law: Law, case: Case) -> None:
    check(law, case)


def _written(example: Example) -> dict[str, object]:
    """What an example asks for, as it is written."""
    return example.model_dump(exclude={"total", "place"}, exclude_defaults=True)


def _versions(card: RateCard, at: datetime | date | None) -> Iterator[tuple[PriceBook, AnyModel, Version]]:
    if at is not None:
        prices = card.at(at)
        yield from ((prices, model, version) for model, version in prices.in_effect_all())
        return
    for model in card.tables.models.values():
        for version in model.versions:
            if not model.retired_on(version.effective):
                yield card.at(version.effective), model, version
