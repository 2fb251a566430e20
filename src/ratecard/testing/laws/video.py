"""Laws of video: each method against its plain formula in fractions, reference video, source video."""

from fractions import Fraction
from itertools import product
from math import ceil, log
from typing import Any

from hypothesis import strategies as st

from ratecard.base.errors import QuoteError
from ratecard.line_items.compiling import SECONDS
from ratecard.line_items.quote import LineItem
from ratecard.line_items.source_video import SourceVideo
from ratecard.tables.rate import ANY, tiers
from ratecard.tables.scalars import Size
from ratecard.tables.video import FrameSize, Measures, VideoCharge
from ratecard.testing.case import BrokenLawError, Case, Quoted, applies_to, charged_by, expect, of_type
from ratecard.testing.offer import REFERENCE, Request, seconds
from ratecard.testing.video_strategies import invalid_video_requests, requests_of


def quantity_of(case: Case, charge: VideoCharge, request: Request) -> Fraction:
    """Return the units that a request uses of a charge, by the plain formula of its method."""
    body, source, offer = request.body, request.source, case.offer
    target_fps = body.get("target_fps") if "target_fps" in offer.active else None
    return charge.units(
        Measures(
            seconds=_seconds_of(case, request),
            reference=clip_of(case, request),
            fps=Fraction(target_fps or (source.fps if source else None) or 0),
            slowdown=int(offer.settled(body, "slowdown_factor") or 1),
            pixels=_pixels_of(case, getattr(charge, "sizes", ()), request),
            per=case.per(charge.unit),
        )
    )


def _seconds_of(case: Case, request: Request) -> Fraction:
    """Return the seconds of the output, or of the source where the version bills those."""
    if case.offer.of_source and request.source and request.source.seconds:
        return request.source.seconds
    if case.offer.matches_clip(request.body):
        return Fraction(ceil(clip_of(case, request)))
    return Fraction(SECONDS.get(case.offer.settled(request.body, "duration"), 0))


def clip_of(case: Case, request: Request) -> Fraction:
    """Return the seconds of the reference clip; 0 without one."""
    return Fraction(request.body.get(REFERENCE, 0)) if REFERENCE in case.offer.active else Fraction(0)


def _pixels_of(case: Case, listed: tuple[FrameSize, ...], request: Request) -> int:
    body, source = request.body, request.source
    if not listed:
        factor = int(case.offer.settled(body, "upscale_factor") or 1)
        return (source.width or 0) * (source.height or 0) * factor**2 if source else 0
    sizes: dict[str, Size] = {}
    for entry in listed:
        if entry.resolution is None or entry.resolution == case.offer.attribute(body, "resolution"):
            sizes[entry.aspect_ratio or ""] = entry.size
    ratio = "" if "" in sizes else str(case.offer.settled(body, "aspect_ratio"))
    if ratio not in sizes and source and source.width and source.height:
        wide = log(source.width / source.height)
        ratio = min(sizes, key=lambda words: abs(_log(words) - wide))
    chosen = [sizes[ratio]] if ratio in sizes else sizes.values()
    return max(size.width * size.height for size in chosen)


def _log(ratio: str) -> Any:
    width, height = ratio.split(":")
    return log(int(width) / int(height))


_VIDEO = of_type("video")


@applies_to(_VIDEO)
def every_charge_has_one_line(case: Case, data: st.DataObject) -> None:
    """A quote has one line for each charge of the version, fees included, in the order of the table."""
    quoted = case.ask(data.draw(case.requests))
    sources_of_charges = [{rate.source for rate in charge.rates} for charge in case.version.charges]
    sources = [line.source for line in quoted.quote.lines]
    lines = len(sources) == len(sources_of_charges) and all(map(set.__contains__, sources_of_charges, sources))
    expect(lines, f"{len(sources_of_charges)} charges, but these lines: {', '.join(sources)}", quoted)


