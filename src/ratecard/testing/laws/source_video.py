"""Laws of videos that are processed: upscaling by tier and frame rate, interpolation, slow motion."""

from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

from hypothesis import strategies as st

from ratecard.rating.line_item import LineItem
from ratecard.rating.source_video import SourceVideo
from ratecard.tables.rate import ANY
from ratecard.tables.selection import tiers
from ratecard.tables.video_charges import InterpolationRate, UpscaleRate
from ratecard.testing.case import Asked, Case, expect
from ratecard.testing.laws.law import Law, charged_by
from ratecard.testing.request import Request
from ratecard.testing.video_requests import sources_of


def from_a_frame_rate_on_an_upscale_costs_a_multiple(case: Case, data: st.DataObject) -> None:
    """At the frame rate that the table names the price is multiplied, just below it is not; nothing else changes it."""
    request, (charge,) = data.draw(case.requests), case.charges(UpscaleRate)
    step, factor = ceil(charge.frame_rate.from_), Fraction(charge.frame_rate.factor)
    limits = case.version.accepts.target_fps
    below, at = (case.ask(request.with_fields(target_fps=fps)) for fps in (step - 1, step))
    low, high = st.integers(limits.min, step - 1), st.integers(step, limits.max)
    for fps, near in ((data.draw(low), below), (data.draw(high), at)):
        other = case.ask(request.with_fields(target_fps=fps))
        expect(other.exact == near.exact, "On one side of the step the frame rate changes the price", near, other)
    multiplied = _alike(case, _amount(below, charge) * factor, _amount(at, charge))
    expect(multiplied, f"From {step} frames per second on the price is not {factor} times as high", below, at)


def interpolation_is_linear_in_the_frame_rate(case: Case, data: st.DataObject) -> None:
    """Twice the frames per second cost twice as much."""
    limits = case.version.accepts.target_fps
    _in_proportion(case, data, "target_fps", st.integers(limits.min, limits.max))


def slow_motion_multiplies(case: Case, data: st.DataObject) -> None:
    """A video slowed down four times is four times as long, and costs four times as much."""
    _in_proportion(case, data, "slowdown_factor", st.sampled_from(case.version.accepts.slowdown_factor))


def a_tier_holds_its_upper_edge(case: Case, data: st.DataObject) -> None:
    """A height is priced at the first tier whose upper edge it does not exceed: the edge itself is in."""
    source = data.draw(sources_of(case.offer))
    asked = case.ask(Request(data.draw(case.requests).body, source))
    charge, body = case.charges(UpscaleRate, InterpolationRate)[0], asked.request.body
    factor = int(case.offer.settled(body, "upscale_factor")) if isinstance(charge, UpscaleRate) else 1
    height = (source.height or 0) * factor
    tier = next(edge for edge in tiers(charge.rates) if edge == ANY or height <= int(edge))
    named = {"up_to": tier, "enhancement_model": case.offer.settled(body, "enhancement_model")}
    fitting = {
        rate.source
        for rate in charge.rates
        if all(named[attribute] in values for attribute, values in rate.attributes.items())
    }
    expect(_line(asked, charge).source in fitting, f"A height of {height} belongs to the tier up_to: {tier}", asked)


def an_unknown_source_is_never_cheaper(case: Case, data: st.DataObject) -> None:
    """A source video of unknown height, frame rate or both costs at least as much as one that is known."""
    body, source = data.draw(case.requests).body, data.draw(sources_of(case.offer))
    known = case.ask(Request(body, source))
    # Without a frame rate an interpolation has no price, unless one is asked for.
    rates = [source.fps, None] if "target_fps" in body or not case.charges(InterpolationRate) else [source.fps]
    for height, fps in product((source.height, None), rates):
        unknown = case.ask(Request(body, SourceVideo(source.seconds, None, height, fps)))
        expect(known.exact <= unknown.exact, "What is unknown of its source makes it cheaper", known, unknown)


def _in_proportion(case: Case, data: st.DataObject, name: str, values: st.SearchStrategy[int]) -> None:
    request, (charge,) = data.draw(case.requests), case.charges(InterpolationRate)
    one, other = data.draw(values), data.draw(values)
    first, second = (case.ask(request.with_fields(**{name: value})) for value in (one, other))
    same = _alike(case, _amount(first, charge) * other / one, _amount(second, charge), 1 + Fraction(other, one))
    expect(same, f"Prices for {name} {one} and {other} are not in proportion", first, second)


def _line(asked: Asked, charge: Any) -> LineItem:
    number: int = asked.case.version.charges.index(charge)
    return asked.quote.lines[number]


def _amount(asked: Asked, charge: Any) -> Fraction:
    return Fraction(_line(asked, charge).amount)


def _alike(case: Case, one: Fraction, other: Fraction, slack: Fraction = Fraction(2)) -> bool:
    """Equal but for the rounding of lines."""
    places: int = case.version.rounding.line_places
    return abs(one - other) <= slack * Fraction(1, 10**places)


def _has_a_step(case: Case) -> bool:
    limits = case.version.accepts.target_fps if charged_by("upscale-rate")(case) else None
    steps = [ceil(charge.frame_rate.from_) for charge in case.charges(UpscaleRate)]
    return limits is not None and len(steps) == 1 and limits.min < steps[0] <= limits.max


_INTERPOLATED = charged_by("interpolation-rate")
_PROCESSED = charged_by("interpolation-rate", "upscale-rate")
LAWS = (
    Law(from_a_frame_rate_on_an_upscale_costs_a_multiple, _has_a_step),
    Law(interpolation_is_linear_in_the_frame_rate, _INTERPOLATED),
    Law(slow_motion_multiplies, _INTERPOLATED),
    Law(a_tier_holds_its_upper_edge, _PROCESSED),
    Law(an_unknown_source_is_never_cheaper, _PROCESSED),
)
