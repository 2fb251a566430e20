"""A version that was read from tables is proved by its own examples: where one fails, nothing tells its price."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ratecard
from ratecard import PriceBook, RateCard, SourceVideo, TableError
from ratecard.cli.commands import main
from ratecard.examples import work_version
from ratecard.load.folder import read_folder, shipped_folder, tables_from
from ratecard.server import LiveRateCard, application
from ratecard.server.models import listed_models
from ratecard.tables.metered import UsageExample
from ratecard.views.explain import explain
from ratecard.views.sheet import price_cells
from ratecard.whatif.draft import Choices
from shipped import FEW

DAY = date(2026, 10, 20)
OVI, OVI_MODEL = "video/ovi.yaml", "ovi-image-to-video"
# A family file, the old and the new text, and a model whose version then contradicts its examples.
VIDEO = (OVI, "rate: 0.22}", "rate: 22}", OVI_MODEL)


def contents_with(*edits: tuple[str, str, str], beside: str = OVI) -> dict[str, bytes]:
    """The shared files of the shipped tables, those that are edited, and few others."""
    named = {OVI, "video/kling-o3.yaml", beside, *(name for name, _, _ in edits)}
    contents = {name: content for name, content in read_folder().items() if "/" not in name or name in named}
    for name, old, new in edits:
        text = contents[name].decode()
        assert old in text, (name, old)
        contents[name] = text.replace(old, new).encode()
    return contents


def card_with(*edits: tuple[str, str, str], beside: str = OVI) -> RateCard:
    return RateCard(tables_from(contents_with(*edits, beside=beside)))


def folder_with(root: Path, *edits: tuple[str, str, str]) -> Path:
    for name, content in contents_with(*edits).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


@pytest.fixture(scope="module")
def wrong() -> RateCard:
    return card_with(VIDEO[:3])


def place_of(name: str, words: str) -> str:
    """`file:line` of the first example with these words."""
    lines = (shipped_folder() / name).read_text(encoding="utf-8").splitlines()
    return f"{name}:{1 + next(number for number, line in enumerate(lines) if words in line)}"


ASKED: dict[str, Callable[[RateCard], Any]] = {
    "quote_video": lambda card: card.at(DAY).quote_video({"model": OVI_MODEL}),
    "quote_video of a wrong body": lambda card: card.at(DAY).quote_video({"model": OVI_MODEL, "duration": 5}),
    "rate": lambda card: card.at(DAY).rate({"type": "video", "model": OVI_MODEL}),
    "explain": lambda card: explain(card.at(DAY), OVI_MODEL),
    "sheet": lambda card: list(price_cells(card.at(DAY), OVI_MODEL)),
    "models": lambda card: listed_models(card.at(DAY), DAY),
    "what-if": lambda card: Choices(card, DAY).rates(OVI_MODEL),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_version_that_contradicts_its_example_has_no_price(wrong: RateCard, asked: str) -> None:
    for _ in range(2):  # not the second time either
        with pytest.raises(TableError) as caught:
            ASKED[asked](wrong)
        assert [f"{fault.file}:{fault.line}" for fault in caught.value.faults] == [place_of(OVI, "total: 0.22")]
        assert "the example says 0.22, the rates give 22" in str(caught.value)


def test_the_versions_beside_it_are_priced(wrong: RateCard) -> None:
    body = {"model": "kling-o3-pro-text-to-video", "duration": "5s"}
    assert str(wrong.at(DAY).quote_video(body).total) == "0.77"


def test_only_the_version_that_is_asked_for_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    proved: list[tuple[str, date]] = []
    work = work_version

    def noted(compiler: Any, model: Any, version: Any) -> Any:
        proved.append((model.model, version.effective))
        return work(compiler, model, version)

    monkeypatch.setattr(ratecard.card, "work_version", noted)
    card = RateCard(tables_from(read_folder()))
    assert proved == []
    prices = card.at(date(2026, 10, 20))
    for _ in range(3):
        prices.quote_video({"model": "flux-3-text-to-video", "duration": "5s", "resolution": "720p"})
        card.at(date(2026, 10, 21)).quote_video(
            {"model": "flux-3-text-to-video", "duration": "5s", "resolution": "1080p"}
        )
    assert proved == [("flux-3-text-to-video", date(2026, 10, 16))]


def test_an_earlier_version_with_a_wrong_example_does_not_hide_the_one_in_effect() -> None:
    """Each version is proved by itself; the one that is wrong has no price on its own days."""
    text = read_folder()["video/flux-3.yaml"].decode()
    start = text.index("- effective: 2026-09-28")
    old = text[start:]
    number = old[old.index("total: ") :].split("}")[0]
    card = card_with(("video/flux-3.yaml", text, text[:start] + old.replace(number, "total: 999", 1)))
    body = {"model": "flux-3-text-to-video", "duration": "5s", "resolution": "720p"}
    assert card.at(date(2026, 10, 20)).quote_video(body).total > 0
    with pytest.raises(TableError, match="the example says 999"):
        card.at(date(2026, 10, 1)).quote_video(body)


def text_model(prices: PriceBook) -> tuple[str, str]:
    """A text model that can search, and the surcharge that is charged for it."""
    for model, version in prices._in_effect_all("text"):
        if "web_search" in getattr(version, "surcharges", {}):
            return model.model, version.surcharges["web_search"]  # type: ignore[attr-defined]
    raise AssertionError("no text model searches")


def wrong_total(card: RateCard, name: str) -> tuple[str, str, str]:
    """An edit of the first example of a model: its total is another."""
    model = card.tables.models[name]
    file, _, line = model.versions[0].examples[0].place.rpartition(":")
    text = read_folder()[file].decode().splitlines(keepends=True)
    before = "".join(text)
    text[int(line) - 1] = text[int(line) - 1].replace("total: ", "total: 9", 1)
    return file, before, "".join(text)


def test_every_way_to_a_price_of_text_is_proved(card: RateCard) -> None:
    name, search = text_model(card.at(DAY))
    wrong = card_with(wrong_total(card, name))
    tokens = {"prompt_tokens": 1, "completion_tokens": 1}
    with pytest.raises(TableError):
        wrong.at(DAY).rate({"type": "text", "model": name, "usage": tokens})
    with pytest.raises(TableError):
        wrong.at(DAY).rate({"type": "text", "model": f"{name}:enable_web_search=on", "usage": tokens})
    with pytest.raises(TableError):
        wrong.at(DAY).estimate_text(name, prompt_tokens=1, max_completion_tokens=1)
    assert wrong.at(DAY).surcharge(search, 1).total > 0


def test_a_surcharge_with_a_wrong_example_has_no_price_within_a_text_model_either(card: RateCard) -> None:
    name, search = text_model(card.at(DAY))
    wrong = card_with(wrong_total(card, search), beside=wrong_total(card, name)[0])
    with pytest.raises(TableError):
        wrong.at(DAY).surcharge(search, 1)
    with pytest.raises(TableError):
        wrong.at(DAY).rate({"type": "text", "model": name, "usage": {"prompt_tokens": 1, "completion_tokens": 1}})


@pytest.mark.parametrize("kind", ["image", "edit", "upscale", "speech", "transcription", "music", "rpc", "embedding"])
def test_a_model_of_any_type_is_proved(card: RateCard, kind: str) -> None:
    model, _ = next(iter(card.at(DAY)._in_effect_all(kind)))
    wrong = card_with(wrong_total(card, model.model))
    with pytest.raises(TableError, match=model.model):
        list(price_cells(wrong.at(DAY), model.model))
    assert list(price_cells(card.at(DAY), model.model))


def test_a_proof_is_not_remembered_by_the_digest() -> None:
    """Tables that differ in their examples alone mean the same, and are not equally right."""
    card = card_with()
    assert card.at(DAY).quote_video({"model": OVI_MODEL}).total > 0
    other = card_with((OVI, "total: 0.22", "total: 0.23"))
    assert other.digest == card.digest
    with pytest.raises(TableError):
        other.at(DAY).quote_video({"model": OVI_MODEL})
    assert card.at(DAY).quote_video({"model": OVI_MODEL}).total > 0


def test_an_example_that_is_refused_is_wrong_too() -> None:
    card = card_with((OVI, "{duration: 5s}", "{duration: 99s}"))
    with pytest.raises(TableError, match="but it is refused: Invalid request body"):
        card.at(DAY).quote_video({"model": OVI_MODEL})


def test_tables_made_in_python_without_examples_have_nothing_to_prove(wrong: RateCard) -> None:

    models = {
        name: model.model_copy(
            update={"versions": tuple(each.model_copy(update={"examples": ()}) for each in model.versions)}
        )
        for name, model in wrong.tables.models.items()
    }
    made = RateCard(replace(wrong.tables, models=models))
    made.prove_all()
    assert str(made.at(DAY).quote_video({"model": OVI_MODEL}).total) == "22.00"


CANDIDATE = """\
candidate: dearer
effective: 2026-11-01
proposed_by: a test
why: to see
changes:
  - scale: {model: NAME}
    factor: 2
