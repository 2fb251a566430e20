"""A whole quote (JSON bytes -> quote -> JSON bytes) against pydantic validating the same bodies, in one run.

    python benchmarks/quote_one.py

1,000 distinct bodies: given quotes of the live service, and bodies with reference video. Before anything is timed,
every total is compared with the given one and pydantic accepts every body. Then both sides take turns, and each round
gives a ratio; what counts is the median. Ratios, never gates: a slow machine is no failure.
"""

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import ceil, floor
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

import ratecard
from ratecard.tables.units import VideoFields

FACTS = Path(__file__).parent.parent / "tests" / "facts" / "video_quotes_2026-09-29.csv"
DAY = datetime(2026, 9, 29, tzinfo=UTC)
BODIES, WITH_REFERENCE = 1_000, 100
ROUNDS, REPEATS = 21, 5

# Per million tokens with reference video at the provider, and the pixels at 16:9: written here again, not read from the
# tables, so that the tables are checked.
MARKUP = Fraction(5, 4)
REFERENCE_CELLS = {
    ("seedance-2-5-reference-to-video-basic", "480p"): ("6.40", 854 * 480),
    ("seedance-2-5-reference-to-video-basic", "720p"): ("6.40", 1280 * 720),
    ("seedance-2-5-reference-to-video-basic", "1080p"): ("7.00", 1920 * 1080),
    ("seedance-2-0-reference-to-video-basic", "480p"): ("4.30", 864 * 496),
    ("seedance-2-0-reference-to-video-basic", "720p"): ("4.30", 1280 * 720),
    ("seedance-2-0-reference-to-video-basic", "1080p"): ("4.70", 1920 * 1080),
}
DURATIONS = (4, 5, 8, 12, 15)
REFERENCE_SECONDS = ("1.25", "2.5", "3.04", "4", "7.7", "9.125", "11.04", "12.5", "14.96")


class Case:
    """A body as it comes over the wire, and its total in cents."""

    def __init__(self, body: dict[str, Any], cents: int) -> None:
        self.raw, self.cents = json.dumps(body).encode(), cents


def given_cases() -> Iterator[Case]:
    """The given quotes."""
    with FACTS.open(newline="") as file:
        for row in csv.DictReader(file):
            body: dict[str, Any] = {name: row[name] for name in ("model", "duration", "resolution") if row[name]}
            if row["audio"]:
                body["audio"] = row["audio"] == "true"
            if row["aspect_ratio"]:
                body["aspect_ratio"] = row["aspect_ratio"]
            yield Case(body, int(Decimal(row["quote_usd"]) * 100))


def reference_cases() -> Iterator[Case]:
    """Bodies with reference video, priced by the published formula."""
    for duration, reference, cell in product(DURATIONS, REFERENCE_SECONDS, REFERENCE_CELLS):
        (model, resolution), (rate, pixels) = cell, REFERENCE_CELLS[cell]
        body = {"model": model, "duration": f"{duration}s", "resolution": resolution, "aspect_ratio": "16:9"}
        billed = max(duration + Fraction(reference), Fraction(ceil(Fraction(duration * 5, 3))))
        exact = billed * pixels * 24 / 1024 * Fraction(rate) * MARKUP / 1_000_000
        # A number of JSON with its own digits: json.dumps would need a float for it.
        case = Case({**body, "reference_video_total_duration": "@"}, floor(exact * 100 + Fraction(1, 2)))
        case.raw = case.raw.replace(b'"@"', reference.encode())
        yield case


