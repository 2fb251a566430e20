"""A new pricing method of video is one file and one line: "per started second", which only this file knows."""

import inspect
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow
import pytest
from click.testing import CliRunner
from counted_models import UNITS

import ratecard
from ratecard import PriceBook, QuoteError, RateCard
from ratecard.base.errors import TableError
from ratecard.base.messages import Finding
from ratecard.cli import main
from ratecard.line_items.compiling import SECONDS, Calculator, Compiling
from ratecard.line_items.quote import LineItem
from ratecard.load.folder import tables_from
from ratecard.methods import METHODS, register
from ratecard.methods.method import Method, Steps
from ratecard.methods.video import tier_of
from ratecard.review.sides import Side
from ratecard.server.models import listed_model
from ratecard.simulation.billing import Clips, ModelInEffect
from ratecard.simulation.simulate import simulate
from ratecard.tables.scalars import Count
from ratecard.tables.video import VIDEO_CHARGES, Measures, VideoCharge, VideoVersion
from ratecard.testing import LAWS, Case
from ratecard.testing.case import BrokenLawError, check
from ratecard.testing.laws.video import a_line_counts_what_its_method_says
from ratecard.views.explain import explain, workings
from ratecard.views.schema import table_schema
from ratecard.views.sheet import price_cells


class PerStartedBlock(VideoCharge, Method):
    """Seconds of output in blocks, each begun one of which is charged: 5 seconds in blocks of 4 are 8."""

    ATTRIBUTES: ClassVar = ("resolution",)
    METERS: ClassVar = ("second of video",)
    TYPES: ClassVar = ("video",)
    FORMULA: ClassVar = "seconds: duration, up to whole blocks"
    method: Literal["per-started-block"]
    block: Count

    def check_options(self, version: VideoVersion) -> Iterator[Finding]:
        if self.block == 1:
            yield ("block",), "block 1 is duration-rate. Write more seconds"

    def units(self, of: Measures) -> Fraction:
        return Fraction(ceil(of.seconds / self.block) * self.block, of.per)

    def calculator(self, compiling: Compiling) -> Calculator:
        (key, rates), line, per = compiling.rates_by(), compiling.line_of_part(), compiling.per

        def calculate(shape: Any) -> LineItem:
            return line(rates[key(shape)], self.units(Measures(Fraction(SECONDS[shape["duration"]]), per)), "")

        return calculate

    def working(self, shape: Any, counted: Decimal) -> Steps:
        return SECONDS[shape["duration"]], "s begin", counted / self.block, f"blocks of {self.block} s"


class PerPixelOfSource(VideoCharge, Method):
    """Seconds of source, enlarged, at the rate of the height before: each factor multiplies."""

    ATTRIBUTES: ClassVar = ("up_to",)
    METERS: ClassVar = ("second of video",)
    READS: ClassVar = ("duration", "upscale_factor", "video_url")
    TYPES: ClassVar = ("video",)
    method: Literal["per-source-second"]

    def calculator(self, compiling: Compiling) -> Calculator:
        find, line = tier_of(compiling), compiling.line_of_part()

        def calculate(shape: Any) -> LineItem:
            source = shape["source"]
            rate, note = find(shape, source.height if source else None)
            return line(rate, Fraction(shape["seconds"]) * shape["upscale_factor"], note)

        return calculate


TABLE = """family: made-up
models:
  - model: blocks
    name: Made up
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        accepts: {duration: [3s, 4s, 5s, 8s, 10s], resolution: [480p, 720p], audio: none}
        defaults: {resolution: 480p}
        charges:
          - charge: video
            method: per-started-block
            unit: video_second
            block: 4
            rates:
              - {resolution: 480p, rate: 0.10}
              - {resolution: 720p, rate: 0.25}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s}, total: 0.80}
"""
OF_SOURCE = """family: made-up
models:
  - model: enlarged
    name: Made up
    type: video
    mode: upscale
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        accepts: {duration: [Auto], upscale_factor: [1, 2, 4], audio: none, video_url: {max_seconds: 60}}
        charges:
          - charge: video
            method: per-source-second
            unit: video_second
            rates:
              - {up_to: 720, rate: 0.01}
              - {up_to: any, rate: 0.08}
          - charge: frames
            method: per-source-second
            unit: video_second
            rates:
              - {up_to: 1080, rate: 0.01}
              - {up_to: any, rate: 0.02}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {upscale_factor: 2}, source: {seconds: 10, height: 720}, total: 0.40}
"""
FILES = {"units.yaml": UNITS.replace("units:\n", "units:\n  - {unit: video_second, counts: second of video, per: 1}\n")}


