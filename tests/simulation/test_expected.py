"""What a report says of revenue that is expected, of its days and its prices: each figure is worked out row by row."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from candidate_files import candidate
from oracle import Told, offered, told
from rows import Row, quote_of, table_of

from ratecard.base.errors import SimulationError
from ratecard.base.money import from_fraction, round_half_up
from ratecard.review.sides import Side
from ratecard.simulation.answers.rows import OwnDays
from ratecard.simulation.answers.target import read_target, smallest_factor
from ratecard.simulation.answers.volume import elasticities_of, read_pace, volumes_of
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Question, Report
from ratecard.simulation.report.sentences import (
    annualised,
    answer,
    details,
    every_sentence,
    further,
    headline,
    own_days,
    scope,
)
from ratecard.simulation.report.tables import bridge_table, effects_table, expected_table, sides_table
from ratecard.simulation.result import Simulation
from ratecard.simulation.simulate import simulate
from reports import mixed
from shipped import FEW, few_models

CLAUDE, KLING, GPT = "claude-opus-4-6", "kling-o3-pro-text-to-video", "openai-gpt-54"
# A search for a factor tries many candidates, and each of them looks at every model.
CARD = few_models(CLAUDE, KLING, GPT, "crypto-rpc", of_each=0)
DECEMBER = Side("2026-12-01", CARD, datetime(2026, 12, 1, tzinfo=UTC))
BY = ("model", "day", "customer")
LAST = date(2027, 2, 8)


def usage() -> list[Row]:
    """Ninety-nine days until 8 February, of which one has no request; from January on there are more of them."""
    rows: list[Row] = []
    for number in range(99):
        day = LAST - timedelta(98 - number)
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
        if number == 50:
            continue
        for each in range(1 + (day >= date(2027, 1, 1))):
            head = {"timestamp": noon, "customer": "b" if number % 3 else "a"}
            tokens = {"prompt_tokens": 100_000 + 9_000 * number + each, "completion_tokens": 3 * number}
            rows.append(head | {"type": "text", "model": CLAUDE} | tokens)
            rows.append(head | {"type": "video", "model": KLING, "duration": f"{3 + number % 8}s"})
        if day.month == 12:
            rows.append(head | {"type": "text", "model": GPT, "prompt_tokens": 50_000, "completion_tokens": 7})
    return rows


ROWS = usage()
ELASTIC, VOLUMES = {"text": -2, KLING: "-0.5:-1..0"}, {"all": "+5%", KLING: "-20%", "customer:b": "-10%"}
FAMILY = CARD.tables.families[CLAUDE]


@pytest.fixture(scope="module")
def dearer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    changes = "{scale: {type: text}, factor: 1.13}", f"{{scale: {{model: {KLING}}}, factor: 0.9}}"
    return candidate(tmp_path_factory.mktemp("expected"), *changes)


@pytest.fixture(scope="module")
def both(dearer: Path) -> list[Told]:
    """Every row under the current prices and under the candidate."""
    card = CARD.with_candidate(dearer)
    return [found for row in ROWS if (found := told(CARD, card, row, {})) is not None]


@pytest.fixture(scope="module")
def found(dearer: Path) -> Iterator[Simulation]:
    with simulate(table_of(ROWS), CARD, dearer, by=BY, costs="60%") as simulation:
        yield simulation


def question(**more: object) -> Question:
    elastic = {CLAUDE: -2, KLING: "-0.5:-1..0"}
    return Question("", elasticities_of(elastic), volumes=volumes_of(VOLUMES), **more)  # type: ignore[arg-type]


def times(row: Row) -> Fraction:
    """Return the factor of a row: that of its model, or else of all, times that of its customer."""
    by_model = Fraction(4, 5) if row["model"] == KLING else Fraction(105, 100)
    return by_model * (Fraction(9, 10) if row["customer"] == "b" else 1)


def by_hand(rows: list[Told], elasticity: Fraction | None = None) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Requests, revenue and cost on both sides; `elasticity` in place of that of clips."""
    models: dict[str, list[Fraction]] = defaultdict(lambda: [Fraction(0)] * 3)
    for each in rows:
        assert each.now and each.then
        share = times(each.row)
        amounts = (share, share * Fraction(each.now.total), share * Fraction(each.then.total))
        models[each.row["model"]] = [one + more for one, more in zip(models[each.row["model"]], amounts, strict=True)]
    sides = [[Fraction(0)] * 3, [Fraction(0)] * 3]
    for model, (count, now, then) in models.items():
        elastic = {CLAUDE: Fraction(-2), KLING: Fraction(-1, 2) if elasticity is None else elasticity}.get(model, 0)
        factor = max(Fraction(0), 1 + elastic * (then - now) / now)
        # The cost is a share of the current charge, so it follows the volume but not the price.
        pairs = ((count, now, now * 3 / 5), (count * factor, then * factor, now * 3 / 5 * factor))
        for side, more in zip(sides, pairs, strict=True):
            side[:] = [one + other for one, other in zip(side, more, strict=True)]
    return [(side[0], side[1], side[2]) for side in sides]


