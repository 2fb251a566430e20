"""Tables and source videos that could be taken for something that they are not."""

import json
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner
from input_case import InputCase

import ratecard
from ratecard import SourceVideo
from ratecard.base.errors import QuoteError, TableError
from ratecard.cli.commands import main
from ratecard.load.folder import read_folder
from shipped import CARD

NOW = int(datetime(2026, 11, 22, tzinfo=UTC).timestamp()) * 10**9
OVI, GROK = "video/ovi.yaml", "video/grok-imagine.yaml"
UPSCALE, INTERPOLATION = "topaz-video-upscale", "topaz-video-interpolation"
URL = "https://example.com/a.mp4"
Edit = tuple[str, str, str]

DEAR = (OVI, "rate: 0.22}", "rate: 22}")
WRONG = f"refused: {OVI}:25: ovi-image-to-video: the example says 0.22, the rates give 22.00:"


@contextmanager
def folder_of(*edits: Edit):  # type: ignore[no-untyped-def]
    """The shipped tables in a folder of their own, with these edits."""
    with TemporaryDirectory() as root:
        write(Path(root), {**read_folder(), **edited(edits)})
        yield Path(root)


def edited(edits: tuple[Edit, ...]) -> dict[str, bytes]:
    found = {name: read_folder()[name].decode() for name, _, _ in edits}
    for name, old, new in edits:
        assert old in found[name]
        found[name] = found[name].replace(old, new)
    return {name: text.encode() for name, text in found.items()}


