"""Rows have the prices of the contracts of their accounts: a simulation equals every row rated by itself."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from candidate_files import candidate as candidate_of
from contract_usage import ACCOUNTS, CONTRACTS, SHOP, row_by_row, table, usage
from kept_roll_ups import REFUSED
from rows import table_of
from test_rows_at_their_hours import card as card_of_hours
from test_rows_at_their_hours import rows as rows_at_hours

from contract_tables import card_of, contract, write
from ratecard import TableError
from ratecard.base.errors import SimulationError
from ratecard.review.promote import promotion
from ratecard.review.sides import Side
from ratecard.simulation.answers.target import read_target, smallest_factor
from ratecard.simulation.report.report import Report
from ratecard.simulation.report.sentences import scope
from ratecard.simulation.result import Simulation
from ratecard.simulation.rollup import rollup
from ratecard.simulation.simulate import simulate

ROWS = usage()
NOW = Side("now", SHOP)
HEAD = "candidate: offer\neffective: 2026-10-08\nproposed_by: sales\nwhy: to try\n"


def groups(found: Simulation, side: int = 0) -> dict[tuple[Any, ...], Decimal]:
    return {row.key: row.amounts[side] for row in found.groups if row.requests}


def candidate(folder: Path, text: str) -> Path:
    (folder / "offer.yaml").write_text(HEAD + text)
    return folder / "offer.yaml"


@pytest.mark.parametrize("by", [("account",), ("model",), ("account", "day", "model"), ("day",)])
def test_each_row_has_the_prices_of_its_account(by: tuple[str, ...]) -> None:
    expected, refused = row_by_row(SHOP, ROWS, *by)
    with simulate(table(ROWS), NOW, by=by, contracts=True) as found:
        assert groups(found) == expected
        assert found.rows - found.priced == refused > 0


def test_accounts_of_the_same_contracts_have_the_same_shapes() -> None:
    more = [row | {"account": "a"} for row in ROWS if row["account"] == "a"]
    many = [row | {"account": f"a-{number}"} for number in range(20) for row in more]
    accounts = ", ".join(["a", *(f"a-{number}" for number in range(20))])
    card = card_of(contract("- {for: {type: text}, percent: -20%}", accounts=accounts))
    with (
        simulate(table(more), Side("one", card), by=["account"], contracts=True) as one,
        simulate(table(many), Side("many", card), by=["account"], contracts=True) as other,
    ):
        assert len(other.comparison.roll_up.shapes) == len(one.comparison.roll_up.shapes)
        assert {row.amounts for row in other.groups} == {one.total.amounts}


def test_what_contracts_say_nothing_of_is_priced_once_for_all_accounts() -> None:
    rows = [row for row in ROWS if row["account"] == "a" and row.get("model") != "flat"]
    card = card_of(contract("- {for: {model: flat}, percent: -20%}", "later", "a", "2026-10-12", "2026-10-20"))
    with simulate(table(rows), Side("now", card), by=["account"], contracts=True) as found:
        assert groups(found) == row_by_row(card, rows, "account", listed=True)[0]
        assert card._compiler_under.cache_info().currsize == 0


def test_without_contracts_all_rows_are_at_list_prices_and_accounts_are_not_read() -> None:
    with simulate(table(ROWS), NOW, by=["model"]) as found:
        assert groups(found) == row_by_row(SHOP, ROWS, "model", listed=True)[0]
        assert not any("account" in statement or "party" in statement for statement in found.sql)


def test_hours_and_terms_that_begin_on_days_of_changes() -> None:
    contracts = (
        contract("- {for: {type: text}, percent: -50%}", "early", "'0'", "2026-10-25", "2026-11-01"),
        contract("- {for: {model: berlin}, rate: 9}", "late", "'1'", "2026-11-02"),
    )
    card, rows = card_of_hours(contracts=contracts), list(rows_at_hours())
    for by in (("model",), ("model", "day", "customer")):
        with simulate(table_of(rows), Side("now", card), by=by, contracts=True) as found:
            assert groups(found) == row_by_row(card, rows, *by, account="customer")[0]


def test_prices_of_one_instant_have_the_contracts_of_that_instant() -> None:
    at = datetime(2026, 10, 12, tzinfo=UTC)
    with simulate(table(ROWS), Side("then", SHOP, at), by=["account"], contracts=True) as found:
        assert groups(found) == row_by_row(SHOP, [row | {"timestamp": at} for row in ROWS], "account")[0]


def test_a_contract_outlives_three_changes_of_the_list(tmp_path: Path) -> None:
    days, amounts = ("2026-10-05", "2026-10-12", "2026-10-19"), ("9", "11", "13")
    card = card_of(contract("- {for: {model: flat, conditions: {tokens: output}}, rate: 2}", accounts="a"))
    for number, (day, rate) in enumerate(zip(days, amounts, strict=True)):
        change = f"{{set: flat, where: {{tokens: output}}, rate: {rate}}}"
        card = card.with_candidate(candidate_of(tmp_path, change, name=f"c{number}", day=day))
    rows = [
        {"type": "text", "model": "flat", "timestamp": datetime(2026, 10, day, tzinfo=UTC), "account": account}
        | {"prompt_tokens": 0, "completion_tokens": 1_000_000}
        for day in range(1, 29)
        for account in ("a", "nobody")
    ]
    with simulate(table(rows), Side("now", card), by=["account", "day"], contracts=True) as found:
        assert {row.amounts[0] for row in found.groups if row.key[0] == "a"} == {Decimal(2)}
        assert [row.amounts[0] for row in found.groups if row.key[0] == "nobody"] == [
            Decimal(rate) for rate in ("3",) * 4 + ("9",) * 7 + ("11",) * 7 + ("13",) * 10
        ]


def test_the_account_is_the_column_account_else_customer() -> None:
    both = [row | {"customer": "a"} for row in ROWS]
    with simulate(table(both, "customer"), NOW, by=["account"], contracts=True) as found:
        assert groups(found) == row_by_row(SHOP, ROWS, "account")[0]
    named = [row | {"customer": row["account"]} for row in ROWS]
    with simulate(table_of(named), NOW, by=["customer"], contracts=True) as found:
        assert groups(found) == row_by_row(SHOP, ROWS, "account")[0]
    with simulate(table(both, "customer"), NOW, by=["model"], columns={"account": "customer"}, contracts=True) as found:
        assert groups(found) == row_by_row(SHOP, both, "model", account="customer")[0]


def test_rows_without_an_account_are_counted() -> None:
    without = sum(row["account"] is None for row in ROWS)
    with simulate(table(ROWS), NOW, by=["model"], contracts=True) as found:
        assert found.reading.without_account == without > 1
        assert f"{without} rows name no account, and are at list prices" in found.reading.warnings()
    with simulate(table([ROWS[0] | {"account": None}]), NOW, by=["model"], contracts=True) as found:
        assert found.reading.warnings() == ["1 row names no account, and is at list prices"]


@pytest.mark.parametrize("by", [("account",), ("model",)])
def test_accounts_that_are_nearly_those_of_a_contract_are_named(by: tuple[str, ...]) -> None:
    row = next(row for row in ROWS if row["account"] == "a")
    rows = [row | {"account": name} for name in ("a", "A", " a ", "b", "another", None)]
    with simulate(table(rows), NOW, by=by, contracts=True) as found:
        assert found.reading.alike == (" a ", "A")
        words = "At list prices, and in capitals or spaces alone unlike an account with a contract: ' a ', 'A'"
        assert words in found.reading.warnings()
    with simulate(table(rows), NOW, by=["account"]) as found:
        assert found.reading.alike == ()


def test_usage_that_does_not_say_whose_rows_are_is_refused() -> None:
    with pytest.raises(SimulationError, match="neither a column 'account' nor 'customer'"):
        simulate(table_of(ROWS, ()), NOW, contracts=True)


def offered(override: str, terms: str = "contract: try, accounts: [nobody], from: 2026-10-08") -> str:
    return f"contracts:\n  - {{{terms}, source: offer, overrides: [{{{override}}}]}}\n"


CHANGED = "contract: next, extends: bounds, accounts: [c], from: 2026-10-12"
OFFERS = {
    "an account that has none": offered("for: {model: flat}, rate: 1").replace("10-08", "10-09"),
    "a contract that is changed": offered("for: {model: tiered, conditions: {tokens: output}}, rate: 1", CHANGED),
    "a contract and the list": "changes: [{scale: {model: flat}, factor: 2}]\n"
    + offered("for: {type: text}, percent: -90%").replace("10-08", "10-08, until: 2026-10-15"),
    "the list alone": "changes: [{scale: {type: text}, factor: 2}]\n",
    "a model for one account alone": offered("for: {model: clip}, only: true"),
}


def test_a_rate_of_the_list_that_a_contract_follows_is_used(tmp_path: Path) -> None:
    other = SHOP.with_candidate(candidate(tmp_path, "changes: [{scale: {model: flat}, factor: 2}]\n"))
    rows = [row for row in ROWS if row["account"] in ("a", "b")]
    with simulate(table(rows), NOW, Side("offer", other), by=["account"], contracts=True) as found:
        assert found.attribution().untouched == ()


def test_candidates_may_change_the_list_or_contracts(tmp_path: Path) -> None:
    """Each of them beside the others, and tried by itself later."""
    offers = [Side(name, SHOP.with_candidate(candidate(tmp_path, offer))) for name, offer in OFFERS.items()]
    by = ("account", "day")
    with (
        simulate(table(ROWS), NOW, offers, by=by, contracts=True) as together,
        simulate(table(ROWS), NOW, by=by, contracts=True) as alone,
    ):
        for number, offer in enumerate(offers, 1):
            assert together.attribution(number).difference == together.total.difference(number), offer.label
            expected = {key: Decimal(0) for key in groups(together)} | row_by_row(offer.card, ROWS, *by)[0]
            assert groups(together, number) == expected, offer.label
            with alone.trying(offer) as tried:
                assert [(row.key, row.requests, row.amounts, row.beside()) for row in tried.groups] == [
                    (row.key, row.requests, (row.amounts[0], row.amounts[number]), row.beside(number))
                    for row in together.groups
                ], offer.label
                for one, other in zip(tried.discounts(), together.discounts(), strict=True):
                    assert (one.customer, one.lists[1], one.nets[1]) == (
                        other.customer, other.lists[number], other.nets[number]), offer.label  # fmt: skip


def test_a_target_counts_the_contracts_of_a_candidate_at_every_factor(tmp_path: Path) -> None:
    file = candidate(tmp_path, OFFERS["a contract and the list"].replace(", until: 2026-10-15", ""))
    offer = Side("offer", SHOP.with_candidate(file))
    with simulate(table(ROWS), NOW, offer, by=["account"], contracts=True) as found:
        alone = tmp_path / "alone.yaml"
        alone.write_text(HEAD + "contracts:" + OFFERS["a contract and the list"].partition("contracts:")[2])
        assert row_by_row(SHOP.with_candidate(alone), ROWS)[0][()] < found.total.amounts[0]
        reached = smallest_factor(found, file, read_target("0%"))
        assert reached.factor > 1
        assert reached.below is not None and reached.below < reached.wanted <= reached.revenue


def test_a_candidate_that_is_tried_later_may_be_for_an_account_that_had_no_contract(tmp_path: Path) -> None:
    other = SHOP.with_candidate(candidate(tmp_path, OFFERS["an account that has none"].replace("10-09", "10-10")))
    # Even without days: prices change on that day.
    with simulate(table(ROWS), NOW, by=["account"], contracts=True) as found:
        tried = found.against(Side("offer", other))
        assert groups(tried, 1) == row_by_row(other, ROWS, "account")[0]


NEW = "contracts:\n  - {contract: new, accounts: [x], from: 2026-10-09, source: s}\n"


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        (NEW.replace("new", "plain"), "extends: plain"),
        (NEW.replace("10-09", "10-07"), "is before 2026-10-08"),
        (NEW.replace("[x]", "[a]"), "two at one instant"),
        (NEW.replace("s}", "s, overrides: [{for: {type: txt}, percent: -1%}]}"), "no type 'txt'"),
        (NEW.replace("s}", "s, monthly: [{minimum: 5, currency: USD, for: {type: nothing}}]}"), "nothing"),
        (f"until: 2026-10-20\n{NEW}", "holds longer"),
        (NEW.replace(", source: s", ""), "source"),
        ("contracts: []\n", "changes"),
    ],
)
def test_contracts_of_candidates_are_refused_as_those_of_files_are(offer: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=words) as refused:
        SHOP.with_candidate(candidate(tmp_path, offer))
    assert "offer.yaml:" in str(refused.value)


def test_the_examples_of_a_contract_of_a_candidate_are_worked_before_its_first_price(tmp_path: Path) -> None:
    example = "examples: [{model: clip, request: {duration: 5s, resolution: 480p}, total: 9}]"
    wrong = NEW.replace("s}", f"s, overrides: [{{for: {{model: clip}}, factor: 0.5}}], {example}}}")
    card = SHOP.with_candidate(candidate(tmp_path, wrong))
    with pytest.raises(TableError, match="9"):
        card.at(date(2026, 10, 9), account="x").quote_video({"model": "clip", "duration": "5s", "resolution": "480p"})


def test_promote_says_where_a_contract_of_a_candidate_belongs(tmp_path: Path) -> None:
    folder = write(tmp_path / "prices", *CONTRACTS)
    file = candidate(tmp_path, OFFERS["a contract and the list"])
    with pytest.raises(TableError, match=r"Write the contract into contracts/, once it is signed"):
        promotion(folder, file, date(2026, 10, 1))


def test_a_candidate_of_contracts_says_why_it_changes_nothing(tmp_path: Path) -> None:
    other = Side("offer", SHOP.with_candidate(candidate(tmp_path, OFFERS["an account that has none"])))
    with pytest.raises(SimulationError, match="Price them by contract: --contracts"):
        simulate(table(ROWS), NOW, other)
    without = [row for row in ROWS if row["account"] != "nobody"]
    with pytest.raises(SimulationError, match="no request that a contract of nobody changes"):
        simulate(table(without), NOW, other, contracts=True)


def test_a_roll_up_that_keeps_the_account_answers_as_its_rows(tmp_path: Path) -> None:
    place, folder = tmp_path / "usage.parquet", write(tmp_path / "prices", *CONTRACTS)
    pyarrow.parquet.write_table(table(ROWS), place)
    kept, bare = tmp_path / "kept", tmp_path / "bare"
    rollup(place, kept, tables=folder, by=["model", "day", "account"])
    with simulate(kept, tables=folder, by=["account"], contracts=True) as found:
        assert groups(found) == row_by_row(SHOP, ROWS, "account")[0]
        assert found.reading.without_account == sum(row["account"] is None for row in ROWS)
    rollup(place, bare, tables=folder, by=["model", "day"])
    with pytest.raises(SimulationError, match=f"(?s)does not distinguish account.*{REFUSED}.*--by model,day,account"):
        simulate(bare, tables=folder, contracts=True)


def test_list_discount_and_net_add_up_to_the_digit(tmp_path: Path) -> None:
    other = SHOP.with_candidate(candidate(tmp_path, OFFERS["a contract and the list"]))
    sides = NOW, Side("offer", other)
    with simulate(table(ROWS), *sides, by=["account"], contracts=True, costs="101%") as found:
        customers = found.discounts()
        assert sorted((each.customer for each in customers), key=str) == sorted(ACCOUNTS, key=str)
        priced = [row for row in ROWS if not (row["model"] == "hidden" and row["account"] == "d")]
        for side, card in enumerate((SHOP, other)):
            listed, _ = row_by_row(card, priced, "account", listed=True)
            closed = [row for row in ROWS if row["account"] == "d" and row["model"] == "flat"]
            for each in customers:
                nobodys = row_by_row(card, closed, listed=True)[0].get((), 0) if each.customer == "d" else 0
                kept = row_by_row(card, [row for row in ROWS if row["model"] == "hidden"], "account")[0]
                assert each.lists[side] == listed[each.customer,] - nobodys + kept.get((each.customer,), 0)
                assert each.discount(side) == each.lists[side] - each.nets[side]
            assert sum(each.nets[side] for each in customers) == found.total.amounts[side]
        assert all(each.below_cost(0) for each in customers)
        assert {each.customer: each.margins[0] for each in customers} == {
            each.customer: each.nets[0] * Decimal("-0.01") for each in customers
        }


def test_every_format_has_list_discount_and_net(tmp_path: Path) -> None:
    paths = [tmp_path / f"report.{ending}" for ending in ("html", "xlsx", "json")]
    with simulate(table(ROWS), NOW, by=["account"], contracts=True, costs="90%") as found:
        found.write(*paths)
        exact = {each.customer: each for each in found.discounts()}
        frame = found.to_arrow("discounts").to_pylist()
    assert [row["current discount"] for row in frame] == [exact[row["account"]].discount(0) for row in frame]
    told = json.loads(paths[2].read_text())["discounts"]
    assert {each["customer"]: Decimal(each["Current"]["list"]) for each in told} == {
        name: each.lists[0] for name, each in exact.items()
    }
    sheet = list(openpyxl.load_workbook(paths[1])["Discounts"].values)
    assert any("Current: discount" in map(str, row) for row in sheet)
    page = paths[0].read_text()
    assert "List, discount and net" in page and "Below cost under" in page
    without = sum(row["account"] is None for row in ROWS)
    words = f"of the account in the column account; {without} rows without one at list prices"
    assert ("By contract", words) in openpyxl.load_workbook(paths[1])["About"].values
    assert words in page


def test_a_report_by_contract_bears_the_digest_of_its_contracts(tmp_path: Path) -> None:
    def digests(percent: str, *, contracts: bool = True) -> tuple[str, str | None]:
        card = card_of(contract(f"- {{for: {{type: text}}, percent: {percent}}}", accounts="a"))
        paths = [tmp_path / f"{percent}-{contracts}.{ending}" for ending in ("json", "xlsx")]
        with simulate(table(ROWS[:20]), Side("now", card), by=["account"], contracts=contracts) as simulation:
            simulation.write(*paths)
        (side,) = json.loads(paths[0].read_text())["sides"]
        about = dict(openpyxl.load_workbook(paths[1])["About"].values)["Prices: Current"]
        of_contracts = side.get("digest_with_contracts")
        assert about == f"now, tables {side['digest']}" + (f", with contracts {of_contracts}" if contracts else "")
        return side["digest"], of_contracts

    (of_list, less), (same_list, least) = digests("-20%"), digests("-30%")
    assert of_list == same_list
    assert less and less != least
    assert digests("-20%") == (of_list, less)
    assert digests("-20%", contracts=False) == (of_list, None)


@pytest.mark.parametrize("key", ["account", "customer"])
def test_a_report_by_contract_says_which_key_splits_it(key: str) -> None:
    words = f"Amounts are by contract: list, discount and net of each account need --by {key}."
    rows = table_of([row | {key: row["account"]} for row in ROWS[:20]], (key,))
    for by, contracts in ((["model"], True), ([key], True), *([(["model"], False)] if key == "account" else ())):
        with simulate(rows, NOW, by=by, contracts=contracts) as found:
            assert (words in scope(Report(found))) == (contracts and key not in by)
            assert ("at list prices: --contracts" in scope(Report(found))) is not contracts


def test_discounts_need_contracts_and_the_account_as_a_key() -> None:
    with simulate(table(ROWS), NOW, by=["account"]) as found, pytest.raises(SimulationError, match="--contracts"):
        found.discounts()
    by_model = simulate(table(ROWS), NOW, by=["model"], contracts=True)
    with by_model as found, pytest.raises(SimulationError, match="not grouped by 'account'"):
        found.discounts()