@applies_to(_VIDEO)
def a_line_counts_what_its_method_says(case: Case, data: st.DataObject) -> None:
    """The quantity of a line follows from the plain formula of its method: seconds, clips, tokens, megapixels."""
    quoted = case.ask(data.draw(case.requests))
    slack = Fraction(1, 10**case.version.rounding.line_places)
    for charge, line in zip(case.version.charges, quoted.quote.lines, strict=False):
        quantity = quantity_of(case, charge, quoted.request)
        holds = abs(Fraction(line.quantity) - quantity) <= slack
        expect(holds, f"{line.sku} bills {line.quantity}, but the formula gives {quantity}", quoted)


def _has_lengths(case: Case) -> bool:
    return (
        _VIDEO(case)
        and not case.offer.of_source
        and len(case.offer.stated_durations) > 1
        and not any("duration" in rate.attributes for charge in case.version.charges for rate in charge.rates)
    )


@applies_to(_has_lengths)
def longer_is_never_cheaper(case: Case, data: st.DataObject) -> None:
    """More seconds of the same video never cost less."""
    request = data.draw(requests_of(case.offer))
    words = (data.draw(st.sampled_from(case.offer.stated_durations)) for _ in range(2))
    shorter, longer = sorted(words, key=SECONDS.__getitem__)
    one, other = (case.ask(request.with_fields(duration=word)) for word in (shorter, longer))
    expect(one.exact <= other.exact, f"{longer} cost less than {shorter}", one, other)


@applies_to(lambda case: _VIDEO(case) and bool(case.offer.inert))
def fields_without_effect_change_nothing(case: Case, data: st.DataObject) -> None:
    """Valid fields that a version does not price change no line, and are named as ignored."""
    quoted = case.ask(data.draw(requests_of(case.offer, further=False)))
    names = data.draw(st.lists(st.sampled_from(case.offer.inert), min_size=1, max_size=3, unique=True))
    more = {name: data.draw(case.offer.values[name]) for name in names}
    again = case.ask(quoted.request.with_fields(**more))
    expect(again.quote.lines == quoted.quote.lines, f"{', '.join(names)} changed the price", quoted, again)
    ignored = again.quote.ignored
    # A stated duration has no effect if the seconds of the source video are known.
    if case.offer.of_source and quoted.request.source and quoted.request.source.seconds:
        names += [name for name in ("duration",) if quoted.request.body.get(name) in SECONDS]
    expect(set(ignored) == set(names), f"Named as ignored: {', '.join(ignored) or 'nothing'}", again)


@applies_to(lambda case: _VIDEO(case) and bool(_choices(case)))
def a_field_left_out_is_required_or_has_no_effect(case: Case, data: st.DataObject) -> None:
    """A field that is left out has its only value or its default; a field with neither is required."""
    request = data.draw(requests_of(case.offer))
    for name in _choices(case):
        if name in case.offer.required:
            _refuse_without(case, request.without(name), name)
        else:
            stated = case.ask(_stated(case, request, name))
            left_out = case.ask(stated.request.without(name))
            expect(left_out.quote.lines == stated.quote.lines, f"{name} has another default", stated, left_out)


def _refuse_without(case: Case, left: Request, name: str) -> None:
    try:
        quote = left.price(case.prices)
    except QuoteError as error:
        as_required = error.details == {"_errors": [], name: {"_errors": ["Required"]}}
        expect(as_required, f"Without {name} it is refused like this: {error}\n  {left}")
    else:
        raise BrokenLawError(f"{name} is required, but it costs {quote.total} without\n  {left}")


def _choices(case: Case) -> tuple[str, ...]:
    """Return the fields that are required, or that have a value when they are left out."""
    settled = (name for name in case.offer.active if case.offer.settled({}, name) is not None)
    return tuple(dict.fromkeys((*case.offer.required, *(name for name in settled if name != "duration"))))


def _stated(case: Case, request: Request, name: str) -> Request:
    """Return the request with the default of a field stated, and with a clip if that default is the clip's ratio."""
    value = case.offer.settled({}, name)
    request = request.with_fields(**{name: int(value) if name.endswith("_factor") else value})
    needs_clip = case.offer.matches_ratio(request.body) and not request.body.get(REFERENCE)
    return request.with_fields(**{REFERENCE: 1}) if needs_clip else request