def money(amount: Fraction) -> str:
    return f"${round_half_up(from_fraction(amount, 12), 2):,}".replace("$-", "-$")


def test_what_is_expected_comes_first_and_unchanged_usage_beside_it(found: Simulation, both: list[Told]) -> None:
    report = Report(found, question())
    (_, now, paid), (_, then, cost) = by_hand(both)
    change = then - now
    assert headline(report, 1) == (
        f"Expected revenue {'rises' if change > 0 else 'falls'} by {money(abs(change))} ({percent(change / now)}), from"
        f" {money(now)} to {money(then)}, under dearer, at a volume of +5%, {KLING} -20%, customer:b -10%,"
        f" once volume answers prices by {CLAUDE} -2, {KLING} -0.5."
    )
    before, after = (
        sum((Fraction(getattr(each, side).total) for each in both), Fraction(0)) for side in ("now", "then")
    )
    unchanged = "At unchanged usage, revenue rises by" if after > before else "At unchanged usage, revenue falls by"
    assert f"{unchanged} {money(abs(after - before))} ({percent((after - before) / before)})" in answer(report, 1)
    low, high = (by_hand(both, elasticity)[1][1] for elasticity in (Fraction(-1), Fraction(0)))
    words = " ".join(further(report, 1))
    assert f"revenue is between {money(min(low, high))} and {money(max(low, high))}" in words
    shares = [
        f"{money(left)} ({percent(left / whole, '')} of revenue)"
        for left, whole in ((now - paid, now), (then - cost, then))
    ]
    assert (
        f"Expected margin goes from {shares[0]} to {shares[1]}, and cost from {money(paid)} to {money(cost)}." in words
    )
    rows = {row[0]: row[2:5] for row in sides_table(report).rows}
    assert rows["dearer, expected"][0] == round_half_up(from_fraction(then, 12), 2)
    assert rows["dearer"][0] == round_half_up(from_fraction(after, 12), 2)


def test_lost_and_new_requests_are_told_at_unchanged_usage(tmp_path: Path) -> None:
    with mixed(tmp_path) as simulation:
        plain, expected = Report(simulation), Report(simulation, Question("", elasticities_of({"all": -1})))
        assert "by prices on the requests that both offer" in details(plain, 1)
        unchanged = headline(plain, 1).removesuffix(".").replace("Revenue", "revenue")
        assert details(expected, 1) == f"At unchanged usage, {unchanged}: {details(plain, 1)}"


def percent(share: Fraction, sign: str = "+") -> str:
    digits = f"{round_half_up(from_fraction(100 * share, 12), 2):f}"
    if not sign:
        return f"{digits.rstrip('0').rstrip('.')}%"
    return f"{'+' if share > 0 else ''}{digits}%"


@pytest.mark.parametrize(("pace", "days"), [("30d", 30), ("90d", 90), ("all", 99), ("400d", 99)])
def test_a_year_is_that_of_the_days_that_are_chosen(found: Simulation, both: list[Told], pace: str, days: int) -> None:
    first = LAST - timedelta(days - 1)
    rows = [each for each in both if each.row["timestamp"].date() >= first]
    plain = sum(
        (Fraction(each.then.total) - Fraction(each.now.total) for each in rows if each.now and each.then), Fraction(0)
    )
    (_, now, _), (_, then, _) = by_hand(rows)
    named = f"all {days} days of the usage" if days == 99 else f"the last {days} days"
    span = f"({first} to {LAST}, x 365 / {days})."
    for asked, change in ((Question(pace=read_pace(pace)), plain), (question(pace=read_pace(pace)), then - now)):
        words = annualised(Report(found, asked), 1)
        signed = f"{'+' if change > 0 else ''}{money(change * 365 / days)}"
        assert words.startswith(f"That is {signed} a year, at the pace of {named} {span}")
        assert ("On 1 of these days no request has a price: the usage may be partial." in words) == (days > 48)
        assert ("The usage covers 99 of the 400 days that a year is reckoned from." in words) == (pace == "400d")
        # January and February have twice the requests of November.
        assert ("The usage grows" in words) == (days != 30)


