"""The JSON answers and bodies as typed models, by which OpenAPI describes them. Endpoints build most of the answers.

`PriceQuote`, `RatedQuote` and their lines only describe what the library writes itself: pydantic has no exact number.
So do the bodies, which the library reads and checks with all their digits. The values that a model accepts are not
listed here: they come from tables, which may change while the server runs. `GET /models` lists them for each model.
"""

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from ratecard.base.money import plain_text
from ratecard.line_items.quote import Estimate
from ratecard.methods.method import MOST_COUNTED
from ratecard.requests.body import RATED
from ratecard.requests.video_request import VideoRequest

DateTime = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class ErrorDetails(BaseModel):
    """The messages about a value, and the same again for each invalid field inside it."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, "ErrorDetails"]
    errors: list[str] = Field(alias="_errors")


class ModelNotice(BaseModel):
    """The announcements of a model: its retirement, or other prices."""

    model_config = ConfigDict(extra="forbid")
    date: str = Field(description="When it happens, ISO 8601")
    warning: str


def may_be_absent(schema: dict[str, Any]) -> None:
    """Change a schema so that fields with a default may be absent, and are never null."""
    for described in schema.get("properties", {}).values():
        if described.pop("default", "") is None:
            described |= next(iter(described.pop("anyOf", [])), {})


def either(one: str, other: str) -> Callable[[dict[str, Any]], None]:
    """Return a function that makes a schema require one of two keys. (`oneOf` would make two classes in clients.)"""

    def described(schema: dict[str, Any]) -> None:
        may_be_absent(schema)
        schema |= {"if": {"required": [one]}, "then": {"not": {"required": [other]}}, "else": {"required": [other]}}

    return described


class _InList(BaseModel):
    """An answer that may be in a list: there, fields have what a single answer has in headers."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=may_be_absent)
    deprecation: ModelNotice | None = Field(None, description="In a list: that the model will be retired")
    price_change: ModelNotice | None = Field(None, description="In a list: that the model will have other prices")


class ErrorObject(_InList):
    """An error in a sentence."""

    error: str


class InvalidRequest(_InList):
    """A request that is wrong at some fields: a sentence, and the tree of every error."""

    error: str
    details: ErrorDetails


class _Answer(BaseModel):
    """An answer has all of its fields, those with a default too."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


ExactNumber = Annotated[Decimal, WithJsonSchema({"type": "number"})]
ExactText = Annotated[str, Field(json_schema_extra={"pattern": r"^-?[0-9]+(\.[0-9]+)?$"})]
_Digest = Annotated[str, Field(description="Names the tables that the price was made with")]


class QuoteLine(BaseModel):
    """The amount charged at one rate; numbers are text, so that no reader makes floats of them."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=may_be_absent)
    sku: str = Field(description="The name of the charge in the ledger")
    quantity: ExactText = Field(description="The number of units")
    unit: str
    unit_rate: ExactText
    amount: ExactText
    source: str = Field(description="The file and line of the rate")
    list_rate: ExactText = Field("", description="The rate of the list, where a contract has another one")
    list_source: str = Field("", description="The file and line of the rate of the list")
    note: str = ""


class RatedQuote(_InList):
    """The price of one request with the lines that add up to it; amounts are text."""

    type: str
    model: str
    asked: str = Field("", description="The name that was asked for, where it is not the model's own")
    total: ExactText = Field(description="The price, in `currency`: the exact sum, for a video rounded once")
    exact: ExactText = Field(description="The exact sum of the lines")
    currency: str = Field(description="ISO 4217")
    lines: list[QuoteLine]
    effective: date | datetime = Field(description="The first day or instant of these prices")
    digest: _Digest
    contract: str = Field("", description="The contract of the account, whose prices these are")
    ignored: list[str] = Field(description="Fields without effect on the price")


