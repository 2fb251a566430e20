"""Laws of tokens and searches, and of what is counted: images, characters, seconds, songs, calls."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from ratecard.base.errors import QuoteError
from ratecard.methods.audio import bands_of
from ratecard.requests.service_parameters import SEARCHES
from ratecard.tables.metered import MeteredVersion, Tokens
from ratecard.tables.meters import UsageCondition
from ratecard.tables.rate import Conditioned, Rate, named_conditions
from ratecard.testing.case import Case, any_case, applies_to, charged_by, expect, reading
from ratecard.testing.usage_strategies import DETAILS, in_any_dialect

_BY_TOKEN = charged_by("tokens")


@applies_to(_BY_TOKEN)
def every_token_is_charged_once(case: Case, data: st.DataObject) -> None:
    """The tokens of all lines are those of prompt and completion: cached tokens are part of the prompt."""
    quoted = case.ask(data.draw(case.tokens))
    usage = quoted.request.body["usage"]
    counted = usage["prompt_tokens"] + usage.get("completion_tokens", 0)
    unit = case.version.tokens.unit
    billed = sum(line.count for line in quoted.counted if line.unit == unit)
    expect(billed == counted, f"{billed} tokens are charged, not {counted}", quoted)


@applies_to(_BY_TOKEN)
def the_whole_prompt_chooses_one_tier(case: Case, data: st.DataObject) -> None:
    """Every bucket costs its rate in the tier of the whole prompt; a prompt of exactly the threshold is still base."""
    quoted = case.ask(data.draw(case.tokens))
    rates = expected_rates(case, quoted.request.body["usage"])
    expected = [rate.source for rate in rates]
    sources = [line.source for line in quoted.counted if line.unit == case.version.tokens.unit]
    expect(sources == expected, f"The tier says {', '.join(expected) or 'nothing'}", quoted)


@applies_to(_BY_TOKEN)
def every_dialect_costs_the_same(case: Case, data: st.DataObject) -> None:
    """The same tokens cost the same in the words of every provider; further fields that cost nothing change nothing."""
    quoted = case.ask(data.draw(case.tokens))
    tokens = quoted.request.body["usage"]
    meters = case.prices.tables.meters
    usage = data.draw(in_any_dialect(tokens, meters, embedding=case.found.type == "embedding"))
    again = case.ask(quoted.request.with_fields(usage=usage))
    expect(again.quote == quoted.quote, "In another dialect it is another quote", quoted, again)


def _searches(case: Case) -> bool:
    return bool(case.version.searches.keys() & SEARCHES.keys())


@applies_to(_searches)
def a_search_adds_its_own_price(case: Case, data: st.DataObject) -> None:
    """Each search adds the rate of its table and nothing else: the rate of a thousand is not charged for one."""
    plain = case.ask(data.draw(case.tokens))
    kind = data.draw(st.sampled_from(sorted(case.version.surcharges.keys() & SEARCHES.keys())))
    most = case.prices.limits.scraped_urls if kind == "web_scraping" else 1_000
    count = data.draw(st.integers(1, most))
    charge = case.plain(*dict(zip(case.version.surcharges, case.further(), strict=True))[kind]).charges[0]
    quoted = case.ask(plain.request.with_fields(**{SEARCHES[kind][0]: count}))
    price = case.price(charge, count)
    added = quoted.exact - plain.exact
    expect(added == price, f"{count} of {SEARCHES[kind][0]} add {added}, not {price}", plain, quoted)


def _estimated(case: Case) -> bool:
    """Return True for a text model that needs no conditions, because an estimate states none."""
    return case.found.type == "text" and not case.version.needed(case.prices.tables.meters)


@applies_to(_estimated)
def an_estimate_holds_what_it_will_cost(case: Case, data: st.DataObject) -> None:
    """The cost of a request, searches included, lies between its lowest and its highest estimate."""
    quoted = case.ask(data.draw(case.requests))
    body = quoted.request.body
    # A search without a count is billed once at most; a result of X search is billed only if it is counted.
    counts: dict[str, Any] = {"x_search_results": 0} | {
        field: body[field] for field, _ in SEARCHES.values() if field in body
    }
    estimate = case.prices.estimate_text(
        case.model,
        prompt_tokens=body["usage"]["prompt_tokens"],
        max_completion_tokens=body["usage"]["completion_tokens"],
        service_parameters=body.get("service_parameters"),
        counts=body.get("counts"),
        **counts,
    )
    within = estimate.lowest <= quoted.quote.exact <= estimate.highest
    expect(within, f"Estimated: {estimate.lowest} to {estimate.highest}", quoted)


def expected_rates(case: Case, usage: dict[str, Any]) -> list[Rate]:
    """Return the rates of the buckets that have tokens, in the order of the lines."""
    charge, prompt, details = case.version.tokens, usage["prompt_tokens"], usage.get("prompt_tokens_details", {})
    counts = {bucket: details.get(field, 0) for bucket, field in DETAILS.items()}
    counts = {"input": prompt - sum(counts.values()), **counts, "output": usage.get("completion_tokens", 0)}
    held = [(rate, rank) for rate in charge.rates if (rank := _held(case, charge, rate, prompt)) is not None]

    def of(bucket: str) -> Rate | None:
        """Return the rate of a bucket in the highest tier that has one; of several, the one with most conditions."""
        candidates = [(rank, rate) for rate, rank in held if bucket in rate.attributes["tokens"]]
        return max(candidates, key=lambda candidate: candidate[0])[1] if candidates else None

    rates = (of(bucket) or of("input") for bucket, count in counts.items() if count)
    return [rate for rate in rates if rate]


def _held(case: Case, charge: Tokens, rate: Rate, prompt: int) -> tuple[int, int, bool] | None:
    """Return a rate's rank: least prompt of its tier, number of conditions, has hours; None if it does not hold."""
    edge, named, declared = 0, charge.conditions_of(rate), case.prices.tables.meters.condition
    first = case.version.first_values(case.prices.tables.meters)
    if any((declared[name].default or first[name]) not in values for name, values in named.items()):
        return None
    for name, values in rate.attributes.items():
        if name == "context":
            edge = (charge.context_token_threshold or 0) + 1 if values == ("extended",) else 0
        elif name in ("above", "from"):
            edge = int(values[0]) + (name == "above")
    return (edge, len(named), rate.timed) if edge <= prompt else None


