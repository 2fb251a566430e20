"""The controls of one change: of a factor on many rates, and of a single rate."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from nicegui import events, ui

from ratecard.whatif.change import Change, Factor, NewRate
from ratecard.whatif.choices import RateChoice
from ratecard.words.money import text

# The slider counts hundredths, so that no float is ever a factor; the field beside it takes any exact number.
_LEAST, _MOST = 50, 200
_PARTS = {"family": "Families", "model": "Models", "type": "Types"}
_START = "1.05"

Names = Callable[[], Mapping[str, Sequence[str]]]


class Control:
    """What every change has: its place in the list, a button to remove it, and room for what is wrong with it."""

    def __init__(self, title: str, tried: Callable[[], Any], removed: Callable[["Control"], Any]) -> None:
        self.tried = tried
        self.box = ui.element("section").classes("change")
        with self.box:
            with ui.element("header"):
                ui.label(title)
                ui.button(icon="close", on_click=lambda: removed(self)).props('flat round dense aria-label="Remove"')
            self.body = ui.element("div").classes("body")
            self.wrong = ui.label().classes("wrong").props('role="alert"')

    @property
    def change(self) -> Change:
        """What the controls say."""
        raise NotImplementedError

    def renew(self) -> None:
        """Offer what there is on another day."""
        raise NotImplementedError

    def show(self, wrong: str) -> None:
        """Say what is wrong with the change; nothing for one that is sound."""
        self.wrong.set_text(wrong)


class FactorControl(Control):
    """Choose models, families or types, and move a factor."""

    def __init__(self, names: Names, *actions: Callable[..., Any]) -> None:
        super().__init__("Times a factor", *actions)
        self.names = names
        with self.body:
            self.part = ui.toggle(_PARTS, value="family", on_change=self._other_part).props("dense no-caps spread")
            self.chosen = ui.select(
                self._offered, multiple=True, with_input=True, label="Which", on_change=lambda: self.tried()
            )
            self.chosen.props("use-chips dense outlined")
            with ui.element("div").classes("factor"):
                self.slider = ui.slider(min=_LEAST, max=_MOST, value=_hundredths(_START))
                self.slider.props('aria-label="Factor"').on("update:model-value", self._slid)
                self.factor = ui.input("Factor", value=_START, on_change=self._typed)
                self.factor.props("dense outlined debounce=200 inputmode=decimal")

    @property
    def change(self) -> Change:
        """The factor, and what it is for."""
        return Factor(str(self.part.value), tuple(self.chosen.value or ()), (self.factor.value or "").strip())

    @property
    def _offered(self) -> list[str]:
        return list(self.names()[str(self.part.value)])

    def renew(self) -> None:
        """Offer what has a price on another day; what has none any more is not chosen any more."""
        offered = self._offered
        self.chosen.set_options(offered, value=[name for name in self.chosen.value or () if name in offered])

    def _other_part(self) -> None:
        self.chosen.set_options(self._offered, value=[])

    def _slid(self, moved: events.GenericEventArguments) -> None:
        self.factor.set_value(str(Decimal(int(moved.args)).scaleb(-2)))

    def _typed(self) -> None:
        self.slider.set_value(_hundredths(self.factor.value or ""))
        self.tried()


class RateControl(Control):
    """Choose a model and one of its rates, and type another."""

    def __init__(
        self, names: Names, rates_of: Callable[[str], Sequence[RateChoice]], *actions: Callable[..., Any]
    ) -> None:
        super().__init__("Another rate", *actions)
        self.names, self.rates_of = names, rates_of
        self.choices: Sequence[RateChoice] = ()
        with self.body:
            self.model = ui.select(list(names()["model"]), with_input=True, label="Model", on_change=self._other_model)
            self.rate = ui.select({}, label="Rate", on_change=self._other_rate)
            self.amount = ui.input("New rate", on_change=lambda: self.tried())
            self.amount.props("dense outlined debounce=200 inputmode=decimal")
            for select in (self.model, self.rate):
                select.props("dense outlined")

    @property
    def change(self) -> Change:
        """The rate, and what it becomes."""
        choice = self._choice
        if choice is None:
            return NewRate(str(self.model.value or ""))
        return NewRate(str(self.model.value), choice.charge, choice.where, (self.amount.value or "").strip())

    @property
    def _choice(self) -> RateChoice | None:
        return None if self.rate.value is None else self.choices[self.rate.value]

    def renew(self) -> None:
        """Offer the rates of another day; the one for the same stays chosen."""
        was, models = self._choice, list(self.names()["model"])
        self.model.set_options(models, value=self.model.value if self.model.value in models else None)
        if was is not None:
            self._offer(next((n for n, each in enumerate(self._found()) if each[:2] == was[:2]), None))

    def _other_model(self) -> None:
        self._offer(0 if len(self._found()) == 1 else None)

    def _found(self) -> Sequence[RateChoice]:
        return self.rates_of(str(self.model.value or ""))

    def _offer(self, chosen: int | None) -> None:
        self.choices = self._found()
        self.rate.set_options({number: choice.label for number, choice in enumerate(self.choices)}, value=chosen)
        self._name()

    def _other_rate(self) -> None:
        self._name()
        self.amount.set_value("")
        self.tried()

    def _name(self) -> None:
        choice = self._choice
        self.amount.set_label("New rate" if choice is None else f"New rate, now {text(choice.rate)}")


def _hundredths(factor: str) -> int:
    """Where the slider stands for a factor: as near as it can."""
    try:
        return min(max(int(Decimal(factor) * 100), _LEAST), _MOST)
    except (InvalidOperation, ValueError, OverflowError):
        return 100
