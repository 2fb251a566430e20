"""Realistic usage in a file: any number of made-up requests of every model that has a price.

One query makes the rows, each from its number and the seed alone. More requests are made on working days and in the
afternoon; pages of rows follow each other in time. A period has slots of samples: the more slots a model has, the more
often it is used.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from hashlib import blake2b
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from ratecard.base.errors import QuoteError, SimulationError, missing_extra
from ratecard.base.files import replacing
from ratecard.base.instants import utc
from ratecard.base.money import EXACT, multiply
from ratecard.base.suggestions import did_you_mean
from ratecard.base.threads import stoppable
from ratecard.card import RateCard, load_rate_card
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.line_items.tokens import TokenRates
from ratecard.methods import method_of
from ratecard.methods.method import unit_usages
from ratecard.price_book import PriceBook
from ratecard.requests.service_parameters import SEARCHES, split_model
from ratecard.simulation.rows.columns import USAGE_COLUMNS
from ratecard.simulation.sql import DuckDbSql, system_reason
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

if TYPE_CHECKING:
    import duckdb
    import pyarrow


DemoRow = dict[str, Any]


class Sample(NamedTuple):
    """A row of a usage table whose tokens, characters and transcribed seconds are medians.

    `cached` and `written` are the parts of a prompt that the cache has or gets, per mille; `most_prompt` is the longest
    prompt in tokens. `clip` has the least and the most seconds of a reference video with a fraction of a second.
    """

    row: DemoRow
    cached: int | None = None
    written: int | None = None
    most_prompt: int | None = None
    clip: tuple[int, int] | None = None

    def typical(self) -> DemoRow:
        """Return a typical row of this sample."""
        prompt, row = self.row.get("prompt_tokens"), self.row.copy()
        shares = {"cached_tokens": self.cached, "cache_creation_input_tokens": self.written}
        row |= {name: prompt * share // 1_000 for name, share in shares.items() if prompt is not None and share}
        return row | ({"reference_video_total_duration": self.clip[0]} if self.clip else {})

    def has_price(self, prices: PriceBook) -> bool:
        """Return True if the typical row has a price."""
        if self.row["type"] != "rpc" and split_model(self.row["model"])[0] not in prices.tables.models:
            return False  # a refusal would search for similar names, which takes longer than pricing a hundred requests
        try:
            quote_row(prices, self.typical())
        except QuoteError:
            return False
        return True


def quote_row(prices: PriceBook, row: DemoRow) -> Quote:
    """Return the quote of one row of a usage table; an RPC row is a batch of one call. Raises `QuoteError`."""
    usage: dict[str, Any] = {name: row[name] for name in ("type", "model") if row[name] is not None}
    for name, column in USAGE_COLUMNS.items():
        if row.get(name) is not None:
            column.put(usage, row[name])
    if usage["type"] == "video":
        source = usage.pop("source", None)
        del usage["type"]
        return prices.quote_video(usage, source=SourceVideo(**source) if source else None)
    if usage["type"] == "rpc":
        usage["calls"] = [usage.pop("call", {})]
    return prices.rate(usage)


_MOST_PROMPT = 1_000_000
# The values that switch on a kind of search, each with the number of searches of a request.
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
    """Yield samples of a model with tokens, the commonest first: chats, prompts above the threshold, searches."""
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
    switched = prices.tables.vocabulary.service_parameters
    for kind, (field, switch) in SEARCHES.items():
        for value, count in _SEARCHED[kind] if kind in version.searches else ():
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
# The least and the most seconds of source videos, where the model takes that many.
_LEAST_SOURCE, _MOST_SOURCE = 2, 120
# In one of this many reference videos, the clip decides the length or the ratio of the result.
_ONE_IN = 6


def video_samples(prices: PriceBook, name: str, version: VideoVersion, chance: Random) -> Iterator[Sample]:
    """Yield samples of every price cell of a video model; reference videos have whole seconds or fractions."""
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
    """Return the values of a field that do not depend on a clip."""
    return [value for value in getattr(accepts, field) or () if value not in _MATCHED[field]]


def _source(accepts: VideoAccepts, chance: Random) -> dict[str, Any]:
    most = min(accepts.video_url.max_seconds, _MOST_SOURCE) if accepts.video_url else _MOST_SOURCE
    seconds = EXACT.scaleb(Decimal(chance.randint(min(_LEAST_SOURCE, most) * 100, most * 100)), -2)
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
    """Yield a copy of a sample for each mistake that a row of its type can have."""

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
# The rows of each type in a thousand, as in practice; neither methods nor tables know these numbers. "fractional" are
# the reference videos with a fraction of a second.
_SHARES = {"text": 700, "rpc": 80, "image": 80, "video": 60, "embedding": 40}
_SHARES |= {"speech": 10, "transcription": 10, "edit": 10, "music": 5, "upscale": 5}
_FRACTIONAL = "fractional"
# Every model has at least one of this many rows.
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
    """Days on which no price changes, with the models that are offered, and the samples without a price."""

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
        bare = [Period(*span, tuple(self._offers(card.at(span[0]))), _NO_FAULTS) for span in pairwise([*days, until])]
        bare = [period for period in bare if period.offers]
        weights = _weights(bare, fractional, self._chance)
        self.periods: list[Period] = []
        for period in bare:
            offers = tuple(offer._replace(weight=weights[offer.group, offer.model]) for offer in period.offers)
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
        chosen = [sample for samples in of_group.values() for sample in samples[:_SPOILT_MODELS]]
        others = [self.samples[offer.first] for known in self._known.values() for offer in known]
        self._chance.shuffle(others)
        resolution = prices.tables.vocabulary.video.resolution[0]
        spoilt = [copy for sample in chosen for copy in _spoilt(sample, resolution)]
        faulty = [sample for sample in (*spoilt, *others[: len(chosen)]) if not sample.has_price(prices)]
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

    Within a group, popularity falls with the rank (Zipf); over all days, every group has its share of all rows.
    `fractional` is the share of the reference videos with a fraction of a second, in millionths.
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


_WEEKDAYS = (100, 104, 105, 103, 94, 52, 48)
_HOURS = (22, 18, 15, 14, 16, 22, 32, 48, 66, 80, 90, 95, 94, 98, 100, 98, 92, 84, 74, 66, 58, 48, 38, 28)
_HOUR = 3_600_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Enough pages for a smooth year.
_MOST_PAGES = 65_536


def _pages_of(periods: Sequence[Period], rows: int) -> Iterator[dict[str, int]]:
    """Yield pages with equal numbers of rows (give or take one), in the order of time; a page does not cross an hour.

    Each has its first microsecond, its length in microseconds, and the number of its period.
    """
    hours = list(_hours(periods))
    ends = list(accumulate(weight for _, _, weight in hours))
    count = min(rows, _MOST_PAGES)
    edges = [_place(hours, ends, ends[-1] * (2 * page + 1), 2 * count) for page in range(count)]
    for page, (start, number) in enumerate(edges):
        end = hours[number][0] + _HOUR
        following = edges[page + 1][0] if page + 1 < count else end
        length = min(following, end) - start
        yield {"page": page, "start": start, "length": length, "period": hours[number][1]}


def _place(hours: Sequence[tuple[int, int, int]], ends: Sequence[int], target: int, parts: int) -> tuple[int, int]:
    """Return the microsecond at which target / parts of all weight is reached, and its hour."""
    number = bisect_right(ends, target // parts)
    start, _, weight = hours[number]
    within = target - (ends[number] - weight) * parts
    return start + min(_HOUR * within // (weight * parts), _HOUR - 1), number


def _hours(periods: Sequence[Period]) -> Iterator[tuple[int, int, int]]:
    """Yield the first microsecond, the period and the weight of every hour."""
    for number, period in enumerate(periods):
        weight = sum(offer.weight for offer in period.offers)
        midnight = utc(period.start)
        for day in range(period.days):
            start = midnight + timedelta(days=day)
            since = (start - _EPOCH) // timedelta(microseconds=1)
            for hour, of_hour in enumerate(_HOURS):
                yield since + hour * _HOUR, number, weight * _WEEKDAYS[start.weekday()] * of_hour


# The slots of each period; a power of two.
_SLOTS = 65_536


class Stretch(NamedTuple):
    """A run of `slots` slots from `slot` on, which hold the `kinds` samples from `first` on."""

    slot: int
    slots: int
    first: int
    kinds: int


def demo_stretches(periods: Sequence[Period], bad: int) -> Iterator[Stretch]:
    """Yield the slots of every period: those of spoilt rows (`bad` in a million), then those of each model by weight.

    A model that is used has at least one slot, as long as there are enough.
    """
    for number, period in enumerate(periods):
        spoilt = min(_SLOTS, max(1, (2 * _SLOTS * bad + MILLION) // (2 * MILLION))) if bad else 0
        used, left = [offer for offer in period.offers if offer.weight], _SLOTS - spoilt
        least, total = int(len(used) <= left), sum(offer.weight for offer in used)
        ends = [(left - least * len(used)) * part // total for part in accumulate(offer.weight for offer in used)]
        slots = [end - start + least for start, end in pairwise((0, *ends))]
        slot = number * _SLOTS
        for offer, share in zip((period.faults, *used), (spoilt, *slots), strict=True):
            if share:
                yield Stretch(slot, share, offer.first, offer.kinds)
                slot += share


# Seconds and frames per second to the thousandth: the number of digits.
_DIGITS = {"seconds": 12, "reference_video_total_duration": 9, "source_seconds": 9, "source_fps": 9}
_OF_SAMPLE = ("cached", "written", "most_prompt", "clip_least", "clip_most")
_MEDIANS = ("completion_tokens", "characters", "character_count")
_DRAWS = 16
_REGIONS = ("us-east", "us-east", "us-west", "eu-west", "eu-west", "eu-north", "ap-northeast", "ap-south")


def _prepare(
    connection: "duckdb.DuckDBPyConnection",
    samples: Sequence[Sample],
    periods: Sequence[Period],
    *,
    rows: int,
    customers: int,
    bad: int,
) -> None:
    """Make the small tables that the query joins: samples, slots, pages of time, and the keys of customers."""
    import pyarrow

    records = []
    for sample in samples:
        of_sample = (sample.cached, sample.written, sample.most_prompt, *(sample.clip or (None, None)))
        records.append(sample.row | dict(zip(_OF_SAMPLE, of_sample, strict=True)))
    connection.register("sample_rows", pyarrow.Table.from_pylist(records, _schema()))
    connection.execute("CREATE TABLE samples AS SELECT row_number() OVER () - 1 AS sample, * FROM sample_rows")
    stretches = [stretch._asdict() for stretch in demo_stretches(periods, bad)]
    for name, table_rows in (("stretches", stretches), ("pages", list(_pages_of(periods, rows)))):
        connection.register(f"{name}_rows", pyarrow.Table.from_pylist(table_rows))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_rows")
    connection.execute("CREATE TABLE slots AS SELECT slot + unnest(range(slots)) AS slot, first, kinds FROM stretches")
    places = ", ".join(f"'{region}'" for region in _REGIONS)
    connection.execute(
        "CREATE TABLE keys AS SELECT i AS key, 'customer-' || lpad((i // 3 + 1)::VARCHAR, $width, '0') AS customer, "
        "'key-' || lpad((i // 3 + 1)::VARCHAR, $width, '0') || '-' || (i % 3 + 1) AS api_key, "
        f"[{places}][1 + (hash(i) % {len(_REGIONS)})::INTEGER] AS region FROM range(3 * $customers) t(i)",
        {"width": max(4, len(str(customers))), "customers": customers},
    )


def _usage_query(*, rows: int, pages: int, customers: int, seed: int, timestamp: str) -> str:
    """Return the query of the usage table. `timestamp` is an expression of `moment`, in microseconds since 1970.

    The function `counted(i)` returns the numbers of rows unchanged, and counts them.
    """
    start = int.from_bytes(blake2b(str(seed).encode(), digest_size=7).digest())

    def draw(number: int) -> str:  # a random integer of 64 bits
        return f"hash(i * {_DRAWS} + {start + number})"

    def share(number: int) -> str:  # a random number of at least 0 and less than 1
        return f"(({draw(number)} >> 12)::DOUBLE / {1 << 52})"

    normal = f"sqrt(-2 * ln(1 - {share(0)}))"
    columns = ", ".join(f"{_column(name)} AS {name}" for name in USAGE_COLUMNS)
    return f"""
    SELECT type, model, {timestamp} AS timestamp, 'req-{seed}-' || lpad(i::VARCHAR, 12, '0') AS request_id,
      customer, api_key, region, {columns}
    FROM (
      SELECT *, start + length * (i * {pages} - page * {rows} + ({draw(1)} % {pages})::BIGINT) // {rows + pages}
          AS moment,
        exp({normal} * cos(2 * pi() * {share(2)}) * 1.1) AS longer,
        exp({normal} * sin(2 * pi() * {share(2)}) * 1.1) AS wordier,
        greatest(least(1, prompt_tokens), least(most_prompt, (prompt_tokens * longer)::BIGINT)) AS prompt,
        1000 * clip_least + ({draw(3)} % (1000 * (clip_most - clip_least))::UBIGINT)::BIGINT AS thousandth
      FROM (SELECT counted(i) AS i FROM range({rows}) t(i))
      JOIN pages ON page = i * {pages} // {rows}
      JOIN slots ON slot = {_SLOTS} * period + ({draw(4)} % {_SLOTS})::BIGINT
      JOIN samples ON sample = first + floor(kinds * {share(5)} * {share(5)})::BIGINT
      JOIN keys ON key = 3 * least({customers - 1}, floor(pow({customers} + 1, {share(6)}))::BIGINT - 1)
        + greatest(0, ({draw(7)} % 4)::BIGINT - 1)
    )"""


def _column(name: str) -> str:
    """Return the expression of a column, which varies by row; `longer` and `wordier` are log-normal around 1."""
    prompt = "CASE WHEN prompt_tokens IS NOT NULL THEN prompt END"
    match name:
        case "prompt_tokens":
            return prompt
        case "cached_tokens":
            return "prompt * cached // 1000"
        case "cache_creation_input_tokens":
            return "prompt * written // 1000"
        case "seconds":
            return _thousandths("(1000 * seconds * longer)::BIGINT", _DIGITS[name])
        case "reference_video_total_duration":
            fraction = _thousandths("thousandth + (thousandth % 1000 = 0)::BIGINT", _DIGITS[name])
            return f"coalesce({name}, {fraction})"
        case _ if name in _MEDIANS:
            return f"({name} * {'wordier' if name == 'completion_tokens' else 'longer'})::BIGINT"
        case _:
            return name


def _thousandths(thousandths: str, digits: int) -> str:
    """Return thousandths as a decimal: a product, because a quotient would be a float."""
    return f"(({thousandths})::DECIMAL({digits}, 0) * 0.001::DECIMAL(4, 3))::DECIMAL({digits}, 3)"


def _schema() -> "pyarrow.Schema":
    import pyarrow

    kinds = {"text": pyarrow.string(), "url": pyarrow.string(), "flag": pyarrow.bool_(), "number": pyarrow.int64()}
    fields = {"type": pyarrow.string(), "model": pyarrow.string()}
    for name, column in USAGE_COLUMNS.items():
        fields[name] = pyarrow.decimal128(_DIGITS[name], 3) if name in _DIGITS else kinds[column.kind]
    return pyarrow.schema(fields | dict.fromkeys(_OF_SAMPLE, pyarrow.int64()))


# Reports of progress per second.
_A_SECOND = 5


# By the ending of a file: how DuckDB writes it, and how it makes a timestamp of microseconds in it.
_TEXT = "strftime(make_timestamp({}), '%Y-%m-%dT%H:%M:%S.%fZ')"
_FORMATS = {
    ".parquet": ("FORMAT parquet, COMPRESSION zstd", "make_timestamptz({})"),
    ".csv": ("FORMAT csv, HEADER", _TEXT),
    ".jsonl": ("FORMAT json", _TEXT),
}


def _write_table(
    connection: "duckdb.DuckDBPyConnection", query: str, path: Path, options: str, watch: Callable[[], None]
) -> None:
    """Write the rows of a query; `path` is only replaced when all are written. `watch` is called meanwhile.

    Raises `SimulationError`. An interrupt stops the query, leaves no new file, and is raised again.
    """
    import duckdb

    try:
        with replacing(path) as new, stoppable(connection.interrupt) as pool:
            job = pool.submit(connection.execute, f"COPY ({query}) TO {DuckDbSql.literal(str(new))} ({options})")
            while not wait([job], timeout=1 / _A_SECOND).done:
                watch()
            job.result()
            watch()
    except (OSError, duckdb.IOException) as error:
        reason = system_reason(error) or str(error).splitlines()[0]
        raise SimulationError(f"{path} cannot be written: {reason}. It is as it was") from None


CUSTOMERS, BAD_SHARE, FRACTIONAL_SHARE = 2_000, Decimal("0.001"), Decimal("0.0005")
MOST_ROWS, MOST_CUSTOMERS = 10**9, 10**6
_MEMORY = "1500MB"
_SETTINGS = (
    "autoinstall_known_extensions = false",
    # Joins are made as they are written: the rows stream past the small tables, and so keep their order.
    "disabled_optimizers = 'join_order,build_side_probe_side'",
    "preserve_insertion_order = true",
)


def demo_usage(
    out: str | Path,
    rows: int,
    *,
    seed: int = 0,
    card: RateCard | None = None,
    until: date | None = None,
    customers: int = CUSTOMERS,
    bad_share: Decimal = BAD_SHARE,
    fractional_share: Decimal = FRACTIONAL_SHARE,
    watch: Callable[[int], None] = lambda rows: None,
) -> tuple[date, date]:
    """Write made-up usage as Parquet, CSV or JSON lines, by the ending of `out`; return its first and last day.

    A row is a request (for RPC, a call) in the columns of a usage table (`rows.columns`), with `timestamp` in
    UTC, `request_id`, `customer`, `api_key` and `region`. The rows are in the order of time, from the first version
    of the card (by default the shipped one) until 60 days after its last change, or the day `until`. Equal
    arguments make equal rows, with the same release of DuckDB.

    About 70 % are text, 8 % RPC, 8 % images, 6 % video. `bad_share` of all rows have no price, for one of the reasons
    that real rows have; `fractional_share` of all rows are reference videos with a fraction of a second. Both are parts
    of one. `watch` is called now and then with the number of rows made. An existing file is replaced at the end. Models
    that charge `counts` have no rows, unless a usage may leave these out.

    Raises `ValueError` for an argument that is not allowed, `SimulationError` for a file that cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first, last = demo_usage(Path(folder) / "usage.csv", 1_000, until=date(2026, 10, 1))
    ...     print(first, last, len((Path(folder) / "usage.csv").read_text().splitlines()))
    2025-12-01 2026-09-30 1001
    """
    path, card = Path(out), card or load_rate_card()
    until = until or card.boundaries()[-1].date() + timedelta(days=60)
    ending = path.suffix.lower()
    if ending not in _FORMATS:
        near = did_you_mean(ending, _FORMATS)
        raise ValueError(f"'{path.name}' ends in no known format.{near} Allowed: {', '.join(_FORMATS)}")
    options, timestamp = _FORMATS[ending]
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{path} is not a file in an existing folder. Make {path.parent}, or name another file")
    _check("rows", rows, 1, MOST_ROWS)
    _check("seed", seed, 0, MOST_ROWS)
    _check("customers", customers, 1, MOST_CUSTOMERS)
    bad, fractional = _millionths("bad_share", bad_share), _millionths("fractional_share", fractional_share)
    first = card.boundaries()[0].date()
    if until <= first:
        raise ValueError(f"until {until}: the first price takes effect on {first}. Name a later day")
    traffic = Traffic(card, until, seed, fractional)
    if not any(offer.weight for period in traffic.periods for offer in period.offers):
        raise ValueError(f"fractional_share {fractional_share}: no model of these tables takes reference video")
    try:
        from ratecard.simulation.workspace import Workspace
    except ImportError as error:
        raise missing_extra("simulate", error) from None
    made = 0

    def counted(numbers: Any) -> Any:
        nonlocal made
        made += len(numbers)
        return numbers

    with closing(Workspace(_MEMORY)) as workspace:
        connection = workspace.connection
        for setting in _SETTINGS:
            connection.execute(f"SET {setting}")
        connection.create_function(  # type: ignore[call-overload] # it takes the word, too
            "counted", counted, ["BIGINT"], "BIGINT", type="arrow", side_effects=True
        )
        _prepare(connection, traffic.samples, traffic.periods, rows=rows, customers=customers, bad=bad)
        pages = min(rows, _MOST_PAGES)
        moment = timestamp.format("moment")
        query = _usage_query(rows=rows, pages=pages, customers=customers, seed=seed, timestamp=moment)
        _write_table(connection, query, path, options, lambda: watch(made))
    return traffic.periods[0].start, traffic.periods[-1].end - timedelta(days=1)


def _check(name: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise ValueError(f"{name} {number} is not allowed. Allowed: {least:,} to {most:,}")


def _millionths(name: str, share: Decimal) -> int:
    if not 0 <= share <= 1:
        raise ValueError(f"{name} {share} is not a part of one. Allowed: 0 to 1, like 0.001")
    return int(multiply(share, Decimal(MILLION)))