class PriceQuote(BaseModel):
    """A price; with `explain` everything that a `RatedQuote` has too."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=may_be_absent)
    quote: Annotated[Decimal, WithJsonSchema({"type": "number", "minimum": 0})] = Field(
        description="The price with its exact digits: in USD, or in `currency` where the answer has one"
    )
    currency: str = Field("", description="ISO 4217; always there with `explain`, else where it is not USD")
    type: str = ""
    model: str = ""
    asked: str = Field("", description="The name that was asked for, where it is not the model's own")
    total: ExactText = ""
    exact: ExactText = ""
    lines: list[QuoteLine] = []
    effective: date | datetime = date.max
    digest: str = ""
    contract: str = Field("", description="The contract of the account, whose prices these are")
    ignored: list[str] = Field([], description="Fields without effect on the price")


class RatedList(BaseModel):
    """The quotes of several usages, in their order; where one has no price, its error."""

    model_config = ConfigDict(extra="forbid")
    object: Literal["list"]
    data: list[RatedQuote | InvalidRequest | ErrorObject]


class EstimatedCost(_Answer):
    """The least and the most that a request can cost before it runs; amounts are text."""

    type: str
    model: str
    lowest: ExactText
    highest: ExactText
    currency: str = Field(description="ISO 4217")
    digest: _Digest
    ignored: list[str] = Field(description="Fields without effect on the price")

    @classmethod
    def of_text(cls, model: str, estimate: Estimate, digest: str) -> "EstimatedCost":
        """Return the estimate of a text request, as the library made it."""
        bounds = {"lowest": plain_text(estimate.lowest), "highest": plain_text(estimate.highest)}
        further = {"currency": estimate.currency, "digest": digest, "ignored": list(estimate.ignored)}
        return cls(type="text", model=model, **bounds, **further)


class ListedRate(_Answer):
    """A rate, and the conditions under which it applies: the allowed values of each; one left out has no effect."""

    model_config = ConfigDict(extra="allow")
    rate: ExactText = Field(description="The price of one unit, any markup included")


class ListedCharge(_Answer):
    """A priced part: method, unit, rates, and every option of the method under the name that it has in the tables."""

    model_config = ConfigDict(extra="allow")
    charge: str
    method: str = Field(description="How the quantity comes about: see the page on computing prices")
    unit: str
    counts: str
    per: int = Field(description="How many of what it counts one unit holds")
    rates: list[ListedRate]


class ListedPricing(_Answer):
    """The prices of one version, with its rounding, and for text its `surcharges` and `context_tokens`."""

    model_config = ConfigDict(extra="allow")
    currency: str = Field(description="Of every rate and quote of this model, by its ISO 4217 code")
    effective: date | datetime = Field(description="The first day of these prices, from 00:00 UTC, or first instant")
    announced: date | None
    charges: list[ListedCharge]


Constraints = Annotated[dict[str, Any], Field(description="The values of each request field, by the field's name")]


class ListedVersion(_Answer):
    """The values that a model accepts, and their prices."""

    constraints: Constraints
    pricing: ListedPricing


class ListedDeprecation(_Answer):
    """The day on which a model is retired, and the model that replaces it."""

    date: date
    warning: str
    successor: str | None


class ListedModel(_Answer):
    """A model that has a price. Clients of the OpenAI API read `id`, `object`, `created` and `owned_by`."""

    model_config = ConfigDict(extra="allow")
    id: str
    object: Literal["model"] = "model"
    created: int = Field(description="When its first prices took effect, seconds since 1970")
    owned_by: Literal["service"] = "service"
    type: str
    name: str
    constraints: Constraints
    pricing: ListedPricing
    deprecation: ListedDeprecation | None
    upcoming: list[ListedVersion] = Field(description="Announced versions that take effect later, the next one first")


class ModelList(_Answer):
    """Every model that has a price."""

    data: list[ListedModel]
    object: Literal["list"] = "list"


class LastRefusal(_Answer):
    """The tables that were refused last; `standing` is true while the folder still holds them."""

    at: DateTime
    standing: bool
    count: int
    faults: list[str]


class Probed(_Answer):
    """The answer to a probe."""

    status: Literal["ok"] = "ok"


class Health(_Answer):
    """The tables that are served, and those that were refused last."""

    status: Literal["ok"] = "ok"
    digest: str = Field(description="The tables that are served")
    day: date
    changes_at: str | None = Field(description="The next instant at which some price changes")
    last_refusal: LastRefusal | None
    versions: dict[str, date | datetime] = Field(description="The effective date of each model's version")


# The most usages of one `POST /rate`.
MOST_USAGES = 1000


class DescribedBody(BaseModel):
    """A body; further keys of a quote's are listed in its answer as `ignored`."""

    model_config = ConfigDict(json_schema_extra=may_be_absent)


class VideoQuoteRequest(VideoRequest):
    """A video to price. Which fields matter, and their values, vary by model: see `constraints` of `GET /models`."""

    # FastAPI describes this model at once, so its schema cannot be built later.
    model_config = ConfigDict(extra="ignore", json_schema_extra=may_be_absent, defer_build=False)


_Digits = Field(max_length=12, pattern="^0*[1-9][0-9]*$")


class AudioQuoteRequest(DescribedBody):
    """Speech, transcription or music to price: a count of seconds or of characters, as its model is billed."""

    model: str = Field(description="The model to quote", examples=["elevenlabs-music"])
    duration_seconds: Annotated[int, Field(ge=1, le=MOST_COUNTED)] | Annotated[str, _Digits] = Field(
        1, description="Whole seconds, as a number or as its digits"
    )
    character_count: int = Field(0, ge=0, le=MOST_COUNTED)


class MeteredUsage(DescribedBody):
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


class UsageList(DescribedBody):
    """Several usages, to be answered in their order."""

    model_config = ConfigDict(extra="forbid")
    usages: list[MeteredUsage] = Field(max_length=MOST_USAGES)


class TextEstimateRequest(DescribedBody):
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
