"""Start the command on a small usage in a process of its own, and use its page."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.request import urlopen

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

# Long enough for a busy machine; a test that passes never waits so long.
_PATIENCE = 180
Seen = TypeVar("Seen")


class Served:
    """A running page: its address, and its process."""

    def __init__(self, url: str, process: subprocess.Popen[str]) -> None:
        self.url, self.process = url, process

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C: the exit status, and all that it said."""
        self.process.send_signal(signal.SIGINT)
        words, _ = self.process.communicate(timeout=_PATIENCE)
        return self.process.returncode, words


@contextmanager
def served(folder: Path, *options: str, usage: str = "usage.csv") -> Iterator[Served]:
    """`ratecard whatif usage.csv`, started in a folder."""
    with started(folder, "-m", "ratecard", "whatif", usage, "--no-open", *options) as running:
        yield running


@contextmanager
def started(folder: Path, *words: str) -> Iterator[Served]:
    """A page that Python serves, started in a folder."""
    # NiceGUI behaves differently if it believes that it is under test.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "NICEGUI"))}
    environment["TMPDIR"] = str(folder)
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            said: list[str] = []
            # The first line names the tables.
            while not (line := process.stdout.readline()).startswith("http://127.0.0.1:"):
                said.append(line)
                assert line, "".join(said)
            url = line.split()[0]
            wait(lambda: _answers(url))
            yield Served(url, process)
        finally:
            process.kill()


def wait(seen: Callable[[], Seen]) -> Seen:
    """Return the result of `seen` once it has one."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with suppress(WebDriverException):  # the page is being drawn again
            if found := seen():
                return found
        time.sleep(0.1)
    raise AssertionError("this does not come")


def _answers(url: str) -> bool:
    try:
        with urlopen(url) as response:  # noqa: S310 (it is our own)
            return bool(response.status == 200)
    except OSError:
        return False


def field(page: Chrome, label: str, number: int = 0) -> WebElement:
    """A text field by its label."""
    return wait(lambda: page.find_elements(By.CSS_SELECTOR, f"input[aria-label^='{label}']")[number:])[0]


def value_of(page: Chrome, label: str, number: int = 0) -> str:
    """Return the value of a field."""
    return wait(lambda: [str(field(page, label, number).get_property("value"))])[0]


def write(page: Chrome, label: str, words: str, number: int = 0) -> None:
    """Type into a field what it then holds."""

    def typed() -> bool:
        found = field(page, label, number)
        found.send_keys(Keys.CONTROL, "a")
        found.send_keys(words)
        return value_of(page, label, number) == words

    wait(typed)  # a second time, if the page was being drawn again


def choose(page: Chrome, label: str, word: str, number: int = 0) -> None:
    """Choose what begins with a word."""

    def opened() -> WebElement:
        field(page, label, number).click()
        return field(page, label, number)

    found = wait(opened)  # a second time, if the page was being drawn again
    found.send_keys(word)
    searched = value_of(page, label, number) == word

    def offered() -> list[WebElement]:
        options = page.find_elements(By.CSS_SELECTOR, ".q-menu .q-item")
        # A searched list becomes shorter a moment after the last key; before that, an option would move away under the
        # click.
        waiting = searched and not all(word in option.text for option in options)
        return [] if waiting else [option for option in options if option.text.startswith(word)]

    def chosen() -> bool:
        chips = [chip.text for chip in page.find_elements(By.CSS_SELECTOR, ".q-chip")]
        return any(each.startswith(word) for each in (value_of(page, label, number), *chips))

    wait(offered)[0].click()
    wait(chosen)
    page.switch_to.active_element.send_keys(Keys.ESCAPE)


def press(page: Chrome, words: str) -> None:
    """Press the button that says this."""
    buttons = wait(lambda: [each for each in page.find_elements(By.TAG_NAME, "button") if each.text.endswith(words)])
    buttons[-1].click()


def text_of(page: Chrome, selector: str) -> str:
    """The text of the first match."""
    return wait(lambda: [page.find_element(By.CSS_SELECTOR, selector).text])[0]


def tiles(page: Chrome) -> dict[str, list[str]]:
    """The large figures: label, and the lines below it."""
    (lines,) = wait(lambda: [[each.text.split("\n") for each in page.find_elements(By.CSS_SELECTOR, ".tiles li")]])
    return {label: rest for label, *rest in lines}
