"""The dialog that shows the draft as a candidate file, and saves it."""

import re
import shlex
from collections.abc import Callable
from html import escape
from pathlib import Path

from nicegui import ui

from ratecard.whatif.desk import Desk
from ratecard.whatif.draft import Draft, DraftError, Head
from ratecard.whatif.save import FileThereError, SaveError, save

_FOLDER = "candidates"
_HEAD = {"candidate": "Name", "proposed_by": "Proposed by", "why": "Why"}


class Saving:
    """A button, and the dialog behind it. `command` simulates the same usage, but for its prices."""

    def __init__(self, desk: Desk, draft: Callable[[], Draft], command: str) -> None:
        self.desk, self.draft, self.command = desk, draft, command
        self.button = ui.button("Save as a candidate", on_click=self.open).props("no-caps unelevated").classes("save")
        with ui.dialog() as self.dialog, ui.element("div").classes("dialog"):
            ui.html("Save as a candidate", sanitize=False, tag="h2")
            self.head = {key: ui.input(label, on_change=self.preview) for key, label in _HEAD.items()}
            self.file = ui.input("File")
            for field in (*self.head.values(), self.file):
                field.props("dense outlined")
            self.yaml = ui.html(sanitize=False, tag="pre")
            self.wrong = ui.label().classes("wrong").props('role="alert"')
            self.done = ui.html(sanitize=False).classes("done").props('role="status"')
            with ui.element("footer"):
                ui.button("Close", on_click=self.dialog.close).props("flat no-caps")
                self.replace = ui.button("Replace it", on_click=lambda: self.save(replace=True)).props("flat no-caps")
                ui.button("Save", on_click=lambda: self.save()).props("no-caps unelevated")
        self.allow(self.draft())

    def allow(self, draft: Draft) -> None:
        """Only a draft that holds a change can be saved."""
        self.button.set_enabled(not draft.empty)

    def open(self) -> None:
        """Show the file as it would be."""
        self.preview()
        self.dialog.open()

    def preview(self) -> None:
        """The file as it is now; its name follows the candidate's until another one is typed."""
        name = re.sub(r"[^a-z0-9]+", "-", self._word("candidate").lower()).strip("-")
        offered = f"{_FOLDER}/{name or 'candidate'}.yaml"
        if not self.file.value or str(self.file.value).startswith(f"{_FOLDER}/"):
            self.file.set_value(offered)
        self.yaml.set_content(escape(self._draft().text()))
        self._say()

    def save(self, *, replace: bool = False) -> None:
        """Write the file, and say what can be done with it; or say beside each field what is wrong."""
        missing = [key for key in _HEAD if not self._word(key)]
        self._say()
        for key in missing:
            self.head[key].error = "Say it in a few words"
        if missing:
            return
        draft, path = self._draft(), Path(str(self.file.value or "").strip())
        try:
            save(draft, self.desk.card, path, replace=replace)
        except FileThereError as error:
            self._say(wrong=f"{error}. Give another name, or replace it", replace=True)
        except (DraftError, SaveError) as error:
            self._say(wrong=str(error))
        else:
            again = f"{self.command} --current {draft.effective} --candidate {shlex.quote(str(path))}"
            self._say(done=f"Saved {escape(str(path))}. The same figures, as a report:<code>{escape(again)}</code>")

    def _say(self, *, wrong: str = "", done: str = "", replace: bool = False) -> None:
        self.wrong.set_text(wrong)
        self.done.set_content(done)
        self.replace.set_visibility(replace)
        for field in self.head.values():
            field.error = None

    def _draft(self) -> Draft:
        return self.draft()._replace(head=Head(*map(self._word, _HEAD)))

    def _word(self, key: str) -> str:
        return str(self.head[key].value or "").strip()
