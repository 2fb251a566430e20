"""What was read of a usage: its files, columns and rows."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ratecard.base.suggestions import suggestions
from ratecard.simulation.groups.plan import Plan, Usage
from ratecard.simulation.rows.columns import DAY, OTHER_NAMES, USAGE_COLUMNS
from ratecard.simulation.rows.files import Source
from ratecard.simulation.rows.where import read_condition

_HEAD = ("type", "model", "timestamp")


@dataclass(frozen=True, slots=True)
class Reading:
    """A record of what was read of a usage.

    `columns` are those that were read, as they are named here and in the usage. `missing`: by type, the known columns
    that the usage does not have. `unused`: columns of the usage that nothing uses; `meant`: for some of them the
    missing one that they look like. `found`: all rows, where only some were `chosen`, and `undated` those that were
    left out because they have no instant.
    """

    source: Source = Source()  # noqa: RUF009
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    unused: tuple[str, ...] = ()
    meant: Mapping[str, str] = field(default_factory=dict, hash=False)
    chosen: str = ""
    found: int = 0
    undated: int = 0
    # A timestamp that is not an instant, if there is one.
    odd: str = ""
    # Whether the usage has a column of timestamps.
    timed: bool = True
    # The rows at list prices because they name no account, where those of accounts have the prices of their contracts.
    without_account: int = 0

    def with_columns(self, usage: Usage, plan: Plan, types: Collection[str | None]) -> "Reading":
        """Return the same with the columns that rows of these types have, or could have."""
        layouts = {name: layout for name, layout in usage.layouts.items() if name in types}
        known = {name: tuple(column.name for column in layout.columns) for name, layout in layouts.items()}
        dated = plan.dated or plan.chosen.by_day or DAY in plan.keys
        used = [name for name in _HEAD if name != "timestamp" or dated]
        chosen = read_condition(usage.where).columns if usage.where else ()
        used += [
            *plan.keys,
            *filter(None, [plan.account]),
            *chosen,
            *plan.chosen.columns,
            *(name for names in known.values() for name in names),
        ]
        columns = {name: usage.columns[name] for name in dict.fromkeys(used) if usage.has(name)}
        if usage.is_ledger:  # every column of an export is part of the ledger that is made of it
            return replace(self, columns={name: each for name, each in columns.items() if name not in ("type",)})
        missing = {name: tuple(each for each in names if not usage.has(each)) for name, names in known.items()}
        unused = tuple(name for name in usage.types if name not in columns.values())
        lacking = dict.fromkeys(name for names in missing.values() for name in names)
        meant = {name: near for name in unused if name not in USAGE_COLUMNS and (near := _meant(name, lacking))}
        return replace(
            self,
            columns=columns,
            missing={name: names for name, names in missing.items() if names},
            unused=unused,
            meant=meant,
            timed=usage.has("timestamp"),
        )

    def record(self) -> dict[str, Any]:
        """Return its parts as values of JSON."""
        return asdict(self)

    def warnings(self) -> list[str]:
        """Return what a reader must know: columns that look like missing ones, invalid timestamps, rows left out."""
        said = [
            f"Column '{name}' is not read. Did you mean '{near}'? Then name it: --map {near}={name}"
            for name, near in self.meant.items()
        ]
        if self.odd:
            words = "Write it like 2026-10-02 or 2026-10-02T15:00:00Z; docs/simulation.md says how to convert others"
            said.append(f"Timestamp '{self.odd}' is not an instant. {words}")
        if self.undated:
            rows = "1 row without an instant is" if self.undated == 1 else f"{self.undated} rows without an instant are"
            said.append(f"{rows} left out, because days are chosen")
        if self.without_account:
            one = self.without_account == 1
            rows = "1 row names no account, and is" if one else f"{self.without_account} rows name no account, and are"
            said.append(f"{rows} at list prices")
        return said


def _meant(name: str, missing: Collection[str]) -> str | None:
    """Return the missing column that a column of the usage looks like."""
    words = name.lower()
    if (alias := OTHER_NAMES.get(words)) in missing:
        return alias
    return next(iter(suggestions(name, missing, most=1, slip=True)), None)
