"""Sample requests of made-up usage, how often each is sent in a period of prices, and which are wrong."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.card import RateCard
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.line_items.tokens import TokenRates
from ratecard.methods import method_of
from ratecard.methods.samples import unit_usages
from ratecard.price_book import PriceBook
from ratecard.requests.body import TYPES
from ratecard.requests.service_parameters import SEARCHES, split_model
from ratecard.simulation.rows.columns import LAYOUTS
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.metered import MeteredVersion, TextVersion, Tokens
from ratecard.tables.meters import COMPLETION, PROMPT
from ratecard.tables.version import Model, Version
from ratecard.tables.video import (
    SOURCE_MATCHED_DURATIONS,
    SOURCE_MATCHED_RATIOS,
    ReferenceVideo,
    VideoAccepts,
    VideoVersion,
)
from ratecard.views.sheet import price_cells

DemoRow = dict[str, Any]
# The columns of a usage, in their order.
DEMO_COLUMNS = {column.name: column for layout in (LAYOUTS[kind] for kind in TYPES.words) for column in layout.columns}


class Sample(NamedTuple):
    """A row of a usage table whose tokens, characters and transcribed seconds are medians.

    `cached` and `written` are what the cache has of a prompt, per mille; `most_prompt` the longest prompt in tokens.
    `clip` are the seconds between which the reference video lies, with a fraction.
    """

    row: DemoRow
    cached: int | None = None
    written: int | None = None
    most_prompt: int | None = None
    clip: tuple[int, int] | None = None

    def typical(self) -> DemoRow:
        """Return the row that all rows of this sample are like."""
        prompt, made = self.row.get("prompt_tokens"), self.row.copy()
        shares = {"cached_tokens": self.cached, "cache_creation_input_tokens": self.written}
        made |= {name: prompt * share // 1_000 for name, share in shares.items() if prompt is not None and share}
        return made | ({"reference_video_total_duration": self.clip[0]} if self.clip else {})

    def has_price(self, prices: PriceBook) -> bool:
        """Return True if the typical row has a price."""
        if self.row["type"] != "rpc" and split_model(self.row["model"])[0] not in prices.tables.models:
            return False  # at once: a refusal would look for similar names, which takes longer than a hundred prices
        try:
            quote_row(prices, self.typical())
        except QuoteError:
            return False
        return True


def quote_row(prices: PriceBook, row: DemoRow) -> Quote:
    """Return the quote of one row of a usage table; of RPC, of a batch of one call. Raises `QuoteError`."""
    usage: dict[str, Any] = {"type": row["type"], "model": row["model"]}
    for name, column in DEMO_COLUMNS.items():
        if row.get(name) is not None:
            *within, last = column.path
            place = usage
            for part in within:
                place = place.setdefault(part, {})
            place[last] = row[name]
    if usage["type"] == "video":
        source = usage.pop("source", None)
        del usage["type"]
        return prices.quote_video(usage, source=SourceVideo(**source) if source else None)
    if usage["type"] == "rpc":
        usage["calls"] = [usage.pop("call", {})]
    return prices.rate(usage)


_MOST_PROMPT = 1_000_000
# The fields that switch on a search, and the number of searches of a request.
_SEARCHED = {"web_search": (("on", 1), ("auto", 2)), "web_scraping": ((True, 3),), "x_search": ((True, 8),)}


class _Chat(NamedTuple):
    """The median tokens of one way to use a language model, and the cached part of the prompt, per mille."""

    prompt: int
    completion: int
    cached: int | None = None
    written: int | None = None


_QUESTION = _Chat(900, 350)
_EMBEDDED: tuple[_Chat, ...] = (_Chat(300, 0), _Chat(2_500, 0))
_CHATS: tuple[_Chat, ...] = (
    _QUESTION,
    _Chat(3_000, 500),
    _Chat(6_000, 500, 600),
    _Chat(30_000, 700, 850, 60),
    _Chat(18_000, 1_200),
)


def token_samples(prices: PriceBook, model: Model[Any], version: MeteredVersion, charge: Tokens) -> Iterator[Sample]:
    """Yield the commonest first: chats, then what is longer than the threshold, then searches."""
    rates = TokenRates(model.model, charge, prices.tables.units[charge.unit].per, prices.tables.meters)
    most = version.context_tokens if isinstance(version, TextVersion) else None
    is_text = model.type == "text"
    chats = _CHATS if is_text else _EMBEDDED
    for threshold in rates.thresholds[-1:]:
        long = threshold * 5 // 4
        chats += (_Chat(long, 900), _Chat(long, 900, 500))
    if not rates.prices(PROMPT):
        chats = tuple(_Chat(0, chat.completion) for chat in chats)

    def sample(chat: _Chat, more: dict[str, Any]) -> Sample:
        row = {"type": model.type, "model": model.model, "prompt_tokens": chat.prompt, **more}
        if is_text:
            row["completion_tokens"] = chat.completion if rates.prices(COMPLETION) else 0
        cached = chat.cached if rates.prices("cache_input") else None
        written = chat.written if rates.prices("cache_write") else None
        return Sample(row, cached, written, most or _MOST_PROMPT)

    yield from (sample(chat, {}) for chat in chats)
    surcharges = version.surcharges if isinstance(version, TextVersion) else {}
    switched = prices.tables.vocabulary.service_parameters
    for kind, (field, switch) in SEARCHES.items():
        for value, count in _SEARCHED[kind] if kind in surcharges else ():
            count = min(count, prices.limits.scraped_urls) if kind == "web_scraping" else count
            yield sample(_QUESTION, {field: count} | ({switch: value} if switched else {}))


def counted_samples(model: Model[Any], version: MeteredVersion, tables: Tables, chance: Random) -> Iterator[Sample]:
    """Yield samples of every rate of a model that is neither video nor tokens."""
    usages: Iterable[dict[str, Any]] = unit_usages(model, version, tables)
    for charge in reversed(version.charges):
        usages = method_of(charge).typical(usages, chance)
    for usage in usages:
        [call] = usage.pop("calls", [{}])
        yield Sample(usage | call)


_REFERENCE = "reference_video_total_duration"
_MATCHED = {"duration": SOURCE_MATCHED_DURATIONS, "aspect_ratio": SOURCE_MATCHED_RATIOS, "resolution": ()}
_FRAME_RATES = (24, 25, Decimal("29.97"), 30, 60)
# Seconds of the videos that are sent for processing, where the model takes as many.
_LEAST_SOURCE, _MOST_SOURCE = 2, 120
# One in this many reference videos decides the length, or the ratio, of the video that is made.
_ONE_IN = 6


def video_samples(prices: PriceBook, name: str, version: VideoVersion, chance: Random) -> Iterator[Sample]:
    """Yield samples of every price cell of a video model; with reference video, of whole seconds and of others."""
    accepts = version.accepts
    for cell in price_cells(prices, name):
        row: dict[str, Any] = {"type": "video", **cell.body}
        for field in _MATCHED:
            values = _stated(accepts, field)
            if field not in row and values and not (cell.video and field == "duration"):
                row[field] = chance.choice(values)
        if accepts.audio == "configurable" and "audio" not in row and chance.randrange(2):
            row["audio"] = bool(chance.randrange(2))
        if cell.video:
            row |= _source(accepts, chance)
            row |= {"source_width": cell.video.width, "source_height": cell.video.height}
        if _REFERENCE in row and accepts.reference_video_total_duration:
            yield from _with_reference(row, accepts, accepts.reference_video_total_duration, chance)
        else:
            yield Sample(row)


def _stated(accepts: VideoAccepts, field: str) -> list[str]:
    """Return the values of a field that need no clip to be understood."""
    return [value for value in getattr(accepts, field) or () if value not in _MATCHED[field]]


def _source(accepts: VideoAccepts, chance: Random) -> dict[str, Any]:
    most = min(accepts.video_url.max_seconds, _MOST_SOURCE) if accepts.video_url else _MOST_SOURCE
    seconds = Decimal(chance.randint(min(_LEAST_SOURCE, most) * 100, most * 100)).scaleb(-2)
    url = f"https://example.com/clips/{chance.randrange(10_000)}.mp4"
    return {"video_url": url, "source_seconds": seconds, "source_fps": chance.choice(_FRAME_RATES)}


def _with_reference(
    row: dict[str, Any], accepts: VideoAccepts, limits: ReferenceVideo, chance: Random
) -> Iterator[Sample]:
    most = limits.longest_clip
    least = min(limits.source_min, most - 1)
    for field in ("duration", "aspect_ratio"):
        words = [word for word in getattr(accepts, field) or () if word in _MATCHED[field]]
        if words and least == limits.source_min and not chance.randrange(_ONE_IN):
            row = row | {field: chance.choice(words)}
    yield Sample(row | {_REFERENCE: chance.randint(least, most) or most})
    yield Sample({name: value for name, value in row.items() if name != _REFERENCE}, clip=(least, most))


_UNKNOWN = "preview"
_FAR_TOO_LONG = "99s"
# A filter lives on a connection, which a proxy does not keep.
_REFUSED_METHOD = "eth_newFilter"
_TWICE_THE_PROMPT = 2_000


def _spoilt(sample: Sample, resolution: str) -> Iterator[Sample]:
    """Yield copies of a sample that are wrong in each way in which a row of its type can be."""

    def changed(**fields: Any) -> Sample:
        return sample._replace(row=row | fields)

    def without(name: str) -> Sample:
        return sample._replace(row={key: value for key, value in row.items() if key != name})

    row = sample.row
    if row["type"] != "rpc":
        yield changed(model=f"{row['model']}-{_UNKNOWN}")
    match row["type"]:
        case "text":
            yield without("completion_tokens")
            yield sample._replace(cached=_TWICE_THE_PROMPT, written=None)
            yield changed(type="chat")
        case "video":
            yield changed(duration=_FAR_TOO_LONG)
            yield without("duration")
            yield changed(resolution=resolution)
        case "rpc":
            yield changed(method=_REFUSED_METHOD)
            yield changed(network=f"{row['network']}-{_UNKNOWN}")
        case _:
            pass


MILLION = 1_000_000
# Rows of each type, of a thousand, as they come in practice, which neither methods nor tables say; "fractional" are the
# reference videos with a fraction of a second.
_SHARES = {"text": 700, "rpc": 80, "image": 80, "video": 60, "embedding": 40}
_SHARES |= {"speech": 10, "transcription": 10, "edit": 10, "music": 5, "upscale": 5}
_FRACTIONAL = "fractional"
# Every model has at least one in this many of all rows.
_RAREST = 10_000
_FINE = 10**15
# The number of models of each type that have wrong rows.
_SPOILT_MODELS = 4


class DemoModel(NamedTuple):
    """One version of one model: the number of its first sample, how many it has, and its weight on each of its days."""

    group: str
    model: str
    first: int
    kinds: int
    weight: int = 0


class Period(NamedTuple):
    """Days on which no price changes, what is offered, and what is wrong of it."""

    start: date
    end: date
    offers: tuple[DemoModel, ...]
    faults: DemoModel

    @property
    def days(self) -> int:
        """Return its number of days."""
        return (self.end - self.start).days


class Traffic:
    """The samples of a rate card, and the periods from its first version to `until`."""

    def __init__(self, card: RateCard, until: date, seed: int, fractional: int) -> None:
        self.samples: list[Sample] = []
        self._chance = Random(seed)  # noqa: S311 (makes usage up, keeps no secret)
        self._known: dict[tuple[str, date], list[DemoModel]] = {}
        days = [instant.date() for instant in card.boundaries() if instant.date() < until]
        bare = [Period(*each, tuple(self._offers(card.at(each[0]))), _NO_FAULTS) for each in pairwise([*days, until])]
        weights = _weights([period for period in bare if period.offers], fractional, self._chance)
        self.periods: list[Period] = []
        for period in bare:
            offers = tuple(offer._replace(weight=weights[offer.group, offer.model]) for offer in period.offers)
            if offers:
                faults = self._faults(card.at(period.start), offers)
                self.periods.append(period._replace(offers=offers, faults=faults))

    def _offers(self, prices: PriceBook) -> Iterator[DemoModel]:
        calls = False
        for model, version in prices._in_effect_all():
            if model.type == "surcharge" or (model.type == "rpc" and calls):
                continue  # a surcharge is part of a text request; only the first table of credits is used
            calls = calls or model.type == "rpc"
            key = (model.model, version.effective)
            if key not in self._known:
                self._known[key] = list(self._sampled(prices, model, version))
            yield from (offer for offer in self._known[key] if self.samples[offer.first].has_price(prices))

    def _sampled(self, prices: PriceBook, model: AnyModel, version: Version) -> Iterator[DemoModel]:
        drawn = list(_samples(prices, model, version, self._chance))
        if model.type not in ("text", "embedding"):
            self._chance.shuffle(drawn)
        groups: dict[str, list[Sample]] = defaultdict(list)
        for sample in drawn:
            groups[_FRACTIONAL if sample.clip else sample.row["type"]].append(sample)
        for group, samples in groups.items():
            yield DemoModel(group, model.model, len(self.samples), len(samples))
            self.samples += samples

    def _faults(self, prices: PriceBook, offers: tuple[DemoModel, ...]) -> DemoModel:
        of_group: dict[str, list[Sample]] = defaultdict(list)
        for offer in offers:
            of_group[offer.group].append(self.samples[offer.first])
        chosen = [sample for found in of_group.values() for sample in found[:_SPOILT_MODELS]]
        others = [self.samples[offer.first] for known in self._known.values() for offer in known]
        self._chance.shuffle(others)
        resolution = prices.tables.vocabulary.video.resolution[0]
        spoilt = [copy for sample in chosen for copy in _spoilt(sample, resolution)]
        faulty = [each for each in (*spoilt, *others[: len(chosen)]) if not each.has_price(prices)]
        self._chance.shuffle(faulty)
        first = len(self.samples)
        self.samples += faulty
        return _NO_FAULTS._replace(first=first, kinds=len(faulty))


_NO_FAULTS = DemoModel("faults", "", 0, 0)


def _samples(prices: PriceBook, model: AnyModel, version: Version, chance: Random) -> Iterator[Sample]:
    if isinstance(version, VideoVersion):
        yield from video_samples(prices, model.model, version, chance)
    elif isinstance(version, MeteredVersion) and version.tokens:
        yield from token_samples(prices, model, version, version.tokens)
    elif isinstance(version, MeteredVersion):
        yield from counted_samples(model, version, prices.tables, chance)


def _weights(periods: list[Period], fractional: int, chance: Random) -> dict[tuple[str, str], int]:
    """Return the weight of each model on each of its days.

    Within a group, popularity falls with the rank (Zipf); over all days, every group has its part of all rows.
    `fractional` is the part of the reference videos with a fraction of a second, of a million.
    """
    days: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for period in periods:
        for offer in period.offers:
            days[offer.group][offer.model] += period.days
    shares = sum(_SHARES[group] for group in days if group != _FRACTIONAL)
    weights = {}
    for group, models in sorted(days.items()):
        share = fractional * shares if group == _FRACTIONAL else (MILLION - fractional) * _SHARES[group]
        ranked = sorted(models)
        chance.shuffle(ranked)
        rate = {model: MILLION // rank for rank, model in enumerate(ranked, 1)}
        total = sum(rate[model] * models[model] for model in models)
        least = _FINE * shares * MILLION // _RAREST if share and group != _FRACTIONAL else 0
        for model in models:
            rows = _FINE * share * rate[model] * models[model] // total
            weights[group, model] = max(rows, least) // models[model]
    return weights
