"""What is said of requests that only one side offers, of cost and margin, and of days before a candidate holds."""

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import openpyxl
import pyarrow.parquet
import pytest
from candidate_files import candidate
from ledgers import CLIP as FILM
from ledgers import card_with, export, line
from rows import table_of
from usage import CALL, CLIP, ROWS, TEXT, row

from ratecard import RateCard
from ratecard.base.errors import SimulationError
from ratecard.load.folder import shipped_folder
from ratecard.review.sides import Side
from ratecard.simulation.answers.rows import LostAndNew, ModelSums
from ratecard.simulation.answers.target import read_target, smallest_factor
from ratecard.simulation.answers.volume import Elasticity, Expected, expected_of, read_elasticity
from ratecard.simulation.prices.sides import AsBilled
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Question, Report
from ratecard.simulation.report.sentences import answer, every_sentence
from ratecard.simulation.report.tables import margin_table, sides_table
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from shipped import CARD as ALL
from shipped import few_models

KLING, STANDARD, OVI = "kling-o3-pro-text-to-video", "kling-o3-standard-text-to-video", "ovi-image-to-video"
CARD = few_models("claude-opus-4-6", "openai-gpt-56-luna", "crypto-rpc", KLING, STANDARD, OVI, of_each=0)
DEARER = "{scale: {type: text}, factor: 1.1}"
CLIPS = 2 * Decimal(CLIP)
WITHOUT_CLIPS = Decimal(TEXT) + Decimal(CALL)


