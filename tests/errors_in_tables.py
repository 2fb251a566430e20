"""docs/errors-in-tables.md: every mistake that a table can hold, its message and its fix, from the broken tables.

    python tests/errors_in_tables.py       writes the page

The page is what the loader says today of the files in tests/tables/bad and tests/metered/bad, of the edits of
limits.yaml in tests/bad_limits.py, and of the contracts and terms in tests/bad_contracts.py.
"""

import re
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from bad_contracts import bad_contracts, bad_terms
from bad_limits import BAD_LIMITS
from bad_tables import BadTable, bad_metered_tables, bad_tables
from ratecard.base.errors import Fault

PAGE = Path(__file__).parent.parent / "docs" / "errors-in-tables.md"
LONGEST = 160
HEAD = """\
# Errors in tables

Every mistake that `ratecard check` tells of a table: the line as it stands in the test of that mistake, what is said of
it, and what to do. A message begins with the file and the line, like `video/kling-o3.yaml:95:`. Nothing is guessed, and
nothing is loaded from a folder with a fault. All faults of a folder are told at once.

This page is written by `make catalogue` from the broken tables of the tests.
"""
# The fix for each message, by words in it; some messages already end in their fix.
FIXES = {
    r"^unknown key 'model' in request": "Leave it out: the example is of the model that it stands under.",
    r"^unknown key .* Did you mean '([^']+)'\?": r"Write `\1` or another of those named, or leave it out.",
    r"Did you mean '([^']+)'\?": r"Write `\1`, or another of those named.",
    r"^unknown key '([^']+)'": r"Leave `\1` out, or write one of the keys named.",
    r"^default .* Allowed: none$": "Leave it out.",
    r"above what the API takes. Allowed: (\d+)$": r"Write at most \1.",
    r"Allowed: (at most .+|\d+ to \d+)$": r"Write \1.",
    r"(?:Allowed[^:]*|It accepts): ([^,;]+)$": r"Write `\1`.",
    r"(?:Allowed[^:]*|It accepts): \S": "Write one of the values named.",
    r"It offers no choice of this field$": "Leave the attribute out of the rate, or let the version accept it.",
    r"Known: $": "Name a surcharge of these tables, or add its table.",
    r"(\w+) is missing in (\w+)": r"Write `\1:` there.",
    r"^(\w+) is missing$": r"Write `\1:` there.",
    r"does not belong in the tables$": "Remove it until its price is known.",
    r"must be before .* newest first$": "Put the newest version first; no two begin on the same day.",
    r"^retired on": "Write a later day, or remove the model.",
    r"is in .* too$": "Keep the model in one place, and give another model another id.",
    r"lists '([^']+)' twice": r"Write `\1` once.",
    r"must be more than zero": "Write a number above zero.",
    r"is not true or false": "Write `true` or `false`.",
    r"must rise": "Write the smaller number first, within what is allowed.",
    r"must be one value": "Write one value, without brackets, dashes or keys.",
    r"must be a list|must hold keys|must be a line like": "Write it in the form that the message shows.",
    r"^no rate for": "Add the rate, or leave out what it would price.",
    r"^no size for": "Add the size, or do not accept it.",
    r"the pixels of every output$": "Write the pixels of every resolution and aspect ratio.",
    r"^write both": "Do as it says: one without the other has no meaning.",
    r"is not a whole number of pixels": "Write whole pixels.",
    r"means a clip of": "Accept every second of the clip's range, or narrow the range.",
    r"its usage is empty": "Write what a request of this model counts.",
    r"the example says": "Work the example out by hand again: correct its total, or the rate.",
    r"file is empty": "Write a family into it, or remove it.",
    r"levels of nesting": "Write it flat: a table needs no more than ten.",
    r"names nothing above it": "Name a value above it (`&name`), or write the value.",
    r"only a single value may be named": "Write the list at both places.",
    r"every value is plain text$": "Leave the tag out.",
    r"a key must be a plain word": "Write a plain word before the colon.",
    r"^not YAML: ": "Close the quotes or brackets; a text with a colon, a comma or a # needs quotes.",
    r"so leave out family and type$": "Leave out family and type, or the model.",
    r"at_least is above at_most$": "Lower the one, raise the other, or leave one of them out.",
    r"must be after from": "Write a later day in until, or leave it out.",
    r"must say what it measures": "Write a unit, or a currency.",
    r"covers nothing": "Name what the tables have in this unit or currency.",
    r"must have an up_to in every tier but the last": "Write up_to in every tier but the last.",
    r"whose up_to do not rise": "Write the tier with the smaller up_to first.",
    r"^not YAML text": "Remove the character: save the file as plain text in UTF-8.",
}
# The last words of a message that end in its fix.
_SAID = re.compile(r"[.;] ((?:Write|Add|Leave|Name|write|keep|give|leave|let) .*)$")


def page() -> str:
    """The whole page as it should be."""
    files = groupby((*bad_tables(), *bad_metered_tables()), attrgetter("heading"))
    parts = {head: list(map(row, found)) for head, found in files}
    parts["Limits"] = [_row(bad.name, bad.text, Fault("limits.yaml", bad.line, (), bad.said)) for bad in BAD_LIMITS]
    parts["Contracts"] = [_row("", text, fault) for text, fault in bad_contracts()]
    parts["Terms of a month"] = [_row("", text, fault) for text, fault in bad_terms()]
    contents = "".join(f"* [{head}](#{_slug(head)}): {len(found)} mistakes\n" for head, found in parts.items())
    return "\n".join((HEAD, contents, *(section(head, found) for head, found in parts.items())))


def section(heading: str, found: list[str]) -> str:
    """The mistakes in one part of a table, one a row."""
    rows = ["| Mistake | Message | Fix |", "|---|---|---|", *found]
    return f"## {heading}\n\n" + "".join(f"{each}\n" for each in rows)


def row(bad: BadTable) -> str:
    """One mistake: its name and the line, the message, the fix."""
    with TemporaryDirectory() as folder:
        [fault] = bad.faults(Path(folder))
    text = bad.path.read_text(encoding="utf-8", errors="backslashreplace")
    return _row(bad.path.stem.replace("_", " "), text, fault)


def _row(name: str, text: str, fault: Fault) -> str:
    lines = text.splitlines()
    line, name = lines[fault.line - 1].strip() if len(lines) >= fault.line else "", name[:1].upper() + name[1:]
    first, *more = fault.message.splitlines()
    message = f"{_code(first)} …" if more else _code(first)
    cells = (": ".join(part for part in (name, line and _code(line)) if part), message, fix_of(fault.message))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def fix_of(message: str) -> str:
    """Return the fix for a message. Raises `LookupError` if there is none."""
    said = _SAID.search(message)
    if said and "Did you mean" not in message:
        words = said[1].strip()
        return f"{words[0].upper()}{words[1:].rstrip('.')}."
    for pattern, fix in FIXES.items():
        found = re.search(pattern, message)
        if found:
            return found.expand(fix)
    raise LookupError(f"tests/errors_in_tables.py knows no fix for: {message}")


def _code(text: str) -> str:
    """A line as Markdown shows code, cut where a list of values goes on and on."""
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    cut = shown if len(shown) <= LONGEST else shown[:LONGEST].rsplit(", ", 1)[0] + ", …"
    return f"`` {cut} ``" if "`" in cut else f"`{cut}`"


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
