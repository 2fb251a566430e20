"""From a usage of 300,000 rows to promoted prices, by the page alone: raise, cut, look, correct, save, promote."""

import shutil
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from served import choose, press, served, text_of, tiles, wait, write

from browsers import browser, complaints_of
from ratecard.card import RateCard, load_rate_card
from ratecard.cli import main
from ratecard.load.folder import shipped_folder
from ratecard.simulation.report.report import Report
from ratecard.simulation.simulate import simulate

DAY = "2027-01-15"
RAISED, CUT = "kling-o3", "claude"
EXPECTED = f"""candidate: expected
effective: {DAY}
proposed_by: x
why: x
changes:
  - scale: {{{{family: {RAISED}}}}}
    factor: 1.1
  - scale: {{{{family: {CUT}}}}}
    where: {{{{tokens: output}}}}
    percent: {{percent}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with browser(1400):  # skips without a browser, before anything is made
        pass
    made = tmp_path_factory.mktemp("journey")
    shutil.copytree(shipped_folder(), made / "tables")
    words = ["demo-usage", "--rows", "300000", "--seed", "1", "--out", str(made / "usage.parquet")]
    assert CliRunner().invoke(main, words).exit_code == 0
    return made


def test_a_family_rises_another_ones_output_falls_from_a_day_and_it_is_promoted(folder: Path) -> None:
    usage, tables = "usage.parquet", folder / "tables"
    before = {path: path.read_bytes() for path in tables.rglob("*.yaml")}
    old = load_rate_card(tables)
    looked_at, corrected = (difference(folder / usage, folder, percent) for percent in ("-5%", "-15%"))
    with (
        served(folder, "--tables", "tables", "--at", "2026-12-01", usage=usage) as running,
        browser(1400, 1000) as page,
    ):
        page.get(running.url)
        wait(lambda: "This usage brings $" in text_of(page, "h1"))
        wait(lambda: RAISED in text_of(page, ".by-model"))
        write(page, "Prices of", DAY)
        wait(lambda: DAY in text_of(page, "h1"))
        choose(page, "Which", RAISED)
        write(page, "Factor", "10%")
        wait(lambda: "Read as +10 %, which is times 1.1" in text_of(page, ".read"))
        press(page, "Add a factor")
        choose(page, "Which", CUT, 1)
        choose(page, "Only rates for", "tokens output", 1)
        write(page, "Factor", "-5%", 1)
        wait(lambda: tiles(page).get("Difference", [""])[0] == looked_at)
        assert CUT in text_of(page, ".models")
        # The person reads the answer and corrects the factor.
        write(page, "Factor", "-15%", 1)
        wait(lambda: tiles(page)["Difference"][0] == corrected)

        press(page, "Save as a candidate")
        for label, words in (("Name", "new year"), ("Proposed by", "Pricing"), ("Why", "as agreed")):
            write(page, label, words)
        wait(lambda: "as agreed" in text_of(page, ".dialog pre"))
        press(page, "Save")
        wait(lambda: "Saved candidates/new-year.yaml" in text_of(page, ".done"))
        assert before == {path: path.read_bytes() for path in tables.rglob("*.yaml")}
        press(page, "Promote it ...")
        wait(lambda: f"effective: {DAY}" in text_of(page, "pre.lines"))
        assert before == {path: path.read_bytes() for path in tables.rglob("*.yaml")}
        press(page, "Write these lines")
        wait(lambda: "This page shows the new prices now" in text_of(page, ".done"))
        assert "Promoted: added" in text_of(page, ".done")
        # The page continues from the new prices, without changes.
        new_prices = revenue(folder / usage, folder)
        press(page, "Close")
        wait(lambda: tiles(page) == {"Revenue now": [new_prices]})
        choose(page, "Which", RAISED)
        write(page, "Factor", "10%")
        wait(lambda: "has a version from" in text_of(page, ".changes"))
        assert complaints_of(page) == []
        status = Path(f"/proc/{running.process.pid}/status")
        if status.exists():  # only Linux has this file: the most memory that the server held
            [most] = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
            assert int(most) < 1_000_000, f"{most} kB"

    candidate = folder / "candidates" / "new-year.yaml"
    new = load_rate_card(tables)
    assert new.digest == old.with_candidate(candidate).digest != old.digest
    # Every rate of all models, the day before and from the day on.
    output = {CUT: Decimal("0.85"), RAISED: Decimal("1.1")}
    others = output | {CUT: Decimal(1)}
    for name, family in old.tables.families.items():
        assert rates(new, name, date(2027, 1, 14)) == rates(old, name, date(2027, 1, 14))
        assert rates(new, name, date.fromisoformat(DAY)) == [
            (attributes, rate * (output if attributes.get("tokens") == ("output",) else others).get(family, Decimal(1)))
            for attributes, rate in rates(old, name, date.fromisoformat(DAY))
        ]


def difference(usage: Path, folder: Path, percent: str) -> str:
    """Return the difference by `simulate` for the same change, as the page writes it."""
    path = folder / "expected.yaml"
    path.write_text(EXPECTED.format(percent=percent), encoding="utf-8")
    with simulate(str(usage), DAY, [str(path)], tables=folder / "tables", by=["model"]) as found:
        report = Report(found)
        change = report.rounded(1) - report.rounded(0)
    return f"{'+' if change > 0 else '-'}${abs(change):,.2f}"


def revenue(usage: Path, folder: Path) -> str:
    """Return the revenue by `simulate` with the tables as they are."""
    with simulate(str(usage), DAY, tables=folder / "tables", by=["model"]) as found:
        return f"${Report(found).rounded(0):,.2f}"


def rates(card: RateCard, name: str, day: date) -> list[tuple[Mapping[str, tuple[str, ...]], Decimal]]:
    version = card.tables.models[name].version_at(day)
    return [(rate.attributes, rate.rate) for charge in version.charges for rate in charge.rates] if version else []
