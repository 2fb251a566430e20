"""Everything that can be checked about the tables of a folder: each example, and each law for each model."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from functools import partial
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.price_book import PriceBook
from ratecard.rating.source_video import SourceVideo
from ratecard.requests.text_body import body_of_text, usage_of_text
from ratecard.tables.card import AnyModel
from ratecard.tables.version import Example, Version
from ratecard.tables.video import VideoExample
from ratecard.testing.case import Asked, BrokenLawError, Case, expect
from ratecard.testing.laws import LAWS, MAX_EXAMPLES, check
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
    card: RateCard,
    files: Mapping[str, bytes],
    at: datetime | date | None = None,
    *,
    max_examples: int = MAX_EXAMPLES,
) -> Iterator[Check]:
    """Every example and every law of every version, on its first day; with `at`, of the versions in effect then.

    `files` are the tables of the card by name, as bytes; `max_examples` is how many requests a law is tried with.
    """
    for prices, model, version in _versions(card.unproved, at):
        case = Case(prices, model.model, files)
        file, _, line = version.place.rpartition(":")
        name = f"{model.model}::{version.effective}"
        for number, example in enumerate(version.examples, 1):
            _, _, place = example.place.rpartition(":")
            yield Check(file, int(place), f"{name}::example {number}", partial(check_example, case, example))
        for law in LAWS:
            if law.applies(case):
                run = partial(check, law, case, max_examples=max_examples)
                yield Check(file, int(line), f"{name}::law {law.name}", run)


def check_example(case: Case, example: Example) -> None:
    """A worked example has the total that a person wrote beside it. Raises `BrokenLawError`."""
    request, line = _request(case, example), f"  {case.shown(example.place)}"
    try:
        asked = Asked(request, request.price(case.prices), case)
    except QuoteError as error:
        words = f"The example says {text(example.total)}, but it is refused: {error}"
        raise BrokenLawError(f"{words}\n{line}\n  {request}") from None
    words = f"The example says {text(example.total)}, but the rates give {text(asked.quote.total)}\n{line}"
    expect(asked.quote.total == example.total, words, asked)


def _request(case: Case, example: Example) -> Request:
    """What an example asks for, as a client would ask it."""
    if isinstance(example, VideoExample):
        source = SourceVideo(**example.source) if example.source else None
        return Request({"model": case.model, **body_of_text(example.request)}, source)
    return Request(usage_of_text(case.found.type, case.model, getattr(example, "usage", {})))


def _versions(card: RateCard, at: datetime | date | None) -> Iterator[tuple[PriceBook, AnyModel, Version]]:
    if at is not None:
        prices = card.at(at)
        yield from ((prices, model, version) for model, version in prices.in_effect_all())
        return
    for model in card.tables.models.values():
        for version in model.versions:
            if not model.retired_on(version.effective):
                yield card.at(version.effective), model, version
