"""The page in a real browser: it asks nothing of the network, fits a phone, sorts, and shows what is so."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from babel import Locale
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

import ratecard
from browsers import DESKTOP, PHONE, asked_of, browser, complaints_of
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Question, Report
from reports import files


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of one candidate, and one of two in German."""
    folder = tmp_path_factory.mktemp("pages")
    table, dearer, cheaper = files(folder)
    made = {}
    for name, candidates, locale in (("one", [dearer], "en_US"), ("two", [dearer, cheaper], "de_DE")):
        with ratecard.simulate(table, None, candidates, costs="2026-10-01") as simulation:
            report = Report(simulation, Question(f"ratecard simulate --out {name}.html"), Locale.parse(locale))
            write(report, [folder / f"{name}.html"])
        made[name] = folder / f"{name}.html"
    return made


@pytest.fixture(scope="module", params=[DESKTOP, PHONE])
def page(request: pytest.FixtureRequest, pages: dict[str, Path]) -> Iterator[Chrome]:
    with browser(request.param, dark=request.param == PHONE) as opened:
        _open(opened, pages["one"])
        yield opened


def test_nothing_is_asked_of_the_network_and_nothing_goes_wrong(pages: dict[str, Path]) -> None:
    for path in pages.values():
        assert path.stat().st_size < 3_000_000
        with browser(DESKTOP) as opened:
            _open(opened, path)
            assert asked_of(opened) == {path.as_uri()}
            assert complaints_of(opened) == []


def test_every_chart_is_drawn(page: Chrome) -> None:
    charts = page.find_elements(By.CLASS_NAME, "chart")
    assert [chart.get_attribute("aria-label") for chart in charts] == [
        *("Revenue by day", "Change by model", "Customers by change", "Why revenue changes"),
    ]
    for chart in charts:
        assert chart.find_elements(By.CSS_SELECTOR, ".trace, .waterfalllayer, .bars")
        assert chart.size["width"] <= page.execute_script("return document.documentElement.clientWidth")


def test_the_page_does_not_scroll_sideways(page: Chrome) -> None:
    wide, seen = (
        page.execute_script(f"return document.documentElement.{name}") for name in ("scrollWidth", "clientWidth")
    )
    assert wide == seen


def test_the_answer_stands_below_what_is_missing(page: Chrome) -> None:
    assert page.find_element(By.CSS_SELECTOR, ".warning h2").text.startswith("6 of 240 rows have no price")
    assert page.find_element(By.TAG_NAME, "h1").text.startswith("Revenue rises by $")
    assert "ratecard simulate --out one.html" in page.find_element(By.TAG_NAME, "main").text


def test_a_table_sorts_on_a_click_and_its_column_adds_up(page: Chrome) -> None:
    page.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
    table = page.find_element(By.CSS_SELECTOR, "[aria-label='By day'] table")
    headings = [each.text.split("\n")[0].strip() for each in table.find_elements(By.TAG_NAME, "th")]
    column = headings.index("Current")
    head = table.find_elements(By.TAG_NAME, "th")[column]
    for order, reverse in (("descending", True), ("ascending", False)):
        page.execute_script("arguments[0].click()", head.find_element(By.TAG_NAME, "button"))
        assert head.get_attribute("aria-sort") == order
        amounts = [_amount(row, column) for row in table.find_elements(By.CSS_SELECTOR, "tbody tr")]
        assert amounts == sorted(amounts, reverse=reverse)
    assert len(amounts) == 11
    assert sum(amounts) == _amount(table.find_element(By.CSS_SELECTOR, "tfoot tr"), column)
    first = table.find_elements(By.CSS_SELECTOR, "th button")[0]
    page.execute_script("arguments[0].click()", first)
    names = [row.find_element(By.TAG_NAME, "td").text for row in table.find_elements(By.CSS_SELECTOR, "tbody tr")]
    assert names == sorted(names, reverse=True)


def test_names_of_customers_are_text_and_never_html(page: Chrome) -> None:
    assert not page.find_elements(By.CSS_SELECTOR, "main td b")
    assert "<b>bold</b>" in page.find_element(By.TAG_NAME, "main").text


def test_several_candidates_have_a_part_each_in_the_locale_of_the_reader(pages: dict[str, Path]) -> None:
    with browser(PHONE) as opened:
        _open(opened, pages["two"])
        words = opened.find_element(By.TAG_NAME, "main").text
        assert "2 candidates compared with the current prices" in words
        headings = [each.text for each in opened.find_elements(By.TAG_NAME, "h2")]
        assert {"dearer text", "cheaper video"} <= set(headings)
        assert " $ (+" in words
        wide, seen = (
            opened.execute_script(f"return document.documentElement.{name}") for name in ("scrollWidth", "clientWidth")
        )
        assert wide == seen
        assert complaints_of(opened) == []


def _open(opened: Chrome, path: Path) -> None:
    """Open a page, and wait until every chart is drawn."""
    opened.get(path.as_uri())
    waiting = ".chart:not(.js-plotly-plot)"
    WebDriverWait(opened, 20).until_not(lambda page: page.find_elements(By.CSS_SELECTOR, waiting))


def _amount(row: WebElement, column: int) -> Decimal:
    words = row.find_elements(By.TAG_NAME, "td")[column].text
    return Decimal(words.replace("$", "").replace(",", ""))
