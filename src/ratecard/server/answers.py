"""The JSON answers as typed models: the endpoints build them, and OpenAPI describes them."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class _ErrorTree(BaseModel):
    """What is wrong here, and below each invalid field the same again."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, "_ErrorTree"]
    errors: list[str] = Field(alias="_errors")


class ErrorObject(BaseModel):
    """An error in a sentence."""

    model_config = ConfigDict(extra="forbid")
    error: str


class InvalidRequest(BaseModel):
    """A request that is wrong at some fields: a sentence, and the tree of every error."""

    model_config = ConfigDict(extra="forbid")
    error: str
    details: _ErrorTree


class _Answer(BaseModel):
    """An answer has all of its fields, those with a default too."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class ListedCharge(_Answer):
    """What is charged: its unit, how many of what one unit holds, and the rates, exact and so as text."""

    charge: str
    unit: str
    counts: str
    per: int = Field(description="How many of what it counts one unit holds")
    rates: list[Annotated[dict[str, Any], Field(json_schema_extra={"required": ["rate"]})]]


class ListedPricing(_Answer):
    """The charges of the version in effect."""

    currency: str = Field(description="Of every rate and quote of this model, by its ISO 4217 code")
    effective: date
    charges: list[ListedCharge]


class ListedDeprecation(_Answer):
    """When a model is retired, and what replaces it."""

    date: date
    warning: str
    successor: str | None


class ListedModel(_Answer):
    """A model that has a price now. Clients of the OpenAI API read `id`, `object`, `created` and `owned_by`."""

    id: str
    object: Literal["model"] = "model"
    created: int = Field(description="When its first prices took effect, seconds since 1970")
    owned_by: Literal["service"] = "service"
    type: str
    name: str
    constraints: dict[str, Any] = Field(description="The values of each request field, by the field's name")
    pricing: ListedPricing
    deprecation: ListedDeprecation | None


class ModelList(_Answer):
    """Every model that has a price now."""

    data: list[ListedModel]
    object: Literal["list"] = "list"


class LastRefusal(_Answer):
    """The tables that were refused last; `standing` while the folder still holds them."""

    at: _Instant
    standing: bool
    count: int
    faults: list[str]


class Probed(_Answer):
    """What probes are answered."""

    status: Literal["ok"] = "ok"


class Health(_Answer):
    """Which tables are served, and which were refused."""

    status: Literal["ok"] = "ok"
    digest: str = Field(description="The tables that are served")
    day: date
    changes_at: str | None = Field(description="The next instant at which some price changes")
    last_refusal: LastRefusal | None
    versions: dict[str, date] = Field(description="The effective date of each model's version")
