"""The tables that are shipped: complete evidence, and examples that say what the rates say."""

from datetime import date

import pytest

from ratecard.examples import Worked, work
from ratecard.load.folder import shipped_folder
from ratecard.tables.card import AnyModel
from shipped import CARD

MODELS = [pytest.param(model, id=name) for name, model in sorted(CARD.tables.models.items())]
EXAMPLES: dict[str, list[Worked]] = {}
for worked in work(CARD._compiler):
    EXAMPLES.setdefault(worked.model, []).append(worked)


@pytest.mark.parametrize("model", MODELS)
def test_a_model_has_its_currency_and_every_version_its_evidence(model: AnyModel) -> None:
    assert model.name
    assert model.currency == "USD"
    for version in model.versions:
        assert version.source.strip(), f"{model.model} of {version.effective} has no source"
        assert version.examples, f"{model.model} of {version.effective} has no examples"
        assert date(2025, 1, 1) <= version.effective
        assert version.effective.year <= version.checked.year


@pytest.mark.parametrize("model", MODELS)
def test_every_example_gives_its_total(model: AnyModel) -> None:
    examples = EXAMPLES.get(model.model, [])
    assert len(examples) == sum(len(version.examples) for version in model.versions)
    for worked in examples:
        says = f"{worked.example.place}: {model.model} should cost {worked.example.total}, got {worked.total}"
        assert worked.total == worked.example.total, f"{says} {worked.reason}"


@pytest.mark.parametrize("model", MODELS)
def test_every_rate_stands_in_the_file_of_its_model(model: AnyModel) -> None:
    for rate in (rate for version in model.versions for charge in version.charges for rate in charge.rates):
        file, _, line = rate.source.rpartition(":")
        lines = (shipped_folder() / file).read_text().splitlines()
        above = [text.split()[-1] for text in lines[: int(line)] if text.startswith("  - model: ")]
        assert above[-1] == model.model, rate.source


def test_every_file_below_the_folder_is_read() -> None:
    sources = {
        rate.source.rpartition(":")[0]
        for model in CARD.tables.models.values()
        for version in model.versions
        for charge in version.charges
        for rate in charge.rates
    }
    shared = {path.name for path in shipped_folder().glob("*.yaml")}
    files = {path.relative_to(shipped_folder()).as_posix() for path in shipped_folder().rglob("*.yaml")}
    assert sources | shared == files


def test_an_aspect_ratio_that_the_specification_does_not_have_names_its_source() -> None:
    specified = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "9:21", "16:9", "21:9", "adaptive", "auto"]
    others = [ratio for ratio in CARD.tables.vocabulary.video.aspect_ratio if ratio not in specified]
    comments = [line for line in (shipped_folder() / "vocabulary.yaml").read_text().splitlines() if line[0] == "#"]
    for ratio in others:
        assert any(f"`{ratio}`: public model page of" in line for line in comments), ratio
    [model] = [name for name, model in CARD.tables.models.items() if _accepts(model, others)]
    assert model == "flux-3-max-text-to-video"


def _accepts(model: AnyModel, ratios: list[str]) -> bool:
    accepts = [getattr(version, "accepts", None) for version in model.versions]
    return any(ratio in (accepted.aspect_ratio or ()) for accepted in accepts if accepted for ratio in ratios)
