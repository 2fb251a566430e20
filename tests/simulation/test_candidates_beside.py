"""Candidates beside the current prices: only what they change is added up, and what one of them refuses is left out."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from candidate_files import candidate
from few import card_of_models
from rows import expected, table_of, with_column
from test_row_by_row import written
from usage import CALL, CLIP, ROWS, TEXT, row

from ratecard import RateCard
from ratecard.base.errors import SimulationError
from ratecard.base.instants import utc
from ratecard.base.money import EXACT
from ratecard.review.sides import Side
from ratecard.simulation.answers.rows import NOTHING_LOST_OR_NEW, LostAndNew
from ratecard.simulation.groups.predicates import Predicates
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.simulation.prices.outcome import Outcome, PricedShape, Refused
from ratecard.simulation.prices.pricer import Pricer, Remapping
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from shipped import CARD
from shipped import FEW as SHIPPED
from token_tables import by_tokens, text_model

KEYS = ("model", "day", "customer")
DEARER = "{scale: {type: text}, factor: 1.1}"


def amounts(result: Simulation, number: int) -> dict[tuple[str | None, ...], Decimal]:
    return {each.key: each.amounts[number] for each in result.groups}


def test_what_one_candidate_retires_is_lost_under_it_alone(tmp_path: Path) -> None:
    dearer = candidate(tmp_path, DEARER)
    without = candidate(tmp_path, "retire: kling-o3-pro-text-to-video", name="without")
    text, calls, clips = Decimal(TEXT), Decimal(CALL), 2 * Decimal(CLIP)
    with simulate(table_of(ROWS), SHIPPED, [dearer, without], by=KEYS) as both:
        assert (both.rows, both.priced) == (5, 4)
        assert both.total.amounts == (text + clips + calls, text * Decimal("1.1") + clips + calls, text + calls)
        assert both.total.lost_and_new == (NOTHING_LOST_OR_NEW, LostAndNew(2, clips, 0, Decimal(0), 0))
        assert [each.rows for each in both.unpriced] == [1]
        for number in range(3):
            assert written(both, number) == amounts(both, number)
            assert sum(amounts(both, number).values()) == both.total.amounts[number]
        with_clips = both.against(dearer)
        assert with_clips.total.amounts[0] == text + calls + clips
        assert with_clips.total.lost_and_new == ()
        assert written(with_clips, 1) == amounts(with_clips, 1)
        assert with_clips.against(without).total.amounts == (text + clips + calls, text + calls)


def test_what_one_candidate_offers_for_nothing_is_new_under_it_alone() -> None:
    old = text_model("old", by_tokens("- {tokens: [input, output], rate: 1}"))
    free = text_model("new", by_tokens("- {tokens: [input, output], rate: 0}"))
    at, usage = datetime(2026, 10, 1, tzinfo=UTC), {"type": "text", "prompt_tokens": 1_000_000, "completion_tokens": 0}
    now, with_new = card_of_models(old), card_of_models(old, free)
    sides = Side("now", now, at), [Side("offered", with_new, at), Side("same", now, at)]
    rows = [{"model": name, **usage} for name in ("old", "new")]
    with simulate(pyarrow.Table.from_pylist(rows), *sides, by=("model",)) as found:
        assert [found.total.beside(side).new_requests for side in (1, 2)] == [1, 0]
        assert [bool(why) for why in found.no_effect] == [False, True]
        assert [row.both_requests(2) for row in found.table("model")] == [0, 1]


def test_what_one_candidate_cannot_price_is_in_no_total_of_any_side(tmp_path: Path) -> None:
    """A model that is charged in another currency has a price, and it cannot be added."""
    dearer = candidate(tmp_path, DEARER)
    models, name = SHIPPED.tables.models, "kling-o3-pro-text-to-video"
    euros = {**models, name: models[name].model_copy(update={"currency": "EUR"})}
    abroad = Side("abroad", RateCard(replace(SHIPPED.tables, models=euros)))
    text, calls = Decimal(TEXT), Decimal(CALL)
    with simulate(table_of(ROWS), SHIPPED, [dearer, abroad], by=KEYS) as both:
        assert (both.rows, both.priced) == (5, 2)
        assert both.total.amounts == (text + calls, text * Decimal("1.1") + calls, text + calls)
        assert {(each.side, each.rows) for each in both.unpriced if "EUR" in each.reason} == {("abroad", 2)}
        for number in range(3):
            assert written(both, number) == amounts(both, number)
        assert both.against(dearer).total.amounts[0] == text + calls + 2 * Decimal(CLIP)


def test_a_card_read_at_each_row_beside_prices_of_one_day(tmp_path: Path) -> None:
    card = SHIPPED.with_candidate(candidate(tmp_path, DEARER))
    with (
        simulate(table_of(ROWS), date(2026, 9, 1), [card], by=KEYS) as anew,
        simulate(table_of(ROWS), date(2026, 9, 1), by=KEYS) as standing,
    ):
        further = standing.against(card)
        assert (further.groups, further.unpriced) == (anew.groups, anew.unpriced)
        assert standing.against(date(2026, 10, 2)).total.amounts[0] == anew.total.amounts[0]
    with (
        simulate(table_of(ROWS), date(2026, 9, 1), by=("model",)) as standing,
        pytest.raises(SimulationError, match=r"other thresholds or days of change .* simulate it anew"),
    ):
        standing.against(card)


def test_sides_of_different_decimals_are_written_at_one(tmp_path: Path) -> None:
    coarse = candidate(tmp_path, DEARER, name="coarse")
    fine = candidate(tmp_path, "{scale: {model: claude-opus-4-6}, factor: 1.000001}", name="fine")
    with simulate(table_of(ROWS), SHIPPED, [coarse, fine], by=KEYS) as found:
        assert found.total.amounts[2] - found.total.amounts[0] == Decimal(TEXT) * Decimal("0.000001")
        for number in range(3):
            assert written(found, number) == amounts(found, number)


def test_a_key_that_the_usage_is_not_grouped_by() -> None:
    with simulate(table_of(ROWS), SHIPPED, by=("model", "customer")) as found:
        words = "not grouped by 'custommer'. Did you mean 'customer'\\? It is by: model, customer"
        with pytest.raises(SimulationError, match=words):
            found.table("custommer")
        with pytest.raises(SimulationError, match="not grouped by 'day'"):
            found.size("day")


def test_a_name_may_have_the_parameters_of_a_search() -> None:
    plain = row("text", "zai-org-glm-5-2", "a", prompt_tokens=10, completion_tokens=5)
    searching = plain | {"model": "zai-org-glm-5-2:enable_web_search=on", "customer": "b"}
    sums, refused = expected(SHIPPED, [plain, searching], KEYS)
    with simulate(table_of([plain, searching]), SHIPPED, by=KEYS) as found:
        assert not refused
        assert amounts(found, 0) == sums
        assert len(set(sums.values())) == 2


def test_whoever_stops_the_pricing_stops_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(*_: object) -> Sequence[Sequence[Outcome]]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pricer, "outcomes", stops)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        simulate(table_of(ROWS), SHIPPED, by=KEYS)
    assert threading.active_count() == before


def test_a_request_too_large_to_be_added_is_asked_of_each_side(tmp_path: Path) -> None:
    retired = SHIPPED.with_candidate(candidate(tmp_path, "retire: claude-opus-4-6", name="retired"))
    rows = [row("text", "claude-opus-4-6", "a", prompt_tokens=2**59, completion_tokens=0), ROWS[-1]]
    with simulate(table_of(rows), Side("now", retired), Side("back", SHIPPED), by=KEYS) as found:
        assert [type(outcomes[0]) for outcomes in found.outcomes] == [Refused, PricedShape]
        # Where it is not offered, nobody looks at what else is wrong with a row.
        assert (found.priced, [(each.side, each.rows) for each in found.unpriced]) == (1, [("back", 1)])
        assert found.total.beside() == LostAndNew(0, Decimal(0), 1, found.total.amounts[1], 0)
        assert found.total.amounts[0] == 0 < found.total.amounts[1]


def test_more_characters_than_can_be_asked_for_are_refused() -> None:
    rows = [row("speech", "tts-gemini-3-1-flash", str(n), characters=10**12 + n) for n in range(2)]
    sums, _ = expected(SHIPPED, rows[:1], KEYS)
    with simulate(table_of(rows), SHIPPED, by=KEYS) as found:
        assert amounts(found, 0) == sums
        words = "characters: Number must be less than or equal to ..."
        assert [(each.rows, each.reason) for each in found.unpriced] == [(1, words)]


def test_what_a_column_of_another_type_holds_is_not_added() -> None:
    rows = [row("speech", "tts-gemini-3-1-flash", "a", characters=5) for _ in range(2)]
    table = with_column(table_of(rows), "seconds", [Decimal(9 * 10**19)] * 2, pyarrow.decimal128(38, 18))
    with simulate(table, SHIPPED, by=KEYS) as found:
        assert found.priced == 2


def test_keys_are_written_in_utc_wherever_the_machine_is(tmp_path: Path) -> None:
    usage = tmp_path / "usage.parquet"
    pyarrow.parquet.write_table(table_of(ROWS[:1]), usage)
    asked = "from ratecard import simulate; import sys; print(simulate(sys.argv[1], by=['timestamp']).groups[0].key)"
    command, zone = [sys.executable, "-c", asked, str(usage)], {"TZ": "America/New_York"}
    found = subprocess.run(command, env=os.environ | zone, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "('2026-10-02 12:00:00+00',)"


def test_what_is_priced_alike_is_priced_once_until_something_changes(tmp_path: Path) -> None:
    """A model's price at a moment is that of the version in effect, of its searches, and of the limits."""
    text, search = "claude-opus-4-6", "web-search"
    changes = {
        "dearer": DEARER,
        "search": f"{{scale: {{model: {search}}}, factor: 1.1}}",
        "retired": f"retire: {text}",
    }
    cards = {name: SHIPPED.with_candidate(candidate(tmp_path, change, name=name)) for name, change in changes.items()}
    later = SHIPPED.tables.limits[0].model_copy(update={"effective": date(2026, 10, 1)})
    cards["limits"] = RateCard(replace(SHIPPED.tables, limits=(later, *SHIPPED.tables.limits)))
    pricer, now = Pricer(Predicates()), Side("now", SHIPPED)
    for name, card in cards.items():
        side, days = Side(name, card), (date(2026, 9, 30), date(2026, 10, 1))
        alike = [pricer.alike(now, side, UsageShape("text", text, "{}", day)) for day in days]
        assert alike == [True, False], name
        assert not any(
            pricer.alike(now, replace(side, at=utc(day)), UsageShape("text", text, "{}", day)) for day in days
        )
    assert pricer.alike(now, Side("dearer", cards["dearer"]), UsageShape("text", "nobody's", "{}", days[1]))


