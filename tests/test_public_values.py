"""What the package hands out are values of their own: not tuples, which equal any tuple and become bare lists."""

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, astuple, fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import ratecard
from ratecard import PriceBook, RateCard
from ratecard.ledger.store import Page, Walk
from ratecard.review.sides import Side
from ratecard.simulation.answers.target import ChangeLimits, beyond
from ratecard.simulation.prices.sides import AsBilled
from ratecard.simulation.report.tornado_page import tornado
from ratecard.simulation.result import Simulation

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
TOKENS = {"prompt_tokens": 5_500, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 5_000}}
TEXT = {"type": "text", "model": "claude-opus-4-6", "usage": TOKENS}

CANDIDATE = """\
candidate: test
effective: 2026-10-01
proposed_by: tests
why: a rate and a model change
changes:
  - scale: {model: ovi-image-to-video}
    factor: 2
  - retire: claude-opus-4-6
"""

VALUES: dict[str, Callable[[PriceBook], Any]] = {
    "quote": lambda prices: prices.rate(TEXT),
    "version": lambda prices: prices.rate(TEXT).version,
    "line": lambda prices: prices.rate(TEXT).lines[0],
    "entry": lambda prices: prices.rate(TEXT).ledger_entries(timestamp=WHEN, request_id="r")[0],
    "details": lambda prices: prices.rate(TEXT).ledger_entries(timestamp=WHEN, request_id="r")[0].details,
    "estimate": lambda prices: prices.estimate_text("claude-opus-4-6", prompt_tokens=9, max_completion_tokens=9),
    "rate": lambda prices: prices.model("claude-opus-4-6").rates[0],
    "limit": lambda prices: prices.limits_for("image"),
    "two limits": lambda prices: prices.limits_for("video"),
    "walk": lambda prices: Walk(1, 2, None, 3, 4, 5, 6, 7),
    "page": lambda prices: Page((), None),
    "block": lambda prices: ratecard.limits.Block(WHEN, "Wait"),
}


def test_no_public_class_is_a_tuple() -> None:
    public = [getattr(ratecard, name) for name in ratecard.__all__]
    assert not [each for each in public if isinstance(each, type) and issubclass(each, tuple)]


@pytest.mark.parametrize("name", VALUES)
def test_a_value_equals_its_like_and_nothing_else(name: str, prices: PriceBook) -> None:
    value, again = VALUES[name](prices), VALUES[name](prices)
    parts = tuple(getattr(value, part.name) for part in fields(value))
    assert value == again == replace(value) == pickle.loads(pickle.dumps(value))  # noqa: S301
    assert hash(value) == hash(again)
    assert value not in (parts, astuple(value))
    with pytest.raises(TypeError, match="is not JSON serializable"):
        json.dumps(value)
    with pytest.raises(TypeError):
        iter(value)


@pytest.mark.parametrize("name", VALUES)
def test_a_value_refuses_an_assignment(name: str, prices: PriceBook) -> None:
    value = VALUES[name](prices)
    with pytest.raises(AttributeError):  # FrozenInstanceError is one
        setattr(value, fields(value)[0].name, None)


@pytest.mark.parametrize("name", VALUES)
def test_a_value_takes_no_name_that_it_does_not_have(name: str, prices: PriceBook) -> None:
    with pytest.raises((AttributeError, TypeError)):
        VALUES[name](prices).totl = Decimal(0)


def test_a_price_book_cannot_be_changed_by_assignment(prices: PriceBook, card: RateCard) -> None:
    for name, value in (("day", date(2020, 1, 1)), ("card", card), ("further", 1)):
        with pytest.raises((FrozenInstanceError, TypeError)):
            setattr(prices, name, value)


