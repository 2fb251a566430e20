"""HTML pages from templates, with one style sheet and one palette.

A page is one file that loads nothing: its style, and its script if it has one, are written into it.
`palette.css` has the colours of every page (blue is a rise, orange a fall), `style.css` the style of the pages that are
files, and `whatif.css` that of the what-if page, which NiceGUI builds.
"""

from collections.abc import Iterator
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

_TEMPLATES = Environment(
    loader=PackageLoader("ratecard", "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
# `tojson` escapes text that would end a script. These settings keep the keys of a chart in their order.
_TEMPLATES.policies["json.dumps_kwargs"] = {"ensure_ascii": False}


def page_parts(template: str, **values: Any) -> Iterator[str]:
    """Fill in a template, part by part. Text is escaped; a value that is missing raises `jinja2.UndefinedError`.

    Parameters: the file name of the template, and its values by name.
    """
    return _TEMPLATES.get_template(template).generate(**values)


def page_text(template: str, **values: Any) -> str:
    """Fill in a template, as `page_parts` does, in one piece."""
    return "".join(page_parts(template, **values))