@pytest.fixture(scope="module")
def retired(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    folder = tmp_path_factory.mktemp("retired")
    file = candidate(folder, f"retire: {KLING}", DEARER)
    with simulate(table_of(ROWS), CARD, file, by=["model", "customer"], costs="60%") as found:
        yield found


def test_the_best_seller_that_is_retired_is_lost(retired: Simulation) -> None:
    rise = Decimal(TEXT) / 10
    assert retired.total.amounts == (WITHOUT_CLIPS + CLIPS, WITHOUT_CLIPS + rise)
    assert (retired.total.difference(), retired.total.change()) == (rise - CLIPS, rise)
    assert retired.total.both() == (WITHOUT_CLIPS, WITHOUT_CLIPS + rise)
    assert (retired.rows, retired.priced, retired.total.both_requests()) == (5, 4, 2)
    said = answer(Report(retired), 1)
    assert said.startswith("Revenue falls by $1.54 (-99.36%), from $1.55 to $0.01, under dearer: $0.00 (+9.99%)")
    assert said.endswith(
        "by prices on the requests that both offer, -$1.54 lost with 2 requests that it does not offer."
    )


def test_a_part_for_what_is_lost(retired: Simulation) -> None:
    [lost] = [part for part in retired.attribution().parts if part.kind == "lost"]
    assert (lost.model, lost.amount) == (KLING, -CLIPS)
    assert lost.label.startswith(f"Specified model not found: {KLING}. It was retired on 2026-10-01")
    assert not any(each.model == KLING and each.change.kind == "removed" and each.change.attributes == "audio true"
                   for each in retired.attribution().untouched)  # fmt: skip


def test_winners_and_losers_are_of_what_both_offer(retired: Simulation) -> None:
    found = retired.customers()
    assert [each.key for each in found.losers] == [("a",)]
    assert found.winners == ()
    assert [(each.key, each.beside().lost) for each in found.lost] == [(("b",), CLIPS)]
    # Customer b has a call that both sides offer, and it costs the same.
    assert {band.label: band.customers for band in found.distribution if band.customers} == {
        "unchanged": 1,
        "+5 to +10 %": 1,
    }


def test_strict_takes_what_one_side_offers(tmp_path: Path) -> None:
    file = candidate(tmp_path, f"retire: {KLING}")
    with simulate(table_of(ROWS[:4]), CARD, file, strict=True) as found:
        assert found.unpriced == ()
    with pytest.raises(SimulationError, match="1 of 5 rows cannot be priced"):
        simulate(table_of(ROWS), CARD, file, strict=True)


def sums(model: str, now: int, then: int, lost: int = 0, new: int = 0) -> ModelSums:
    """Return the revenue of a model under the current prices and under a candidate."""
    sides = ((0, Decimal(now), 0, 0), (0, Decimal(then), 0, 0))
    return ModelSums(model, {}, sides, ((0,) * 4, (0, Decimal(new), 0, 0)), (Decimal(now), Decimal(now - lost)))


def expected(models: list[ModelSums], elasticities: dict[str, Elasticity]) -> Expected:
    return expected_of(models, elasticities, {}, {}, 2)


def test_only_what_both_offer_answers_a_price() -> None:
    """1,000 that both offer rise by 10 %, 500 are lost and 70 are new: at -1 the 1,000 lose a tenth of their volume."""
    found = expected([sums("m", 1500, 1170, lost=500, new=70)], dict([read_elasticity("all=-1")]))
    assert found.total.revenues == (Fraction(1500), 1100 * Fraction(9, 10) + 70)


def test_two_elasticities_have_ranges_of_their_own() -> None:
    """One price rises and one falls: the least of both is that of one range's end and of the other's beginning."""
    models = [sums("rises", 100, 110), sums("falls", 100, 90)]
    elasticities = {name: Elasticity(Decimal(-1), Decimal(-2), Decimal(0)) for name in ("rises", "falls")}
    low, high = expected(models, elasticities).ranges[1]
    rises, falls = [110 * (1 - Fraction(e, 10)) for e in (0, 2)], [90 * (1 + Fraction(e, 10)) for e in (0, 2)]
    assert (low, high) == (min(rises) + min(falls), max(rises) + max(falls))
    both = [rises[e] + falls[e] for e in (0, 1)]
    assert expected(models, {"all": elasticities["rises"]}).ranges[1] == (min(both), max(both))


def test_the_least_of_a_range_may_be_inside_it() -> None:
    """Volume cannot be below nothing: where that of one model ends, the other's gains are all that still moves."""
    models = [sums("trebles", 100, 300), sums("falls", 100, 50)]
    found = expected(models, {"all": Elasticity(Decimal(-1), Decimal(-4), Decimal(0))})
    turn, zero = Fraction(-1, 2), Fraction(0)
    at = {e: 300 * max(zero, 1 + 2 * e) + 50 * (1 - e / 2) for e in (Fraction(-4), turn, zero)}
    assert found.ranges[1] == (at[turn], at[zero])


def test_what_only_a_candidate_sells_costs_a_share_of_its_price(tmp_path: Path) -> None:
    current = Side("now", CARD.with_candidate(candidate(tmp_path, f"retire: {KLING}")))
    with simulate(table_of(ROWS), current, Side("back", CARD), by=["model"], costs="60%") as found:
        assert found.total.beside() == LostAndNew(0, Decimal(0), 2, CLIPS, 0)
        assert found.margin().total.costs == tuple(amount * Decimal("0.6") for amount in found.total.amounts)
        assert [(each.model, each.amount) for each in found.new()] == [(KLING, CLIPS)]
        [part] = found.attribution().parts
        assert (part.kind, part.model, part.amount) == ("new", KLING, CLIPS)


def test_costs_by_unit_and_by_sku(tmp_path: Path) -> None:
    """Clips by the second, one bucket of tokens by its SKU: the text has no cost for its other buckets."""
    file = tmp_path / "costs.csv"
    file.write_text(f"sku,model,unit,cost\n,{KLING},video_second,0.1\nclaude-opus-4-6-llm-input-mtoken,,,3\n")
    cheaper = candidate(tmp_path, "{scale: {type: video}, factor: 0.5}")
    with simulate(table_of(ROWS), CARD, cheaper, by=["model"], costs=file) as found:
        whole = found.margin().total
        assert (whole.requests, whole.unknown) == (2, 2)
        assert (whole.costs, whole.revenues[0]) == ((Decimal(1), Decimal(1)), CLIPS)
        assert whole.unknown_revenues == (WITHOUT_CLIPS, WITHOUT_CLIPS)
        said = " ".join(every_sentence(Report(found)))
        assert "2 requests of unknown cost, which bring $0.01 now, are in no margin" in said
        assert [cell.model for cell in found.margin().below[1]] == [KLING]


def test_what_no_row_has_needs_no_cost(tmp_path: Path) -> None:
    """A text without cached tokens costs what its input and output cost."""
    file = tmp_path / "costs.csv"
    file.write_text("sku,cost\nclaude-opus-4-6-llm-input-mtoken,3\nclaude-opus-4-6-llm-output-mtoken,5\n")
    row = {"type": "text", "model": "claude-opus-4-6", "prompt_tokens": 1_000_000, "completion_tokens": 2_000_000}
    row["timestamp"] = datetime(2026, 10, 1, tzinfo=UTC)
    with simulate(table_of([row]), CARD, by=["model"], costs=file) as found:
        assert (found.margin().total.costs, found.margin().total.unknown) == ((Decimal(13),), 0)
    with simulate(table_of([row, row | {"cached_tokens": 1}]), CARD, by=["model"], costs=file) as found:
        assert found.margin().total.unknown == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model,cost\n", "costs.csv:1: the heading is 'model,cost'. Write model,unit,cost or sku,cost"),
        ("model,unit,cost,note\n", "costs.csv:1: the heading is"),
        ("sku,cost\n", "costs.csv holds no costs"),
        (f"model,unit,cost\n{KLING},video_second,-1\n", "costs.csv:2: cost '-1' is negative"),
        (f"model,unit,cost\n{KLING},video_second,1\n{KLING},video_second,2\n", "costs.csv:3: .* has a cost already: 1"),
        (
            f"model,unit,cost\n{KLING},video_secnd,1\n",
            ":2: .* is not charged by 'video_secnd'. Did you mean 'video_second'",
        ),
        ("model,unit,cost\nkling-o3-pro-text-to-vide,video_second,1\n", f":2: there is no model .* mean '{KLING}'"),
        (f"sku,cost\n{KLING}-5s,1\nfilm-9,1\n", "costs.csv:3: the SKU 'film-9' begins with no model"),
        ("sku,cost\na,b,c\n", "costs.csv:2: 3 cells under 2 headings"),
    ],
)
def test_costs_that_are_not_understood(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "costs.csv").write_text(text)
    with pytest.raises(SimulationError, match=said):
        simulate(table_of(ROWS), CARD, costs=tmp_path / "costs.csv")


