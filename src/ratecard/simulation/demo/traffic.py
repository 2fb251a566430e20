"""Which samples made-up usage has in each period of prices, how often, and which rows are wrong."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise
from random import Random
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.price_book import PriceBook
from ratecard.simulation.demo.requests import DemoRow, Sample, counted_samples, token_samples, video_samples
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.version import Version
from ratecard.tables.video import VideoVersion

_UNKNOWN = "preview"
_FAR_TOO_LONG = "99s"
# A filter lives on a connection, which a proxy does not keep.
_REFUSED_METHOD = "eth_newFilter"
_TWICE_THE_PROMPT = 2_000


def faulty_samples(prices: PriceBook, samples: Iterable[Sample], others: Iterable[Sample]) -> list[Sample]:
    """Return spoilt copies of some `samples`, and those of `others` whose models have no price in this book."""
    spoilt = [each for sample in samples for each in _spoilt(sample, prices.tables.vocabulary.video.resolution)]
    return [sample for sample in (*spoilt, *others) if not sample.has_price(prices)]


def _spoilt(sample: Sample, resolutions: Sequence[str]) -> Iterator[Sample]:
    row = sample.row
    if row["type"] != "rpc":
        yield sample._replace(row=row | {"model": f"{row['model']}-{_UNKNOWN}"})
    match row["type"]:
        case "text":
            yield sample._replace(row=_without(row, "completion_tokens"))
            yield sample._replace(cached=_TWICE_THE_PROMPT, written=None)
            yield sample._replace(row=row | {"type": "chat"})
        case "video":
            yield sample._replace(row=row | {"duration": _FAR_TOO_LONG})
            yield sample._replace(row=_without(row, "duration"))
            yield sample._replace(row=row | {"resolution": resolutions[0]})
        case "rpc":
            yield sample._replace(row=row | {"method": _REFUSED_METHOD})
            yield sample._replace(row=row | {"network": f"{row['network']}-{_UNKNOWN}"})
        case _:
            pass


def _without(row: DemoRow, name: str) -> DemoRow:
    return {key: value for key, value in row.items() if key != name}


MILLION = 1_000_000
# Rows of each type, of a thousand, as they come in practice, which neither methods nor tables say; "fractional" are the
# reference videos with a fraction of a second.
_SHARES = {"text": 700, "rpc": 80, "image": 80, "video": 60, "embedding": 40}
_SHARES |= {"speech": 10, "transcription": 10, "edit": 10, "music": 5, "upscale": 5}
_FRACTIONAL = "fractional"
# Every model has at least one in this many of all rows.
_RAREST = 10_000
_FINE = 10**15
# How many models of each type have wrong rows.
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
        """How many days it has."""
        return (self.end - self.start).days

    @property
    def last(self) -> date:
        """Its last day."""
        return self.end - timedelta(days=1)


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
        found = list(_samples(prices, model, version, self._chance))
        if model.type not in ("text", "embedding"):
            self._chance.shuffle(found)
        groups: dict[str, list[Sample]] = defaultdict(list)
        for sample in found:
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
        faulty = faulty_samples(prices, chosen, others[: len(chosen)])
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
    whole = sum(_SHARES[group] for group in days if group != _FRACTIONAL)
    weights = {}
    for group, models in sorted(days.items()):
        share = fractional * whole if group == _FRACTIONAL else (MILLION - fractional) * _SHARES[group]
        ranked = sorted(models)
        chance.shuffle(ranked)
        rate = {model: MILLION // rank for rank, model in enumerate(ranked, 1)}
        total = sum(rate[model] * models[model] for model in models)
        least = _FINE * whole * MILLION // _RAREST if share and group != _FRACTIONAL else 0
        for model in models:
            rows = _FINE * share * rate[model] * models[model] // total
            weights[group, model] = max(rows, least) // models[model]
    return weights


def last_day(card: RateCard) -> date:
    """Return the day on which usage ends where none is named: 60 days after the last price that is known."""
    return card.boundaries()[-1].date() + timedelta(days=60)
