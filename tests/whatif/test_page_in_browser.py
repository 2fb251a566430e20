"""The page in a real browser: what is moved there is what `simulate` says of the file that is saved."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from served import Served, choose, field, press, served, started, text_of, tiles, value_of, wait, write
from small_usage import CLAUDE, DAY, FLASH, KLING, write_batches, write_tables, write_usage

from browsers import DESKTOP, PHONE, WIDE, browser, complaints_of
from ratecard.candidates.file import load_candidate
from ratecard.simulation.report.report import Report
from ratecard.simulation.simulate import simulate
from ratecard.whatif.view import panel_of
from shipped import CARD


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("whatif")
    write_usage(made / "usage.csv")
    return made


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Served]:
    with browser(DESKTOP):  # skips without a browser, before anything is started
        pass
    with served(folder, "--at", DAY, "--cost", DAY) as running_page:
        yield running_page


@pytest.fixture
def page(running: Served) -> Iterator[Chrome]:
    with browser(DESKTOP, 1000) as opened:
        opened.get(running.url)
        wait(lambda: text_of(opened, "h1"))
        yield opened


def hosts(page: Chrome) -> set[str]:
    """Whom the page asked, by HTTP and by web sockets."""
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]  # type: ignore[no-untyped-call]
    urls = [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]
    urls += [each["params"]["url"] for each in events if each["method"] == "Network.webSocketCreated"]
    return {urlsplit(url).netloc for url in urls if not url.startswith(("data:", "blob:"))}


def test_what_is_moved_saved_and_loaded_is_one_candidate(page: Chrome, folder: Path, running: Served) -> None:
    choose(page, "Which", "kling-o3")
    write(page, "Factor", "1.0725")
    press(page, "Add a rate or factor")
    choose(page, "Model", CLAUDE)
    choose_rate(page, "output")
    write(page, "New rate", "33.5")
    wait(lambda: "Difference" in tiles(page) and CLAUDE in text_of(page, ".models"))
    shown = wait(lambda: {label: rest for label, rest in tiles(page).items() if "kling" in text_of(page, ".models")})

    press(page, "Save as a candidate")
    for label, words in (("Name", "Kling: 7 % dearer"), ("Proposed by", "Pricing"), ("Why", "costs rose")):
        write(page, label, words)
    preview = wait(lambda: text_of(page, ".dialog pre") if "costs rose" in text_of(page, ".dialog pre") else "")
    assert value_of(page, "File") == "candidates/kling-7-dearer.yaml"
    press(page, "Save")
    wait(lambda: "Saved candidates/kling-7-dearer.yaml" in text_of(page, ".done"))

    path = folder / "candidates" / "kling-7-dearer.yaml"
    assert path.read_text(encoding="utf-8").strip() == preview.strip()
    assert load_candidate(path).candidate.candidate == "Kling: 7 % dearer"
    with simulate(str(folder / "usage.csv"), DAY, [str(path)], costs=DAY) as simulation:
        expected = panel_of(Report(simulation))
    saved = {tile.label: [tile.value, *([tile.note] if tile.note else [])] for tile in expected.tiles}
    shown["With Kling: 7 % dearer"] = shown.pop("With your changes")
    assert shown == saved
    wait(lambda: tiles(page) == saved)  # from now on, the figures have the name of the candidate
    assert f"--current {DAY} --candidate candidates/kling-7-dearer.yaml" in text_of(page, ".done code")
    assert CARD.with_candidate(path).digest != CARD.digest

    # Saving again asks before it replaces the file.
    path.write_text("mine", encoding="utf-8")
    press(page, "Save")
    wait(lambda: "There is a file" in text_of(page, ".dialog .wrong"))
    assert path.read_text(encoding="utf-8") == "mine"
    press(page, "Replace it")
    wait(lambda: "Saved" in text_of(page, ".done"))
    assert path.read_text(encoding="utf-8").strip() == preview.strip()


def test_a_factor_of_a_table_is_changed_like_a_rate(running: Served, folder: Path) -> None:
    tables = write_tables(folder / "tables")
    write_batches(folder / "batches.csv")
    options = ("--tables", str(tables), "--at", DAY)
    with served(folder, *options, usage="batches.csv") as of_batches, browser(DESKTOP, 1000) as page:
        page.get(of_batches.url)
        wait(lambda: text_of(page, "h1"))
        press(page, "Add a rate or factor")
        choose(page, "Model", FLASH)
        choose_rate(page, "service_tier batch: times 0.5")
        assert text_of(page, ".now") == "Now 0.5"
        write(page, "New factor", "0.4")
        wait(lambda: tiles(page).get("Difference", [""])[0].endswith("$0.20"))
        assert FLASH in text_of(page, ".models")
        press(page, "Save as a candidate")
        preview = wait(lambda: text_of(page, ".dialog pre"))
        assert "where: {service_tier: batch}" in preview
        assert "factor: 0.4" in preview


def choose_rate(page: Chrome, word: str) -> None:
    field(page, "Rate").click()
    wait(lambda: [each for each in page.find_elements(By.CSS_SELECTOR, ".q-menu .q-item") if word in each.text])[
        0
    ].click()
    wait(lambda: text_of(page, ".now"))


def test_the_slider_and_the_field_are_one_factor(page: Chrome) -> None:
    choose(page, "Which", "kling-o3")
    wait(lambda: "Difference" in tiles(page))
    before = tiles(page)["Difference"]
    page.execute_script("document.querySelector('.factor [role=slider] [tabindex]').focus()")
    ActionChains(page).send_keys(Keys.ARROW_RIGHT).perform()
    wait(lambda: value_of(page, "Factor") == "1.06")
    wait(lambda: tiles(page)["Difference"] != before)
    write(page, "Factor", "1.5")
    slider = page.find_element(By.CSS_SELECTOR, ".factor [role=slider]")
    wait(lambda: slider.get_attribute("aria-valuenow") == "150")
    assert value_of(page, "Factor") == "1.5"


def test_a_mistake_is_shown_beside_its_control_and_the_figures_wait(page: Chrome) -> None:
    choose(page, "Which", "kling-o3")
    wait(lambda: "Difference" in tiles(page))
    before = tiles(page)
    for typed, words in (
        ("1", "Changes nothing"),
        ("1.00000000000000000000000000001", "30 decimal places"),
        ("-5", "neither a factor nor"),
    ):
        write(page, "Factor", typed)
        wait(lambda words=words: words.lower() in text_of(page, ".change .wrong").lower())  # type: ignore[misc]
    assert "old" in (page.find_element(By.CSS_SELECTOR, ".answers").get_attribute("class") or "")
    assert tiles(page) == before
    write(page, "Factor", "1.05")
    wait(lambda: not text_of(page, ".change .wrong"))
    assert tiles(page) == before
    write(page, "Prices of", "2026-11-99")
    wait(lambda: "is not a date" in text_of(page, ".day"))


def test_another_day_and_a_change_less(page: Chrome) -> None:
    now = text_of(page, "h1")
    write(page, "Prices of", "2026-08-10")
    wait(lambda: "2026-08-10" in text_of(page, "h1"))
    write(page, "Prices of", DAY)
    wait(lambda: text_of(page, "h1") == now)
    choose(page, "Which", "kling-o3")
    wait(lambda: "rises" in text_of(page, "h1"))
    page.find_element(By.CSS_SELECTOR, "button[aria-label=Remove]").click()
    wait(lambda: text_of(page, "h1") == now)
    assert not page.find_elements(By.CSS_SELECTOR, ".change")
    assert not page.find_element(By.CSS_SELECTOR, "button.save").is_enabled()


def test_the_day_moves_and_a_reload_comes_without_losing_what_was_chosen(page: Chrome) -> None:
    choose(page, "Which", "kling-o3")
    write(page, "Factor", "1,10")
    wait(lambda: "Read as times 1.1, which is +10 %" in text_of(page, ".read"))
    choose(page, "Only rates for", "audio true")
    press(page, "Add a rate or factor")
    choose(page, "Model", CLAUDE)
    choose_rate(page, "output")
    write(page, "New rate", "33.5")
    wait(lambda: CLAUDE in text_of(page, ".models") and "kling" in text_of(page, ".models"))
    before = tiles(page)
    # On this day neither has a price: the chosen names stay, with a message.
    write(page, "Prices of", "2026-01-01")
    wait(lambda: len(page.find_elements(By.CSS_SELECTOR, ".change .wrong:not(:empty)")) == 2)
    assert "price on 2026-01-01" in text_of(page, ".change .wrong")
    write(page, "Prices of", DAY)
    wait(lambda: not text_of(page, ".change .wrong") and tiles(page) == before)
    page.refresh()
    wait(lambda: tiles(page) == before)
    assert value_of(page, "Factor") == "1,10"
    assert value_of(page, "New rate") == "33.5"
    assert "audio true" in text_of(page, ".change")


def test_a_saved_candidate_is_opened_and_what_has_no_control_is_kept(page: Chrome, folder: Path) -> None:
    path = folder / "candidates" / "mine.yaml"
    path.parent.mkdir(exist_ok=True)
    lines = f"""candidate: mine