@pytest.mark.parametrize(("costs", "said"), [("x%", "Write it like 60%"), ("as-billed", "give what we pay")])
def test_costs_that_are_none(costs: str, said: str) -> None:
    with pytest.raises(SimulationError, match=said):
        simulate(table_of(ROWS), CARD, costs=costs)


def test_costs_of_a_candidate_are_laid_over_the_current_tables(tmp_path: Path) -> None:
    file = candidate(tmp_path, "{scale: {type: text}, factor: 0.5}")
    with simulate(table_of(ROWS), CARD, by=["model"], costs=file) as found:
        assert found.margin().total.margin(0) == Decimal(TEXT) / 2
    for name, days in {"tomorrow": ("2026-10-03", ""), "yesterday": ("2026-10-01", "2026-10-02")}.items():
        other = candidate(tmp_path, "{scale: {type: text}, factor: 0.5}", name=name, day=days[0], until=days[1])
        with simulate(table_of(ROWS), CARD, by=["model"], costs=other) as found:
            assert found.margin().total.unknown_revenues == (Decimal(TEXT),), "on the days without it"
    with pytest.raises(SimulationError, match=r"hold from 2026-10-01 on, and 2026-09-01 is priced at 2026-09-01"):
        simulate(table_of(ROWS), "2026-09-01", costs=file)
    later = candidate(tmp_path, "{scale: {type: image}, factor: 0.5}", name="later", day="2026-12-01")
    with pytest.raises(SimulationError, match=r"later.yaml hold from 2026-12-01 on, and 2026-10-05 is priced at 2026"):
        simulate(table_of(ROWS), "2026-10-05", costs=f"{file}+{later}")
    ended = candidate(tmp_path, "{scale: {type: text}, factor: 0.5}", name="ended", until="2026-10-03")
    with pytest.raises(SimulationError, match=r"ended.yaml holds until 2026-10-03"):
        simulate(table_of(ROWS), "2026-10-05", costs=ended)


