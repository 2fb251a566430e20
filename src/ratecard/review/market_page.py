"""A comparison with another price list as one HTML page."""

from ratecard.pages import page_text
from ratecard.review.market import Market
from ratecard.review.market_markdown import (
    HEADINGS,
    MARKET_LEGEND,
    TITLE,
    both_lists,
    head,
    market_counts,
    price_words,
)

# The prices are unfolded for at most this many pairs.
_OPEN = 12


def market_page(market: Market) -> str:
    """Return the whole comparison as one file: counts, and every pair of models with its prices."""
    return page_text(
        "market.html",
        title=TITLE,
        both_lists=both_lists(market),
        counts=market_counts(market),
        legend=MARKET_LEGEND,
        headings=HEADINGS,
        few=len(market.models) <= _OPEN,
        models=[(head(pair), pair, list(price_words(pair))) for pair in market.models],
        unmatched=market.unmatched,
    )
