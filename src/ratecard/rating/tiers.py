"""The tier of a height: the first upper edge that it does not exceed."""

from collections.abc import Callable
from typing import NamedTuple

from ratecard.rating.compiling import CompiledRate, Compiling, Shape, slug
from ratecard.tables.rate import ANY
from ratecard.tables.selection import select
from ratecard.tables.selection import tiers as tier_edges


class Tiered(NamedTuple):
    """The rate of a height's tier; `note` says when the height was unknown."""

    rate: CompiledRate
    note: str


def tier_of(charge: Compiling) -> Callable[[Shape, int | None], Tiered]:
    """The function that finds the rate of a shape at a height; an unknown height takes the dearest tier."""
    selection = select(charge.version, charge.charge)
    tiers: dict[str | None, list[tuple[int | None, CompiledRate]]] = {}
    edges = [edge for edge in tier_edges(charge.charge.rates) if edge != ANY]
    for key, rate in selection.rates.items():
        named = dict(zip(selection.attributes, key, strict=True))
        model, edge = named.get("enhancement_model"), named["up_to"]
        tier = f"up-to-{edge}" if edge != ANY else f"above-{edges[-1]}" if edges else ""
        words = "".join(f"-{word}" for word in (slug(model or ""), tier) if word)
        compiled = charge.compiled(rate, selection.attributes, key)._replace(words=words)
        tiers.setdefault(model, []).append((None if edge == ANY else int(edge), compiled))
    for rows in tiers.values():
        rows.sort(key=lambda row: (row[0] is None, row[0]))

    def find(shape: Shape, height: int | None) -> Tiered:
        rows = tiers.get(shape.get("enhancement_model")) or tiers[None]
        if height is None:
            return Tiered(
                max((rate for _, rate in rows), key=lambda rate: rate.unit_rate), "height unknown: dearest tier"
            )
        return Tiered(next(rate for edge, rate in rows if edge is None or height <= edge), "")

    return find
