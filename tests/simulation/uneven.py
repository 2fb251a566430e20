"""Random cards with odd units, blocks and minimums, and random usage of them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from rows import Row

import ratecard
from ratecard import RateCard

UNITS = """\
units:
  - {unit: mtoken, counts: token, per: 1000000}
  - {unit: token_block, counts: token, per: 7000}
  - {unit: kcharacter, counts: character, per: 1000}
  - {unit: page_of_text, counts: character, per: 1800}
  - {unit: audio_second, counts: second of audio, per: 1}
  - {unit: audio_hour, counts: second of audio, per: 3600}
"""
TOKENS = [f"tokens: {bucket}, " for bucket in ("input", "cache_input", "cache_write", "output")]
KINDS = {
    "text": ("tokens", ("mtoken", "token_block"), "{prompt_tokens: 0, completion_tokens: 0}"),
    "embedding": ("tokens", ("mtoken", "token_block"), "{prompt_tokens: 0}"),
    "speech": ("per-character", ("kcharacter", "page_of_text"), "{characters: 0}"),
    "transcription": ("per-audio-second", ("audio_second", "audio_hour"), "{seconds: 0}"),
}
START = datetime(2026, 10, 1, tzinfo=UTC)


def random_card(folder: Path, random: Random, *, plain: bool = False) -> RateCard:
    """Two models of each type: units, options and minimums by chance; `plain`: none of them."""
    models = ["family: made-up\nmodels:"]
    for kind, (method, units, usage) in KINDS.items():
        for number in (1, 2):
            odd = not plain and random.random() < 0.7
            minimum = Decimal(random.randint(1, 99)) / 10_000 if odd and random.random() < 0.4 else None
            options = []
            if odd and method != "tokens":
                options = [
                    f"            {name}: {random.choice(('1', '2.5', '60', '400'))}\n"
                    for name in ("included", "at_least", "started")
                    if random.random() < 0.5
                ]
            rates = [
                f"              - {{{bucket}rate: {Decimal(random.randint(1, 999)).scaleb(-random.randint(0, 3)):f}}}\n"
                for bucket in (TOKENS if method == "tokens" else ("",))
            ]
            models.append(
                f"  - model: {kind}-{number}\n    name: A\n    type: {kind}\n    currency: USD\n    versions:\n"
                "      - effective: 2026-09-01\n        checked: 2026-09-02\n        source: price page\n"
                + (f"        minimum: {minimum:f}\n" if minimum else "")
                + (f"        line_places: {random.randint(0, 15)}\n" if odd and random.random() < 0.5 else "")
                + f"        charges:\n          - charge: charged\n            method: {method}\n"
                f"            unit: {units[random.random() < 0.6] if odd else units[0]}\n{''.join(options)}"
                f"            rates:\n{''.join(rates)}        rounding: none\n        examples:\n"
                f"          - {{usage: {usage}, total: {f'{minimum:f}' if minimum else 0}}}\n"
            )
    folder.mkdir(exist_ok=True)
    (folder / "units.yaml").write_text(UNITS)
    (folder / "t.yaml").write_text("\n".join(models))
    return ratecard.load_rate_card(folder)


def random_rows(random: Random, number: int) -> list[Row]:
    rows: list[Row] = []
    for _ in range(number):
        kind, first = random.choice(tuple(KINDS)), random.choice((1, 2))
        values: dict[str, Any] = {}
        if kind in ("text", "embedding"):
            cached, written = random.randint(0, 40), random.randint(0, 40)
            values = {"prompt_tokens": cached + written + random.randint(-2, 400), "cached_tokens": cached}
            values["cache_creation_input_tokens"] = written
            values["completion_tokens"] = random.randint(0, 200) if kind == "text" else 0
        elif kind == "speech":
            values = {"characters": random.choice((0, 1, 399, 400, 401, random.randint(1, 5_000)))}
        else:
            values = {"seconds": Decimal(random.choice((0, 25, 599, 600, 601, random.randint(1, 90_000)))) / 10}
        more = {"timestamp": START + timedelta(seconds=random.randint(0, 86_399)), "customer": random.choice("ab")}
        rows.append({"type": kind, "model": f"{kind}-{first}", **values, **more})
    return rows
