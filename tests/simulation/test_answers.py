"""What a simulation says beside its totals: attribution, customers, volume, margin, targets. All by hand."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from candidate_files import candidate
from made_up_sums import sums_of
from rows import table_of
from usage import CALL, CLIP, NOON, ROWS, TEXT, row

from ratecard.base.errors import SimulationError
from ratecard.review.difference import RateChange
from ratecard.review.rates import rate_changes
from ratecard.review.sides import Side
from ratecard.simulation.answers import attribution
from ratecard.simulation.answers.customers import customers_of
from ratecard.simulation.answers.rows import Row
from ratecard.simulation.answers.target import _search_upwards, read_target, smallest_factor
from ratecard.simulation.answers.volume import elasticities_of, read_elasticity, read_pace, volumes_of
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from shipped import few_models

KEYS, KLING, HEARD = ("model", "day", "customer"), "kling-o3-pro-text-to-video", "nvidia/parakeet-tdt-0.6b-v3"
CARD = few_models("claude-opus-4-6", "crypto-rpc", "ovi-image-to-video", KLING, HEARD, of_each=0)
AUTUMN = "{scale: {type: text}, factor: 1.1}", "{set: kling-o3-pro-text-to-video, where: {audio: true}, rate: 0.1701}"


@pytest.fixture(scope="module")
def autumn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return candidate(tmp_path_factory.mktemp("candidates"), *AUTUMN, name="autumn")


@pytest.fixture(scope="module")
def simulation(autumn: Path) -> Iterator[Simulation]:
    with simulate(table_of(ROWS), CARD, autumn, by=KEYS, costs=CARD) as found:
        yield found


def test_totals(simulation: Simulation) -> None:
    current = Decimal(TEXT) + 2 * Decimal(CLIP) + Decimal(CALL)
    # 5 s x 0.1701 is 0.8505, charged as 0.85.
    assert simulation.total.amounts == (current, current + Decimal("0.0009") + 2 * Decimal("0.08"))
    assert simulation.total.percent() == "+10.39%"
    assert (simulation.rows, simulation.priced) == (5, 4)
    # Only rows with a price count.
    assert [int(each) for each in simulation.total.quantities] == [500, 5_000, 0, 100, 0, 0]


def test_rows_are_in_the_order_of_their_keys_as_text_and_what_is_absent_comes_last() -> None:
    # The engine compares bytes of UTF-8: by UTF-16, the last two would be in the opposite order.
    customers: list[Any] = ["", "A", "a", "z", "\N{LATIN SMALL LETTER E WITH ACUTE}", "\uffee", "\U0001f600", None]
    clips = [row("video", "kling-o3-pro-text-to-video", each, duration="5s") for each in customers[::-1]]
    calls = [row("rpc", None, each, network="ethereum-mainnet", method="eth_call") for each in customers]
    with simulate(table_of([*clips, *calls]), CARD, by=("model", "customer")) as found:
        pairs = [(model, each) for model in ("crypto-rpc", "kling-o3-pro-text-to-video") for each in customers]
        assert [each.key for each in found.groups] == pairs
        assert [each.key for each in found.table("customer", "model")] == sorted(
            (pair[::-1] for pair in pairs), key=lambda key: customers.index(key[0])
        )
        asked = "SELECT customer FROM unnest(?) AS given (customer) ORDER BY 1"
        engine = found.comparison.roll_up.workspace.connection.execute(asked, [customers[::-1]])
        assert [each for (each,) in engine.fetchall()] == customers


def test_nothing_is_written_without_decimals() -> None:
    heard = row("transcription", HEARD, "a", seconds=Decimal("1.5"))
    with simulate(table_of([ROWS[0], heard]), CARD, by=["type"]) as found:
        by_type = {each.key[0]: list(map(str, each.quantities)) for each in found.groups}
    assert by_type == {"text": ["500", "5000", "0", "100", "0", "0"], "transcription": [*["0"] * 5, "1.500000000000"]}


def test_what_cannot_be_priced_is_counted_with_its_reason(simulation: Simulation) -> None:
    (found,) = simulation.unpriced
    assert (found.rows, found.type) == (1, "text")
    assert found.reason.startswith("usage.prompt_tokens_details.cached_tokens: Number must be less than or equal to")
    counts = {"prompt_tokens": "5", "completion_tokens": "0", "cached_tokens": "6"}
    assert found.examples == ({"type": "text", "model": "claude-opus-4-6"} | counts,)


def test_attribution_adds_up_to_the_difference(simulation: Simulation) -> None:
    found = simulation.attribution()
    parts = {(part.kind, part.label): part.amount for part in found.parts}
    assert parts == {
        ("rate", "video: audio true"): 10 * Decimal("0.0161"),
        ("rounding", "rounding of each request"): Decimal("-0.001"),
        ("rate", "tokens: context base, tokens input"): Decimal("0.0003"),
        ("rate", "tokens: context base, tokens cache_input"): Decimal("0.0003"),
        ("rate", "tokens: context base, tokens output"): Decimal("0.0003"),
    }
    assert sum(parts.values()) == found.difference == simulation.total.difference()


def test_changed_rates_that_nothing_was_charged_by_are_listed(simulation: Simulation) -> None:
    untouched = {(each.model, each.change.attributes) for each in simulation.attribution().untouched}
    assert ("claude-opus-4-6", "tokens cache_write") in untouched
    assert not any(model == "kling-o3-pro-text-to-video" for model, _ in untouched)


def test_rates_of_two_versions_are_compared_once(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many days both are in effect on."""
    compared: list[tuple[object, ...]] = []

    def compare(*sides: Any) -> tuple[RateChange, ...]:
        compared.append(tuple(side and (side.model.model, id(side.version)) for side in sides))
        return rate_changes(*sides)

    monkeypatch.setattr(attribution, "rate_changes", compare)
    assert simulation.attribution().untouched
    assert 0 < len(compared) == len(set(compared))