def test_the_successor_is_the_one_that_is_offered_on_the_day_of_a_row(tmp_path: Path) -> None:
    first, second, third = "claude-opus-4-6", "claude-sonnet-4-6", "openai-gpt-54"
    card = SHIPPED
    for begins, old, new in (("2026-10-10", first, second), ("2026-10-20", second, third)):
        change = f"{{retire: {old}, successor: {new}}}"
        card = card.with_candidate(candidate(tmp_path, change, name=old, day=begins))
    for day, name in ((9, None), (19, second), (20, third)):
        when = date(2026, 10, day)
        found = Remapping(successors=True).successor(card.tables, UsageShape("text", first, "{}", when), when)
        assert (found and found.model) == name


def test_a_model_that_is_not_retired_is_no_successor_of_its_alias() -> None:
    card = card_of_models(
        text_model("m", by_tokens("- {tokens: [input, output], rate: 1}"), further="aliases: [alias]")
    )
    when = date(2026, 10, 9)
    assert Remapping(successors=True).successor(card.tables, UsageShape("text", "alias", "{}", when), when) is None


def test_a_further_candidate_is_what_a_simulation_of_its_own_says(tmp_path: Path) -> None:
    first = candidate(tmp_path, DEARER, name="first")
    changes = (
        "{scale: {type: video}, factor: 1.2}",
        "retire: kling-o3-pro-text-to-video",
        "{scale: {type: rpc}, factor: 2}",
    )
    others = [candidate(tmp_path, change, name=f"other{number}") for number, change in enumerate(changes)]
    anew = {}
    for other in (*others, first):
        with simulate(table_of(ROWS), SHIPPED, other, by=KEYS) as found:
            anew[other] = found.total, found.groups, found.unpriced
    with simulate(table_of(ROWS), SHIPPED, first, by=KEYS) as standing:
        for other in (*others, first, *others):
            further = standing.against(other)
            assert (further.total, further.groups, further.unpriced) == anew[other]


