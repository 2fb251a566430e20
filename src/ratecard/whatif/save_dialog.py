"""The dialogs that open a candidate, and that save and promote a draft."""

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from nicegui import run, ui

from ratecard.base.errors import SimulationError, TableError
from ratecard.card import load_rate_card
from ratecard.review.promote import Promotion, promotion
from ratecard.whatif.candidate_file import CANDIDATES_FOLDER, FileThereError, SaveError, candidates_in, opened, save
from ratecard.whatif.draft import Draft, DraftError, Head
from ratecard.whatif.draft_pricer import DraftPricer


class Opener:
    """A button, and its dialog, which lists the saved candidates."""

    def __init__(self, pricer: DraftPricer, show: Callable[[Draft], None]) -> None:
        self.pricer, self.show = pricer, show
        ui.button("Open a candidate", icon="folder_open", on_click=self.open).props("flat no-caps dense")
        with ui.dialog() as self.dialog, ui.element("div").classes("dialog"):
            ui.html("Open a candidate", sanitize=False, tag="h2")
            ui.label("It takes the place of the changes that are on the page.").classes("quiet")
            self.list = ui.element("div").classes("found")
            self.file = ui.input("Another file").props("dense outlined")
            self.file.on("keydown.enter", self._load_typed)
            self.wrong = ui.label().classes("wrong").props('role="alert"')
            with ui.element("footer"):
                ui.button("Close", on_click=self.dialog.close).props("flat no-caps")
                ui.button("Open", on_click=self._load_typed).props("no-caps unelevated")

    def open(self) -> None:
        """List the files."""
        self.wrong.set_text("")
        self.list.clear()
        files = candidates_in(Path(CANDIDATES_FOLDER))
        with self.list:
            for path in files:
                ui.button(str(path), on_click=lambda path=path: self.load(path)).props("flat no-caps dense align=left")
            if not files:
                ui.label(f"There is no file in the folder {CANDIDATES_FOLDER} yet.").classes("quiet")
        self.dialog.open()

    def _load_typed(self) -> None:
        self.load(Path(str(self.file.value or "").strip()))

    def load(self, path: Path) -> None:
        """Show a file as the draft, or its faults."""
        try:
            draft = opened(path, self.pricer.card)
        except TableError as error:
            self.wrong.set_text(str(error))
        else:
            self.dialog.close()
            self.show(draft)


_HEAD = {"candidate": "Name", "proposed_by": "Proposed by", "why": "Why"}
_DATES = {"until": "Until (first day without it)", "announced": "Announced on"}


