"""Random cards that charge counts by meter, linearly and otherwise, and random rows of them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow
from rows import Row

from ratecard import RateCard
from ratecard.load.folder import tables_from

START = datetime(2026, 10, 1, tzinfo=UTC)
UNITS = """units:
  - {unit: mtoken, counts: token, per: 1000000}
  - {unit: kpage, counts: page, per: 1000}
  - {unit: request, counts: request, per: 1}
  - {unit: image, counts: image, per: 1}
  - {unit: mcharacter, counts: character, per: 1000000}
"""
# The units of these and of all other charges that a random card may have.
ALL_UNITS = (
    UNITS
    + """\
  - {unit: leaf, counts: page, per: 7}
  - {unit: minute, counts: minute, per: 1}
  - {unit: minute_of_hour, counts: minute, per: 60}
  - {unit: song, counts: song, per: 1}
  - {unit: audio_second, counts: second of audio, per: 1}
  - {unit: krerank, counts: search, per: 1000}
  - {unit: krequest, counts: search request, per: 1000}
  - {unit: prompt, counts: prompt, per: 1}
"""
)
METERS = "meters:\n  - {meter: minute}\n"
TOKENS = """{charge: tokens, method: tokens, unit: mtoken, rates: [
              {tokens: input, rate: 4}, {tokens: input, above: 100, rate: 5}, {tokens: output, rate: 20}]}"""
FACTOR = "factors: [{service_tier: batch, factor: 0.5}]"
SURCHARGED = "surcharges: {rerank: my-rerank, web_search: web, looks: once}"
# For each model: its type, its other charges, and further keys.
MODELS = {
    "chat": ("text", TOKENS, ""),
    "seeker": ("text", TOKENS, SURCHARGED),
    "ocr": ("text", "", ""),
    "vectors": ("embedding", TOKENS, ""),
    "picture": ("image", "{charge: images, method: per-image, unit: image, rates: [{rate: 0.02}]}", ""),
    "larger": ("upscale", "{charge: more, method: per-upscale, unit: image, rates: [{factor: 2x, rate: 0.1}]}", ""),
    "song": ("music", "{charge: songs, method: per-song, unit: song, rates: [{rate: 0.5}]}", ""),
    "voice": ("speech", "{charge: spoken, method: per-character, unit: mcharacter, rates: [{rate: 15}]}", ""),
    "heard": ("transcription", "{charge: s, method: per-audio-second, unit: audio_second, rates: [{rate: 0.01}]}", ""),
}
SURCHARGES = {"my-rerank": ("krerank", 2), "web": ("krequest", 10), "once": ("prompt", 3)}
HEAD = """
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        rounding: none
"""
METERED = ("counts.page", "counts.minute", "counts.request", "counts.rerank", "counts.web_search", "counts.looks")
# The charges that a model may have for a meter: linear ones first, then others.
CHARGED = {
    "page": ("unit: kpage", "unit: leaf", "unit: kpage, started: 4"),
    "minute": ("unit: minute", "unit: minute_of_hour", "unit: minute, at_least: 2"),
    "request": ("unit: request", "unit: request, included: 1"),
}


def random_counting_card(random: Random, *, plain: bool = False) -> RateCard:
    """Each model charges some counts, most of them linearly; some have a minimum. `plain`: all are linear."""
    models = []
    for name, (type_, charge, further) in MODELS.items():
        meters = random.sample(list(CHARGED), random.randint(0 if charge else 1, 3))
        counts = [random.choice(CHARGED[each]) if not plain and random.random() < 0.3 else CHARGED[each][0]
                  for each in meters]  # fmt: skip
        uneven = not plain and random.random() < 0.2
        more = [*([f"minimum: {random.choice(('0.001', '0.05'))}"] * uneven), *([further] * bool(further))]
        keys = "".join(f"        {each}\n" for each in more)
        listed = [charge] * bool(charge)
        for number, each in enumerate(counts):
            rate, factor = Decimal(random.randint(1, 999)).scaleb(-random.randint(0, 4)), random.choice(("", FACTOR))
            listed.append(f"{{charge: c{number}, method: count, {each}, rates: [{{rate: {rate:f}}}]"
                          f"{', ' * bool(factor)}{factor}}}")  # fmt: skip
        charges = "".join(f"          - {each}\n" for each in listed)
        models.append(
            f"  - model: {name}\n    name: A\n    type: {type_}{HEAD}{keys}"
            f"        charges:\n{charges}        examples: [{{usage: {{}}, total: 0}}]\n"
        )
    for name, (unit, price) in SURCHARGES.items():
        charges = f"          - {{charge: {name}, method: surcharge, unit: {unit}, rates: [{{rate: {price}}}]}}\n"
        models.append(f"  - model: {name}\n    name: A\n    type: surcharge{HEAD}        charges:\n{charges}"
                      "        examples: [{usage: {count: 0}, total: 0}]\n")  # fmt: skip
    text = "family: made-up\nmodels:\n" + "".join(models)
    files = {"tables.yaml": text, "units.yaml": ALL_UNITS, "meters.yaml": METERS}
    return RateCard(tables_from({name: each.encode() for name, each in files.items()}))._unproved


def random_counting_rows(card: RateCard, random: Random, number: int, *, odd: bool = True) -> list[Row]:
    """Rows of all models, most with the counts that these charge; `odd`: some with counts that cannot be added."""
    rows: list[Row] = []
    for _ in range(number):
        name = random.choice((*MODELS, "larger" if odd else "chat"))
        row: dict[str, Any] = {"type": MODELS[name][0], "model": name}
        if row["type"] in ("text", "embedding") and name != "ocr":
            row |= {"prompt_tokens": random.choice((0, 7, 100, 101)), "completion_tokens": random.choice((0, 3))}
        own = {"picture": ("n", (1, 2)), "larger": ("factor", ("2x", "4x")), "song": ("duration_seconds", (None, 9)),
               "voice": ("characters", range(99)), "heard": ("seconds", (1, 7, Decimal("1.5")))}  # fmt: skip
        if name in own:
            field, possible = own[name]
            row[field] = random.choice(list(possible))
        if odd and random.random() < 0.1:
            row |= dict.fromkeys(("prompt_tokens", "completion_tokens", "characters"))
        charges = card.tables.models[name].versions[0].charges
        charged = {f"counts.{card.tables.units[each.unit].counts}" for each in charges}
        charged |= {"counts.rerank", "counts.web_search", "counts.looks"} if name == "seeker" else set()
        for column in METERED:
            values: list[int | Decimal] = [0, 1, 2, random.randint(0, 5_000)]
            if column in ("counts.page", "counts.minute", "counts.rerank"):
                values += [Decimal(random.randint(0, 9_999)) / 1000]
            if odd and random.random() < 0.05:
                values += [-1, Decimal(10) ** 12 + 1, Decimal(10) ** 9]
            there = random.random() < (0.9 if column in charged else 0.05 * odd)
            row[column] = random.choice(values) if there else None
        row["web_search_requests"] = random.choice((None, None, 1)) if name == "seeker" else None
        row["service_tier"] = random.choice((None, "batch"))
        row |= {"timestamp": START + timedelta(days=random.randint(0, 2)), "customer": random.choice("ab")}
        rows.append(row)
    return rows


def counted_table(rows: list[Row], first: int = 0) -> pyarrow.Table:
    """The rows as a table whose counts by meter are, in turn, decimals, texts and doubles; `first`: which first."""
    names = dict.fromkeys(name for row in rows for name in row)
    numbers = {"prompt_tokens", "completion_tokens", "n", "characters", "duration_seconds", "web_search_requests"}
    types = {name: pyarrow.string() for name in names} | dict.fromkeys(numbers & names.keys(), pyarrow.int64())
    types |= {"seconds": pyarrow.decimal128(12, 3), "timestamp": pyarrow.timestamp("us", "UTC")}
    kinds = ((pyarrow.decimal128(30, 3), Decimal), (pyarrow.string(), str), (pyarrow.float64(), float))
    of = {name: kinds[(first + number) % len(kinds)] for number, name in enumerate(METERED)}
    types |= {name: type_ for name, (type_, _) in of.items()}
    listed = [
        row | {name: None if row[name] is None else read(row[name]) for name, (_, read) in of.items()} for row in rows
    ]
    return pyarrow.Table.from_pylist(listed, schema=pyarrow.schema([(name, types[name]) for name in names]))
