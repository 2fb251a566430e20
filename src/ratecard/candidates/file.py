"""Read a candidate from YAML, each change with its line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ratecard.base.errors import Fault, TableError
from ratecard.base.messages import Path as Place
from ratecard.base.suggestions import did_you_mean
from ratecard.load.faults import TextFile, complaints
from ratecard.load.yaml_text import read_yaml_text
from ratecard.tables.candidate import KINDS, Candidate, Change
from ratecard.tables.contract import Contract


class CandidateFile(NamedTuple):
    """A candidate with its text, to point into it and to copy parts of it.

    `changes` are the valid ones with their index in the file; `text` has the faults of the others and of the head.
    """

    candidate: Candidate
    changes: tuple[tuple[int, Change], ...]
    text: TextFile
    content: bytes

    @property
    def written(self) -> set[str]:
        """Return the ids of the models that it adds as they are written, valid or not."""
        changes = self.text.data.get("changes", ())
        listed = [change.get("add") for change in changes if isinstance(change, dict)]
        return {str(model["model"]) for model in listed if isinstance(model, dict) and "model" in model}

    @property
    def contracts(self) -> tuple[Contract, ...]:
        """Return the contracts that it adds, each with its place."""
        return tuple(
            contract.model_copy(update={"place": self.text.place(("contracts", index, "contract"))})
            for index, contract in enumerate(self.candidate.contracts)
        )

    def fault(self, index: int, path: Place, message: str) -> Fault:
        """Make the fault of a part of a change."""
        full = ("changes", index, *path)
        return Fault(self.text.name, self.text.line(full), full, message)


def load_candidate(path: str | Path) -> CandidateFile:
    """Load the candidate of a file. Raises `TableError` with every fault, each at its line."""
    file = read_candidate(path)
    if file.text.faults:
        raise TableError(file.text.faults)
    return file


def read_candidate(path: str | Path) -> CandidateFile:
    """Read the valid parts of a candidate; its faults are kept, to be reported together with faults of matching.

    Raises `TableError` if the file is not a candidate, or its days are at fault.
    """
    name = str(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise TableError.of_file(name, f"cannot be read: {error.strerror}") from None
    return candidate_from(name, content)


def candidate_from(name: str, content: bytes) -> CandidateFile:
    """Read a candidate like `read_candidate`, from content that need not be in a file; messages call it `name`."""
    text = read_yaml_text(name, content)
    data = text.data
    if text.faults and data is None:
        raise TableError(text.faults)
    listed = data.get("changes") if isinstance(data, dict) else None
    if isinstance(data, dict) and listed is None and data.get("contracts"):
        data = {**data, "changes": ()}
    changes: tuple[tuple[int, Change], ...] = ()
    if isinstance(listed, list):
        changes = tuple(_changes(text, listed))
        data = {**data, "changes": tuple(change for _, change in changes)}
        if not listed:
            text.fault(("changes",), "changes is empty. Write at least one: " + ", ".join(KINDS))
    return CandidateFile(_head(text, data), changes, text, content)


# Replacements for parts of the head that have faults, so that the changes can still be matched.
_UNKNOWN = dict.fromkeys(("candidate", "proposed_by", "why"), "?")


def _head(text: TextFile, data: Any) -> Candidate:
    """Read the head and record its faults. Raises `TableError` if not even its days are known."""
    try:
        return Candidate.model_validate(data)
    except ValidationError as error:
        for at, message in complaints(error, data, Candidate):
            text.fault(at, message)
    try:
        sound = {key: data[key] for key in ("effective", "until", "changes") if key in data}
        return Candidate.model_validate(_UNKNOWN | sound)
    except (ValidationError, TypeError):
        raise TableError(sorted(text.faults, key=lambda fault: fault.line)) from None


def _changes(text: TextFile, listed: list[Any]) -> Iterator[tuple[int, Change]]:
    """Yield the valid changes with their index; the faults of the others are recorded."""
    for index, change in enumerate(listed):
        path = ("changes", index)
        keys = list(change) if isinstance(change, dict) else []
        named = [key for key in KINDS if key in keys]
        if len(named) != 1:
            text.fault(path, _which(keys, named))
            continue
        kind = KINDS[named[0]]
        try:
            yield index, kind.model_validate(change)
        except ValidationError as error:
            for at, message in complaints(error, change, kind, "the change"):
                text.fault((*path, *at), message)


def _which(keys: list[str], named: list[str]) -> str:
    allowed = ", ".join(KINDS)
    if named:
        return f"{' and '.join(named)} in one change; write each on its own, begun by a dash"
    near = next(filter(None, (did_you_mean(key, KINDS) for key in keys)), "")
    words = f"'{', '.join(keys)}' names no change" if keys else "a change must hold keys, like `set: MODEL`"
    return f"{words}.{near} Write one of: {allowed}"
