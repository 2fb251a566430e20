"""The price sheet: one row for each price, with its next price; or every combination of values, with its quote.

A video model has a cell for each combination that its version accepts; others have one for a unit of every rate.
"""

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import product
from math import ceil
from operator import itemgetter
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.instants import utc
from ratecard.base.money import plain, text
from ratecard.base.suggestions import did_you_mean
from ratecard.line_items.conditions import (
    EVERY_PROMPT,
    RateResolver,
    accepted_conditions,
    edges_of,
    in_words,
    parents_of,
)
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.methods.audio import band
from ratecard.methods.conditions import rates_at_each_hour
from ratecard.methods.method import unit_usages
from ratecard.price_book import PriceBook
from ratecard.requests.video import FIELD_ORDER
from ratecard.tables.card import AnyModel, same_prices
from ratecard.tables.metered import BEGINS, MeteredVersion, Tokens
from ratecard.tables.meters import Unit
from ratecard.tables.rate import ANY, WINDOW, Charge, Conditioned, Rate, RateFactor, tiers
from ratecard.tables.scalars import Words
from ratecard.tables.version import Version
from ratecard.tables.video import (
    REQUEST_FIELDS,
    SOURCE_MATCHED_DURATIONS,
    SOURCE_MATCHED_RATIOS,
    VideoCharge,
    VideoVersion,
)
from ratecard.tables.windows import window_of
from ratecard.views.explain import described_options

# Seconds of source videos and reference clips, or fewer if the model takes fewer: the price is linear in them.
_SECONDS = 10
_REFERENCE = "reference_video_total_duration"
# The values of a request that stand for the values of a reference clip.
_OF_CLIP = {"duration": {*SOURCE_MATCHED_DURATIONS}, "aspect_ratio": {*SOURCE_MATCHED_RATIOS}}
# Height of the source video if there is only one tier.
_HEIGHT = 720
# The usage for which the sheet shows a surcharge; its row has no words for it.
_ONE_SEARCH = {"count": 1}
# The columns by which the cells of a model differ, and all columns.
ASKED = (*REQUEST_FIELDS, "usage", "source_video")
SHEET_COLUMNS = ("model", *ASKED, "total", "exact", "currency", "effective", "sku", "source")


class Cell(NamedTuple):
    """One combination of values that decides a price, and its quote; `usage` is the rated usage, None for a video."""

    body: dict[str, Any]
    video: SourceVideo | None
    quote: Quote
    usage: Mapping[str, Any] | None = None

    @property
    def key(self) -> str:
        """Return a text that equal requests have in common."""
        return repr((sorted(self.body.items()), self.video, self.quote.type))

    def priced(self, prices: PriceBook) -> Quote | None:
        """Return the quote of the same request in another book; None if that has no price for it."""
        try:
            return prices.quote_video(self.body, source=self.video) if self.usage is None else prices.rate(self.usage)
        except QuoteError:
            return None

    def row(self) -> dict[str, str]:
        """Return the cell as text, by column; fields that the price does not depend on are empty."""
        quote = self.quote
        result = dict.fromkeys(SHEET_COLUMNS, "") | {name: str(value) for name, value in self.body.items()}
        if "audio" in self.body:
            result["audio"] = str(self.body["audio"]).lower()
        if self.video:
            parts = (f"{self.video.seconds} s", f"{self.video.width}x{self.video.height}", f"{self.video.fps} fps")
            result["source_video"] = ", ".join(parts)
        result |= {"total": quote.to_dict()["total"], "exact": text(plain(quote.exact)), "currency": quote.currency}
        result |= {"effective": quote.effective.isoformat()}
        result |= {"sku": " + ".join(line.sku for line in quote.lines)}
        return result | {"source": " + ".join(line.source for line in quote.lines)}


