"""The price book: a rate card at one instant; and the prices of all requests of one shape."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar, cast

from ratecard.accounts.limits import LimitsOfADay
from ratecard.base.errors import QuoteError
from ratecard.base.messages import REQUIRED, NoPriceYet, NotOffered, Path, invalid_enum
from ratecard.base.money import add, total
from ratecard.line_items.conditions import accepted_conditions
from ratecard.line_items.quote import MINIMUM, Estimate, LineItem, LineRate, Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.line_items.tokens import TokenRates
from ratecard.methods.metered import Metered, Rater
from ratecard.methods.method import AUDIO_BODY
from ratecard.pricing.compiler import Compiler
from ratecard.pricing.estimate import EstimateRequest, estimate
from ratecard.pricing.video import VideoPricer
from ratecard.requests.body import INVALID, RATED, Body, name_of_model, read_body, read_usage
from ratecard.requests.counters import usage_of_buckets
from ratecard.requests.metered import type_left_out, usage_keys, usage_problems
from ratecard.requests.service_parameters import Suffix, plain_name, split_model
from ratecard.requests.token_usage import read_conditions
from ratecard.requests.video import FIELD_ORDER, refuse_without_model
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.limits import NO_LIMITS, Limits
from ratecard.tables.meters import COMPLETION, PROMPT
from ratecard.tables.models import PricedModel, Prove, model_not_found, refuse_unknown_type
from ratecard.tables.version import AnyVersion, Model, Version
from ratecard.tables.video import VideoModel, VideoVersion

if TYPE_CHECKING:
    from ratecard.requests.usage import AnyUsage


class ShapeRates(NamedTuple):
    """The lines of every request of a shape, and the rates of what it counts.

    `fixed` are lines of the model; `beside` are those of searches, to which a minimum does not apply. `rates` has the
    rates for one more of each counted thing; several may share a line. A thing without a rate has no price.
    """

    metered: Metered
    fixed: tuple[LineItem, ...]
    beside: tuple[LineItem, ...]
    rates: Mapping[str, tuple[LineRate, ...]]

    @property
    def lines(self) -> tuple[LineItem, ...]:
        """Return the lines of a request that counts nothing, without the line of a minimum."""
        return (*self.fixed, *self.beside)

    def total(self, counts: Mapping[str, int | Decimal]) -> Decimal:
        """Return the total of a request with these counts; the tokens of a bucket do not include its parts."""
        counted: dict[LineRate, int | Decimal] = {}
        for name, count in counts.items():
            for rate in self.rates[name] if count else ():
                counted[rate] = add(counted.get(rate, 0), count)
        lines = (*self.fixed, *(LineItem(rate, count, rate.price(count)) for rate, count in counted.items()))
        return total([line.amount for line in (*lines, *self.metered.up_to_minimum(lines), *self.beside)])


def rates_of_tokens(rates: TokenRates, stated: Mapping[str, str], prompt: int) -> Mapping[str, LineRate]:
    """Return the rate of each bucket that has a price, for a whole prompt under these conditions."""
    tier = rates.tier(prompt, stated)
    bucket_rates = ((bucket, tier.rate_of(bucket)) for bucket in rates.buckets)
    return {bucket: rate.rate for bucket, rate in bucket_rates if rate is not None}


def stated_in(metered: Metered, usage: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the conditions that a priced usage states, if the version names them; most usages state none."""
    if metered.meters.condition.keys().isdisjoint(usage):
        return {}
    return read_conditions(usage, accepted_conditions([metered.version.conditions], metered.meters), [])


