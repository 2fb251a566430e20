"""What a provider counts stands in one file: a new count, or a new bucket of one, is added to no other."""

import ast
from collections.abc import Iterator
from pathlib import Path

import ratecard
from ratecard.requests.counters import COUNTERS
from ratecard.requests.dialects import DIALECTS

SOURCE = Path(ratecard.__file__).parent
# The packages that read, check and price usages. Typed usages name counts as attributes, for editors.
FOLDERS = ("base", "tables", "methods", "line_items", "requests", "pricing")
DATA = {"requests/counters.py", "requests/dialects.py"}


def names_of_counts() -> set[str]:
    """Every name of a count of a provider, and of a bucket, that no other thing could have."""
    counters = (*COUNTERS, *(counter for dialect in DIALECTS.values() for counter in dialect.counters))
    names = {counter.bucket for counter in counters} | {path[-1] for counter in counters for path in counter.paths}
    return {name for name in names if "_" in name or "oken" in name} - {"tokens"}


def texts_of(tree: ast.Module) -> Iterator[str]:
    """Every text of a file but its docstrings."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_a_count_and_its_bucket_are_named_by_the_data_of_dialects_alone() -> None:
    names, found = names_of_counts(), set[tuple[str, str]]()
    assert {"cache_input", "cached_tokens", "promptTokenCount"} <= names
    paths = [path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py")]
    for path in (*paths, SOURCE / "price_book.py", SOURCE / "card.py"):
        if (name := path.relative_to(SOURCE).as_posix()) not in DATA:
            found |= {(name, text) for text in texts_of(ast.parse(path.read_text(encoding="utf-8"))) if text in names}
    # Fields of the API that are counts with the same names.
    fields = {("requests/service_parameters.py", "web_search_requests"), ("pricing/estimate.py", "prompt_tokens")}
    assert found == fields
