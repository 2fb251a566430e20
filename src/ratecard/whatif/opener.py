"""The dialog in which a saved candidate is opened."""

from collections.abc import Callable
from pathlib import Path

from nicegui import ui

from ratecard.whatif.desk import Desk
from ratecard.whatif.draft import Draft
from ratecard.whatif.opening import candidates_in, opened
from ratecard.whatif.save import FOLDER
from ratecard.words.errors import TableError


class Opener:
    """A button, and the dialog behind it, which lists the files where candidates are saved."""

    def __init__(self, desk: Desk, show: Callable[[Draft], None]) -> None:
        self.desk, self.show = desk, show
        ui.button("Open a candidate", icon="folder_open", on_click=self.open).props("flat no-caps dense")
        with ui.dialog() as self.dialog, ui.element("div").classes("dialog"):
            ui.html("Open a candidate", sanitize=False, tag="h2")
            ui.label("It takes the place of the changes that are on the page.").classes("quiet")
            self.list = ui.element("div").classes("found")
            self.file = ui.input("Another file").props("dense outlined")
            self.file.on("keydown.enter", lambda: self.load(Path(str(self.file.value or "").strip())))
            self.wrong = ui.label().classes("wrong").props('role="alert"')
            with ui.element("footer"):
                ui.button("Close", on_click=self.dialog.close).props("flat no-caps")
                ui.button("Open", on_click=lambda: self.load(Path(str(self.file.value or "").strip()))).props(
                    "no-caps unelevated"
                )

    def open(self) -> None:
        """Show which files there are."""
        self.wrong.set_text("")
        self.list.clear()
        found = candidates_in(Path(FOLDER))
        with self.list:
            for path in found:
                ui.button(str(path), on_click=lambda path=path: self.load(path)).props("flat no-caps dense align=left")
            if not found:
                ui.label(f"There is no file in the folder {FOLDER} yet.").classes("quiet")
        self.dialog.open()

    def load(self, path: Path) -> None:
        """Show the draft of a file, or say what is wrong with it."""
        try:
            draft = opened(path, self.desk.card)
        except TableError as error:
            self.wrong.set_text(str(error))
        else:
            self.dialog.close()
            self.show(draft)