effective: 2026-12-01
until: 2027-02-01
proposed_by: me
why: to see
changes:
  - scale: {{family: kling-o3}}
    percent: 10%
  # Of one charge, for which there is no control.
  - scale: {{model: {CLAUDE}}}
    charge: tokens
    factor: 1.07
"""
    path.write_text(lines, encoding="utf-8")
    press(page, "Open a candidate")
    press(page, "candidates/mine.yaml")
    wait(lambda: value_of(page, "Factor") == "10%" and "Difference" in tiles(page))
    assert "charge: tokens" in text_of(page, ".kept")
    assert value_of(page, "Prices of") == "2026-12-01"
    with simulate(str(folder / "usage.csv"), "2026-12-01", [str(path)]) as simulation:
        assert f"{simulation.total.difference():+.2f}" == tiles(page)["Difference"][0].replace("$", "")
    press(page, "Save as a candidate")
    assert value_of(page, "Name") == "mine"
    press(page, "Save")
    press(page, "Replace it")
    wait(lambda: "Saved candidates/mine.yaml" in text_of(page, ".done"))
    assert path.read_text(encoding="utf-8") == lines.replace("  # Of one charge, for which there is no control.\n", "")


def test_report_and_workbook_are_had_from_the_page(page: Chrome, tmp_path: Path) -> None:
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    assert not button(page, "Report").is_enabled()
    choose(page, "Which", "kling-o3")
    wait(lambda: "Difference" in tiles(page) and button(page, "Report").is_enabled())
    sentence = text_of(page, "h1")
    for name in ("Report", "Workbook"):
        press(page, name)
    html, xlsx = tmp_path / "report.html", tmp_path / "report.xlsx"
    wait(lambda: html.exists() and xlsx.exists())
    wait(lambda: sentence in html.read_text(encoding="utf-8"))
    wait(lambda: xlsx.read_bytes().startswith(b"PK"))


def button(page: Chrome, words: str) -> WebElement:
    return next(each for each in page.find_elements(By.TAG_NAME, "button") if each.text.endswith(words))


def test_before_the_first_change_the_page_shows_where_the_money_is(page: Chrome) -> None:
    wait(lambda: page.find_elements(By.CSS_SELECTOR, ".by-model .bars path"))
    assert "Revenue by family" in text_of(page, ".by-model")
    assert CLAUDE in text_of(page, ".largest")
    assert "alpha" in text_of(page, ".payers")
    choose(page, "Which", "kling-o3")
    wait(lambda: "Change by model" in text_of(page, ".by-model"))
    assert not page.find_element(By.CSS_SELECTOR, ".largest").is_displayed()


@pytest.mark.parametrize("width", [WIDE, DESKTOP, PHONE])
def test_it_fits_the_window_and_asks_no_other_host(width: int, running: Served) -> None:
    with browser(width, dark=width == PHONE) as page:
        page.get(running.url)
        wait(lambda: text_of(page, "h1"))
        choose(page, "Which", "kling-o3")
        wait(lambda: "Difference" in tiles(page) and page.find_elements(By.CSS_SELECTOR, ".by-model .bars path"))
        page.find_element(By.CSS_SELECTOR, ".q-expansion-item .q-item").click()
        wait(lambda: page.find_element(By.CSS_SELECTOR, ".unpriced td").is_displayed())
        wide, seen = (
            page.execute_script(f"return document.documentElement.{name}") for name in ("scrollWidth", "clientWidth")
        )
        assert wide == seen
        tables = page.find_elements(By.CSS_SELECTOR, "section table, .unpriced table")
        assert len(tables) >= 3
        cut = "return arguments[0].parentNode.scrollWidth > arguments[0].parentNode.clientWidth"
        assert not [each.text for each in tables if each.is_displayed() and page.execute_script(cut, each)]
        assert hosts(page) == {urlsplit(running.url).netloc}
        assert complaints_of(page) == []


def test_a_reason_of_long_words_breaks_on_a_phone(tmp_path: Path) -> None:
    usage = write_usage(tmp_path / "usage.csv")
    line = usage.read_text(encoding="utf-8").splitlines()[1].replace(KLING, "no_such_model_" * 8)
    with usage.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with served(tmp_path, "--at", DAY) as running, browser(PHONE) as page:
        page.get(running.url)
        wait(lambda: text_of(page, "h1"))
        page.find_element(By.CSS_SELECTOR, ".q-expansion-item .q-item").click()
        # The rows slide into sight one by one.
        wait(lambda: "no_such_model" in text_of(page, ".unpriced").replace("\n", ""))
        assert page.execute_script("return document.documentElement.scrollWidth") == PHONE


def test_requests_to_another_host_name_are_refused(running: Served) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(running.url, headers={"Host": "elsewhere.example"}))  # noqa: S310
    with refused.value as answer:
        assert answer.status == 400


def test_what_takes_a_while_says_so_until_it_is_done(tmp_path: Path) -> None:
    go = tmp_path / "go"
    words = (str(Path(__file__).with_name("held_pricer.py")), str(write_usage(tmp_path / "usage.csv")), str(go))
    with started(tmp_path, *words) as running, browser(DESKTOP) as page:
        page.get(running.url)
        wait(lambda: "brings" in text_of(page, "h1"))
        busy = page.find_element(By.CSS_SELECTOR, ".busy")
        assert not busy.is_displayed()
        choose(page, "Which", "kling-o3")
        wait(busy.is_displayed)
        assert text_of(page, ".busy") == "Pricing all usage again ..."
        assert "brings" in text_of(page, "h1")
        go.touch()
        wait(lambda: "rises" in text_of(page, "h1") and not busy.is_displayed())


def test_ctrl_c_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    write_usage(tmp_path / "usage.csv")
    with served(tmp_path) as running, browser(DESKTOP) as page:
        page.get(running.url)
        wait(lambda: text_of(page, "h1"))
        assert running.interrupt() == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["usage.csv"]


def test_what_is_typed_after_the_browser_was_busy_counts(page: Chrome) -> None:
    socket = page.execute_script("return window.socket.id")
    page.execute_script("const end = performance.now() + 10000; while (performance.now() < end);")
    write(page, "Prices of", "2026-08-10")
    wait(lambda: "2026-08-10" in text_of(page, "h1"))
    assert page.execute_script("return window.socket.id") == socket
