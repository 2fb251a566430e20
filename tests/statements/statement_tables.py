"""A small folder of tables with every kind of charge that a statement adds up, and usage of three accounts."""

import csv
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

WORDS = """
family: words
models:
  - model: scribe
    name: Scribe
    type: text
    currency: USD
    versions:
      - effective: 2026-10-12
        checked: 2026-09-29
        source: a test
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            missing_cache_rate: input
            rates:
              - {tokens: input, rate: 4}
              - {tokens: output, rate: 9.5}
              - {tokens: cache_input, rate: 0.4}
        rounding: none
        examples:
          - {usage: {prompt_tokens: 1000000, completion_tokens: 1000000}, total: 13.5}
      - effective: 2026-08-01
        checked: 2026-09-29
        source: a test
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            missing_cache_rate: input
            rates:
              - {tokens: input, rate: 3.3}
              - {tokens: output, rate: 7}
              - {tokens: cache_input, rate: 0.3}
        rounding: none
        examples:
          - {usage: {prompt_tokens: 1000000, completion_tokens: 1000000}, total: 10.3}
"""
SOUND = """
family: sound
models:
  - model: voice
    name: Voice
    type: speech
    currency: USD
    versions:
      - effective: 2026-08-01
        checked: 2026-09-29
        source: a test
        charges:
          - charge: speech
            method: per-character
            unit: mcharacter
            rates:
              - {rate: 12.34}
        rounding: none
        examples:
          - {usage: {characters: 1000000}, total: 12.34}
"""
CLIPS = """
family: clips
models:
  - model: reel
    name: Reel
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-08-01
        checked: 2026-09-29
        source: a test
        accepts:
          duration: [5s, 10s]
          audio: none
        charges:
          - charge: video
            method: duration-rate
            unit: video_second
            rates:
              - {rate: 0.0333}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s}, total: 0.17}
"""
MONTHLY = """
monthly:
  - {included: 0.5, unit: mcharacter, for: {type: speech}}
  - graduated:
      - {up_to: 0.4, percent: 0%}
      - {up_to: 1.1, rate: 2.75}
      - {factor: 0.5}
    unit: mtoken
    for: {type: text}
  - volume:
      - {up_to: 1, percent: 0%}
      - {up_to: 3, percent: -10%}
      - {percent: -25%}
    currency: USD
    for: {family: clips}
  - {commitment: 10, currency: USD, for: {type: text}, from: 2026-09-01, until: 2026-12-01}
  - {minimum: 9, currency: USD, from: 2026-10-01}
"""
FILES = {"words.yaml": WORDS, "sound.yaml": SOUND, "clips.yaml": CLIPS, "monthly.yaml": MONTHLY}
COLUMNS = (
    "type",
    "model",
    "timestamp",
    "account",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "characters",
    "duration",
)


def write_tables(folder: Path, **changed: str | None) -> Path:
    """Write the folder; a file that is named (without its ending) has other content, or is left out."""
    folder.mkdir(exist_ok=True)
    for name, content in FILES.items():
        text = changed.get(name.removesuffix(".yaml"), content)
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def rows(seed: int, count: int) -> list[dict[str, Any]]:
    """Requests of three accounts from September to November, in no order."""
    chance = random.Random(seed)  # noqa: S311 (the same rows each time)
    start = datetime(2026, 9, 1, tzinfo=UTC)
    made: list[dict[str, Any]] = []
    for _ in range(count):
        when = start + timedelta(seconds=chance.randrange(91 * 86_400))
        row: dict[str, Any] = {"timestamp": when.isoformat().replace("+00:00", "Z")}
        row["account"] = chance.choice(("acme", "bolt", "corp"))
        kind = chance.choice(("text", "text", "speech", "video"))
        row["type"] = kind
        if kind == "text":
            prompt = chance.randrange(1, 60_000)
            row |= {"model": "scribe", "prompt_tokens": prompt, "completion_tokens": chance.randrange(20_000)}
            row["cached_tokens"] = chance.choice((None, chance.randrange(prompt)))
        elif kind == "speech":
            row |= {"model": "voice", "characters": chance.randrange(1, 40_000)}
        else:
            row |= {"model": "reel", "duration": chance.choice(("5s", "10s"))}
        made.append(row)
    return made


def write_rows(file: Path, made: list[dict[str, Any]]) -> Path:
    """Write rows as a CSV file of usage."""
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        writer.writerows(made)
    return file