def _takes_clips(case: Case) -> bool:
    """Return True for a model that takes reference clips and also durations of its own."""
    return _VIDEO(case) and REFERENCE in case.offer.active and bool(case.offer.stated_durations)


def _bills_clips(case: Case) -> bool:
    return _takes_clips(case) and any("video_input" in charge.ATTRIBUTES for charge in case.version.charges)


@applies_to(_bills_clips)
def reference_video_is_never_below_its_minimum(case: Case, data: st.DataObject) -> None:
    """With reference video, its seconds and those of the output are billed, and at least the table's minimum."""
    request, clip = data.draw(_stated_clips(case)), data.draw(_clips(case))
    charge = next(charge for charge in case.version.charges if "video_input" in charge.ATTRIBUTES)
    number = case.version.charges.index(charge)
    out = Fraction(SECONDS[case.offer.settled(request.body, "duration")])
    least = Fraction(ceil(out * charge.reference_minimum))
    plain = case.ask(request.without(REFERENCE))
    quoted = case.ask(request.with_fields(**{REFERENCE: clip}))
    billed = Fraction(quoted.quote.lines[number].quantity) / Fraction(plain.quote.lines[number].quantity) * out
    expected = max(out + Fraction(clip), least)
    expect(billed == expected, f"{billed} seconds are billed, not {expected}", plain, quoted)


@applies_to(_takes_clips)
def more_reference_video_is_never_cheaper(case: Case, data: st.DataObject) -> None:
    """More seconds of reference video never cost less."""
    request = data.draw(_stated_clips(case))
    fewer, more = sorted((data.draw(_clips(case)), data.draw(_clips(case))))
    one, other = (case.ask(request.with_fields(**{REFERENCE: clip})) for clip in (fewer, more))
    expect(one.exact <= other.exact, f"{more} s of reference video cost less than {fewer} s", one, other)


def _clips(case: Case) -> st.SearchStrategy[Any]:
    limits = case.version.accepts.reference_video_total_duration
    return seconds(0, limits.max).filter(bool)


def _stated_clips(case: Case) -> st.SearchStrategy[Request]:
    """Return requests whose duration and aspect ratio are their own, not those of the clip."""
    durations = st.sampled_from(case.offer.stated_durations)
    ratios = case.version.values_of("aspect_ratio")

    @st.composite
    def requests(draw: st.DrawFn) -> Request:
        request = draw(case.requests).with_fields(duration=draw(durations))
        return request.with_fields(aspect_ratio=draw(st.sampled_from(ratios))) if ratios else request

    return requests()


_INTERPOLATED = charged_by("slowdown_factor")


_PROCESSED = charged_by("target_fps")


def _has_a_step(case: Case) -> bool:
    limits = case.version.accepts.target_fps if _PROCESSED(case) else None
    steps = case.offer.frame_rate_steps if limits else []
    return limits is not None and len(steps) == 1 and limits.min < steps[0] <= limits.max


@applies_to(_has_a_step)
def from_a_frame_rate_on_an_upscale_costs_a_multiple(case: Case, data: st.DataObject) -> None:
    """The price is multiplied from the frame rate that the table names on; otherwise the frame rate has no effect."""
    request, (charge,) = data.draw(case.requests), case.charges("target_fps")
    [(step, factor)] = ((ceil(frame_rate), Fraction(factor)) for frame_rate, factor in charge.frame_rates.items())
    limits = case.version.accepts.target_fps
    below, at = (case.ask(request.with_fields(target_fps=fps)) for fps in (step - 1, step))
    low, high = st.integers(limits.min, step - 1), st.integers(step, limits.max)
    for fps, near in ((data.draw(low), below), (data.draw(high), at)):
        other = case.ask(request.with_fields(target_fps=fps))
        expect(other.exact == near.exact, "On one side of the step the frame rate changes the price", near, other)
    multiplied = _alike(case, _amount(below, charge) * factor, _amount(at, charge))
    expect(multiplied, f"From {step} frames per second on the price is not {factor} times as high", below, at)


@applies_to(_INTERPOLATED)
def interpolation_is_linear_in_the_frame_rate(case: Case, data: st.DataObject) -> None:
    """Twice the frames per second cost twice as much."""
    limits = case.version.accepts.target_fps
    _in_proportion(case, data, "target_fps", st.integers(limits.min, limits.max))


