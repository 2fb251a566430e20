"""Laws of requests that must be refused."""

from hypothesis import strategies as st

from ratecard.testing.case import BrokenLawError, Case
from ratecard.testing.invalid_video_requests import invalid_video_requests
from ratecard.testing.laws.law import Law, of_type
from ratecard.words.errors import QuoteError


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
        told = f"The refusal names {', '.join(named) or 'no field'}"
    else:
        told = f"It costs {quote.total}"
    raise BrokenLawError(f"{told}, but wrong in this body: {', '.join(fields)}\n  {body!r}")


LAWS = (
    Law(a_wrong_request_is_refused_field_by_field, lambda case: of_type("video")(case) and not case.offer.needs_source),
)
