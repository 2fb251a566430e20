"""Every row of the published price lists: what one unit costs on its day, and where each threshold and band ends."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ratecard import PriceBook, RateCard

FACTS = Path(__file__).parent.parent / "facts" / "published_prices.csv"
TYPES = {"inpaint": "edit", "tts": "speech", "asr": "transcription"}
DETAILS = {"input": None, "cache_input": "cached_tokens", "cache_write": "cache_creation_input_tokens"}
M = 1_000_000
Fields = dict[str, str]


def published() -> dict[date, dict[str, tuple[str, Fields]]]:
    """Return, for each day, the type and the fields of each model on its list."""
    days: dict[date, dict[str, tuple[str, Fields]]] = defaultdict(dict)
    with FACTS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            type_ = TYPES.get(row["type"], row["type"])
            day = days[date.fromisoformat(row["as_of"])]
            day.setdefault(row["model"], (type_, {}))[1][row["field"]] = row["value"]
    return days


LISTS = published()
MODELS = [(day, model) for day, models in LISTS.items() for model in models]


def amount(prices: PriceBook, type_: str, model: str, line: int = 0, **fields: Any) -> Decimal:
    return prices.rate({"type": type_, "model": model, **fields}).lines[line].amount


def tokens(prompt: int, completion: int = 0, **details: int) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}


def token_prices(prices: PriceBook, type_: str, model: str, fields: Fields) -> Iterator[tuple[str, Decimal]]:
    """(field, per million) of every bucket; of the extended tier, one token above its threshold and more."""
    threshold = int(fields.get("extended.context_token_threshold", M))
    for field in fields:
        tier, _, bucket = field.removesuffix(".usd").rpartition(".")
        count = max(M, threshold + 1) if tier else min(M, threshold)
        if bucket == "context_token_threshold":
            yield field, Decimal(threshold)  # test_published_edges.py tests these edges
        elif bucket == "output":
            yield field, amount(prices, type_, model, -1, usage=tokens(count if tier else 0, M))
        else:
            detail = DETAILS[bucket]
            usage = tokens(count, **({detail: count} if detail else {}))
            yield field, amount(prices, type_, model, usage=usage) * M / count


def image_prices(prices: PriceBook, type_: str, model: str, fields: Fields) -> Iterator[tuple[str, Decimal]]:
    for field in fields:
        match field.split("."):
            case ["generation" | "inpaint", "usd"]:
                yield field, amount(prices, type_, model)
            case ["resolutions", resolution, "usd"]:
                yield field, amount(prices, type_, model, resolution=resolution)
            case ["quality", resolution, quality, "usd"]:
                yield field, amount(prices, type_, model, resolution=resolution, quality=quality)
            case ["upscale", factor, "usd"]:
                yield field, amount(prices, "upscale", model, factor=factor)
            case ["inputImages", "additional", "usd"]:
                inputs = int(fields["inputImages.included"]) + 1
                yield field, amount(prices, type_, model, 1, input_images=inputs)
            case ["inputImages", "included"]:
                yield field, Decimal(free_inputs(prices, model))


def free_inputs(prices: PriceBook, model: str) -> int:
    """The most input images that do not cost more than the edit itself."""
    counts = [len(prices.rate({"type": "edit", "model": model, "input_images": n}).lines) for n in range(1, 9)]
    return counts.count(1)


def audio_prices(prices: PriceBook, type_: str, model: str, fields: Fields) -> Iterator[tuple[str, Decimal]]:
    for field, value in fields.items():
        match field.split("."):
            case ["input", "usd"]:
                yield field, amount(prices, type_, model, characters=M)
            case ["per_audio_second", "usd"]:
                yield field, amount(prices, type_, model, seconds=1)
            case ["per_second", "usd"]:
                yield field, amount(prices, type_, model, duration_seconds=1)
            case ["per_thousand_characters", "usd"]:
                yield field, amount(prices, type_, model, character_count=1000)
            case ["generation", "usd"]:
                yield field, amount(prices, type_, model)
            case ["durations", key, "usd"]:
                edges = [int(fields[f"durations.{key}.{edge}_seconds"]) for edge in ("min", "max")]
                first, last = (amount(prices, type_, model, duration_seconds=edge) for edge in edges)
                assert first == last
                yield field, first
            case ["durations", _, _]:
                yield field, Decimal(value)  # both edges are priced just above, and their neighbours in a test below


READ = defaultdict(lambda: audio_prices, dict.fromkeys(("text", "embedding"), token_prices))
READ |= dict.fromkeys(("image", "edit", "upscale"), image_prices)


@pytest.mark.parametrize("day", LISTS, ids=str)
def test_every_figure_of_a_day_is_what_one_unit_costs(card: RateCard, day: date) -> None:
    prices, seen = card.at(day), 0
    for model, (type_, fields) in LISTS[day].items():
        charged = dict(READ[type_](prices, type_, model, fields))
        assert {field: charged[field] for field in fields} == {name: Decimal(value) for name, value in fields.items()}
        seen += len(fields)
    assert seen == sum(len(fields) for _, fields in LISTS[day].values()) > 600


def test_every_row_of_the_file_was_read() -> None:
    rows = FACTS.read_text(encoding="utf-8").splitlines()[1:]
    assert sum(len(fields) for models in LISTS.values() for _, fields in models.values()) == len(rows) == 2663
    assert [str(day) for day in LISTS] == ["2026-08-03", "2026-08-08", "2026-08-12", "2026-08-21"]
