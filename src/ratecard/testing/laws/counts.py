"""Laws of what is counted: images, characters, seconds, songs, calls."""

from fractions import Fraction

from hypothesis import strategies as st

from ratecard.tables.metered_charges import DurationBand, PerImage, PerInputImage, RpcCredits, band
from ratecard.testing.case import Case, expect
from ratecard.testing.laws.law import Law, any_case, charged_by

_LINEAR = {"per-character": ("characters", "character_count"), "per-audio-second": ("seconds", "duration_seconds"),
           "surcharge": ("count", "count")}  # fmt: skip


def so_many_images_cost_so_many_times_one(case: Case, data: st.DataObject) -> None:
    """`n` multiplies everything: n images cost n times what one costs, further inputs included."""
    request = data.draw(case.requests.filter(lambda request: request.body["type"] in ("image", "edit")))
    n = data.draw(st.integers(1, 1_000))
    one, many = case.ask(request.with_fields(n=1)), case.ask(request.with_fields(n=n))
    expect(many.exact == n * one.exact, f"{n} images cost {many.quote.exact}", one, many)


def further_input_images_cost_their_rate(case: Case, data: st.DataObject) -> None:
    """Input images beyond those that cost nothing add their own rate, each."""
    request, (charge,) = data.draw(case.requests), case.charges(PerInputImage)
    inputs = data.draw(st.integers(1, 20))
    one, more = (case.ask(request.with_fields(n=1, input_images=count)) for count in (1, inputs))
    billed = max(inputs - charge.included, 0) - max(1 - charge.included, 0)
    price = billed * Fraction(charge.rates[0].rate) * Fraction(charge.markup)
    expect(more.exact - one.exact == price, f"{inputs} inputs add {more.exact - one.exact}, not {price}", one, more)


def a_count_costs_its_rate(case: Case, data: st.DataObject) -> None:
    """Characters, seconds and searches cost their count times the rate, by what the unit holds."""
    asked, (charge,) = case.ask(data.draw(case.requests)), case.version.charges
    body = asked.request.body
    count = next(Fraction(body[name]) for name in _LINEAR[charge.method] if name in body)
    if case.prices.card.tables.units[charge.unit].counts == "prompt":
        count = Fraction(1)
    price = count * Fraction(charge.rates[0].rate) * Fraction(charge.markup) / case.per(charge.unit)
    expect(asked.exact == price, f"The rate gives {price}", asked)


def a_song_costs_the_rate_of_its_band(case: Case, data: st.DataObject) -> None:
    """A song is charged once, at the band that holds its seconds, first and last second included."""
    charge = case.charges(DurationBand)[0]
    rate, edges = data.draw(st.sampled_from([
        (rate, band(words) or (1, 1)) for rate in charge.rates for words in rate.attributes["seconds"]
    ]))  # fmt: skip
    seconds = data.draw(st.sampled_from(edges) | st.integers(*edges))
    asked = case.ask(data.draw(case.requests).with_fields(duration_seconds=seconds))
    price = Fraction(rate.rate) * Fraction(charge.markup)
    expect(asked.exact == price, f"{seconds} seconds cost {price}: {rate.source}", asked)


def a_batch_costs_the_sum_of_its_calls(case: Case, data: st.DataObject) -> None:
    """A batch costs what its calls cost one by one; a failed call costs its own credits, whatever it was."""
    asked, (charge,) = case.ask(data.draw(case.requests)), case.charges(RpcCredits)
    single = [case.ask(asked.request.with_fields(calls=[call])) for call in asked.request.body["calls"]]
    expect(asked.exact == sum(each.exact for each in single), "The batch is not the sum of its calls", asked, *single)
    price = charge.failed_credits * Fraction(charge.rates[0].rate) * Fraction(charge.markup) / case.per(charge.unit)
    for call, each in zip(asked.request.body["calls"], single, strict=True):
        expect(not call.get("failed") or each.exact == price, f"A failed call costs {price}", each)


def _of_images(case: Case) -> bool:
    return case.found.type in ("image", "edit") and bool(case.charges(PerImage))


LAWS = (
    Law(so_many_images_cost_so_many_times_one, _of_images),
    Law(further_input_images_cost_their_rate, charged_by("per-input-image")),
    Law(a_count_costs_its_rate, charged_by(*_LINEAR)),
    Law(a_song_costs_the_rate_of_its_band, charged_by("duration-band")),
    Law(a_batch_costs_the_sum_of_its_calls, lambda case: any_case(case) and bool(case.charges(RpcCredits))),
)
