"""`ratecard simulate` with limits, which a pipeline fails on, and as a tornado: each effect is that of a candidate."""

import csv
import json
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ratecard.base.errors import SimulationError
from ratecard.cli import main
from ratecard.load.folder import read_folder
from ratecard.simulation.report.tornado_page import tornado
from ratecard.simulation.simulate import simulate
from reports import CHEAPER, files
from shipped import CARD

pytestmark = pytest.mark.usefixtures("few_shipped")

DAY = "2026-11-22"
SCALED = """candidate: one family
effective: 2026-11-23
proposed_by: Pricing
why: a test
changes:
  - scale: {{family: {family}}}
    percent: {percent}%
"""


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    table, dearer, _ = files(tmp_path)
    return str(table), str(dearer)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *words])


def test_within_the_limits_it_is_done(paths: tuple[str, str]) -> None:
    done = run(paths[0], "--candidate", paths[1], "--max-change", "100%", "--max-rise", "100%")
    assert (done.exit_code, done.stderr) == (0, "")


def test_beyond_the_limits_it_says_by_how_much_and_who(paths: tuple[str, str], tmp_path: Path) -> None:
    with simulate(paths[0], None, paths[1], by=["customer"]) as found:
        rises = {row.key[0]: Fraction(row.difference()) / Fraction(row.amounts[0]) for row in found.groups}
        whole = found.total
    middle = sorted(rises.values())[len(rises) // 2]
    # A change that equals the limit is allowed.
    share = f"{Decimal(middle.numerator * 100) / Decimal(middle.denominator):.6f}%"
    over = {name or "(none)" for name, rise in rises.items() if rise > Fraction(Decimal(share[:-1])) / 100}
    done = run(paths[0], "--candidate", paths[1], "--max-rise", share, "--out", str(tmp_path / "all.csv"))
    assert done.exit_code == 1
    assert f"Beyond the limit: {len(over)} of 8 customers pay more than" in done.stderr
    table = done.stderr.split("--max-rise is")[1].splitlines()[2:]
    assert {line.split("%")[-1].strip() for line in table} == over
    assert (tmp_path / "all.csv").exists()
    assert "revenue changes by" not in done.stderr
    exact = Fraction(whole.difference()) / Fraction(whole.amounts[0])
    below = f"{int(exact * 100)}%"
    done = run(paths[0], "--candidate", paths[1], "--max-change", below)
    assert done.exit_code == 1
    assert f"Beyond the limit: revenue changes by {whole.percent()}".rstrip("%")[:50] in done.stderr
    assert f"and --max-change is {below}" in done.stderr


def test_a_fall_is_a_change_and_not_a_rise(paths: tuple[str, str], tmp_path: Path) -> None:
    cheaper = tmp_path / "cheaper.yaml"
    cheaper.write_text(CHEAPER, encoding="utf-8")
    done = run(paths[0], "--candidate", str(cheaper), "--max-change", "0%", "--max-rise", "0%")
    assert done.exit_code == 1
    assert "revenue changes by -" in done.stderr
    assert "customers" not in done.stderr.split("Beyond")[1]


def test_each_candidate_has_the_limits(paths: tuple[str, str], tmp_path: Path) -> None:
    done = run(paths[0], "--candidate", paths[1], "--candidate", str(tmp_path / "cheaper.yaml"), "--max-rise", "1%")
    assert done.exit_code == 1
    assert "customers pay more than 1% more under dearer text, and --max-rise is 1%\n" in done.stderr
    assert "under cheaper video" not in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--candidate", "DEARER", "--max-rise", "5%", "--by", "model"), 1, "--max-rise needs to know the customers"),
        (("--candidate", "DEARER", "--max-rise", "5"), 2, "'5' is not a percentage"),
        (("--tornado", "5"), 2, "'5' is not a percentage"),
        (("--tornado", "5%", "--candidate", "DEARER"), 2, "leave out --candidate"),
        (("--tornado", "5%", "--max-rise", "5%", "--cost", "x"), 2, "leave out --cost, --max-rise"),
        (("--tornado", "5%", "--pace", "90d"), 2, "leave out --pace"),
        (("--pace", "30d", "--by", "model", "--current", "2026-12-01"), 1, "--pace needs to know the days. Add day"),
        (("--tornado", "5%", "--out", "x.xlsx"), 2, "x.xlsx: a tornado is written as .html, .csv, .json"),
        (("--tornado", "100%"), 2, "a percentage above 0% and below 100%"),
        (("--tornado", "0%"), 2, "a percentage above 0% and below 100%"),
    ],
)
def test_contradicting_options_are_refused(
    paths: tuple[str, str], words: tuple[str, ...], status: int, said: str
) -> None:
    done = run(paths[0], *(paths[1] if word == "DEARER" else word for word in words))
    assert (done.exit_code, said in done.stderr) == (status, True), done.output


