"""Write a price list into a folder of tables: a new one, or new lines of one that an earlier import wrote.

All files or none are written, and only once they load and every example has its total. A report says what is left out.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from operator import attrgetter
from pathlib import Path as Folder
from typing import Any

from ratecard.base.errors import Fault, RateCardError, TableError
from ratecard.base.files import replace_files
from ratecard.base.instants import day_or_instant, utc
from ratecard.base.messages import Path, plural, printable
from ratecard.base.money import plain, plain_text, text
from ratecard.card import RateCard
from ratecard.examples import faults_of, wrong_examples
from ratecard.load.folder import METERS, OPTIONAL, SHARED, UNITS, Disk, TableFiles, read_folder, tables_from
from ratecard.load.positions import Positions, literal
from ratecard.price_lists.lines import (
    TableLines,
    bucket_line,
    condition_lines,
    listing,
    meter_lines,
    unit_lines,
    value_line,
)
from ratecard.price_lists.peer import UNDATED, LeftOut, PeerModel, PriceList
from ratecard.review.insertion import FILE_NAME, Insertion, inserted, new_retirement
from ratecard.tables.card import AnyModel, Tables, meaning
from ratecard.tables.meters import TOKEN
from ratecard.tables.scalars import meant_by
from ratecard.tables.version import Retirement, Version

# The file of a folder that names everything that the last import left out. It is not a table.
LEFT_OUT = "left-out.txt"
# The most models that a line names.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import: how many models, versions and retirements it added to a folder, and in which files.

    `left_out` are the models that the folder does not have as the list has them; `digest` is that of the folder.
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
        return tuple(model for model in self.left_out if model.priced)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as an object for JSON."""
        counts = {"models": self.models, "versions": self.versions, "retired": self.retired}
        head = {"folder": self.folder, "source": self.source, "digest": self.digest}
        left_out = [{"model": printable(one.model), "reason": printable(str(one))} for one in self.inexpressible]
        without_price = [printable(model.model) for model in self.left_out if not model.priced]
        return {
            **head,
            "added": counts,
            "files": list(self.files),
            "left_out": left_out,
            "without_price": without_price,
        }

    def __str__(self) -> str:
        parts = [plural(self.models, "model"), plural(self.versions, "version")]
        parts += [f"{plural(self.retired, 'model')} retired"] if self.retired else []
        added = f"{', '.join(parts)} added to {plural(len(self.files), 'file')}"
        summary = added if self.files else "nothing has changed"
        lines = [f"{self.source} -> {self.folder}: {summary}. Digest {self.digest}."]
        lines += _by_reason("Left out", self.inexpressible)
        lines += _by_reason("Without a price", [model for model in self.left_out if not model.priced])
        lines += [f"Each is named in {self.folder}/{LEFT_OUT}."] if self.left_out else []
        return "\n".join(map(printable, lines))


def _by_reason(words: str, left_out: Sequence[LeftOut]) -> Iterable[str]:
    """Yield the number of these models, and some models for each reason, in words."""
    if left_out:
        yield f"{words}: {plural(len(left_out), 'model')}"
    reasons: dict[str, list[str]] = {}
    for model in left_out:
        reasons.setdefault(model.reason.partition("\n")[0], []).append(model.model)
    for reason, names in reasons.items():
        further = f", and {len(names) - _NAMED:,} more" if names[_NAMED:] else ""
        yield f"  {reason.rstrip(':')}: {', '.join(names[:_NAMED])}{further}"


def import_list(listed: PriceList, folder: Folder, *, effective: date, checked: date) -> Imported:
    """Write a list into a folder, or add to the folder what has changed in the list since the last import.

    `effective` is the day from which an undated change of the list holds, and on which a model that vanished from the
    list is retired; `checked` is written into new versions. Models that the tables refuse are left out, with a reason;
    `left-out.txt` in the folder names all that is left out. Raises `TableError` if the folder has tables of something
    else or cannot be written to, and `RateCardError` for a list without any price, which would retire all models; the
    folder then stays as it was.
    """
    if not listed.models and not any(model.priced for model in listed.left_out):
        raise RateCardError(f"{listed.source} is not a price list: no model in it has a price")
    additions, tables = _sound(_named(listed), effective, checked)
    has_tables = folder.is_dir() and TableFiles(Disk(), os.path.realpath(folder)).found
    before = read_folder(folder) if has_tables else {}
    if before:
        additions = _Additions(additions.listed, additions.lines, before, effective, tables)
        tables = tables_from({**before, **additions.contents})
        if wrong := faults_of(RateCard(tables).work_all()):
            raise TableError(wrong)
    files, left_out = tuple(sorted(additions.contents)), tuple(additions.left_out)
    counts = (additions.models, additions.versions, additions.retired)
    named = folder / LEFT_OUT
    kept = {LEFT_OUT: named.read_bytes()} if named.exists() else {}
    names = {LEFT_OUT: _text(printable(f"{model.model}: {model}") for model in left_out)} if kept or left_out else {}
    replace_files(folder, {**before, **kept}, {**additions.contents, **names})
    return Imported(str(folder), listed.source, files, *counts, left_out, tables.digest)


