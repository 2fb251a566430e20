"""Explain where the prices of a model come from: its version in effect, and the line of every rate."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic import BaseModel

from ratecard.base.errors import QuoteError
from ratecard.base.money import multiply, text
from ratecard.line_items.conditions import in_words
from ratecard.line_items.quote import LineItem, Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.methods.method import Steps, method_of
from ratecard.price_book import PriceBook
from ratecard.requests.service_parameters import SEARCHES
from ratecard.requests.video import VideoRequests
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.rate import Charge
from ratecard.tables.scalars import in_ranges, value_text
from ratecard.tables.version import Model, Version
from ratecard.tables.video import VideoVersion

# Keys of a charge that are shown separately from the options of its method.
_SHOWN_ELSEWHERE = {"charge", "method", "unit", "markup", "rates"}


class ExplainedRate(NamedTuple):
    """One rate: price of one unit, how it is made (rate x markup), its `file:line`, and its attributes."""

    unit_rate: Decimal
    made_of: str
    source: str
    attributes: str


class ExplainedCharge(NamedTuple):
    """One charge: its method, its unit, the options of its method, and its rates."""

    charge: str
    method: str
    unit: str
    options: dict[str, str]
    rates: tuple[ExplainedRate, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the charge with its rates as text."""
        rates = [rate._asdict() | {"unit_rate": text(rate.unit_rate)} for rate in self.rates]
        return self._asdict() | {"rates": rates}


class Explanation(NamedTuple):
    """The tables of a model at one instant. `facts` are its dates and evidence, as text."""

    model: str
    name: str
    currency: str
    facts: dict[str, str]
    accepts: dict[str, str]
    charges: tuple[ExplainedCharge, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as text, for programs."""
        facts = {name.lower().replace(" ", "_"): value for name, value in self.facts.items()}
        head = {"model": self.model, "name": self.name, "currency": self.currency}
        return {**head, **facts, "accepts": self.accepts, "charges": [charge.to_dict() for charge in self.charges]}


def explain(prices: PriceBook, name: str) -> Explanation:
    """Explain where a model's prices come from. Raises `QuoteError` if it has no price at this instant."""
    model, version = prices.in_effect(name)
    prices.prove(model, version)
    accepts = _described(getattr(version, "accepts", None))
    if defaults := getattr(version, "defaults", None):
        accepts["where left out"] = ", ".join(f"{field} {value}" for field, value in defaults.items())
    charges = tuple(_charge(charge, prices.tables) for charge in version.charges)
    charges += tuple(_search(prices, search, name) for search, name in version.searches.items())
    return Explanation(model.model, model.name, model.currency, _facts(model, version), accepts, charges)


def _facts(model: Model[Any], version: Version) -> dict[str, str]:
    facts = {
        "Provider": model.provider or "",
        "Aliases": ", ".join(model.aliases or ()),
        "Patterns": ", ".join(model.patterns or ()),
        "Effective": str(version.effective),
        "Announced": str(version.announced or ""),
        "Earlier versions": ", ".join(
            str(earlier.effective) for earlier in model.versions if earlier.begins < version.begins
        ),
        "Later versions": ", ".join(str(later.effective) for later in model.versions if later.begins > version.begins),
        "Retires": str(model.retired.on) if model.retired else "",
        "Successor": (model.retired.successor or "") if model.retired else "",
        "Source": version.source,
        "Reference": version.reference or "",
        "Checked": str(version.checked),
        "Evidence": version.evidence or "",
        "Correction": version.correction or "",
        "Rounding": _words(getattr(version, "rounding", None)),
    }
    if isinstance(version, MeteredVersion):
        facts["Line places"] = _words(version.line_places)
        facts["Factors"] = _words(version.factors)
        if version.minimum:
            facts["Minimum"] = f"{text(version.minimum)} a request ({version.minimum_place})"
        if version.not_sold:
            facts["Not sold"] = "; ".join(map(in_words, version.not_sold))
    return {name: value for name, value in facts.items() if value}


def _charge(charge: Charge, tables: Tables) -> ExplainedCharge:
    rates = tuple(
        ExplainedRate(
            charge.unit_rate(rate),
            f"{text(rate.rate)} x {text(charge.markup)}" if charge.markup != 1 else "",
            rate.source,
            ", ".join(f"{name} {' | '.join(values)}" for name, values in rate.attributes.items()),
        )
        for rate in charge.rates
    )
    options = described_options(charge)
    if meters := method_of(charge).meters(tables):
        options["counted by"] = ", ".join(f"counts.{meter}" for meter in meters)
    return ExplainedCharge(charge.charge, charge.method, charge.unit, options, rates)


def described_options(charge: Charge) -> dict[str, str]:
    """Return the options of a charge's method as text, by name."""
    return {name: value for name, value in _described(charge).items() if name not in _SHOWN_ELSEWHERE}


def _search(prices: PriceBook, search: str, name: str) -> ExplainedCharge:
    """Return the charge of a text model for a kind of search: the charge of the surcharge model in its table."""
    _, version = prices.in_effect(name)
    options = {"counted by": f"counts.{search}"}
    if search in SEARCHES:
        options = dict(zip(("counted by", "switched by"), SEARCHES[search], strict=True))
    explained = _charge(version.charges[0], prices.tables)
    return explained._replace(charge=search.replace("_", " "), options={**options, "priced as": name})


def _described(part: BaseModel | None) -> dict[str, str]:
    """Return the keys of a part of a table with their values as text, without keys that have no value."""
    if part is None:
        return {}
    described = {name: _words(getattr(part, name)) for name in type(part).model_fields}
    return {name: words for name, words in described.items() if words}


def _words(value: Any) -> str:
    if value is None or value == {}:
        return ""
    if isinstance(value, BaseModel):
        return ", ".join(f"{key.rstrip('_')} {words}" for key, words in _described(value).items())
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_words(item)}" for key, item in value.items())
    if isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        # In a list of parts, such as sizes, values are clear without their keys.
        return ", ".join(" ".join(_described(item).values()) for item in value)
    return value_text(value)


