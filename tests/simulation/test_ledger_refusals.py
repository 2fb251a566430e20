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

NOW = Side("now", card_with())
GONE = "SKU {} is not in the version of 2026-01-01 of {}, or not for each of its requests"


def re_rated(folder: Path, candidate: RateCard, *lines: str) -> Simulation:
    return simulate(export(folder, *lines), NOW, Side("then", candidate), by=("sku",))


def amounts(found: Simulation) -> dict[str | None, tuple[Decimal, ...]]:
    """What each SKU comes to under each side; every row has a price."""
    assert not found.unpriced and not found.disputed
    return {group.key[0]: group.amounts for group in found.groups}


def shape_of(row: str) -> UsageShape:
    """The shape of a row: what of it decides its price."""
    day, sku, price, *_, currency, model = row.split(",")
    values = {"sku": sku, "currency": currency, "price": price, "entry": "charge"}
    written = json.dumps({f"ledger_{name}": value for name, value in values.items()})
    return UsageShape("ledger", model, written, datetime.fromisoformat(day).date())


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


CHANGED = [
    (INPUT, DEARER, "1", "1.5"),
    (CACHED, DEARER, "1", "1.5"),
    (EXTENDED, (LONGER, LONGER.replace("4", "1")), "2", "0.5"),
    (SEARCH, ("rate: 10}", "rate: 20}"), "0.01", "0.02"),
    (IMAGE, ("{resolution: 1K, rate: 0.02}", "{resolution: 1K, rate: 0.03}"), "0.06", "0.09"),
    (SONG, ("{seconds: 61..120, rate: 1}", "{seconds: 61..120, rate: 3}"), "1", "3"),
    (FILM, ("resolution: 720p, rate: 0.101", "resolution: 720p, rate: 0.2"), "0.51", "1"),
    (INPUT, ("unit: mtoken\n", "unit: mtoken\n            markup: 2\n"), "1", "2"),
]


def test_rates_that_changed(tmp_path: Path) -> None:
    """One candidate for each change: a row has its changed rate under that one, and under the others as it was."""
    candidates = [Side(f"{number}", card_with(replaced)) for number, (_, replaced, _, _) in enumerate(CHANGED)]
    rows = dict.fromkeys(row for row, *_ in CHANGED)
    with simulate(export(tmp_path, *rows), NOW, candidates, by=("sku",)) as found:
        sums = amounts(found)
    for number, (row, _, now, then) in enumerate(CHANGED, 1):
        of_row = sums[row.split(",")[1]]
        assert (of_row[0], of_row[number]) == (Decimal(now), Decimal(then)), CHANGED[number - 1]


def test_a_rate_beside_does_not_matter(tmp_path: Path) -> None:
    """Another resolution of the same model changed, and one came: this one is charged as it was."""
    further = ("- {resolution: 1080p, rate: 0.2}", "- {resolution: [1080p, 4k], rate: 0.3}")
    dearer = card_with(further, ("[720p, 1080p]", "[720p, 1080p, 4k]"), DEARER)
    with re_rated(tmp_path, dearer, FILM, INPUT) as found:
        assert amounts(found) == {CHAT: (1, Decimal("1.5")), CLIP: (Decimal("0.51"),) * 2}


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
        # The SKU stands for songs of 61 to 120 seconds: those of 90 and less are still sold, under another.
        (SONG, ("{seconds: 61..120, rate: 1}", "{seconds: 61..90, rate: 1}"),
         GONE.format("song-duration-based-120s", "song")),
        (FILM, ("places: 2", "places: 3"), "film: rounding places was 2, is 3"),
        (FILM, ("audio: configurable}", "audio: configurable}\n        defaults: {resolution: 1080p}"),
         "film: defaults resolution was not set, is 1080p"),
    ],
)  # fmt: skip
def test_what_a_sku_cannot_express(row: str, replaced: tuple[str, str], words: str) -> None:
    pricer = LedgerPricer(Predicates(), NOW.card)
    now, then = (pricer.price(side, shape_of(row)) for side in (NOW, Side("then", card_with(replaced))))
    assert isinstance(now, PricedShape)
    assert then == Refused(f"structure: {words}; re-rate from usage")


