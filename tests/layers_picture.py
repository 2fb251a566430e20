"""Draws docs/layers.svg, the picture of ARCHITECTURE.md, from the import contracts (`make picture`)."""

import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "layers.svg"

WIDTH, ROW, GAP, MARGIN, HEAD = 360, 32, 8, 20, 52
STYLE = """\
text { font: 14px system-ui, sans-serif; fill: #1c2733; text-anchor: middle; }
.title { font-weight: 600; }
.note { font-size: 12px; fill: #52606d; }
.package { fill: #eaf1f8; stroke: #7f9bb8; }
.arrow { stroke: #52606d; stroke-width: 1.5; fill: none; }"""


def contracts() -> Iterator[tuple[str, list[list[str]]]]:
    """(package, its layers from top to bottom) of each contract: the parts of a layer do not import each other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        if contract["type"] != "layers":
            continue
        (package,) = contract["containers"]
        yield package, [[part.strip() for part in layer.split("|")] for layer in contract["layers"]]


def picture() -> str:
    """Columns of layers, one for each contract."""
    columns = list(contracts())
    height = HEAD + max(len(layers) for _, layers in columns) * (ROW + GAP) + MARGIN
    width = MARGIN + len(columns) * (WIDTH + 2 * MARGIN)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>The order of the packages: each may import those below it, and none beside or above it</title>",
        f"<style>\n{STYLE}\n</style>",
        '<defs><marker id="down" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8" fill="#52606d"/></marker></defs>',
        f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
    ]
    for number, (package, layers) in enumerate(columns):
        left = MARGIN + number * (WIDTH + 2 * MARGIN) + MARGIN
        lines += column(left, package, layers)
    return "\n".join([*lines, "</svg>", ""])


def column(left: int, package: str, layers: list[list[str]]) -> Iterator[str]:
    """One package: its layers as rows, the parts of a layer beside each other, and an arrow downwards."""
    middle, bottom = left + WIDTH // 2, HEAD + len(layers) * (ROW + GAP) - GAP
    yield f'<text class="title" x="{middle}" y="24">{escape(package)}</text>'
    yield f'<text class="note" x="{middle}" y="42">each may import what is below it</text>'
    yield f'<path class="arrow" d="M{left - 14} {HEAD} V{bottom}" marker-end="url(#down)"/>'
    for row, layer in enumerate(layers):
        top, wide = HEAD + row * (ROW + GAP), (WIDTH - GAP * (len(layer) - 1)) / len(layer)
        for place, part in enumerate(layer):
            x = left + place * (wide + GAP)
            yield f'<rect class="package" x="{x:g}" y="{top}" width="{wide:g}" height="{ROW}" rx="4"/>'
            yield f'<text x="{x + wide / 2:g}" y="{top + 21}">{escape(part)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
