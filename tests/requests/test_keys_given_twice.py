"""A key of JSON that is there twice is refused at every door, in the words of the door, and is named."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from ratecard import PriceBook, QuoteError, rollup, simulate, usage_from
from ratecard.accounts.keys import ApiKey
from ratecard.base.errors import RateCardError
from ratecard.cli import main
from ratecard.ledger import iter_ledger, read_ledger
from ratecard.price_lists.peer import read_list
from ratecard.server import application
from ratecard.server.last_sound import LastSound
from ratecard.whatif.draft import Draft, from_json, to_json
from shipped import CARD

VIDEO = '{"model": "ovi-image-to-video", "model": "veo3"}'
TYPED = '{"type": "video", "timestamp": "2026-10-01T00:00:00Z", '
USAGE = '{"type": "speech", "model": "tts-kokoro", "characters": 9, "characters": 1}'
TOKENS = '{"model": "m", "usage": {"prompt_tokens": 900, "prompt_tokens": 1, "completion_tokens": 2}}'
ROW = '{"timestamp": "2026-10-01T00:00:00Z", "sku": "s", "pricePerUnitUsd": 1, "unit": 1, "amount": -1, "amount": -2}'


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def on_command_line(*words: str) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    raise QuoteError(done.output)


def with_other_manifest(folder: Path) -> None:
    usage = '{"type": "video", "model": "ovi-image-to-video", "timestamp": "2026-10-01T00:00:00Z"}'
    rollup(written(folder, "usage.jsonl", usage), folder / "kept", CARD)
    manifest = folder / "kept" / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("{", '{"format": 1,', 1), encoding="utf-8")
    simulate(folder / "kept", CARD)


Door = Callable[[PriceBook, Path], object]
DOORS: dict[str, tuple[Door, str]] = {
    "a quote": (lambda prices, _: prices.quote_video(VIDEO.encode()), "The body has the key 'model' twice"),
    "a quote as text": (lambda prices, _: prices.quote_video(VIDEO), "The body has the key 'model' twice"),
    "audio": (lambda prices, _: prices.quote_audio(VIDEO), "The body has the key 'model' twice"),
    "a usage": (lambda prices, _: prices.rate(USAGE.encode()), "The body has the key 'characters' twice"),
    "a key record": (lambda *_: ApiKey.model_validate_json('{"id": "a", "id": "b"}'), "twice"),
    "a response": (lambda *_: usage_from("openai", TOKENS), "The text has the key 'prompt_tokens' twice"),
    "bytes of a response": (lambda *_: usage_from("openai", TOKENS.encode()), "The text has the key 'prompt_tokens'"),
    "a part of a stream": (lambda *_: usage_from("openai", ["{}", TOKENS]), "The text has the key 'prompt_tokens'"),
    "text inside a response": (
        lambda *_: usage_from("openai", {"model": "m", "usage": '{"prompt_tokens": 5, "prompt_tokens": 6}'}),
        "usage: The text has the key 'prompt_tokens' twice",
    ),
    "text on the way to a usage": (
        lambda *_: usage_from(
            "litellm",
            {
                "model": "m",
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "metadata": '{"usage_object": 1, "usage_object": 2}',
            },
        ),
        "metadata: The text has the key 'usage_object' twice",
    ),
    "a ledger": (lambda *_: read_ledger(f'{{"data": [{ROW}]}}'), "an object has the key 'amount' twice"),
    "a page of a ledger": (
        lambda *_: read_ledger('{"nextCursor": null, "data": [], "nextCursor": "x"}'),
        "the page has the key 'nextCursor' twice",
    ),
    "a file of a ledger": (
        lambda _, folder: list(iter_ledger(written(folder, "ledger.json", f"[{ROW}]"))),
        "an object has the key 'amount' twice",
    ),
    "a price list": (
        lambda _, folder: read_list(written(folder, "list.json", '{"m": {"a": 1}, "m": {"a": 2}}'), "litellm"),
        "is not a price list of litellm: it has the key 'm' twice",
    ),
    "a state file": (
        lambda _, folder: LastSound(written(folder, "tables.json", '{"tables": {}, "tables": {}}').parent).read(),
        "tables.json is damaged",
    ),
    "a draft": (
        lambda *_: from_json(to_json(Draft("2027-01-01")).replace("{", '{"until": "2028-01-01", ', 1)),
        "has the key 'until' twice",
    ),
    "a manifest": (
        lambda _, folder: with_other_manifest(folder),
        "is not the manifest of a roll-up: has the key 'format' twice",
    ),
    "json lines of usage": (
        lambda _, folder: simulate(written(folder, "usage.jsonl", VIDEO.replace("{", TYPED)), CARD),
        "the columns 'model' and 'model' have one name",
    ),
    "--json": (lambda *_: on_command_line("quote", "--json", VIDEO), "The body has the key 'model' twice"),
    "rate --json": (lambda *_: on_command_line("rate", "--json", USAGE), "The body has the key 'characters' twice"),
    "--batch": (
        lambda _, folder: on_command_line("quote", "--batch", str(written(folder, "bodies.jsonl", VIDEO))),
        "The body has the key 'model' twice",
    ),
}


@pytest.mark.parametrize(("door", "words"), DOORS.values(), ids=DOORS)
def test_a_key_that_is_there_twice_is_refused(prices: PriceBook, tmp_path: Path, door: Door, words: str) -> None:
    with pytest.raises((ValueError, RateCardError), match=words):
        door(prices, tmp_path)


@pytest.mark.parametrize("path", ["video/quote", "audio/quote", "rate", "estimate"])
def test_over_http_the_answer_is_that_of_any_other_text_that_is_no_body(path: str) -> None:
    with TestClient(application(CARD)) as client:
        answer = client.post(f"/api/v1/{path}", content=VIDEO, headers={"content-type": "application/json"})
    refusal = {
        "error": "Invalid request body",
        "details": {"_errors": ["The body has the key 'model' twice; keep one"]},
    }
    assert (answer.status_code, answer.json()) == (400, refusal)
