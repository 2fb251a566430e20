"""Models that are not video and their versions; their charges are of the classes that `methods` registers."""

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Union, get_args

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_plain_validator_function

from ratecard.base.money import LINE_PLACES
from ratecard.tables.conditions import named_conditions
from ratecard.tables.limits import TierName
from ratecard.tables.meters import WithoutRate
from ratecard.tables.rate import MINIMUM_KEY, Charge, Conditioned, RateFactor
from ratecard.tables.scalars import Integer, Positive, Text
from ratecard.tables.version import Example, Model, Version

# The keys of a rate of tokens that say where its tier begins.
BEGINS = CONTEXT, ABOVE, FROM = ("context", "above", "from")


class Tokens(Conditioned):
    """Tokens by bucket (see meters.yaml), by the length of the whole prompt, and by conditions.

    A rate names its buckets. It may name conditions, and where its tier begins: `above: 200000`, or `from: 200000`
    where that number of tokens counts already. `context: extended` is the tier above `context_token_threshold`. A
    bucket takes its own rate of the chosen tier, else that of the nearest lower tier. For a bucket without either,
    `without_rate` says, here or in meters.yaml, whether it takes its parent's rate of the chosen tier or is refused.
    """

    ATTRIBUTES: ClassVar = (*BEGINS, "tokens")
    METERS: ClassVar = ("token",)
    method: Literal["tokens"]
    context_token_threshold: Integer | None = None
    without_rate: dict[str, WithoutRate] = Field(default_factory=dict)
    missing_cache_rate: Literal["input"] | None = None


class MeteredCharges:
    """The classes of charges by their methods, as the package `methods` registers them; a table names one of them."""

    def __init__(self) -> None:
        self.by_method: dict[str, type[Charge]] = {}

    def add(self, charge: type[Charge]) -> str:
        """Let tables have charges of a class; return the method that it states."""
        (method,) = get_args(charge.model_fields["method"].annotation)
        self.by_method[method] = charge
        self.__dict__.pop("_any", None)
        return str(method)

    def remove(self, method: str) -> None:
        """Let no table have charges of a method any more."""
        del self.by_method[method]
        self.__dict__.pop("_any", None)

    @cached_property
    def _any(self) -> TypeAdapter[Charge]:
        kinds: Any = Union[tuple(self.by_method.values())]  # noqa: UP007 (made of a list)
        return TypeAdapter(Annotated[kinds, Field(discriminator="method")])

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(lambda given: self._any.validate_python(given))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self._any.core_schema)


METERED_CHARGES = MeteredCharges()
MeteredCharge = Annotated[Charge, METERED_CHARGES]


class UsageExample(Example):
    """A usage without its model and type, and its total."""

    usage: dict[str, Any]


class MeteredVersion(Version):
    """A version of a model that is not video.

    Its total is the sum of its lines and not rounded. The amount of a line is exact; if no decimal holds it, it is
    rounded half-up to `line_places`. A request costs at least the `minimum`, whatever it counts; what searches cost
    at the rates of another model comes on top.
    """

    charges: tuple[MeteredCharge, ...]
    factors: tuple[RateFactor, ...] = ()
    minimum: Positive | None = None
    minimum_place: str = Field(default="", alias=MINIMUM_KEY, exclude=True)
    rounding: Literal["none"]
    line_places: Integer | None = None
    examples: tuple[UsageExample, ...]

    @property
    def places_of_lines(self) -> int:
        """The decimal places of an amount that no decimal holds."""
        return LINE_PLACES if self.line_places is None else self.line_places

    @property
    def conditions(self) -> dict[str, set[str]]:
        """The conditions that rates and factors name, and of each the values."""
        return named_conditions(self.charges, self.factors)

    @property
    def tokens(self) -> Tokens | None:
        """The charge for tokens, if there is one."""
        return next((charge for charge in self.charges if isinstance(charge, Tokens)), None)

    def values_of(self, attribute: str) -> tuple[str, ...]:
        """Every value of an attribute that a rate names, in the order of the table."""
        return tuple(dict.fromkeys(value for charge in self.charges for value in charge.values_of(attribute)))


class TextVersion(MeteredVersion):
    """A version of a text model; `surcharges` names the surcharge model of each search, or whatever it supports."""

    context_tokens: Integer | None = None
    surcharges: dict[str, Text] = Field(default_factory=dict)


class TextModel(Model[TextVersion]):
    """A language model; `tier` is that of its request limits, if it is published."""

    type: Literal["text"]
    tier: TierName | None = None


class MeteredModel(Model[MeteredVersion]):
    """A model whose requests are a count of something."""

    type: Literal["embedding", "image", "edit", "upscale", "speech", "transcription", "music", "surcharge", "rpc"]