class Deprecation(NamedTuple):
    """The texts of the two deprecation headers of a model that still has a price.

    >>> Deprecation("m is retired on 2026-11-10.", "2026-11-10").headers["x-service-model-deprecation-date"]
    '2026-11-10'
    """

    warning: str
    date: str

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers by name."""
        return {"x-service-model-deprecation-warning": self.warning, "x-service-model-deprecation-date": self.date}


def deprecation_of(model: Model[Any], moment: date) -> Deprecation | None:
    """Return the headers of a model that will be retired after an instant; None if it will not, or already is."""
    retired = model.retired
    if retired is None or model.retired_at(moment):
        return None
    hint = f" Use {retired.successor} instead." if retired.successor else ""
    return Deprecation(f"{model.model} is retired on {retired.on}, 00:00 UTC.{hint}", retired.on.isoformat())


# The parameters of a model's name without a suffix.
_NO_SUFFIX: Suffix = ()
_VIDEO_KEYS = usage_keys(FIELD_ORDER)

AnyPricer = TypeVar("AnyPricer", VideoPricer, Rater)


def _as_asked(name: str, model: AnyModel, price: AnyPricer) -> AnyPricer:
    """Return a pricer for requests that name a model in another way, or state its provider."""
    if name == model.model and model.provider is None:
        return price

    def priced(fields: Any, further: Any) -> Quote:
        quote: Quote = cast(Any, price)(_of_provider(model, fields), further)
        if name != model.model:
            quote = quote._asked_as(name)
        return quote

    return cast(AnyPricer, priced)


def _of_provider(model: AnyModel, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request without the provider of its model. Raises `QuoteError` if it states another provider."""
    if model.provider is None or "provider" not in fields:
        return fields
    if fields["provider"] != model.provider:
        raise QuoteError(INVALID, [(("provider",), invalid_enum((model.provider,), fields["provider"]))])
    return {name: value for name, value in fields.items() if name != "provider"}