@pytest.mark.parametrize("percent", [5, 20])
def test_each_swing_is_what_a_candidate_for_the_family_alone_says(
    paths: tuple[str, str], tmp_path: Path, percent: int
) -> None:
    with simulate(paths[0], "2026-11-24") as found:
        swings = tornado(found, Fraction(percent, 100))
        assert {swing.family for swing in swings} >= {"kling-o3", "claude"}
        assert list(swings) == sorted(swings, key=lambda swing: -swing.size)
        for swing in swings:
            for sign, effect in (("-", swing.fall), ("", swing.rise)):
                path = tmp_path / "one.yaml"
                path.write_text(SCALED.format(family=swing.family, percent=f"{sign}{percent}"), encoding="utf-8")
                assert effect == found.against(path).total.difference(), swing.family
        # A tornado leaves nothing behind in the simulation.
        assert tornado(found, Fraction(percent, 100)) == swings
        assert sum(swing.revenue for swing in swings) == found.total.amounts[0]


def test_a_tornado_prices_each_row_at_its_own_time_where_no_day_is_named(paths: tuple[str, str]) -> None:
    with simulate(paths[0]) as found:
        swings = {swing.family: swing for swing in tornado(found, Fraction(1, 2))}
        rows = found.comparison.priced
        card = CARD
        claude = [each for _, each, _ in rows if each.shape.model == "claude-opus-4-6"]
    assert claude
    assert card.tables.families["claude-opus-4-6"] == "claude"
    # Prices of tokens are not rounded: rates that are half higher bring half more revenue.
    assert swings["claude"].rise == swings["claude"].revenue / 2
    assert swings["claude"].fall == -swings["claude"].revenue / 2


def test_what_cannot_be_moved_says_why(paths: tuple[str, str], tmp_path: Path) -> None:
    folder, tables = tmp_path / "tables", read_folder()
    # A rate of 21 decimal places, and the total that its example then has.
    head, model, rest = tables["text/claude.yaml"].decode().partition("- model: claude-opus-4-6\n")
    rest = rest.replace("cache_write, rate: 7.5}", f"cache_write, rate: 7.5{'0' * 19}1}}", 1)
    rest = rest.replace("total: 0.0483}", f"total: 0.0483{'0' * 19}1}}", 1)
    for name, content in (tables | {"text/claude.yaml": f"{head}{model}{rest}".encode()}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    with simulate(paths[0], DAY, tables=folder) as found:
        swings = {swing.family: swing for swing in tornado(found, Fraction(1, 10**10))}
        assert swings["claude"].fall is None
        assert "more than 30 decimal places" in swings["claude"].reason
        assert any(swing.fall is not None for swing in swings.values())
        with pytest.raises(SimulationError, match="above 0%"):
            tornado(found, Fraction(1, 3))


def test_a_tornado_is_printed_and_written(paths: tuple[str, str], tmp_path: Path) -> None:
    done = run(paths[0], "--current", DAY, "--tornado", "5%")
    assert done.exit_code == 0, done.output
    assert "6 of 240 rows cannot be priced" in done.stdout
    assert "5% cheaper" in done.stdout
    assert "█|█" in done.stdout
    outs = [tmp_path / f"tornado{ending}" for ending in (".html", ".csv", ".json")]
    done = run(paths[0], "--current", DAY, "--tornado", "5%", *(word for out in outs for word in ("--out", str(out))))
    assert (done.exit_code, done.stdout) == (0, "")
    page, table, told = (out.read_text(encoding="utf-8") for out in outs)
    assert page.count('<rect class="rise"') == page.count('<rect class="fall"') > 2
    rows = list(csv.DictReader(StringIO(table)))
    families = json.loads(told)["families"]
    assert rows == [{key: value or "" for key, value in each.items()} for each in families]
    assert {"family", "revenue", "fall", "rise", "reason"} == set(rows[0])