def test_what_is_said_of_an_unknown_model_does_not_depend_on_which_of_its_rows_come_first() -> None:
    """At the first change few models had prices, so that other names could have been meant."""
    name, changes = "seedance-2-5-text-to-vide", SHIPPED.boundaries()
    rows = [row("video", name, "a", duration="5s") | {"timestamp": day} for day in (changes[0], changes[-1])]
    said = set()
    for some in (rows, rows[:1], rows[1:]):
        with simulate(table_of([*some, *ROWS]), by=KEYS) as found:
            said |= {each.reason for each in found.unpriced if name in each.reason}
    assert len(said) == 1 and "Did you mean" in said.pop()


def test_customers_under_a_candidate_that_was_only_tried_are_asked_before_it_is_forgotten(tmp_path: Path) -> None:
    dearer = candidate(tmp_path, DEARER)
    with simulate(table_of(ROWS), SHIPPED, by=KEYS) as found:
        with found.trying(dearer) as tried:
            customers = tried.customers()
            assert len(customers.rows) == 2
        with pytest.raises(SimulationError, match="this trial is closed; ask inside its `with` block"):
            assert customers.rows


@pytest.mark.parametrize(
    "scaled", ["model: openai-gpt-56-sol", "type: video", "type: text", "type: surcharge", "type: rpc", "type: speech"]
)
def test_what_prices_ask_of_groups_is_found_in_the_models_that_a_candidate_changes(scaled: str, tmp_path: Path) -> None:
    known = Predicates.of([CARD])
    changed = CARD.with_candidate(candidate(tmp_path, f"{{scale: {{{scaled}}}, factor: 1.5}}", day="2031-02-03"))
    asked = Predicates.of([CARD, changed], known=known)
    assert asked == Predicates.of([CARD, changed])
    assert asked != known


NAMES = (None, "claude-opus-4-6", "kling-o3-pro-text-to-video", "nobody's")


def test_a_change_of_rpc_is_applied_whatever_model_a_row_names(tmp_path: Path) -> None:
    dearer = candidate(tmp_path, "{scale: {type: rpc}, factor: 3}", day="2026-10-12")
    calls = [row("rpc", name, "a", network="ethereum-mainnet", method="eth_call") for name in NAMES]
    days = [datetime(2026, 10, day, 12, tzinfo=UTC) for day in (2, 11, 12, 20)]
    rows = [call | {"timestamp": day} for call in calls for day in days]
    with simulate(table_of(rows), SHIPPED, dearer, by=["model"]) as found:
        once, thrice = (EXACT.multiply(Decimal(CALL), Decimal(times)) for times in (4, 2 + 2 * 3))
        assert {each.key[0]: each.amounts for each in found.by_model} == {
            name or "crypto-rpc": (once, thrice) for name in NAMES
        }
