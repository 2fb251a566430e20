"""The two error objects of the API."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class ErrorTree(BaseModel):
    """What is wrong here, and below each invalid field the same again."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, "ErrorTree"]
    errors: list[str] = Field(alias="_errors")


class ErrorObject(BaseModel):
    """An error in a sentence."""

    model_config = ConfigDict(extra="forbid")
    error: str


class InvalidRequest(BaseModel):
    """A request that is wrong at some fields: a sentence, and the tree of every error."""

    model_config = ConfigDict(extra="forbid")
    error: str
    details: ErrorTree


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of an endpoint, by status."""
    described: dict[int, dict[str, Any]] = {
        400: {"model": InvalidRequest | ErrorObject, "description": "The request is wrong, or its model has no price"},
        401: {"model": ErrorObject, "description": "No API key, or one that is not known"},
        404: {"model": ErrorObject, "description": "Not found"},
        413: {"model": ErrorObject, "description": "The body is too long"},
        415: {"model": ErrorObject, "description": "The body is not application/json"},
    }
    return {status: described[status] for status in statuses}