def test_the_pace_is_ninety_days_unless_it_is_said(found: Simulation) -> None:
    assert "the last 90 days (2026-11-11 to 2027-02-08, x 365 / 90)" in annualised(Report(found), 1)


def test_the_headline_says_its_period_and_its_prices(dearer: Path) -> None:
    """The same rows at their own days came to another amount where a price has changed meanwhile."""
    changed = CARD.with_candidate(
        candidate(dearer.parent, "{scale: {type: text}, factor: 0.5}", day="2027-01-01", name="cut")
    )
    own, fixed = (
        sum((Fraction(quote_of(changed, row | more).total) for row in ROWS), Fraction(0))
        for more in ({}, {"timestamp": datetime(2026, 12, 1, tzinfo=UTC)})
    )
    side = replace(DECEMBER, card=changed)
    with simulate(table_of(ROWS), side, by=BY) as simulation:
        report = Report(simulation)
        period = "2026-11-02 to 2027-02-08"
        assert scope(report) == f"{len(ROWS)} requests of {period}, all at the prices of 2026-12-01."
        assert headline(report, 0) == f"Revenue is {money(fixed)}."
        difference = own - fixed
        shown = round_half_up(from_fraction(own, 12), 2) - round_half_up(from_fraction(fixed, 12), 2)
        said = f"came to {money(own)}: {money(Fraction(shown))} ({percent(difference / fixed)})."
        assert own_days(report) == f"At the prices of its own days, this usage {said}"
        [_, last] = sides_table(report).rows
        assert last[:2] == ("Own days", "each row's own date")
        assert last[3] == shown
        found = simulation.own_days()
        assert found is not None
        assert (Fraction(found.amount), Fraction(found.difference)) == (own, difference)
    with simulate(table_of(ROWS), side, by=["model"]) as simulation:
        said = own_days(Report(simulation))
        assert said.startswith(
            "What these requests came to at the prices of their own days cannot be had: the usage is not"
        )
    with simulate(table_of(ROWS), changed, by=["model"]) as simulation:
        report = Report(simulation)
        assert (own_days(report), simulation.own_days()) == ("", None)
        assert scope(report) == f"{len(ROWS)} requests, each at the prices of its own day."


def test_requests_without_a_price_on_one_of_both_days_are_counted() -> None:
    """A model that came on 28 September, and one that was retired then."""
    noon, october = datetime(2026, 9, 1, 12, tzinfo=UTC), Side("2026-10-01", FEW, datetime(2026, 10, 1, tzinfo=UTC))
    rows = [
        {"type": "video", "model": "wan-3-0-text-to-video", "duration": "5s", "resolution": "720p"},
        {"type": "video", "model": "wan-2.2-a14b-text-to-video", "duration": "5s", "resolution": "720p"},
    ]
    with simulate(table_of([row | {"timestamp": noon} for row in rows]), october, by=["day"]) as simulation:
        now, then = (
            {row["model"] for row in rows if offered(FEW, row | {"timestamp": at})} for at in (october.at, noon)
        )
        found = simulation.own_days()
        assert found is not None
        assert (found.without, found.only) == (len(now - then), len(then - now))
        assert (found.without, found.only) == (1, 0)
        said = own_days(Report(simulation))
        assert said.endswith("; 1 request has none there.")


def test_own_days_add_up_with_the_revenue_as_they_are_shown() -> None:
    """Whatever parts of a cent there are: $2,000.41 and $1,265.32 more were said to come to $3,265.72."""
    with simulate(table_of(ROWS), DECEMBER, by=BY) as simulation:
        report, now = Report(simulation), simulation.total.amounts[0]
        for thousandths in range(-10, 11):
            own = now + Decimal(thousandths) / 1000
            report.own_days = OwnDays(own, own - now, 0, 0)
            amount, difference = report.shown_own_days(report.own_days)
            assert amount == round_half_up(own, 2) == report.rounded(0) + difference
            assert report.figures.change(difference) in own_days(report)
            assert sides_table(report).rows[-1][2:4] == (amount, difference)


