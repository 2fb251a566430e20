"""A lone word, a list or nothing where a table has a list of keys, as in `buckets: [input]`, is a fault at its line."""

import re
from pathlib import Path

import pytest

from ratecard import TableError
from ratecard.load.folder import shipped_folder, tables_from

MODEL = """family: made-up
models:
  - model: chat
    name: Chat
    type: text
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list
        rounding: none
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            factors:
              - {service_tier: batch, factor: 0.5}
            rates:
              - {tokens: input, rate: 4}
              - {tokens: output, rate: 20}
        examples:
          - {usage: {prompt_tokens: 1000000, completion_tokens: 0}, total: 4}
"""


def shipped(name: str) -> str:
    return Path(shipped_folder(), name).read_text(encoding="utf-8")


def test_a_line_of_a_table_has_no_price_of_the_list() -> None:
    with pytest.raises(TableError, match="listed '5' is not for tables"):
        text = MODEL.replace("{tokens: input, rate: 4}", "{attributes: {tokens: input}, rate: 4, listed: 5}")
        tables_from({"chat.yaml": text.encode()})


# By file: its text, and its keys that hold a list of keys.
FILES = {
    "chat.yaml": (MODEL, ("models", "versions", "charges", "factors", "rates", "examples")),
    "meters.yaml": (shipped("meters.yaml"), ("meters", "buckets", "conditions")),
    "units.yaml": (shipped("units.yaml"), ("units",)),
    "limits.yaml": (shipped("limits.yaml"), ("limits", "text", "types", "sunsets")),
}
CASES = [
    (name, key, word) for name, (_, keys) in FILES.items() for key in keys for word in ("input", "[input]", "7", "")
]


@pytest.mark.parametrize(("name", "key", "word"), CASES)
def test_it_is_a_fault_at_its_line(name: str, key: str, word: str) -> None:
    text = FILES[name][0]
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if re.fullmatch(rf" *{key}:", line))
    own = len(lines[at]) - len(lines[at].lstrip())
    # Lines below the key are indented more, or are a list at its own indentation.
    after = next(
        (number for number in range(at + 1, len(lines)) if lines[number].strip() and _indent(lines[number]) <= own),
        len(lines),
    )
    lines[at:after] = [f"{lines[at]} [{word}]" if word else lines[at]]
    contents = {"chat.yaml": MODEL} | {name: "\n".join(lines) + "\n"}
    with pytest.raises(TableError) as caught:
        tables_from({file: content.encode() for file, content in contents.items()})
    said = str(caught.value).splitlines()
    assert any(
        re.match(rf"{name}:{at + 1}: .*(must hold keys|must be a line like|must be a list|is empty)", line)
        for line in said
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