@applies_to(lambda case: any_case(case) and case.found.type != "video")
def a_line_costs_its_rate_times_the_factors_that_hold(case: Case, data: st.DataObject) -> None:
    """A line costs its rate times the factors of stated conditions that it does not name; unmet ones are refused."""
    version, declared = case.version, case.prices.tables.meters.condition
    wanted = data.draw(st.fixed_dictionaries({}, optional={
        name: st.sampled_from([*filter(None, [declared[name].default]), *sorted(values)])
        for name, values in version.conditions.items()
    }))  # fmt: skip
    first = version.first_values(case.prices.tables.meters)
    stated = {name: wanted.get(name) or declared[name].default or first[name] for name in version.conditions}
    request = data.draw(case.requests).with_fields(**wanted)
    conditioned = [charge for charge in version.charges if isinstance(charge, Conditioned)]
    priced_by = {charge.charge: _priced_by(charge, version, stated, declared) for charge in conditioned}
    factors = {charge.charge: [*charge.factors, *version.factors] for charge in conditioned}
    certain = {
        name: {(*factor.conditions.items(),) for factor in charge_factors}
        >= {((condition, stated[condition]),) for condition in priced_by[name]}
        for name, charge_factors in factors.items()
    }
    if not all(certain.values()) or version.refuses(stated, case.prices.tables.meters):
        # The request may be refused, because the rate that would hold does not name the stated conditions.
        try:
            request.price(case.prices)
        except QuoteError as refusal:
            problems = refusal.problems
            about = all(path[-1] in stated or "under these conditions" in words for path, words in problems)
            expect(about, f"Refused under {stated} for another reason: {problems}")
            return
    quoted = case.ask(request)
    for line in quoted.counted:
        for charge, rate in ((owner, rate) for owner in version.charges for rate in owner.rates):
            if rate.source != line.source or not isinstance(charge, Conditioned):
                continue
            named, price = charge.conditions_of(rate), Fraction(rate.rate) * Fraction(charge.markup)
            met = set(named)
            for factor in factors[charge.charge]:
                if factor.conditions.items() <= stated.items() and not named.keys() & factor.conditions.keys():
                    price *= Fraction(factor.factor)
                    met |= factor.conditions.keys()
            expect(line.unit_rate == price, f"{line.source} costs {price} under {stated}", quoted)
            expect(priced_by[charge.charge] <= met, f"{line.source} does not name all of {stated}", quoted)
            expect(all(stated[name] in values for name, values in named.items()), f"It holds not for {stated}", quoted)


