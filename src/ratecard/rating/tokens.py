"""`tokens`: language-model tokens by bucket, at the tier that the whole prompt chooses once."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

from ratecard.rating.line_item import LineItem
from ratecard.tables.metered_charges import Tokens
from ratecard.tables.rate import Rate
from ratecard.words.money import EXACT, multiply, plain

# How the ledger's SKUs call each bucket, in the order of the lines.
BUCKETS = {"input": "input", "cache_input": "cache-input", "cache_write": "cache-write-5m", "output": "output"}
Rated = Callable[[int, int, int, int], list[LineItem]]


class Bucket(NamedTuple):
    """One bucket's rate: of one unit, and of one token."""

    sku: str
    unit_rate: Decimal
    token_rate: Decimal
    source: str
    note: str


class NoPriceError(Exception):
    """A bucket that has tokens has no price."""


class TokenRates(NamedTuple):
    """The buckets below and above the threshold; a bucket without a price is missing."""

    base: Mapping[str, Bucket]
    extended: Mapping[str, Bucket]
    threshold: int | None

    def tier(self, prompt: int) -> Mapping[str, Bucket]:
        """The buckets for a whole prompt: extended where it has more tokens than the threshold."""
        return self.extended if self.threshold is not None and prompt > self.threshold else self.base


def token_rates(model: str, charge: Tokens, per: int) -> TokenRates:
    """Compile the rates of a charge, with every bucket that has no rate of its own resolved as the table says."""
    written: dict[tuple[str, str], Rate] = {}
    for rate in charge.rates:
        for context in rate.attributes.get("context", ("base",)):
            for bucket in rate.attributes["tokens"]:
                written[context, bucket] = rate

    def compiled(context: str, rate: Rate, words: str, note: str = "") -> Bucket:
        extended = "extended-" if context == "extended" else ""
        unit_rate = plain(multiply(rate.rate, charge.markup))
        token_rate = EXACT.divide(unit_rate, Decimal(per))
        return Bucket(f"{model}-llm-{extended}{words}-{charge.unit}", unit_rate, token_rate, rate.source, note)

    def tier(context: str) -> dict[str, Bucket]:
        buckets = {}
        for bucket, words in BUCKETS.items():
            own = next((place for place in ((context, bucket), ("base", bucket)) if place in written), None)
            if own:
                buckets[bucket] = compiled(own[0], written[own], words)
            elif charge.missing_cache_rate == "input":
                place = (context, "input")
                buckets[bucket] = compiled(context, written[place], words, "no rate of its own: the input rate")
        return buckets

    base = tier("base")
    if charge.context_token_threshold is None:
        return TokenRates(base, base, None)
    return TokenRates(base, tier("extended"), charge.context_token_threshold)


def token_lines(charge: Tokens, rates: TokenRates, per: int) -> Rated:
    """The function (uncached, cached, written, completion) -> lines; every bucket with tokens has one, and is exact.

    It raises `NoPriceError` where a bucket that has tokens has no price.
    """
    of_unit = EXACT.divide(Decimal(1), Decimal(per))
    base, extended = (
        [_bucket_line(tier.get(bucket), charge.unit, of_unit) for bucket in BUCKETS]
        for tier in (rates.base, rates.extended)
    )
    threshold = rates.threshold

    def lines(uncached: int, cached: int, written: int, completion: int) -> list[LineItem]:
        tier = extended if threshold is not None and uncached + cached + written > threshold else base
        of_input, of_cache_input, of_cache_write, of_output = tier
        found = []
        # Written out: a loop over the four takes as long as the lines themselves.
        if uncached:
            found.append(of_input(uncached))
        if cached:
            found.append(of_cache_input(cached))
        if written:
            found.append(of_cache_write(written))
        if completion:
            found.append(of_output(completion))
        return found

    return lines


def _bucket_line(bucket: Bucket | None, unit: str, of_unit: Decimal) -> Callable[[int], LineItem]:
    """The function count -> line of one bucket; `of_unit` is how much of the unit one token is."""
    if bucket is None:
        return _no_line
    sku, unit_rate, rate, source, note = bucket
    times = EXACT.multiply

    def line(count: int) -> LineItem:
        return LineItem(sku, times(count, of_unit), unit, unit_rate, times(count, rate), source, note)

    return line


def _no_line(count: int) -> LineItem:
    raise NoPriceError(count)
