"""Recorded responses of providers, and a card of the prices that their pages publish."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ratecard import PriceBook, RateCard
from ratecard.load.folder import tables_from

# Searches are charged by the thousand; a usage without any has none.
SEARCHES = {
    "units.yaml": "units:\n  - {unit: kweb_search, counts: web_search, per: 1000}\n",
    "meters.yaml": "meters:\n  - {meter: web_search, every_usage: 0}\n",
}
CASES = Path(__file__).parent / "cases"
PROVIDERS = [path.stem for path in sorted(CASES.glob("*.yaml"))]
DAY = date(2026, 10, 1)


@cache
def recorded(provider: str) -> dict[str, Any]:
    """The file of a provider: where its prices are published, the prices by model, and the cases."""
    text = (CASES / f"{provider}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
    return found | {"models": yaml.load(text, yaml.CBaseLoader)["models"]}  # noqa: S506 - prices as they are written


@cache
def prices_of(provider: str) -> PriceBook:
    """The published prices of a provider as a card."""
    said = recorded(provider)
    models = [_model(name, rates, said["prices"]) for name, rates in said["models"].items()]
    files = SEARCHES | {"published.yaml": "family: published\nmodels:" + "".join(models)}
    if "meters" in said:
        files["meters.yaml"] += said["meters"]
    return RateCard(tables_from({name: text.encode() for name, text in files.items()}))._unproved.at(DAY)


def _model(name: str, rates: Mapping[str, str] | list[dict[str, str]], source: str) -> str:
    """A model of a table. Rates are by bucket for a million tokens, or the lines of a table."""
    searches = ""
    kind, charge, nothing = "text", "tokens, method: tokens, unit: mtoken", "prompt_tokens: 0, completion_tokens: 0"
    if isinstance(rates, list):
        lines = rates
    elif "second" in rates:
        kind, charge, nothing = "transcription", "audio, method: per-audio-second, unit: audio_second", "seconds: 0"
        lines = [{"rate": rates["second"]}]
    elif "embedding" in rates:
        kind, nothing = "embedding", "prompt_tokens: 0"
        lines = [{"tokens": "input", "rate": rates["embedding"]}, {"tokens": "output", "rate": "0"}]
    else:
        lines = [{"tokens": bucket, "rate": rate} for bucket, rate in rates.items() if bucket != "web_search"]
        if "web_search" in rates:
            searches = f"""
          - charge: web searches
            method: count
            unit: kweb_search
            rates:
              - {{rate: {rates["web_search"]}}}"""
    written = "\n".join(
        "              - {" + ", ".join(f"{key}: {value}" for key, value in line.items()) + "}" for line in lines
    )
    return f"""
  - model: {name}
    name: {name}
    type: {kind}
    currency: USD
    versions:
      - effective: 2025-01-01
        checked: 2026-10-01
        source: {source}
        charges:
          - charge: {charge.replace(", ", chr(10) + "            ")}
            rates:
{written}{searches}
        rounding: none
        examples:
          - {{usage: {{{nothing}}}, total: 0}}
"""


def amount(line: str) -> Decimal:
    """The amount of a line written out as `count x price`, per million tokens, or as `count x price / per`."""
    product, _, per = line.partition(" / ")
    count, price = product.split(" x ")
    return Decimal(count) * Decimal(price) / Decimal(per or 1_000_000)