def card_of(table: str) -> RateCard:
    return RateCard(tables_from({name: text.encode() for name, text in {**FILES, "blocks.yaml": table}.items()}))


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    register(PerStartedBlock)
    register(PerPixelOfSource)
    yield
    for method in ("per-started-block", "per-source-second"):
        del METHODS[method]
        VIDEO_CHARGES.remove(method)


@pytest.fixture(scope="module")
def prices(registered: None) -> PriceBook:
    return card_of(TABLE).at(date(2026, 10, 1))


@pytest.mark.parametrize(("seconds", "total"), [("3s", "0.40"), ("4s", "0.40"), ("5s", "0.80"), ("8s", "0.80")])
def test_each_begun_block_is_charged(prices: PriceBook, seconds: str, total: str) -> None:
    quote = prices.quote_video({"model": "blocks", "duration": seconds})
    assert quote.total == Decimal(total)
    assert quote.lines[0].sku == "blocks-per-started-block-480p"


def test_its_bodies_are_checked(prices: PriceBook) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.quote_video({"model": "blocks", "resolution": "4k"})
    assert {path for path, _ in caught.value.problems} == {("duration",), ("resolution",)}


@pytest.mark.parametrize(
    ("written", "instead", "fault"),
    [
        ("block: 4", "block: 1", "block 1 is duration-rate. Write more seconds"),
        ("block: 4", "blocks: 4", "unknown key 'blocks'. Did you mean 'block'?"),
        ("unit: video_second", "unit: image", "unit 'image' counts an image, but per-started-block counts a second of"),
        ("resolution: 720p, rate", "audio: true, rate", "unknown key 'audio' in a rate of per-started-block."),
        ("per-started-block", "per-started-blok", "Did you mean 'per-started-block'?"),
        ("duration: [3s, 4s, 5s, 8s, 10s], ", "", "duration is missing in accepts: per-started-block depends on it"),
    ],
)
def test_its_tables_are_checked(written: str, instead: str, fault: str) -> None:
    with pytest.raises(TableError) as caught:
        card_of(TABLE.replace(written, instead))
    assert any(fault in str(found) for found in caught.value.faults)


def test_it_is_in_the_sheet_the_schema_the_listing_and_the_explanation(prices: PriceBook) -> None:
    totals = {
        (cell.body["resolution"], cell.body["duration"]): cell.quote.total for cell in price_cells(prices, "blocks")
    }
    assert len(totals) == 2 * 5
    assert totals["720p", "10s"] == 3
    [charge] = listed_model(prices, date(2026, 10, 1), "blocks").pricing.charges
    assert (charge.method, charge.model_extra) == ("per-started-block", {"block": 4})
    assert explain(prices, "blocks").charges[0].options == {"block": "4"}
    assert table_schema()["definitions"]["PerStartedBlock"]["properties"]["method"]["const"] == "per-started-block"
    assert Clips(ModelInEffect.of(prices, "blocks")).cells("blocks-per-started-block-720p", Decimal("0.75") * 4) != []


def test_a_bill_shows_how_it_counts(prices: PriceBook) -> None:
    body = {"model": "blocks", "duration": "5s"}
    [working] = workings(prices, prices.quote_video(body), body)
    assert working.counted == (Decimal(5), "s begin", Decimal(2), "blocks of 4 s")


def test_the_commands_show_how_it_counts(tmp_path: Path) -> None:
    for name, table in {**FILES, "blocks.yaml": TABLE}.items():
        (tmp_path / name).write_text(table)
    own = ("--tables", str(tmp_path), "--at", "2026-10-01")
    shown = CliRunner().invoke(main, ["explain", "blocks", *own]).stdout
    assert "per-started-block, a rate per video_second\n  seconds: duration, up to whole blocks\n  block: 4\n" in shown
    bill = CliRunner().invoke(main, ["quote", "--model", "blocks", "--duration", "5s", *own]).stdout
    assert "  (5 s begin 2 blocks of 4 s)\n" in bill


