"""The controls of one change: a factor on many rates, a single rate, a change kept from a file, or an elasticity."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from html import escape
from typing import Any, ClassVar

from nicegui import events, ui

from ratecard.base.money import text
from ratecard.simulation.answers.volume import ALL
from ratecard.whatif.draft import Choices, DraftChange, Factor, Kept, NewRate, RateChoice, Where, read_times

# The slider counts hundredths, so that a factor is never a float; the field beside it takes any exact number.
_LEAST, _MOST = 50, 200
_PARTS = {"family": "Families", "model": "Models", "type": "Types"}
_MODES = {"": "Not rounded", "half-up": "Rounded to the nearest", "up": "Rounded up", "down": "Rounded down"}
START = Factor(factor="1.05")
_ELASTICITY = "-0.8: a tenth dearer loses 8 % of the volume. With a range: -0.8:-1.2..-0.4"


class Control:
    """A change in the list, with a button to remove it and a line for its error; it offers the `choices` of the day."""

    title: ClassVar[str]

    def __init__(
        self, choices: Callable[[], Choices], tried: Callable[[], Any], removed: Callable[["Control"], Any]
    ) -> None:
        self.choices, self.tried = choices, tried
        self.box = ui.element("section").classes("change")
        with self.box:
            with ui.element("header"):
                ui.label(self.title)
                ui.button(icon="close", on_click=lambda: removed(self)).props('flat round dense aria-label="Remove"')
            self.body = ui.element("div").classes("body")
            self.wrong = ui.label().classes("wrong").props('role="alert"')

    @property
    def change(self) -> DraftChange:
        """Return the change that the controls hold now."""
        raise NotImplementedError

    def renew(self) -> None:
        """Offer the choices of another day."""
        raise NotImplementedError

    def show(self, wrong: str) -> None:
        """Show the error of the change; an empty text for a valid one."""
        self.wrong.set_text(wrong)


class FactorControl(Control):
    """A factor on the rates of models, families or types: all, all but some, or only some rates."""

    title = "Times a factor"

    def __init__(self, change: Factor, *of_page: Callable[..., Any]) -> None:
        super().__init__(*of_page)
        with self.body:
            self.part = ui.toggle(_PARTS, value=change.part, on_change=self._other_part).props("dense no-caps spread")
            self.chosen = ui.select(
                _with(self.choices().names()[change.part], change.names),
                value=list(change.names),
                multiple=True,
                with_input=True,
                label="Which",
                on_change=self._other_names,
            )
            self.excluded = ui.select({}, multiple=True, with_input=True, label="All but", on_change=self.tried)
            self.where = ui.select({}, multiple=True, label="Only rates for", on_change=self.tried)
            for select in (self.chosen, self.excluded, self.where):
                select.props("use-chips dense outlined")
            with ui.element("div").classes("factor"):
                self.slider = ui.slider(min=_LEAST, max=_MOST, value=_hundredths(change.factor))
                self.slider.props('aria-label="Factor"').on("update:model-value", self._slid)
                self.factor = ui.input("Factor or %", value=change.factor, on_change=self._typed)
                self.factor.props("dense outlined debounce=200")
            self.read = ui.label().classes("quiet read").props('role="status"')
            with ui.element("div").classes("rounding"):
                self.mode = ui.select(_MODES, value=change.mode, label="Rounding", on_change=self._other_mode)
                self.step = ui.input("Multiple of", value=change.step, on_change=self.tried)
                self.mode.props("dense outlined")
                self.step.props("dense outlined debounce=200 inputmode=decimal").set_visibility(bool(change.mode))
        left_out = [(part, name) for part, names in change.excluded for name in names]
        self._offer(map(json.dumps, change.where), map(json.dumps, left_out))
        self._say()

    @property
    def change(self) -> Factor:
        """Return the factor, and the rates that it applies to."""
        where, excluded = dict[str, list[str]](), dict[str, list[str]]()
        for key in self.where.value or ():
            name, values = json.loads(key)
            where.setdefault(name, []).extend(value for value in values if value not in where.get(name, ()))
        for key in self.excluded.value or ():
            part, name = json.loads(key)
            excluded.setdefault(part, []).append(name)
        names, factor = tuple(self.chosen.value or ()), (self.factor.value or "").strip()
        mode, step = str(self.mode.value or ""), (self.step.value or "").strip().replace(",", ".", 1)
        rounding = (mode, step) if mode else ("", "")
        return Factor(str(self.part.value), names, factor, _fixed(where), _fixed(excluded), *rounding)

    def renew(self) -> None:
        """Offer names with a price on another day. A chosen one without a price stays and is refused with a message."""
        chosen = list(self.chosen.value or ())
        self.chosen.set_options(_with(self.choices().names()[str(self.part.value)], chosen), value=chosen)
        self._offer(self.where.value or (), self.excluded.value or ())

    def _offer(self, where: Iterable[str], excluded: Iterable[str]) -> None:
        """Offer the attributes that can limit the rates, and the names to leave out; keep the chosen ones."""
        part, names, choices = str(self.part.value), list(self.chosen.value or ()), self.choices()
        for select, offered, chosen, called in (
            (self.where, choices.conditions(part, names), list(where), _called),
            (self.excluded, choices.exceptions(part, names), list(excluded), lambda key: " ".join(json.loads(key))),
        ):
            keys = _with([json.dumps(option) for option in offered], chosen)
            select.set_options({key: called(key) for key in keys}, value=chosen)
            select.set_visibility(bool(keys))

    def _other_part(self) -> None:
        self.excluded.set_value([])
        self.chosen.set_options(list(self.choices().names()[str(self.part.value)]), value=[])

    def _other_names(self) -> None:
        self._offer(self.where.value or (), self.excluded.value or ())
        self.tried()

    def _other_mode(self) -> None:
        self.step.set_visibility(bool(self.mode.value))
        self.tried()

    def _slid(self, moved: events.GenericEventArguments) -> None:
        self.factor.set_value(str(Decimal(int(moved.args)).scaleb(-2)))

    def _typed(self) -> None:
        self.slider.set_value(_hundredths(self.factor.value or ""))
        self._say()
        self.tried()

    def _say(self) -> None:
        try:
            self.read.set_text(read_times(self.factor.value or "").words)
        except ValueError:
            self.read.set_text("")


class RateControl(Control):
    """A new amount for one rate of a model, or for one of its factors."""

    title = "Another rate or factor"

    def __init__(self, change: NewRate, *of_page: Callable[..., Any]) -> None:
        super().__init__(*of_page)
        self.rates: dict[str, RateChoice] = {}
        with self.body:
            self.model = ui.select(
                self._models(change.model),
                value=change.model or None,
                with_input=True,
                label="Model",
                on_change=self._other_model,
            )
            self.rate = ui.select({}, label="Rate or factor", on_change=self._other_rate)
            self.amount = ui.input("New rate", value=change.amount, on_change=self.tried)
            self.amount.props("dense outlined debounce=200 inputmode=decimal")
            # The label is not part of the field, so that the server does not send the field again while a person types.
            self.now = ui.label().classes("quiet now")
            for select in (self.model, self.rate):
                select.props("dense outlined")
        if change.charge or change.word == "factor":
            # A rate that this day lacks stays chosen, and its label says that it is missing.
            gone = RateChoice(change.charge, change.where, None, "", change.word)
            self._offer(_of(gone), gone)
            self.amount.set_value(change.amount)
        elif change.model:
            self._offer(None)

    @property
    def change(self) -> NewRate:
        """Return the rate or factor, and its new amount."""
        choice = self._choice
        if choice is None:
            return NewRate(str(self.model.value or ""))
        amount = (self.amount.value or "").strip()
        return NewRate(str(self.model.value), choice.charge, choice.where, amount, choice.word)

    @property
    def _choice(self) -> RateChoice | None:
        return self.rates.get(self.rate.value) if self.rate.value is not None else None

    def renew(self) -> None:
        """Offer the rates of another day; the chosen model and rate stay."""
        choice, key, model = self._choice, self.rate.value, self.model.value
        self.model.set_options(self._models(model), value=model)
        self._offer(key, choice and choice._replace(amount=None))

    def _models(self, chosen: str | None) -> list[str]:
        return _with(self.choices().names()["model"], [chosen] if chosen else [])

    def _other_model(self) -> None:
        rates = self._found()
        self._offer(next(iter(rates)) if len(rates) == 1 else None)

    def _found(self) -> dict[str, RateChoice]:
        return {_of(choice): choice for choice in self.choices().rates(str(self.model.value or ""))}

    def _offer(self, chosen: str | None, gone: RateChoice | None = None) -> None:
        """Offer the rates of the model, and the chosen one even if this day lacks it."""
        self.rates = self._found()
        if chosen is not None and gone is not None:
            self.rates.setdefault(chosen, gone)
        self.rate.set_options({key: choice.label for key, choice in self.rates.items()}, value=chosen)
        self._name()

    def _other_rate(self) -> None:
        self._name()
        self.amount.set_value("")
        self.tried()

    def _name(self) -> None:
        choice = self._choice
        self.now.set_text(f"Now {text(choice.amount)}" if choice and choice.amount is not None else "")
        self.amount.props(f'label="New {choice.word if choice else "rate"}"')


class KeptControl(Control):
    """A change of a file that has no controls, as written; it can only be kept or removed."""

    title = "As it is written in the file"

    def __init__(self, change: Kept, *of_page: Callable[..., Any]) -> None:
        super().__init__(*of_page)
        self.kept = change
        with self.body:
            ui.html(escape(change.lines), sanitize=False, tag="pre").classes("kept")

    @property
    def change(self) -> Kept:
        """Return the change of the file."""
        return self.kept

    def renew(self) -> None:
        """Do nothing: the lines are the same on every day."""


class AnswerControl(Control):
    """An elasticity: how the volume of a model, a family, a type or all usage answers another price."""

    title = "Customers answer the price"

    def __init__(self, answer: tuple[str, str], *of_page: Callable[..., Any]) -> None:
        super().__init__(*of_page)
        name, typed = answer
        with self.body:
            offered = self._offered(name)
            self.chosen = ui.select(offered, value=name, with_input=True, label="Usage of", on_change=self.tried)
            self.chosen.props("dense outlined")
            self.typed = ui.input("Elasticity", value=typed, on_change=self.tried)
            self.typed.props("dense outlined debounce=200")
            ui.label(_ELASTICITY).classes("quiet")

    @property
    def answer(self) -> tuple[str, str]:
        """Return the name and the typed elasticity."""
        return str(self.chosen.value or ""), (self.typed.value or "").strip().replace(",", ".")

    def renew(self) -> None:
        """Offer the names that have a price on another day; the chosen one stays."""
        name = str(self.chosen.value or "")
        self.chosen.set_options(self._offered(name), value=name)

    def _offered(self, name: str) -> dict[str, str]:
        """Return the names to choose from, with labels; a model with the name of its family is offered once."""
        options, names = {ALL: "all usage"}, self.choices().names()
        for part in ("type", "family", "model"):
            options |= {option: f"{part} {option}" for option in names[part]}
        return options if name in options or not name else options | {name: name}


def _fixed(lists: Mapping[str, Sequence[str]]) -> Where:
    return tuple((name, tuple(values)) for name, values in lists.items())


def _with(offered: Sequence[str], chosen: Sequence[str]) -> list[str]:
    return [*offered, *(option for option in chosen if option not in offered)]


def _of(choice: RateChoice) -> str:
    return json.dumps((choice.charge, choice.where, choice.word))


def _called(key: str) -> str:
    name, values = json.loads(key)
    return f"{name} {' or '.join(values)}"


def _hundredths(factor: str) -> int:
    try:
        return min(max(int(read_times(factor).factor * 100), _LEAST), _MOST)
    except ValueError:
        return 100
