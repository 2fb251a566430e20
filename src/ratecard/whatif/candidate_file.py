"""Save a draft as a candidate file, and open a candidate file as a draft.

Saving replaces a file only with `replace`. In an opened file, changes without a control are kept as written.
"""

from pathlib import Path

from ratecard.base.errors import RateCardError, TableError
from ratecard.base.files import replace_files
from ratecard.base.messages import Path as Place
from ratecard.candidates.file import CandidateFile, load_candidate
from ratecard.card import RateCard
from ratecard.load.folder import UNITS
from ratecard.load.positions import Positions
from ratecard.review.insertion import model_lines
from ratecard.tables.candidate import Change as Told
from ratecard.tables.candidate import Scale, SetRate
from ratecard.whatif.draft import Choices, Draft, DraftChange, Factor, Head, Kept, KeptContract, NewRate

# Default folder of saved candidates.
CANDIDATES_FOLDER = "candidates"
_ENDINGS = (".yaml", ".yml")


class SaveError(RateCardError):
    """A draft that cannot be saved under a name; the message says why, and what is allowed."""


class FileThereError(SaveError):
    """A file that exists already, and may not be replaced without `replace`."""


def save(draft: Draft, base: RateCard, path: Path, *, replace: bool = False) -> None:
    """Write a draft as a candidate file, read it back, and check that both are the same.

    `replace` allows replacing a file. Raises `DraftError` for a draft that is not a valid candidate, `SaveError` for a
    name that cannot be written; then no file is changed.
    """
    card = draft.card(base)
    old = _checked(path, replace=replace)
    try:
        replace_files(path.parent, {} if old is None else {path.name: old}, {path.name: draft.text().encode()})
        saved_card = base.with_candidate(path)
    except TableError as error:
        raise SaveError("; ".join(fault.message for fault in error.faults)) from None
    if saved_card.tables.digest_with_contracts != card.tables.digest_with_contracts:
        raise SaveError(f"{path} differs from what was tried, because the file changed while it was written")


def _checked(path: Path, *, replace: bool) -> bytes | None:
    """Return the content of a file that may be replaced; None if there is no file."""
    if path.suffix not in _ENDINGS:
        raise SaveError(f"'{path}' is not a name for a candidate. It must end in {' or '.join(_ENDINGS)}")
    folders = path.resolve().parents
    if any(folder.exists() and not folder.is_dir() for folder in folders):
        raise SaveError(f"'{path}' cannot be written: it is not in a folder")
    if any((folder / UNITS).exists() for folder in folders):
        raise SaveError(f"'{path}' is in a folder of tables, where every file is read as a table. Save it beside that")
    if path.is_dir():
        raise SaveError(f"'{path}' is a folder. Name a file")
    if not path.exists():
        return None
    if not replace:
        raise FileThereError(f"There is a file {path} already")
    try:
        return path.read_bytes()
    except OSError as error:
        raise SaveError(f"{path} cannot be read: {error.strerror}") from None


def candidates_in(folder: Path) -> list[Path]:
    """Return the YAML files of a folder, newest first."""
    files = [path for path in folder.glob("*.y*ml") if path.is_file()] if folder.is_dir() else []
    return sorted(files, key=lambda path: (-path.stat().st_mtime_ns, path.name))


def opened(path: Path, base: RateCard) -> Draft:
    """Read a candidate file as a draft. Raises `TableError` for a file that is not a valid candidate."""
    file = load_candidate(path)
    head = file.candidate
    changes = [_change(index, change, file, base) for index, change in file.changes]
    changes += [KeptContract(_lines(file, ("contracts", index))) for index in range(len(head.contracts))]
    until, announced = (str(day) if day else "" for day in (head.until, head.announced))
    return Draft(
        str(head.effective), tuple(changes), Head(head.candidate, head.proposed_by, head.why), until, announced
    )


def _change(index: int, change: Told, file: CandidateFile, base: RateCard) -> DraftChange:
    written = file.text.data["changes"][index]
    if isinstance(change, Scale) and change.charge is None:
        named, excluded = list(change.scale.named), [list(names.named) for names in change.scale.excluded]
        if len(named) == 1 and all(len(names) == 1 for names in excluded):
            left_out = tuple(part for [part] in excluded)
            rounding = (change.round.mode, written["round"]["to"]) if change.round else ()
            return Factor(*named[0], written[change.word], tuple(change.where.items()), left_out, *rounding)
    if isinstance(change, SetRate) and len(change.set) == 1:
        selection = (change.word, change.charge or "", {name: set(values) for name, values in change.where.items()})
        for choice in Choices(base, file.candidate.effective).rates(change.set[0]):
            if selection == (choice.word, choice.charge, {name: set(values) for name, values in choice.where}):
                return NewRate(change.set[0], choice.charge, choice.where, written[change.word], choice.word)
    return Kept(_lines(file, ("changes", index)))


def _lines(file: CandidateFile, path: Place) -> str:
    return model_lines(Positions(file.text.name, file.content), path)
