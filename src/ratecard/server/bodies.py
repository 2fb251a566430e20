"""The JSON bodies as typed models, for OpenAPI only: the library itself reads and checks bodies, with all their digits.

The values that a model accepts are not listed here: they come from tables, which may change while the server runs.
`GET /models` lists them for each model.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from ratecard.methods.method import MOST_COUNTED
from ratecard.requests.body import RATED
from ratecard.requests.video_request import VideoRequest
from ratecard.server.answers import DateTime, ExactNumber, either, may_be_absent

# The most usages of one `POST /rate`.
MOST_USAGES = 1000
# Of a charge: the longest name, the most digits of an amount on either side of the point, the most milliseconds.
LONGEST_NAME, MOST_DIGITS, MOST_MILLISECONDS = 200, 100, 2**53
AMOUNT = rf"^[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{1,{MOST_DIGITS}}})?$"


class _Body(BaseModel):
    """A body; further keys of a quote's are listed in its answer as `ignored`."""

    model_config = ConfigDict(json_schema_extra=may_be_absent)


class VideoQuoteRequest(VideoRequest):
    """A video to price. Which fields matter, and their values, vary by model: see `constraints` of `GET /models`."""

    # FastAPI describes this model at once, so its schema cannot be built later.
    model_config = ConfigDict(extra="ignore", json_schema_extra=may_be_absent, defer_build=False)


_Digits = Field(max_length=12, pattern="^0*[1-9][0-9]*$")


class AudioQuoteRequest(_Body):
    """Speech, transcription or music to price: a count of seconds or of characters, as its model is billed."""

    model: str = Field(description="The model to quote", examples=["elevenlabs-music"])
    duration_seconds: Annotated[int, Field(ge=1, le=MOST_COUNTED)] | Annotated[str, _Digits] = Field(
        1, description="Whole seconds, as a number or as its digits"
    )
    character_count: int = Field(0, ge=0, le=MOST_COUNTED)


class MeteredUsage(_Body):
    """A metered request of any type, with the fields of its type, and every further key that its tables declare."""

    model_config = ConfigDict(extra="allow")
    type: Annotated[str, Field(json_schema_extra={"enum": list(RATED.words)})] = Field(
        "", description="The type of the model, where it is left out"
    )
    model: str = Field("", description="The model; of RPC there is none")
    usage: dict[str, Any] = Field({}, description="Text and embeddings: the provider's usage object, as it is")
    counts: dict[str, ExactNumber] = Field(
        {}, description="What is counted by meter, where the model has charges of such", examples=[{"page": 12}]
    )
    metadata: dict[str, Any] = Field({}, description="The caller's own; nothing reads it")


class UsageList(_Body):
    """Several usages, to be answered in their order."""

    model_config = ConfigDict(extra="forbid")
    usages: list[MeteredUsage] = Field(max_length=MOST_USAGES)


class TextEstimateRequest(_Body):
    """A text request before it runs; the last three are the most of each search, where the limits do not say it."""

    model_config = ConfigDict(extra="forbid")
    type: Annotated[str, Field(json_schema_extra={"enum": ["text"]})] = ""
    model: str = Field(description="The model, with parameters in its name if it has any", examples=["grok-4-3"])
    prompt_tokens: int = Field(ge=0)
    max_completion_tokens: int = Field(ge=0)
    service_parameters: dict[str, Any] = Field({}, description="Those of the request; three of them switch searches")
    web_search_requests: int = Field(0, ge=0)
    scraped_urls: int = Field(0, ge=0)
    x_search_results: int = Field(0, ge=0)
    counts: dict[str, ExactNumber] = Field({}, description="What the request counts by meter")
    metadata: dict[str, Any] = Field({}, description="The caller's own; nothing reads it")


_Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
_NUMBER: Any = {"anyOf": [{"type": "string", "pattern": AMOUNT}, {"type": "number", "minimum": 0}]}
_Money = Annotated[str, WithJsonSchema(_NUMBER)]


class ChargeRequest(_Body):
    """A usage to rate and to charge, once."""

    model_config = ConfigDict(extra="forbid")
    usage: MeteredUsage = Field(description="What the request used, as for `POST /rate`")
    timestamp: DateTime = Field(description="When it ran, with a time zone, not ahead of the clock: its prices count")
    request_id: _Name = Field(description="Its own name: the same again is charged once")
    execution_ms: int = Field(0, ge=0, le=MOST_MILLISECONDS)
    currency: str = Field("", description="A balance that pays all of it")
    paid: dict[str, _Money] = Field(
        {}, description="What each of several balances pays, in its own unit; it must come to the price"
    )


class RefundRequest(_Body):
    """The refund of a charge: an `amount`, or all that was charged above the `corrected` price."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=either("amount", "corrected"))
    id: _Name = Field(description="The refund's own name: the same again pays back once")
    sku: _Name = Field(description="The SKU of the charge that is paid back")
    timestamp: DateTime = Field(description="When it is paid back, with a time zone, not before the charge")
    amount: _Money = Field("", description="What goes back, above 0, in the currency of the price")
    corrected: _Money = Field("", description="What the SKU should have cost: the rest goes back")
