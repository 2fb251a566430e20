"""Lay a candidate over tables: new tables with a new version of every model that it changes.

A change that cannot be made raises `Refusal` with (path into the change, message).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal

from ratecard.base.errors import Fault, TableError
from ratecard.base.instants import utc
from ratecard.base.layouts import Identity
from ratecard.base.messages import Finding, Path
from ratecard.candidates.file import CandidateFile
from ratecard.candidates.rates import At, Refusal, amounts_of, lines_to_set, moved, rates_to_scale, scaled, source_of
from ratecard.contracts.checks import ContractChecks, contract_faults, fault_at
from ratecard.load.checks import check_metered, check_model, check_references, check_video
from ratecard.load.monthly import TermChecks
from ratecard.tables.candidate import Add, Change, Retire, Scale, SetRate
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.selection import ModelNames, Selection, known_names, names_of_model, no_model
from ratecard.tables.version import Retirement, Version
from ratecard.tables.video import VideoModel


def selected(
    models: Mapping[str, AnyModel],
    families: Mapping[str, str],
    wanted: Selection,
    path: Path,
    *,
    day: str = "",
    priced: Callable[[AnyModel], bool] = lambda model: True,
) -> list[AnyModel]:
    """Return the models that a selection names and does not leave out, in the order of `models`.

    A family or type means only its models that are `priced`; an id means its model with or without a price. `path` is
    the place of the selection in the file, and `day` says in messages when a model has no price, like ` on 2027-03-01`.
    Raises `Refusal` with every name that matches nothing, and every `except` that leaves nothing out.
    """
    known, findings = known_names(models, families), list[Finding]()
    excluded = [(names, (*path, "except", number)) for number, names in enumerate(wanted.excluded)]
    for names, at in [(wanted, path), *excluded]:
        findings += [((*at, *key), words) for key, words in names.unclear()]
        findings += [((*at, part), words) for part, words in names.unknown(known)]
    if findings:
        raise Refusal(*dict.fromkeys(findings))
    has = {name: names_of_model(model, families) for name, model in models.items()}
    named = [
        model
        for name, model in models.items()
        if ModelNames.fits(wanted, has[name]) and (wanted.model or priced(model))
    ]
    findings += [
        (path, f"matches nothing: no model of {words} has a price{day}") for words in _idle(named, families, wanted)
    ]
    for names, at in excluded if not findings else ():
        left_out = [model for model in named if names.fits(has[model.model])]
        words = f"excludes nothing: of the models of {wanted} that have a price{day}, none is of"
        findings += [(at, f"{words} {idle}") for idle in _idle(left_out, families, names)]
    chosen = [model for model in named if wanted.fits(has[model.model])]
    if not chosen and not findings:
        findings.append(((*path, "except"), f"excludes every model of {wanted} that has a price{day}; nothing is left"))
    if findings:
        raise Refusal(*dict.fromkeys(findings))
    return chosen


def _idle(fitting: Collection[AnyModel], families: Mapping[str, str], names: ModelNames) -> Iterator[str]:
    """Yield, as text, each name of a selection that none of the `fitting` models has."""
    for part, listed in names.named:
        has = {names_of_model(model, families)[part] for model in fitting}
        yield from (str(names.model_copy(update={part: (name,)})) for name in listed if name not in has)


def in_effect(model: AnyModel, day: date, path: Path) -> Version:
    """Return the version of a model in effect on a day. Raises `Refusal` that says why there is none."""
    version = model.version_at(day)
    if version is None:
        words = f"its first version takes effect on {model.versions[-1].effective}"
    elif model.retired and model.retired_at(day):
        words = f"it is retired on {model.retired.on}"
    else:
        return version
    raise Refusal((path, f"matches nothing: {model.model} has no price on {day}; {words}"))


def models_charging(models: Mapping[str, AnyModel], surcharge: str, day: date) -> list[str]:
    """Return the names of the text models that charge a surcharge for searches on a day or later."""
    return sorted(
        model.model
        for model in models.values()
        for version in model.versions
        if surcharge in version.searches.values()
        if (version is model.version_at(day) or version.begins > utc(day)) and not model.retired_at(day)
    )


def with_candidate(tables: Tables, file: CandidateFile, *, idle: bool = False) -> Tables:
    """Lay a candidate over tables and return the new tables; `tables` does not change.

    A change that matches nothing is an error at its line. So is one that changes nothing, unless `idle` allows it:
    when many factors are tried, one may change nothing. Raises `TableError` with every error.
    """
    overlay = _Overlay(tables, file, idle)
    for index, change in file.changes:
        try:
            overlay.apply(index, change)
        except Refusal as refusal:
            overlay.faults += [file.fault(index, path, words) for path, words in refusal.findings]
    overlay.check()
    tables_with = overlay.tables()
    faults = overlay.faults or list(_faults_of_contracts(tables, tables_with, file))
    if faults:
        raise TableError(sorted(faults, key=lambda fault: fault.line))
    return tables_with


def _faults_of_contracts(base: Tables, tables: Tables, file: CandidateFile) -> Iterator[Fault]:
    """Yield the faults of a candidate's contracts: those of any contract, and names and dates that it cannot have."""
    head, names = file.candidate, set[str]()
    for contract in file.contracts:
        name, ends = contract.contract, contract.until
        if name in base.contracts or name in names:
            where = base.contracts[name].place if name in base.contracts else "this candidate"
            words = f"contract '{name}' is in {where} already. Give this one another name; to change that one, write"
            yield fault_at(contract.place, name, f"{words} extends: {name}")
        if contract.begins < head.effective:
            words = f"from {contract.begins} is before {head.effective}, from which the candidate holds"
            yield fault_at(contract.place, name, f"{words}. Let it begin then or later")
        if head.until and (ends is None or ends > head.until):
            words = f"until {head.until} ends the candidate, and the contract holds longer"
            yield fault_at(contract.place, name, f"{words}. Write until: {head.until} in it")
        names.add(name)
    if not names:
        return
    yield from contract_faults(tables)
    checks, terms = ContractChecks(tables), TermChecks(tables.models, tables.families, tables.units, tables.meters)
    for index, contract in enumerate(file.contracts):
        at = ("contracts", index, "monthly")
        for path, words in terms.of_contract(contract) if contract.monthly else ():
            yield Fault(file.text.name, file.text.line((*at, *path)), (*at, *path), words)
        for override in contract.overrides:
            if reason := checks.idle(contract, override):
                yield fault_at(override.source, contract.contract, f"{override.kind} {reason}. Leave it out")