class Saving:
    """A button, and its dialog, which shows the draft as a candidate file, saves it and promotes it.

    `command` simulates the same usage, without its prices. `tables` is the folder to which a saved candidate can be
    promoted, or None; `kept` is called with the saved draft, and `renew` shows the new prices.
    """

    def __init__(
        self,
        pricer: DraftPricer,
        draft: Callable[[], Draft],
        keep: Callable[[], None],
        kept: Callable[[Draft], None],
        renew: Callable[[], None],
        command: str,
        tables: Path | None,
    ) -> None:
        self.pricer, self.draft, self.keep, self.kept, self.renew = pricer, draft, keep, kept, renew
        self.command, self.tables = command, tables
        self.saved: Path | None = None
        self.made: Promotion | None = None
        self.button = ui.button("Save as a candidate", on_click=self.open).props("no-caps unelevated").classes("save")
        with ui.dialog() as self.dialog, ui.element("div").classes("dialog"):
            ui.html("Save as a candidate", sanitize=False, tag="h2")
            self.head = {key: ui.input(label, on_change=self.preview) for key, label in (_HEAD | _DATES).items()}
            self.file = ui.input("File")
            for field in (*self.head.values(), self.file):
                field.props("dense outlined")
            self.yaml = ui.html(sanitize=False, tag="pre")
            self.wrong = ui.label().classes("wrong").props('role="alert"')
            self.done = ui.html(sanitize=False).classes("done").props('role="status"')
            self.lines = ui.html(sanitize=False, tag="pre").classes("lines")
            with ui.element("footer"):
                ui.button("Close", on_click=self.dialog.close).props("flat no-caps")
                self.promote = ui.button("Promote it ...", on_click=self.look).props("flat no-caps")
                self.write = ui.button("Write these lines", on_click=self.promoted).props("flat no-caps")
                self.replace = ui.button("Replace it", on_click=lambda: self.save(replace=True)).props("flat no-caps")
                ui.button("Save", on_click=lambda: self.save()).props("no-caps unelevated")

    def fill(self, draft: Draft) -> None:
        """Fill in the head and the dates of a draft."""
        known = draft.head != Head()
        values = dict(zip(_HEAD, draft.head if known else ("", "", ""), strict=True))
        for key, value in (values | {"until": draft.until, "announced": draft.announced}).items():
            self.head[key].set_value(value)

    def named(self, draft: Draft) -> Draft:
        """Return a draft with the head and the dates of the dialog; with the default head while it is empty."""
        words = tuple(map(self._word, _HEAD))
        head = Head(*words) if any(words) else Head()
        return draft._replace(head=head, until=self._word("until"), announced=self._word("announced"))

    def allow(self, draft: Draft) -> None:
        """Enable saving, if the draft has a change."""
        self.button.set_enabled(not draft.empty)

    def open(self) -> None:
        """Show the candidate file as it would be saved."""
        self.preview()
        self.dialog.open()

    def preview(self) -> None:
        """Show the file; its name follows that of the candidate until another file name is typed."""
        name = re.sub(r"[^a-z0-9]+", "-", self._word("candidate").lower()).strip("-")
        offered = f"{CANDIDATES_FOLDER}/{name or 'candidate'}.yaml"
        if not self.file.value or str(self.file.value).startswith(f"{CANDIDATES_FOLDER}/"):
            self.file.set_value(offered)
        self.yaml.set_content(escape(self._draft().text()))
        self.keep()
        self._say()

    def save(self, *, replace: bool = False) -> None:
        """Write the file, and say how to use it; or show beside each field what is wrong."""
        missing = [key for key in _HEAD if not self._word(key)]
        self._say()
        for key in missing:
            self.head[key].error = "Say it in a few words"
        if missing:
            return
        draft, path = self._draft(), Path(str(self.file.value or "").strip())
        try:
            save(draft, self.pricer.card, path, replace=replace)
        except FileThereError as error:
            self._say(wrong=f"{error}. Give another name, or replace it", replace=True)
        except DraftError as error:
            self._say(wrong="; ".join([*error.changes.values(), *error.head.values()]))
            for key in error.head.keys() & self.head.keys():
                self.head[key].error = error.head[key]
        except SaveError as error:
            self._say(wrong=str(error))
        else:
            self.saved = path
            self.kept(draft)
            command = f"{self.command} --current {draft.effective} --candidate {shlex.quote(str(path))}"
            command += "".join(f" --elasticity {shlex.quote(words)}" for words in draft.answered().values())
            self._say(done=f"Saved {escape(str(path))}. The same figures, as a report:<code>{escape(command)}</code>")

    async def look(self) -> None:
        """Show the lines that promoting the saved candidate would add to the tables, once they are proved."""
        if self.saved is None or self.tables is None:
            return
        self.promote.props(add="loading")
        try:
            self.made = await run.io_bound(promotion, self.tables, self.saved, datetime.now(UTC).date())
        except TableError as error:
            self._say(wrong=f"It cannot be promoted: {error}")
            return
        finally:
            self.promote.props(remove="loading")
        if self.made is None:  # It is None while the server stops.
            return
        self._say(done=f"Promoting {escape(str(self.saved))} adds {self.made.summary} of {escape(str(self.tables))}:")
        self.lines.set_content(escape("\n".join(f"{added}\n{added.text}" for added in self.made.added)))
        self._actions(write=True)

    async def promoted(self) -> None:
        """Write the lines that are shown, and continue with the new tables."""
        if self.made is None:
            return
        made, self.made, self.saved = self.made, None, None
        self.write.props(add="loading")
        try:
            made.write()
            await run.io_bound(lambda: self.pricer.take(load_rate_card(made.folder)))
        except TableError as error:
            self._say(wrong=str(error))
            return
        except SimulationError as error:
            now = f"This page still shows the prices before: {escape(str(error))}. Start it again to see the new ones."
        else:
            self.renew()
            now = "This page shows the new prices now."
        finally:
            self.write.props(remove="loading")
        words = f"Promoted: added {made.summary} of {escape(str(made.folder))}. Digest {made.digest}"
        self._say(done=f"{words}<p>{now}</p>")
        self._actions()

    def _say(self, *, wrong: str = "", done: str = "", replace: bool = False) -> None:
        self.wrong.set_text(wrong)
        self.done.set_content(done)
        self.lines.set_content("")
        self._actions(replace=replace, promote=bool(done) and self.tables is not None)
        for field in self.head.values():
            field.error = None

    def _actions(self, *, replace: bool = False, promote: bool = False, write: bool = False) -> None:
        self.replace.set_visibility(replace)
        self.promote.set_visibility(promote)
        self.write.set_visibility(write)
        self.lines.set_visibility(write)

    def _draft(self) -> Draft:
        return self.named(self.draft())._replace(head=Head(*map(self._word, _HEAD)))

    def _word(self, key: str) -> str:
        return str(self.head[key].value or "").strip()