def test_bands_of_changes_are_named() -> None:
    rows = [Row((name,), 1, (), (Decimal(100), Decimal(then))) for name, then in (("same", 100), ("more", 103))]
    found = customers_of(sums_of(rows), 1)
    assert [band.label for band in found.distribution if band.customers] == ["unchanged", "+1 to +5 %"]
    named = ["-5 to -1 %", "-1 to 0 %", "unchanged", "0 to +1 %", "+1 to +5 %"]
    assert [band.label for band in found.distribution][4:9] == named
    assert [found.distribution[end].label for end in (0, -1)] == ["below -50 %", "above +50 %"]
    assert [band.falls for band in found.distribution] == [True] * 6 + [False] * 7


def test_volume_answers_the_price_of_each_model(simulation: Simulation) -> None:
    elastic = dict(map(read_elasticity, ("all=0", "kling-o3-pro-text-to-video=-1:-2..-0.5")))
    found = simulation.response(elastic)
    # The clip rises from 0.77 to 0.85, by 8/77: its volume falls by the same share, twice or half of it.
    others = Decimal(TEXT) * Decimal("1.1") + Decimal(CALL)
    clips = {name: Decimal("1.70") * (1 - times * 8 / Decimal(77)) for name, times in (("mid", 1), ("low", 2))}
    assert found.expected == round(others + clips["mid"], 2)
    assert found.low == round(others + clips["low"], 2)
    with pytest.raises(SimulationError, match=r"Did you mean 'kling-o3-pro-text-to-video'"):
        simulation.response(dict([read_elasticity("kling-o3-pro-text-to-vide=-1")]))


MODEL, TARGET, VOLUME, PACE = (
    r"Write MODEL=-0\.8", "Write 5%", r"Write -5%, TYPE=-5%, FAMILY=-5%, MODEL=\+10% or customer:NAME=-100%",
    "Write 30d, 90d or all",
)  # fmt: skip
# The expected value must lie within the range of possible ones.
RANGE = r"-?[0-9.]+ is not within .*\. Write the least, two dots"


