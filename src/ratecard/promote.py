"""A candidate, or a stack of them, promoted: the tables with its versions, proven to mean what it means."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.diff.naming import Stack
from ratecard.examples import price_example, wrong_examples
from ratecard.load.candidate_file import CandidateFile, read_candidate
from ratecard.load.folder import read_folder, shipped_folder, tables_from
from ratecard.load.insertion import Added
from ratecard.load.promotion import promoted
from ratecard.load.replace_files import replace_files
from ratecard.price_book import PriceBook
from ratecard.tables.candidate import Add
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.version import Example, Version
from ratecard.tables.video import VideoModel
from ratecard.words.errors import Fault, QuoteError, TableError
from ratecard.words.money import places_of, plain, text

# What a table can hold: see `read_amount`.
_PLACES = 40


class Promotion(NamedTuple):
    """What promoting a candidate adds to the files of a folder; nothing is written before `write()`."""

    folder: Path
    before: dict[str, bytes]
    after: dict[str, bytes]
    added: tuple[Added, ...]
    digest: str

    @property
    def summary(self) -> str:
        """`37 lines to 2 files`."""
        lines = sum(added.last - added.first + 1 for added in self.added)
        return f"{_count(lines, 'line')} to {_count(len(self.after), 'file')}"

    def write(self) -> None:
        """Write all files, or none. Raises `TableError`."""
        replace_files(self.folder, self.before, self.after)


def folder_of(tables: Path | None) -> Path | None:
    """The folder that is promoted to: that of a person, or that of a source checkout; None in an installed package."""
    folder = tables or shipped_folder()
    return None if tables is None and (folder.parent / "__init__.py").exists() else folder


def promotion(folder: str | Path, candidate: str | Path | Stack, checked: date) -> Promotion:
    """A candidate as lines of the tables of a folder, or a stack of them in one go.

    `checked` is the day that its versions say they were checked. The result is loaded, its examples are run, and it
    means what the candidate laid over the tables means. Raises `TableError` with every reason why not.
    """
    contents = read_folder(folder)
    stack = candidate if isinstance(candidate, Stack) else Stack((Path(candidate),))
    files = [read_candidate(path) for path in stack.paths]
    cards = [RateCard(tables_from(contents))]
    for file in files:
        cards.append(cards[-1].overlaid(file))
    before, after = cards[0], cards[-1]
    faults = [*_rewritten(cards, files), *_added_and_changed(after, files)]
    totals, wrong = ({}, []) if faults else _totals(before, after)
    if faults := [*faults, *wrong]:
        raise TableError(faults)
    made = promoted(contents, before.tables, after.tables, files, totals, checked)
    _prove({**contents, **made.contents}, after.tables, str(stack))
    return Promotion(Path(folder), contents, made.contents, tuple(made.added), after.digest)


def _rewritten(cards: Sequence[RateCard], files: Sequence[CandidateFile]) -> Iterator[Fault]:
    """The versions of the tables that a candidate changes, since they begin while it holds."""
    for file, below, above in zip(files, cards, cards[1:], strict=False):
        for name, model in cards[0].tables.models.items():
            old, new = ({each.effective: each for each in card.tables.models[name].versions} for card in (below, above))
            for version in model.versions:
                if new[version.effective] is not old[version.effective]:
                    yield _rewrite(version, name, file)


def _rewrite(version: Version, name: str, file: CandidateFile) -> Fault:
    words = f"version {version.effective} of {name} begins while the candidate holds, and would change with it"
    fix = f"promote adds lines and edits none: let the candidate end on that day (until: {version.effective})"
    home, _, line = version.place.rpartition(":")
    words = f"{words} ({file.candidate.effective} until {file.candidate.until}). {fix}, and edit it by hand"
    return Fault(home, int(line), (name,), words)


def _added_and_changed(after: RateCard, files: Sequence[CandidateFile]) -> Iterator[Fault]:
    """The models that a candidate adds and one above it changes: they are written as the first one has them."""
    for file in files:
        for index, change in file.changes:
            if isinstance(change, Add) and after.tables.models[change.add.model] is not change.add:
                words = f"a candidate above this one changes {change.add.model}. Write it here as it should be, or"
                yield file.fault(index, ("add",), f"{words} promote this candidate first, and then the others")


def _totals(before: RateCard, after: RateCard) -> tuple[dict[tuple[str, date], list[str | None]], list[Fault]]:
    """The examples' totals of every new version, as far as they change; and the examples that go wrong."""
    totals: dict[tuple[str, date], list[str | None]] = {}
    faults: list[Fault] = []
    for model in after.tables.models.values():
        old = before.tables.models.get(model.model)
        there = {version.effective for version in (old or model).versions}
        for version in model.versions:
            book, new = after.unproved.at(version.effective), version.effective not in there
            for number, example in enumerate(version.examples):
                try:
                    total = _total(book, model, example)
                except ValueError as error:
                    faults.append(_fault(model, number, example, f"from {version.effective} on {error}"))
                    continue
                if new:
                    totals.setdefault((model.model, version.effective), []).append(total)
                elif total is not None:
                    words = f"the example says {text(example.total)}, with the candidate it is {total}"
                    faults.append(_fault(model, number, example, words))
    return totals, faults


def _total(book: PriceBook, model: AnyModel, example: Example) -> str | None:
    """What an example costs, as a table writes it; None where it costs what it says. Raises `ValueError`."""
    try:
        total = price_example(book, model, example).total
    except QuoteError as error:
        raise ValueError(f"the example has no price: {error}") from None
    if total == example.total:
        return None
    if places_of(plain(total)) > _PLACES:
        raise ValueError(f"the example costs {text(plain(total))}, more than {_PLACES} decimal places. Round the rates")
    return text(total if isinstance(model, VideoModel) else plain(total))


def _fault(model: AnyModel, number: int, example: Example, words: str) -> Fault:
    file, _, line = example.place.rpartition(":")
    return Fault(file, int(line), (model.model, "examples", number), f"{model.model}: {words}")


def _prove(contents: dict[str, bytes], wanted: Tables, name: str) -> None:
    """The tables as they would be written load, their examples are right, and they mean what is wanted."""
    try:
        card = RateCard(tables_from(contents))
        reasons = [str(fault) for fault in wrong_examples(card)] or list(_differences(card.tables, wanted))
    except TableError as error:
        reasons = [str(fault) for fault in error.faults]
    if reasons:
        words = "cannot be written as lines of these tables, write its versions by hand. They would say"
        raise TableError([Fault(name, 1, (), f"{words}:\n  " + "\n  ".join(reasons))])


def _differences(made: Tables, wanted: Tables) -> Iterator[str]:
    if made.digest != wanted.digest:
        yield f"other prices than the candidate: digest {made.digest}, not {wanted.digest}"
    for name, model in wanted.models.items():
        own = made.models.get(name)
        if own is None or _records(own) != _records(model) or made.families[name] != wanted.families[name]:
            yield f"other dates or sources of {name} than the candidate"


def _records(model: AnyModel) -> list[tuple[object, ...]]:
    return [(version.effective, version.announced, version.source, version.reference) for version in model.versions]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
