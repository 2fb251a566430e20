"""Samples of language and embedding models: chats, long documents, agents with a cache, searches."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ratecard.price_book import PriceBook
from ratecard.rating.tokens import token_rates
from ratecard.requests.service_parameters import SEARCHES
from ratecard.simulation.demo.sample import Sample
from ratecard.tables.metered import MeteredVersion, TextVersion
from ratecard.tables.metered_charges import Tokens
from ratecard.tables.version import Model

_MOST_PROMPT = 1_000_000
# What a search is switched on by, and how many of it a request makes.
_SEARCHED = {"web_search": (("on", 1), ("auto", 2)), "web_scraping": ((True, 3),), "x_search": ((True, 8),)}


class _Chat(NamedTuple):
    """Median tokens of one way to use a language model, and what the cache has of the prompt, per mille."""

    prompt: int
    completion: int
    cached: int | None = None
    written: int | None = None


_QUESTION = _Chat(900, 350)
_EMBEDDED: tuple[_Chat, ...] = (_Chat(300, 0), _Chat(2_500, 0))
_CHATS: tuple[_Chat, ...] = (
    _QUESTION,
    _Chat(3_000, 500),
    _Chat(6_000, 500, 600),
    _Chat(30_000, 700, 850, 60),
    _Chat(18_000, 1_200),
)


def token_samples(prices: PriceBook, model: Model[Any], version: MeteredVersion) -> Iterator[Sample]:
    """The commonest first: chats, then what is longer than the threshold, then searches."""
    charge = next(charge for charge in version.charges if isinstance(charge, Tokens))
    rates = token_rates(model.model, charge, prices.card.tables.units[charge.unit].per)
    priced = rates.base.keys() & rates.extended.keys()
    most = version.context_tokens if isinstance(version, TextVersion) else None
    is_text = model.type == "text"
    chats = _CHATS if is_text else _EMBEDDED
    if rates.threshold is not None:
        long = rates.threshold * 5 // 4
        chats += (_Chat(long, 900), _Chat(long, 900, 500))

    def sample(chat: _Chat, more: dict[str, Any]) -> Sample:
        row = {"type": model.type, "model": model.model, "prompt_tokens": chat.prompt, **more}
        if is_text:
            row["completion_tokens"] = chat.completion if "output" in priced else 0
        cached = chat.cached if "cache_input" in priced else None
        written = chat.written if "cache_write" in priced else None
        return Sample(row, cached, written, most or _MOST_PROMPT)

    yield from (sample(chat, {}) for chat in chats)
    for kind in version.surcharges if isinstance(version, TextVersion) else ():
        field, switch = SEARCHES[kind]
        for value, count in _SEARCHED[kind]:
            count = min(count, prices.limits.scraped_urls) if kind == "web_scraping" else count
            yield sample(_QUESTION, {switch: value, field: count})
