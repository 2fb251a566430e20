"""The lines of a new model: as the candidate has them, moved to where the models of its family stand."""

from collections import Counter
from collections.abc import Collection, Mapping
from re import compile as pattern

from ratecard.load.insertion import Insertion
from ratecard.load.positions import Positions, literal
from ratecard.tables.card import AnyModel, Tables
from ratecard.words.tree import Path

# What is safe as the name of a file everywhere.
_FILE = pattern(r"[a-z0-9][a-z0-9._-]{0,80}")
_SCHEMA = b"# yaml-language-server:"


def home_of(model: AnyModel, family: str, before: Tables) -> str | None:
    """The file of a family: that with models of the same type, where it has several; None of a new family."""
    homes = [name for name, own in before.families.items() if own == family]
    homes.sort(key=lambda name: (before.models[name].type != model.type, before.files[name]))
    return before.files[homes[0]] if homes else None


def new_file(model: AnyModel, family: str, before: Tables, taken: Collection[str]) -> str:
    """The name of the file of a new family, in the folder of the model's type. Raises `ValueError`."""
    if not _FILE.fullmatch(family):
        raise ValueError(f"family '{family}' cannot be the name of a file. Write small letters, digits, - . and _")
    homes = (before.files[other.model] for other in before.models.values() if other.type == model.type)
    folders = Counter(home.rpartition("/")[0] for home in homes).most_common(1)
    folder = folders[0][0] if folders else model.type
    name = f"{folder}/{family}.yaml" if folder else f"{family}.yaml"
    if name in taken:
        raise ValueError(f"family '{family}' is new, but its file {name} is there already. Choose another name")
    return name


def head_of(name: str, family: str, contents: Mapping[str, bytes]) -> str:
    """The first lines of a new file, with the schema that its neighbours name for editors."""
    folder = name.rpartition("/")[0]
    firsts = (content.split(b"\n")[0] for other, content in contents.items() if other.rpartition("/")[0] == folder)
    schema = next((line.decode().strip() + "\n" for line in firsts if line.startswith(_SCHEMA)), "")
    return f"{schema}family: {literal(family)}\nmodels:\n"


def model_lines(of: Positions, path: Path, dash: int, column: int, eol: str) -> str:
    """A model of a candidate as a part of a list, its dash and its keys at these columns."""
    span = of.spans[path]
    shift = column - of.column(span.start)
    first, *others = of.copy(span, {}).splitlines()
    lines = [" " * dash + "-" + " " * (column - dash - 1) + first]
    for line in others:
        bare = line.lstrip(" ")
        lines.append(" " * max(len(line) - len(bare) + shift, column) + bare if bare else "")
    return eol.join([*lines, ""])


def new_model(at: Positions, of: Positions, path: Path, what: str) -> Insertion:
    """A model of a candidate, to go below the last one of a file; above it where the file ends within its line."""
    number = max(int(key[1]) for key in at.spans if key[0:1] == ("models",) and len(key) > 1)
    last = at.spans["models", number]
    dash, column = at.dash(("models", number)), at.column(last.start)
    lines = model_lines(of, path, dash, column, at.eol)
    below = at.after(("models", number))
    if below is not None:
        return Insertion(below, at.eol + lines, what)
    return Insertion(at.above(("models", number)), lines + at.eol, what)
