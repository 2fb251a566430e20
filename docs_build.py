"""Extends the generator of the documentation site, as zensical.toml names it.

* Doctests in docstrings become code: Markdown reads `>>>` as three nested quotations.
* Pages that the repository keeps in its root are part of the site: their links to `docs/` become links within it.
"""

import re
from typing import Any

import griffe
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

# A doctest begins at a prompt and ends at an empty line.
_DOCTEST = re.compile(r"^>>> .*?(?=\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)


class FencedDoctests(griffe.Extension):
    """Fences every doctest of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each object once its members are read."""
        if obj.docstring is not None:
            obj.docstring.value = _DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)


class _Links(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return [line.replace("](docs/", "](") for line in lines]


class LinksFromTheRoot(Extension):
    """Leads links to `docs/` to the pages of the site."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Markdown's
        """Register the step after snippets (32), which include a page."""
        md.preprocessors.register(_Links(md), "links_from_the_root", 31)


def makeExtension(**settings: Any) -> LinksFromTheRoot:  # noqa: N802 - the name is Markdown's
    """Called by Markdown for the extension that has the name of this module."""
    return LinksFromTheRoot(**settings)
