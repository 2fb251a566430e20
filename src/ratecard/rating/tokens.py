"""The method `tokens`: tokens by bucket, at the tier that the whole prompt chooses once."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple, NoReturn

from ratecard.base.money import EXACT, multiply, plain
from ratecard.rating.quote import LineItem, LineRate
from ratecard.tables.metered import Tokens
from ratecard.tables.rate import Rate

# The name of each bucket in SKUs, in the order of the lines.
BUCKETS = {"input": "input", "cache_input": "cache-input", "cache_write": "cache-write-5m", "output": "output"}
Rated = Callable[[int, int, int, int], tuple[list[LineItem], Decimal]]
_ZERO = Decimal(0)


class Bucket(NamedTuple):
    """The rate of a bucket: the price of one unit, and of one token."""

    sku: str
    unit_rate: Decimal
    token_rate: Decimal
    source: str
    note: str


class NoPriceError(Exception):
    """A bucket with tokens has no price."""


class TokenRates(NamedTuple):
    """The buckets up to the threshold (`base`) and above it; a bucket without a price is missing."""

    base: Mapping[str, Bucket]
    extended: Mapping[str, Bucket]
    threshold: int | None

    def tier(self, prompt: int) -> Mapping[str, Bucket]:
        """The buckets for a whole prompt: extended if it has more tokens than the threshold."""
        return self.extended if self.threshold is not None and prompt > self.threshold else self.base


def token_rates(model: str, charge: Tokens, per: int) -> TokenRates:
    """Compile the rates of a charge; `per` is how many tokens one unit holds. See `Tokens` for missing buckets."""
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
    """Compile the function (uncached, cached, written, completion) -> (lines, their sum). Exact.

    Every bucket with tokens has a line. The function raises `NoPriceError` if such a bucket has no price.
    """
    of_unit = EXACT.divide(Decimal(1), Decimal(per))
    base, extended = (
        [_of_bucket(tier.get(bucket), charge.unit, of_unit) for bucket in BUCKETS]
        for tier in (rates.base, rates.extended)
    )
    threshold, add, times = rates.threshold, EXACT.add, EXACT.multiply

    def lines(uncached: int, cached: int, written: int, completion: int) -> tuple[list[LineItem], Decimal]:
        tier = extended if threshold is not None and uncached + cached + written > threshold else base
        of_input, of_cache_input, of_cache_write, of_output = tier
        found: list[LineItem] = []
        exact = _ZERO
        # Written out: a loop over the four takes as long as the lines themselves.
        if uncached:
            rate, of_one = of_input or _refuse()
            exact = times(uncached, of_one)
            found.append(LineItem(rate, uncached, exact))
        if cached:
            rate, of_one = of_cache_input or _refuse()
            amount = times(cached, of_one)
            found.append(LineItem(rate, cached, amount))
            exact = add(exact, amount)
        if written:
            rate, of_one = of_cache_write or _refuse()
            amount = times(written, of_one)
            found.append(LineItem(rate, written, amount))
            exact = add(exact, amount)
        if completion:
            rate, of_one = of_output or _refuse()
            amount = times(completion, of_one)
            found.append(LineItem(rate, completion, amount))
            exact = add(exact, amount)
        return found, exact

    return lines


def _of_bucket(bucket: Bucket | None, unit: str, of_unit: Decimal) -> tuple[LineRate, Decimal] | None:
    """The rate of a bucket's lines, and the price of one token, which is `of_unit` of the unit."""
    if bucket is None:
        return None
    rate = LineRate(bucket.sku, unit, bucket.unit_rate, bucket.source, bucket.note, of_unit)
    return rate, bucket.token_rate


def _refuse() -> NoReturn:
    raise NoPriceError
