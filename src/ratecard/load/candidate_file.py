"""A candidate overlay read from YAML, each change with its line."""

from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from ratecard.load.complaints import complaints
from ratecard.load.yaml_text import TextFile, read_yaml_text
from ratecard.tables.candidate import Candidate
from ratecard.tables.card import AnyModel
from ratecard.words.errors import Fault, TableError


class CandidateFile(NamedTuple):
    """A candidate, and its text for whoever must point into it or write parts of it elsewhere."""

    candidate: Candidate
    text: TextFile
    content: str

    def place(self, index: int) -> str:
        """`file:line` of a change."""
        return f"{self.text.name}:{self.text.line(('changes', index))}"

    def fault(self, index: int, message: str) -> Fault:
        """A mistake of a change."""
        path = ("changes", index)
        return Fault(self.text.name, self.text.line(path), path, message)

    def added(self, index: int) -> AnyModel:
        """The model that a change adds. Raises `TableError`."""
        data = self.text.data["changes"][index]["add"]
        try:
            return _MODEL.validate_python(data)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            path = ("changes", index, "add")
            raise TableError(
                [Fault(self.text.name, self.text.line((*path, *map(_key, p["loc"]))), path, p["msg"]) for p in problems]
            ) from None


_MODEL: TypeAdapter[AnyModel] = TypeAdapter(AnyModel)


def _key(part: object) -> str | int:
    return part if isinstance(part, int) else str(part)


def load_candidate(path: str | Path) -> CandidateFile:
    """The candidate of a file. Raises `TableError` with every fault, each at its line."""
    place = Path(path)
    try:
        content = place.read_bytes()
    except OSError as error:
        raise TableError([Fault(str(path), 1, (), f"cannot be read: {error.strerror}")]) from None
    text = read_yaml_text(str(path), content)
    if not text.faults:
        try:
            return CandidateFile(Candidate.model_validate(text.data), text, content.decode())
        except ValidationError as error:
            for at, message in complaints(error, text.data, Candidate):
                text.fault(at, message)
    raise TableError(text.faults)