def _priced_by(
    charge: Conditioned, version: MeteredVersion, stated: Mapping[str, str], declared: Mapping[str, UsageCondition]
) -> set[str]:
    """Return the stated conditions that a rate or a factor of a charge has to name."""
    without_rate = charge.without_rate or {}
    return {
        name
        for name in named_conditions([charge], version.factors)
        if stated[name] != declared[name].default
        and without_rate.get(stated[name], without_rate.get(name)) != "default"
    }


def _of_images(case: Case) -> bool:
    version = case.version
    if not reading("n")(case) or version.minimum:
        return False
    decimal = all(case.prices.tables.units[charge.unit].is_decimal for charge in version.charges)
    further = case.reading("input_images")  # Options of these charges apply to the inputs of one image.
    return decimal and not any(charge.options for charge in case.reading("n") if charge not in further)


@applies_to(_of_images)
def so_many_images_cost_so_many_times_one(case: Case, data: st.DataObject) -> None:
    """`n` multiplies everything: n images with their further inputs cost n times as much as one."""
    request = data.draw(case.requests.filter(lambda request: request.body["type"] == case.found.type))
    n = data.draw(st.integers(1, 1_000))
    one, many = case.ask(request.with_fields(n=1)), case.ask(request.with_fields(n=n))
    images = case.reading("n")
    expect(many.of(*images) == n * one.of(*images), f"{n} images cost {many.quote.exact}", one, many)


@applies_to(reading("input_images"))
def further_input_images_cost_their_rate(case: Case, data: st.DataObject) -> None:
    """Each input image after the free ones adds its own rate."""
    request, (charge,) = data.draw(case.requests), case.reading("input_images")
    inputs = data.draw(st.integers(1, 20))
    one, more = (case.ask(request.with_fields(n=1, input_images=count)) for count in (1, inputs))
    price, added = case.price(charge, inputs) - case.price(charge, 1), more.of(charge) - one.of(charge)
    expect(added == price, f"{inputs} inputs add {added}, not {price}", one, more)


@applies_to(lambda case: any_case(case) and bool(_counted(case)))
def a_count_costs_its_rate(case: Case, data: st.DataObject) -> None:
    """Characters, seconds and searches cost their count times the rate, divided by the count in one unit."""
    quoted = case.ask(data.draw(case.requests))
    for charge, name in _counted(case):
        price = case.price(charge, Fraction(quoted.request.body[name]))
        expect(quoted.of(charge) == price, f"The rate gives {price}", quoted)


@applies_to(charged_by("seconds"))
def a_song_costs_the_rate_of_its_band(case: Case, data: st.DataObject) -> None:
    """A song is charged once, at the band that holds its seconds, first and last second included."""
    charge = case.charges("seconds")[0]
    edges, rate = data.draw(st.sampled_from(bands_of(charge)))
    seconds = data.draw(st.sampled_from(edges) | st.integers(*edges))
    quoted = case.ask(data.draw(case.requests).with_fields(duration_seconds=seconds))
    price = Fraction(rate.rate) * Fraction(charge.markup)
    expect(quoted.of(charge) == price, f"{seconds} seconds cost {price}: {rate.source}", quoted)


@applies_to(reading("calls"))
def a_batch_costs_the_sum_of_its_calls(case: Case, data: st.DataObject) -> None:
    """A batch costs what its calls cost one by one; a failed call costs its own credits, whatever its method."""
    quoted, (charge,) = case.ask(data.draw(case.requests)), case.reading("calls")
    single = [case.ask(quoted.request.with_fields(calls=[call])) for call in quoted.request.body["calls"]]
    summed = sum(priced_call.of(charge) for priced_call in single)
    expect(quoted.of(charge) == summed, "The batch is not the sum of its calls", quoted, *single)
    price = case.price(charge, charge.failed_credits)
    for call, priced_call in zip(quoted.request.body["calls"], single, strict=True):
        expect(not call.get("failed") or priced_call.of(charge) == price, f"A failed call costs {price}", priced_call)


def _counted(case: Case) -> list[tuple[Any, str]]:
    """Return the charges for one count of a usage of the model's own type, with the field of that count."""
    return [(charge, name) for charge, fields in case.readings for name in charge.NUMBERS if name in fields]
