"""A real browser for tests: Chromium without a window, which tells what it asked of the network and what went wrong."""

import atexit
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

PHONE, DESKTOP, WIDE = 390, 1280, 1400
_ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--lang=en-US")


@contextmanager
def browser(width: int, height: int = 900, *, dark: bool = False) -> Iterator[webdriver.Chrome]:
    """A new tab of this width, in the one browser of a run. Skips the test where there is no browser."""
    opened = _started()
    before, current = opened.window_handles, opened.current_window_handle
    opened.switch_to.new_window("tab")
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    for kind in ("performance", "browser"):
        opened.get_log(kind)  # type: ignore[no-untyped-call]
    try:
        yield opened
    finally:
        opened.delete_all_cookies()
        for each in {*opened.window_handles} - {*before}:
            opened.switch_to.window(each)
            opened.close()
        opened.switch_to.window(current)


@cache
def _started() -> webdriver.Chrome:
    """Start Chromium once in a run, because that takes a second."""
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no browser: Chromium and chromedriver must be on the PATH")
    options = Options()
    options.binary_location = chromium
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    atexit.register(opened.quit)
    return opened


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
