"""Laws of every video model."""

from fractions import Fraction

from hypothesis import strategies as st

from ratecard.rating.compiling import SECONDS
from ratecard.tables.video_charges import MegapixelRate, PerSecond, TokenFormula
from ratecard.testing.case import BrokenLawError, Case, expect
from ratecard.testing.laws.law import Law, of_type
from ratecard.testing.laws.quantities import quantity_of
from ratecard.testing.request import Request
from ratecard.testing.video_requests import requests_of
from ratecard.words.errors import QuoteError


def every_charge_has_one_line(case: Case, data: st.DataObject) -> None:
    """A quote has one line for each charge of the version, fees included, in the order of the table."""
    asked = case.ask(data.draw(case.requests))
    found = [{rate.source for rate in charge.rates} for charge in case.version.charges]
    sources = [line.source for line in asked.quote.lines]
    lines = len(sources) == len(found) and all(map(set.__contains__, found, sources))
    expect(lines, f"{len(found)} charges, but these lines: {', '.join(sources)}", asked)


def a_line_counts_what_its_method_says(case: Case, data: st.DataObject) -> None:
    """What a line bills follows from the plain formula of its method: seconds, clips, tokens of pixels, megapixels."""
    asked = case.ask(data.draw(case.requests))
    slack = Fraction(1, 10**case.version.rounding.line_places)
    for charge, line in zip(case.version.charges, asked.quote.lines, strict=False):
        quantity = quantity_of(case, charge, asked.request)
        holds = abs(Fraction(line.quantity) - quantity) <= slack
        expect(holds, f"{line.sku} bills {line.quantity}, but the formula gives {quantity}", asked)


def longer_is_never_cheaper(case: Case, data: st.DataObject) -> None:
    """More seconds of the same video never cost less."""
    request = data.draw(requests_of(case.offer))
    words = (data.draw(st.sampled_from(case.offer.stated_durations)) for _ in range(2))
    shorter, longer = sorted(words, key=SECONDS.__getitem__)
    one, other = (case.ask(request.with_fields(duration=word)) for word in (shorter, longer))
    expect(one.exact <= other.exact, f"{longer} cost less than {shorter}", one, other)


def fields_without_effect_change_nothing(case: Case, data: st.DataObject) -> None:
    """Valid fields that a version does not price change no line, and are named as ignored."""
    asked = case.ask(data.draw(requests_of(case.offer, further=False)))
    names = data.draw(st.lists(st.sampled_from(case.offer.inert), min_size=1, max_size=3, unique=True))
    more = {name: data.draw(case.offer.values(name)) for name in names}
    again = case.ask(asked.request.with_fields(**more))
    expect(again.quote.lines == asked.quote.lines, f"{', '.join(names)} changed the price", asked, again)
    ignored = again.quote.ignored
    expect(set(ignored) == set(names), f"Named as ignored: {', '.join(ignored) or 'nothing'}", again)


def a_field_left_out_is_required_or_has_no_effect(case: Case, data: st.DataObject) -> None:
    """A field with one value may be left out and is meant; of several, the default is meant or one must be given."""
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
        told = error.details == {"_errors": [], name: {"_errors": ["Required"]}}
        expect(told, f"Without {name} it is refused like this: {error}\n  {left}")
    else:
        raise BrokenLawError(f"{name} is required, but it costs {quote.total} without\n  {left}")


def _choices(case: Case) -> tuple[str, ...]:
    """The fields that are required, or of which one value is meant when they are left out."""
    meant = (name for name in case.offer.active if case.offer.settled({}, name) is not None)
    return tuple(dict.fromkeys((*case.offer.required, *(name for name in meant if name != "duration"))))


def _stated(case: Case, request: Request, name: str) -> Request:
    value = case.offer.settled({}, name)
    return request.with_fields(**{name: int(value) if name.endswith("_factor") else value})


def _has_lengths(case: Case) -> bool:
    return (
        of_type("video")(case)
        and not case.offer.of_source
        and len(case.offer.stated_durations) > 1
        and all(isinstance(charge, (PerSecond, TokenFormula, MegapixelRate)) or not charge.fields & {"duration"}
                for charge in case.version.charges)
    )  # fmt: skip


_VIDEO = of_type("video")
LAWS = (
    Law(every_charge_has_one_line, _VIDEO),
    Law(a_line_counts_what_its_method_says, _VIDEO),
    Law(longer_is_never_cheaper, _has_lengths),
    Law(fields_without_effect_change_nothing, lambda case: _VIDEO(case) and bool(case.offer.inert)),
    Law(a_field_left_out_is_required_or_has_no_effect, lambda case: _VIDEO(case) and bool(_choices(case))),
)
