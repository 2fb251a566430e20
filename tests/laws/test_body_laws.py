"""Laws of bodies: how a request is written, and what the host does with decimals, changes no quote."""

import json
from collections import UserDict
from dataclasses import replace
from decimal import ROUND_DOWN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from video_requests import BOOKS, BROKEN, CELLS, REFERENCE, Request, any_request

from nightly import examples
from ratecard import Quote, QuoteError
from ratecard.base.messages import field_name

MANY = settings(
    max_examples=examples(80, nightly=250), deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
KEYS = st.text(max_size=8).filter(lambda key: key not in BROKEN)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


def json_of(body: Any) -> str:
    """JSON with every decimal written out."""
    marks = {name: f"@{name}@" for name, value in body.items() if isinstance(value, Decimal)}
    text = json.dumps({**body, **marks})
    for name, mark in marks.items():
        text = text.replace(f'"{mark}"', format(body[name], "f"))
    return text


def asked(request: Request, body: Any) -> Quote:
    return BOOKS[request.cell.day].quote_video(body, source=request.source)


@MANY
@given(any_request(), st.dictionaries(KEYS, ANYTHING, max_size=3), st.randoms(use_true_random=False))
def test_permuted_and_extra_keys_change_nothing(request: Request, extra: dict[str, Any], dice: Any) -> None:
    items = [*request.body.items(), *extra.items()]
    dice.shuffle(items)
    found, expected = asked(request, dict(items)), request.quote()
    known = expected.ignored
    assert found == replace(expected, ignored=found.ignored)
    assert found.ignored[: len(known)] == known
    assert sorted(found.ignored[len(known) :]) == sorted(map(field_name, extra))


@MANY
@given(any_request())
def test_bytes_text_and_mappings_of_one_body_give_one_quote(request: Request) -> None:
    text = json_of(request.body)
    for body in (text, text.encode(), f" {text}\n", bytearray(text.encode()), UserDict(request.body)):
        assert asked(request, body) == request.quote()


@MANY
@given(any_request([cell for cell in CELLS if cell.version.accepts.reference_video_total_duration]), st.data())
def test_seconds_as_a_float_are_those_of_the_decimal_that_it_prints_as(request: Request, data: st.DataObject) -> None:
    limits = request.cell.version.accepts.reference_video_total_duration
    assert limits
    seconds = data.draw(st.floats(limits.source_min, min(limits.max, limits.source_max)))
    as_float, as_decimal = request.quote(**{REFERENCE: seconds}), request.quote(**{REFERENCE: Decimal(repr(seconds))})
    assert as_float == as_decimal
    if seconds == int(seconds):
        assert as_float == request.quote(**{REFERENCE: int(seconds)})


def hostile() -> Context:
    context = Context(prec=3, rounding=ROUND_DOWN, Emin=-5, Emax=5)
    for signal in context.traps:
        context.traps[signal] = True
    return context


@MANY
@given(any_request(), st.sampled_from(sorted(BROKEN)), st.data())
def test_the_decimal_context_of_the_host_changes_nothing(request: Request, field: str, data: st.DataObject) -> None:
    text, calm = json_of(request.body), request.quote()
    broken = {**request.body, field: data.draw(BROKEN[field])}
    calm_refusal = refused(request, broken)
    with localcontext(hostile()):
        quotes = [asked(request, dict(request.body)), asked(request, text)]
        records = [(quote.to_json(), quote.explain()) for quote in quotes]
        refusal = refused(request, broken)
    assert quotes == [calm, calm]
    assert records == [(calm.to_json(), calm.explain())] * 2
    assert refusal == calm_refusal


@MANY
@given(any_request(), st.sampled_from(sorted(BROKEN)), st.data())
def test_one_broken_field_is_named_and_no_other(request: Request, field: str, data: st.DataObject) -> None:
    details = refused(request, {**request.body, field: data.draw(BROKEN[field])})["details"]
    assert details == {"_errors": [], field: {"_errors": details[field]["_errors"]}}
    assert details[field]["_errors"]


def refused(request: Request, body: Any) -> dict[str, Any]:
    try:
        asked(request, body)
    except QuoteError as error:
        return error.body()
    raise AssertionError(f"{body} was quoted")


@MANY
@given(any_request(), st.dictionaries(st.sampled_from(sorted(BROKEN)) | KEYS, ANYTHING, max_size=6))
def test_any_json_at_all_is_quoted_or_refused(request: Request, changed: dict[str, Any]) -> None:
    body = {**request.body, **changed}
    for form in (body, json_of(body), json.dumps(changed).encode()):
        try:
            assert Fraction(asked(request, form).total) >= 0
        except QuoteError as error:
            assert json.loads(error.to_json()) == error.body()