def _file(provider: str) -> str:
    return f"{provider}.yaml"


def _noise(model: PeerModel) -> str:
    """Return, as text, the prices of a model that a float has spoilt, with the prices meant; empty without any."""
    rates = (rate for version in model.versions for charge in version.charges for rate in charge.rates)
    exact = {rate.amount: intended for rate in rates if (intended := meant_by(plain(rate.amount))) is not None}
    return ", ".join(f"{plain_text(amount)} for {text(intended)}" for amount, intended in exact.items())


def _named(listed: PriceList) -> PriceList:
    """Return the list without models that files cannot hold: unsafe or repeated names, prices spoilt by a float."""
    ids = {model.model for model in listed.models}
    models, left_out, used = [], list(listed.left_out), set[str]()
    for model in listed.models:
        # A tab or a line break in a name is shown as a space.
        name, title = model.model, " ".join(model.name.split())
        if not FILE_NAME.fullmatch(model.provider) or _file(model.provider) in (*SHARED, *OPTIONAL):
            left_out.append(model.left_out("its provider's name cannot be that of a file"))
        elif not (name + title + "".join(model.aliases)).isprintable():
            left_out.append(model.left_out("its name has an invisible character"))
        elif name in used:
            left_out.append(model.left_out("the list has another model of this name before it"))
        elif noise := _noise(model):
            left_out.append(model.left_out("its rates have the noise of a float", detail=noise))
        else:
            full = dict.fromkeys(f"{model.provider}/{alias}" for alias in model.aliases)
            aliases = tuple(alias for alias in full if alias not in ids and alias not in used)
            used |= {name, *aliases}
            models.append(replace(model, name=title, aliases=aliases))
    models.sort(key=attrgetter("model"))
    return replace(listed, models=tuple(models), left_out=tuple(left_out))


def _sound(listed: PriceList, effective: date, checked: date) -> tuple["_Additions", Tables]:
    """Return a list as a new folder and its tables, without models at fault, which are left out with a reason."""
    while True:
        additions = _Additions(listed, TableLines(listed.source, checked), {}, effective)
        try:
            tables = tables_from(additions.contents)
            faults: Sequence[Fault] = wrong_examples(RateCard(tables)._compiler)
        except TableError as error:
            faults = error.faults
        if not faults:
            return additions, tables
        reasons: dict[str, str] = {}
        for fault in faults:
            # The path of a wrong example begins with the model; that of any other fault, with its place in the file.
            name = str(fault.path[0]) if fault.path else ""
            if name == "models" and len(fault.path) > 1:
                of_file = [model for model in listed.models if _file(model.provider) == fault.file]
                name = of_file[int(fault.path[1])].model
            reasons.setdefault(name, fault.message)
        if reasons.keys() - {model.model for model in listed.models}:
            raise TableError(faults)
        refused = [model.left_out(reasons[model.model]) for model in listed.models if model.model in reasons]
        kept = tuple(model for model in listed.models if model.model not in reasons)
        listed = replace(listed, models=kept, left_out=(*listed.left_out, *refused))


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