def spread(cases: Sequence[Case], count: int) -> list[Case]:
    """So many of the cases, evenly from all of them."""
    return [cases[i * len(cases) // count] for i in range(count)]


def request_model(fields: VideoFields) -> type[BaseModel]:
    """What a server would validate every body with: the API-wide words and bounds of each field."""
    spellings = tuple(dict.fromkeys(way for word in fields.resolution for way in (word, word.lower(), word.upper())))

    def bounded(kind: Any, limits: Any) -> Any:
        return Annotated[kind, Field(ge=limits.min, le=limits.max)] | None

    definitions: dict[str, Any] = {
        "model": (str, ...),
        "duration": (Literal[fields.duration] | None, None),
        "aspect_ratio": (Literal[fields.aspect_ratio] | None, None),
        "resolution": (Literal[spellings] | None, None),
        "upscale_factor": (Literal[fields.upscale_factor] | None, None),
        "enhancement_model": (str | None, None),
        "target_fps": (bounded(int, fields.target_fps), None),
        "slowdown_factor": (Literal[fields.slowdown_factor] | None, None),
        "audio": (bool, True),
        "video_url": (str | None, None),
        "reference_video_total_duration": (bounded(Decimal, fields.reference_video_total_duration), None),
    }
    made: type[BaseModel] = create_model("VideoQuote", __config__=ConfigDict(extra="ignore"), **definitions)
    return made


def check(prices: ratecard.PriceBook, model: type[BaseModel], cases: Sequence[Case]) -> int:
    """Stop unless every total is the given one and pydantic accepts every body; how many ties differ by a cent."""
    ties = 0
    for case in cases:
        quote, accepted = prices.quote_video(case.raw), model.model_validate_json(case.raw)
        if getattr(accepted, "model", None) != quote.model:
            sys.exit(f"pydantic read another model from {case.raw!r}")
        cents = int(quote.total * 100)
        # The live service computes in binary floats: an exact half cent may come out one cent low there.
        tie = Fraction(quote.exact) * 100 % 1 == Fraction(1, 2) and cents == case.cents + 1
        ties += tie
        if cents != case.cents and not tie:
            sys.exit(f"{case.raw!r}: {quote.total}, expected {case.cents} cents")
    return ties


def time_quotes(prices: ratecard.PriceBook, bodies: Sequence[bytes]) -> float:
    """Microseconds of one whole quote: JSON bytes in, JSON bytes out."""
    quote_video, start = prices.quote_video, perf_counter()
    for _ in range(REPEATS):
        for raw in bodies:
            quote_video(raw).to_json()
    return (perf_counter() - start) / (REPEATS * len(bodies)) * 1e6


def time_validations(model: type[BaseModel], bodies: Sequence[bytes]) -> float:
    """Microseconds of one validation of the same body."""
    validate, start = model.model_validate_json, perf_counter()
    for _ in range(REPEATS):
        for raw in bodies:
            validate(raw)
    return (perf_counter() - start) / (REPEATS * len(bodies)) * 1e6


def main() -> None:
    """Check, then time."""
    card = ratecard.load_rate_card()
    prices, model = card.at(DAY), request_model(card.tables.vocabulary.video)
    cases = spread(list(given_cases()), BODIES - WITH_REFERENCE) + spread(list(reference_cases()), WITH_REFERENCE)
    bodies = [case.raw for case in cases]
    if len(set(bodies)) != BODIES:
        sys.exit("the bodies are not distinct")
    ties = check(prices, model, cases)
    print(
        f"{len(cases):,} distinct bodies, {WITH_REFERENCE} with reference video; totals are right ({ties} known ties)"
    )
    rounds = [(time_quotes(prices, bodies), time_validations(model, bodies)) for _ in range(ROUNDS)]
    ours, theirs = (median(side) for side in zip(*rounds, strict=True))
    ratios = sorted(one / other for one, other in rounds)
    print(f"whole quote, JSON bytes to JSON bytes   {ours:6.2f} us")
    print(f"pydantic, model_validate_json           {theirs:6.2f} us")
    print(f"ratio                                   {median(ratios):6.2f}    ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    print(f"medians of {ROUNDS} rounds; Python {sys.version.split()[0]}, {sys.platform}")


if __name__ == "__main__":
    main()
