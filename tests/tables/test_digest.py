"""The digest names what the tables mean: not how, where or in which order they are written."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import BaseModel

import ratecard
from ratecard.tables import card as tables_card
from ratecard.tables.card import meaning
from ratecard.tables.rate import Rate
from ratecard.tables.version import Model

SOUND = Path(__file__).parent / "sound"
FILES = {path.name: path.read_text() for path in SOUND.glob("*.yaml")}
SHARED = Path(__file__).parents[2] / "pricing_tables"

# (file, old text, new text)
Edit = tuple[str, str, str]

SAME: dict[str, Edit] = {
    "a comment": ("per_clip.yaml", "family:", "# why\nfamily:"),
    "an empty line": ("per_clip.yaml", "models:", "\n\nmodels:"),
    "a number written shorter": ("per_second.yaml", "rate: 0.10", "rate: 0.1"),
    "a number written longer": ("upscale.yaml", "markup: 1.25", "markup: 1.2500"),
    "a factor of one": ("per_second.yaml", "            rates:", "            markup: 1.0\n            rates:"),
    "quotes": ("per_second.yaml", "currency: USD", "currency: 'USD'"),
    "keys in another order": ("upscale.yaml", "{from: 48, factor: 2}", "{factor: 2, from: 48}"),
    "a fraction that is equal": ("token_formula.yaml", "5/3", "10/6"),
    "a default written out": ("token_formula.yaml", "{max: 10}", "{max: 10, source_max: 30}"),
    "a range written out": ("per_second.yaml", "[3s..5s]", "[3s, 4s, 5s]"),
    "the day of the last check": ("per_second.yaml", "checked: 2026-09-02", "checked: 2026-10-01"),
    "another proof": ("per_second.yaml", "price page, 2026-09-02", "quotes, 2026-09-02"),
    "the name for people": ("per_second.yaml", "name: Example Video", "name: Another Name"),
    "another example": (
        "per_second.yaml",
        "{duration: 5s, resolution: 480p}, total: 0.50",
        "{resolution: 480p}, total: 0",
    ),
    "a page to open": ("per_second.yaml", "source:", "reference: https://example.com/pricing\n        source:"),
    "the day of the announcement": ("per_second.yaml", "source:", "announced: 2026-08-01\n        source:"),
}

OTHER: dict[str, Edit] = {
    "a rate": ("per_second.yaml", "rate: 0.10", "rate: 0.100000000001"),
    "a rate moved to another attribute": ("per_second.yaml", "480p, rate", "480p, audio: [true, false], rate"),
    "a markup": ("upscale.yaml", "markup: 1.25", "markup: 1.26"),
    "the first day": ("per_second.yaml", "effective: 2026-09-01", "effective: 2026-09-02"),
    "an accepted duration": ("per_second.yaml", "[3s..5s]", "[3s..6s]"),
    "an accepted sound": ("token_formula.yaml", "audio: none", "audio: always"),
    "a limit": ("upscale.yaml", "max_seconds: 300", "max_seconds: 301"),
    "a default": ("upscale.yaml", "defaults: {upscale_factor: 2}", "defaults: {upscale_factor: 4}"),
    "a default value": ("token_formula.yaml", "{max: 10}", "{max: 10, source_min: 5}"),
    "a currency": ("per_second.yaml", "currency: USD", "currency: EUR"),
    "a retirement": ("per_second.yaml", "    versions:", "    retired: {on: 2027-01-01}\n    versions:"),
    "a rounding": ("per_second.yaml", "places: 2", "places: 3"),
    "a tier": ("upscale.yaml", "up_to: 720", "up_to: 721"),
    "a frame rate": ("upscale.yaml", "from: 48", "from: 49"),
    "a size": ("megapixel.yaml", "1280x720", "1281x720"),
    "a size turned upright": ("megapixel.yaml", "1280x720", "720x1280"),
    "a fraction": ("token_formula.yaml", "5/3", "4/3"),
    "pixels a token": ("token_formula.yaml", "1024", "2048"),
    "the name of a charge": ("per_second.yaml", "charge: video", "charge: clip"),
    "the name of a model": ("per_second.yaml", "model: per-second-video", "model: per-second-clip"),
    "a unit": ("units.yaml", "unit: clip,", "unit: video_clip,"),
    "how many a unit holds": ("units.yaml", "counts: token, per: 1000000", "counts: token, per: 1000"),
    "a value that the API knows": ("vocabulary.yaml", "1440p", "1441p"),
}


def digest_of(files: dict[str, str], folder: Path) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return ratecard.load_rate_card(folder).digest


@pytest.fixture
def digest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, str]], str]:
    return lambda files: digest_of(files, tmp_path_factory.mktemp("tables"))


def edited(edit: Edit) -> dict[str, str]:
    name, old, new = edit
    files = {**FILES, **{path: (SHARED / path).read_text() for path in ("units.yaml", "vocabulary.yaml")}}
    assert files[name].count(old) == 1, f"{old!r} must stand once in {name}"
    return {**files, name: files[name].replace(old, new)}


@pytest.mark.parametrize("edit", SAME.values(), ids=list(SAME))
def test_another_way_to_write_the_same_has_the_same_digest(edit: Edit, digest: Callable[[dict[str, str]], str]) -> None:
    assert digest(edited(edit)) == digest(FILES)


@pytest.mark.parametrize("edit", OTHER.values(), ids=list(OTHER))
def test_another_meaning_has_another_digest(edit: Edit, digest: Callable[[dict[str, str]], str]) -> None:
    files = edited(edit)
    if edit[2] == "unit: video_clip,":
        files = {
            name: text.replace("            unit: clip", "            unit: video_clip") for name, text in files.items()
        }
    assert digest(files) != digest(FILES)


def test_the_order_of_rates_means_nothing(digest: Callable[[dict[str, str]], str]) -> None:
    lines = FILES["per_second.yaml"].splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if "rate: 0.10" in line)
    lines[first : first + 2] = reversed(lines[first : first + 2])
    assert digest({**FILES, "per_second.yaml": "".join(lines)}) == digest(FILES)


def test_the_files_that_hold_the_models_and_their_order_mean_nothing(digest: Callable[[dict[str, str]], str]) -> None:
    models = [text.partition("models:\n")[2] for text in FILES.values()]
    together = "family: all\nmodels:\n" + "".join(reversed(models))
    assert digest({"deep/all.yaml": together}) == digest(FILES)


def test_the_order_of_charges_decides_the_names_of_lines(digest: Callable[[dict[str, str]], str]) -> None:
    head, first, second = FILES["per_clip.yaml"].split("          - charge: ")
    second, rounding, tail = second.partition("        rounding:")
    swapped = "          - charge: ".join((head, second, first)) + rounding + tail
    assert digest({**FILES, "per_clip.yaml": swapped}) != digest(FILES)


def test_every_model_counts(digest: Callable[[dict[str, str]], str]) -> None:
    fewer = [digest({name: FILES[name] for name in FILES if name != left_out}) for left_out in FILES]
    assert len({*fewer, digest(FILES)}) == len(FILES) + 1


def test_a_digest_is_short_enough_to_be_read_aloud(card: ratecard.RateCard) -> None:
    assert len(card.digest) == 16
    assert set(card.digest) <= set("0123456789abcdef")


def test_a_digest_is_made_when_it_is_asked_for_and_that_of_a_candidate_of_what_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the digest that the fixtures remember.
    below = ratecard.RateCard(replace(ratecard.load_rate_card().tables))
    read: list[BaseModel] = []

    def counted(part: BaseModel) -> str:
        read.append(part)
        return meaning(part)

    monkeypatch.setattr(tables_card, "meaning", counted)
    head = "candidate: test\neffective: 2027-10-01\nproposed_by: tests\nwhy: one rate\nchanges:\n"
    (tmp_path / "one.yaml").write_text(f"{head}  - scale: {{model: ovi-image-to-video}}\n    factor: 2\n")
    new = below.with_candidate(tmp_path / "one.yaml")
    assert read == []
    assert len({below.digest, new.digest}) == 2
    of_models = [part.model for part in read if isinstance(part, Model)]
    assert sorted(of_models) == sorted([*below.tables.models, "ovi-image-to-video"])


@pytest.mark.parametrize(("one", "other"), [("0.1", "0.10"), ("100", "1E+2"), ("0.0000001", "1E-7")])
def test_a_rate_made_in_a_program_has_the_digest_of_its_value(one: str, other: str) -> None:
    made = [Rate(rate=Decimal(number), attributes={}) for number in (one, other)]
    assert meaning(made[0]) == meaning(made[1])
    assert meaning(made[0]) != meaning(Rate(rate=Decimal("0.2"), attributes={}))
