"""A whole quote (JSON bytes -> quote -> JSON bytes) against pydantic validating the same bodies, in one run.

    python benchmarks/quote_one.py

1,000 distinct bodies: given quotes of the live service, and bodies with reference video, each with one field that is
not of a quote. Before anything is timed, every total is compared with the given one and pydantic accepts every body.
Then all sides take turns, and each round gives a ratio; what counts is the median. What is timed is the time of the
process, as others may use the machine. Ratios, never gates: a slow machine is not a failure.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import ceil, floor
from pathlib import Path
from statistics import median
from time import process_time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

import ratecard
from ratecard.tables.meters import VideoFields

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
        self.raw, self.cents = json.dumps({**body, "seed": cents}).encode(), cents


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
        if quote.ignored[-1] != "seed" or sum(line.amount for line in quote.lines) != quote.exact:
            sys.exit(f"{quote!r} of {case.raw!r} lists {quote.ignored} and {quote.lines}")
        if getattr(accepted, "model", None) != quote.model:
            sys.exit(f"pydantic read another model from {case.raw!r}")
        cents = int(quote.total * 100)
        # The live service computes in binary floats: an exact half cent may come out one cent low there.
        tie = Fraction(quote.exact) * 100 % 1 == Fraction(1, 2) and cents == case.cents + 1
        ties += tie
        if cents != case.cents and not tie:
            sys.exit(f"{case.raw!r}: {quote.total}, expected {case.cents} cents")
    return ties


def microseconds(call: Callable[[bytes], object], bodies: Sequence[bytes]) -> float:
    """Microseconds of one call, the best of some turns."""
    turns = []
    for _ in range(REPEATS):
        start = process_time()
        for raw in bodies:
            call(raw)
        turns.append(process_time() - start)
    return min(turns) / len(bodies) * 1e6


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
    quote_video = prices.quote_video

    def whole(raw: bytes) -> bytes:
        return quote_video(raw).to_json()

    def whole_and_read(raw: bytes) -> object:
        quote = quote_video(raw)
        return quote.lines, quote.ignored, quote.to_json()

    sides: dict[str, Callable[[bytes], object]] = {
        "pydantic, model_validate_json": model.model_validate_json,
        "whole quote, JSON bytes to JSON bytes": whole,
        "whole quote, with lines and ignored read": whole_and_read,
    }
    rounds = [[microseconds(call, bodies) for call in sides.values()] for _ in range(ROUNDS)]
    for index, name in enumerate(sides):
        ratios = sorted(times[index] / times[0] for times in rounds)
        shown = f"{median(ratios):8.2f} x   ({ratios[0]:.2f} to {ratios[-1]:.2f})" if index else ""
        print(f"{name:42}{median(times[index] for times in rounds):6.2f} us{shown}")
    print(f"medians of {ROUNDS} rounds; Python {sys.version.split()[0]}, {sys.platform}")


if __name__ == "__main__":
    main()