def test_the_change_of_all_models_is_that_of_the_headline(found: Simulation) -> None:
    """Whatever parts of a cent there are: a headline of +$2.75 stood over a table whose change came to +$2.76."""
    for tenths in range(1, 30):
        report = Report(found, Question("", elasticities_of({"all": f"-{tenths / 10}"})))
        assert report.expected is not None
        table = expected_table(report, report.expected)
        assert table.total is not None
        totals: dict[str, Any] = {column.name: value for column, value in zip(table.columns, table.total, strict=True)}
        names = [column.name for column in table.columns]
        before, after, change = map(names.index, ("Current: revenue", "dearer: revenue", "dearer: change"))
        assert totals["dearer: change"] == totals["dearer: revenue"] - totals["Current: revenue"]
        rows: list[Any] = [row[change] for row in table.rows]
        assert sum(rows) == totals["dearer: change"]
        shown: list[tuple[Any, ...]] = list(table.rows)
        assert [row[after] - row[before] for row in shown] == rows


def test_the_bridge_splits_price_size_volume_and_mix(dearer: Path) -> None:
    """From December to January: all text is cheaper, clips and prompts have other sizes, and one model is gone."""
    changed = CARD.with_candidate(
        candidate(dearer.parent, "{scale: {type: text}, factor: 0.5}", day="2027-01-09", name="later")
    )
    models: dict[str, list[list[Fraction]]] = defaultdict(lambda: [[Fraction(0)] * 3 for _ in (12, 1)])
    for row in ROWS:
        if (month := row["timestamp"].month) in (12, 1):
            amounts = (Fraction(quote_of(card, row).total) for card in (changed, CARD))
            sums = models[row["model"]][month == 1]
            sums[:] = [one + more for one, more in zip(sums, (1, *amounts), strict=True)]
    shared = {model: periods for model, periods in models.items() if model != GPT}
    sums = [sum((now[at] for now, _ in shared.values()), Fraction(0)) for at in (2, 0)]
    mean = sums[0] / sums[1]
    effects = dict.fromkeys(("price", "size", "volume", "mix"), Fraction(0))
    for (q0, own0, r0), (q1, own1, r1) in shared.values():
        volume = (q1 - q0) * mean
        size = r1 - q1 * r0 / q0
        more = {"price": own1 - r1 - (own0 - r0), "size": size, "volume": volume, "mix": r1 - r0 - size - volume}
        effects = {name: amount + more[name] for name, amount in effects.items()}
    effects |= {"only in 2026-12": -models[GPT][0][1], "only in 2027-01": Fraction(0)}
    with simulate(table_of(ROWS), changed, by=BY) as simulation:
        bridge = simulation.bridge("2026-12", "2027-01")
        assert dict(bridge.effects) == effects
        assert [*bridge.effects] == sorted(effects, key=lambda name: -abs(effects[name]))
        assert sum(effects.values()) == Fraction(bridge.revenues[1]) - Fraction(bridge.revenues[0])
        assert effects["price"] < 0 != effects["size"]
        report = Report(simulation, Question(bridge=("2026-12", "2027-01")))
        table = effects_table(report, bridge)
        assert table.total is not None
        assert sum(each for row in table.rows if isinstance(each := row[1], Decimal)) == table.total[1]
        by_model = bridge_table(report, bridge)
        assert [column.name for column in by_model.columns][5:] == ["Price", "Size", "Volume", "Mix", "Change"]
        write(report, [dearer.parent / "bridge.json"])
        listed = json.loads((dearer.parent / "bridge.json").read_text(encoding="utf-8"))["bridge"]
        assert sum(map(Decimal, listed["effects"].values())) == bridge.revenues[1] - bridge.revenues[0]
        for step, model in zip(bridge.steps, listed["models"], strict=True):
            exact = {name: Fraction(each) for name, each in model["exact"].items()}
            assert exact == {name: getattr(step, name) for name in ("price", "size", "volume", "mix")}
            assert sum(exact.values()) == Fraction(model["revenues"][1]) - Fraction(model["revenues"][0])
        assert {name: round_half_up(Decimal(each), 9) for name, each in listed["effects"].items()} == {
            name: round_half_up(from_fraction(each, 12), 9) for name, each in effects.items()
        }


