"""Rules for the names of models: ids, aliases and open patterns, of which no two models may have the same."""

from collections.abc import Sequence
from itertools import combinations

from ratecard.base.messages import Path
from ratecard.load.yaml_text import TextFile
from ratecard.tables.card import AnyModel
from ratecard.tables.names import share_a_name


def check_names(found: Sequence[tuple[TextFile, int, AnyModel]], *, patterns: bool) -> None:
    """Record a fault, at each of their lines, for names that mean two models; `patterns` says whether they are on."""
    homes: dict[str, list[tuple[TextFile, Path, str]]] = {}
    opened: list[tuple[TextFile, Path, str, str]] = []
    for text, index, model in found:
        homes.setdefault(model.model, []).append((text, ("models", index, "model"), "model"))
        for alias in model.aliases or ():
            if alias == model.model:
                text.fault(("models", index, "aliases"), f"alias '{alias}' is the model's own id. Leave it out")
            else:
                homes.setdefault(alias, []).append((text, ("models", index, "aliases"), "alias"))
        for pattern in model.patterns or ():
            path: Path = ("models", index, "patterns")
            if not patterns:
                text.fault(path, "patterns are off. Write `patterns: true` in names.yaml, or write aliases")
            elif "[" in pattern:
                text.fault(path, f"pattern '{pattern}' has a [. Write * for any letters and ? for one")
            else:
                opened.append((text, path, pattern, model.model))
    for name, places in homes.items():
        if len(places) > 1 and any(kind == "alias" for _, _, kind in places):
            for text, place, kind in places:
                others = (f"{other.name}:{other.line(at)}" for other, at, _ in places if (other, at) != (text, place))
                words = f"is a name of another model too ({next(others)}). Leave it out of one"
                text.fault(place, f"{kind} '{name}' {words}")
    for (one, at, pattern, owner), (other, there, another, its) in combinations(opened, 2):
        if owner != its and share_a_name(pattern, another):
            words = "can match the same names. Let each name match one model"
            one.fault(at, f"pattern '{pattern}' and '{another}' of {its} ({other.name}:{other.line(there)}) {words}")
            other.fault(there, f"pattern '{another}' and '{pattern}' of {owner} ({one.name}:{one.line(at)}) {words}")