@applies_to(_INTERPOLATED)
def slow_motion_multiplies(case: Case, data: st.DataObject) -> None:
    """A video slowed down four times is four times as long, and costs four times as much."""
    _in_proportion(case, data, "slowdown_factor", st.sampled_from(case.version.accepts.slowdown_factor))


@applies_to(_PROCESSED)
def a_tier_holds_its_upper_edge(case: Case, data: st.DataObject) -> None:
    """A height is priced at the first tier whose upper edge it does not exceed: the edge belongs to the tier."""
    source = data.draw(case.offer.sources)
    quoted = case.ask(Request(data.draw(case.requests).body, source))
    charge, body = case.charges("target_fps")[0], quoted.request.body
    factor = int(case.offer.settled(body, "upscale_factor")) if charge.TIERS_OF_OUTPUT else 1
    height = (source.height or 0) * factor
    tier = next(edge for edge in tiers(charge.rates) if edge == ANY or height <= int(edge))
    named = {"up_to": tier, "enhancement_model": case.offer.settled(body, "enhancement_model")}
    fitting = {
        rate.source
        for rate in charge.rates
        if all(named[attribute] in values for attribute, values in rate.attributes.items())
    }
    expect(_line(quoted, charge).source in fitting, f"A height of {height} belongs to the tier up_to: {tier}", quoted)


@applies_to(_PROCESSED)
def an_unknown_source_is_never_cheaper(case: Case, data: st.DataObject) -> None:
    """A source video of unknown height, frame rate or both is never cheaper than one that is known."""
    body, source = data.draw(case.requests).body, data.draw(case.offer.sources)
    known = case.ask(Request(body, source))
    # Without a frame rate of the source, an interpolation has a price only if the request names one.
    rates = [source.fps, None] if "target_fps" in body or not case.offer.interpolates else [source.fps]
    for height, fps in product((source.height, None), rates):
        unknown = case.ask(Request(body, SourceVideo(source.seconds, None, height, fps)))
        expect(known.exact <= unknown.exact, "What is unknown of its source makes it cheaper", known, unknown)


def _in_proportion(case: Case, data: st.DataObject, name: str, values: st.SearchStrategy[int]) -> None:
    request, (charge,) = data.draw(case.requests), case.charges("slowdown_factor")
    one, other = data.draw(values), data.draw(values)
    first, second = (case.ask(request.with_fields(**{name: value})) for value in (one, other))
    same = _alike(case, _amount(first, charge) * other / one, _amount(second, charge), 1 + Fraction(other, one))
    expect(same, f"Prices for {name} {one} and {other} are not in proportion", first, second)


def _line(asked: Quoted, charge: Any) -> LineItem:
    number: int = asked.case.version.charges.index(charge)
    return asked.quote.lines[number]


def _amount(asked: Quoted, charge: Any) -> Fraction:
    return Fraction(_line(asked, charge).amount)


def _alike(case: Case, one: Fraction, other: Fraction, slack: Fraction = Fraction(2)) -> bool:
    """Return True if two amounts are equal but for the rounding of lines."""
    places: int = case.version.rounding.line_places
    return abs(one - other) <= slack * Fraction(1, 10**places)


@applies_to(lambda case: _VIDEO(case) and not case.offer.needs_source)
def a_wrong_request_is_refused_field_by_field(case: Case, data: st.DataObject) -> None:
    """A body with wrong fields has no price; the tree of its refusal names exactly those fields."""
    body, fields = data.draw(invalid_video_requests(case.prices, model=case.model))
    try:
        quote = case.prices.quote_video(body)
    except QuoteError as error:
        tree = error.details or {}
        named = tuple(name for name in tree if name != "_errors")
        silent = [name for name in named if not tree[name]["_errors"]]
        if named == fields and not silent and not tree["_errors"]:
            return
        outcome = f"The refusal names {', '.join(named) or 'no field'}"
    else:
        outcome = f"It costs {quote.total}"
    raise BrokenLawError(f"{outcome}, but wrong in this body: {', '.join(fields)}\n  {body!r}")
