"""A customer of the page: list, discount and net by its contract, now and with the changes."""

from decimal import Decimal
from pathlib import Path

from served import choose, press, served, text_of, tiles, wait, write

from browsers import PHONE, WIDE, browser, complaints_of
from contract_tables import contract
from contract_tables import write as write_tables
from ratecard.card import load_rate_card
from ratecard.simulation.simulate import simulate
from ratecard.whatif.draft import Draft, Factor
from ratecard.whatif.draft_pricer import DraftPricer

DAY = "2026-11-22"
ROWS = 5


def usage_of(folder: Path) -> Path:
    path = folder / "usage.csv"
    accounts = [("a", "tiered"), ("stranger", "tiered"), ("b", "flat"), ("", "flat"), ("a", "flat")]
    rows = [f"text,{model},2026-10-02T00:00:00Z,{name},1000000,0" for name, model in accounts]
    path.write_text("\n".join(("type,model,timestamp,account,prompt_tokens,completion_tokens", *rows, "")))
    return path


def test_a_customer_may_have_the_name_that_stands_for_none(tmp_path: Path) -> None:
    write_tables(tmp_path / "tables", contract("- {for: {type: text}, percent: -20%}", "plain", "a", "2026-10-01"))
    usage = usage_of(tmp_path)
    usage.write_text(usage.read_text().replace("stranger", "(none)"))
    with simulate(usage, DAY, tables=tmp_path / "tables", contracts=True) as simulation:
        customers = DraftPricer(simulation).answer(Draft(DAY)).panel.customers
        assert customers is not None
        assert [*customers.customers] == ["a", "((none))", "(none)", "b"]
        assert sum(each.nets[0] for each in customers.customers.values()) == simulation.total.amounts[0]


def test_a_customer_is_picked(tmp_path: Path) -> None:
    write_tables(tmp_path / "tables", contract("- {for: {type: text}, percent: -20%}", "plain", "a", "2026-10-01"))
    usage = usage_of(tmp_path)
    draft = Draft(DAY, (Factor("type", ("text",), "10%"),))
    with simulate(usage, DAY, tables=tmp_path / "tables", contracts=True) as simulation:
        customers = DraftPricer(simulation).answer(draft).panel.customers
        assert customers is not None
        assert [*customers.customers] == ["a", "(none)", "b", "stranger"]
        one, other = customers.customers["a"], customers.customers["stranger"]
        assert one.nets[0] == one.lists[0] * Decimal("0.8")
        assert one.nets[1] == one.lists[1] * Decimal("0.8") == one.lists[0] * Decimal("0.88")
        assert other.nets == other.lists
        nets = [each.nets[1] for each in customers.customers.values()]
        assert sum(nets) == simulation.total.amounts[0] * Decimal("1.1")
        money = customers.figures.money
        amounts = [(one.lists[side], one.discount(side), one.nets[side]) for side in (0, 1)]
        expected = [money(amount) for side in amounts for amount in side]
        listed = money(other.nets[1])
    assert load_rate_card(tmp_path / "tables").contracts
    words = ("--tables", "tables", "--at", DAY, "--contracts")
    with served(tmp_path, *words) as running, browser(WIDE, 1000) as page:
        page.get(running.url)
        wait(lambda: "Now" in text_of(page, ".customer table"))
        press(page, "Types")
        choose(page, "Which", "text")
        write(page, "Factor", "10%")
        wait(lambda: "Difference" in tiles(page))
        wait(lambda: "With your changes" in text_of(page, ".customer table"))
        wait(lambda: all(amount in text_of(page, ".customer table") for amount in expected))
        choose(page, "Customer", "stranger")
        wait(lambda: listed in text_of(page, ".customer table"))
        metrics = {"width": PHONE, "height": 900, "deviceScaleFactor": 1, "mobile": True}
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        wait(lambda: page.execute_script("return document.documentElement.scrollWidth") == PHONE)
        assert complaints_of(page) == []


def test_without_contracts_there_is_no_customer_to_pick(tmp_path: Path) -> None:
    write_tables(tmp_path / "tables", contract("- {for: {type: text}, percent: -20%}", "plain", "a", "2026-10-01"))
    with simulate(usage_of(tmp_path), DAY, tables=tmp_path / "tables") as simulation:
        assert DraftPricer(simulation).answer(Draft(DAY)).panel.customers is None
