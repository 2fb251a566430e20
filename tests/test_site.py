"""The documentation site: strictly built, every page in its navigation, nothing from another host; and its notebook."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from shlex import split

import click
import nbformat
import pytest
from nbclient import NotebookClient

import ratecard
from copied_tables import copy_with_shared
from ratecard.cli import main
from readme_blocks import DOCS, ROOT, blocks

PARTS = ("zensical.toml", "docs_build.py", "ARCHITECTURE.md", "CHANGELOG.md")
CLI, API, NOTEBOOK = "docs/cli.md", "docs/api.md", "docs/finance.ipynb"


def copy_of_sources(folder: Path) -> Path:
    """Return a folder with the sources of the site; the package is only read, and linked."""
    for part in PARTS:
        shutil.copy(ROOT / part, folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    (folder / "src").symlink_to(ROOT / "src")
    return folder


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_of_sources(tmp_path_factory.mktemp("site"))
    done = build(folder)
    assert done.returncode == 0, f"make site says:\n{done.stdout}{done.stderr}"
    return folder / "site"


def pages(entry: object) -> Iterator[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        yield f"docs/{entry}"
    elif isinstance(entry, (list, dict)):
        for each in entry.values() if isinstance(entry, dict) else entry:
            yield from pages(each)


def test_every_page_is_in_the_navigation_once() -> None:
    navigation = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    assert sorted(pages(navigation)) == DOCS


def test_every_page_is_built(site: Path) -> None:
    for page in DOCS:
        name = Path(page).stem
        assert (site / ("index.html" if name == "index" else f"{name}/index.html")).is_file(), page
    assert (site / "finance.ipynb").is_file()


def test_no_page_asks_another_host_for_anything(site: Path) -> None:
    # Scripts, style sheets, fonts and pictures; a link that a reader follows is allowed.
    asked = re.compile(
        r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^\s"'>]+""", re.IGNORECASE
    )
    imported = re.compile(r"""(?:@import\s*|url\()["']?(?:https?:)?//[^\s"')]+""", re.IGNORECASE)
    found = [match for path in site.rglob("*.html") for match in asked.findall(path.read_text(encoding="utf-8"))]
    found += [match for path in site.rglob("*.css") for match in imported.findall(path.read_text(encoding="utf-8"))]
    # A script of Mermaid would fetch the code that draws these.
    found += [str(path) for path in site.rglob("*.html") if 'class="mermaid"' in path.read_text(encoding="utf-8")]
    assert not found


def targets(site: Path, page: Path) -> Iterator[tuple[str, Path, str]]:
    """(link, file, anchor) of every link of a built page to a page, a picture or a file of the site."""
    for link in re.findall(r"""<(?:a|img)\b[^>]*\b(?:href|src)=["']([^"']+)""", page.read_text(encoding="utf-8")):
        name, _, anchor = unescape(link).partition("#")
        if not re.match(r"[a-z]+:", name):
            path = (site / name[1:] if name.startswith("/") else page.parent / name).resolve() if name else page
            yield link, path / "index.html" if path.is_dir() else path, anchor


def test_every_link_of_the_built_pages_leads_somewhere(site: Path) -> None:
    # The strict build does not look at links in pages that another page includes, like ARCHITECTURE.md.
    built = list(site.rglob("index.html"))
    anchors = {page: set(re.findall(r"""\bid=["']([^"']+)""", page.read_text(encoding="utf-8"))) for page in built}
    found = [(page, *target) for page in built for target in targets(site, page)]
    assert len(found) > 500
    wrong = [
        f"{page.parent.name}: {link}"
        for page, link, path, anchor in found
        if not path.is_file() or (anchor and path in anchors and unescape(anchor) not in anchors[path])
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("page", "text", "said"),
    [
        (
            "docs/index.md",
            "[gone](gone.md), [gone](accounts.md#gone)",
            ("page does not exist", "anchor does not exist"),
        ),
        (API, "::: ratecard.gone", ("ratecard.gone",)),
    ],
)
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path, page: str, text: str, said: tuple[str, ...]) -> None:
    folder = copy_of_sources(tmp_path)
    # All other pages have only titles, and the package nothing: a whole site takes ten times as long to build.
    for name in DOCS:
        (folder / name).write_text(f"# {name}\n\n{text if name == page else ''}\n", encoding="utf-8")
    (folder / "src").unlink()
    (folder / "src" / "ratecard").mkdir(parents=True)
    (folder / "src" / "ratecard" / "__init__.py").touch()
    done = build(folder)
    assert done.returncode != 0
    printed = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)
    assert not [words for words in said if words not in printed]