class _Additions:
    """The additions of a list to a new folder or that of an earlier import: contents of files, and how much is new.

    `fresh` are the tables of the list alone, which a new folder does not need. Raises `TableError` if more is needed
    than new lines, or if the folder is of another list.
    """

    def __init__(
        self,
        listed: PriceList,
        lines: TableLines,
        before: Mapping[str, bytes],
        effective: date,
        fresh: Tables | None = None,
    ) -> None:
        self.listed, self.lines, self.before, self.effective = listed, lines, before, effective
        self.tables = tables_from(before)
        self.fresh = fresh or self.tables
        self.insertions = defaultdict[str, list[Insertion]](list)
        self.left_out = list(listed.left_out)
        self._at = cache(lambda home: Positions(home, before[home]))
        self.models = self.versions = self.retired = 0
        self.contents = self._made()

    def _made(self) -> dict[str, bytes]:
        self._refuse_others()
        added: dict[str, list[str]] = {}
        for model in map(self._with_free_aliases, self.listed.models):
            name = model.model
            if name in self.tables.models:
                self._change(model, self.tables.models[name])
            elif (other := self.tables.aliases.get(name)) is not None:
                self._leave_out(model, f"its name is an alias of {other} in {self.tables.files[other]}")
            else:
                added.setdefault(model.provider, []).extend(self._new_model(model))
        # Without a model, the folder could not be read by any command, and not by the next import either.
        new = self._shared() if added or self.before else {}
        for provider, lines in added.items():
            if _file(provider) in self.before:
                self._insert(_file(provider), None, lines)
            else:
                new[_file(provider)] = _text([f"family: {literal(provider)}", "models:", *lines])
        self._retire()
        for home, insertions in self.insertions.items():
            new[home], _ = inserted(self._at(home), self.before[home], insertions)
        return new

    def _with_free_aliases(self, model: PeerModel) -> PeerModel:
        """Return a model with the aliases that the folder lacks; those of other models there are named as left out."""
        owners = {alias: known.model for alias in model.aliases if (known := self.tables.named(alias))}
        for alias, owner in owners.items():
            if owner != model.model:
                reason = "the folder has its alias as a name of another model: edit that by hand"
                detail = f"{alias} of {owner} in {self.tables.files[owner]}"
                self.left_out.append(model.left_out(reason, detail=detail))
        return replace(model, aliases=tuple(alias for alias in model.aliases if alias not in owners))

    def _new_model(self, model: PeerModel) -> list[str]:
        """Return the lines of a model that the folder lacks."""
        self.models, self.versions = self.models + 1, self.versions + len(model.versions)
        return self.lines.of_model(model)

    def _retire(self) -> None:
        listed = {model.model for model in self.listed.models} | {model.model for model in self.listed.left_out}
        for name, old in self.tables.models.items():
            if name in listed or old.retired is not None:
                continue
            home = self.tables.files[name]
            if utc(self.effective) <= old.versions[-1].begins:
                words = f"the list has it no more, before its first price holds on {old.versions[-1].effective}"
                provider, _, id_ = name.partition("/")
                self.left_out.append(LeftOut(provider, id_, f"{words}: edit {home} by hand"))
            else:
                at = self._at(home)
                retired = new_retirement(at, ("models", at.models[name]), Retirement(on=self.effective))
                self.insertions[home].append(retired)
                self.retired += 1

    def _refuse_others(self) -> None:
        """Raise `TableError` for models that no import of this list wrote."""
        list_name, *_ = self.listed.source.split()
        for model in self.tables.models.values():
            if any(version.source.split()[0] != list_name for version in model.versions):
                words = f"{model.model} is not from {list_name}. Import into a folder of its own"
                raise TableError([_fault(model.versions[0], words)])

    def _change(self, model: PeerModel, old: AnyModel) -> None:
        """Add the versions that give a model the prices of the list, and its new aliases."""
        if old.retired is not None:
            place = old.versions[0].place.rpartition(":")[0]
            self._leave_out(model, f"it is retired in {place}, and listed again: edit that by hand")
            return
        wanted = self.fresh.models[old.model]
        try:
            versions = list(_new_versions(old, wanted, self.effective))
        except TableError as error:
            self._leave_out(model, str(error))
            return
        home = self.tables.files[old.model]
        at = self._at(home)
        number = at.models[old.model]
        aliases = [f"      - {literal(alias)}" for alias in model.aliases]
        if aliases and old.aliases:
            at.dash(("models", number, "aliases", 0))  # a list in brackets is refused
            self._add_lines(home, ("models", number, "aliases"), aliases)
        elif aliases:
            self._insert(home, at.line(at.keys["models", number, "versions"]).start, ["    aliases:", *aliases])
        source = {version.effective: version for version in model.versions}
        for effective, listed_version in versions:
            lines = self.lines.of_version(model, source[listed_version.effective], effective)
            below = [index for index, version in enumerate(old.versions) if version.begins < utc(effective)]
            path, last = ("models", number, "versions"), len(old.versions) - 1
            self._insert(home, at.above((*path, below[0])) if below else at.after((*path, last)), lines)
            self.versions += 1

    def _shared(self) -> dict[str, bytes]:
        """Return the shared files with the entries of the list that they lack."""
        listed, new = self.listed, dict[str, bytes]()
        parts = {
            (UNITS, "units", "unit"): unit_lines(self.lines.units),
            (METERS, "meters", "meter"): meter_lines(listed),
            (METERS, "conditions", "condition"): condition_lines(listed),
        }
        for (home, key, kind), items in parts.items():
            if home in self.before:
                at = self._at(home)
                numbers = at.numbers(key, kind)
                if key == "meters" and TOKEN in numbers:
                    had = self.tables.meters.buckets
                    further = [bucket_line(name, part) for name, part in listed.buckets.items() if name not in had]
                    self._add_lines(home, (key, numbers[TOKEN], "buckets"), further)
                for condition in listed.conditions if key == "conditions" else ():
                    if condition.condition in numbers:
                        known = self.tables.meters.condition[condition.condition].values
                        values = [value_line(value) for value in condition.values if value not in known]
                        self._add_lines(home, (key, numbers[condition.condition], "values"), values)
                items = {name: lines for name, lines in items.items() if name not in numbers}
                if numbers:
                    self._add_lines(home, (key,), [line for lines in items.values() for line in lines])
                elif items:
                    self._insert(home, None, listing(key, items.values()))
            elif items:
                new[home] = new.get(home, b"") + _text(listing(key, items.values()))
        return new

    def _add_lines(self, home: str, path: Path, lines: Sequence[str]) -> None:
        if lines:
            at = self._at(home)
            self._insert(home, at.after((*path, at.lengths[path] - 1)), lines)

    def _insert(self, home: str, offset: int | None, lines: Sequence[str]) -> None:
        """Insert lines at an offset of a file; at its end if that is None."""
        at = self._at(home)
        before = at.eol if offset is None and not at.text.endswith(at.eol) else ""
        new = Insertion(len(at.text) if offset is None else offset, before + at.eol.join([*lines, ""]), home)
        self.insertions[home].append(new)

    def _leave_out(self, model: PeerModel, reason: str) -> None:
        self.left_out.append(model.left_out(reason))