def write(root: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def told(error: TableError | QuoteError) -> str:
    if isinstance(error, QuoteError):
        fields = (f"{'.'.join(map(str, path))}: {words}" for path, words in error.problems)
        return f"refused: {'; '.join(fields) or error.error}"
    return "refused: " + str(error).splitlines()[0]


def video(model: str, sent: Mapping[str, Any], source: SourceVideo | None = None) -> Callable[[], str]:
    """Return a function that gives the price of a body, and the note of its line."""

    def act() -> str:
        try:
            quote = CARD.at(date(2026, 11, 1)).quote_video({"model": model, **sent}, source=source)
        except QuoteError as error:
            return told(error)
        return f"priced: {quote.total}, {quote.lines[0].note}"

    return act


def loaded(*edits: Edit, model: str = "ovi-image-to-video") -> Callable[[], str]:
    """Return a function that gives the price of a model by edited tables, in a program."""

    def act() -> str:
        with folder_of(*edits) as folder:
            try:
                quote = ratecard.load_rate_card(folder).at(date(2026, 11, 1)).quote_video({"model": model})
            except TableError as error:
                return told(error)
            return f"priced: {quote.total}"

    return act


def command(*words: str, edits: tuple[Edit, ...] = (DEAR,)) -> Callable[[], str]:
    """The first line that a command says of edited tables."""

    def act() -> str:
        with folder_of(*edits) as folder:
            done = CliRunner().invoke(main, [str(folder) if word == "FOLDER" else word for word in words])
            if done.exit_code == 1:
                said = (done.stdout + done.stderr).splitlines()
                return "refused: " + next(line for line in said if not line.startswith("Tables: "))
            return f"priced: {done.stdout}"

    return act


def served(*edits: Edit) -> Callable[[], str]:
    """Return a function that gives the answer of a server about tables edited while it runs."""

    def act() -> str:
        from ratecard.server.tables import TableFolder

        with folder_of() as folder:
            tables = TableFolder(folder)
            write(folder, edited(edits))
            try:
                card = tables.changed(lambda: None)
            except TableError as error:
                return told(error)
            assert card is not None
            return "priced: served"

    return act


def linked(make: Callable[[Path, Path], None]) -> Callable[[], str]:
    """Return a function that gives the number of models that `check` finds in a folder with links."""

    def act() -> str:
        with folder_of() as far, TemporaryDirectory() as root:
            near = Path(root)
            make(near, far)
            done = CliRunner().invoke(main, ["check", str(near), "--json"])
            if done.exit_code == 1:
                tree = json.loads(done.stdout)["details"]
                (file,) = (name for name in tree if name != "_errors")
                return f"refused: {tree[file]['_errors'][0]}"
            return f"priced: {json.loads(done.stdout)['models']} models"

    return act


def as_mounted(near: Path, far: Path) -> None:
    (near / "..data").symlink_to(far)
    for name in (path.name for path in far.iterdir()):
        (near / name).symlink_to(f"..data/{name}")


def twice(near: Path, far: Path) -> None:
    (near / "ovi.yaml").symlink_to(far / OVI)
    (near / "again.yaml").symlink_to(far / OVI)


def loop(near: Path, far: Path) -> None:
    write(near, {"video/ovi.yaml": (far / OVI).read_bytes()})
    (near / "video" / "up").symlink_to("..")


def dangling(near: Path, far: Path) -> None:
    write(near, {"ovi.yaml": (far / OVI).read_bytes()})
    (near / "text").symlink_to("..data/text")


NO_RATE = "frame rate unknown: x2 as from 48 per second"
REFERENCE = (OVI, "        source:", "        reference: the price page\n        source:")
TABLE_INPUTS = [
    InputCase(
        "an upscale of unknown frame rate",
        "python",
        video(UPSCALE, {}, SourceVideo(seconds=10, height=480)),
        f"priced: 0.50, {NO_RATE}",
    ),
    InputCase(
        "an upscale of stated seconds of which nothing else is known",
        "python",
        video(UPSCALE, {"duration": "10s"}),
        f"priced: 2.00, height unknown: dearest tier; {NO_RATE}",
    ),
    InputCase(
        "an upscale of stated seconds to a frame rate that is asked for",
        "python",
        video(UPSCALE, {"duration": "10s", "target_fps": 30}),
        "priced: 1.00, height unknown: dearest tier",
        guard=True,
    ),
    InputCase(
        "an upscale of a portrait video",
        "python",
        video(UPSCALE, {"upscale_factor": 1}, SourceVideo(seconds=10, width=1080, height=1920, fps=30)),
        "priced: 1.00, ",
        guard=True,
    ),
    InputCase(
        "an interpolation of a video of unknown frame rate",
        "python",
        video(INTERPOLATION, {"enhancement_model": "Aion", "duration": "5s", "video_url": URL}),
        "refused: video_url: Could not read the frame rate of the video",
    ),
    InputCase(
        "megapixels of a video of unknown size",
        "python",
        video("seedvr2-video-upscale", {"duration": "5s"}, SourceVideo(fps=30)),
        "refused: video_url: Could not read the size of the video",
    ),
    InputCase("a rate that contradicts its example", "python", loaded(DEAR), WRONG),
    InputCase(
        "an example that contradicts its rate",
        "python",
        loaded((OVI, "total: 0.22", "total: 0.2")),
        f"refused: {OVI}:25: ovi-image-to-video: the example says 0.2, the rates give 0.22:",
    ),
    InputCase(
        "an example that is refused",
        "python",
        loaded((OVI, "{duration: 5s}", "{duration: 6s}")),
        f"refused: {OVI}:25: ovi-image-to-video: the example says 0.22, but it is refused: Invalid request body",
    ),
    InputCase("a wrong example of another model", "python", loaded((GROK, "total: 2.43", "total: 2")), "priced: 0.22"),
    *(
        InputCase(f"a rate that contradicts its example, {words[0]}", "cli", command(*words), WRONG)
        for words in (
            ("quote", "--tables", "FOLDER", "--model", "ovi-image-to-video"),
            ("explain", "--tables", "FOLDER", "ovi-image-to-video"),
            ("sheet", "--tables", "FOLDER", "ovi-image-to-video"),
            ("serve", "FOLDER"),
        )
    ),
    InputCase("a rate that contradicts its example, check", "cli", command("check", "FOLDER"), WRONG, guard=True),
    InputCase("a rate that contradicts its example, while it is served", "http", served(DEAR), WRONG),
    InputCase(
        "an edit of what is in effect, while it is served",
        "http",
        served((OVI, "rate: 0.22}", "rate: 0.23}"), (OVI, "total: 0.22", "total: 0.23")),
        f"refused: {OVI}:22: version 2025-12-01 of ovi-image-to-video is in effect, and was edited: "
        "video: 0.22 -> 0.23. Put it back as it was and write a new version above it; "
        "if it was wrong from the start, say `correction: reason` in it",
    ),
    InputCase(
        "a correction of what is in effect, while it is served",
        "http",
        served(
            (OVI, "rate: 0.22}", "rate: 0.23}"),
            (OVI, "total: 0.22", "total: 0.23"),
            (OVI, "        source:", "        correction: a slip\n        source:"),
        ),
        "priced: served",
        guard=True,
    ),
    InputCase(
        "a model that vanished, while it is served",
        "http",
        served((OVI, "model: ovi-image-to-video", "model: ovi-from-an-image")),
        f"refused: served:{OVI}:11: model 'ovi-image-to-video' vanished, and has had prices since 2025-12-01. "
        "Put it back, and end it by `retired: {on: DATE}`; its versions stay",
    ),
    InputCase("folders that are links", "tables", linked(as_mounted), "priced: 366 models"),
    InputCase("a file that is reached twice", "tables", linked(twice), "priced: 1 models"),
    InputCase(
        "a link to the folder that holds it",
        "tables",
        linked(loop),
        "refused: video/up:1: is a link to a folder that leads back to it. Remove the link",
    ),
    InputCase(
        "a folder that is a link to nothing",
        "tables",
        linked(dangling),
        "refused: text:1: is a link to nothing: ..data/text is not there. Mend the link, or remove it",
    ),
    InputCase(
        "a reference that is no address",
        "tables",
        command("check", "FOLDER", edits=(REFERENCE,)),
        f"refused: {OVI}:13: reference 'the price page' is not the address of a page. "
        "Write it whole, like https://example.com/pricing",
    ),
]