class Working(NamedTuple):
    """The working of a line: the steps to its quantity, as its method shows them, its list rate and its markup.

    They are empty or None if a line has no such steps.
    """

    counted: Steps = ()
    list_rate: Decimal | None = None
    markup: Decimal | None = None


def workings(
    prices: PriceBook, quote: Quote, fields: Mapping[str, Any], source: SourceVideo | None = None
) -> tuple[Working, ...]:
    """Work out each line of a quote; `fields` is the body or usage that was quoted.

    >>> from datetime import date
    >>> from ratecard import load_rate_card
    >>> prices = load_rate_card().at(date(2026, 10, 1))
    >>> body = {"model": "seedance-2-5-image-to-video-basic", "duration": "5s", "resolution": "720p"}
    >>> counted, list_rate, markup = workings(prices, prices.quote_video(body), body)[0]
    >>> counted, list_rate, markup
    ((Decimal('5'), 's x 1280 x 720 x 24 fps / 1024 =', Decimal('108000'), 'tokens'), Decimal('10.7'), Decimal('1.25'))
    """
    _, version = prices.in_effect(quote.model)
    rates = [(charge, rate) for charge in version.charges for rate in charge.rates]
    shape = _shape(prices, version, fields, source) if isinstance(version, VideoVersion) else {}

    def working(line: LineItem) -> Working:
        # One line of a contract may be for several charges, and one of a table may have several rates.
        on_line = [
            (charge, rate.rate)
            for charge, rate in rates
            if (rate.listed or rate).source == line.list_source and charge.unit == line.unit
        ]
        if not on_line:
            return Working()
        of_rate = (pair for pair in on_line if multiply(pair[1], pair[0].markup) == line.unit_rate)
        charge, rate = next(of_rate, on_line[-1])
        counted = multiply(line.quantity, Decimal(prices.tables.units[charge.unit].per))
        marked_up = rate and charge.markup != 1 and multiply(rate, charge.markup) == line.unit_rate
        return Working(method_of(charge).working(shape, counted), *((rate, charge.markup) if marked_up else ()))

    return tuple(map(working, quote.lines))


def _shape(
    prices: PriceBook, version: VideoVersion, fields: Mapping[str, Any], source: SourceVideo | None
) -> dict[str, Any]:
    requests = VideoRequests(version, prices._compiler.api_wide)
    shape = requests.defaults | {
        name: accept(fields[name]) for name, accept in requests.active.items() if name in fields
    }
    if requests.settle is not None:
        requests.settle(shape, source)
    return shape


def choices(prices: PriceBook, fields: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """Return the values of a field that the model of `fields` accepts, as its table writes them; empty if none."""
    name = fields.get("model")
    try:
        if isinstance(name, str):
            _, version = prices.in_effect(name)
        else:
            _, version = next(prices._in_effect_all("rpc" if "network" in (field, *fields) else ""))
    except (QuoteError, StopIteration):
        return ()
    if isinstance(version, VideoVersion):
        values = getattr(version.accepts, field, None)
        return tuple(in_ranges(map(value_text, values))) if isinstance(values, tuple) else ()
    return version.values_of(field)
