"""Bodies made from real ones by mutation, through the library: nothing but a quote, or a refusal with a sound tree.

    python benchmarks/fuzz.py 1000000

Half of the bodies are mutated as JSON values, half as bytes. The exit status is 1 if anything else came out.
"""

import json
import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from typing import Any

from serve_requests import GIVEN

import ratecard
from ratecard import PriceBook, Quote, QuoteError
from ratecard.requests.video import FIELD_ORDER
from ratecard.testing.video_strategies import BROKEN

DAYS = (date(2026, 9, 29), date(2026, 10, 24))
ROUND = 10_000
PROCESSES = 2
_VALUES: list[Any] = [None, True, False, 0, -1, 1, 2, 2.0, 2.5, 16, 48, 120, 121, 10**30, -(10**400), 1e308, 5e-324]
_VALUES += [
    float("nan"),
    float("inf"),
    "",
    " ",
    "5s",
    "auto",
    "-1",
    "16:9",
    "720P",
    "4K",
    "1x",
    "\x00",
    "\ud800",
    "é" * 99,
]
_VALUES += [[], {}, [1], {"_errors": []}, "data:,", "https://x.y", "https://", "x" * 5000, [[[[]]]]]
_AUDIO = ["elevenlabs-music", "tts-kokoro", "stt-xai-v1", "minimax-music-v2", "ace-step-15"]
_TOKENS = [
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"null",
    b"1e999",
    b"-",
    b"NaN",
    b"\xff",
    b"\x00",
    b"\\u0000",
    b" ",
]


def mutated(dice: random.Random) -> bytes:
    """A body that is more or less a real one."""
    raw = dice.choice(GIVEN)
    if dice.random() < 0.5:
        for _ in range(dice.randint(1, 2)):
            at, kind = dice.randrange(len(raw) + 1), dice.randrange(4)
            if kind == 0:
                raw = raw[:at] + dice.choice(_TOKENS) + raw[at:]
            elif kind == 1:
                raw = raw[:at] + raw[at + dice.randint(1, 8) :]
            elif kind == 2:
                raw = raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :]
            else:
                raw = raw[:at] + raw[dice.randrange(len(raw) + 1) :]
        return raw
    fields: dict[str, Any] = json.loads(raw)
    if dice.random() < 0.1:
        fields = {"model": dice.choice(_AUDIO), "duration_seconds": 60, "character_count": 5}
    for _ in range(dice.randint(0, 3)):
        name = dice.choice([*FIELD_ORDER[1:], *fields, "duration_seconds", "character_count", "_errors", "x"])
        kind = dice.randrange(5)
        if kind == 0:
            fields.pop(name, None)
        elif kind == 1 and name in BROKEN:
            fields[name] = dice.choice(BROKEN[name])
        elif kind == 2 and isinstance(fields.get(name), str):
            at = dice.randrange(len(fields[name]) + 1)
            fields[name] = fields[name][:at] + dice.choice(["", "x", "-", "é", "\x00"]) + fields[name][at + 1 :]
        else:
            fields[name] = dice.choice(_VALUES)
    return json.dumps(fields, default=str).encode()


def is_tree(node: Any) -> bool:
    """`_errors` with words at every level, and nothing but such nodes below it."""
    if not isinstance(node, dict) or not isinstance(node.get("_errors"), list):
        return False
    words = all(isinstance(each, str) and each for each in node["_errors"])
    return words and all(is_tree(below) for name, below in node.items() if name != "_errors")


def says(tree: Any) -> bool:
    """Whether a tree has a message anywhere."""
    return bool(tree["_errors"]) or any(says(below) for name, below in tree.items() if name != "_errors")


def outcome(book: PriceBook, path: str, raw: bytes) -> str:
    """What came out; raises `AssertionError` for what may not."""
    try:
        quote: Quote = (book.quote_video if path == "video" else book.quote_audio)(raw)
    except QuoteError as refusal:
        body = json.loads(refusal.to_json())
        assert body == refusal.body(), "the JSON is another"
        assert isinstance(body["error"], str), "no sentence"
        assert body["error"], "an empty sentence"
        assert len(refusal.to_json()) < 20_000, "an echo of the request"
        if "details" not in body:
            return "refused by a sentence"
        assert is_tree(body["details"]), "no tree"
        assert says(body["details"]), "a tree without a message"
        return "refused with a tree"
    assert quote.total >= 0, "less than nothing"
    assert isinstance(json.loads(quote.to_json())["quote"], (int, float)), "no number"
    return "quoted"


def fuzz(seed: int) -> tuple[Counter[str], list[str]]:
    """One round: the outcomes, and what went wrong."""
    dice, found, wrong = random.Random(seed), Counter[str](), list[str]()
    for _ in range(ROUND):
        raw, book, path = mutated(dice), dice.choice(_books()), dice.choice(["video"] * 9 + ["audio"])
        try:
            found[f"{path} {outcome(book, path, raw)}"] += 1
        except Exception as error:  # noqa: BLE001  whatever it is, it is what we look for
            wrong.append(f"seed {seed}, {path} {raw!r}: {type(error).__name__}: {error}")
    return found, wrong


_KEPT: list[PriceBook] = []


def _books() -> list[PriceBook]:
    if not _KEPT:
        card = ratecard.load_rate_card()
        _KEPT.extend(card.at(day) for day in DAYS)
    return _KEPT


def main() -> None:
    """So many bodies, in rounds."""
    wanted, started = int(sys.argv[1]), time.monotonic()
    found, wrong = Counter[str](), list[str]()
    with ProcessPoolExecutor(PROCESSES) as pool:
        for counted, failures in pool.map(fuzz, range(-(-wanted // ROUND))):
            found += counted
            wrong += failures
    for words in wrong[:20]:
        print("WRONG", words[:2000])
    print(f"{found.total() + len(wrong):,} bodies in {time.monotonic() - started:.0f} s")
    for words, count in found.most_common():
        print(f"{count:12,}  {words}")
    print(f"{len(wrong):12,}  anything else")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
