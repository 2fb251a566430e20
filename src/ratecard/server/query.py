"""Query parameters of the quotes."""

from starlette.requests import Request

from ratecard.requests.fields import Choice
from ratecard.words.errors import QuoteError

_BOOLEAN = Choice(("true", "false"))


def explain_asked(request: Request) -> bool:
    """Whether `?explain=true` is asked for. Raises `QuoteError` for any other word than true or false."""
    asked = False
    for given in request.query_params.getlist("explain"):
        if _BOOLEAN.accept(given) is None:
            raise QuoteError("Invalid query parameters", [(("explain",), _BOOLEAN.messages(given)[0])])
        asked = given == "true"
    return asked
