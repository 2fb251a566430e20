"""Models other than video, and their versions; the package `methods` registers the classes of their charges."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ratecard.base.money import LINE_PLACES
from ratecard.tables.limits import TierName
from ratecard.tables.meters import Meters, OfCharge
from ratecard.tables.rate import ChargeClasses, Conditioned, Rate, RateFactor
from ratecard.tables.scalars import MINIMUM_KEY, Id, Integer, Positive, Text, Words
from ratecard.tables.version import Example, Model, Version

# The keys of a rate of tokens that say where its tier begins.
BEGINS = CONTEXT, ABOVE, FROM = ("context", "above", "from")


class Tokens(Conditioned):
    """Tokens by bucket, as far as the choice of a rate must know them; `TokensByBucket` is the whole method."""

    ATTRIBUTES: ClassVar = (*BEGINS, "tokens")
    METERS: ClassVar = ("token",)
    method: Literal["tokens"]
    context_token_threshold: Integer | None = None
    without_rate: dict[str, OfCharge] = Field(default_factory=dict)
    missing_cache_rate: Literal["input"] | None = None

    def implied(self, rate: Rate) -> dict[str, Words]:
        """Return the base context, unless the rate has the number of tokens at which its tier begins."""
        return {CONTEXT: ("base",)} if rate.attributes.keys().isdisjoint((ABOVE, FROM)) else {}


METERED_CHARGES = ChargeClasses()


class UsageExample(Example):
    """A usage without its model and type, and its total."""

    usage: dict[str, Any]


class MeteredVersion(Version):
    """A version of a model that is not video.

    Its total is the sum of its lines and not rounded. The amount of a line is exact; if no decimal holds it, it is
    rounded half-up to `line_places`. A request costs at least the `minimum`, whatever it counts; what searches cost
    at the rates of another model comes on top. `defaults` are the words of choices that a request may leave out.
    `not_sold` are combinations of conditions that are refused, though rates and factors hold for each:
    `{speed: fast, service_tier: batch}`.
    """

    defaults: dict[str, Text] | None = None
    charges: tuple[Annotated[Conditioned, METERED_CHARGES], ...]
    factors: tuple[RateFactor, ...] = ()
    not_sold: tuple[dict[str, Id], ...] | None = None
    minimum: Positive | None = None
    minimum_place: str = Field(default="", alias=MINIMUM_KEY, exclude=True)
    rounding: Literal["none"]
    line_places: Integer | None = None
    examples: tuple[UsageExample, ...]

    @property
    def default_values(self) -> dict[str, str]:
        """Return the defaults as a request would state them."""
        return self.defaults or {}

    @property
    def places_of_lines(self) -> int:
        """Return the decimal places of an amount that no decimal can hold exactly."""
        return LINE_PLACES if self.line_places is None else self.line_places

    @property
    def multipliers(self) -> tuple[RateFactor, ...]:
        """Return the factors on the rates of all its charges."""
        return self.factors

    def refuses(self, stated: Mapping[str, str], meters: Meters) -> Mapping[str, str] | None:
        """Return the first combination that is not sold and that a request states completely; None without one."""
        defaults = {name: condition.default for name, condition in meters.condition.items()}
        full = {**defaults, **stated}.items()
        return next((unsold for unsold in self.not_sold or () if unsold.items() <= full), None)

    @property
    def tokens(self) -> Tokens | None:
        """Return the charge for tokens, if there is one."""
        return next((charge for charge in self.charges if isinstance(charge, Tokens)), None)


class TextVersion(MeteredVersion):
    """A version of a text model; `surcharges` names the surcharge model of each search, or whatever it supports."""

    context_tokens: Integer | None = None
    surcharges: dict[str, Id] = Field(default_factory=dict)

    @property
    def searches(self) -> dict[str, str]:
        """Return the surcharge models of its `surcharges`."""
        return self.surcharges


class TextModel(Model[TextVersion]):
    """A language model; `tier` is that of its request limits, if it is published."""

    type: Literal["text"]
    tier: TierName | None = None


class MeteredModel(Model[MeteredVersion]):
    """A model whose requests are a count of something."""

    type: Literal["embedding", "image", "edit", "upscale", "speech", "transcription", "music", "surcharge", "rpc"]