def price_cells(prices: PriceBook, name: str) -> Iterator[Cell]:
    """Yield every cell of the price sheet of a model. Raises `QuoteError` if the model has no price in this book."""
    model, version = prices.in_effect(name)
    version = prices._at_hour(version)
    if isinstance(version, MeteredVersion):
        yield from _unit_cells(prices, model, version)
    if not isinstance(version, VideoVersion):
        return
    effective = frozenset[str]().union(*(charge.fields for charge in version.charges))
    if matched := {field for field in _OF_CLIP if field in effective and _only_matched(version, field)}:
        effective |= {_REFERENCE}
    names = [field for field in FIELD_ORDER if field in effective and field != "video_url"]
    for values in product(*(_values(version, field, bool(matched)) for field in names)):
        body = {"model": model.model} | {
            field: value for field, value in zip(names, values, strict=True) if value is not None
        }
        for video in _videos(version, body):
            yield Cell(body, video, prices.quote_video(body, source=video))


def _unit_cells(prices: PriceBook, model: AnyModel, version: MeteredVersion) -> Iterator[Cell]:
    shown = set[str]()
    for usage in unit_usages(model, version, prices.tables):
        fields = {key: value for key, value in usage.items() if key not in ("type", "model")}
        usage_text = json.dumps(fields)
        if usage_text not in shown:  # Rates of other hours have the same usages.
            shown.add(usage_text)
            body = {"model": model.model} | ({} if fields == _ONE_SEARCH else {"usage": usage_text})
            try:
                yield Cell(body, None, prices.rate(usage), usage)
            except QuoteError:
                if usage.keys().isdisjoint(version.conditions):
                    raise
                # Another charge of the version is not sold under these conditions.


def _only_matched(version: VideoVersion, name: str) -> bool:
    """Return True if a version accepts only values of a field that a reference clip decides."""
    listed = getattr(version.accepts, name) or ()
    return bool(listed) and version.accepts.reference_video_total_duration is not None and {*listed} <= _OF_CLIP[name]


def _values(version: VideoVersion, name: str, with_clip: bool) -> tuple[Any, ...]:
    accepts = version.accepts
    if name == "audio":
        return (False, True) if accepts.audio == "configurable" else (None,)
    if name == "target_fps":
        return _frame_rates(version)
    if name == _REFERENCE:
        cap = accepts.reference_video_total_duration
        if cap is None:
            return (None,)
        return (max(cap.source_min, min(_SECONDS, cap.longest_clip)),) if with_clip else (None, min(_SECONDS, cap.max))
    if name == "duration" and version.of_source:
        return (None,)
    listed = getattr(accepts, name) or (None,)
    # A clip can give a video a number of seconds that a request may not state.
    return tuple(value for value in version.values_of(name) if value in listed) or listed[:1]


def _frame_rates(version: VideoVersion) -> tuple[int, ...]:
    """Return the frame rates at which the price changes: the lowest, and those from which it is multiplied."""
    steps = {
        ceil(frame_rate): factor for charge in version.charges for frame_rate, factor in charge.frame_rates.items()
    }
    limits = version.accepts.target_fps
    if limits is None:
        return (*steps,)
    rates = [*([limits.min] if any(factor != 1 for factor in steps.values()) else []), *steps]
    # A table may name a frame rate that requests may not have.
    return tuple(dict.fromkeys(min(max(rate, limits.min), limits.max) for rate in rates))


