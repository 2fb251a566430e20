"""Read a request body, a mapping or JSON as bytes or text, into a dict; numbers keep their digits."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict

from ratecard.base.errors import QuoteError
from ratecard.base.json_text import EMPTY, JsonError, read_json
from ratecard.base.messages import REQUIRED, wrong_type
from ratecard.requests.fields import Choice
from ratecard.tables.card import MODEL_CLASSES

Body = Mapping[str, Any] | bytes | bytearray | str

INVALID = "Invalid request body"
# The most bytes of a body that a server reads, unless its settings say otherwise.
MOST_BODY_BYTES = 2**20
# The most problems that are listed for a body, because each may need a search for a suggestion.
MOST_PROBLEMS = 50
METERED_TYPES = tuple(type_ for type_ in MODEL_CLASSES if type_ not in ("video", "surcharge"))
TYPES = Choice((*METERED_TYPES, "video"))
# The types that `rate` charges: requests, and searches by themselves.
RATED = Choice((*TYPES.words, "surcharge"))


def read_body(body: Any) -> dict[str, Any]:
    """Read the fields of a body. Raises `QuoteError` with an error tree for anything that is not an object.

    >>> read_body(b'{"reference_video_total_duration": 4.10}')
    {'reference_video_total_duration': Decimal('4.10')}
    """
    if body.__class__ is bytes or isinstance(body, (str, bytes, bytearray, memoryview)):
        try:
            body = read_json(body)
        except JsonError as error:
            _refuse(REQUIRED if str(error) == EMPTY else f"The body {error}")
    if body.__class__ is dict:
        return body
    if not isinstance(body, Mapping):
        _refuse(wrong_type("object", body))
    return dict(body)


class TypedFields(BaseModel):
    """Fields of a request as a typed model: immutable; an unknown one is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TypedUsage(TypedFields):
    """Base class of usages. `counts` are those of meters, for models that charge them; nothing reads `metadata`.

    `provider` is for models whose table names theirs.
    """

    counts: dict[str, int | Decimal] | None = None
    metadata: dict[str, Any] | None = None
    provider: str | None = None


def read_usage(usage: TypedUsage | Body) -> Mapping[str, Any]:
    """Read a usage as a mapping. Raises `QuoteError` if it is not an object."""
    if isinstance(usage, TypedUsage):
        stated, further = usage.model_fields_set | {"type"}, usage.__pydantic_extra__ or {}
        named = {name: value for name, value in usage.__dict__.items() if name in stated and value is not None}
        return named | further
    return read_body(usage)


def name_of_model(fields: Mapping[str, Any]) -> str:
    """Return the model that a request names. Raises `QuoteError` if it names none, or not by text."""
    name = fields.get("model")
    if isinstance(name, str):
        return name
    message = wrong_type("string", name) if "model" in fields else REQUIRED
    raise QuoteError(INVALID, [(("model",), message)])


def _refuse(message: str) -> NoReturn:
    raise QuoteError(INVALID, [((), message)])


def mapping_of(given: object) -> Mapping[Any, Any] | None:
    """View an object as a mapping: a mapping itself, a pydantic model, or an object of a client library.

    Return None for any other value. Fields of a pydantic model that are None are left out.
    """
    if isinstance(given, Mapping):
        return given
    if given is None or isinstance(given, (str, bytes, int, float, list, tuple, set, type)):
        return None
    if isinstance(given, BaseModel):
        fields = {**given.__dict__, **(given.__pydantic_extra__ or {})}
        return {name: value for name, value in fields.items() if value is not None}
    try:
        dump = getattr(given, "model_dump", None)
        attributes = dump() if callable(dump) else getattr(given, "__dict__", None)
    except Exception:  # noqa: BLE001 - code of a client, which may raise anything
        return None
    return attributes if isinstance(attributes, Mapping) else None
