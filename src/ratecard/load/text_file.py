"""The data of one YAML file as text, and the line of every part of it."""

from dataclasses import dataclass, field
from typing import Any

from ratecard.base.errors import Fault
from ratecard.base.messages import Path


@dataclass(slots=True)
class TextFile:
    """The data of one YAML file, the line of every part of it, and what was wrong with it."""

    name: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Return the line number of a part; for a missing part, of the part that should hold it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fault(self, path: Path, message: str) -> None:
        """Record a mistake at a part of the file."""
        self.faults.append(Fault(self.name, self.line(path), path, message))
