"""Writes two states in turn until it is killed: `python tables_by_turns.py FOLDER`; with a number, 20 of its own."""

import sys
from pathlib import Path

from ratecard.server.last_sound import LastSound

WRITERS = 3


def write(kept: LastSound, content: bytes) -> None:
    with kept.deciding():
        kept.write({"a": content})


if __name__ == "__main__":
    kept = LastSound(Path(sys.argv[1]))
    if sys.argv[2:]:
        for turn in range(20):
            write(kept, f"{sys.argv[2]}.{turn}".encode())
    while not sys.argv[2:]:
        for sign in b"12":
            write(kept, bytes([sign]) * 100_000)
        sys.stdout.write("both\n")
        sys.stdout.flush()
