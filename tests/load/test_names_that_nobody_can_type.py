"""Names with an invisible character: each is a fault at its line, wherever a table gives a name."""

from pathlib import Path

import pytest

import ratecard
from token_tables import by_tokens, family, text_model

SOUND = family(
    text_model(
        "seen",
        by_tokens(
            "- {tokens: [input, output], rate: 2}\n- {tokens: input, tempo: quick, rate: 3}\n",
            "factors: [{tempo: slow, factor: 2}]",
        ),
        further="aliases: [seen-too]\npatterns: ['seen-*']\nprovider: maker\n",
    )
)
METERS = """\
meters:
  - meter: leaf
  - meter: token
    dimensions: {direction: [input, output], cache: [read]}
    without_rate: {cache: refuse}
    buckets:
      - {bucket: input, direction: input}
      - {bucket: output, direction: output}
      - {bucket: kept, sku: kept-too, direction: input, cache: read}
conditions:
  - {condition: tempo, values: [even, slow, quick], default: even, same_as: {e: even}}
"""
UNITS = "units:\n  - {unit: leaves, counts: leaf, per: 10}\n"
FILES = {"names.yaml": "patterns: true\n", "meters.yaml": METERS, "units.yaml": UNITS, "seen.yaml": SOUND}

# Invisible characters of each kind that Unicode knows.
UNSEEN = {
    "zero width space": "\u200b",
    "zero width joiner": "\u200d",
    "soft hyphen": "\u00ad",
    "no-break space": "\u00a0",
    "narrow no-break space": "\u202f",
    "ideographic space": "\u3000",
    "right-to-left mark": "\u200f",
    "right-to-left override": "\u202e",
    "pop directional isolate": "\u2069",
    "zero width no-break space": "\ufeff",
    "line separator": "\u2028",
    "a control character": "\u0009",
    "word joiner": "\u2060",
    "tag latin small letter a": "\U000e0061",
    "variation selector-16": "\ufe0f",
    "combining grapheme joiner": "\u034f",
    "hangul filler": "\u3164",
    "braille pattern blank": "\u2800",
}
# The file, a name in it as it is written, and the key that the message names.
NAMES = [
    ("seen.yaml", "model: seen", "model"),
    ("seen.yaml", "seen-too", "aliases"),
    ("seen.yaml", "seen-*", "patterns"),
    ("seen.yaml", "provider: maker", "provider"),
    ("seen.yaml", "family: made-up", "family"),
    ("seen.yaml", "charge: tokens", "charge"),
    ("seen.yaml", "unit: mtoken", "unit"),
    ("seen.yaml", "tempo: quick", "tempo"),
    ("seen.yaml", "tempo: slow", "tempo"),
    ("meters.yaml", "meter: leaf", "meter"),
    ("meters.yaml", "bucket: kept", "bucket"),
    ("meters.yaml", "sku: kept-too", "sku"),
    ("meters.yaml", "cache: read", "cache"),
    ("meters.yaml", "condition: tempo", "condition"),
    ("meters.yaml", "default: even", "default"),
    ("meters.yaml", "quick]", "values"),
    ("meters.yaml", "e: even", "e"),
    ("units.yaml", "unit: leaves", "unit"),
    ("units.yaml", "counts: leaf", "counts"),
]


def faults(folder: Path, file: str, old: str, unseen: str) -> list[str]:
    """The faults of the sound folder where one name of one file has a further character before its last."""
    *key, name = old.partition(": ") if ": " in old else ("", "", old)
    end = "]" if name.endswith("]") else ""
    name = name.removesuffix("]")
    escaped = f'"{name[:-1]}\\U{ord(unseen):08X}{name[-1:]}"' if unseen else name
    for other, text in FILES.items():
        assert other != file or old in text
        written = text.replace(f"'{old}'", old) if other == file else text
        written = written.replace(old, f"{''.join(key)}{escaped}{end}", 1) if other == file and unseen else text
        (folder / other).write_text(written, encoding="utf-8")
    try:
        ratecard.load_rate_card(folder)
    except ratecard.TableError as error:
        return [fault.message for fault in error.faults if fault.file == file]
    return []


def test_the_folder_is_sound_as_it_is(tmp_path: Path) -> None:
    assert faults(tmp_path, "seen.yaml", "model: seen", "") == []


@pytest.mark.parametrize("kind", UNSEEN)
def test_a_model_with_an_invisible_character_is_refused(tmp_path: Path, kind: str) -> None:
    letter = UNSEEN[kind]
    [words] = faults(tmp_path, "seen.yaml", "model: seen", letter)
    assert words.endswith(f"has an invisible character after 'see': {kind} (U+{ord(letter):04X}). Leave it out")


@pytest.mark.parametrize(("file", "name", "key"), NAMES)
def test_so_is_every_other_name(tmp_path: Path, file: str, name: str, key: str) -> None:
    words = faults(tmp_path, file, name, "\u200b")
    assert any(each.startswith(f"{key} ") and "zero width space (U+200B). Leave it out" in each for each in words), (
        words
    )


@pytest.mark.parametrize("model", ["seen x", "séen", "見える", "seen/x:8b@1", "seen\u0301x", "🙂", "क्षि"])
def test_what_is_seen_may_be_in_a_name(tmp_path: Path, model: str) -> None:
    version = by_tokens("- {tokens: [input, output], rate: 2}")
    (tmp_path / "seen.yaml").write_text(family(text_model(f'"{model}"', version)), encoding="utf-8")
    assert model in ratecard.load_rate_card(tmp_path).models
