"""Estimate what a text request can cost before it runs: its tokens by bucket, and its searches."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import product
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.messages import Problems
from ratecard.base.money import EXACT, add, multiply, step, total
from ratecard.line_items.conditions import NotSoldError, wrong_conditions
from ratecard.line_items.quote import Estimate
from ratecard.line_items.tokens import unpriced_tokens
from ratecard.methods.metered import Metered
from ratecard.pricing.counted import readings_of
from ratecard.pricing.text import counted_meters, search_lines_under, token_rates
from ratecard.requests.body import INVALID
from ratecard.requests.counters import MOST_TOKENS
from ratecard.requests.metered import read_counts
from ratecard.requests.service_parameters import SEARCHES, Suffix, billed_searches, read_parameters
from ratecard.requests.token_usage import count_messages
from ratecard.tables.limits import Limits
from ratecard.tables.meters import COMPLETION, PROMPT

_SWITCHED_ON = ("on", "auto", "true")


class EstimateRequest(NamedTuple):
    """A request that has not run: its tokens, its `service_parameters`, and its limit for each search, or None.

    `suffix` holds the parameters in the model's name.
    """

    prompt_tokens: int
    max_completion_tokens: int
    suffix: Suffix
    service_parameters: Mapping[str, Any]
    web_search_requests: int | None
    scraped_urls: int | None
    x_search_results: int | None
    counts: Mapping[str, Any] | None = None


def estimate(metered: Metered, surcharges: Mapping[str, Metered], limits: Limits, asked: EstimateRequest) -> Estimate:
    """Estimate the least and the most that a request can cost.

    The least has the cheapest bucket, no completion and no search; the most has the dearest bucket, the whole
    completion and every search. Both have the counts of the request by meter.

    Raises `QuoteError` if the request limits a search that the model does not support, and if neither the request nor
    `limits` limits a search that is switched on.
    """
    problems: Problems = []
    for name in ("prompt_tokens", "max_completion_tokens"):
        problems += [((name,), words) for words in count_messages(getattr(asked, name))]
    parameters = read_parameters(asked.service_parameters, asked.suffix, problems)
    switches = {name: value for name, value in parameters.known.items() if name not in parameters.idle(surcharges)}
    most = dict(_most_searches(asked, switches, limits, surcharges.keys(), problems))
    further = {name: surcharge for name, surcharge in surcharges.items() if name not in SEARCHES}
    readings = readings_of(metered, metered.model.type)
    line_of = search_lines_under(surcharges)({})
    meters = counted_meters(readings, further)
    stated = {} if asked.counts is None else asked.counts
    counts = read_counts({"counts": stated}, meters, metered.meters.counted, problems)
    problems += _unstated(wrong_conditions(metered.version, metered.meters)({}))
    if problems:
        raise QuoteError(INVALID, problems)
    prompt, longest = int(asked.prompt_tokens), int(asked.max_completion_tokens)
    tier = token_rates(metered).tier(prompt)
    for name, count, bucket in (("prompt_tokens", prompt, PROMPT), ("max_completion_tokens", longest, COMPLETION)):
        if count and bucket not in tier.rates:
            problems.append(((name,), unpriced_tokens(bucket)))
    if problems:
        raise QuoteError(INVALID, problems)
    rates = [(metered.meters.in_completion(bucket), rate) for bucket, rate in tier.rates.items()]
    prompts = [rate.rate.price(prompt) for of_completion, rate in rates if not of_completion] or [Decimal(0)]
    completion = max((rate.rate.price(longest) for of_completion, rate in rates if of_completion), default=Decimal(0))
    try:
        counted = total([line.amount for reading in readings for line in reading.lines({"counts": counts})])
        surcharge_total = total([line_of[name](counts[name]).amount for name in further if name in counts])
        # One search may replace another, so each is made at its most or not at all, in every combination.
        made = (dict(zip(most, numbers, strict=True)) for numbers in product(*((0, count) for count in most.values())))
        billed = [billed_searches(numbers, switches) for numbers in made]
        searches = [total([line_of[kind](count).amount for kind, count in kinds.items()]) for kinds in billed]
    except NotSoldError as refusal:
        raise QuoteError(INVALID, _unstated(refusal.problems)) from None
    never = {kind: field for kind, (field, _) in SEARCHES.items() if not any(kind in kinds for kinds in billed)}
    ignored = tuple(field for field in never.values() if getattr(asked, field))
    least = metered.version.minimum or Decimal(0)
    # Each bucket of a request may be rounded by itself, by half a step at most.
    inexact = sum(not isinstance(rate.token_rate, Decimal) for _, rate in rates)
    rounding = multiply(inexact, step(metered.version.places_of_lines)) if inexact else Decimal(0)
    return Estimate(
        total([max(add(EXACT.subtract(min(prompts), rounding), counted), least), surcharge_total, min(searches)]),
        total([max(total([max(prompts), completion, rounding, counted]), least), surcharge_total, max(searches)]),
        metered.model.currency,
        ignored + parameters.without_effect(surcharges),
        metered.rates,
    )


def _unstated(refusals: Iterable[tuple[str, str]]) -> Problems:
    """Return the problems of conditions that a request of this model must state, but an estimate cannot."""
    hint = "An estimate states no conditions: rate a usage that does"
    return [((name,), type(words)(f"{words}. {hint}")) for name, words in refusals]


def _most_searches(
    asked: EstimateRequest,
    parameters: Mapping[str, Any],
    limits: Limits,
    supported: Any,
    problems: Problems,
) -> Iterator[tuple[str, int]]:
    """Yield (field, most) for each search that the request may make."""
    known = {**limits.estimates.model_dump(), "scraped_urls": limits.scraped_urls}
    for kind, (field, parameter) in SEARCHES.items():
        count, switch = getattr(asked, field), parameters.get(parameter)
        if count is not None:
            messages = count_messages(count, limits.scraped_urls if kind == "web_scraping" else MOST_TOKENS)
            problems += [((field,), message) for message in messages]
            if messages:
                continue
        is_on = switch in _SWITCHED_ON
        if kind not in supported and count and switch is None:
            problems.append(((field,), f"This model does not support {kind.replace('_', ' ')}"))
        elif count is not None:
            yield field, int(count)
        elif is_on and known[field] is None:
            problems.append(((field,), "Required: the limits do not say the most of one request"))
        elif is_on:
            yield field, known[field]