def test_with_one_list_of_prices_nothing_is_a_price(found: Simulation) -> None:
    """What a request holds changes, and what it costs a token does not."""
    with simulate(table_of(ROWS), DECEMBER, by=BY) as simulation:
        bridge = simulation.bridge("2026-12", "2027-01")
        assert bridge.effects["price"] == 0
        assert bridge.effects["size"] > 0
        words = " ".join(every_sentence(Report(simulation, Question(bridge=("2026-12", "2027-01")))))
        assert "Both have the same prices, so that none of it is a price." in words
    # The result is the same with each row at its own day, because no price has changed.
    assert found.bridge("2026-12", "2027-01").effects == bridge.effects


def test_rises_are_counted_among_those_who_pay_more(tmp_path: Path) -> None:
    file = candidate(tmp_path, "{scale: {type: text}, factor: 1.2}", f"{{scale: {{model: {KLING}}}, factor: 1.02}}")
    noon = datetime(2026, 12, 2, 12, tzinfo=UTC)
    rows: list[Row] = []
    for number in range(10):
        text = {"type": "text", "model": CLAUDE, "prompt_tokens": 90_000, "completion_tokens": 1}
        clip = {"type": "video", "model": KLING, "duration": "10s"}
        rows.append((text if number < 3 else clip) | {"customer": f"c{number}", "timestamp": noon})
    rows += [{"type": "rpc", "network": "ethereum-mainnet", "method": "eth_call", "customer": "d", "timestamp": noon}]
    with simulate(table_of(rows), CARD, file, by=["customer"]) as simulation:
        words = " ".join(further(Report(simulation), 1))
        assert "10 customers pay more, 0 less, 1 the same; for 3 of 10 (30%) the rise is above 10%." in words


def test_the_same_report_without_a_candidate(tmp_path: Path) -> None:
    with simulate(table_of(ROWS), CARD, by=["customer", "month"], costs="60%") as simulation:
        report = Report(simulation, Question(volumes=volumes_of(["-5%"])))
        revenue = sum((Fraction(quote_of(CARD, row).total) for row in ROWS), Fraction(0))
        expected = revenue * 95 / 100
        assert headline(report, 0) == f"Expected revenue is {money(expected)}, at a volume of -5%."
        paths = [tmp_path / f"accrual{ending}" for ending in (".xlsx", ".html", ".json", ".csv")]
        write(report, paths)
        page = paths[1].read_text(encoding="utf-8")
        for words in (
            "What usage brings",
            "Revenue by customer",
            "<summary>By customer",
            "<summary>By month",
            money(expected),
        ):
            assert words in page
        record = json.loads(paths[2].read_text(encoding="utf-8"))
        assert Fraction(Decimal(record["expected"]["total"]["current"]["revenue"])) == expected
        assert Fraction(Decimal(record["expected"]["total"]["current"]["cost"])) == expected * 3 / 5
        book = openpyxl.load_workbook(paths[0], data_only=True)
        accrual = {(row[0], row[1]): row for row in book["Groups"].iter_rows(min_row=2, values_only=True)}
        by_hand = defaultdict[tuple[str, str], Fraction](Fraction)
        for row in ROWS:
            by_hand[row["customer"], f"{row['timestamp']:%Y-%m}"] += Fraction(quote_of(CARD, row).total)
        heading = [cell.value for cell in book["Groups"][1]]
        exact = heading.index("Current, exact")
        assert {key: Fraction(str(accrual[key][exact])) for key in by_hand} == by_hand


@pytest.mark.parametrize(
    ("elastic", "rounded"), [({}, ", round: {to: 0.05, mode: half-up}"), ({CLAUDE: Decimal("-0.6")}, "")]
)
def test_a_target_of_money_a_year(found: Simulation, tmp_path: Path, elastic: dict[str, Decimal], rounded: str) -> None:
    """The factor reaches it, one ten-thousandth less does not, and a report at that factor says the same."""
    file = candidate(tmp_path, f"{{scale: {{model: {CLAUDE}}}, factor: 1.1{rounded}}}")
    simulation = found.against(file)
    reached = simulation.reach(file, "100/year", elasticities=elastic, pace="30d")
    assert reached.wanted == 100
    assert reached.below is not None
    assert reached.below < 100 <= reached.revenue
    again = candidate(tmp_path, f"{{scale: {{model: {CLAUDE}}}, factor: {reached.factor}{rounded}}}", name="again")
    with simulation.trying(again) as trial:
        since = LAST - timedelta(29)
        year = trial.expected(elastic, since=since).change(1) * 365 / 30
    assert from_fraction(year, 12) == reached.revenue
    asked = Question("", elasticities_of(elastic), target=read_target("100/year"), reached=reached, pace=30)
    words = " ".join(every_sentence(Report(simulation, asked)))
    assert f"The smallest factor that reaches +$100.00 a year is {reached.factor}: it brings +$" in words


