"""Text and embedding requests: tokens by bucket, and what was searched."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.pricing.compiled import Metered, Rater
from ratecard.rating.compiling import new
from ratecard.rating.line_item import LineItem
from ratecard.rating.per_unit import per_unit
from ratecard.rating.quote import Quote
from ratecard.rating.tokens import BUCKETS, token_lines, token_rates
from ratecard.requests.body import INVALID
from ratecard.requests.service_parameters import SEARCHES, billed_searches, read_parameters
from ratecard.requests.text_usage import MOST_TOKENS, Problems, TokenCounts, count_messages, read_tokens
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.metered_charges import Surcharge, Tokens
from ratecard.words.errors import QuoteError
from ratecard.words.money import EXACT, add, multiply
from ratecard.words.tree import Path
from ratecard.words.wording import REQUIRED

# The keys of a text usage that has nothing but tokens.
_PLAIN = 3
_ZERO = Decimal(0)
# The buckets in the order of `TokenCounts`, and the field to which a bucket without a price is reported.
_FIELDS: dict[str, Path] = {
    "input": ("usage", "prompt_tokens"),
    "cache_input": ("usage", "prompt_tokens_details", "cached_tokens"),
    "cache_write": ("usage", "prompt_tokens_details", "cache_creation_input_tokens"),
    "output": ("usage", "completion_tokens"),
}
_NO_DETAILS: dict[str, Any] = {}


class Estimate(NamedTuple):
    """The least and the most that a text request can cost before it runs, exact, in `currency`."""

    lowest: Decimal
    highest: Decimal
    currency: str


def price_text(metered: Metered, surcharges: Mapping[str, Metered], scraped_most: int) -> Rater:
    """The function that rates text usages at one version; `surcharges` are those that the model supports."""
    charge = _tokens_of(metered.version)
    rates = token_rates(metered.model.model, charge, metered.per(charge.unit))
    lines_of = token_lines(charge, rates, metered.per(charge.unit))
    model, currency, effective, digest = (
        metered.model.model,
        metered.model.currency,
        metered.version.effective,
        metered.digest,
    )
    kind, is_text, worth = metered.model.type, metered.model.type == "text", metered.rates
    complete = len(rates.base) == len(rates.extended) == len(BUCKETS)
    search_lines = {name: surcharge_line(each) for name, each in surcharges.items()}
    sum_of = EXACT.add

    def rate(usage: Mapping[str, Any], suffix: Mapping[str, Any]) -> Quote:
        """Tokens first, as they come from a client that made them right; anything else is read with care below."""
        try:
            tokens = usage["usage"]
            prompt, completion = tokens["prompt_tokens"], tokens["completion_tokens"]
            details = tokens.get("prompt_tokens_details", _NO_DETAILS)
            cached, written = details.get("cached_tokens", 0), details.get("cache_creation_input_tokens", 0)
            other_names = "cache_write_tokens" in details
        except (KeyError, TypeError, AttributeError):
            return careful(usage, suffix)
        if not (
            prompt.__class__ is completion.__class__ is cached.__class__ is written.__class__ is int
            and cached >= 0
            and written >= 0
            and cached + written <= prompt < MOST_TOKENS
            and 0 <= completion < MOST_TOKENS
            and complete
            and is_text
            and len(usage) == _PLAIN
            and not (suffix or other_names)
        ):
            return careful(usage, suffix)
        lines = lines_of(prompt - cached - written, cached, written, completion)
        exact = _ZERO
        for line in lines:
            exact = sum_of(exact, line[4])
        counts = (prompt, completion)
        return new(Quote, (model, exact, exact, currency, tuple(lines), effective, digest, (), kind, counts, worth))

    def careful(usage: Mapping[str, Any], suffix: Mapping[str, Any]) -> Quote:
        problems: Problems = []
        if "usage" in usage:
            counts = read_tokens(usage["usage"], problems, completion_required=is_text)
        else:
            counts = TokenCounts(0, 0, 0, 0)
            problems.append((("usage",), REQUIRED))
        prompt = counts.uncached + counts.cached + counts.written
        tier = rates.tier(prompt)
        for bucket, count in zip(BUCKETS, counts, strict=True):
            if count and bucket not in tier and not problems:
                problems.append((_FIELDS[bucket], f"No price is known for {bucket} tokens of this model"))
        searches = _Searches({}, ())
        if is_text:
            searches = _read_searches(usage, suffix, frozenset(search_lines), scraped_most, problems)
        if problems:
            raise QuoteError(INVALID, problems)
        lines = lines_of(*counts)
        lines += [search_lines[name](count) for name, count in searches.billed.items()]
        return metered.quote(lines, searches.ignored, (prompt, counts.completion))

    return rate


class _Searches(NamedTuple):
    billed: Mapping[str, int]
    ignored: tuple[str, ...]


def _read_searches(
    usage: Mapping[str, Any],
    suffix: Mapping[str, Any],
    supported: frozenset[str],
    scraped_most: int,
    problems: Problems,
) -> _Searches:
    counts: dict[str, int] = {}
    for kind, (field, _) in SEARCHES.items():
        if field in usage:
            most = scraped_most if kind == "web_scraping" else MOST_TOKENS
            messages = count_messages(usage[field], most)
            problems += [((field,), message) for message in messages]
            counts[field] = 0 if messages else int(usage[field])
    parameters = read_parameters(usage.get("service_parameters", {}), suffix, problems)
    billed = billed_searches(counts, parameters)
    for kind, (field, parameter) in SEARCHES.items():
        if kind not in supported and (kind in billed or parameters.get(parameter) in ("on", "true")):
            path = (field,) if kind in billed and counts.get(field) else ("service_parameters", parameter)
            problems.append((path, f"This model does not support {kind.replace('_', ' ')}"))
    switches = {parameter for _, parameter in SEARCHES.values()}
    without_effect = [field for kind, (field, _) in SEARCHES.items() if counts.get(field) and kind not in billed]
    without_effect += [f"service_parameters.{name}" for name in parameters if name not in switches]
    return _Searches(billed, tuple(without_effect))


def surcharge_line(surcharge: Metered) -> Callable[[int], LineItem]:
    """The function that charges a count of searches; a surcharge per prompt is charged once."""
    charge = surcharge.version.charges[0]
    counter, sku = per_unit(charge, surcharge.per(charge.unit)), f"{surcharge.model.model}-{charge.unit}"
    once = isinstance(charge, Surcharge) and surcharge.units[charge.unit].counts == "prompt"
    return lambda count: counter(1 if once else count, charge.rates[0], sku)


def estimate(metered: Metered, prompt: int, most_completion: int) -> Estimate:
    """The least (cheapest bucket for the prompt, no completion) and the most (dearest, all of it) that it can cost."""
    charge = _tokens_of(metered.version)
    tier = token_rates(metered.model.model, charge, metered.per(charge.unit)).tier(prompt)
    prompt_rates = [tier[bucket].token_rate for bucket in ("input", "cache_input", "cache_write") if bucket in tier]
    completion = multiply(most_completion, tier["output"].token_rate)
    return Estimate(
        multiply(prompt, min(prompt_rates)),
        add(multiply(prompt, max(prompt_rates)), completion),
        metered.model.currency,
    )


def _tokens_of(version: MeteredVersion) -> Tokens:
    return next(charge for charge in version.charges if isinstance(charge, Tokens))
