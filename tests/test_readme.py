"""The pages tell the truth: every example is run, every excerpt is in its file, every link leads somewhere."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from readme_blocks import DOCS, ELSEWHERE, PAGES, ROOT, blocks, excerpts, outputs, passing

LINK = re.compile(r"\]\(([^)#]+)(?:#([^)]*))?\)")


@pytest.mark.parametrize("page", PAGES)
def test_every_example_prints_what_the_page_shows(page: str) -> None:
    found = list(outputs(page))
    assert found
    for block, shown, printed in found:
        assert passing(shown) == passing(printed), f"{page}:{block.line} is not what is printed; run make readme"


@pytest.mark.parametrize("page", PAGES)
def test_every_code_of_a_page_shows_what_it_prints(page: str) -> None:
    known = blocks(page)
    silent = [block.line for block, after in zip(known, [*known[1:], None], strict=True)
              if block.language == "python" and (after is None or after.language != "text")]  # fmt: skip
    assert not silent, f"{page}: nothing is shown of the code at lines {silent}"


def test_every_page_that_is_run_elsewhere_is_named_there() -> None:
    for page, runner in ELSEWHERE.items():
        path = ROOT / runner.partition(",")[0]
        assert page in path.read_text(encoding="utf-8"), f"{runner} does not run {page}"


@pytest.mark.parametrize("page", ("README.md", *DOCS))
def test_every_excerpt_is_in_its_table(page: str) -> None:
    for block, name, excerpt in excerpts(page):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        size = len(excerpt.splitlines())
        windows = (dedent("\n".join(lines[i : i + size]) + "\n") for i in range(len(lines)))
        assert excerpt in windows, f"{page}:{block.line} is not in {name}"


ELSE = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "pricing_tables/README.md", "benchmarks/README.md")


@pytest.mark.parametrize("page", (*ELSE, *DOCS))
def test_every_link_leads_to_a_file_and_a_heading(page: str) -> None:
    folder = (ROOT / page).parent
    for target, heading in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        path = folder / target
        assert path.exists(), f"{page} links to {target}"
        if heading:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-") for words in headings]
            assert heading in slugs, f"{page} links to {target}#{heading}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, new = set[Path](), {ROOT / "README.md"}
    while new:
        reached |= new
        pages = [(page.parent, target) for page in new for target, _ in LINK.findall(page.read_text(encoding="utf-8"))]
        found = {(folder / target).resolve() for folder, target in pages if target.endswith(".md")}
        new = {page for page in found if page.exists()} - reached
    missing = [page for page in DOCS if (ROOT / page).resolve() not in reached]
    assert not missing


def test_the_readme_is_short_and_ends_with_the_licence() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert len(text.splitlines()) <= 150
    assert headings[:5] == [
        "Price a request in an API", "Bill it", "Change a price", "Ask what if", "Test your tables",
    ]  # fmt: skip
    assert headings[-1] == "Licence"


def test_the_first_screen_shows_a_quote_its_lines_and_its_table() -> None:
    first = [block for block in blocks("README.md") if block.line < 50]
    assert {"python", "text", "yaml"} <= {block.language for block in first}
    assert any("video/grok-imagine.yaml:" in block.text for block in first if block.language == "text")
