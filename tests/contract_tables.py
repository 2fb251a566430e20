"""Folders of tables with contracts, for tests: two text models by tokens, two videos, and a search."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from ratecard.card import RateCard
from ratecard.load.folder import tables_from
from token_tables import by_tokens, family, text_model

VIDEO = """\
family: clips
models:
  - model: clip
    name: Clip
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        accepts: {duration: [5s, 10s], resolution: [480p, 720p], audio: none}
        charges:
          - charge: video
            method: duration-rate
            unit: video_second
            markup: 1.1
            rates:
              - {resolution: 480p, rate: 0.10}
              - {resolution: 720p, rate: 0.20}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s, resolution: 480p}, total: 0.55}
  - model: hidden
    name: Hidden
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        accepts: {duration: [5s], audio: none}
        charges:
          - charge: video
            method: fixed
            unit: clip
            rates:
              - {rate: 0.30}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s}, total: 0.30}
"""
SEARCH = """\
family: searches
models:
  - model: web-search
    name: Web search
    type: surcharge
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        rounding: none
        charges:
          - charge: searches
            method: surcharge
            unit: search
            rates:
              - {rate: 0.01}
        examples:
          - {usage: {count: 1}, total: 0.01}
"""
TEXT = family(
    text_model(
        "tiered",
        by_tokens(
            """
            - {tokens: input, rate: 2}
            - {tokens: input, above: 1000, rate: 4}
            - {tokens: cache_input, rate: 0.5}
            - {tokens: output, rate: 8}
            """,
            "factors: [{service_tier: batch, factor: 0.5}]",
        ),
    ),
    text_model("flat", by_tokens("- {tokens: [input, cache_input], rate: 1}\n- {tokens: output, rate: 3}")),
)
TABLES = {"text.yaml": TEXT, "video.yaml": VIDEO, "search.yaml": SEARCH}
HEAD = "contract: {name}\naccounts: [{accounts}]\nfrom: {begins}\nuntil: {until}\nsource: signed 2026-09-20\n"


def contract(
    overrides: str,
    name: str = "acme",
    accounts: str = "a-1",
    begins: str = "2026-10-01",
    until: str = "2027-10-01",
    further: str = "",
) -> str:
    """The text of a contract with these lines of overrides, and `further` lines of its head."""
    head = HEAD.format(name=name, accounts=accounts, begins=begins, until=until)
    lines = "\n".join(f"  {line}" for line in dedent(overrides).strip().splitlines())
    return head + dedent(further) + (f"overrides:\n{lines}\n" if lines.strip() else "")


def card_of(*contracts: str, tables: Mapping[str, str] = TABLES) -> RateCard:
    """The card of tables with these contracts, `contracts/c0.yaml` the first."""
    files = {**tables, **{f"contracts/c{number}.yaml": text for number, text in enumerate(contracts)}}
    return RateCard(tables_from({name: text.encode() for name, text in files.items()}))


def write(folder: Path, *contracts: str, tables: Mapping[str, str] = TABLES) -> Path:
    """Write tables and contracts to a folder; return it."""
    (folder / "contracts").mkdir(parents=True, exist_ok=True)
    for name, text in tables.items():
        (folder / name).write_text(text, encoding="utf-8")
    for number, text in enumerate(contracts):
        (folder / "contracts" / f"c{number}.yaml").write_text(text, encoding="utf-8")
    return folder