def test_the_reference_has_every_public_name_once() -> None:
    named = re.findall(r"^::: ratecard\.(\w+)$", (ROOT / API).read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == ratecard.__all__


def test_the_reference_shows_signatures_and_examples(site: Path) -> None:
    html = (site / "api" / "index.html").read_text(encoding="utf-8")
    missing = [name for name in re.findall(r"^::: (\S+)", (ROOT / API).read_text(encoding="utf-8"), re.MULTILINE)
               if f">{name.rpartition('.')[2]}<" not in html]  # fmt: skip
    assert not missing
    assert "Return the price book in effect at an aware instant" in html
    # A doctest outside of a fence would be read as quotations.
    assert '<span class="gp">&gt;&gt;&gt; </span>' in html
    assert "<blockquote>" not in html


def commands(group: click.Group, context: click.Context) -> dict[str, click.Command]:
    """The commands of a group, and of groups in it, by their names; they are loaded only when they are asked for."""
    found: dict[str, click.Command] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found[name] = command
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": each for inner, each in commands(command, context).items()}
    return found


# With the settings of the command line: a command keeps the help option of the first context that it is given.
CONTEXT = click.Context(main, **main.context_settings)
COMMANDS = commands(main, CONTEXT)


def test_the_page_of_the_command_line_has_the_help_of_every_command() -> None:
    shown = re.findall(r"^\$ (.*) --help$", (ROOT / CLI).read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(["ratecard", *(f"ratecard {name}" for name in COMMANDS)])


SHELL = [
    pytest.param(line, id=f"{page}:{block.line}:{number}")
    for page in ("README.md", *DOCS)
    for block in blocks(page)
    if block.language == "sh"
    for number, line in enumerate(block.text.replace("\\\n", " ").splitlines())
    if re.match(r"(\w+=\S+ )*ratecard ", line)
]


@pytest.mark.parametrize("line", SHELL)
def test_a_command_that_a_page_only_shows_has_options_that_there_are(line: str) -> None:
    words = split(line, comments=True)
    name, *given = words[words.index("ratecard") + 1 :]
    command = COMMANDS[name]
    if isinstance(command, click.Group):
        inner, *given = given
        command = COMMANDS[f"{name} {inner}"]
    command.make_parser(click.Context(command, parent=CONTEXT)).parse_args(given)


def test_the_notebook_runs_and_is_kept_without_outputs(tmp_path: Path) -> None:
    notebook = nbformat.read(ROOT / NOTEBOOK, 4)  # type: ignore[no-untyped-call]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    # Fewer rows, of fewer models, are enough for a test.
    few = copy_with_shared(tmp_path / "few", "text/deepseek.yaml", "text/grok.yaml", "video/minimax-h3.yaml")
    assert '"20000"' in code[0].source
    code[0].source = code[0].source.replace('"20000"', f'"2000", "--tables", "{few}"')
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = "\n".join(
        str(output.get("text") or output.data.get("text/plain")) for cell in code for output in cell.outputs
    )
    assert "Revenue rises by" in said
    assert all(
        f"report.{ending}: " in said and (tmp_path / f"report.{ending}").is_file() for ending in ("html", "xlsx")
    )
    chart = [
        output for cell in code for output in cell.outputs if "application/vnd.plotly.v1+json" in output.get("data", {})
    ]
    assert len(chart) == 1
