"""A real browser for tests: Chromium without a window, which tells what it asked of the network and what went wrong."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

PHONE, DESKTOP, WIDE = 390, 1280, 1400
_ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--lang=en-US")


@contextmanager
def browser(width: int, height: int = 900, *, dark: bool = False) -> Iterator[webdriver.Chrome]:
    """A browser with a window of this width; the test is skipped where there is none."""
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no browser: Chromium and chromedriver must be on the PATH")
    options = Options()
    options.binary_location = chromium
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    try:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        yield opened
    finally:
        opened.quit()


def asked_of(opened: webdriver.Chrome) -> set[str]:
    """Every address that the page asked for since it was last looked."""
    entries = opened.get_log("performance")  # type: ignore[no-untyped-call]
    events = (json.loads(entry["message"])["message"] for entry in entries)
    urls = (event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent")
    return {url for url in urls if not url.startswith("data:")}


def complaints_of(opened: webdriver.Chrome) -> list[str]:
    """Return the errors and warnings that the page wrote to the console."""
    entries = opened.get_log("browser")  # type: ignore[no-untyped-call]
    return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]
