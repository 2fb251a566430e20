"""A comparison with other price lists as Markdown and as a page, and the words that every format shares."""

from collections.abc import Iterator

from ratecard.base.money import plain, text
from ratecard.pages import page_text
from ratecard.review.difference import Priced, RateChange
from ratecard.review.market import OURS, THEIRS, Market, MatchedModels, absolute
from ratecard.review.report import code_words, counts_in_words, escaped, markdown_table

TITLE = "Our prices beside theirs"
MARKET_LEGEND = f"Difference: {THEIRS} minus {OURS}, in percent of {OURS}; an implied price follows from another one"
HEADINGS = ("Price of", "Ours", "Theirs", "Difference", "In percent", "Per", "Lines")


def price_words(pair: MatchedModels) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the words of every price under `HEADINGS`, and its tone: `rise`, `fall`, or nothing for no difference."""
    for rate in pair.rates:
        per = f"{pair.currency} / {rate.unit}" if pair.currency else rate.unit
        *difference, tone = _difference(rate)
        amounts = _amount(rate.old), _amount(rate.new)
        yield (rate.subject, *amounts, *difference, per, ", ".join(rate.places)), tone


def _amount(priced: Priced | None) -> str:
    return f"{text(priced.amount)}{' (implied)' if priced.implied else ''}" if priced else ""


def _difference(rate: RateChange) -> tuple[str, str, str]:
    if rate.old is None or rate.new is None:
        return f"only {OURS if rate.old else THEIRS}", "", ""
    if rate.old.each == rate.new.each:
        return "equal", "", ""
    return absolute(rate), rate.by, "rise" if rate.new.each > rate.old.each else "fall"


def market_counts(market: Market) -> list[tuple[str, str]]:
    """Return counts with their names: pairs of models, prices compared, prices of one side; zeros are left out."""
    return counts_in_words({**market.counts(), "models not in the map": len(market.unmatched)})


def summary_of_market(market: Market) -> str:
    """Return text like `2 pairs of models, 14 prices compared, 3 higher than ours, ...`."""
    return ", ".join(map(" ".join, market_counts(market)))


def head(pair: MatchedModels) -> str:
    """Return text like `acme-large beside rival/huge`, and what our usage pays for it, if usage was given."""
    return f"{pair.ours} beside {pair.theirs}{paid(pair)}"


def paid(pair: MatchedModels) -> str:
    """Return text like `: 1234.50 USD of our usage`; empty without usage."""
    return "" if pair.usage is None else f": {text(plain(pair.usage))} {pair.currency} of our usage".replace("  ", " ")


def both_lists(market: Market) -> str:
    """Return the names of both lists and the instant."""
    return f"{market.ours} beside {market.theirs}, at {market.instant:%Y-%m-%dT%H:%M}Z"


def market_markdown(market: Market) -> str:
    """Return the comparison as Markdown. Names are escaped: they cannot end a cell or begin markup."""
    parts = [f"## {TITLE}", f"**{summary_of_market(market)}**", escaped(both_lists(market)), f"{MARKET_LEGEND}."]
    for pair in market.models:
        title = f"{code_words(pair.ours)} beside {code_words(pair.theirs)}{paid(pair)}"
        sentences = [escaped(words) for words in (pair.reason, *pair.notes) if words]
        rows = [(*map(escaped, words), code_words(lines)) for (*words, lines), _ in price_words(pair)]
        parts += [f"### {title}", *(["\n".join(f"* {words}" for words in sentences)] if sentences else [])]
        parts += markdown_table("Prices", HEADINGS, rows, level=4)
    return "\n\n".join(parts) + "\n"


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
