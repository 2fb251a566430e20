"""Where the page shows the answer to a draft: made once, and filled again and again."""

from html import escape

from nicegui import ui

from ratecard.whatif.desk import Answer
from ratecard.whatif.figure import Plot
from ratecard.whatif.panel import Tile

_DIRECTIONS = {-1: "fall", 0: "", 1: "rise"}


class Answers:
    """Everything on the page that a change of a price changes."""

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
            self.by_model, self.by_day = _Figure("by-model"), _Figure("by-day")
            self.largest = _Part("largest", "Models that bring most")
            self.payers = _Part("payers", "Customers who pay most")
            self.losers = _Part("losers", "They pay more")
            self.winners = _Part("winners", "They pay less")
            self.models = _Part("models", "Models that change most")
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
        self.tiles.set_content("".join(map(_tile, panel.tiles)))
        self.notes.set_content("".join(f"<p>{escape(note)}</p>" for note in panel.notes))
        self.by_model.show(panel.by_model)
        self.by_day.show(panel.by_day)
        self.largest.show(panel.largest)
        self.payers.show(panel.payers)
        self.losers.show(panel.losers)
        self.winners.show(panel.winners)
        self.models.show(panel.models)
        self.refused.set_visibility(bool(panel.unpriced))
        self.unpriced.set_content(panel.unpriced)
        self.time.set_text(f"Priced again in {answer.milliseconds} ms")

    def work(self, words: str) -> None:
        """Say what is being done; nothing once it is done."""
        self.doing.set_text(words)
        self.busy.set_visibility(bool(words))

    def keep(self, why: str) -> None:
        """Leave the figures as they were, and say why they are not of what the controls say."""
        self.place.classes(add="old")
        self._hint(why)

    def _hint(self, words: str) -> None:
        self.hint.set_text(words)
        self.hint.set_visibility(bool(words))


class _Part:
    """A heading and a table; away while there is none."""

    def __init__(self, name: str, title: str) -> None:
        with ui.element("section").classes(f"part {name}") as self.place:
            ui.html(escape(title), sanitize=False, tag="h2")
            self.table = ui.html(sanitize=False).classes("table")

    def show(self, table: str) -> None:
        self.place.set_visibility(bool(table))
        self.table.set_content(table)


class _Figure:
    """A chart under its title; away while there is none."""

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


def _tile(tile: Tile) -> str:
    direction = _DIRECTIONS[tile.direction]
    note = f"<span>{escape(tile.note)}</span>" if tile.note else ""
    return f'<li>{escape(tile.label)}<b class="{direction}">{escape(tile.value)}</b>{note}</li>'
