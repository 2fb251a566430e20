"""`ratecard check --min-margin`: every price against its cost, at the line of the rate that is too low."""

import json
import re
import subprocess
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ratecard.card import RateCard
from ratecard.cli import main
from ratecard.load.folder import shipped_folder, tables_from
from ratecard.review.margins import TableCosts, thin_margins
from ratecard.views.sheet import price_cells
from shipped import CARD, FEW
from token_tables import by_tokens, family, text_model

TABLE = """family: mixed
models:
  - model: clip
    name: Clip
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2027-06-01
        checked: 2027-01-01
        source: made up
        accepts: {duration: [10s], resolution: [480p, 720p], audio: none}
        charges:
          - charge: video
            method: resolution-rate
            unit: video_second
            rates:
              - {resolution: 480p, rate: LATER}
              - {resolution: 720p, rate: 0.10}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 10s, resolution: 720p}, total: 1.00}
      - effective: 2026-01-01
        checked: 2026-01-01
        source: made up
        accepts: {duration: [10s], resolution: [480p, 720p], audio: none}
        charges:
          - {charge: video, method: resolution-rate, unit: video_second, rates: [{rate: 0.10}]}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 10s, resolution: 720p}, total: 1.00}
  - model: unpaid
    name: Unpaid
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: made up
        accepts: {duration: [5s], audio: none}
        charges:
          - {charge: video, method: fixed, unit: clip, rates: [{rate: 0.10}]}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s}, total: 0.10}
"""
COSTS = """family: mixed
models:
  - model: clip
    name: Clip
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: what we pay
        accepts: {duration: [10s], resolution: [480p, 720p], audio: none}
        charges:
          - {charge: video, method: resolution-rate, unit: video_second, rates: [{rate: 0.08}]}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 10s, resolution: 720p}, total: 0.80}
"""


def tables(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "mixed.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    return tables(tmp_path / "costs", COSTS)


def check(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, words)])


def test_a_margin_of_just_that_much_is_enough(tmp_path: Path, costs: Path) -> None:
    folder = tables(tmp_path / "tables", TABLE.replace("LATER", "0.10"))
    done = check(folder, "--min-margin", "20%", "--cost", costs)
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith(
        "3 prices compared with their costs; prices of 1 model have no cost and are not compared: unpaid.\n"
    )


def test_a_price_below_the_margin_is_told_at_its_line_though_it_holds_only_later(tmp_path: Path, costs: Path) -> None:
    folder = tables(tmp_path / "tables", TABLE.replace("LATER", "0.09"))
    done = check(folder, "--min-margin", "20%", "--cost", costs)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, "1 rate below the margin")
    assert done.stdout.splitlines()[0] == (
        "mixed.yaml:18: clip from 2027-06-01, duration 10s, resolution 480p: the price is 0.9, the cost 0.8:"
        " a margin of 11.11%,"
        " and --min-margin is 20%"
    )
    # Both versions leave 20 %, except for that rate; a higher margin is reported once per rate, on the first day.
    done = check(folder, "--min-margin", "20.01%", "--cost", costs, "--json")
    lines = re.findall(r"clip from (\d{4})", done.stdout)
    assert (done.exit_code, lines) == (1, ["2027", "2027", str(datetime.now(UTC).year)])
    assert json.loads(done.stdout)["margins"] == {"compared": 3, "without_cost": ["unpaid"]}


@pytest.mark.parametrize(
    ("rate", "total", "said"),
    [
        ("0.10", "1.00", "resolution 720p: the price is 1, the cost 1.5: a margin of -50%"),
        ("0", "0", "resolution 480p: the price is 0, the cost 0.8: nothing is charged for it"),
    ],
)
def test_of_the_prices_of_a_rate_the_one_with_the_worst_margin_is_told(rate: str, total: str, said: str) -> None:
    rates = "              - {resolution: 480p, rate: LATER}\n              - {resolution: 720p, rate: 0.10}\n"
    one = "              - {resolution: [480p, 720p], rate: 0.10}\n"
    table = TABLE.replace(rates, one).replace("0.10", rate).replace("1.00", total)
    cost = COSTS.replace("{rate: 0.08}", "{resolution: 480p, rate: 0.08}, {resolution: 720p, rate: 0.15}")
    card, costs = (
        RateCard(tables_from({"mixed.yaml": text.encode()})) for text in (table, cost.replace("0.80", "1.50"))
    )
    [told] = thin_margins(card, TableCosts(costs), Fraction(3, 10), date(2027, 10, 2)).faults
    assert said in told.message


def test_a_cost_may_depend_on_what_no_price_does(tmp_path: Path) -> None:
    rates = "rates: [{resolution: 480p, rate: 0.08}, {resolution: 720p, rate: 0.15}]"
    paid = COSTS.replace("rates: [{rate: 0.08}]", rates).replace("total: 0.80", "total: 1.50")
    folder = tables(tmp_path / "tables", TABLE.replace("LATER", "0.10"))
    done = check(folder, "--min-margin", "10%", "--cost", tables(tmp_path / "costs", paid), "--json")
    words = r"clip from (\d{4}).*resolution 720p: the price is 1, the cost 1.5: a margin of -50%"
    assert (done.exit_code, re.findall(words, done.stdout)) == (1, ["2027", str(datetime.now(UTC).year)])
    assert json.loads(done.stdout)["margins"] == {"compared": 4, "without_cost": ["unpaid"]}


