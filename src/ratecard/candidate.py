"""A candidate laid over tables: new immutable tables, with a new version of every model that it changes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from ratecard.candidate_models import in_effect, named, selected, users
from ratecard.candidate_rates import At, Refusal, found, moved, rates_of, scaled
from ratecard.load.candidate_file import CandidateFile
from ratecard.load.checks import Finding, check_model, check_references
from ratecard.load.metered_checks import check_metered
from ratecard.load.video_checks import check_video
from ratecard.tables.candidate import Add, Change, Retire, Scale, SetRate
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.digest import digest
from ratecard.tables.version import Retirement, Version
from ratecard.tables.video import VideoModel
from ratecard.words.errors import Fault, TableError
from ratecard.words.tree import Path


def with_candidate(tables: Tables, file: CandidateFile, *, idle: bool = False) -> Tables:
    """The tables as they would be. The base stays as it is.

    A change that matches nothing is an error at its line; so is one that changes nothing, unless `idle` ones are
    allowed: one of many factors that are tried may happen to. Raises `TableError` with all of them.
    """
    overlay = _Overlay(tables, file, idle)
    for index, change in file.changes:
        try:
            overlay.make(index, change)
        except Refusal as refusal:
            overlay.faults += [file.fault(index, path, words) for path, words in refusal.findings]
    overlay.check()
    if overlay.faults:
        raise TableError(sorted(overlay.faults, key=lambda fault: fault.line))
    return overlay.tables()


class _Overlay:
    """Tables while the changes of one candidate are made, one after the other, in the order of the file."""

    def __init__(self, base: Tables, file: CandidateFile, idle: bool) -> None:
        self.base, self.file, self.day, self.idle = base, file, file.candidate.effective, idle
        self.models, self.families, self.files = dict(base.models), dict(base.families), dict(base.files)
        self.faults: list[Fault] = list(file.faults)
        # What this candidate did so far, and in which change: models with other rates, added, retired; rates set.
        self.changed: dict[str, int] = {}
        self.added: dict[str, int] = {}
        self.retired: dict[str, int] = {}
        self.rates_set: dict[tuple[str, At], int] = {}

    def tables(self) -> Tables:
        models, base = self.models, self.base
        proposed = base.proposed | {(name, self.day) for name in (*self.changed, *self.added)}
        parts = [*models.values(), *base.units.values(), base.vocabulary, *base.limits]
        return replace(
            base,
            models=models,
            families=self.families,
            files=self.files,
            proposed=proposed,
            digest=digest(parts),
        )

    def make(self, index: int, change: Change) -> None:
        match change:
            case Add():
                self._add(index, change)
            case Retire():
                self._retire(index, change)
            case SetRate():
                self._set(index, change)
            case _:
                self._scale(index, change)

    def _add(self, index: int, change: Add) -> None:
        model = change.add
        if model.model in self.models:
            words = f"model '{model.model}' is in the tables already ({self.files[model.model]}); use set or scale"
            raise Refusal((("add", "model"), words))
        first = model.versions[-1].effective if model.versions else self.day
        if first < self.day:
            path = ("add", "versions", len(model.versions) - 1, "effective")
            raise Refusal((path, f"effective {first} is before {self.day}, from which the candidate holds"))
        self.models[model.model], self.families[model.model] = model, change.family
        self.files[model.model], self.added[model.model] = self.file.text.name, index

    def _retire(self, index: int, change: Retire) -> None:
        model = self._model(change.retire, ("retire",))
        if model.model in self.changed:
            words = f"{self._line(self.changed[model.model])} changes {model.model} from the same day on; keep one"
            raise Refusal((("retire",), words))
        if model.retired and model.retired.on <= self.day:
            raise Refusal((("retire",), f"changes nothing: {model.model} is retired already, on {model.retired.on}"))
        charged = users(self.models, model.model, self.day)
        if charged:
            words = f"text models charge by '{model.model}' from then on, like {charged[0]}"
            raise Refusal((("retire",), f"{words}; give them versions without it first"))
        retired = Retirement(on=self.day, successor=change.successor)
        self.models[model.model] = model.model_copy(update={"retired": retired})
        self.retired[model.model] = index

    def _set(self, index: int, change: SetRate) -> None:
        model = self._model(change.set, ("set",))
        name, version = model.model, self._base(model, ("set",))
        chosen = found(name, version, change)
        again = [self.rates_set[name, at] for at in chosen if (name, at) in self.rates_set]
        if again:
            raise Refusal((("set",), f"{self._line(again[0])} sets a rate that is meant here too; keep one"))
        rates = rates_of(version)
        amounts = {at: change.rate for at in chosen if rates[at].rate != change.rate}
        if not amounts and not self.idle:
            raise Refusal((("rate",), f"changes nothing: {name} has this rate already ({rates[chosen[0]].source})"))
        self.rates_set |= {(name, at): index for at in chosen}
        if amounts:
            self._new_version(index, model, version, amounts)

    def _scale(self, index: int, change: Scale) -> None:
        wanted, path = change.scale, ("scale",)
        if wanted.model is None:
            # A model that the candidate adds keeps the rates that it is written with.
            there = {name: model for name, model in self.models.items() if name not in self.added}
            models = selected(there, self.families, wanted, self.day)
        elif wanted.family is None and wanted.type is None:
            models = [self._model(wanted.model, path)]
        else:
            raise Refusal((path, "names a model, so leave out family and type"))
        if change.factor == 1:
            raise Refusal((("factor",), "changes nothing: every rate x 1 is the same"))
        scaling = []
        wrong: list[Finding] = []
        for model in models:
            try:
                version = self._base(self._model(model.model, path), path)
                scaling.append((model, version, scaled(version, change.factor)))
            except Refusal as refusal:
                wrong += refusal.findings
        if wrong:
            raise Refusal(*wrong)
        # A model that costs nothing stays as it is, as long as there are others.
        if not any(amounts for _, _, amounts in scaling):
            raise Refusal((path, "changes nothing: all of these rates are 0"))
        for model, version, amounts in scaling:
            if amounts:
                self._new_version(index, model, version, amounts)

    def _model(self, name: str, path: Path) -> AnyModel:
        if name in self.added:
            raise Refusal((path, f"{self._line(self.added[name])} adds {name}; write it there as it should be"))
        return named(self.models, name, path)

    def _base(self, model: AnyModel, path: Path) -> Version:
        """The version that a new one is based on; a day has one version, which only candidates may replace."""
        name, version = model.model, in_effect(model, self.day, path)
        if version.effective == self.day and name not in self.changed and (name, self.day) not in self.base.proposed:
            where = self.files.get(name, "the tables")
            raise Refusal((path, f"{name} has a version from {self.day} already ({where}). Choose another day"))
        return version

    def _new_version(self, index: int, model: AnyModel, base: Version, amounts: Mapping[At, Decimal]) -> None:
        source = self.file.candidate.source
        if base.effective == self.day:
            # What an earlier candidate says of the same day stays part of the reason.
            source = base.source if model.model in self.changed else f"{base.source}; {source}"
        head = {"effective": self.day, "announced": self.file.candidate.announced, "source": source}
        # What the base says of itself does not hold of a new version.
        head |= {"correction": None, "expected_change": None, "place": self.file.place(index)}
        version = base.model_copy(update=head | moved(base, amounts, self.file.place(index)))
        others: list[Version] = [each for each in model.versions if each.effective != self.day]
        versions = sorted([version, *others], key=lambda each: each.effective, reverse=True)
        self.models[model.model] = model.model_copy(update={"versions": tuple(versions)})
        self.changed[model.model] = index

    def check(self) -> None:
        """What the changes come to: other rates in the end, and models that obey the rules of loaded tables."""
        for name, index in self.changed.items():
            before, after = (self._rates(models[name]) for models in (self.base.models, self.models))
            if before == after and not self.idle:
                words = f"changes nothing of {name}: after the changes above, its rates are as they were"
                self.faults.append(self.file.fault(index, (), words))
        for made in (self.changed, self.added, self.retired):
            for name, index in made.items():
                for path, words in self._findings(self.models[name]):
                    # A model that is added stands in this file; of the others, only the change does.
                    at = ("add", *path) if made is self.added else path[1:] if path[:1] == ("retired",) else ()
                    self.faults.append(self.file.fault(index, at, words))

    def _rates(self, model: AnyModel) -> list[Decimal]:
        return [rate.rate for rate in rates_of(in_effect(model, self.day, ())).values()]

    def _findings(self, model: AnyModel) -> Iterator[Finding]:
        yield from check_model(model, self.base.units)
        if isinstance(model, VideoModel):
            yield from check_video(model, self.base.vocabulary.video)
        else:
            yield from check_metered(model)
        yield from check_references(model, self.models, self.file.written - self.models.keys())

    def _line(self, index: int) -> str:
        return f"line {self.file.place(index).rpartition(':')[2]}"