def _videos(version: VideoVersion, body: dict[str, Any]) -> Iterator[SourceVideo | None]:
    """Yield a source video for every tier, as high as the tier allows."""
    if not version.of_source:
        yield None
        return
    limit = version.accepts.video_url
    seconds = min(_SECONDS, limit.max_seconds) if limit else _SECONDS
    heights = sorted({height for charge in version.charges for height in _heights(charge, body)})
    if not heights:
        yield SourceVideo(seconds=seconds, width=1280, height=720, fps=24)
    for height in heights:
        yield SourceVideo(seconds=seconds, width=height * 16 // 9, height=height, fps=30)


def _heights(charge: VideoCharge, body: dict[str, Any]) -> Iterator[int]:
    """Yield the heights of source videos at the upper edges of a charge's tiers, and one above the last."""
    heights = tiers(charge.rates)
    edges = [int(edge) for edge in heights if edge != ANY]
    factor = int(body["upscale_factor"]) if charge.TIERS_OF_OUTPUT else 1
    for height in (*edges, 2 * edges[-1] if edges else _HEIGHT) if heights else ():
        if height >= factor:  # no output is lower than the factor
            yield height // factor


PRICE_COLUMNS = ("name", "model", "family", "type", "price of", "unit", "price", "currency", "next price", "from")
# Large numbers of a unit in the words of price pages.
_MANY = {1: "", 1_000: "1,000 ", 1_000_000: "million "}
_MARKS = frozenset("*?[")
GONE = "not offered"


class ListPrice(NamedTuple):
    """A price of a model: what it is for (`price_of`), its unit in words, and the next price with its first day.

    A factor of conditions has no unit. `price` is None for a price that begins later, `next_price` if no price follows.
    """

    model: AnyModel
    family: str
    price_of: str
    unit: str
    price: Decimal | None
    next_price: Decimal | None
    begins: date | None

    def row(self) -> dict[str, str]:
        """Return the price as text, by column."""
        later = GONE if self.next_price is None else text(self.next_price)
        cells = (self.model.name, self.model.model, self.family, self.model.type, self.price_of, self.unit)
        price = GONE if self.price is None else text(self.price)
        currency = self.model.currency if self.unit else ""
        following = (later, str(self.begins)) if self.begins else ("", "")
        return dict(zip(PRICE_COLUMNS, (*cells, price, currency, *following), strict=True))


def list_prices(prices: PriceBook, names: Sequence[str]) -> Iterator[ListPrice]:
    """Yield every price of the named models, families and patterns (`kling-*`); of all models without names.

    Each has the price in the next version of its model, and the first day of that. Raises `QuoteError` for an unknown
    name, and `TableError` for a version that contradicts its examples.
    """
    for model, version in chosen_models(prices, names):
        newer = (newer for newer in reversed(model.versions) if newer.begins > utc(prices.instant))
        # A contract may fix what the next version of the list changes.
        later = next((following for following in newer if not same_prices(following, version)), None)
        begins = later.effective if later else None
        if model.retired and (later is None or model.retired_at(later.effective)):
            later, begins = None, model.retired.on
        now, then = (
            {} if priced_version is None else _prices_of(prices, model, priced_version)
            for priced_version in (version, later)
        )
        family, sides = prices.tables.families.get(model.model, ""), ((now, version), (then, later))
        rows = {**now, **{key: row for key, row in then.items() if begins and key not in now}}
        amounts = {key: _on_each_side(key, row, sides, prices) for key, row in rows.items()}
        # A row that is split on the other side has several prices there: the rows of its parts state them.
        split = [row for key, row in rows.items() if max(map(len, amounts[key])) > 1]
        parts = {key: part for row in split for part in row.parts() if (key := _key(part)) not in rows}
        for key, row in {**rows, **parts}.items():
            [price, *several], [following, *later_parts] = amounts.get(key) or _on_each_side(key, row, sides, prices)
            changed = price != following and not later_parts
            if key in now or (not several and (key in rows or changed)):
                yield ListPrice(model, family, row.price_of, row.unit, price, following, begins if changed else None)


def chosen_models(prices: PriceBook, names: Sequence[str]) -> Iterator[tuple[AnyModel, Version]]:
    """Yield the named models that have a price, each once. Raises `QuoteError` for an unknown name."""
    # Families of models that a contract keeps for others are not suggested.
    families = {name: family for name, family in prices.tables.families.items() if name in prices.tables.models}
    in_effect = {model.model: (model, version) for model, version in prices._in_effect_all()}
    chosen: dict[str, tuple[AnyModel, Version]] = {} if names else dict(in_effect)
    for name in names:
        matches = [
            model_name for model_name in in_effect if name == families.get(model_name) or fnmatchcase(model_name, name)
        ]
        if not matches and not _MARKS.isdisjoint(name):
            raise QuoteError(f"No model fits {name}. Name a model, a family, or a pattern like kling-*")
        if not matches and prices.tables.named(name) is None and (near := did_you_mean(name, set(families.values()))):
            raise QuoteError(f"No model or family is called {name}.{near}")
        chosen |= {model_name: in_effect[model_name] for model_name in matches}
        if not matches:
            model, version = prices.in_effect(name)
            chosen[model.model] = model, version
    yield from chosen.values()


class _Row(NamedTuple):
    """A rate, a factor or a minimum of a version, in words; `charge` is empty unless it is a rate.

    A rate is for prompts of more than `above` tokens. `options` of its charge say how much of a request is charged.
    """

    price_of: str
    unit: str
    amount: Decimal
    charge: str = ""
    attributes: Mapping[str, Words] = {}
    above: int = EVERY_PROMPT.above
    options: tuple[str, ...] = ()

    def parts(self) -> "Iterator[_Row]":
        """Yield a row for each combination of the values of a rate."""
        for values in product(*self.attributes.values()):
            attributes = {name: (value,) for name, value in zip(self.attributes, values, strict=True)}
            yield _row_of(self.charge, self.unit, self.amount, attributes, self.above, self.options)


def _row_of(
    charge: str, unit: str, amount: Decimal, attributes: Mapping[str, Words], above: int, options: tuple[str, ...]
) -> _Row:
    values = [f"{name} {' or '.join(words)}" for name, words in attributes.items()]
    # This avoids `tokens, tokens input`.
    named = [] if charge in attributes else [charge]
    return _Row(", ".join([*named, *values, *options]), unit, amount, charge, attributes, above, options)


_OPTIONS = ("included", "at_least", "started", "frame_rate", "at_frame_rate")


def _options(charge: Charge) -> tuple[str, ...]:
    """Return the options that say how much of a request a charge is for, like `included 2`."""
    described = described_options(charge)
    return tuple(f"{name} {described[name]}" for name in _OPTIONS if name in described)


def _factor_row(of: str, factor: RateFactor) -> _Row:
    # Tables may write the same conditions in another order.
    return _Row(f"{of}, {in_words(dict(sorted(factor.conditions.items())))}: times", "", factor.factor)


def _prices_of(prices: PriceBook, model: AnyModel, version: Version) -> dict[Hashable, _Row]:
    """Return the rates, factors and the minimum of a version, by what they are for, however that is written."""
    prices.prove(model, version)
    rows: list[_Row] = []
    for charge in version.charges:
        per = _per(prices.tables.units[charge.unit])
        for rate in charge.rates:
            above = next(edges_of(charge, rate)).above
            amount, options = charge.unit_rate(rate), _options(charge)
            rows.append(_row_of(charge.charge, per, amount, rate.attributes, above, options))
        for factor in charge.multipliers:
            rows.append(_factor_row(charge.charge, factor))
    rows += [_factor_row("all of it", factor) for factor in version.multipliers]
    if isinstance(version, MeteredVersion) and version.minimum:
        rows.append(_Row("a request costs at least", "request", version.minimum))
    return {_key(row): row for row in rows}


def _key(row: _Row) -> Hashable:
    named = frozenset((name, frozenset(values)) for name, values in row.attributes.items())
    return (row.charge, named, row.unit, row.options) if row.charge else (row.price_of, row.unit)


def _on_each_side(
    key: Hashable, row: _Row, sides: Iterable[tuple[dict[Hashable, _Row], Version | None]], prices: PriceBook
) -> list[set[Decimal | None]]:
    return [{rows[key].amount} if key in rows else _amounts_for(row, version, prices) for rows, version in sides]


def _amounts_for(row: _Row, version: Version | None, prices: PriceBook) -> set[Decimal | None]:
    """Return the prices of a version for the same thing as a row of another version; None if it does not sell it."""
    amounts, units = set[Decimal | None](), prices.tables.units
    if version is None:
        return {None}
    for charge in version.charges:
        if (charge.charge, _per(units[charge.unit]), _options(charge)) != (row.charge, row.unit, row.options):
            continue
        for numbered in rates_at_each_hour(version, charge, window_of(row.attributes)):
            held = charge.with_rates(rate for _, rate in numbered)
            for part in row.parts():
                amounts |= {*_amounts_of(part, held, version, prices)} or {None}
    return amounts or {None}


def _amounts_of(row: _Row, charge: Charge, version: Version, prices: PriceBook) -> Iterator[Decimal | None]:
    """Yield the price of a row with one value of each attribute; several prices if every rate names more than it."""
    meters = prices.tables.meters
    if (named := _named_in(row, charge, version, prices)) is None:
        return
    for rate in _rates_for(named, row.above, charge):
        if not isinstance(charge, Conditioned) or not isinstance(version, MeteredVersion):
            yield charge.unit_rate(rate)
            continue
        stated = {name: value for name, value in named.items() if name not in charge.ATTRIBUTES}
        accepted = accepted_conditions([version.conditions], meters)
        resolver = RateResolver(charge, meters, version.factors)
        conditions = {name: named.get(name, values[0]) for name, values in charge.conditions_of(rate).items()}
        full = {name: meters.condition[name].default or "" for name in resolver.named} | conditions | stated
        factored = resolver.factored(rate, conditions, {name: full[name] for name in resolver.named if full[name]})
        known = all(value in accepted[name] for name, value in stated.items())
        sold = known and not factored.unmet and not version.refuses(stated, meters)
        yield factored.unit_rate if sold else None


def _named_in(row: _Row, charge: Charge, version: Version, prices: PriceBook) -> dict[str, str] | None:
    """Return the values of a row as a charge of a version names them; None if the version does not accept them."""
    named = {name: value for name, (value,) in row.attributes.items() if name not in (*BEGINS, *WINDOW)}
    heights = tiers(charge.rates)
    if heights and "up_to" in named:  # the tier on the other side that holds the row's greatest height
        top = named["up_to"]
        named["up_to"] = next(edge for edge in heights if edge == ANY or (top != ANY and int(edge) >= int(top)))
    elif isinstance(version, VideoVersion):
        named = {name: version.accepts.resolution_aliases.get(value, value) for name, value in named.items()}
        if any(value not in (version.values_of(name) or (value,)) for name, value in named.items()):
            return None
    if edges := band(named.get("seconds", "")):  # the band on the other side that holds the row's longest song
        bands = ((value, band(value) or edges) for value in charge.values_of("seconds"))
        named["seconds"] = next((value for value, (first, last) in bands if first <= edges[1] <= last), "")
    if isinstance(charge, Tokens):  # a bucket without a rate may have that of its parent
        parents = parents_of(charge, prices.tables.meters, charge.values_of("tokens"))
        named["tokens"], _ = parents.get(named["tokens"], (named["tokens"], False))
    return named


def _rates_for(named: Mapping[str, str], above: int, charge: Charge) -> list[Rate]:
    """Return the rate for these values and longer prompts; all that fit, if every rate names more than these values."""
    fitting, others = list[tuple[tuple[int, int, bool], Rate]](), list[Rate]()
    for rate in charge.rates:
        attributes = {name: values for name, values in rate.attributes.items() if name not in BEGINS}
        begins = [edge.above for edge in edges_of(charge, rate) if edge.above <= above]
        if begins and all(named.get(name, values[0]) in values for name, values in attributes.items()):
            if attributes.keys() <= named.keys():
                fitting.append(((len(attributes), max(begins), rate.timed), rate))
            else:
                others.append(rate)
    # Of rates that name no more than these values, the one that names most holds.
    return [max(fitting, key=itemgetter(0))[1]] if fitting else others


def _per(unit: Unit) -> str:
    """Return a unit in words, like `million tokens` or `second of video`."""
    noun, separator, thing = unit.counts.partition(" of ")
    many = _MANY.get(unit.per, f"{unit.per:,} ")
    return f"{many}{_plural(noun) if many else noun}{separator}{thing}"


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
