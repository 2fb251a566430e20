"""Billing exports for tests: of usage rows, or written by hand; and small tables to re-rate them by."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from rows import Row, quote_of

from ratecard import PriceBook, QuoteError, RateCard
from ratecard.accounts import settle
from ratecard.ledger import ledger_csv, ledger_json
from ratecard.line_items import LedgerEntry
from ratecard.load.folder import LIMITS, shipped_folder
from ratecard.testing.card_strategies import card_of

HEAD = "timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes"
CHAT, PICTURE, CLIP = "chat-llm-input-mtoken", "picture-fixed-1K-1img", "film-resolution-rate-5s-720p"
_VERSION = """\
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a test
"""
# One model for each way of re-rating; VERSION is the head of its only version, in effect from 2026-01-01 on.
TABLES = """\
family: made-up
models:
  - model: chat
    name: Chat
    type: text
VERSION
        surcharges: {web_search: search}
        rounding: none
        examples: [{usage: {prompt_tokens: 1, completion_tokens: 0}, total: 0}]
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            context_token_threshold: 1000
            missing_cache_rate: input
            rates:
              - {tokens: input, rate: 2}
              - {tokens: output, rate: 8}
              - {tokens: cache_write, rate: 2.5}
              - {context: extended, tokens: input, rate: 4}
              - {context: extended, tokens: output, rate: 16}
  - model: search
    name: Search
    type: surcharge
VERSION
        rounding: none
        examples: [{usage: {count: 1}, total: 0}]
        charges:
          - {charge: search, method: surcharge, unit: krequest, rates: [{rate: 10}]}
  - model: picture
    name: Picture
    type: image
VERSION
        rounding: none
        examples: [{usage: {resolution: 1K}, total: 0}]
        charges:
          - charge: images
            method: per-image
            unit: image
            rates:
              - {resolution: 1K, rate: 0.02}
              - {resolution: 2K, rate: 0.04}
  - model: song
    name: Song
    type: music
VERSION
        rounding: none
        examples: [{usage: {duration_seconds: 60}, total: 0}]
        charges:
          - charge: songs
            method: duration-band
            unit: song
            rates:
              - {seconds: 1..60, rate: 0.5}
              - {seconds: 61..120, rate: 1}
  - model: film
    name: Film
    type: video
    mode: text-to-video
VERSION
        accepts: {duration: [5s, 10s], resolution: [720p, 1080p], audio: configurable}
        rounding: {places: 2, mode: half-up}
        examples: [{request: {duration: 5s, resolution: 720p}, total: 1}]
        charges:
          - charge: video
            method: resolution-rate
            unit: video_second
            rates:
              - {resolution: 720p, rate: 0.101}
              - {resolution: 1080p, rate: 0.2}
          - charge: voice
            method: fixed
            unit: clip
            rates:
              - {audio: true, rate: 0.001}
              - {audio: false, rate: 0}
""".replace("VERSION\n", _VERSION)


def card_with(*replaced: tuple[str, str]) -> RateCard:
    """The made-up tables with some of their text replaced, and what balances are worth in the shipped ones."""
    tables = TABLES
    for old, new in replaced:
        assert tables.count(old) == 1, old
        tables = tables.replace(old, new)
    limits = (shipped_folder() / LIMITS).read_bytes()
    return card_of({"tables.yaml": tables.encode(), LIMITS: limits})._unproved


def line(sku: str, price: str, unit: str, amount: str, notes: str = "", **other: str) -> str:
    """One row of an export, on 2026-02-01 and in USD unless it is said otherwise; the SKU begins with its model."""
    when, currency = other.get("timestamp", "2026-02-01T10:00:00.000Z"), other.get("currency", "USD")
    return ",".join((when, sku, price, unit, amount, currency, notes or sku.partition("-")[0]))


def export(folder: Path, *lines: str, head: str = HEAD) -> str:
    """A CSV of these lines."""
    file = folder / "export.csv"
    file.write_text("\n".join((head, *lines)) + "\n", encoding="utf-8")
    return str(file)


class Books(RateCard):
    """A card that keeps the book of every day: each row asks for it."""

    def __init__(self, card: RateCard) -> None:
        super().__init__(card.tables)
        self._proves = False  # the card below is proved; these examples would need the books that are being made
        self._kept: dict[date, PriceBook] = {}

    def at(self, instant: datetime | date, *, contract: str | None = None, account: str | None = None) -> PriceBook:
        day = instant.astimezone(UTC).date() if isinstance(instant, datetime) else instant
        if day not in self._kept:
            self._kept[day] = super().at(day)
        return self._kept[day]


def entries_of(card: RateCard, rows: Iterable[Row]) -> Iterator[tuple[Row, tuple[LedgerEntry, ...]]]:
    """Every row of usage that has a price, with its entries; the number of the row is the request."""
    books = Books(card)
    for number, row in enumerate(rows):
        try:
            quote = quote_of(books, row)
        except QuoteError:
            continue
        # The remaining credits pay a part of every fourth request.
        credits_left = {"DIEM": quote.total * Decimal("0.3"), "USD": quote.total}
        paid: dict[str, Any] = {"paid": settle(quote, credits_left)} if number % 4 == 3 else {}
        paid = paid or {"currency": ("USD", "DIEM", "BUNDLED_CREDITS")[number % 3]}
        when, request = row["timestamp"], f"r-{number}"
        yield row, quote.ledger_entries(timestamp=when, request_id=request, execution_ms=number, **paid)


def write_pages(folder: Path, entries: Sequence[LedgerEntry], pages: int) -> list[str]:
    """The export as JSON, one page a file."""
    files, size = [], -(-len(entries) // pages)
    for number in range(pages):
        page = entries[number * size : (number + 1) * size]
        file = folder / f"page-{number}.json"
        file.write_text(ledger_json(page, None if number + 1 == pages else f"c{number}"), encoding="utf-8")
        files.append(str(file))
    return files


def write_csv(file: Path, entries: Sequence[LedgerEntry], further: Mapping[str, Sequence[str]]) -> str:
    """The export as CSV, with further columns of plain words."""
    cells = zip(*further.values(), strict=True) if further else [()] * len(entries)
    columns: list[tuple[str, ...]] = [tuple(further), *cells]
    lines = ledger_csv(entries).splitlines()
    text = "".join(f"{','.join((line, *more))}\n" for line, more in zip(lines, columns, strict=True))
    file.write_text(text, encoding="utf-8")
    return str(file)


def billed(entries: Iterable[LedgerEntry]) -> Decimal:
    """Return the sum of the charges in the ledger."""
    return -sum((entry.amount for entry in entries), Decimal(0))
