"""The page in a real browser: it asks nothing of the network, fits a phone, sorts, and shows what is so."""

import re
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
from browsers import DESKTOP, PHONE, WIDE, asked_of, browser, complaints_of
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Question, Report
from reports import PERIODS, files, mixed

# Elements that scroll sideways: the labels of boxes that are narrower than their content.
CUT = """return [...document.querySelectorAll("main *")].filter(
  each => each.scrollWidth > each.clientWidth && getComputedStyle(each).overflowX === "auto"
).map(each => each.getAttribute("aria-label"))"""


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


def test_the_answer_and_what_is_missing_are_told(page: Chrome) -> None:
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


@pytest.fixture(scope="module", params=[1, 2, 5])
def wide(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with everything that it can have, of large amounts, and long names without a place to break."""
    folder = tmp_path_factory.mktemp("wide")
    with mixed(folder, request.param, ("model", "customer", "month", "day"), tokens=100_000) as simulation:
        report = Report(simulation, Question("ratecard simulate " + "x" * 300, bridge=PERIODS))
        write(report, [folder / "wide.html"])
    return folder / "wide.html"


def test_no_column_is_cut_on_a_wide_screen(wide: Path) -> None:
    with browser(WIDE) as opened:
        _open(opened, wide)
        opened.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert len(opened.find_elements(By.TAG_NAME, "table")) > 10
        assert not opened.execute_script(CUT)
        assert complaints_of(opened) == []


def test_on_a_phone_tables_scroll_in_their_box_and_the_page_does_not(wide: Path) -> None:
    with browser(PHONE) as opened:
        _open(opened, wide)
        opened.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert opened.execute_script("return document.documentElement.scrollWidth") == PHONE
        cut = set(opened.execute_script(CUT))
        assert cut
        assert cut <= {each.get_attribute("aria-label") for each in opened.find_elements(By.CSS_SELECTOR, ".scroll")}


@pytest.mark.parametrize("dark", [False, True])
def test_less_more_lost_and_new_differ_in_colour_and_in_sign(wide: Path, dark: bool) -> None:
    with browser(WIDE, dark=dark) as opened:
        _open(opened, wide)
        opened.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
        colours = {}
        for name, sign in {"rise": "+", "fall": "-", "lost": "-", "new": "+"}.items():
            # The browser is asked once for all cells, because there are hundreds.
            cells = opened.execute_script(
                f"return [...document.querySelectorAll('td.{name}')]"
                ".map(each => [each.innerText, getComputedStyle(each).color])"
            )
            assert cells
            colours[name] = {colour for _, colour in cells}
            assert all(words.strip().startswith(sign) for words, _ in cells), name
        assert all(len(found) == 1 for found in colours.values())
        assert len(set.union(*colours.values())) == 4
        background = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert all(_contrast(colour, background) >= 4.5 for found in colours.values() for colour in found)
        signs = opened.find_element(By.CLASS_NAME, "signs")
        assert [each.text[0] for each in signs.find_elements(By.TAG_NAME, "span")] == ["▲", "▼", "▼", "▲"]


def test_the_answer_comes_first_then_what_could_not_be_priced(wide: Path) -> None:
    with browser(WIDE) as opened:
        _open(opened, wide)
        places = [opened.find_element(By.CSS_SELECTOR, each).location["y"] for each in ("h1", ".warning", ".chart")]
        assert places == sorted(places)
        words = opened.find_element(By.TAG_NAME, "h1").text
        assert "mixed.yaml" not in words


def _contrast(one: str, other: str) -> float:
    """The ratio of contrast of two colours, as WCAG defines it."""
    lights = sorted(map(_light, (one, other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _light(colour: str) -> float:
    parts = [int(each) / 255 for each in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _open(opened: Chrome, path: Path) -> None:
    """Open a page, and wait until every chart is drawn."""
    opened.get(path.as_uri())
    waiting = ".chart:not(.js-plotly-plot)"
    WebDriverWait(opened, 20).until_not(lambda page: page.find_elements(By.CSS_SELECTOR, waiting))


def _amount(row: WebElement, column: int) -> Decimal:
    words = row.find_elements(By.TAG_NAME, "td")[column].text
    return Decimal(words.replace("$", "").replace(",", ""))
