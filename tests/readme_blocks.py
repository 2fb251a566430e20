"""The examples of the pages: what they say, and what they really print.

    python tests/readme_blocks.py       writes the real output into the pages

A `python` block is run, and prints the `text` block after it. A `console` block holds commands (`$ ratecard ...`), each
with what it prints, errors included. A `yaml` block is an excerpt of the file in `pricing_tables` that its first line
names; of a file anywhere else it is the content, which the commands below it find. The `text` block of the page on
changing a price is what mistakes in its example are answered with.

Each page is run in an empty folder with a copy of the tables, so that what one example writes is left to the next one.
"""

import atexit
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import chdir
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import NamedTuple
from unittest.mock import patch

from click.testing import CliRunner

from ratecard.cli import main as main_command

# The pages are run at this instant, so that examples of future days do not depend on the clock.
NOW = datetime(2026, 11, 24, tzinfo=UTC)
ROOT = Path(__file__).parent.parent
CHANGE, FORMAT, CANDIDATES = "docs/change-a-price.md", "docs/table-format.md", "docs/candidates.md"
# Pages whose examples need more than a folder of their own, and the test that runs them instead.
ELSEWHERE = {
    "docs/server.md": "tests/server/test_clients.py, which asks a server",
    "docs/clients.md": "tests/server/test_clients.py, which asks a server",
    "docs/embed.md": "tests/ledger/test_embed_page.py, which asks the applications of the page",
    "docs/probe.md": ".ci/test_extras.py, with a video of its own in place of one from the network",
    "docs/warehouses.md": ".ci/test_extras.py, in a session of Spark",
}
# `... | ratecard ... | ...`: what feeds it, its arguments, and `|` or `;` with what follows.
_RATECARD = re.compile(r"(?:([^|]*) \| )?ratecard((?: [^\s|<>;&`$*]+| '[^']*')*)(?: ?([|;]) (.*))?")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ((?!pricing_tables/)\S+\.yaml)\n")
# These change with every edit of a table, but the meaning of a page does not depend on them.
_PASSING = re.compile(r"(?<=\.yaml:)\d+|\b[0-9a-f]{16}\b")
_PROGRESS = re.compile(r"^ *\d+ %  .*\n", re.MULTILINE)


class Block(NamedTuple):
    """A block of a page: its language, its text, and where the text begins and ends."""

    page: str
    line: int
    language: str
    text: str
    span: tuple[int, int]


def blocks(page: str) -> list[Block]:
    """Every block of a page that names its language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = _BLOCK.finditer(text)
    return [Block(page, text.count("\n", 0, m.start()) + 1, m[1], m[2], m.span(2)) for m in found]


def _has_examples(page: str) -> bool:
    return page == CHANGE or any(block.language in ("python", "console") for block in blocks(page))


DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
# Every page whose examples are run here.
PAGES = tuple(page for page in ("README.md", *DOCS) if page not in ELSEWHERE and _has_examples(page))


# A started process reads (code, folder) from lines of JSON, and answers each with the output of the code. It runs the
# code in a fork, which has the imports and the shipped tables already, because these take most of a start, and which
# does not clean up the million objects of these modules at its end.
_STARTED = """
import gc, json, os, sys
import fastapi.testclient, ratecard.history, ratecard.server.charges, shipped
from ratecard import *
shipped.remember_tables()
load_rate_card()
gc.freeze()
for line in sys.stdin:
    code, folder = json.loads(line)
    printed, written = os.pipe()
    if not os.fork():
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0), os.dup2(written, 1), os.dup2(written, 2), os.close(printed)
        os.chdir(folder)
        try:
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        except BaseException as error:
            sys.excepthook(type(error), error.with_traceback(error.__traceback__.tb_next), None)
        sys.stdout.flush()
        os._exit(0)
    os.close(written)
    with open(printed, encoding="utf-8") as file:
        answer = file.read()
    os.wait()
    print(json.dumps(answer), flush=True)
os._exit(0)
"""


@cache
def _started() -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", _STARTED],
        cwd=Path(__file__).parent,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def python(code: str, folder: Path) -> str:
    """Return the output of code in a new process, errors included."""
    process = _started()
    assert process.stdin and process.stdout
    print(json.dumps([code, str(folder)]), file=process.stdin, flush=True)
    return str(json.loads(process.stdout.readline()))


def outputs(page: str) -> Iterator[tuple[Block, str, str]]:
    """(block, what the page shows, what is really printed) for every block that shows an output."""
    with TemporaryDirectory() as own:
        folder = Path(own)
        shutil.copytree(ROOT / "pricing_tables", folder / "pricing_tables")
        yield from _outputs(page, folder)


def _outputs(page: str, folder: Path) -> Iterator[tuple[Block, str, str]]:
    known = blocks(page)
    for block, after in zip(known, [*known[1:], None], strict=True):
        if page == CHANGE and block.language == "text":
            from price_change import refusals

            yield block, block.text, refusals()
        if block.language == "yaml" and (named := _FILE.match(block.text)):
            (folder / named[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / named[1]).write_text(block.text, encoding="utf-8")
        if block.language == "python" and after is not None and after.language == "text":
            yield after, after.text, _named(python(block.text, folder), folder)
        if block.language == "console":
            commands = [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
            printed = (f"$ {command}\n{_command(command, folder)}" for command in commands)
            yield block, block.text, "".join(printed)


def excerpts(page: str) -> Iterator[tuple[Block, str, str]]:
    """(block, file, excerpt) for every `yaml` block that names a file in its first line."""
    for block in blocks(page):
        if block.language == "yaml" and block.text.startswith("# pricing_tables/"):
            name, _, lines = block.text[2:].partition("\n")
            yield block, name, dedent(lines)


def passing(output: str) -> str:
    """An output without line numbers of tables and digests, or how far a slow machine was every ten seconds."""
    return _PASSING.sub("*", _PROGRESS.sub("", output))


def _command(command: str, folder: Path) -> str:
    """Return the output of a command. `ratecard` runs in this process: starting one takes longer.

    A shell runs what stands before its pipe, and what stands after it.
    """
    found = _RATECARD.fullmatch(command)
    if found is None:
        return _named(_run(command, folder).decode(), folder)
    before, arguments, sign, after = found.groups()
    given = _run(before, folder) if before else None
    with chdir(folder), patch("ratecard.cli.options.now", lambda: NOW):
        # A process without a terminal writes help of 78 columns, the runner one of 80.
        done = CliRunner().invoke(
            main_command, shlex.split(arguments), input=given, prog_name="ratecard", terminal_width=78
        )
    output = done.output
    if sign == "|":
        output = done.stderr + _run(after, folder, done.stdout_bytes).decode()
    elif sign == ";":
        output += _run(f"(exit {done.exit_code}); {after}", folder).decode()
    return _named(output, folder)


def _named(output: str, folder: Path) -> str:
    """An output with other names for the folders of this machine."""
    return output.replace(str(ROOT), "/path/to/ratecard").replace(str(folder), "/path/to")


def _run(command: str, folder: Path, given: bytes = b"") -> bytes:
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=_environment(),
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    ).stdout


def _environment() -> dict[str, str]:
    scripts = sysconfig.get_path("scripts")
    return os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"}


def main() -> None:
    """Write what is really printed into the pages that are named, or into all."""
    for page in sys.argv[1:] or PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for block, shown, printed in reversed(list(outputs(page))):
            if shown != printed:
                text = text[: block.span[0]] + printed + text[block.span[1] :]
        (ROOT / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