def test_a_target_that_volume_keeps_away_is_refused_with_the_nearest_factor(tmp_path: Path) -> None:
    """At an elasticity of -2 revenue is greatest at a factor of 0.75: all else is further away."""
    file = candidate(tmp_path, "{scale: {type: text}, factor: 1.1}")
    rows = [row for row in ROWS if row["model"] == CLAUDE]
    elastic = elasticities_of({"all": -2})
    with simulate(table_of(rows), CARD, file, by=[]) as simulation:
        found = smallest_factor(simulation, file, read_target("12%"), elasticities=elastic)
        assert found.below is not None
        assert found.below < found.wanted <= found.revenue
        assert found.factor < Decimal("0.75")
        with localcontext(prec=3):
            assert smallest_factor(simulation, file, read_target("12%"), elasticities=elastic) == found
        with pytest.raises(SimulationError, match=r"volume answers, and a factor of 0\.7[45]\d* comes nearest"):
            smallest_factor(simulation, file, read_target("12.6%"), elasticities=elastic)


def test_a_rounding_that_changes_nothing_is_no_end_of_the_search(found: Simulation, tmp_path: Path) -> None:
    file = candidate(tmp_path, f"{{scale: {{model: {CLAUDE}}}, factor: 1.3, round: {{to: 0.5, mode: half-up}}}}")
    reached = found.reach(file, "1%")
    assert reached.below is not None
    assert reached.below < reached.wanted <= reached.revenue
    # The dearest rate, 30, stays 30 for amounts down to 29.95; below that, revenue is lower.
    file = candidate(tmp_path, f"{{scale: {{model: {CLAUDE}}}, factor: 1.3, round: {{to: 0.1, mode: half-up}}}}")
    assert found.reach(file, "0%").factor == Decimal("0.9984")


@pytest.mark.parametrize(
    ("volumes", "said"),
    [
        (["klin=-5%"], "volume of 'klin': no usage of a model, family or type of this name"),
        (["customer:nobody=-5%"], "volume of 'customer:nobody': no usage of this customer"),
        (["region:eu=-5%"], "volume of 'region:eu': the usage is not grouped by 'region'. Add it"),
        (["-5%", "all=-6%"], "the volume of 'all' is given twice"),
        (["musc=-5%"], "volume of 'musc': no usage of a model, family or type of this name"),
    ],
)
def test_volumes_of_what_is_not_there(found: Simulation, volumes: list[str], said: str) -> None:
    with pytest.raises(SimulationError, match=said):
        found.expected(volumes=volumes)


def test_the_models_of_what_is_expected_add_up_in_json(found: Simulation, both: list[Told], tmp_path: Path) -> None:
    write(Report(found, question()), [tmp_path / "report.json"])
    record = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    for side, (requests, revenue, cost) in zip(("current", "dearer"), by_hand(both), strict=True):
        whole = record["expected"]["total"][side]
        for word, amount in (("requests", requests), ("revenue", revenue), ("cost", cost), ("margin", revenue - cost)):
            listed = [Decimal(model[side][word]) for model in record["expected"]["models"]]
            assert sum(listed) == Decimal(whole[word])
            assert abs(Fraction(Decimal(whole[word])) - amount) < Fraction(1, 10**11)
    year = Fraction(Decimal(record["pace"]["year"]["dearer change"]))
    rows = [each for each in both if each.row["timestamp"].date() > LAST - timedelta(90)]
    (_, now, _), (_, then, _) = by_hand(rows)
    assert abs(year - (then - now) * 365 / 90) < Fraction(1, 10**11)
    assert (record["pace"]["first"], record["pace"]["empty"]) == ("2026-11-11", 1)
    assert record["customers"]["dearer"]["more"] == 2


def test_a_type_answers_before_all_and_after_its_families(found: Simulation) -> None:
    families = {"claude": -2, "text": -1, "all": 0}
    one = found.expected({"text": -1})
    assert found.expected({"text": -1, "all": -1}).total.revenues[1] != one.total.revenues[1]
    assert found.expected(families).total == found.expected({CLAUDE: -2, "text": -1, "all": 0}).total
    assert found.expected(volumes=["text=-5%"]).total != found.expected().total