@pytest.mark.parametrize("costs", [ALL, shipped_folder(), str(shipped_folder())], ids=["card", "path", "word"])
def test_our_own_tables_as_costs_leave_nothing_on_any_day(costs: RateCard | Path | str) -> None:
    rows = [row("text", "openai-gpt-56-luna", "a", prompt_tokens=7_000_000, completion_tokens=9_000)]
    with simulate(table_of(rows), "2026-08-03", "2026-08-21", by=["model"], costs=costs) as found:
        assert found.total.difference()
        assert [found.margin().total.margin(side) for side in (0, 1)] == [0, 0]


def test_a_row_without_a_cost_does_not_stop_a_target(tmp_path: Path) -> None:
    """Where no cost is known for RPC, a margin of 50 % over the tables is twice the price of all else."""
    gone = candidate(tmp_path, f"retire: {KLING}", name="costs")
    file = candidate(tmp_path, DEARER)
    with simulate(table_of(ROWS), CARD, file, by=["model"], costs=gone) as found:
        reached = smallest_factor(found, file, read_target("margin=40%"))
        calls = Decimal(CALL)
        assert reached.revenue - Decimal(TEXT) - calls >= reached.revenue * Decimal("0.4")
        assert reached.below is not None
        assert reached.below - Decimal(TEXT) - calls < reached.below * Decimal("0.4")
        assert found.margin().total.unknown == 2