def test_requests_that_are_all_refused_now_are_lost(tmp_path: Path) -> None:
    """One candidate has another resolution in place of theirs, and one has no such model."""
    small = card_with(
        ("[720p, 1080p]", "[1080p, 4k]"), ("- {resolution: 720p, rate: 0.101}", "- {resolution: 4k, rate: 0.3}")
    )
    gone = card_with(("model: picture\n", "model: painting\n"))
    candidates = [Side("small", small), Side("gone", gone)]
    with simulate(export(tmp_path, FILM, IMAGE), NOW, candidates, by=()) as found:
        assert (found.priced, found.unpriced) == (2, ())
        assert found.total.amounts == (Decimal("0.57"), Decimal("0.06"), Decimal("0.51"))
        for candidate, amount, words in (
            (1, Decimal("0.51"), "resolution: Invalid enum value"),
            (2, Decimal("0.06"), "Specified model not found: picture"),
        ):
            [lost] = found.lost(candidate)
            assert (lost.requests, lost.amount, lost.reason[: len(words)]) == (1, amount, words)
            [part] = found.attribution(candidate).parts
            assert (part.kind, part.amount) == ("lost", -amount)


def test_a_total_that_no_request_has(tmp_path: Path) -> None:
    """Under the prices that it was billed under it stays what it was, and is counted as disputed."""
    odd = line(CLIP, "0.77", "1", "-0.77")
    dearer = card_with(("resolution: 720p, rate: 0.101", "resolution: 720p, rate: 0.2"))
    with re_rated(tmp_path, dearer, odd, IMAGE) as found:
        [unpriced] = found.unpriced
        assert (unpriced.rows, unpriced.side, found.priced) == (1, "then", 1)
        assert unpriced.reason == f"structure: no request of SKU {CLIP} was charged 0.77; re-rate from usage"
    with simulate(export(tmp_path, odd), NOW, by=()) as result:
        assert result.total.amounts == (Decimal("0.77"),)
        assert [(each.reason, each.rows) for each in result.disputed] == [
            ("pricePerUnitUsd: is not the price that was in effect", 1)
        ]


def test_rows_of_no_version(tmp_path: Path) -> None:
    """One of a day before the first version, and one of a SKU that no version has."""
    early = line(CHAT, "2", "1", "-2", timestamp="2025-12-31T23:59:59.999Z")
    with re_rated(tmp_path, card_with(DEARER), early, line("chat-llm-thought-mtoken", "2", "1", "-2"), INPUT) as result:
        of_now, of_then = sorted(result.unpriced, key=lambda each: each.reason)
        assert (of_now.rows, of_now.side) == (1, "now")
        assert of_now.reason.startswith("No price for chat. Its first version takes effect on ")
        assert of_then.reason == (
            "structure: SKU chat-llm-thought-mtoken is not in the version of 2026-01-01 of chat; re-rate from usage"
        )
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


def test_the_model_is_found_by_the_sku_where_the_notes_name_none(tmp_path: Path) -> None:
    rows = [
        line(CHAT, "2", "0.5", "-1", "API Inference"),
        line("search-krequest", "10", "0.001", "-0.01", "API Inference"),
    ]
    with re_rated(tmp_path, card_with(DEARER), *rows) as found:
        assert amounts(found) == {CHAT: (1, Decimal("1.5")), "search-krequest": (Decimal("0.01"),) * 2}


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
    shape = shape_of(line(row.sku, str(row.price_per_unit_usd), "1", "", REFERENCE, timestamp="2026-10-02T00:00:00Z"))
    pricer = LedgerPricer(Predicates(), card)
    now, then = (pricer.price(side, shape) for side in (Side("now", card), Side("then", card.with_candidate(overlay))))
    assert isinstance(now, PricedShape)
    if words:
        assert then == Refused(words.format(row.sku, "re-rate from usage"))
    else:
        assert isinstance(then, PricedShape) and then.amounts == now.amounts
