"""What a SKU stands for under changed tables: the same rate for all of its requests, or a refusal that says why."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from candidate_files import candidate
from ledgers import CHAT, CLIP, PICTURE, TABLES, card_with, export, line

from contract_tables import card_of as contract_card
from contract_tables import contract
from ratecard import RateCard
from ratecard.base.errors import SimulationError
from ratecard.review.sides import Side
from ratecard.simulation.billing import LedgerPricer
from ratecard.simulation.groups.predicates import Predicates
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.simulation.prices.outcome import PricedShape, Refused
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate

CURRENT = card_with()
GONE = "SKU {} is not in the version of 2026-01-01 of {}, or not for each of its requests"


def re_rated(folder: Path, candidate: RateCard, *lines: str, current: RateCard = CURRENT) -> Simulation:
    return simulate(export(folder, *lines), Side("now", current), Side("then", candidate), by=())


def amounts(folder: Path, candidate: RateCard, *lines: str) -> tuple[Decimal, ...]:
    with re_rated(folder, candidate, *lines) as result:
        assert not result.unpriced and not result.disputed
        return result.total.amounts


def reason(folder: Path, candidate: RateCard, *lines: str) -> str:
    """Return the reason why rows are refused, beside a row of another model: usage without any price is an error."""
    priced = SONG if IMAGE in lines else IMAGE
    with re_rated(folder, candidate, *lines, priced) as result:
        [unpriced] = result.unpriced
        assert (unpriced.rows, unpriced.side, result.priced) == (len(lines), "then", 1)
        return unpriced.reason


INPUT = line(CHAT, "2", "0.5", "-1")
EXTENDED = line("chat-llm-extended-input-mtoken", "4", "0.5", "-2")
CACHED = line("chat-llm-cache-input-mtoken", "2", "0.5", "-1")
WRITTEN = line("chat-llm-cache-write-5m-mtoken", "2.5", "0.4", "-1")
SEARCH = line("search-krequest", "10", "0.001", "-0.01", "chat")
IMAGE = line(PICTURE, "0.02", "3", "-0.06")
SONG = line("song-duration-based-120s", "1", "1", "-1")
# 5 x 0.101 + 0.001 = 0.506 with sound, 0.505 without: both are rounded to 0.51.
FILM = line(CLIP, "0.51", "1", "-0.51")
LONGER = "{context: extended, tokens: input, rate: 4}"
DEARER = ("{tokens: input, rate: 2}", "{tokens: input, rate: 3}")


@pytest.mark.parametrize(
    ("row", "replaced", "now", "then"),
    [
        (INPUT, DEARER, "1", "1.5"),
        (CACHED, DEARER, "1", "1.5"),
        (EXTENDED, (LONGER, LONGER.replace("4", "1")), "2", "0.5"),
        (SEARCH, ("rate: 10}", "rate: 20}"), "0.01", "0.02"),
        (IMAGE, ("{resolution: 1K, rate: 0.02}", "{resolution: 1K, rate: 0.03}"), "0.06", "0.09"),
        (SONG, ("{seconds: 61..120, rate: 1}", "{seconds: 61..120, rate: 3}"), "1", "3"),
        (FILM, ("resolution: 720p, rate: 0.101", "resolution: 720p, rate: 0.2"), "0.51", "1"),
        (INPUT, ("unit: mtoken\n", "unit: mtoken\n            markup: 2\n"), "1", "2"),
    ],
)  # fmt: skip
def test_rates_that_changed(tmp_path: Path, row: str, replaced: tuple[str, str], now: str, then: str) -> None:
    assert amounts(tmp_path, card_with(replaced), row) == (Decimal(now), Decimal(then))


def test_a_rate_beside_does_not_matter(tmp_path: Path) -> None:
    """Another resolution of the same model changed, and one came: this one is charged as it was."""
    further = ("- {resolution: 1080p, rate: 0.2}", "- {resolution: [1080p, 4k], rate: 0.3}")
    dearer = card_with(further, ("[720p, 1080p]", "[720p, 1080p, 4k]"), DEARER)
    assert amounts(tmp_path, dearer, FILM, INPUT) == (Decimal("1.51"), Decimal("2.01"))


@pytest.mark.parametrize(
    ("row", "replaced", "words"),
    [
        (INPUT, ("threshold: 1000", "threshold: 2000"), "chat: context_token_threshold of tokens was 1000, is 2000"),
        (CACHED, ("            missing_cache_rate: input\n", ""),
         "chat: missing_cache_rate of tokens was input, is not set"),
        # Some tokens of this SKU were part of long prompts, which would now have a rate of their own.
        (WRITTEN, (LONGER, LONGER.replace("input", "[input, cache_write]")),
         GONE.format("chat-llm-cache-write-5m-mtoken", "chat")),
        (SEARCH, ("surcharges: {web_search: search}", "context_tokens: 5000"), "chat has no search there"),
        (SEARCH, ("surcharge, unit: krequest", "surcharge, unit: kurl"),
         "search: unit of search was krequest, is kurl; what search counts was search request, is scraped URL"),
        (IMAGE, ("examples: [{usage: {res", "defaults: {resolution: 2K}\n        examples: [{usage: {res"),
         "picture: defaults resolution was not set, is 2K"),
        (SONG, ("seconds: 61..120, rate: 1}", "seconds: 61..90, rate: 1}\n              - {seconds: 91..120, rate: 1}"),
         GONE.format("song-duration-based-120s", "song")),
        (FILM, ("{audio: false, rate: 0}", "{audio: false, rate: 0.1}"),
         f"requests of SKU {CLIP} that were charged 0.51 would be charged 0.51 or 0.61"),
        (FILM, ("places: 2", "places: 3"), "film: rounding places was 2, is 3"),
        (FILM, ("audio: configurable}", "audio: configurable}\n        defaults: {resolution: 1080p}"),
         "film: defaults resolution was not set, is 1080p"),
    ],
)  # fmt: skip
def test_what_a_sku_cannot_express(tmp_path: Path, row: str, replaced: tuple[str, str], words: str) -> None:
    assert reason(tmp_path, card_with(replaced), row) == f"structure: {words}; re-rate from usage"


def lost(folder: Path, candidate: RateCard, *lines: str) -> str:
    with re_rated(folder, candidate, *lines) as result:
        assert (result.priced, result.unpriced) == (len(lines), ())
        [gone] = result.lost()
        assert (gone.requests, gone.amount) == (len(lines), result.total.amounts[0])
        assert result.total.amounts[1] == 0
        [part] = result.attribution().parts
        assert (part.kind, part.amount) == ("lost", -gone.amount)
        return gone.reason


def test_a_request_of_which_some_are_refused_now(tmp_path: Path) -> None:
    """The SKU stands for songs of 61 to 120 seconds: those of 90 and less are still sold, under another."""
    shorter = card_with(("{seconds: 61..120, rate: 1}", "{seconds: 61..90, rate: 1}"))
    assert reason(tmp_path, shorter, SONG).startswith("structure: SKU song-duration-based-120s is not in ")


def test_requests_that_are_all_refused_now_are_lost(tmp_path: Path) -> None:
    small = card_with(
        ("[720p, 1080p]", "[1080p, 4k]"), ("- {resolution: 720p, rate: 0.101}", "- {resolution: 4k, rate: 0.3}")
    )
    assert lost(tmp_path, small, FILM).startswith("resolution: Invalid enum value")


def test_a_model_that_is_gone(tmp_path: Path) -> None:
    gone = card_with(("model: picture\n", "model: painting\n"))
    assert lost(tmp_path, gone, IMAGE).startswith("Specified model not found: picture")


def test_a_total_that_no_request_has(tmp_path: Path) -> None:
    """Under the prices that it was billed under it stays what it was, and is counted as disputed."""
    odd = line(CLIP, "0.77", "1", "-0.77")
    dearer = card_with(("resolution: 720p, rate: 0.101", "resolution: 720p, rate: 0.2"))
    assert reason(tmp_path, dearer, odd) == (
        f"structure: no request of SKU {CLIP} was charged 0.77; re-rate from usage"
    )
    with simulate(export(tmp_path, odd), Side("now", CURRENT), by=()) as result:
        assert result.total.amounts == (Decimal("0.77"),)
        assert [(each.reason, each.rows) for each in result.disputed] == [
            ("pricePerUnitUsd: is not the price that was in effect", 1)
        ]


def test_billed_before_the_first_version(tmp_path: Path) -> None:
    with re_rated(
        tmp_path, card_with(DEARER), line(CHAT, "2", "1", "-2", timestamp="2025-12-31T23:59:59.999Z"), INPUT
    ) as result:
        [unpriced] = result.unpriced
        assert (unpriced.rows, unpriced.side) == (1, "now")
        assert unpriced.reason.startswith("No price for chat. Its first version takes effect on ")
        assert result.total.amounts == (Decimal("1"), Decimal("1.5"))


def test_a_model_that_a_contract_keeps_and_the_row_names_no_contract(tmp_path: Path) -> None:
    card = contract_card(contract("- {for: {model: hidden}, only: true}"))
    with simulate(export(tmp_path, line("hidden-duration-rate-5s", "1", "1", "-1")), card, by=()) as result:
        [unpriced] = result.unpriced
        assert unpriced.reason.startswith("contract: hidden is kept for accounts with a contract")


def test_contracts_that_a_candidate_brings_are_told_to_need_the_usage(tmp_path: Path) -> None:
    """`--contracts` is not proposed, because a bill refuses it."""
    then = contract_card(contract("- {for: {model: chat}, percent: -20%}"), tables={"chat.yaml": TABLES})._unproved
    now = contract_card(tables={"chat.yaml": TABLES})._unproved
    file = export(tmp_path, line(CHAT, "2", "1", "-2"))
    with pytest.raises(SimulationError, match=r"all rows are at list prices\. A bill .* give its usage"):
        simulate(file, Side("now", now), [Side("then", then)], by=())


def test_a_sku_of_no_version(tmp_path: Path) -> None:
    with re_rated(tmp_path, card_with(DEARER), line("chat-llm-thought-mtoken", "2", "1", "-2"), INPUT) as result:
        [unpriced] = result.unpriced
        assert unpriced.reason == (
            "structure: SKU chat-llm-thought-mtoken is not in the version of 2026-01-01 of chat; re-rate from usage"
        )


def test_the_model_is_found_by_the_sku_where_the_notes_name_none(tmp_path: Path) -> None:
    rows = [
        line(CHAT, "2", "0.5", "-1", "API Inference"),
        line("search-krequest", "10", "0.001", "-0.01", "API Inference"),
    ]
    assert amounts(tmp_path, card_with(DEARER), *rows) == (Decimal("1.01"), Decimal("1.51"))


REFERENCE = "seedance-2-5-reference-to-video-basic"


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("1080p", "structure: the price of SKU {} depends on the video that was sent, and its rates changed; {}"),
        ("[480p, 720p]", ""),
    ],
)
def test_seconds_that_no_row_holds(card: RateCard, tmp_path: Path, where: str, words: str) -> None:
    """7.01 s and 7.02 s of reference video come to one total, and would come to two at another rate of their own."""
    body = {"model": REFERENCE, "duration": "5s", "resolution": "1080p", "aspect_ratio": "16:9"}
    when = datetime(2026, 10, 2, tzinfo=UTC)
    quote = card.at(when).quote_video(body | {"reference_video_total_duration": Decimal("7.01")})
    [row] = quote.ledger_entries(timestamp=when, request_id="r")
    change = f"{{set: {REFERENCE}, where: {{resolution: {where}, video_input: true}}, rate: 9}}"
    overlay = candidate(tmp_path, change)
    values = {"sku": row.sku, "currency": row.currency, "price": str(row.price_per_unit_usd), "entry": "charge"}
    shape = UsageShape(
        "ledger", REFERENCE, json.dumps({f"ledger_{name}": value for name, value in values.items()}), when.date()
    )
    pricer = LedgerPricer(Predicates(), card)
    now, then = (pricer.price(side, shape) for side in (Side("now", card), Side("then", card.with_candidate(overlay))))
    assert isinstance(now, PricedShape)
    if words:
        assert then == Refused(words.format(row.sku, "re-rate from usage"))
    else:
        assert isinstance(then, PricedShape) and then.amounts == now.amounts
