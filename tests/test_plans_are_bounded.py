"""What is compiled and kept for requests is bounded, whatever layouts, models and values are sent."""

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import combinations, islice, permutations, product
from pathlib import Path
from typing import Any

import pytest

import ratecard
from ratecard import PriceBook, QuoteError, RateCard
from ratecard.base.layouts import MOST_PLANS, Layouts
from ratecard.line_items import tokens
from ratecard.line_items.compiling import slug
from ratecard.line_items.tokens import MOST_STATED
from ratecard.pricing import video
from ratecard.pricing.counted import once_for_each
from shipped import CARD

VIDEO, TEXT = "seedance-2-0-text-to-video-basic", "claude-opus-4-6"
BODY = {"model": VIDEO, "duration": "5s", "resolution": "720p", "aspect_ratio": "16:9"}
USAGE = {"type": "text", "model": TEXT, "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
SECONDS = "reference_video_total_duration"
MANY = 300
SOURCE = Path(ratecard.__file__).parent
DAY = datetime(2026, 10, 1, tzinfo=UTC)


@pytest.fixture
def card() -> RateCard:
    """Tables that have compiled nothing yet."""
    return RateCard(CARD.tables)


def asked(ask: Callable[[Any], object], requests: Iterator[Mapping[str, Any]]) -> None:
    for request in islice(requests, MANY):
        with suppress(QuoteError):
            ask(request)


# By name: a function of a price book, and an endless series of requests, no two of which have the same layout.
HOSTILE: dict[str, tuple[Callable[[PriceBook], Callable[[Any], object]], Callable[[], Iterator[Mapping[str, Any]]]]] = {
    "unknown names of a video": (
        lambda prices: prices.quote_video,
        lambda: (BODY | {f"x{number}": 1} for number in range(MANY)),
    ),
    "orders of a video": (
        lambda prices: prices.quote_video,
        lambda: (dict(items) for items in permutations({**BODY, "audio": True, "prompt": ""}.items())),
    ),
    "unknown names of a usage": (
        lambda prices: prices.rate,
        lambda: (USAGE | {f"x{number}": 1} for number in range(MANY)),
    ),
    "orders of a usage": (
        lambda prices: prices.rate,
        lambda: (dict(items) for items in permutations({**USAGE, "metadata": {}, "speed": None}.items())),
    ),
    "buckets": (
        lambda prices: prices.rate,
        lambda: (
            {"type": "text", "model": TEXT, "tokens": dict.fromkeys(("input", "output", *names), 0)}
            for names in combinations(CARD.tables.meters.buckets, 3)
        ),
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_few_layouts_are_kept(name: str, card: RateCard, monkeypatch: pytest.MonkeyPatch) -> None:
    (ask, requests), begin = HOSTILE[name], Layouts.__init__
    made: list[Layouts[Any]] = []

    def noted(layouts: Layouts[Any], make: Any) -> None:
        begin(layouts, make)
        made.append(layouts)

    monkeypatch.setattr(Layouts, "__init__", noted)
    asked(ask(card.at(DAY)), requests())
    assert 0 < max(map(len, made)) <= MOST_PLANS


def test_prices_of_words_are_kept_for_all_models_together(card: RateCard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "MOST_KEPT", 50)
    prices = card.at(DAY)
    durations, ratios = [f"{seconds}s" for seconds in range(1, 20)], ["16:9", "9:16", "1:1", "4:3"]
    for model in ("seedance-2-0-text-to-video-basic", "seedance-2-5-text-to-video-basic"):
        bodies = (
            {"model": model, "duration": duration, "resolution": resolution, "aspect_ratio": ratio}
            for duration, resolution, ratio in product(durations, ("480p", "720P"), ratios)
        )
        asked(prices.quote_video, bodies)
        assert 0 < len(prices._compiler.kept) <= 50


def test_nothing_that_is_refused_or_of_no_fixed_words_is_kept(card: RateCard) -> None:
    prices = card.at(DAY)
    reference = "seedance-2-0-reference-to-video-basic"
    bodies: list[dict[str, Any]] = [BODY | {"duration": f"{number}"} for number in range(MANY)]
    bodies += [BODY | {"model": reference, SECONDS: number} for number in (-1, 10**6, "5", None, [], *range(MANY))]
    bodies += [BODY | {"video_url": f"https://example.com/{number}"} for number in range(MANY)]
    bodies += [BODY | {"model": of, "duration": ["5s"]} for of in (VIDEO, reference)]
    for of in (VIDEO, reference):  # its examples are kept
        prices.quote_video({**BODY, "model": of})
    prices.quote_video({**BODY, "model": reference, SECONDS: 5})  # and its words, whatever its seconds
    before = dict(prices._compiler.kept)
    for body in bodies:
        asked(prices.quote_video, iter([body]))
    assert prices._compiler.kept == before


def test_what_is_made_for_conditions_is_kept_for_few_of_them() -> None:
    made: list[Mapping[str, str]] = []
    of = once_for_each(made.append)
    for _ in range(2):
        for number in range(MOST_STATED + 1):
            of({"service_tier": str(number)})
    assert len(made) == 2 * (MOST_STATED + 1)
    for number in range(MOST_STATED, 0, -1):
        of({"service_tier": str(number)})
    assert len(made) == 2 * (MOST_STATED + 1) == 2 * 257


def test_no_name_of_a_request_adds_to_what_is_kept(card: RateCard) -> None:
    prices = card.at(DAY)
    for ask, request in ((prices.quote_video, BODY), (prices.rate, USAGE), (prices.quote_audio, USAGE)):
        asked(ask, iter([request]))
    before = kept_of(prices)
    for field in ("model", "type", "provider", "duration", "service_tier"):
        for ask, request in ((prices.quote_video, BODY), (prices.rate, USAGE), (prices.quote_audio, USAGE)):
            asked(ask, (request | {field: f"{request.get(field, 'x')}{number}"} for number in range(MANY)))
    grown = {name: size for name, size in kept_of(prices).items() if size > before[name] + 10}
    assert not grown


def kept_of(prices: PriceBook) -> dict[str, int]:
    """Return the size of each dict of a price book and of its compiler."""
    held = {name: getattr(prices, name) for name in PriceBook.__slots__} | vars(prices._compiler)
    return {name: len(dicts) for name, dicts in held.items() if isinstance(dicts, dict)}


# Every cache without a bound, and the reason why it stays small. All other caches state their bound.
BOUNDED_BY = {
    "load/built.py _built": "the file of the wheel",
    "load/folder.py shipped_meters": "no argument",
    "load/folder.py shipped_units": "no argument",
    "load/folder.py _vocabulary": "no argument",
    "load/folder.py shipped_limits": "no argument",
    "line_items/quote.py _data_class": "classes of the library",
    "line_items/tokens.py ": "the buckets of a tier",
    "methods/video.py line_of": "the rates of a charge; what has none is not kept",
    "price_lists/write.py ": "the files of a folder",
    "pricing/video.py ": "no argument",
    "review/promote.py ": "the files of a folder",
    "server/route.py ": "the status codes of an endpoint",
    "server/tables.py ": "the models of the tables",
    "simulation/report/report.py ": "the candidates of a report",
    "statements/rater.py ": "the prices and terms of a month",
    "statements/settle.py ": "the rates of a month, in each step of its terms",
    "tables/card.py _fields_of_meaning": "classes of the library",
    "tables/windows.py zones": "no argument",
    "tables/windows.py zone_of": "time zones, as tables are checked to name them",
    "tables/windows.py _clock_changes": "time zones",
    "testing/card_strategies.py words_of": "no use in production",
    "testing/case.py _attempts": "no use in production",
}


def caches() -> Iterator[tuple[str, bool]]:
    """Every cache of the source by `functools`, and whether it has a bound."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "cache" in text else ():
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            for call in [node] if isinstance(node, ast.Call) else decorators:
                function = call.func if isinstance(call, ast.Call) else call
                if isinstance(function, ast.Name) and function.id in ("cache", "lru_cache"):
                    name = f"{path.relative_to(SOURCE).as_posix()} {getattr(node, 'name', '')}"
                    yield name, function.id == "lru_cache" and "None" not in ast.unparse(call)


def test_as_many_words_and_forms_are_kept_as_tables_have() -> None:
    assert [kept.cache_info().maxsize for kept in (slug, tokens._form, tokens._maker)] == [1_000] * 3


def test_every_cache_has_a_bound() -> None:
    found = list(caches())
    assert sum(bounded for _, bounded in found) > 10
    assert {name for name, bounded in found if not bounded} == BOUNDED_BY.keys()
