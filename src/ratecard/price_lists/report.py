"""The report of an import: what it wrote, and what it left out and why, as text and as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ratecard.base.messages import plural
from ratecard.price_lists.peer import LeftOut

# The file of a folder that names everything that the last import left out. It is not a table.
LEFT_OUT = "left-out.txt"
# The most models that a line names.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did to a folder: the models, versions and retirements that it added, in which files.

    `left_out` are the models of the list that are not in the folder as they are in the list; `digest` is that of the
    folder.
    """

    folder: str
    source: str
    files: tuple[str, ...]
    models: int
    versions: int
    retired: int
    left_out: tuple[LeftOut, ...]
    digest: str

    @property
    def inexpressible(self) -> tuple[LeftOut, ...]:
        """Return the models that have a price in the list, and are left out."""
        return tuple(each for each in self.left_out if each.priced)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        counts = {"models": self.models, "versions": self.versions, "retired": self.retired}
        of = {"folder": self.folder, "source": self.source, "digest": self.digest}
        left_out = [{"model": each.model, "reason": str(each)} for each in self.inexpressible]
        without_price = [each.model for each in self.left_out if not each.priced]
        return {**of, "added": counts, "files": list(self.files), "left_out": left_out, "without_price": without_price}

    def __str__(self) -> str:
        parts = [plural(self.models, "model"), plural(self.versions, "version")]
        parts += [f"{plural(self.retired, 'model')} retired"] if self.retired else []
        done = f"{', '.join(parts)} added to {plural(len(self.files), 'file')}" if self.files else "nothing has changed"
        lines = [f"{self.source} -> {self.folder}: {done}. Digest {self.digest}."]
        lines += _by_reason("Left out", self.inexpressible)
        lines += _by_reason("Without a price", [each for each in self.left_out if not each.priced])
        lines += [f"Each is named in {self.folder}/{LEFT_OUT}."] if self.left_out else []
        return "\n".join(lines)


def _by_reason(words: str, left_out: Sequence[LeftOut]) -> Iterable[str]:
    """Return the number of these models, and some models for each reason."""
    if left_out:
        yield f"{words}: {plural(len(left_out), 'model')}"
    reasons: dict[str, list[str]] = {}
    for model in left_out:
        reasons.setdefault(model.reason.partition("\n")[0], []).append(model.model)
    for reason, names in reasons.items():
        further = f", and {len(names) - _NAMED:,} more" if names[_NAMED:] else ""
        yield f"  {reason.rstrip(':')}: {', '.join(names[:_NAMED])}{further}"
