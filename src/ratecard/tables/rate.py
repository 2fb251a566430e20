"""A rate: one amount per unit, under stated attributes, at one `file:line`."""

from typing import Any

from pydantic import Field, model_validator

from ratecard.tables.scalars import Frozen, Number, Words

# Where the loader puts the `file:line` of a rate; no key that a person writes.
SOURCE_KEY = "@source"
# The lines of these lists know their place: that of the key named here.
PLACED_BY = {"rates": "rate", "examples": "total", "versions": "effective"}
# The same in the file of limits.
PLACED_BY |= {"limits": "effective", "text": "tier", "types": "type", "sunsets": "endpoint"}
# The last tier of a rate that rises with a quantity: whatever is above the tier before it.
ANY = "any"


class Rate(Frozen):
    """One line of a table: `{resolution: [480p, 720p], audio: true, rate: 0.154}`.

    `rate` is an amount of the model's currency per unit of the charge. `attributes` are the values under which it is
    the rate; an attribute that is not written does not matter.
    """

    rate: Number
    attributes: dict[str, Words]
    source: str = Field(default="", alias=SOURCE_KEY)

    @model_validator(mode="before")
    @classmethod
    def _gather_attributes(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError("must be a line like {resolution: 720p, rate: 0.10}")
        if "rate" not in given:
            raise ValueError("has no rate. Write one, like {resolution: 720p, rate: 0.10}")
        if isinstance(given.get("attributes"), dict):
            return given
        own = {"rate", SOURCE_KEY}
        digits = next((key for key in given if str(key).isdigit()), None)
        if digits is not None:
            raise ValueError(f"is cut off by a comma before {digits}. Write a decimal point, like 0.25")
        kept = {key: value for key, value in given.items() if key in own}
        return {**kept, "attributes": {key: value for key, value in given.items() if key not in own}}
