"""All of a type but one family, rounded, as a candidate, and its report with an elasticity: by the page as a user."""

from decimal import Decimal
from pathlib import Path

from click.testing import CliRunner
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from served import choose, field, press, served, text_of, tiles, value_of, wait, write
from small_usage import DAY, KLING, OVI, write_usage

from browsers import PHONE, WIDE, browser, complaints_of
from ratecard.cli import main
from ratecard.simulation.report.report import Report
from ratecard.simulation.simulate import simulate


def pick(page: Chrome, label: str, words: str) -> None:
    """Choose from a list that is not searched."""
    field(page, label).click()
    options = (By.CSS_SELECTOR, ".q-menu .q-item")
    wait(lambda: [each for each in page.find_elements(*options) if each.text == words])[0].click()


def test_all_but_one_family_is_raised_rounded_and_reported(tmp_path: Path) -> None:
    usage = write_usage(tmp_path / "usage.csv")
    downloads = tmp_path / "downloads"
    with served(tmp_path, "--at", DAY) as running, browser(WIDE, 1000) as page:
        page.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads), "eventsEnabled": True}
        )
        page.get(running.url)
        wait(lambda: text_of(page, "h1"))
        press(page, "Types")
        choose(page, "Which", "video")
        write(page, "Factor", "10%")
        # 0.154 x 1.1 is 0.1694 and ovi's clip 0.242; each is rounded to the next cent.
        pick(page, "Rounding", "Rounded up")
        write(page, "Multiple of", "0.01")
        wait(lambda: "Difference" in tiles(page))
        everything = tiles(page)["Difference"]
        choose(page, "All but", "family ovi")
        wait(lambda: tiles(page)["Difference"] != everything)
        assert KLING in text_of(page, ".models")
        wait(lambda: OVI not in text_of(page, ".models"))
        seen = tiles(page)["Difference"][0]
        # Volume reacts to prices: the expected revenue is shown, with the revenue at unchanged usage beside it.
        press(page, "Add an elasticity")
        write(page, "Elasticity", "many")
        wait(lambda: "elasticity 'all=many' cannot be read" in text_of(page, ".answers-to-prices"))
        write(page, "Elasticity", "-2")
        wait(lambda: "Expected difference" in tiles(page))
        expected = tiles(page)["Expected difference"][0]
        assert expected.startswith("-")
        assert text_of(page, "h1").startswith("Expected revenue falls by ")
        assert f"At unchanged usage, revenue rises by {seen.removeprefix('+')}" in text_of(page, ".notes")
        choose(page, "Usage of", "family ovi")  # no price of this family changes
        wait(lambda: tiles(page)["Expected difference"][0] == seen)
        page.find_elements(By.CSS_SELECTOR, ".answers-to-prices button[aria-label=Remove]")[0].click()
        wait(lambda: tiles(page).get("Difference", [""])[0] == seen)

        press(page, "Save as a candidate")
        for label, words in (("Name", "all but ovi"), ("Proposed by", "Pricing"), ("Why", "costs rose")):
            write(page, label, words)
        wait(lambda: "costs rose" in text_of(page, ".dialog pre"))
        press(page, "Save")
        wait(lambda: "Saved candidates/all-but-ovi.yaml" in text_of(page, ".done"))
        press(page, "Close")
        candidate = tmp_path / "candidates" / "all-but-ovi.yaml"
        lines = "  - scale: {type: video, except: {family: ovi}}\n    percent: 10%\n    round: {to: 0.01, mode: up}\n"
        assert lines in candidate.read_text(encoding="utf-8")

        # In a new tab it is opened as it was saved, on a phone too.
        page.execute_script("window.open(arguments[0])", running.url)
        page.switch_to.window(page.window_handles[-1])
        metrics = {"width": PHONE, "height": 900, "deviceScaleFactor": 1, "mobile": True}
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        wait(lambda: text_of(page, "h1"))
        press(page, "Open a candidate")
        press(page, "candidates/all-but-ovi.yaml")
        wait(lambda: tiles(page).get("Difference", [""])[0] == seen)
        assert value_of(page, "Multiple of") == "0.01"
        wait(lambda: text_of(page, "h1").endswith("under all but ovi."))
        wait(lambda: "With all but ovi" in tiles(page))
        press(page, "Add an elasticity")
        write(page, "Elasticity", "-2")
        wait(lambda: tiles(page).get("Expected difference", [""])[0] == expected)
        # The elasticity is not a change of the candidate.
        wait(lambda: text_of(page, "h1").endswith("under all but ovi, once volume answers prices by all -2."))
        assert page.execute_script("return document.documentElement.scrollWidth") == PHONE
        press(page, "Report")
        wait(lambda: (downloads / "report.html").exists())
        report = (downloads / "report.html").read_text(encoding="utf-8")
        assert "all but ovi" in report
        assert "your changes" not in report
        assert f"Expected revenue falls by {expected.removeprefix('-')}" in report
        assert complaints_of(page) == []

        with simulate(str(usage), DAY, [str(candidate)]) as simulation:
            found = Report(simulation)
            change = found.rounded(1) - found.rounded(0)
            # Ten requests of 5 s at 0.17 instead of 0.154, ten of 8 s at 0.14 instead of 0.1232, each to the cent.
            assert change == 10 * (Decimal("0.85") - Decimal("0.77") + Decimal("1.12") - Decimal("0.99"))
        assert seen == f"+${change}"

        # The command gives the same result.
        out = tmp_path / "elastic.html"
        command = ["simulate", str(usage), "--current", DAY, "--candidate", str(candidate), "--elasticity", "video=-2"]
        sent = CliRunner().invoke(main, [*command, "--out", str(out)])
        assert sent.exit_code == 0, sent.output
        for width in (WIDE, PHONE):
            page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics | {"width": width, "mobile": False})
            page.get(out.as_uri())
            assert f"Expected revenue falls by {expected.removeprefix('-')}" in text_of(page, "main")
            sizes = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            wide, shown = page.execute_script(sizes)
            assert wide == shown