def _new_versions(old: AnyModel, wanted: AnyModel, effective: date) -> Iterator[tuple[date, Version]]:
    """Yield the first day of each version to add to a model, newest first, with the version of the list for its rates.

    A price with a date in the list begins on that date, even a past one; any other holds from the day `effective` on.
    Raises `TableError` if lines of the folder would have to change.
    """
    old_versions = {version.begins: version for version in old.versions}
    new: dict[datetime, Version] = {}

    def holds(moment: datetime) -> Version | None:
        begun = [begins for begins in (*old_versions, *new) if begins <= moment]
        return {**old_versions, **new}[max(begun)] if begun else None

    dated = [version for version in reversed(wanted.versions) if version.effective != UNDATED]
    for dated_version in dated:
        if dated_version.begins not in old_versions and not _same(holds(dated_version.begins), dated_version):
            new[dated_version.begins] = dated_version
    later = {
        begins for begins in (*old_versions, *new, *(version.begins for version in dated)) if begins > utc(effective)
    }
    for moment in sorted({utc(effective), *later}):
        version: Version | None = wanted.version_at(moment)
        if version is None or _same(holds(moment), version):
            continue
        if known := old_versions.get(moment):
            words = f"other prices from {known.effective} on than the list has now: edit these lines by hand"
            raise TableError([_fault(known, words)])
        new[moment] = version
    for moment in sorted(new, reverse=True):
        yield day_or_instant(moment), new[moment]


def _same(one: Version | None, other: Version) -> bool:
    """Return True if two versions differ in nothing but their first day."""
    return one is not None and _undated(one) == _undated(other)


def _undated(version: Version) -> str:
    """Return the meaning of a version without its first day."""
    return meaning(version.model_copy(update={"effective": UNDATED}))


def _fault(version: Version, words: str) -> Fault:
    home, _, line = version.place.rpartition(":")
    return Fault(home, int(line), (), words)