def card_of(rates: str) -> RateCard:
    lines = by_tokens(f"- {{tokens: output, rate: 8}}\n{rates}")
    return RateCard(tables_from({"a.yaml": family(text_model("flat", lines)).encode()}))


@pytest.mark.parametrize(
    ("hours", "at"),
    [
        ('hours: "08:00..20:00", zone: UTC', "2026-10-02T08:00:00Z"),
        ("weekdays: thu, zone: Europe/Berlin", "2026-10-07T22:00:00Z"),
    ],
)
def test_a_price_below_the_margin_is_told_though_it_holds_at_some_hours_only(hours: str, at: str) -> None:
    dear = card_of("- {tokens: input, rate: 1}")
    timed = card_of(f"- {{tokens: input, rate: 4}}\n- {{tokens: input, {hours}, rate: 0.01}}")
    found = thin_margins(timed, TableCosts(dear), Fraction(-1), date(2026, 10, 2)).faults
    told = [(fault.line, fault.message.partition(", ")[0], fault.message.rpartition(": the ")[2]) for fault in found]
    assert told == [(19, f"flat from {at}", "price is 0.01, the cost 1: a margin of -9900%, and --min-margin is -100%")]
    # Our costs may be higher at some hours too.
    [costly] = thin_margins(dear, TableCosts(timed), Fraction(-1), date(2026, 10, 1)).faults
    assert "the price is 1, the cost 4" in costly.message


def test_a_cost_that_rises_later_is_found_under_an_alias() -> None:
    rates = "- {tokens: output, rate: 8}\n- {tokens: input, rate: RATE}"
    versions = (
        by_tokens(rates.replace("RATE", rate), effective=f"{year}-01-01") for rate, year in (("5", 2028), ("1", 2026))
    )
    text = family(text_model("upstream", *versions, further="aliases: [flat]"))
    costs = RateCard(tables_from({"a.yaml": text.encode()}))
    [thin] = thin_margins(
        card_of("- {tokens: input, rate: 4}"), TableCosts(costs), Fraction(0), date(2026, 10, 2)
    ).faults
    assert "flat from 2028-01-01" in thin.message


def test_a_price_is_told_with_all_by_which_the_sheet_distinguishes_it() -> None:
    thin = thin_margins(CARD, TableCosts(CARD, Fraction(1)), Fraction(1, 10), date(2026, 10, 2)).faults
    told = [fault.message for fault in thin if fault.message.startswith("topaz-video-")]
    words = ("enhancement_model", "target_fps", "source_video")
    assert told and all(word in message for message in told for word in words), told
    assert any("upscale_factor" in message for message in told) and any(
        "slowdown_factor" in message for message in told
    )


def test_a_share_is_that_of_the_price_at_a_revision(tmp_path: Path) -> None:
    folder = tables(tmp_path / "tables", TABLE.replace("LATER", "0.10"))
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
    options = ("--against", "HEAD", "--min-margin", "30%", "--cost", "60%")
    assert check(folder, *options).exit_code == 0
    assert check(folder, *options[:3], "40.1%", *options[4:]).exit_code == 1
    assert check(folder, *options[:3], "1%", "--cost", str(folder)).exit_code == 1
    (folder / "mixed.yaml").write_text(TABLE.replace("LATER", "0.08"), encoding="utf-8")
    done = check(folder, *options)
    assert done.exit_code == 1
    said = "mixed.yaml:18: clip from 2027-06-01, duration 10s, resolution 480p: the price is 0.8, the cost 0.6"
    assert f"{said}: a margin of 25%" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--min-margin", "20%"), "--min-margin and --cost go together"),
        (("--cost", "costs"), "--min-margin and --cost go together"),
        (("--min-margin", "20", "--cost", "costs"), "'20' is not a percentage"),
        (("--min-margin", "100%", "--cost", "costs"), "--min-margin must be below 100%"),
        (("--min-margin", "20%", "--cost", "60%"), "Name these: --against REVISION"),
        (("--min-margin", "20%", "--cost", "nowhere"), "--cost nowhere is not a folder of tables, nor a share"),
    ],
)
def test_wrong_use(words: tuple[str, ...], said: str) -> None:
    done = check(*words)
    assert (done.exit_code, said in done.stderr) == (2, True), done.output


def test_costs_of_other_models_alone_compare_nothing_and_that_is_a_fault(tmp_path: Path, costs: Path) -> None:
    folder = tables(tmp_path / "tables", TABLE.replace("LATER", "0.10").replace("model: clip", "model: other"))
    done = check(folder, "--min-margin", "20%", "--cost", costs)
    assert done.exit_code == 1
    assert "has no cost for any of these prices" in done.stdout


def test_the_shipped_tables_cost_themselves() -> None:
    done = check("--min-margin", "0%", "--cost", shipped_folder())
    assert done.exit_code == 0, done.output
    assert "have no cost" not in done.stdout


def test_half_of_each_price_as_its_cost_is_a_margin_of_half() -> None:
    card = FEW
    day = date(2030, 1, 1)
    prices = card.at(day)
    every = [cell for model, _ in prices._in_effect_all() for cell in price_cells(prices, model.model)]
    found = thin_margins(card, TableCosts(card, Fraction(1, 2)), Fraction(1, 2), day)
    assert (found.compared, found.faults, found.unknown) == (len(every), (), ())
    paid = [cell for cell in every if cell.quote.total]
    found = thin_margins(card, TableCosts(card, Fraction(1, 2)), Fraction(51, 100), day)
    assert len(found.faults) == len({(cell.body["model"], cell.quote.lines[0].source) for cell in paid})