@pytest.mark.parametrize(
    ("read", "said", "given"),
    [
        *((read_elasticity, MODEL, each) for each in ("all", "=-1", "all=x", "all=nan", "all=-1:2", "all=-1:1..x")),
        *((read_elasticity, RANGE, each) for each in ("all=-1:-0.5..-0.2", "veo=-0.8:-0.4..-1.2", "all=0:-2..-1")),
        (read_elasticity, RANGE, "all=-0.8:-0.7..-0.7"),
        (elasticities_of, "the elasticity of 'all' is given twice", ["all=-1", "all=-2"]),
        *((read_target, TARGET, each) for each in ("5", "profit=5%", "x%", "=5%", "nan%")),
        *((volumes_of, VOLUME, [each]) for each in ("5", "-101%", "=5%", "x%", "nan%", "all=5", "٣%")),
        *((read_pace, PACE, each) for each in ("90", "0d", "-3d", "d", "a year")),
    ],
)
def test_what_cannot_be_read_says_how_to_write_it(read: Callable[[Any], Any], said: str, given: Any) -> None:
    with pytest.raises(SimulationError, match=said):
        read(given)


def test_a_volume_keeps_its_digits_whatever_the_context_of_the_host() -> None:
    with localcontext(prec=3):
        assert volumes_of(["12.3456%"]) == {"all": Decimal("0.123456")}


def test_what_is_sold_below_cost(simulation: Simulation, autumn: Path) -> None:
    # Our costs are the current prices, and the candidate's prices are higher.
    assert simulation.margin().below == ((), ())
    dearer = CARD.with_candidate(autumn)
    with simulate(table_of(ROWS), CARD, by=KEYS, costs=dearer) as found:
        below = found.margin().below[0]
        # The greatest loss first: two clips, then the tokens.
        assert [(cell.model, cell.cost - cell.revenue) for cell in below] == [
            ("kling-o3-pro-text-to-video", Decimal("0.16")),
            ("claude-opus-4-6", Decimal("0.0009")),
        ]


def test_a_target_out_of_reach(autumn: Path, tmp_path: Path) -> None:
    nothing = candidate(tmp_path, "retire: ovi-image-to-video")
    with simulate(table_of(ROWS), CARD, autumn, by=KEYS) as found:
        with pytest.raises(SimulationError, match="100 times the price"):
            smallest_factor(found, autumn, read_target("100000%"))
        with pytest.raises(SimulationError, match=r"revenue cannot change by -100 %: no factor is zero\. Write more"):
            smallest_factor(found, autumn, read_target("-100%"))
        with pytest.raises(SimulationError, match="scales nothing"):
            smallest_factor(found, nothing, read_target("5%"))


@pytest.mark.parametrize("peak", [130, 10_123, 19_990, 36_700, 900_001])
def test_a_target_that_only_factors_between_the_points_of_the_grid_reach(peak: int) -> None:
    """Where volume answers prices, revenue has a peak: the first step that reaches the target is just before it."""
    assert _search_upwards(lambda steps: Fraction(abs(steps - peak) - 3)) == peak - 3
    assert _search_upwards(lambda steps: Fraction(abs(steps - peak) + 1)) is None


def test_what_the_engine_has_run_can_be_read_and_run_again(simulation: Simulation) -> None:
    """Each grouping with its rows, and the amounts of the last question."""
    assert simulation.table("model")
    read = [each for each in simulation.sql if "count(*) AS requests" in each]
    assert [each.count("FROM usage") for each in read] == [1] * len(read) and read
    asked = simulation.sql[-1]
    assert asked.lstrip().startswith("SELECT") and "amount1" in asked
    again = simulation.comparison.roll_up.workspace.connection.execute(asked).fetchall()
    assert simulation.sql[-1] == asked and isinstance(again, list)


def test_what_has_run_stays_readable_after_a_trial_whose_own_statements_are_forgotten(autumn: Path) -> None:
    with simulate(table_of(ROWS), Side("2026-10-06", CARD, NOON + timedelta(4)), autumn, by=KEYS) as found:
        before = found.sql
        with found.trying(autumn) as trial:
            assert trial.total and found.sql[: len(before)] == before and len(found.sql) > len(before)
        assert found.sql == before
        assert found.own_days() is not None
        assert found.sql[: len(before)] == before and len(found.sql) > len(before)
