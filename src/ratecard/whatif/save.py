"""A draft saved as a candidate file: whole or not at all, and never over another file unasked."""

from pathlib import Path

from ratecard.card import RateCard
from ratecard.load.replace_files import replace_files
from ratecard.whatif.draft import Draft
from ratecard.words.errors import RateCardError, TableError

# Where the page saves candidates unless it is told otherwise.
FOLDER = "candidates"
_ENDINGS = (".yaml", ".yml")
# What only a folder of tables has at its top.
_OF_TABLES = "units.yaml"


class SaveError(RateCardError):
    """Why a draft cannot be saved under a name, and what is allowed."""


class FileThereError(SaveError):
    """There is a file of this name; it stays unless replacing it is asked for."""


def save(draft: Draft, base: RateCard, path: Path, *, replace: bool = False) -> None:
    """Write a draft to a file that `read_candidate` accepts; it is read again and means what the draft means.

    Raises `DraftError` for a draft that is no candidate, `SaveError` for a name that cannot be written; nothing is then
    changed.
    """
    meant = draft.card(base)
    old = _checked(path, replace=replace)
    try:
        replace_files(path.parent, {} if old is None else {path.name: old}, {path.name: draft.text().encode()})
        written = base.with_candidate(path)
    except TableError as error:
        raise SaveError("; ".join(fault.message for fault in error.faults)) from None
    if written.digest != meant.digest:
        raise SaveError(f"{path} does not mean what was tried; it has changed while it was written")


def _checked(path: Path, *, replace: bool) -> bytes | None:
    """What a file holds that may be replaced; None where there is none."""
    if path.suffix not in _ENDINGS:
        raise SaveError(f"'{path}' is not a name for a candidate. It must end in {' or '.join(_ENDINGS)}")
    folders = path.resolve().parents
    if any(folder.exists() and not folder.is_dir() for folder in folders):
        raise SaveError(f"'{path}' cannot be written: it is not in a folder")
    if any((folder / _OF_TABLES).exists() for folder in folders):
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
