"""What is planted: the mistakes themselves, as functions that stand in for the right ones."""

import json
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from functools import partial
from typing import Any

from planting import altered

from ratecard.base.layouts import Layouts
from ratecard.base.money import ROUNDING, step
from ratecard.line_items.compiling import Compiling
from ratecard.line_items.quote import Quote
from ratecard.methods.images import PerInputImage


class _PerBucket:
    """Lines for each bucket by itself, as if its own tokens were the whole prompt."""

    def __init__(self, tier: Any) -> None:
        self.tier = tier

    @property
    def lines(self) -> Any:
        return Layouts(lambda names: lambda *counts: self.found(dict(zip(names, counts, strict=True))))

    def found(self, given: dict[str, int]) -> Any:
        parts = {name: count for name, count in given.items() if name.startswith("cache_")}
        each = [{"input": count, "output": 0, name: count} for name, count in parts.items()]
        each += [{"input": given["input"] - sum(parts.values()), "output": 0}, {"input": 0, "output": given["output"]}]
        found = [self.tier(one["input"]).lines[tuple(one)](*one.values()) for one in each]
        return tuple(line for some, _ in found for line in some), sum(exact for _, exact in found)


def per_bucket(tier_of: Any, rates: Any, tiers: Any, prompt: int) -> Any:
    return _PerBucket(partial(tier_of, rates, tiers))


def cached_twice(compiled: Any, plan: Any, counts: int) -> Any:
    lines, cached = compiled(plan, counts), [each.first for each in plan.steps if each.bucket == "cache_input"]
    return lambda *given: lines(given[0] + sum(given[index] for index in cached), *given[1:])


def rounded_lines(line: Any, shape: Any) -> Any:
    return replace(line, amount=ROUNDING.quantize(line.amount, step(2)))


def twice_rounded(quote: Quote, body: Any) -> Quote:
    once = ROUNDING.quantize(quote.exact, step(3))
    return replace(quote, total=ROUNDING.quantize(once, step(2)))


def without_inputs(metered: Any) -> Any:
    charges = tuple(charge for charge in metered.version.charges if not isinstance(charge, PerInputImage))
    return type(metered)(
        metered.model, metered.version.model_copy(update={"charges": charges}), metered.units, metered.digest
    )


def no_markup(original: Any, charge: Compiling, *args: Any) -> Any:
    plain = charge.charge.model_copy(update={"markup": Decimal(1)})
    return original(type(charge)(charge.model, charge.version, plain, charge.per, charge.first), *args)


def other_defaults(original: Any, asked: Any, *args: Any) -> None:
    original(asked, *args)
    if "upscale_factor" in asked.defaults:
        asked.defaults["upscale_factor"] = 4


def first_values(original: Any, asked: Any, version: Any, *args: Any) -> None:
    original(asked, version, *args)
    asked.defaults |= {name: getattr(version.accepts, name)[0] for name in asked.required}
    layout = asked.layout
    asked.layout = lambda names: replace(layout(names), complete=True)


def million_for_thousand(original: Any, charge: Any, per: int, *more: Any) -> Any:
    return original(charge, 1_000 if charge.unit == "mcharacter" else per, *more)


def line_below(original: Any, charge: Any, *args: Any) -> Any:
    file, _, line = (found := original(charge, *args)).source.rpartition(":")
    return found._replace(source=f"{file}:{int(line) + 1}")


def tier_below(tier_of: Any, rates: Any, tiers: Any, prompt: int) -> Any:
    return tier_of(rates, tiers, prompt + 1)


def dearer_in_sheet(original: Any, *args: Any) -> Any:
    for cell in original(*args):
        yield cell._replace(quote=replace(cell.quote, total=cell.quote.total + 1))


def other_sound(original: Any, field: Any, given: Any) -> Any:
    return {"true": "false", "false": "true"}.get(original(field, given))


def through_a_float(original: Any, quote: Quote) -> bytes:
    return json.dumps({"quote": float(quote.total)}).encode()


def dearer_failures(original: Any, charge: Any, *more: Any) -> Any:
    return original(altered(charge, {"failed_credits": lambda credits: credits * 2}), *more)


def reference_subtracted(shape: dict[str, Any]) -> dict[str, Any]:
    return {"reference_seconds": shape["reference_seconds"] and 150 - shape["reference_seconds"]}


def slowest_unless_known(shape: dict[str, Any]) -> dict[str, Any]:
    return {"target_fps": shape.get("target_fps") or (shape["source"] and shape["source"].fps) or 16}


def next_second(original: Any, field: Any, given: Any) -> Any:
    return original(field, min(given + 1, field.bands[-1][1]))


def rounded_down(quote: Quote, body: Any) -> Quote:
    return replace(quote, total=quote.exact.quantize(Decimal("0.01"), ROUND_DOWN))


def no_cache_in_the_prompt(original: Any, given: Any, *more: Any, **kw: Any) -> Any:
    counts = original(given, *more, **kw)
    names, values, *rest = counts
    return (names[:2], values[:2], *rest) if "prompt_tokens" in given else counts
