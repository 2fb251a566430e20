"""The page: changes on one side, and their effect on the other. Its style is `whatif.css` of `ratecard.pages`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import date
from functools import partial
from html import escape
from pathlib import Path

from nicegui import app, background_tasks, context, run, ui

from ratecard.base.errors import RateCardError
from ratecard.pages import page_text
from ratecard.review.promote import folder_of
from ratecard.tables.scalars import read_day
from ratecard.whatif.controls import START, AnswerControl, Control, FactorControl, KeptControl, RateControl
from ratecard.whatif.draft import (
    YOURS,
    Choices,
    Draft,
    DraftChange,
    DraftError,
    Factor,
    Head,
    Kept,
    KeptContract,
    NewRate,
    from_json,
    to_json,
)
from ratecard.whatif.draft_pricer import Answer, DraftPricer
from ratecard.whatif.report_process import RecordedUsage, report_of
from ratecard.whatif.save_dialog import Opener, Saving
from ratecard.whatif.view import CustomerPrices, Plot

# The tables of a panel, with their titles.
_PARTS = {
    "largest": "Models that bring most",
    "payers": "Customers who pay most",
    "losers": "They pay more",
    "winners": "They pay less",
    "models": "Models that change most",
}


class AnswerPanel:
    """The side of the page that shows the answer to a draft. It is made once, and filled for each answer."""

    def __init__(self) -> None:
        with ui.element("section").classes("answers") as self.place:
            with ui.element("div").classes("busy").props('role="status"') as self.busy:
                ui.linear_progress(show_value=False).props("indeterminate size=3px")
                self.doing = ui.label().classes("quiet")
            self.busy.set_visibility(False)
            self.sentence = ui.html(sanitize=False, tag="h1").props('aria-live="polite"')
            self.scope = ui.label().classes("quiet scope")
            self.hint = ui.label().classes("warning")
            self.tiles = ui.html(sanitize=False, tag="ul").classes("tiles")
            self.notes = ui.html(sanitize=False).classes("notes")
            self.customers: CustomerPrices | None = None
            with ui.element("section").classes("part customer") as self.contracts:
                ui.html("A customer by its contract", sanitize=False, tag="h2")
                self.customer = ui.select([], with_input=True, label="Customer", on_change=self._show_customer)
                self.customer.props("dense outlined")
                self.customer_prices = ui.html(sanitize=False).classes("table")
            self.by_model, self.by_day = _Figure("by-model"), _Figure("by-day")
            self.parts = {name: _Part(name, title) for name, title in _PARTS.items()}
            with ui.expansion("Rows without a price, which are in no figure").classes("part") as self.refused:
                self.unpriced = ui.html(sanitize=False).classes("table unpriced")
            self.time = ui.label().classes("quiet time")

    def show(self, answer: Answer) -> None:
        """Fill in an answer."""
        panel = answer.panel
        self.place.classes(remove="old")
        self.sentence.set_content(escape(panel.sentence))
        self.scope.set_text(panel.scope)
        self._hint(answer.idle)
        self.tiles.set_content(page_text("whatif_tiles.html", tiles=panel.tiles))
        self.notes.set_content("".join(f"<p>{escape(note)}</p>" for note in panel.notes))
        self.by_model.show(panel.by_model)
        self.by_day.show(panel.by_day)
        for name, part in self.parts.items():
            part.show(getattr(panel, name))
        self._take_customers(panel.customers)
        self.refused.set_visibility(bool(panel.unpriced))
        self.unpriced.set_content(panel.unpriced)
        self.time.set_text(f"Priced again in {answer.milliseconds} ms")

    def _take_customers(self, customers: CustomerPrices | None) -> None:
        """Offer the customers; the one that is chosen stays."""
        self.customers = customers
        self.contracts.set_visibility(customers is not None)
        if customers is not None:
            names = list(customers.customers)
            if self.customer.options != names:
                chosen = self.customer.value if self.customer.value in names else names[0]
                self.customer.set_options(names, value=chosen)
            self._show_customer()

    def _show_customer(self) -> None:
        if self.customers is not None and self.customer.value is not None:
            self.customer_prices.set_content(self.customers.table(str(self.customer.value)))

    def work(self, words: str) -> None:
        """Show what is being done; an empty text hides it."""
        self.doing.set_text(words)
        self.busy.set_visibility(bool(words))

    def keep(self, why: str) -> None:
        """Keep the older figures, and say why they do not follow the controls."""
        self.place.classes(add="old")
        self._hint(why)

    def _hint(self, words: str) -> None:
        self.hint.set_text(words)
        self.hint.set_visibility(bool(words))


class _Part:
    """A heading and a table, hidden while there is no table."""

    def __init__(self, name: str, title: str) -> None:
        with ui.element("section").classes(f"part {name}") as self.place:
            ui.html(escape(title), sanitize=False, tag="h2")
            self.table = ui.html(sanitize=False).classes("table")

    def show(self, table: str) -> None:
        self.place.set_visibility(bool(table))
        self.table.set_content(table)


class _Figure:
    """A chart under its title, hidden while there is no chart."""

    def __init__(self, name: str) -> None:
        with ui.element("section").classes(f"part {name}") as self.place:
            self.title = ui.html(sanitize=False, tag="h2")
            self.chart = ui.plotly({"data": [], "layout": {}})

    def show(self, plot: Plot | None) -> None:
        self.place.set_visibility(plot is not None)
        if plot is not None:
            self.title.set_content(escape(plot.title))
            self.chart.style(f"height: {plot.height}px")
            self.chart.update_figure(plot.figure)


_ABOUT = (
    "All usage is priced twice: at the prices of this day, and at those with your changes. So the figures say what such"
    " usage would bring from that day on, not what it brought when it was recorded. A saved candidate holds from this"
    " day."
)
_FAILED = "These figures are older: the last change could not be answered. The terminal says why."
# The page announces work that takes longer than this, in milliseconds.
_PATIENCE = 300
_KEY, _OPENED = "draft", "opened"
_CONTROLS: Mapping[type, Callable[..., Control]] = {
    Factor: FactorControl,
    NewRate: RateControl,
    Kept: KeptControl,
    KeptContract: KeptControl,
}
_REPORTS = {"Report": "report.html", "Workbook": "report.xlsx"}
_WRONG = "These figures are older: correct what is marked first."


def _button(label: str, icon: str, pressed: Callable[[], object]) -> ui.button:
    return ui.button(label, icon=icon, on_click=pressed).props("flat no-caps dense")


class WhatIfPage:
    """The page in one tab of a browser. Each tab has a draft of its own; all share one pricer."""

    def __init__(self, pricer: DraftPricer, command: str, recorded: RecordedUsage, day: date) -> None:
        self.pricer, self.recorded, self.day_shown = pricer, recorded, day
        self.controls: list[Control] = []
        self.answering: list[AnswerControl] = []
        # The reports in progress, each with its step.
        self.made: dict[str, str] = {}
        self.task = f"answer {context.client.id}"
        ui.add_css(page_text("whatif.css"))
        ui.dark_mode(None)
        ui.colors(primary="#2f76bd")
        with ui.element("header").classes("top"):
            ui.html("What if?", sanitize=False, tag="strong")
            ui.label(", ".join(recorded.files)).classes("quiet")
        with ui.element("div").classes("pricer"):
            with ui.element("aside"):
                self._day()
                self.list = ui.element("div").classes("changes")
                self.answers_list = ui.element("div").classes("changes answers-to-prices")
                with ui.element("div").classes("add"):
                    _button("Add a factor", "add", lambda: self.add(START))
                    _button("Add a rate or factor", "add", lambda: self.add(NewRate()))
                    _button("Add an elasticity", "add", lambda: self.add_answer(("all", "")))
                tables = folder_of(recorded.tables)
                self.saving = Saving(pricer, self.draft, self.keep, self.kept, self.renew, command, tables)
                with ui.element("div").classes("files"):
                    Opener(pricer, self.opened)
                    self.files = {
                        name: _button(label, "download", partial(self.download, name))
                        for label, name in _REPORTS.items()
                    }
                    self.making = ui.label().classes("quiet making").props('role="status"')
                self.failed = ui.label().classes("wrong").props('role="alert"')
            self.answers = AnswerPanel()

    def start(self) -> None:
        """Show the draft that this tab had before it was reloaded; in a new tab, one empty change."""
        if known := app.storage.tab.get(_KEY):
            self.open(from_json(known))
        else:
            self.renew()

    def renew(self) -> None:
        """Show the current prices of the day, and one empty change."""
        self.open(Draft(self.day_shown.isoformat(), (START,)))

    def _day(self) -> None:
        with ui.element("section").classes("day"):
            self.day = ui.input("Prices of, changes from", value=self.day_shown.isoformat(), on_change=self._other_day)
            self.day.props("dense outlined debounce=300")
            with self.day.add_slot("append"), ui.icon("event").classes("cursor-pointer"), ui.menu() as menu:
                ui.date(on_change=menu.close).bind_value(self.day).props("minimal")
            ui.label(_ABOUT).classes("quiet")

    def draft(self) -> Draft:
        """Return the draft that the controls hold now."""
        changes = tuple(control.change for control in self.controls)
        answers = tuple(control.answer for control in self.answering)
        return Draft((self.day.value or "").strip(), changes, answers=answers)

    def kept(self, draft: Draft) -> None:
        """Name the figures after the saved candidate, and remember the candidate as it was saved."""
        app.storage.tab[_OPENED] = to_json(draft)
        self.tried()

    def opened(self, draft: Draft) -> None:
        """Show an opened candidate, and remember it as it was."""
        app.storage.tab[_OPENED] = to_json(draft)
        self.open(draft)

    def open(self, draft: Draft) -> None:
        """Replace the draft on the page."""
        for control in (*self.controls, *self.answering):
            control.box.delete()
        self.controls.clear()
        self.answering.clear()
        self.saving.fill(draft)
        self.day.set_value(draft.effective)
        for change in draft.changes:
            self._control(change)
        for answer in draft.answers:
            self._answer_control(answer)
        self.tried()

    def keep(self) -> None:
        """Remember the draft as long as the tab is open."""
        app.storage.tab[_KEY] = to_json(self.saving.named(self.draft()))

    def add(self, change: DraftChange) -> None:
        """Add a change."""
        self._control(change)
        self.tried()

    def add_answer(self, answer: tuple[str, str]) -> None:
        """Add an elasticity, which does not count before it is typed."""
        self._answer_control(answer)
        self.tried()

    def _choices(self) -> Choices:
        return Choices(self.pricer.card, self.day_shown)

    def _answer_control(self, answer: tuple[str, str]) -> None:
        with self.answers_list:
            self.answering.append(AnswerControl(answer, self._choices, self.tried, self.remove))

    def _control(self, change: DraftChange) -> None:
        with self.list:
            self.controls.append(_CONTROLS[type(change)](change, self._choices, self.tried, self.remove))

    def remove(self, control: Control) -> None:
        """Remove a change or an elasticity."""
        if isinstance(control, AnswerControl):
            self.answering.remove(control)
        else:
            self.controls.remove(control)
        self.tried()
        # The box is deleted last, because it contains the button that was pressed.
        control.box.delete()

    def tried(self) -> None:
        """Answer the current draft; after many changes in a row, only the last one is answered."""
        self.keep()
        background_tasks.create_lazy(self._answer(self._label(self.saving.named(self.draft()))), name=self.task)

    async def _answer(self, label: str) -> None:
        try:
            draft = self.draft()
            self.saving.allow(draft)
            for name, button in self.files.items():
                button.set_enabled(not draft.empty and name not in self.made)
            async with self._busy("Pricing all usage again ..."):
                answer = await run.io_bound(self.pricer.answer, draft, label)
        except DraftError as error:
            self._show_wrong(error)
            self.answers.keep(_WRONG)
            return
        except Exception:
            self.answers.keep(_FAILED)
            raise
        if answer is not None:  # It is None while the server stops.
            self._show_wrong(DraftError({}, {}))
            self.answers.show(answer)

    async def download(self, name: str) -> None:
        """Make the report of the current draft beside the page, and send it to the browser."""
        self.failed.set_text("")
        draft, card = self.saving.named(self.draft()), self.pricer.card
        button, self.made[name] = self.files[name], "begins"
        button.disable()
        try:
            tell = partial(self._tell, name)
            tell("begins", None)
            digest = card.tables.digest_with_contracts
            content = await report_of(self.recorded, draft, self._label(draft), digest, Path(name).suffix, tell)
        except RateCardError as error:
            self.failed.set_text(f"{name}: {error}")
        else:
            ui.download.content(content, name)
        finally:
            del self.made[name]
            button.set_enabled(not self.draft().empty)
            self._say_made()

    def _tell(self, name: str, words: str, percent: int | None) -> None:
        """Show the progress of a report beside the buttons."""
        self.made[name] = words if percent is None else f"{words}, {percent} %"
        self._say_made()

    def _say_made(self) -> None:
        self.making.set_text("; ".join(f"{name}: {words}" for name, words in self.made.items()))

    def _label(self, draft: Draft) -> str:
        """Return the name of the changes in a report: the candidate's, with `changed` if it was changed since."""
        if draft.head == Head():
            return YOURS
        opened = app.storage.tab.get(_OPENED)
        before = from_json(opened) if opened else draft
        is_other = before.head.name == draft.head.name and before._replace(answers=()) != draft._replace(answers=())
        return f"{draft.head.name}, changed" if is_other else draft.head.name

    @asynccontextmanager
    async def _busy(self, words: str) -> AsyncIterator[None]:
        """Say what is being done if it takes a while."""

        async def say() -> None:
            await asyncio.sleep(_PATIENCE / 1_000)
            self.answers.work(words)

        saying = background_tasks.create(say(), name=f"busy {self.task}")
        try:
            yield
        finally:
            saying.cancel()
            self.answers.work("")

    def _other_day(self) -> None:
        # While the typed text is not a day, the choices remain those of the last valid day.
        with suppress(ValueError):
            self.day_shown = read_day(self.draft().effective)
        for control in (*self.controls, *self.answering):
            control.renew()
        self.tried()

    def _show_wrong(self, error: DraftError) -> None:
        for number, control in enumerate(self.controls):
            control.show(error.changes.get(number, ""))
        for number, answer in enumerate(self.answering):
            answer.show(error.answers.get(number, ""))
        self.day.error = error.head.get("effective")
