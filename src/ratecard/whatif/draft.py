"""A draft: the changes on the page, as texts that a person typed, and the candidate file that they make.

`Choices` are what it can change: models, families and types that have a price on a day, and the rates of a model.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import RateCardError, SimulationError, TableError
from ratecard.base.json_text import read_json
from ratecard.base.money import MOST_PLACES, add, multiply, plain
from ratecard.base.money import text as digits
from ratecard.candidates.file import CandidateFile, candidate_from
from ratecard.candidates.rates import attributes_of, charge_of, factors_of
from ratecard.card import RateCard
from ratecard.load.positions import literal
from ratecard.review.sides import Side
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.answers.volume import Elasticity, read_elasticity
from ratecard.tables.scalars import read_percent, read_positive

# Text that YAML reads unchanged; anything else is written in double quotes.
_PLAIN = re.compile(r"[A-Za-z0-9][\w./-]*( [\w./-]+)*", re.ASCII)

_NUMBER = re.compile(rf"[+-]?\d{{1,15}}(\.\d{{1,{MOST_PLACES}}})?", re.ASCII)
# Characters that programs put in place of a hyphen and of a blank.
_SIGNS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{EN DASH}": "-", "\N{NARROW NO-BREAK SPACE}": " "})

# The name of a draft in the places of its faults.
_NAME = "draft"
# The label of a draft that is not a candidate yet.
YOURS = "your changes"

# Attributes of rates, each with its values; also `model`, `family` or `type`, each with names.
Where = tuple[tuple[str, tuple[str, ...]], ...]


class Times(NamedTuple):
    """A factor as it was read: key and value of the candidate file, the factor, and a sentence about it."""

    key: str
    value: str
    factor: Decimal
    words: str


def read_times(typed: str) -> Times:
    """Read a factor (`1.10`, `1,10`) or a change in percent (`10%`, `-2,5 %`) as a person types it.

    Raises `ValueError`, which says what can be typed.

    >>> read_times("1,10").words, read_times("-15%").words
    ('Read as times 1.1, which is +10 %', 'Read as -15 %, which is times 0.85')
    """
    text = " ".join(typed.translate(_SIGNS).split())
    percent = text.endswith("%")
    number = text.removesuffix("%").rstrip()
    if "," in number and "." not in number:
        number = number.replace(",", ".", 1)
    if not _NUMBER.fullmatch(number) or (not percent and not number[0].isdigit()):
        hint = "Write a factor like 1.10, or a change like 10% or -15%"
        raise ValueError(f"'{typed}' is neither a factor nor a percentage. {hint}")
    if percent:
        share = read_percent(f"{number}%")
        factor = add(Decimal(1), share)
        words = f"Read as {_percent(share)}, which is times {digits(plain(factor))}"
        return Times("percent", f"{number.removeprefix('+')}%", factor, words)
    factor = read_positive(number)
    words = f"Read as times {digits(plain(factor))}, which is {_percent(add(factor, Decimal(-1)))}"
    return Times("factor", number, factor, words)


def _percent(share: Decimal) -> str:
    hundred = multiply(share, Decimal(100))
    return f"{'+' if hundred >= 0 else ''}{digits(plain(hundred))} %"


class Factor(NamedTuple):
    """A factor on the rates of the named models, families or types (`part`); `where` limits which rates.

    `factor` is what a person typed: `1.10`, `1,10` or `10%`. `excluded` are the models and families left out. With a
    `mode` (`up`, `down` or `half-up`), rates are rounded to a multiple of `step`.
    """

    part: str = "family"
    names: tuple[str, ...] = ()
    factor: str = ""
    where: Where = ()
    excluded: Where = ()
    mode: str = ""
    step: str = ""

    @property
    def finished(self) -> bool:
        """Return True if nothing is missing."""
        return bool(self.names and self.factor and (self.step or not self.mode))

    @property
    def wrong(self) -> str:
        """Say why the factor cannot be read; empty if it can."""
        try:
            read_times(self.factor)
        except ValueError as error:
            return str(error)
        return ""

    def entry(self) -> str:
        """Return the change as lines of a candidate file."""
        times = ("factor", scalar(self.factor)) if self.wrong else read_times(self.factor)[:2]
        selection = flow({self.part: self.names})
        if self.excluded:
            listed = ", ".join(flow({part: names}) for part, names in self.excluded)
            selection = f"{selection[:-1]}, except: {f'[{listed}]' if len(self.excluded) > 1 else listed}}}"
        rounding = [("round", f"{{to: {scalar(self.step)}, mode: {self.mode}}}")] if self.mode else []
        return _lines(("scale", selection), *_where(self.where), times, *rounding)


class NewRate(NamedTuple):
    """A new rate or factor (`word`) of one model; a factor of all charges has no charge."""

    model: str = ""
    charge: str = ""
    where: Where = ()
    amount: str = ""
    word: str = "rate"

    @property
    def finished(self) -> bool:
        """Return True if nothing is missing."""
        return bool(self.model and (self.charge or self.word == "factor") and self.amount)

    def entry(self) -> str:
        """Return the change as lines of a candidate file."""
        charge = [("charge", scalar(self.charge))] if self.charge else []
        return _lines(("set", scalar(self.model)), *charge, *_where(self.where), (self.word, scalar(self.amount)))


class Kept(NamedTuple):
    """A change of an opened file that has no controls: its lines as written there."""

    lines: str

    @property
    def finished(self) -> bool:
        """Return True: a change in a file is complete."""
        return True

    def entry(self) -> str:
        """Return the lines of the file."""
        return self.lines


class KeptContract(Kept):
    """A contract of an opened file, kept like a change without controls."""

    __slots__ = ()


DraftChange = Factor | NewRate | Kept


def _where(where: Where) -> list[tuple[str, str]]:
    return [("where", flow(dict(where)))] if where else []


def _lines(first: tuple[str, str], *more: tuple[str, str]) -> str:
    words = [f"  - {first[0]}: {first[1]}", *(f"    {key}: {value}" for key, value in more)]
    return "".join(f"{line}\n" for line in words)


def flow(values: Mapping[str, tuple[str, ...]]) -> str:
    """Write a mapping on one line; several values are a list.

    >>> flow({"resolution": ("480p", "720p"), "aspect_ratio": ("16:9",)})
    '{resolution: [480p, 720p], aspect_ratio: "16:9"}'
    """
    parts = []
    for name, (first, *more) in values.items():
        listed = ", ".join(map(scalar, (first, *more)))
        parts.append(f"{scalar(name)}: {f'[{listed}]' if more else listed}")
    return f"{{{', '.join(parts)}}}"


def scalar(text: str) -> str:
    r"""Write a text as YAML: unchanged if YAML reads it as the same text, else in double quotes.

    >>> print(scalar("0.17"), scalar("dearer: 5 %"), scalar('a "b"\n'))
    0.17 "dearer: 5 %" "a \"b\"\U0000000A"
    """
    return text if _PLAIN.fullmatch(text) else literal(text)


_KINDS: Mapping[str, type[DraftChange]] = {"factor": Factor, "rate": NewRate, "kept": Kept, "contract": KeptContract}


class Head(NamedTuple):
    """The name, author and reason of a candidate; defaults while prices are only tried."""

    name: str = "draft"
    proposed_by: str = "nobody yet"
    why: str = "to see what it changes"


class DraftError(RateCardError):
    """The errors of a draft: `changes` and `answers` by their numbers on the page, `head` by the key of the head."""

    def __init__(
        self, changes: Mapping[int, str], head: Mapping[str, str], answers: Mapping[int, str] | None = None
    ) -> None:
        self.changes, self.head, self.answers = changes, head, answers or {}
        super().__init__("; ".join([*head.values(), *changes.values(), *self.answers.values()]))


class Draft(NamedTuple):
    """Changes that take effect on a day; the day is typed text too.

    Unfinished changes are left out of the candidate. `answers` are elasticities, each as a name and the typed text: how
    the volume of a model, family, type or `all` answers prices. They are not part of the candidate.
    """

    effective: str
    changes: tuple[DraftChange, ...] = ()
    head: Head = Head()
    until: str = ""
    announced: str = ""
    answers: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """Write the candidate file.

        >>> from ratecard.whatif.draft import Factor
        >>> print(Draft("2027-01-01", (Factor("family", ("kling-o3",), "1.05"),)).text(), end="")
        candidate: draft
        effective: 2027-01-01
        proposed_by: nobody yet
        why: to see what it changes
        changes:
          - scale: {family: kling-o3}
            factor: 1.05
        """
        return "".join(part for part, _ in self._parts())

    def _parts(self) -> Iterator[tuple[str, int | None]]:
        """Yield the parts of the file, each with the number of the change that it is of; the head is of none."""
        name, proposed_by, why = map(scalar, self.head)
        lines = [f"candidate: {name}", f"effective: {scalar(self.effective)}"]
        dates = {"until": self.until, "announced": self.announced}
        lines += [f"{key}: {scalar(day)}" for key, day in dates.items() if day]
        lines += [f"proposed_by: {proposed_by}", f"why: {why}"]
        yield "".join(f"{line}\n" for line in lines), None
        parts: dict[str, list[tuple[str, int]]] = {"changes": [], "contracts": []}
        for number, change in enumerate(self.changes):
            if change.finished:
                parts["contracts" if isinstance(change, KeptContract) else "changes"].append((change.entry(), number))
        for key, entries in parts.items():
            if entries or (key == "changes" and not parts["contracts"]):
                yield f"{key}:\n", None
                yield from entries

    def file(self) -> CandidateFile:
        """Return the candidate, as if read from a file. Raises `DraftError`."""
        try:
            return candidate_from(_NAME, self.text().encode())
        except TableError as error:
            raise self._refused(error) from None

    def card(self, base: RateCard) -> RateCard:
        """Return the card with the candidate applied. Raises `DraftError` with every error, each at its change."""
        try:
            return base._overlaid(self.file())
        except TableError as error:
            raise self._refused(error) from None

    def side(self, current: Side, label: str) -> Side:
        """Return the draft laid over the current prices, named as a candidate or `YOURS`. Raises `DraftError`."""
        named = (self.file().candidate.model_copy(update={"candidate": label}),) if label != YOURS else ()
        return Side(label, self.card(current.card), current.at, named)

    def answered(self) -> dict[int, str]:
        """Return the finished elasticities by their numbers, as the option of `ratecard simulate` reads them."""
        named = enumerate(self.answers)
        return {number: f"{name}={typed.translate(_SIGNS)}" for number, (name, typed) in named if name and typed}

    def elasticities(self, simulation: Answers) -> dict[str, Elasticity]:
        """Return the finished elasticities by name. Raises `DraftError` for wrong ones and for names without usage."""
        by_name: dict[str, Elasticity] = {}
        wrong: dict[int, str] = {}
        for number, words in self.answered().items():
            try:
                name, elasticity = read_elasticity(words)
                simulation.check_named([name])
                if name in by_name:
                    raise SimulationError(f"the elasticity of '{name}' is given twice")
                by_name[name] = elasticity
            except SimulationError as error:
                wrong[number] = str(error)
        if wrong:
            raise DraftError({}, {}, wrong)
        return by_name

    def _refused(self, error: TableError) -> DraftError:
        numbers = [number for part, number in self._parts() for _ in part.splitlines()]
        changes: dict[int, list[str]] = {}
        head: dict[str, str] = {}
        for fault in error.faults:
            # A fault in another file is one of a contract of the tables beside those of the draft, which come last.
            own = fault.file == _NAME
            number = numbers[min(fault.line, len(numbers)) - 1] if own else numbers[-1]
            if number is None:
                head.setdefault(str((fault.path or ("",))[0]), fault.message)
            else:
                changes.setdefault(number, []).append(fault.message if own else str(fault))
        unread = {
            number: change.wrong
            for number, change in enumerate(self.changes)
            if isinstance(change, Factor) and change.finished
        }
        errors = {number: unread.get(number) or _joined(words) for number, words in changes.items()}
        return DraftError(errors, head)

    @property
    def empty(self) -> bool:
        """Return True if no change is finished."""
        return not any(change.finished for change in self.changes)


def to_json(draft: Draft) -> str:
    """Write a draft, its unfinished changes too, as text for `from_json`."""
    kinds = {kind: name for name, kind in _KINDS.items()}
    changes = [[kinds[type(change)], *change] for change in draft.changes]
    return json.dumps(draft._replace(changes=changes)._asdict())  # type: ignore[arg-type]


def from_json(given: str) -> Draft:
    """Read a draft from the text of `to_json`.

    >>> from_json(to_json(Draft("2027-01-01", (Factor("family", ("kling-o3",), "10%"),)))).changes[0].factor
    '10%'
    """
    parts = read_json(given)
    changes = tuple(_KINDS[kind](*map(_frozen, values)) for kind, *values in parts.pop("changes"))
    return Draft(changes=changes, head=Head(*parts.pop("head")), answers=_frozen(parts.pop("answers")), **parts)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _joined(messages: Sequence[str]) -> str:
    """Return the first message and the number of others: a factor can be wrong for every model of a type."""
    first, *more = dict.fromkeys(messages)
    return f"{first} ({len(more)} more like this)" if more else first


class RateChoice(NamedTuple):
    """One rate or factor of a model: its charge, attributes, unit and amount, which is None if the day lacks it.

    A factor has no unit; a factor of a whole version has no charge.
    """

    charge: str
    where: Where
    amount: Decimal | None
    unit: str
    word: str = "rate"

    @property
    def label(self) -> str:
        """Name a rate: `video, resolution 720p, audio true: 0.161 per video_second`, or `tokens: times 0.5`."""
        charge = self.charge or "every charge"
        words = ", ".join([charge, *(f"{name} {' or '.join(values)}" for name, values in self.where)])
        if self.amount is None:
            return f"{words}: no such {self.word} on this day"
        return f"{words}: {f'{digits(self.amount)} per {self.unit}' if self.unit else f'times {digits(self.amount)}'}"


class Choices(NamedTuple):
    """The models, families and types that have a price on a day, by the words of a change `scale`, and their rates."""

    card: RateCard
    day: date

    def names(self) -> Mapping[str, Sequence[str]]:
        """Return the names of models, families and types, by `model`, `family` and `type`."""
        parts = self._parts()
        groups = {part: sorted({model[part] for model in parts} - {""}) for part in ("family", "type")}
        return {"model": [model["model"] for model in parts], **groups}

    def _parts(self) -> list[dict[str, str]]:
        """Return the name, the type and the family of each model; a model without a family has an empty one."""
        families, models = self.card.tables.families, self.card.listed.at(self.day).models()
        return [{"model": model.model, "type": model.type, "family": families.get(model.model, "")} for model in models]

    def rates(self, model: str) -> Sequence[RateChoice]:
        """Return the rates and factors of a model, in the order of its table; empty if it has no price."""
        tables, meters = self.card.tables.models.get(model), self.card.tables.meters
        version = tables.version_at(self.day) if tables and not tables.retired_at(self.day) else None
        if tables is None or version is None:
            return []
        self.card.prove(tables, version)
        rates = [
            RateChoice(charge.charge, tuple(attributes_of(charge, rate, meters).items()), rate.rate, charge.unit)
            for charge in version.charges
            for rate in charge.rates
        ]
        for at, factor in factors_of(version).items():
            where = tuple((name, (value,)) for name, value in factor.conditions.items())
            rates.append(RateChoice(charge_of(version, at), where, factor.factor, "", "factor"))
        return rates

    def conditions(self, part: str, names: Sequence[str]) -> Sequence[tuple[str, tuple[str, ...]]]:
        """Return the attributes of the rates of some models, families or types, each with values that share a rate."""
        models = [model["model"] for model in self._parts() if model[part] in names]
        rates = (choice for model in models for choice in self.rates(model) if choice.word == "rate")
        return sorted({condition for choice in rates for condition in choice.where})

    def exceptions(self, part: str, names: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return the families and models, as (`family` or `model`, name), that families or types can leave out."""
        chosen = [model for model in self._parts() if part != "model" and model[part] in names]
        smaller = ("family", "model") if part == "type" else ("model",)
        return [(kind, name) for kind in smaller for name in sorted({model[kind] for model in chosen} - {""})]
