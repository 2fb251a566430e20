"""Images: made, edited (with further input images), and enlarged."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from random import Random
from typing import Any, ClassVar, Literal

from ratecard.base.messages import Finding
from ratecard.line_items.compiling import slug
from ratecard.line_items.quote import LineItem
from ratecard.methods.metered import Metered
from ratecard.methods.method import MOST_COUNTED, Method, Samples, UsageReading, least_charged, method_of
from ratecard.requests.fields import Choice, Field, TextField, WholeNumber
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.meters import Meters
from ratecard.tables.rate import Charge, Conditioned, CountedCharge, Rate
from ratecard.tables.scalars import Quantity

# The quality whose rate applies to a resolution without a requested quality.
UNSTATED = "unstated"
_COUNT = WholeNumber(1, MOST_COUNTED)
_FACTORS = ("2x", "4x")


class PerImage(CountedCharge, Method):
    """Images made or edited. `quality: unstated` is the price of a resolution that is requested without a quality."""

    ATTRIBUTES: ClassVar = ("resolution", "quality")
    METERS: ClassVar = ("image",)
    TYPES: ClassVar = ("image", "edit", "upscale")
    KINDS: ClassVar = ("image", "upscale")
    CHOICES: ClassVar = ("resolution", "quality")
    DEFAULTED: ClassVar = CHOICES
    method: Literal["per-image"]

    def words_of(self, name: str) -> tuple[str, ...]:
        """Return the words of the rates, except the quality `unstated`."""
        return tuple(word for word in self.values_of(name) if word != UNSTATED)

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Return the reading of images, or of the image of an upscaler that keeps its size; None otherwise."""
        type_, model = metered.model.type, metered.model.model
        if type_ not in (kind, "upscale"):
            return None
        count = metered.counter(self)
        if kind == "upscale":
            rate, sku = self.rates[0], f"{model}-{self.unit}-unit"
            has_factors = any("factor" in charge.ATTRIBUTES for charge in metered.version.charges)
            return (
                UsageReading(lambda shape: [] if "factor" in shape else [count(1, rate, sku)]) if has_factors else None
            )
        choices = {name: self.values_of(name) for name in self.CHOICES}
        rates = {key: rate for rate in self.rates for key in _keys(rate, choices)}
        choices = {name: self.words_of(name) for name in self.CHOICES}
        # A choice that affects the price has a default in the table or is required; a single word is not a choice.
        stated = metered.version.default_values
        defaults = {name: stated.get(name, words[0]) for name, words in choices.items()
                    if words and (name in stated or len(words) == 1)}  # fmt: skip
        fields: dict[str, Field] = {"n": _COUNT}
        fields |= {name: Choice(values, fold=True) if values else TextField() for name, values in choices.items()}
        inert = [name for name, values in choices.items() if not values]
        if type_ == "edit":
            fields["input_images"] = _COUNT
            inert.append("input_images")
        required, unstated = self.required(metered.version), UNSTATED in self.values_of("quality")

        def chosen(named: Mapping[str, str]) -> tuple[Rate, str, str]:
            """Return the rate of an image, its SKU, and the defaults that decided."""
            attributes = {**defaults, **named}
            if unstated and "quality" not in named and ("resolution" in named or "quality" not in defaults):
                attributes["quality"] = UNSTATED
            words = [word for name in self.CHOICES if (word := attributes.get(name, UNSTATED)) != UNSTATED]
            fixed = bool(words) or type_ == "edit"
            sku = "-".join((model, "fixed", *words, "1img")) if fixed else f"{model}-{self.unit}-unit"
            decided = [f"{name} {word} by default" for name, word in attributes.items()
                       if name not in named and word != UNSTATED and len(choices[name]) > 1]  # fmt: skip
            return rates[attributes.get("resolution"), attributes.get("quality")], sku, "; ".join(decided)

        names = [name for name, words in choices.items() if words]
        named = product(*((*choices[name], *([] if name in required else [None])) for name in names))
        images = {key: chosen({name: word for name, word in zip(names, key, strict=True) if word}) for key in named}

        def lines(shape: Mapping[str, Any]) -> list[LineItem]:
            rate, sku, note = images[tuple(map(shape.get, names))]
            return [count(shape["n"], rate, sku, 1, note)]

        return UsageReading(lines, fields, {"n": 1}, tuple(required), inert)

    def required(self, version: MeteredVersion) -> dict[str, str]:
        """Return the fields that a request must state: neither a default nor a rate of `unstated` decides them."""
        # The words come from the version, because this charge may have only the rates of one condition.
        values = {name: version.values_of(name) for name in self.CHOICES if name not in version.default_values}
        return {name: words[0] for name, words in values.items() if len(words) > 1 and UNSTATED not in words}

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield an image at every rate."""
        if type_ == "upscale":
            return ({} for _ in self.rates)
        return (self.required(version) | _stated(values) for values in _named(self, self.CHOICES))

    def edges(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield every choice alone and together, because the default of a choice that is left out may change later."""
        required = self.required(version) if type_ != "upscale" else {}
        stated = [(*([] if name in required else [None]), *version.values_of(name)) for name in self.CHOICES]
        return (_stated(dict(zip(self.CHOICES, values, strict=True))) for values in product(*stated))

    def typical(self, usages: Iterable[dict[str, Any]], chance: Random) -> Samples:
        """Yield usages of one image, and of several."""
        for usage in usages:
            inputs = {"input_images": chance.randint(1, 4)} if usage["type"] == "edit" else {}
            counts = (1, chance.randint(2, 4)) if usage["type"] in self.TYPES[:2] else ()
            yield from ({**usage, "n": count, **inputs} for count in counts)
            yield from () if counts else (usage,)