def test_a_source_video_is_shown_for_each_tier_of_each_charge_at_every_factor() -> None:
    cells = [
        (cell.body["upscale_factor"], cell.video and cell.video.height, cell.quote.total)
        for cell in price_cells(card_of(OF_SOURCE).at(date(2026, 10, 1)), "enlarged")
    ]
    by_height = {720: 1 + 1, 1080: 8 + 1, 1440: 8 + 2, 2160: 8 + 2}
    assert cells == [
        (factor, height, Decimal(10 * factor * cents).scaleb(-2))
        for factor in (1, 2, 4)
        for height, cents in by_height.items()
    ]


def test_the_laws_hold_for_it(prices: PriceBook, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(prices, "blocks")
    for law in LAWS:
        if law.applies(case):
            check(law, case, max_examples=3)
    law = a_line_counts_what_its_method_says
    of_shape = PerStartedBlock.calculator

    def of_eight_seconds(self: PerStartedBlock, compiling: Compiling) -> Calculator:
        calculate = of_shape(self, compiling)
        return lambda shape: calculate({**shape, "duration": "8s"})

    monkeypatch.setattr(PerStartedBlock, "calculator", of_eight_seconds)
    case = Case(card_of(TABLE).at(date(2026, 10, 1)), "blocks")
    with pytest.raises(BrokenLawError, match="the formula gives"):
        check(law, case)


def test_rows_of_it_are_simulated_as_they_are_quoted() -> None:
    rows = [
        {"type": "video", "model": "blocks", "duration": f"{seconds}s", "resolution": "720p"} for seconds in (3, 5, 8)
    ]
    now = Side("now", card_of(TABLE), datetime(2026, 10, 1, tzinfo=UTC))
    with simulate(pyarrow.Table.from_pylist(rows), now, by=("model",)) as found:
        assert [row.amounts[0] for row in found.groups if row.requests] == [Decimal("0.25") * (4 + 8 + 8)]


def test_no_code_beside_its_class_its_line_and_its_strategy_names_a_method_of_video() -> None:
    """With its formula in `tests/prices_from_models.py`, a new one is four files of code."""
    source = Path(ratecard.__file__).parent
    further = {source / "methods/__init__.py", source / "testing/card_strategies.py"}
    texts = {path: path.read_text() for path in source.rglob("*.py") if path not in further}
    shipped = {name: charge for name, charge in METHODS.items() if charge.__module__.startswith("ratecard.")}
    video = {name: charge for name, charge in shipped.items() if "video" in charge.TYPES}
    assert len(video) >= 8
    for name, charge in video.items():
        # One price of images is called "fixed" too.
        words = [charge.__name__, *([f'"{name}"'] if "-" in name else [])]
        naming = {
            path for path, code in texts.items() for word in words if re.search(rf"(?<![\w]){word}(?![\w])", code)
        }
        assert naming == {Path(inspect.getfile(charge))}


def test_a_unit_of_video_tokens_is_a_part_that_a_decimal_holds() -> None:
    options = "method: token-formula\n            frames_per_second: 24\n            pixels_per_token: 1024\n"
    table = TABLE.replace("method: per-started-block\n", options).replace("resolution: [480p, 720p], ", "")
    table = table.replace("defaults: {resolution: 480p}\n", "defaults: {}\n").replace(
        "block: 4", "sizes: [{size: 8x8}]"
    )
    table = table.replace("              - {resolution: 720p, rate: 0.25}\n", "").replace("resolution: 480p, ", "")
    units = FILES["units.yaml"] + "  - {unit: block, counts: token, per: 3000}\n"
    with pytest.raises(TableError) as caught:
        tables_from(
            {"units.yaml": units.encode(), "a.yaml": table.replace("unit: video_second", "unit: block").encode()}
        )
    [fault] = caught.value.faults
    assert "unit 'block': 1 of 3000 is not a decimal, as token-formula needs." in str(fault)