class _Overlay:
    """Tables while the changes of one candidate are made, in the order of the file."""

    def __init__(self, base: Tables, file: CandidateFile, idle: bool) -> None:
        self.base, self.file, self.day, self.until = base, file, file.candidate.effective, file.candidate.until
        self.idle = idle
        self.models, self.families, self.files = dict(base.models), dict(base.families), dict(base.files)
        self.faults: list[Fault] = list(file.text.faults)
        # Every name, aliases too, with the id of its model.
        self.taken = {name: model_id for model in base.models.values() for name, model_id in _names_of(model).items()}
        # The index of the change that gave a model other rates, added it, retired it, or set a rate.
        self.changed: dict[str, int] = {}
        self.added: dict[str, int] = {}
        self.retired: dict[str, int] = {}
        self.rates_set: dict[tuple[str, date, At], int] = {}
        # The indexes of the changes that gave a rate another amount, in order.
        self.moves: dict[tuple[str, date, At], list[int]] = {}
        # Versions of this candidate by model and first day; and those that end it, with which list prices hold again.
        self.made: set[tuple[str, date]] = set()
        self.restored: set[tuple[str, date]] = set()

    def tables(self) -> Tables:
        models, base = self.models, self.base
        proposed = base.proposed | self.made | self.restored | {(name, self.day) for name in self.added}
        return replace(
            base,
            models=models,
            families=self.families,
            files=self.files,
            proposed=proposed,
            restored=base.restored | self.restored,
            contracts={**base.contracts, **{contract.contract: contract for contract in self.file.contracts}},
            below=base,
        )

    def apply(self, index: int, change: Change) -> None:
        match change:
            case Add():
                self._add(index, change)
            case Retire():
                self._refuse_until(("retire",), "a model is retired for good")
                _each(change.retire, lambda name: self._retire(index, change, name))
            case SetRate():
                _each(change.set, lambda name: self._set(index, change, name))
            case _:
                self._scale(index, change)

    def _add(self, index: int, change: Add) -> None:
        self._refuse_until(("add",), "a model that is added stays")
        model = change.add
        if model.model in self.models:
            words = f"model '{model.model}' is in the tables already ({self.files[model.model]}); use set or scale"
            raise Refusal((("add", "model"), words))
        for alias in model.aliases or ():
            if alias == model.model or alias in self.taken:
                words = f"alias '{alias}' is a name of '{self.taken.get(alias, model.model)}' too. Leave it out"
                raise Refusal((("add", "aliases"), words))
        if model.model in self.taken:
            words = f"model '{model.model}' is an alias of '{self.taken[model.model]}'. Name it otherwise"
            raise Refusal((("add", "model"), words))
        if model.patterns and not self.base.patterns:
            raise Refusal((("add", "patterns"), "patterns are off in the tables. Leave them out"))
        first = model.versions[-1].effective if model.versions else self.day
        if utc(first) < utc(self.day):
            path = ("add", "versions", len(model.versions) - 1, "effective")
            raise Refusal((path, f"effective {first} is before {self.day}, from which the candidate holds"))
        self.taken |= _names_of(model)
        self.models[model.model], self.families[model.model] = model, change.family
        self.files[model.model], self.added[model.model] = self.file.text.name, index

    def _refuse_until(self, path: Path, words: str) -> None:
        if self.until is not None:
            words = f"{words}, and until ends this candidate on {self.until}; write it in one without until"
            raise Refusal((path, words))

    def _retire(self, index: int, change: Retire, name: str) -> None:
        model = self._model(name, ("retire",))
        if model.model in self.changed:
            words = f"{self._line(self.changed[model.model])} changes {model.model} from the same day on; keep one"
            raise Refusal((("retire",), words))
        if model.retired and model.retired.on <= self.day:
            raise Refusal((("retire",), f"changes nothing: {model.model} is retired already, on {model.retired.on}"))
        if charged := models_charging(self.models, model.model, self.day):
            words = f"text models charge by '{model.model}' from then on, like {charged[0]}"
            raise Refusal((("retire",), f"{words}; give them versions without it first"))
        retired = Retirement(on=self.day, successor=change.successor)
        self.models[model.model] = model.model_copy(update={"retired": retired})
        self.retired[model.model] = index

    def _set(self, index: int, change: SetRate, name: str) -> None:
        model, amounts, source = self._model(name, ("set",)), {}, None
        for day, version in self._bases(model, ("set",)):
            try:
                chosen = lines_to_set(name, version, change, self.base.meters)
            except Refusal as refusal:
                if day == self.day:
                    raise
                # The version begins while the candidate holds: the message names its line.
                before = f"from {day} on ({version.place}): "
                raise Refusal(*((path, before + words) for path, words in refusal.findings)) from None
            earlier = [self.rates_set[name, day, at] for at in chosen if (name, day, at) in self.rates_set]
            if earlier:
                words = f"{self._line(earlier[0])} sets a {change.word} that is meant here too; keep one"
                raise Refusal((("set",), words))
            known = amounts_of(version)
            source = source or source_of(version, chosen[0])
            amounts[day] = version, {at: change.amount for at in chosen if known[at] != change.amount}
            self.rates_set |= {(name, day, at): index for at in chosen}
        if not self.idle and not any(moving for _, moving in amounts.values()):
            word = change.word
            raise Refusal(((word,), f"changes nothing: {name} has this {word} already ({source})"))
        self._new_versions(index, model, amounts)

    def _scale(self, index: int, change: Scale) -> None:
        wanted, path = change.scale, ("scale",)
        for name in wanted.model or ():
            self._refuse_added(name, path)
        # A model that the candidate adds keeps its rates as they are written.
        listed = {name: model for name, model in self.models.items() if name not in self.added}
        models = selected(listed, self.families, wanted, path, day=f" on {self.day}", priced=self._priced)
        if change.times == 1 and change.round is None:
            raise Refusal(((change.word,), "changes nothing: every rate x 1 is the same"))
        bases: list[tuple[AnyModel, date, Version]] = []
        findings: list[Finding] = []
        for model in models:
            try:
                bases += [(model, *base) for base in self._bases(model, path)]
            except Refusal as refusal:
                findings += refusal.findings
        scaling: dict[str, dict[date, tuple[Version, dict[At, Decimal]]]] = {}
        named = [(model.model, version) for model, _, version in bases]
        chosen = rates_to_scale(named, change, self.base.meters) if bases else []
        for (model, day, version), rates in zip(bases, chosen, strict=True):
            try:
                scaling.setdefault(model.model, {})[day] = version, scaled(version, change, rates)
            except Refusal as refusal:
                findings += refusal.findings
        if findings:
            raise Refusal(*findings)
        # A free model stays as it is, as long as the change has other models.
        moving = {name: days for name, days in scaling.items() if any(amounts for _, amounts in days.values())}
        if not moving and not self.idle:
            why = "all of these rates are 0" if change.round is None else "rounded, these rates are as they were"
            raise Refusal((path, f"changes nothing: {why}"))
        for name, days in moving.items():
            self._new_versions(index, self.models[name], days)

    def _model(self, name: str, path: Path) -> AnyModel:
        self._refuse_added(name, path)
        if name not in self.models:
            raise Refusal((path, no_model(name, self.models)))
        return self.models[name]

    def _refuse_added(self, name: str, path: Path) -> None:
        if name in self.added:
            raise Refusal((path, f"{self._line(self.added[name])} adds {name}; write it there as it should be"))

    def _priced(self, model: AnyModel) -> bool:
        return model.version_at(self.day) is not None and not model.retired_at(self.day)

    def _bases(self, model: AnyModel, path: Path) -> Iterator[tuple[date, Version]]:
        """Yield each day on which a new version begins, up to `until`, with the version that it is based on.

        A version that begins on the candidate's day is replaced only if another candidate made it.
        """
        name, version = model.model, in_effect(model, self.day, path)
        if version.effective == self.day and name not in self.changed and (name, self.day) not in self.base.proposed:
            where = self.files.get(name, "the tables")
            raise Refusal((path, f"{name} has a version from {self.day} already ({where}). Choose another day"))
        restored = min((day for other, day in self.base.restored if other == name and day > self.day), default=None)
        if self.until is None and restored is not None:
            words = f"{name} has its list prices again from {restored} on, by `until` of a candidate below this one"
            raise Refusal((path, f"{words}, which would end this one; stack it above this one"))
        yield self.day, version
        for later in reversed(model.versions):
            if self.until and utc(self.day) < later.begins < utc(self.until) and not model.retired_at(later.effective):
                yield later.effective, later

    def _new_versions(
        self, index: int, model: AnyModel, amounts: Mapping[date, tuple[Version, Mapping[At, Decimal]]]
    ) -> None:
        # This comes before the first change, while `model` still has the list prices.
        if model.model not in self.changed:
            self._end(model)
        self.changed[model.model] = index
        for day, (base, moving) in amounts.items():
            if not moving:
                continue
            version, source = (model.model, day), self.file.candidate.source
            place = self.file.text.place(("changes", index))
            if base.effective == day:
                # The source that an earlier candidate, or the list, gave for the same day is kept as well.
                source = base.source if version in self.made else f"{base.source}; {source}"
            fields = {**self._head(day, source), "place": place, **moved(base, moving, place)}
            self._put(model.model, base.model_copy(update=fields))
            self.made.add(version)
            for at in moving:
                self.moves.setdefault((*version, at), []).append(index)

    def _end(self, model: AnyModel) -> None:
        """End the candidate at `until` with a version of the list prices, unless a version begins on that day."""
        if self.until is None or model.retired_at(self.until):
            return
        version = in_effect(model, self.until, ())
        if version.effective != self.until:
            head = self._head(self.until, f"the prices before {self.file.candidate.source}")
            self._put(model.model, version.model_copy(update=head | {"place": self.file.text.place(("until",))}))
            self.restored.add((model.model, self.until))

    def _head(self, day: date, source: str) -> dict[str, object]:
        """Return the head of a new version; the notes of the version that it is based on do not apply to it."""
        dates = {"effective": day, "announced": self.file.candidate.announced}
        return {**dates, "source": source, "reference": None, "correction": None, "expected_change": None}

    def _put(self, name: str, version: Version) -> None:
        model = self.models[name]
        others: list[Version] = [other for other in model.versions if other.effective != version.effective]
        versions = sorted([version, *others], key=lambda other: other.begins, reverse=True)
        self.models[name] = model.model_copy(update={"versions": tuple(versions)})

    def check(self) -> None:
        """Check the result: every change has an effect in the end, and models obey the rules of loaded tables."""
        if not self.idle:
            self._check_effect()
        broken = self.file.written - self.models.keys()
        for made in (self.changed, self.added, self.retired):
            for name, index in made.items():
                for path, words in self._findings(self.models[name], broken):
                    # Only a model that is added is written in this file, so only its faults point to lines inside it.
                    at = ("add", *path) if made is self.added else path[1:] if path[:1] == ("retired",) else ()
                    self.faults.append(self.file.fault(index, at, words))

    def _check_effect(self) -> None:
        """Record a fault for each model whose rates did not change, and each change that another one undoes."""
        reported: set[int] = set()
        for name, index in self.changed.items():
            before, after = (self._rates(models[name]) for models in (self.base.models, self.models))
            if before == after:
                others = {move for place, moves in self.moves.items() if place[0] == name for move in moves} - {index}
                words = f"changes nothing of {name}: it undoes {self._lines(others)}, its rates are as they were"
                better = "Leave both out; to change all models but one, use except"
                self.faults.append(self.file.fault(index, (), f"{words}. {better}"))
                reported |= {index, *others}
        undoing: dict[int, set[int]] = {}
        for place, moves in self.moves.items():
            name, day, at = place
            old, new = (amounts_of(in_effect(models[name], day, ()))[at] for models in (self.base.models, self.models))
            # If an amount is unchanged, only the last change had an effect; if it is set, no earlier change had one.
            first = moves[-1] if old == new else min(self.rates_set.get(place, moves[0]), moves[-1])
            reported |= {index for index in moves if index >= first}
            for index in moves:
                undoing.setdefault(index, set()).add(first)
        for index in undoing.keys() - reported:
            words = f"changes nothing: {self._lines(undoing[index])} undoes it. Leave one of them out"
            self.faults.append(self.file.fault(index, (), words))

    def _lines(self, indexes: Collection[int]) -> str:
        return " and ".join(map(self._line, sorted(indexes)))

    def _rates(self, model: AnyModel) -> list[Decimal]:
        """Return every rate on the candidate's first day, and on each later day on which a version of it begins."""
        begins = (version.begins for version in model.versions if self.until and version.begins < utc(self.until))
        moments = {
            utc(self.day),
            *(instant for instant in begins if instant > utc(self.day) and not model.retired_at(instant)),
        }
        return [amount for moment in sorted(moments) for amount in amounts_of(in_effect(model, moment, ())).values()]

    def _findings(self, model: AnyModel, broken: Collection[str]) -> Iterator[Finding]:
        below = self.base.models.get(model.model)
        checked = {Identity(version) for version in below.versions} if below else set[Identity]()
        # The versions that the tables had before were checked when they were loaded.
        made = model.model_copy(
            update={"versions": tuple(version for version in model.versions if Identity(version) not in checked)}
        )
        yield from check_model(model, self.base.units, self.base.meters)
        if isinstance(made, VideoModel):
            yield from check_video(made, self.base.vocabulary.video)
        else:
            yield from check_metered(made, self.base.meters)
        yield from check_references(model, self.models, broken)

    def _line(self, index: int) -> str:
        return f"line {self.file.text.line(('changes', index))}"


def _each(names: Iterable[str], change: Callable[[str], object]) -> None:
    """Change each of these models. Raises `Refusal` with the findings of all of them."""
    findings: list[Finding] = []
    for name in names:
        try:
            change(name)
        except Refusal as refusal:
            findings += refusal.findings
    if findings:
        raise Refusal(*dict.fromkeys(findings))


def _names_of(model: AnyModel) -> dict[str, str]:
    return dict.fromkeys((model.model, *(model.aliases or ())), model.model)
