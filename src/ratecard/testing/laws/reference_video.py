"""Laws of reference video: what is billed with it, and never less for more of it."""

from fractions import Fraction
from math import ceil
from typing import Any

from hypothesis import strategies as st

from ratecard.rating.compiling import SECONDS
from ratecard.tables.video_charges import TokenFormula
from ratecard.testing.case import Case, expect
from ratecard.testing.laws.law import Law, of_type
from ratecard.testing.offer import REFERENCE, seconds
from ratecard.testing.request import Request


def reference_video_is_never_below_its_minimum(case: Case, data: st.DataObject) -> None:
    """With reference video, its seconds and those of the output are billed, and at least the table's minimum."""
    request, clip = data.draw(_stated(case)), data.draw(_clips(case))
    charge = case.charges(TokenFormula)[0]
    number = case.version.charges.index(charge)
    out = Fraction(SECONDS[case.offer.settled(request.body, "duration")])
    least = Fraction(ceil(out * charge.reference_minimum))
    plain = case.ask(request.without(REFERENCE))
    asked = case.ask(request.with_fields(**{REFERENCE: clip}))
    billed = Fraction(asked.quote.lines[number].quantity) / Fraction(plain.quote.lines[number].quantity) * out
    expected = max(out + Fraction(clip), least)
    expect(billed == expected, f"{billed} seconds are billed, not {expected}", plain, asked)


def more_reference_video_is_never_cheaper(case: Case, data: st.DataObject) -> None:
    """More seconds of reference video never cost less."""
    request = data.draw(_stated(case))
    fewer, more = sorted((data.draw(_clips(case)), data.draw(_clips(case))))
    one, other = (case.ask(request.with_fields(**{REFERENCE: clip})) for clip in (fewer, more))
    expect(one.exact <= other.exact, f"{more} s of reference video cost less than {fewer} s", one, other)


def _clips(case: Case) -> st.SearchStrategy[Any]:
    """Seconds of a clip that there is."""
    limits = case.version.accepts.reference_video_total_duration
    return seconds(0, limits.max).filter(bool)


def _stated(case: Case) -> st.SearchStrategy[Request]:
    """Requests whose duration and aspect ratio are their own, not those of the clip."""
    durations = st.sampled_from(case.offer.stated_durations)
    ratios = case.version.values_of("aspect_ratio")

    @st.composite
    def requests(draw: st.DrawFn) -> Request:
        request = draw(case.requests).with_fields(duration=draw(durations))
        return request.with_fields(aspect_ratio=draw(st.sampled_from(ratios))) if ratios else request

    return requests()


def _takes_clips(case: Case) -> bool:
    return of_type("video")(case) and bool(case.charges(TokenFormula)) and REFERENCE in case.offer.active


LAWS = (
    Law(reference_video_is_never_below_its_minimum, _takes_clips),
    Law(more_reference_video_is_never_cheaper, _takes_clips),
)
