"""A change names models by lists of ids, families and types, and leaves some out by `except`."""

from pathlib import Path

import pytest
from overlays import amounts, candidate, made_up, refusal

import ratecard
from ratecard import RateCard
from ratecard.candidates.overlay import selected
from ratecard.candidates.rates import Refusal
from ratecard.tables.selection import Selection

# The rates of the made-up tables on the day of a candidate.
NOW = {"plain": ["0.1"], "sized": ["0.01", "0.02", "0.03", "0.5"], "talker": ["1", "2", "4"], "looking": ["10"]}
TWICE = {"plain": ["0.2"], "sized": ["0.02", "0.04", "0.06", "1"], "talker": ["2", "4", "8"], "looking": ["20"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up(tmp_path_factory.mktemp("made") / "tables")


@pytest.fixture(scope="module")
def card(folder: Path) -> RateCard:
    return ratecard.load_rate_card(folder)


@pytest.mark.parametrize(
    ("selection", "models"),
    [
        ("{model: [plain, talker]}", {"plain", "talker"}),
        ("{family: [words, searches]}", {"talker", "looking"}),
        ("{type: [video, text]}", {"plain", "sized", "talker"}),
        ("{type: [video, text], family: [mixed, words]}", {"plain", "sized", "talker"}),
        ("{type: video, except: {model: plain}}", {"sized"}),
        ("{family: mixed, except: {model: [sized, free]}}", {"plain"}),
        ("{type: [video, text, surcharge], except: {family: mixed}}", {"talker", "looking"}),
        ("{type: [video, text, surcharge], except: {family: [words, searches]}}", {"plain", "sized"}),
        ("{type: [video, text], except: {family: mixed, type: video}}", {"talker"}),
        ("{type: [video, text], except: [{model: sized}, {type: text}]}", {"plain"}),
    ],
)
def test_a_scale_changes_what_its_names_and_except_leave(
    card: RateCard, folder: Path, selection: str, models: set[str]
) -> None:
    changed = card.with_candidate(candidate(folder, f"- scale: {selection}\n  factor: 2\n"))
    for model in NOW:
        assert amounts(changed, model)[0][1] == (TWICE if model in models else NOW)[model]


def test_a_rate_is_set_and_models_are_retired_by_a_list(card: RateCard, folder: Path) -> None:
    change = "- set: [plain, sized]\n  charge: video\n  where: {}\n  rate: 0.3\n"
    wrong = refusal(card, candidate(folder, change))
    assert "c.yaml:6: fits 3 different rates of sized" not in wrong
    assert "fits 3 different rates of sized" in wrong
    changed = card.with_candidate(candidate(folder, "- set: [plain, free]\n  charge: video\n  rate: 0.3\n"))
    assert [amounts(changed, model)[0][1] for model in ("plain", "free")] == [["0.3"], ["0.3"]]
    gone = card.with_candidate(candidate(folder, "- retire: [plain, sized]\n"))
    assert [str(gone.tables.models[model].retired.on) for model in ("plain", "sized")] == ["2027-09-01"] * 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        (
            "- scale: {type: video, except: {family: mixt}}\n  factor: 2",
            ["6: matches nothing: no family 'mixt'. Did you mean 'mixed'? Allowed: mixed, searches, words"],
        ),
        (
            "- scale:\n    type: [video, txt]\n    except:\n      - model: plane\n      - type: text\n  factor: 2",
            [
                "7: matches nothing: no type 'txt'. Did you mean 'text'? Allowed: surcharge, text, video",
                "9: matches nothing: no model 'plane'. Did you mean 'plain'? Name a model's id, as the tables have it",
            ],
        ),
        (
            "- scale: {type: video, except: {model: [plain, talker]}}\n  factor: 2",
            [
                "6: excludes nothing: of the models of type video that have a price on 2027-09-01, "
                "none is of model talker"
            ],
        ),
        (
            "- scale: {type: video, except: [{family: words}, {family: mixed, type: text}]}\n  factor: 2",
            [
                "6: excludes nothing: of the models of type video that have a price on 2027-09-01, "
                "none is of family words",
                "6: excludes nothing: of the models of type video that have a price on 2027-09-01, "
                "none is of family mixed and type text",
            ],
        ),
        (
            "- scale: {family: mixed, except: {type: video}}\n  factor: 2",
            ["6: excludes every model of family mixed that has a price on 2027-09-01; nothing is left"],
        ),
        (
            "- scale: {type: video, family: [mixed, words]}\n  factor: 2",
            ["6: matches nothing: no model of family words and type video has a price on 2027-09-01"],
        ),
        (
            "- scale: {model: [plain, plane, zzz]}\n  factor: 2",
            [
                "6: matches nothing: no model 'plane'. Did you mean 'plain'? Name a model's id, as the tables have it",
                "6: matches nothing: no model 'zzz'. Name a model's id, as the tables have it",
            ],
        ),
        (
            "- scale: {model: [plain, sized], except: {model: plain}}\n  factor: 2",
            ["6: except is of a family or type; beside model, leave the name out there instead"],
        ),
        (
            "- scale: {type: video, except: []}\n  factor: 2",
            ["6: except is empty. Name a model, family or type in it, or leave it out"],
        ),
        ("- scale: {type: video, except: {}}\n  factor: 2", ["6: names no models. Write one of: model, family, type"]),
        (
            "- scale: {type: video, except: {model: plain, family: mixed}}\n  factor: 2",
            ["6: names a model, so leave out family and type"],
        ),
        ("- scale: {type: video, except: plain}\n  factor: 2", ["6: except 'plain' must hold keys, like `key: value`"]),
        (
            "- scale: {type: video, except: {modle: plain}}\n  factor: 2",
            ["6: unknown key 'modle'. Did you mean 'model'? Allowed here: model, family, type"],
        ),
        ("- scale: {model: [plain, plain]}\n  factor: 2", ["6: model lists 'plain' twice"]),
        (
            "- set: [plain, plane, zzz]\n  rate: 2",
            [
                "6: matches nothing: no model 'plane'. Did you mean 'plain'? Name a model's id, as the tables have it",
                "6: matches nothing: no model 'zzz'. Name a model's id, as the tables have it",
            ],
        ),
        (
            "- set: [plain, free]\n  rate: 0.1",
            ["7: changes nothing: plain has this rate already (video/mixed.yaml:15)"],
        ),
        (
            "- retire: [plain, plane]",
            ["6: matches nothing: no model 'plane'. Did you mean 'plain'? Name a model's id, as the tables have it"],
        ),
    ],
)
def test_a_name_that_selects_or_excludes_nothing_is_a_fault(
    card: RateCard, folder: Path, changes: str, lines: list[str]
) -> None:
    assert refusal(card, candidate(folder, changes + "\n")).splitlines() == [f"c.yaml:{line}" for line in lines]


