"""Candidates written into tables: the same files with more lines, and nothing else in them changed."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from ratecard.load.candidate_file import CandidateFile
from ratecard.load.insertion import Added, Insertion, inserted
from ratecard.load.new_model import head_of, home_of, model_lines, new_file, new_model
from ratecard.load.new_version import new_retirement, new_version
from ratecard.load.positions import Positions
from ratecard.tables.candidate import Add
from ratecard.tables.card import AnyModel, Tables
from ratecard.words.errors import Fault, TableError

# Of each version that a candidate makes, (model, effective date): its examples' totals; None where one stays.
Totals = Mapping[tuple[str, date], Sequence[str | None]]
# Columns of the dash and the keys of a model in a new file.
_DASH, _KEYS = 2, 4


class Promoted(NamedTuple):
    """The contents of the files that have new lines, and these lines."""

    contents: dict[str, bytes]
    added: list[Added]


def promoted(
    contents: Mapping[str, bytes],
    before: Tables,
    after: Tables,
    files: Sequence[CandidateFile],
    totals: Totals,
    checked: date,
) -> Promoted:
    """What the files come to. Raises `TableError` where they cannot be written line by line."""
    return _Writer(contents, before, files).written(after, totals, checked)


class _Writer:
    def __init__(self, contents: Mapping[str, bytes], before: Tables, files: Sequence[CandidateFile]) -> None:
        self.contents, self.before, self.files = contents, before, files
        self.texts: dict[str, Positions] = {}
        self.insertions: dict[str, list[Insertion]] = {}
        self.families: dict[str, list[tuple[AnyModel, Insertion]]] = {}
        self.faults: list[Fault] = []

    def written(self, after: Tables, totals: Totals, checked: date) -> Promoted:
        for name, old in self.before.models.items():
            model = after.models[name]
            if model is not old:
                try:
                    home = self.before.files[name]
                    found = list(self._changes(home, old, model, totals, checked))
                    self.insertions.setdefault(home, []).extend(found)
                except TableError as error:
                    self.faults += error.faults
        for file in self.files:
            self._add_models(file)
        if self.faults:
            raise TableError(self.faults)
        result = Promoted({}, [])
        for home, insertions in sorted(self.insertions.items()):
            result.contents[home], added = inserted(self._text(home), self.contents[home], insertions)
            result.added.extend(added)
        for family, models in sorted(self.families.items()):
            home = new_file(models[0][0], family, self.before, self.contents)
            text = head_of(home, family, self.contents) + "\n".join(insertion.text for _, insertion in models)
            result.contents[home] = text.encode()
            what = ", ".join(insertion.what for _, insertion in models)
            result.added.append(Added(home, 1, text.count("\n"), what, text))
        return result

    def _changes(self, home: str, old: AnyModel, model: AnyModel, totals: Totals, checked: date) -> Iterator[Insertion]:
        at = self._text(home)
        number = next(key[1] for key, value in at.values.items() if key[2:] == ("model",) and value == model.model)
        path = ("models", number)
        if model.retired is not None and model.retired != old.retired:
            yield new_retirement(at, path, model.retired)._replace(what=f"{model.model}, retired on {model.retired.on}")
        there = [version.effective for version in old.versions]
        for version in model.versions:
            base = old.version_on(version.effective)
            if version.effective not in there and base is not None:
                below = (*path, "versions", there.index(base.effective))
                made = new_version(at, below, base, version, totals[model.model, version.effective], checked)
                yield made._replace(what=f"{model.model} from {version.effective}")

    def _add_models(self, file: CandidateFile) -> None:
        if not any(isinstance(change, Add) for _, change in file.changes):
            return
        of = Positions(file.text.name, file.content)
        for index, change in file.changes:
            if isinstance(change, Add):
                path = ("changes", index, "add")
                what = f"{change.add.model}, a new model of {change.family}"
                try:
                    home = home_of(change.add, change.family, self.before)
                    if home is not None:
                        at = self._text(home)
                        self.insertions.setdefault(home, []).append(new_model(at, of, path, what))
                        continue
                    # Refuses a name that no file can have, at the line that gives it.
                    new_file(change.add, change.family, self.before, self.contents)
                    lines = model_lines(of, path, _DASH, _KEYS, "\n")
                    self.families.setdefault(change.family, []).append((change.add, Insertion(0, lines, what)))
                except ValueError as error:
                    self.faults.append(file.fault(index, ("family",), str(error)))
                except TableError as error:
                    self.faults += error.faults

    def _text(self, home: str) -> Positions:
        if home not in self.texts:
            self.texts[home] = Positions(home, self.contents[home])
        return self.texts[home]
