"""Tables that change under a server in a soak: sound ones, each with a digest of its own, and broken ones."""

import random
import shutil
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import ratecard
from ratecard import PriceBook, TableError
from ratecard.load.folder import read_folder, shipped_folder, tables_from

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "server"))
from serving import GROK, RATE, at_rate


class ChangingTables:
    """A copy of the shipped tables with so many sound states beside the shipped one, each with its own rate."""

    def __init__(self, folder: Path, states: int) -> None:
        self.folder = folder / "tables"
        shutil.copytree(shipped_folder(), self.folder)
        self.file = self.folder / GROK
        text = self.file.read_text()
        assert RATE in text
        self.sound = [text] + [at_rate(text, f"0.{number}") for number in range(200, 200 + states)]
        self.broken = [
            text.replace(RATE, "rate: nothing}"),
            text.replace(RATE, "rate: -0.1}"),
            text.replace(RATE, "rate: 0.1"),
            text.replace(RATE, "rate: 16.1}"),  # sound but for an example
            text.replace("unit: video_second", "unit: video_minute"),
            text[: len(text) // 2] + "\n  - {",
            text + text[text.index("  - model:") :],
            "",
            "\x00",
        ]
        contents = read_folder(self.folder)
        self.cards = {}
        for sound in self.sound:
            card = ratecard.RateCard(tables_from({**contents, GROK: sound.encode()}))
            self.cards[card.digest] = card
        assert len(self.cards) == len(self.sound)
        for broken in self.broken:
            try:
                ratecard.RateCard(tables_from({**contents, GROK: broken.encode()})).prove_all()
            except TableError:
                continue
            raise AssertionError("these tables are sound")
        self._books: dict[tuple[str, date], PriceBook] = {}

    def book(self, digest: str, day: date) -> PriceBook | None:
        """The prices of a sound state on a day; None for a digest that no sound state has."""
        if digest not in self.cards:
            return None
        if (digest, day) not in self._books:
            self._books[digest, day] = self.cards[digest].at(day)
        return self._books[digest, day]

    def changes(self, dice: random.Random) -> Iterator[str | None]:
        """Change the tables: a sound state, a broken one, and so on; in one step, or as an editor does.

        What is given is the digest of a sound state; None of a broken one.
        """
        digests = dict(zip(self.sound, self.cards, strict=True))
        while True:
            for sound in (True, False):
                text = dice.choice(self.sound if sound else self.broken)
                if dice.random() < 0.5:
                    self.file.write_text(text)
                else:
                    new = self.file.with_suffix(".tmp")
                    new.write_text(text)
                    new.replace(self.file)
                yield digests.get(text)