"""


def overlay(folder: Path, name: str) -> Path:
    path = folder / "candidate.yaml"
    path.write_text(CANDIDATE.replace("NAME", name))
    return path


def test_a_candidate_is_priced_though_its_examples_are_those_of_its_base(card: RateCard, tmp_path: Path) -> None:
    changed = card.with_candidate(overlay(tmp_path, OVI_MODEL))
    assert str(changed.at(date(2026, 11, 2)).quote_video({"model": OVI_MODEL}).total) == "0.44"
    changed.prove_all()
    RateCard(changed.tables).prove_all()


def test_a_candidate_over_a_wrong_version_leaves_it_without_a_price(wrong: RateCard, tmp_path: Path) -> None:
    for name in (OVI_MODEL, "kling-o3-pro-text-to-video"):
        changed = wrong.with_candidate(overlay(tmp_path, name))
        with pytest.raises(TableError):
            changed.at(DAY).quote_video({"model": OVI_MODEL})


def test_nothing_that_a_candidate_makes_of_a_wrong_version_has_a_price(wrong: RateCard, tmp_path: Path) -> None:
    """Neither its own version, nor the prices of the list that hold again after it, nor what is stacked on it."""
    first, second = overlay(tmp_path, OVI_MODEL), tmp_path / "second.yaml"
    first.write_text(first.read_text().replace("effective: 2026-11-01", "effective: 2026-11-01\nuntil: 2026-11-11"))
    second.write_text(first.read_text().replace("2026-11-01", "2026-11-05"))
    once = wrong.with_candidate(first)
    for changed in (once, once.with_candidate(second)):
        for day in (2, 6, 12):
            with pytest.raises(TableError, match=r"video/ovi\.yaml:25: .* the rates give 22\.00"):
                changed.at(date(2026, 11, day)).quote_video({"model": OVI_MODEL})


def test_a_dearer_surcharge_of_a_candidate_is_no_fault_of_the_text_models_that_charge_it(
    card: RateCard, tmp_path: Path
) -> None:
    """A later text version shows in its example what a search cost: it is proved by the tables that it is in."""
    name, search = text_model(card.at(DAY))
    model, day = card.tables.models[name], date(2026, 12, 1)
    request = {"web_search_requests": "1", "prompt_tokens": "1"}
    usage = {"type": "text", "model": name, "web_search_requests": 1}
    usage |= {"usage": {"prompt_tokens": 1, "completion_tokens": 0}}
    example = UsageExample(usage=request, total=card.at(DAY).rate(usage).total)
    later = model.versions[0].model_copy(update={"effective": day, "examples": (example,)})
    versions = {"versions": (later, *model.versions)}
    base = RateCard(replace(card.tables, models={**card.tables.models, name: model.model_copy(update=versions)}))
    changed = base.with_candidate(overlay(tmp_path, search))
    assert base.at(day).rate(usage).total == example.total < changed.at(day).rate(usage).total


COMMANDS: dict[str, list[str]] = {
    "quote": ["quote", "--model", OVI_MODEL],
    "a body": ["quote", json.dumps({"model": OVI_MODEL})],
    "explain": ["explain", OVI_MODEL],
    "sheet": ["sheet", OVI_MODEL],
}


@pytest.mark.parametrize("words", COMMANDS)
def test_no_command_tells_a_price(words: str, tmp_path: Path) -> None:
    folder = folder_with(tmp_path, VIDEO[:3])
    command, *rest = COMMANDS[words]
    done = CliRunner().invoke(main, [command, "--tables", str(folder), "--at", "2026-10-20", *rest])
    assert done.exit_code == 1
    assert place_of(OVI, "total: 0.22") in done.stderr + done.stdout
    assert "22.00" not in done.stdout


def test_a_batch_tells_no_price(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "tables", VIDEO[:3])
    bodies = tmp_path / "bodies.jsonl"
    bodies.write_text(json.dumps({"model": OVI_MODEL}) + "\n")
    done = CliRunner().invoke(main, ["quote", "--tables", str(folder), "--at", "2026-10-20", "--batch", str(bodies)])
    assert done.exit_code == 1
    assert place_of(OVI, "total: 0.22") in done.stderr + done.stdout
    assert "22.00" not in done.stdout


def test_a_simulation_tells_no_price(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "tables", VIDEO[:3])
    usage = tmp_path / "usage.csv"
    usage.write_text(f"type,model,timestamp\nvideo,{OVI_MODEL},2026-10-20T00:00:00Z\n")
    with pytest.raises(TableError, match=r"the example says 0\.22"):
        ratecard.simulate(usage, tables=folder)


def test_a_server_does_not_begin_and_takes_nothing_that_is_wrong(wrong: RateCard, card: RateCard) -> None:
    with pytest.raises(TableError):
        application(wrong)
    live = LiveRateCard(card)
    with pytest.raises(TableError):
        live.take(wrong)
    assert live.now().digest == card.digest


def test_a_source_video_of_an_example_counts(card: RateCard) -> None:
    """An example is priced as it is written, its source video too."""
    wrong = card_with(("video/topaz.yaml", "height: 480}, total: 0.50}", "height: 480}, total: 0.25}"))
    with pytest.raises(TableError, match=r"topaz-video-upscale: the example says 0\.25, the rates give 0\.50"):
        wrong.at(DAY).quote_video({"model": "topaz-video-upscale"}, source=SourceVideo(seconds=1))


@pytest.mark.parametrize(
    ("kind", "usage"),
    [
        ("rpc", {"method": "eth_call"}),
        ("rpc", {"network": "ethereum-mainnet", "method": {"name": "eth_call"}}),
        ("surcharge", {}),
        ("surcharge", {"count": "many"}),
        ("surcharge", {"count": ["1"]}),
        ("text", {"prompt_tokens": {"count": "1"}}),
        ("image", {"n": ["1"]}),
    ],
)
def test_an_example_that_cannot_be_asked_is_refused_with_its_line(kind: str, usage: dict[str, Any]) -> None:
    tables = FEW.tables
    name, model = next((name, model) for name, model in tables.models.items() if model.type == kind)
    example = UsageExample.model_validate({"usage": usage, "total": "1", "@source": "a.yaml:7"})
    version = model.versions[0].model_copy(update={"examples": (example,)})
    edited = model.model_copy(update={"versions": (version, *model.versions[1:])})
    with pytest.raises(TableError, match="but it is refused" if usage else "but its usage is empty") as caught:
        RateCard(replace(tables, models={**tables.models, name: edited})).prove_all()
    assert [f"{fault.file}:{fault.line}" for fault in caught.value.faults] == ["a.yaml:7"]