BETTER = "its rates are as they were. Leave both out; to change all models but one, use except"


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        # The whole model has its old rates again.
        (
            "- scale: {type: video}\n  factor: 2\n- set: plain\n  rate: 0.1",
            [f"8: changes nothing of plain: it undoes line 6, {BETTER}"],
        ),
        (
            "- scale: {model: plain}\n  factor: 2\n- scale: {model: plain}\n  factor: 3\n- set: plain\n  rate: 0.1",
            [f"10: changes nothing of plain: it undoes line 6 and line 8, {BETTER}"],
        ),
        # The rates of the model differ in the end, but one of the changes has no effect.
        (
            "- scale: {model: sized}\n  charge: fee\n  factor: 2\n- scale: {model: sized}\n  factor: 0.5",
            ["6: changes nothing: line 9 undoes it. Leave one of them out"],
        ),
        (
            "- scale: {model: plain}\n  factor: 2\n- set: plain\n  rate: 0.7",
            ["6: changes nothing: line 8 undoes it. Leave one of them out"],
        ),
        # To scale all rates but one, this one rate is set back.
        ("- scale: {model: sized}\n  factor: 2\n- set: sized\n  charge: fee\n  rate: 0.5", []),
        ("- scale: {type: video}\n  factor: 2\n- set: plain\n  rate: 0.7", []),
        ("- set: plain\n  rate: 0.7\n- scale: {model: plain}\n  factor: 2", []),
        ("- scale: {model: plain}\n  factor: 2\n- scale: {model: plain}\n  factor: 3", []),
    ],
)
def test_a_change_that_another_undoes_says_which(card: RateCard, folder: Path, changes: str, lines: list[str]) -> None:
    path = candidate(folder, changes + "\n")
    if lines:
        assert refusal(card, path).splitlines() == [f"c.yaml:{line}" for line in lines]
    else:
        card.with_candidate(path)


def test_a_selection_without_a_day_is_of_all_models(card: RateCard) -> None:
    tables = card.tables
    wanted = Selection.model_validate({"type": ["video", "text"], "except": {"model": "free"}})
    found = selected(tables.models, tables.families, wanted, ("override",))
    assert [model.model for model in found] == ["talker", "plain", "sized"]
    wrong = Selection.model_validate({"type": "video", "except": {"family": "words"}})
    with pytest.raises(Refusal) as caught:
        selected(tables.models, tables.families, wrong, ("override",))
    words = "excludes nothing: of the models of type video that have a price, none is of family words"
    assert caught.value.findings == ((("override", "except", 0), words),)