def without_proof(model: AnyModel, version: Version) -> None:
    """Skip the proof, to work the examples themselves or to compare tables."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PriceBook(LimitsOfADay):
    """A rate card at one instant: immutable and pure. Made by `RateCard.at`.

    `instant` is in UTC, `day` its day; `hour` is another instant, whose hour decides in place of that of `instant`.
    `prove` raises `TableError` for a version that contradicts its own examples, before its first price.
    """

    _compiler: Compiler
    instant: datetime
    prove: Prove = without_proof
    hour: datetime | None = None
    _video: dict[str, VideoPricer] = field(default_factory=dict, init=False)
    # Raters by the name of the model and the type of usages.
    _raters: dict[str, dict[str, Rater]] = field(default_factory=dict, init=False)
    # Names of the models in effect, by type or all: to suggest one for an unknown name, and to find the model of RPC.
    _names: dict[str | None, tuple[str, ...]] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        return f"<PriceBook of {self.day}, digest {self.tables.digest}>"

    @property
    def day(self) -> date:
        """Return the UTC day of the instant."""
        return self.instant.date()

    @property
    def tables(self) -> Tables:
        """Return all tables, of every instant."""
        return self._compiler.tables

    @property
    def contract(self) -> str | None:
        """Return the name of the contract whose prices these are; None for prices of the list."""
        return self.tables.contract

    def models(self, type: str | None = None) -> tuple[PricedModel, ...]:
        """Return the models (of a type) that have a price at this instant, in the order of their ids.

        Raises `QuoteError` for a type that no model can have.

        >>> from ratecard import load_rate_card
        >>> [model] = load_rate_card().at(date(2026, 10, 1)).models("rpc")
        >>> model.model, [(rate.amount, rate.unit) for rate in model.rates]
        ('crypto-rpc', [(Decimal('6.25E-7'), 'credit')])
        """
        if type is not None:
            refuse_unknown_type(type)
        return tuple(PricedModel(model, version, self.prove) for model, version in self._in_effect_all(type))

    def model(self, name: str) -> PricedModel:
        """Return the model that a request names by its id, an alias, or an open pattern.

        Raises a `QuoteError` with the reason if it has no price at this instant.

        >>> from ratecard import load_rate_card
        >>> load_rate_card().at(date(2026, 10, 1)).model("ovi-image-to-video").rates[0].amount
        Decimal('0.22')
        """
        return PricedModel(*self.in_effect(name), self.prove)

    def _in_effect_all(self, type_: str | None = None) -> Iterator[tuple[AnyModel, Version]]:
        """Yield every model (of a type) that has a price at this instant, with its version in effect, by name."""
        for _, model in sorted(self.tables.models.items()):
            version = model.version_at(self.instant) if type_ in (None, model.type) else None
            if version and not model.retired_at(self.instant):
                yield model, version

    def in_effect(self, name: str, type_: str | None = None) -> tuple[AnyModel, Version]:
        """Return a model and its version in effect. Raises `QuoteError` if the model has no price at this instant.

        For an unknown model the error suggests models of `type_`.
        """
        model = self.tables.named(name)
        if model is None:
            raise QuoteError(model_not_found(name, self._names_of(type_)))
        if model.retired is not None and model.retired_at(self.instant):
            hint = f" Use {model.retired.successor} instead." if model.retired.successor else ""
            words = f"Specified model not found: {name}. It was retired on {model.retired.on}.{hint}"
            raise QuoteError(NotOffered(words))
        version = model.version_at(self.instant)
        if version is None:
            first = f"Its first version takes effect on {model.versions[-1].effective}."
            message = NoPriceYet(f"No price for {name} on {self.day}. {first}")
            message.on_any_day = f"No price for {name}. {first}"
            raise QuoteError(message)
        return model, version

    def _names_of(self, type_: str | None) -> tuple[str, ...]:
        """Return the names of the models in effect, of a type or of all. They are computed once."""
        if type_ not in self._names:
            self._names[type_] = tuple(model.model for model, _ in self._in_effect_all(type_))
        return self._names[type_]

    def _at_hour(self, version: AnyVersion) -> AnyVersion:
        """Return a version as it is at the hour of this instant: without the rates that do not hold."""
        return self._compiler.at_hour(version, self.hour or self.instant)

    def plain_name(self, name: str) -> str:
        """Return the name of a model without the parameters that may follow it.

        >>> from ratecard import load_rate_card
        >>> load_rate_card().at(date(2026, 10, 1)).plain_name("grok-4-3:enable_web_search=on")
        'grok-4-3'
        """
        return plain_name(self.tables, name)

    def _is_listed(self, name: str) -> bool:
        """Return True for an id or an alias of a model; only these are kept, as open patterns match too many names."""
        return name in self.tables.models or name in self.tables.aliases

    def deprecation(self, name: str) -> Deprecation | None:
        """Return the deprecation headers of a model that will be retired after this instant; None for any other.

        >>> from ratecard import load_rate_card
        >>> load_rate_card().at(date(2026, 9, 1)).deprecation("ltx-2-fast-text-to-video").date
        '2026-09-28'
        """
        model = self.tables.named(name)
        return None if model is None else deprecation_of(model, self.instant)

    def quote_video(self, body: Body, *, source: SourceVideo | None = None) -> Quote:
        """Quote a body of `POST /video/quote`: a mapping, or JSON as bytes or text.

        `source` is what is known of the video to process (upscale, interpolation, source-matched ratios). Amounts are
        in the model's currency; the total is rounded once, as the table says. Raises `QuoteError` for a body that has
        no price, and `TableError` for a version that contradicts its own examples.

        >>> from ratecard import load_rate_card
        >>> prices = load_rate_card().at(date(2026, 10, 1))
        >>> quote = prices.quote_video({"model": "kling-o3-pro-text-to-video", "duration": "5s"})
        >>> quote.total, quote.lines[0].unit_rate
        (Decimal('0.77'), Decimal('0.154'))
        """
        fields = read_body(body)
        try:
            quote = self._video[fields["model"]]
        except (KeyError, TypeError):
            quote = self._find_video(fields)
        return quote(fields, source)

    def _video_totals(
        self, body: Mapping[str, Any], name: str, values: Iterable[Any], *, source: SourceVideo | None = None
    ) -> list[Decimal | QuoteError]:
        """Return the totals of `body` with each of these values in the field `name`, in their order.

        A value without a price has its `QuoteError` in place of a total. Raises `QuoteError` if the model has no price
        for videos.

        >>> from ratecard import load_rate_card
        >>> prices = load_rate_card().at(date(2026, 10, 1))
        >>> total, refusal = prices._video_totals({"model": "kling-o3-pro-text-to-video"}, "duration", ["5s", "99s"])
        >>> total, refusal.problems[0][0]
        (Decimal('0.77'), ('duration',))
        """
        quote = self._find_video(body)
        totals = list[Decimal | QuoteError]()
        for value in values:
            try:
                totals.append(quote({**body, name: value}, source).total)
            except QuoteError as refusal:
                totals.append(refusal)
        return totals

    def rate(self, usage: "AnyUsage | Body") -> Quote:
        """Charge a metered request of any type: a typed usage, a mapping, or JSON as bytes or text.

        `type` may be left out: it is then the model's own, or `upscale` for an image model with a `factor`. Amounts
        are exact, in the model's currency; only video is rounded. Raises `QuoteError` for a usage that has no price,
        and `TableError` for a version that contradicts its own examples.

        >>> from ratecard import load_rate_card
        >>> prices = load_rate_card().at(date(2026, 8, 22))
        >>> usage = {"prompt_tokens": 5500, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 5000}}
        >>> prices.rate({"type": "text", "model": "claude-opus-4-6", "usage": usage}).total
        Decimal('0.0060000')
        """
        fields = usage if usage.__class__ is dict else read_usage(usage)
        try:
            rater = self._raters[fields["model"]][fields["type"]]
        except (KeyError, TypeError):
            return self._rate_by_type(fields)
        return rater(fields, _NO_SUFFIX)

    def quote_audio(self, body: Body) -> Quote:
        """Quote an audio or music body: `model`, and `duration_seconds` or `character_count`.

        The total is exact, in the model's currency. Raises `QuoteError`.
        """
        fields = read_body(body)
        return self._rater(AUDIO_BODY, name_of_model(fields))(fields, _NO_SUFFIX)

    def estimate_text(
        self,
        model: str,
        *,
        prompt_tokens: int,
        max_completion_tokens: int,
        service_parameters: Mapping[str, Any] | None = None,
        web_search_requests: int | None = None,
        scraped_urls: int | None = None,
        x_search_results: int | None = None,
        counts: Mapping[str, Any] | None = None,
    ) -> Estimate:
        """Estimate the least and the most that a text request can cost before it runs; exact.

        The least: every prompt token in its cheapest bucket, no completion, no search. The most: every prompt token in
        its dearest bucket, all of the completion, and the searches that parameters or the model's suffix switch on, up
        to the number in their three arguments, or else in `limits.yaml`. Both include the request's `counts` by meter.
        Raises `QuoteError` if there is no such number, or the model does not support a search.

        >>> from ratecard import load_rate_card
        >>> prices = load_rate_card().at(date(2026, 10, 1))
        >>> prices.estimate_text("grok-4-3:enable_web_search=auto", prompt_tokens=0, max_completion_tokens=0).highest
        Decimal('0.01000000')
        """
        full = name_of_model({"model": model})
        suffix = _NO_SUFFIX if self.plain_name(full) == full else split_model(full)[1]
        text_model, version = self.in_effect(self.plain_name(full))
        if text_model.type != "text":
            self._wrong_type(text_model, "text")
        metered = self._metered(text_model, version)
        if metered.version.tokens is None:
            self._wrong_type(text_model, "tokens")
        surcharges = {search: self._metered(*self.in_effect(name)) for search, name in version.searches.items()}
        parameters: Mapping[str, Any] = {} if service_parameters is None else service_parameters
        if parameters and not self.tables.vocabulary.service_parameters:
            raise QuoteError(INVALID, [(("service_parameters",), "These tables have no service parameters")])
        searches = (web_search_requests, scraped_urls, x_search_results)
        estimated = EstimateRequest(prompt_tokens, max_completion_tokens, suffix, parameters, *searches, counts)
        return estimate(metered, surcharges, self.limits, estimated)

    def rates_of(self, usage: Mapping[str, Any], counted: Iterable[str], *, prompt: int = 0) -> ShapeRates:
        """Return the rates of all requests like a usage, whatever they count, from the functions that price quotes.

        `usage` has 0 of everything that is `counted`: buckets of tokens, a field that may be 0 (`seconds`), or meters
        like `counts.page`; each is charged in proportion. `prompt` is the whole prompt that chooses the tier. A bucket
        without a price is left out of the rates. Raises `QuoteError` for a usage that has no price.

        >>> from ratecard import load_rate_card
        >>> prices = load_rate_card().at(date(2026, 10, 1))
        >>> usage = {"type": "text", "model": "claude-opus-4-6", "tokens": {"input": 0}}
        >>> shape = prices.rates_of(usage, ["input", "output"], prompt=1000)
        >>> shape.total({"input": 1000, "output": 10}), shape.rates["input"][0].sku
        (Decimal('0.006300'), 'claude-opus-4-6-llm-input-mtoken')
        """
        model, base_lines = self._of_nothing(usage, prompt)
        metered, rates = self._metered(*self.in_effect(model)), dict[str, tuple[LineRate, ...]]()
        buckets: Mapping[str, LineRate] = {}
        if metered.version.tokens:
            buckets = rates_of_tokens(self._compiler.token_rates(metered), stated_in(metered, usage), prompt)
        for name in counted:
            if name in buckets:
                rates[name] = (buckets[name],)
            elif name not in self.tables.meters.buckets:
                key, _, meter = name.partition(".")
                one = {key: {**usage.get(key, {}), meter: 1}} if meter else {key: 1}
                lines = list(self._of_nothing({**usage, **one}, prompt)[1])
                for line in base_lines:
                    if line in lines:
                        lines.remove(line)
                rates[name] = tuple(line.rate for line in lines if line.unit != MINIMUM)
        # The lines of the list decide, because one line of a contract may be for this model and for its searches.
        sources = {(rate.listed or rate).source for charge in metered.version.charges for rate in charge.rates}
        charged = [line for line in base_lines if line.unit != MINIMUM]
        by_model = tuple(line for line in charged if line.list_source in sources)
        others = tuple(line for line in charged if line.list_source not in sources)
        return ShapeRates(metered, by_model, others, rates)

    def _of_nothing(self, usage: Mapping[str, Any], prompt: int) -> tuple[str, tuple[LineItem, ...]]:
        """Return the model and the lines of a usage that counts nothing.

        If its conditions are sold only for such a prompt, the lines are those of a usage with the prompt, without the
        lines of tokens.
        """
        try:
            quote = self.rate(usage)
            return quote.model, quote.lines
        except QuoteError:
            if not prompt:
                raise
            counts = {PROMPT: prompt, COMPLETION: 0}
            counted = {"tokens": counts} if "tokens" in usage else usage_of_buckets(counts)
            quote = self.rate({**usage, **counted})
        charge = self._metered(*self.in_effect(quote.model)).version.tokens
        sources = {(rate.listed or rate).source for rate in charge.rates} if charge else set()
        return quote.model, tuple(line for line in quote.lines if line.list_source not in sources)

    def surcharge(self, name: str, count: int) -> Quote:
        """Charge a number of searches, scraped URLs or results alone, for any model."""
        return self.rate({"type": "surcharge", "model": name_of_model({"model": name}), "count": count})

    @property
    def limits(self) -> Limits:
        """Return the limits in effect, or the first ones before they begin; `NO_LIMITS` if the tables have none."""
        dated = self.tables.limits
        return next((limits for limits in dated if limits.effective <= self.day), dated[-1] if dated else NO_LIMITS)

    def _find_video(self, fields: Mapping[str, Any]) -> VideoPricer:
        name = fields.get("model")
        if not isinstance(name, str):
            refuse_without_model(fields, self._compiler.api_wide)
        model, version = self.in_effect(name, "video")
        if not isinstance(model, VideoModel) or not isinstance(version, VideoVersion):
            self._wrong_type(model, "video")
        self.prove(model, version)
        pricer = _as_asked(name, model, self._compiler.video(model, self._at_hour(version), self.limits.rates))
        if self._is_listed(name):
            self._video[name] = pricer
        return pricer

    def _rate_by_type(self, fields: Mapping[str, Any]) -> Quote:
        """Price a usage that has no rater yet: its model is new here or has a suffix, or the usage has no type."""
        if "type" not in fields:
            fields = {"type": self._type_of(fields), **fields}
        kind = fields["type"]
        if not isinstance(kind, str) or RATED.accept(kind) is None:
            raise QuoteError(INVALID, [(("type",), RATED.messages(kind)[0])])
        if kind == "video":
            return self._rate_video(fields)
        if kind == "surcharge" and "model" not in fields:
            needed = [name for name in ("model", "count") if name not in fields]
            raise QuoteError(INVALID, [((name,), REQUIRED) for name in needed])
        name, suffix = self._rpc() if kind == "rpc" and "model" not in fields else name_of_model(fields), _NO_SUFFIX
        if kind == "text" and (plain := self.plain_name(name)) != name:
            name, suffix = plain, split_model(name)[1]
        rater = self._raters.get(name, {}).get(kind)
        if rater is None:
            rater = self._rater(kind, name)
            if self._is_listed(name):
                self._raters.setdefault(name, {})[kind] = rater
        return rater(fields, suffix)

    def _type_of(self, fields: Mapping[str, Any]) -> str:
        """Return the type of a usage that leaves it out: that of its model; only RPC has none."""
        if "model" not in fields and ("network" in fields or "calls" in fields):
            return "rpc"
        name = name_of_model(fields)
        model, _ = self.in_effect(self.plain_name(name))
        return type_left_out(fields, model.type)

    def _rate_video(self, usage: Mapping[str, Any]) -> Quote:
        """Price a video that was made, like a quote of its fields; keys of other types are refused."""
        name = usage.get("model")
        model = self.tables.named(name) if isinstance(name, str) and "provider" in usage else None
        usage = usage if model is None else _of_provider(model, usage)
        conditions = [name for name in self.tables.meters.condition if name in usage and name not in _VIDEO_KEYS]
        others = {name: value for name, value in usage.items() if name not in conditions}
        problems, refused = usage_problems(others, _VIDEO_KEYS), list[tuple[Path, str]]()
        problems += [((name,), "Videos are not priced by conditions. Leave it out") for name in conditions]
        try:
            quote = self.quote_video({name: value for name, value in usage.items() if name in FIELD_ORDER})
        except QuoteError as refusal:
            if not refusal.problems:
                raise
            refused = list(refusal.problems)
        if problems or refused:
            raise QuoteError(INVALID, problems + refused)
        return quote

    def _rater(self, kind: str, name: str) -> Rater:
        model, version = self.in_effect(name)
        searches: dict[str, tuple[AnyModel, Version]] = {}
        if kind == model.type:
            searches = {search: self.in_effect(surcharge) for search, surcharge in version.searches.items()}
        for charged in ((model, version), *searches.values()):
            self.prove(*charged)
        searches = {search: (surcharge, self._at_hour(charged)) for search, (surcharge, charged) in searches.items()}
        rater = self._compiler.rater(kind, model, self._at_hour(version), searches, self.limits)
        if rater is None:
            self._wrong_type(model, kind)
        return _as_asked(name, model, rater)

    def _metered(self, model: AnyModel, version: Version) -> Metered:
        self.prove(model, version)
        return self._compiler.metered(model, self._at_hour(version), self.limits.rates)

    def _rpc(self) -> str:
        """Return the name of the model of RPC credits, which a usage need not state."""
        if not (names := self._names_of("rpc")):
            words = f"Specified model not found: no model of type rpc has a price on {self.day}"
            raise QuoteError(NotOffered(words))
        return names[0]

    def _wrong_type(self, model: AnyModel, asked: str) -> NoReturn:
        words = f"Specified model not found: {model.model} is of type {model.type}, and has no price for {asked}"
        raise QuoteError(NotOffered(words))