class PerInputImage(CountedCharge, Method):
    """Input images of an edit, for each image that it makes."""

    METERS: ClassVar = ("input image",)
    TYPES: ClassVar = ("edit",)
    method: Literal["per-input-image"]
    included: Quantity

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Read the input images of each of `n` edits, beyond those that are included."""
        count, sku = metered.counter(self), f"{metered.model.model}-additional-input-image-unit"

        def lines(shape: Mapping[str, Any]) -> list[LineItem]:
            line = count(shape["input_images"], self.rates[0], sku, shape["n"])
            return [line] if line.count else []

        return UsageReading(lines, {"n": _COUNT, "input_images": _COUNT}, {"n": 1, "input_images": 1})

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield one further image."""
        choices = [choice for charge in version.charges for choice in method_of(charge).required(version).items()]
        yield {**dict(choices), "input_images": least_charged(self, 1)}


class PerUpscale(Conditioned, Method):
    """Images enlarged, by factor."""

    ATTRIBUTES: ClassVar = ("factor",)
    METERS: ClassVar = ("image",)
    TYPES: ClassVar = ("image", "upscale")
    KINDS: ClassVar = ("upscale",)
    CHOICES: ClassVar = ("factor",)
    method: Literal["per-upscale"]

    def check(self, version: MeteredVersion, type_: str, meters: Meters) -> Iterator[Finding]:
        """Check that each rate names known factors."""
        yield from super().check(version, type_, meters)
        for index, rate in enumerate(self.rates):
            if "factor" not in rate.attributes:
                yield ("rates", index), f"factor is missing. Write one of: {', '.join(_FACTORS)}"
            for factor in rate.attributes.get("factor", ()):
                if factor not in _FACTORS:
                    yield ("rates", index, "factor"), f"factor '{factor}' is not known. Allowed: {', '.join(_FACTORS)}"

    def reading(self, metered: Metered, kind: str) -> UsageReading | None:
        """Read the factor; a usage may leave it out only if the model is an upscaler with a price without factor."""
        if kind != "upscale":
            return None  # the usage is an image that was made
        rates = {factor: rate for rate in self.rates for factor in rate.attributes["factor"]}
        count, model = metered.counter(self), metered.model.model
        plain = metered.model.type == "upscale" and any(
            "quality" in charge.ATTRIBUTES for charge in metered.version.charges
        )

        def lines(shape: Mapping[str, Any]) -> list[LineItem]:
            factor = shape.get("factor")
            return [count(1, rates[factor], f"{model}-upscale-{slug(factor)}-{self.unit}-unit")] if factor else []

        return UsageReading(lines, {"factor": Choice(rates)}, {}, () if plain else ("factor",))

    def samples(self, version: MeteredVersion, type_: str, tables: Tables) -> Samples:
        """Yield an upscale by every factor."""
        return ({"type": "upscale", **values} for values in _named(self, self.CHOICES))


def _keys(rate: Rate, choices: Mapping[str, tuple[str, ...]]) -> list[tuple[str | None, ...]]:
    """Return the combinations of choices that a rate applies to: every choice of an attribute that it does not name."""
    return list(product(*(rate.attributes.get(name, values or (None,)) for name, values in choices.items())))


def _named(charge: Charge, names: tuple[str, ...]) -> Samples:
    for rate in charge.rates:
        for values in product(*(rate.attributes.get(name, (None,)) for name in names)):
            yield dict(zip(names, values, strict=True))


def _stated(values: Mapping[str, str | None]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, UNSTATED)}
