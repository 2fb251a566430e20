"""Promote a candidate or a stack of candidates: add its versions to the tables, and prove that they mean the same.

Files only get new lines; the lines that they have stay as they are.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ratecard.base.errors import Fault, QuoteError, TableError
from ratecard.base.files import replace_files
from ratecard.base.messages import plural
from ratecard.base.money import places_of, plain, text
from ratecard.candidates.file import CandidateFile, read_candidate
from ratecard.card import RateCard
from ratecard.contracts.checks import fault_at
from ratecard.examples import price_example, wrong_examples
from ratecard.load.folder import read_folder, shipped_folder, tables_from
from ratecard.load.positions import Positions
from ratecard.price_book import PriceBook
from ratecard.review.insertion import (
    Added,
    Insertion,
    file_of,
    folder_of_type,
    head_of,
    inserted,
    model_lines,
    new_file,
    new_model,
    new_retirement,
    new_version,
)
from ratecard.review.sides import Stack
from ratecard.tables.candidate import Add
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.version import Example
from ratecard.tables.video import VideoModel

# (model, effective date) of each new version -> the totals of its examples; None for one that does not change.
Totals = Mapping[tuple[str, date], Sequence[str | None]]


class _Writer:
    """The writer of new versions into the contents of files."""

    def __init__(self, contents: Mapping[str, bytes], before: Tables, files: Sequence[CandidateFile]) -> None:
        self.contents, self.before, self.files = contents, before, files
        self.positions = cache(lambda home: Positions(home, contents[home]))
        self.insertions = defaultdict[str, list[Insertion]](list)
        self.families = defaultdict[str, list[tuple[AnyModel, Insertion]]](list)
        self.faults: list[Fault] = []

    def written(self, after: Tables, totals: Totals, checked: date) -> tuple[dict[str, bytes], list[Added]]:
        """Return the changed files and the added lines. Raises `TableError` if that needs more than new lines."""
        for name, old in self.before.models.items():
            model = after.models[name]
            if model is not old:
                try:
                    home = self.before.files[name]
                    new_lines = list(self._changes(home, old, model, totals, checked))
                    self.insertions[home] += new_lines
                except TableError as error:
                    self.faults += error.faults
        for file in self.files:
            self._add_models(file)
        if self.faults:
            raise TableError(self.faults)
        contents: dict[str, bytes] = {}
        added: list[Added] = []
        for home, insertions in sorted(self.insertions.items()):
            contents[home], lines = inserted(self.positions(home), self.contents[home], insertions)
            added += lines
        for family, models in sorted(self.families.items()):
            home = new_file(folder_of_type(self.before, models[0][0]), family, self.contents)
            text = head_of(home, family, self.contents) + "\n".join(insertion.text for _, insertion in models)
            contents[home] = text.encode()
            what = ", ".join(insertion.what for _, insertion in models)
            added.append(Added(home, 1, text.count("\n"), what, text))
        return contents, added

    def _changes(self, home: str, old: AnyModel, model: AnyModel, totals: Totals, checked: date) -> Iterator[Insertion]:
        at = self.positions(home)
        path = ("models", at.models[model.model])
        if model.retired is not None and model.retired != old.retired:
            yield new_retirement(at, path, model.retired)._replace(what=f"{model.model}, retired on {model.retired.on}")
        known_days = [version.effective for version in old.versions]
        for version in model.versions:
            base = old.version_at(version.effective)
            if version.effective not in known_days and base is not None:
                below = (*path, "versions", known_days.index(base.effective))
                insertion = new_version(at, below, base, version, totals[model.model, version.effective], checked)
                yield insertion._replace(what=f"{model.model} from {version.effective}")

    def _add_models(self, file: CandidateFile) -> None:
        if not any(isinstance(change, Add) for _, change in file.changes):
            return
        positions = Positions(file.text.name, file.content)
        for index, change in file.changes:
            if isinstance(change, Add):
                path = ("changes", index, "add")
                what = f"{change.add.model}, a new model of {change.family}"
                try:
                    home = file_of(self.before, change.add, change.family)
                    if home is not None:
                        self.insertions[home].append(new_model(self.positions(home), positions, path, what))
                        continue
                    # This call refuses a family whose name cannot be a file name.
                    new_file(folder_of_type(self.before, change.add), change.family, self.contents)
                    lines = model_lines(positions, path)
                    self.families[change.family].append((change.add, Insertion(0, lines, what)))
                except ValueError as error:
                    self.faults.append(file.fault(index, ("family",), str(error)))
                except TableError as error:
                    self.faults += error.faults


# The decimal places that a table can hold: see `read_amount`.
_PLACES = 40


class Promotion(NamedTuple):
    """The lines that promoting a candidate adds to the files of a folder; `write()` writes them."""

    folder: Path
    before: dict[str, bytes]
    after: dict[str, bytes]
    added: tuple[Added, ...]
    digest: str

    @property
    def summary(self) -> str:
        """Return text like `37 lines to 2 files`."""
        lines = sum(added.last - added.first + 1 for added in self.added)
        return f"{plural(lines, 'line')} to {plural(len(self.after), 'file')}"

    def write(self) -> None:
        """Write all files, or none. Raises `TableError`."""
        replace_files(self.folder, self.before, self.after)


def folder_of(tables: Path | None) -> Path | None:
    """Return the given folder, or that of the source checkout; None for the tables of an installed package."""
    folder = tables or shipped_folder()
    return None if tables is None and (folder.parent / "__init__.py").exists() else folder


def promotion(folder: str | Path, candidate: str | Path | Stack, checked: date) -> Promotion:
    """Make the lines that add a candidate, or a stack of candidates, to the tables of a folder.

    `checked` is the `checked` date of the new versions. The result is loaded, its examples are run, and it must mean
    the same as the candidate laid over the tables. Raises `TableError` with every reason why not.
    """
    contents = read_folder(folder)
    stack = candidate if isinstance(candidate, Stack) else Stack((Path(candidate),))
    files = [read_candidate(path) for path in stack.paths]
    cards = [RateCard(tables_from(contents))]
    for file in files:
        for contract in file.contracts:
            words = "promote writes what changes the list. Write the contract into contracts/, once it is signed"
            raise TableError([fault_at(contract.place, contract.contract, f"{words}, and leave it out here")])
        cards.append(cards[-1]._overlaid(file))
    before, after = cards[0], cards[-1]
    faults = [*_rewritten(cards, files), *_added_and_changed(after, files)]
    totals, wrong = ({}, []) if faults else _totals(before, after)
    if faults := [*faults, *wrong]:
        raise TableError(faults)
    changed, added = _Writer(contents, before.tables, files).written(after.tables, totals, checked)
    _prove({**contents, **changed}, after.tables, str(stack))
    return Promotion(Path(folder), contents, changed, tuple(added), after.digest)


def _rewritten(cards: Sequence[RateCard], files: Sequence[CandidateFile]) -> Iterator[Fault]:
    """Yield faults for versions of the tables that begin while a candidate holds and would change with it."""
    for file, (below, above) in zip(files, pairwise(cards), strict=True):
        for name, model in cards[0].tables.models.items():
            old, new = (
                {version.effective: version for version in card.tables.models[name].versions} for card in (below, above)
            )
            for day, place in ((version.effective, version.place) for version in model.versions):
                if new[day] is not old[day]:
                    words = f"version {day} of {name} begins while the candidate holds, and would change with it"
                    words += f" ({file.candidate.effective} until {file.candidate.until}). promote adds lines and edits"
                    words += f" none: let the candidate end on that day (until: {day:%Y-%m-%d}), and edit it by hand"
                    yield fault_at(place, name, words)


def _added_and_changed(after: RateCard, files: Sequence[CandidateFile]) -> Iterator[Fault]:
    """Yield faults for models that one candidate of a stack adds and a later one changes."""
    for file in files:
        for index, change in file.changes:
            if isinstance(change, Add) and after.tables.models[change.add.model] is not change.add:
                words = f"a candidate above this one changes {change.add.model}. Write it here as it should be, or"
                yield file.fault(index, ("add",), f"{words} promote this candidate first, and then the others")


def _totals(before: RateCard, after: RateCard) -> tuple[dict[tuple[str, date], list[str | None]], list[Fault]]:
    """Return the changed totals of the examples of every new version, and faults for examples that fail.

    Examples of contracts are in no new lines, and a server would refuse accounts whose contract has a wrong one.
    """
    totals: dict[tuple[str, date], list[str | None]] = {}
    faults: list[Fault] = []
    for model in after.tables.models.values():
        old = before.tables.models.get(model.model)
        known_days = {version.effective for version in (old or model).versions}
        for version in model.versions:
            book, new = after.listed._unproved.at(version.effective), version.effective not in known_days
            for number, example in enumerate(version.examples):
                try:
                    total = _total(book, model, example)
                except ValueError as error:
                    faults.append(_fault(model.model, number, example, f"from {version.effective} on {error}"))
                    continue
                if new:
                    totals.setdefault((model.model, version.effective), []).append(total)
                elif total is not None:
                    faults.append(_fault(model.model, number, example, _other_total(example, total)))
    for worked in (worked for contract in after.contracts.values() for worked in after._unproved.work(contract)):
        if (found := worked.total) != worked.example.total:
            words = f"the example has no price: {worked.reason}"
            words = words if found is None else _other_total(worked.example, text(plain(found)))
            faults.append(_fault(worked.model, worked.number, worked.example, words))
    return totals, faults


def _other_total(example: Example, total: str) -> str:
    return f"the example says {text(example.total)}, with the candidate it is {total}"


def _total(book: PriceBook, model: AnyModel, example: Example) -> str | None:
    """Return the price of an example, as a table writes it; None if the example has it. Raises `ValueError`."""
    try:
        total = price_example(book, model, example).total
    except QuoteError as error:
        raise ValueError(f"the example has no price: {error}") from None
    if total == example.total:
        return None
    if places_of(plain(total)) > _PLACES:
        raise ValueError(f"the example costs {text(plain(total))}, more than {_PLACES} decimal places. Round the rates")
    return text(total if isinstance(model, VideoModel) else plain(total))


def _fault(name: str, number: int, example: Example, words: str) -> Fault:
    file, _, line = example.place.rpartition(":")
    return Fault(file, int(line), (name, "examples", number), f"{name}: {words}")


def _prove(contents: dict[str, bytes], wanted: Tables, name: str) -> None:
    """Check that the new tables load, pass their examples, and mean the same as `wanted`. Raises `TableError`."""
    try:
        card = RateCard(tables_from(contents))
        reasons = [str(fault) for fault in wrong_examples(card._compiler)] or list(_differences(card.tables, wanted))
    except TableError as error:
        reasons = [str(fault) for fault in error.faults]
    if reasons:
        words = "cannot be written as lines of these tables, write its versions by hand. They would say"
        raise TableError.of_file(name, f"{words}:\n  " + "\n  ".join(reasons))


def _differences(made: Tables, wanted: Tables) -> Iterator[str]:
    if made.digest != wanted.digest:
        yield f"other prices than the candidate: digest {made.digest}, not {wanted.digest}"
    for name, model in wanted.models.items():
        written = made.models.get(name)
        if written is None or _records(written) != _records(model) or made.families[name] != wanted.families[name]:
            yield f"other dates or sources of {name} than the candidate"


def _records(model: AnyModel) -> list[tuple[object, ...]]:
    return [(version.effective, version.announced, version.source, version.reference) for version in model.versions]
