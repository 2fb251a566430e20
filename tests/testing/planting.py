"""How an error is planted: where a version is compiled, so that only a card made afterwards has it."""

import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

import ratecard.methods.video
import ratecard.pricing.compiler
from ratecard.line_items.quote import Quote
from ratecard.methods import METHODS
from ratecard.methods.method import Method

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]
COMPILER: Any = ratecard.pricing.compiler
# The module that compiles requests of text.
TEXT: Any = sys.modules[COMPILER.price_text.__module__]


def wrapped(home: Any, name: str, around: Callable[..., Any]) -> Plant:
    """A function that stands in for another: `around(original, *arguments)`."""
    original = getattr(home, name)
    return lambda patch: patch.setattr(home, name, lambda *args, **kw: around(original, *args, **kw))


def calculated(method: str, around: Callable[..., Any]) -> Plant:
    """A calculator that stands in for that of a method, also where lines are made by the seconds of reference video."""
    kind, original = METHODS[method], METHODS[method].calculator

    def plant(patch: Patch) -> None:
        patch.setattr(kind, "calculator", lambda *args: around(original, *args))
        patch.setattr(kind, "by_seconds", Method.by_seconds)

    return plant


def lines_of(method: str, change: Callable[..., Any]) -> Plant:
    """The line items of a method, changed: `change(line, shape)`."""

    def around(original: Any, *args: Any) -> Any:
        calculate = original(*args)
        return lambda shape: change(calculate(shape), shape)

    return calculated(method, around)


def shapes_of(method: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Plant:
    """Plant a change of the shapes that a method gets."""

    def around(original: Any, *args: Any) -> Any:
        calculate = original(*args)
        return lambda shape: calculate({**shape, **change(shape)})

    return calculated(method, around)


def options_of(method: str, **changed: Any) -> Plant:
    """The options of a method as the table says them, changed."""

    def around(original: Any, charge: Any, compiling: Any) -> Any:
        return original(altered(charge, changed), compiling)

    return calculated(method, around)


def altered(options: Any, changed: dict[str, Any]) -> Any:
    made = {name: change(getattr(options, name)) for name, change in changed.items()}
    return options.model_copy(update=made)


def quotes(change: Callable[[Quote, dict[str, Any]], Quote]) -> Plant:
    """Video quotes, changed: `change(quote, body)`."""

    def around(original: Any, *args: Any) -> Any:
        price = original(*args)
        return lambda body, source: change(price(body, source), body)

    return wrapped(COMPILER, "price_video", around)


def versions(home_name: str, change: Callable[[Any], Any]) -> Plant:
    """Plant a change of the versions from which a video or a count is compiled."""
    if home_name == "price_video":
        return wrapped(
            COMPILER, home_name, lambda original, model, version, *more: original(model, change(version), *more)
        )
    return wrapped(COMPILER, home_name, lambda original, metered, *more: original(change(metered), *more))


def times(factor: int | Decimal) -> Callable[..., Any]:
    return lambda line, shape: replace(line, amount=line.amount * factor)


def tiers_at(change: Callable[[Any], Any]) -> Plant:
    """Heights are looked up elsewhere."""

    def around(original: Any, compiling: Any) -> Any:
        find = original(compiling)
        return lambda shape, height: find(shape, change(height))

    return wrapped(ratecard.methods.video, "tier_of", around)