def test_what_is_shown_says_what_it_is(card: RateCard) -> None:
    prices = card.at(date(2026, 10, 1))
    count = len(card.models)
    assert repr(card) == f"<RateCard {card.digest}, {count} models>"
    assert repr(card.models) == f"<Models of {count} ids>"
    assert repr(prices) == f"<PriceBook of 2026-10-01, digest {card.digest}>"
    video = prices.quote_video({"model": "ovi-image-to-video"})
    assert repr(video) == f"<Quote ovi-image-to-video 0.22 USD, 1 line, effective {video.effective}>"
    text = prices.rate(TEXT)
    assert repr(text) == f"<Quote claude-opus-4-6 0.006 USD, 2 lines, effective {text.effective}>"
    estimate = prices.estimate_text("claude-opus-4-6", prompt_tokens=0, max_completion_tokens=0)
    none = Decimal("0.000000")
    assert repr(estimate) == f"Estimate(lowest={none!r}, highest={none!r}, currency='USD', ignored=())"


# Of two months, by day: both candidates change `ovi`, and only the tables of 2026-10-01 have a price for all rows.
ROWS = {
    "type": ["video", "video", "text", "text"],
    "model": ["ovi-image-to-video", "ovi-image-to-video", "claude-opus-4-6", "claude-opus-4-6"],
    "timestamp": ["2026-10-01", "2026-10-02", "2026-10-01", "2026-10-02"],
    "customer": ["a", "a", "b", None],
    "prompt_tokens": [None, None, 5_500, -1],
    "completion_tokens": [None, None, 100, 0],
}
FOUND: dict[str, Callable[[Simulation], Any]] = {
    "side": lambda found: found.sides[0],
    "row": lambda found: found.groups[0],
    "lost_and_new": lambda found: found.total.beside(),
    "unpriced": lambda found: found.unpriced[0],
    "lost": lambda found: found.lost()[0],
    "attribution": lambda found: found.attribution(),
    "part": lambda found: found.attribution().parts[0],
    "customers": lambda found: found.customers(),
    "band": lambda found: found.customers().distribution[0],
    "margin": lambda found: found.margin(),
    "cost": lambda found: found.margin().total,
    "bridge": lambda found: found.bridge("2026-10-01", "2026-10-02"),
    "step": lambda found: found.bridge("2026-10-01", "2026-10-02").steps[0],
    "response": lambda found: found.response({"all": "-0.5"}),
    "expected": lambda found: found.expected({"all": "-0.5"}, ["-5%"]),
    "pace": lambda found: found.pace(),
    "beyond": lambda found: next(beyond(found, ChangeLimits(change=Fraction(0)))),
    "swing": lambda found: tornado(found, Fraction(1, 10))[0],
    "reading": lambda found: found.reading,
    "source": lambda found: found.reading.source,
    "costs": lambda found: found.costs,
}


@pytest.fixture(scope="module")
def found(card: RateCard, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    usage = tmp_path_factory.mktemp("usage") / "usage.jsonl"
    rows = zip(*ROWS.values(), strict=True)
    usage.write_text("".join(json.dumps(dict(zip(ROWS, row, strict=True))) + "\n" for row in rows))
    candidate = usage.with_name("candidate.yaml")
    candidate.write_text(CANDIDATE)
    with ratecard.simulate(usage, card, candidate, by=["model", "day", "customer"], costs="60%") as simulation:
        yield simulation


@pytest.mark.parametrize("name", FOUND)
def test_what_a_simulation_finds_equals_its_like_and_no_tuple(name: str, found: Simulation) -> None:
    value = FOUND[name](found)
    assert value == replace(value)
    assert hash(value) == hash(replace(value))
    parts = tuple(getattr(value, part.name) for part in fields(value))
    assert value != parts
    assert repr(value).startswith(f"{type(value).__name__}({fields(value)[0].name}=")
    with pytest.raises(TypeError, match="is not JSON serializable"):
        json.dumps(value)
    with pytest.raises(TypeError):
        iter(value)
    with pytest.raises(FrozenInstanceError):
        setattr(value, fields(value)[0].name, None)
    with pytest.raises((AttributeError, TypeError)):
        value.totl = Decimal(0)


def test_a_side_as_billed_is_not_a_side_of_the_same_prices(card: RateCard) -> None:
    assert AsBilled("now", card) != Side("now", card)
    assert AsBilled("now", card) == AsBilled("now", card)
