"""Rules for the names of models: ids, aliases and open patterns, of which no two models may have the same."""

import re
from collections.abc import Iterator, Sequence

from ratecard.base.messages import Path
from ratecard.load.text_file import TextFile
from ratecard.tables.card import AnyModel
from ratecard.tables.names import share_a_name

# A pattern of a model: its file and place, the pattern, and the id of the model.
_Opened = tuple[TextFile, Path, str, str]


def check_names(found: Sequence[tuple[TextFile, int, AnyModel]], *, patterns: bool) -> None:
    """Record a fault, at each of their lines, for names that mean two models; `patterns` says whether they are on."""
    homes: dict[str, list[tuple[TextFile, Path, str]]] = {}
    opened: list[_Opened] = []
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
    for (one, at, pattern, owner), (other, there, another, its) in _sharing(opened):
        words = "can match the same names. Let each name match one model"
        one.fault(at, f"pattern '{pattern}' and '{another}' of {its} ({other.name}:{other.line(there)}) {words}")
        other.fault(there, f"pattern '{another}' and '{pattern}' of {owner} ({one.name}:{one.line(at)}) {words}")


def _sharing(opened: Sequence[_Opened]) -> Iterator[tuple[_Opened, _Opened]]:
    """Yield each pattern after the first earlier one, of another model, that can match the same names.

    In the order of their letters, only those whose letters before the first wildcard begin a pattern are compared.
    """
    before: list[tuple[str, _Opened]] = []
    for pattern in sorted(opened, key=_beginning):
        begins = _beginning(pattern)
        while before and not begins.startswith(before[-1][0]):
            before.pop()
        if other := next((one for _, one in before if one[3] != pattern[3] and share_a_name(one[2], pattern[2])), None):
            yield other, pattern
        before.append((begins, pattern))


def _beginning(opened: _Opened) -> str:
    return re.split("[*?]", opened[2], maxsplit=1)[0]
