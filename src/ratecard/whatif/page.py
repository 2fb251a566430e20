"""The page: changes on one side, and on the other what they come to."""

from collections.abc import Mapping, Sequence
from datetime import date

from nicegui import background_tasks, context, run, ui

from ratecard.tables.scalars import read_day
from ratecard.whatif.answers import Answers
from ratecard.whatif.choices import RateChoice, names_of, rates_on
from ratecard.whatif.controls import Control, FactorControl, RateControl
from ratecard.whatif.desk import Desk
from ratecard.whatif.draft import Draft, DraftError
from ratecard.whatif.saving import Saving
from ratecard.whatif.style import STYLE

_ABOUT = (
    "All usage is priced twice: at the prices of this day, and at those with your changes. So the figures say what such"
    " usage would bring from that day on, not what it brought when it was recorded. A saved candidate holds from this"
    " day."
)
_FAILED = "These figures are older: the last change could not be answered. The terminal says why."
_WRONG = "These figures are older: correct what is marked first."


class Page:
    """One visit. What is tried on it belongs to it alone; the desk is that of every visit."""

    def __init__(self, desk: Desk, usage: str, command: str, day: date) -> None:
        self.desk, self.first = desk, day
        self.controls: list[Control] = []
        self.task = f"answer {context.client.id}"
        ui.add_css(STYLE)
        ui.dark_mode(None)
        ui.colors(primary="#2f76bd")
        with ui.element("header").classes("top"):
            ui.html("What if?", sanitize=False, tag="strong")
            ui.label(usage).classes("quiet")
        with ui.element("div").classes("desk"):
            with ui.element("aside"):
                self._day()
                self.list = ui.element("div").classes("changes")
                with ui.element("div").classes("add"):
                    ui.button("Add a factor", icon="add", on_click=self.add_factor).props("flat no-caps dense")
                    ui.button("Add a rate", icon="add", on_click=self.add_rate).props("flat no-caps dense")
                self.saving = Saving(desk, self.draft, command)
            self.answers = Answers()
        self.add_factor()

    def _day(self) -> None:
        with ui.element("section").classes("day"):
            self.day = ui.input("Prices of, changes from", value=self.first.isoformat(), on_change=self._other_day)
            self.day.props("dense outlined debounce=300")
            with self.day.add_slot("append"), ui.icon("event").classes("cursor-pointer"), ui.menu() as menu:
                ui.date(on_change=menu.close).bind_value(self.day).props("minimal")
            ui.label(_ABOUT).classes("quiet")

    def draft(self) -> Draft:
        """What all controls say."""
        return Draft((self.day.value or "").strip(), tuple(control.change for control in self.controls))

    def add_factor(self) -> None:
        """One more change, of a factor."""
        with self.list:
            self.controls.append(FactorControl(self._names, self.tried, self.remove))
        self.tried()

    def add_rate(self) -> None:
        """One more change, of a single rate."""
        with self.list:
            self.controls.append(RateControl(self._names, self._rates, self.tried, self.remove))
        self.tried()

    def remove(self, control: Control) -> None:
        """One change less."""
        self.controls.remove(control)
        control.box.delete()
        self.tried()

    def tried(self) -> None:
        """Answer what the controls say now; of many moves in a row, the last one."""
        background_tasks.create_lazy(self._answer(), name=self.task)

    async def _answer(self) -> None:
        try:
            draft = self.draft()
            self.saving.allow(draft)
            answer = await run.io_bound(self.desk.answer, draft)
        except DraftError as error:
            self._show_wrong(error)
            self.answers.keep(_WRONG)
            return
        except Exception:
            self.answers.keep(_FAILED)
            raise
        if answer is not None:  # None: the server stops
            self._show_wrong(DraftError({}, {}))
            self.answers.show(answer)

    def _other_day(self) -> None:
        for control in self.controls:
            control.renew()
        self.tried()

    def _show_wrong(self, error: DraftError) -> None:
        for number, control in enumerate(self.controls):
            control.show(error.changes.get(number, ""))
        self.day.error = error.head.get("effective")

    def _names(self) -> Mapping[str, Sequence[str]]:
        return names_of(self.desk.card, self._on)

    def _rates(self, model: str) -> Sequence[RateChoice]:
        return rates_on(self.desk.card, self._on, model)

    @property
    def _on(self) -> date:
        """The day of the page; while that is none, the one on which it was opened."""
        try:
            return read_day(self.draft().effective)
        except ValueError:
            return self.first