def test_cost_and_margin_are_in_every_export(retired: Simulation, tmp_path: Path) -> None:
    report = Report(retired)
    write(report, [tmp_path / f"report{ending}" for ending in (".csv", ".parquet", ".json", ".xlsx", ".html")])
    whole = retired.margin().total
    with (tmp_path / "report.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = pyarrow.parquet.read_table(tmp_path / "report.parquet").to_pylist()
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    for listed in (rows, table, document["groups"]):
        for side, name in enumerate(("current", "dearer")):
            assert sum(Decimal(each[f"{name} cost"]) for each in listed) == whole.costs[side]
            assert sum(Decimal(each[f"{name} margin"]) for each in listed) == whole.margin(side)
        assert sum(Decimal(each["dearer lost"]) for each in listed) == CLIPS
        assert sum(Decimal(each["dearer new"]) for each in listed) == 0
        assert sum(int(each["requests_without_cost"]) for each in listed) == 0
    assert Decimal(document["total"]["dearer lost"]) == CLIPS
    assert [Decimal(each["amount"]) for each in document["lost"]["dearer"]] == [CLIPS]
    assert Decimal(document["margin"]["total"]["dearer"]["cost"]) == whole.costs[1]
    groups = openpyxl.load_workbook(tmp_path / "report.xlsx", data_only=True)["Groups"]
    heading = [cell.value for cell in groups[1]]
    last = {name: cell.value for name, cell in zip(heading, groups[groups.max_row], strict=True)}
    assert Decimal(str(last["dearer: cost"])) == whole.costs[1]
    assert Decimal(str(last["Current: margin"])) == whole.margin(0)
    listed = margin_table(report, retired.margin(), [0, 1]).rows
    revenues = {each.model: each.revenues[0] for each in retired.margin().models}
    assert [revenues[str(row[0])] for row in listed] == sorted(revenues.values(), reverse=True)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Margin by model" in page and "What only one side offers" in page


def test_what_lies_before_a_candidate_takes_effect(tmp_path: Path) -> None:
    """Three requests of four lie before; the text after rises by a tenth, which is a fortieth of all."""
    days = [datetime(2026, 10, day, 12, tzinfo=UTC) for day in (1, 2, 4, 5)]
    file = candidate(tmp_path, DEARER, day="2026-10-05")
    for by in (["model"], ["model", "day"]):
        with simulate(table_of(ROWS[0] | {"timestamp": day} for day in days), CARD, file, by=by) as found:
            since = found.since()
            assert since is not None
            assert (since.before, since.requests) == (3, 4)
            assert (since.current, since.candidate) == (Decimal(TEXT), Decimal(TEXT) * Decimal("1.1"))
            said = answer(Report(found), 1)
            assert "Revenue rises by $0.000900 (+2.50%)" in said
            assert said.endswith(
                "75% of the requests lie before it takes effect on 2026-10-05; on those after, revenue rises by 10%."
            )


def test_one_without_effect_beside_another(tmp_path: Path) -> None:
    idle = candidate(tmp_path, f"{{scale: {{model: {OVI}}}, factor: 2}}", name="idle")
    with pytest.raises(SimulationError, match="changes nothing: the usage has none of the models"):
        simulate(table_of(ROWS), CARD, idle)
    with simulate(table_of(ROWS), CARD, [candidate(tmp_path, DEARER), idle]) as found:
        assert found.no_effect[0] == ""
        assert answer(Report(found), 2).startswith("No change under idle: the usage has none of the models")
        [_, _, last] = sides_table(Report(found)).rows
        assert str(last[0]).startswith("idle (no change: the usage has none of the models")


def test_successors_and_other_models(tmp_path: Path) -> None:
    file = candidate(tmp_path, f"{{retire: {KLING}, successor: {STANDARD}}}")
    with simulate(table_of(ROWS), CARD, file, by=["model"], successors=True) as found:
        assert found.total.beside() == LostAndNew()
        [part] = found.attribution().parts
        assert (part.kind, part.label) == ("moved", f"priced as {STANDARD}")
        assert part.amount == found.total.difference() != 0
    remap = {KLING: "claude-opus-4-6"}
    with simulate(table_of(ROWS), CARD, CARD, by=["model"], remap=remap) as found:
        [lost] = found.lost()
        assert (lost.model, lost.amount, lost.requests) == (KLING, CLIPS, 2)
        assert lost.reason.startswith("as claude-opus-4-6: Specified model not found: claude-opus-4-6 is of type text")
    for names, said in (({"x": KLING}, "no rows of 'x'"), ({KLING: "kling-o3"}, "there is no model 'kling-o3'")):
        with pytest.raises(SimulationError, match=said):
            simulate(table_of(ROWS), CARD, file, remap=names)


def test_a_bill_is_compared_with_what_a_clip_costs_now(tmp_path: Path) -> None:
    """0.51 for a clip, against 1.00 for a clip: not against 0.2 for a second."""
    dearer = card_with(("resolution: 720p, rate: 0.101", "resolution: 720p, rate: 0.2"))
    rows = export(tmp_path, line(FILM, "0.51", "1", "-0.51"))
    with simulate(rows, AsBilled("as-billed", card_with()), Side("then", dearer), by=[]) as found:
        [part] = found.attribution().parts
        assert (part.kind, part.old, part.new, part.unit) == ("rate", Decimal("0.51"), Decimal("1.00"), "clip")
        assert part.amount == found.total.difference() == Decimal("0.49")
        assert part.percent == "+96.08%"


def test_a_bill_that_no_rate_says(tmp_path: Path) -> None:
    """An amount that is not units x price: no rate is known that could be compared."""
    rows = export(tmp_path, line("chat-llm-input-mtoken", "2", "0.5", "-3"))
    with simulate(rows, AsBilled("as-billed", card_with()), Side("list", card_with()), by=[]) as found:
        [part] = found.attribution().parts
        assert (part.kind, part.old, part.new) == ("billed", None, None)
        assert "not known" in part.label
        assert part.amount == found.total.difference() == Decimal(-2)


def test_the_question_of_a_target_is_answered_in_words(retired: Simulation, tmp_path: Path) -> None:
    target = read_target("-99%")
    reached = smallest_factor(retired, candidate(tmp_path, f"retire: {KLING}", DEARER), target)
    # Text alone does not make up for the lost requests; the rest does not change.
    assert reached.below is not None
    assert reached.below < retired.total.amounts[0] / 100 <= reached.revenue
    report = Report(retired, Question(target=target, reached=reached))
    (said,) = (
        words for words in every_sentence(report) if words.startswith("The smallest factor that reaches -99.00%")
    )
    below = report.figures.money(report.round(reached.below))
    assert said.endswith(f" is wanted; one ten-thousandth less brings {below}.")


def test_a_candidate_that_ends_before_the_usage_says_that_its_rates_charge_nothing(tmp_path: Path) -> None:
    file = candidate(tmp_path, DEARER, day="2026-10-03", until="2026-10-05")
    days = [datetime(2026, 10, day, tzinfo=UTC) for day in (1, 9)]
    rows = [
        row("text", "claude-opus-4-6", "a", prompt_tokens=1, completion_tokens=1) | {"timestamp": at} for at in days
    ]
    with pytest.raises(SimulationError, match=r"no request is charged by a rate that it changes"):
        simulate(table_of(rows), CARD, file, by=["day"])
