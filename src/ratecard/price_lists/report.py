"""What an import wrote, and what it left out with the reason, as text and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ratecard.price_lists.peer import LeftOut


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did to a folder: the models, versions and retirements that it added, in which files.

    `left_out` are the models of the list that are not as in the list in the folder; `digest` is that of the folder.
    """

    folder: str
    source: str
    files: tuple[str, ...]
    models: int
    versions: int
    retired: int
    left_out: tuple[LeftOut, ...]
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        left_out = [{"model": f"{each.provider}/{each.id}", "reason": each.reason} for each in self.left_out]
        counts = {"models": self.models, "versions": self.versions, "retired": self.retired}
        of = {"folder": self.folder, "source": self.source, "digest": self.digest}
        return {**of, "added": counts, "files": list(self.files), "left_out": left_out}

    def __str__(self) -> str:
        parts = [_count(self.models, "model"), _count(self.versions, "version")]
        parts += [f"{_count(self.retired, 'model')} retired"] if self.retired else []
        done = f"{', '.join(parts)} added to {_count(len(self.files), 'file')}" if self.files else "nothing has changed"
        lines = [f"{self.source} -> {self.folder}: {done}. Digest {self.digest}."]
        reasons: dict[str, list[str]] = {}
        for each in self.left_out:
            reasons.setdefault(each.reason, []).append(f"{each.provider}/{each.id}")
        if reasons:
            lines.append(f"Left out {_count(len(self.left_out), 'model')}:")
        lines += [f"  {reason} ({len(names)}): {_listed(names)}" for reason, names in reasons.items()]
        return "\n".join(lines)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(sorted(names))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
