"""The models of a card and of a price book, as users see them: the same facts that `GET /models` and `explain` tell."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from unittest.mock import patch

import pytest

from ratecard import PriceBook, QuoteError, RateCard, TableError
from ratecard.base.money import plain_text
from ratecard.load.folder import shipped_folder, tables_from
from ratecard.server.models import listed_models
from ratecard.tables import models as models_module
from ratecard.tables.models import MODEL_TYPES
from ratecard.views.explain import explain
from token_tables import by_tokens, family, text_model

DAY = date(2026, 9, 29)
RATES = "- {tokens: input, rate: 3}\n- {tokens: output, rate: 15}\n"
LATER = "- {tokens: input, rate: 4}\n- {tokens: output, rate: 16}\n"


def made_up(*heads: str, patterns: bool = False) -> RateCard:
    """A card of text models, each named by an id and the further lines of its head."""
    models = [
        text_model(name, by_tokens(LATER, effective="2026-12-01"), by_tokens(RATES), further=further)
        for name, _, further in (head.partition("|") for head in heads)
    ]
    files = {"made-up.yaml": family(*models)} | ({"names.yaml": "patterns: true\n"} if patterns else {})
    return RateCard(tables_from({name: text.encode() for name, text in files.items()}))


def test_every_rate_of_every_model_has_its_amount_in_its_line(prices: PriceBook) -> None:
    lines = {
        path.relative_to(shipped_folder()).as_posix(): path.read_text(encoding="utf-8").splitlines()
        for path in shipped_folder().rglob("*.yaml")
    }
    for model in prices.models():
        markups = {charge.charge: charge.markup for charge in model.version.charges}
        assert model.rates
        for rate in model.rates:
            assert isinstance(rate.amount, Decimal)
            file, _, line = rate.source.rpartition(":")
            written = Decimal(lines[file][int(line) - 1].partition("rate: ")[2].strip(" }"))
            assert rate.amount == written * markups[rate.charge], rate.source


@pytest.mark.parametrize("day", [date(2025, 12, 15), DAY, date(2026, 10, 24), date(2026, 11, 10)])
def test_the_models_of_a_price_book_are_those_of_get_models_and_of_explain(card: RateCard, day: date) -> None:
    prices = card.at(day)
    listed = {each.id: each for each in listed_models(prices, date(2027, 1, 1))}
    assert [model.model for model in prices.models()] == list(listed) == sorted(listed)
    for model in prices.models():
        found = listed[model.model]
        assert (model.name, model.type, model.currency) == (found.name, found.type, found.pricing.currency)
        assert model.effective == found.pricing.effective
        retired = found.deprecation and (found.deprecation.date, found.deprecation.successor)
        assert (model.retired and (model.retired, model.successor)) == retired
        rates = [(charge.charge, charge.unit, each) for charge in found.pricing.charges for each in charge.rates]
        for rate, (charge, unit, listed_rate) in zip(model.rates, rates, strict=True):
            conditions = {name: tuple(values) for name, values in (listed_rate.model_extra or {}).items()}
            assert (rate.charge, rate.unit, plain_text(rate.amount)) == (charge, unit, listed_rate.rate)
            assert rate.conditions == conditions
        if model.type != "text":  # text models also have the rates of their searches
            charges = explain(prices, model.model).charges
            explained = [(each.unit_rate, each.source) for charge in charges for each in charge.rates]
            assert [(rate.amount, rate.source) for rate in model.rates] == explained


def test_models_of_a_type_are_some_of_all(prices: PriceBook) -> None:
    of_types = [model for type_ in MODEL_TYPES for model in prices.models(type_)]
    assert sorted(of_types, key=lambda model: model.model) == list(prices.models())
    assert all(model.type == "image" for model in prices.models("image"))
    assert made_up("m").at(DAY).models("image") == ()
    assert made_up("m").at(date(2020, 1, 1)).models() == ()


@pytest.mark.parametrize("type_", ["vidoe", "Text", "", "a" * 500])
def test_an_unknown_type_is_refused_with_what_is_allowed(prices: PriceBook, type_: str) -> None:
    with pytest.raises(QuoteError) as caught:
        prices.models(type_)
    words = str(caught.value)
    assert words.startswith(f"Unknown type of models: {type_[:100]}")
    assert (
        "Allowed: video, text, embedding, image, edit, upscale, speech, transcription, music, surcharge, rpc" in words
    )
    assert (" Did you mean 'video'?" in words) == (type_ == "vidoe")
    assert len(words) < 300


def test_a_model_of_a_price_book_has_the_version_in_effect_and_that_of_a_card_the_newest() -> None:
    card = made_up("m|provider: someone\naliases: [m-latest]\n")
    newest, old = card.models["m"], card.at(date(2026, 11, 30)).model("m")
    assert (newest.effective, old.effective) == (date(2026, 12, 1), date(2026, 1, 1))
    assert [rate.amount for rate in newest.rates] == [4, 16]
    assert [rate.amount for rate in old.rates] == [3, 15]
    assert newest.versions == old.versions == (newest, old)
    assert card.at(date(2026, 12, 1)).models() == (newest,)
    assert hash(newest) == hash(card.at(date(2026, 12, 1)).model("m-latest"))
    assert (old.provider, old.aliases, old.name) == ("someone", ("m-latest",), "Made up")
    assert repr(old) == "<PricedModel m, effective 2026-01-01>"
    assert old.rates[0].conditions == {"tokens": ("input",)}
    assert old.rates[0].unit == "mtoken"


def test_names_mean_what_they_mean_in_a_request() -> None:
    card = made_up("b|aliases: [b-latest]\n", "a|patterns: [a-*]\n", "c|patterns: [c-*]\n", patterns=True)
    book = card.at(DAY)
    for name, id_ in (("a", "a"), ("b-latest", "b"), ("a-1", "a")):
        assert name in card.models
        assert card.models[name].model == book.model(name).model == book.in_effect(name)[0].model == id_
    assert list(card.models) == sorted(card.tables.models) == ["a", "b", "c"]
    assert len(card.models) == 3
    assert [model.model for model in card.models.values()] == ["a", "b", "c"]


def test_a_name_that_fits_two_models_is_that_of_none() -> None:
    tables = made_up("a|patterns: [a-*]\n", "c", patterns=True).tables  # a folder with both would be refused
    models = {**tables.models, "c": tables.models["c"].model_copy(update={"patterns": ("a-c-*",)})}
    card = RateCard(replace(tables, models=models))
    with pytest.raises(KeyError) as caught:
        card.models["a-c-1"]
    assert str(caught.value) == "Specified model not found: a-c-1 matches the patterns of a and c"
    assert "a-c-1" not in card.models


@pytest.mark.parametrize("name", ["veo3", "", None, 7, ("a",), "x" * 5000])
def test_an_unknown_model_is_an_error_of_both_kinds(card: RateCard, name: str) -> None:
    assert name not in card.models
    assert card.models.get(name) is None
    for kind in (KeyError, QuoteError):
        with pytest.raises(kind) as caught:
            card.models[name]
        assert str(caught.value).startswith("Specified model not found: ")
        assert ("Did you mean: veo3-fast-text-to-video, " in str(caught.value)) == (name == "veo3")
        assert len(str(caught.value)) < 300


def test_a_model_without_a_price_then_says_why(card: RateCard) -> None:
    assert card.models["ltx-2-fast-text-to-video"].retired == date(2026, 9, 28)
    for name, words in (
        ("ltx-2-fast-text-to-video", "It was retired on 2026-09-28. Use ltx-2-v2-3-fast-text-to-video instead."),
        ("kling-v4-text-to-video", "Its first version takes effect on 2026-10-24."),
        ("veo3", "Did you mean: veo3-fast-text-to-video, "),
    ):
        with pytest.raises(QuoteError, match=words):
            card.at(DAY).model(name)


def test_rates_are_proved_before_they_are_shown() -> None:
    wrong = family(text_model("m", by_tokens(RATES, total=1)))
    card = RateCard(tables_from({"made-up.yaml": wrong.encode()}))
    for model in (card.models["m"], card.at(DAY).model("m"), *card.at(DAY).models()):
        with pytest.raises(TableError, match=r"made-up\.yaml:\d+"):
            _ = model.rates
    assert [rate.amount for rate in card._unproved.models["m"].rates] == [3, 15]


def test_nothing_is_made_before_it_is_asked_for(card: RateCard) -> None:
    fresh = RateCard(card.tables)
    with patch.object(models_module, "PricedModel", side_effect=models_module.PricedModel) as made:
        models = fresh.models
        assert (len(models), "veo3" in models, list(models)[:0]) == (len(card.tables.models), False, [])
        assert made.call_count == 0
        model = models["ovi-image-to-video"]
        assert made.call_count == 1
    with patch.object(models_module, "listed_rates", side_effect=models_module.listed_rates) as listed:
        assert model.effective
        assert listed.call_count == 0
        assert model.rates is model.rates
        assert listed.call_count == len(model.version.charges)


def test_a_candidate_changes_the_models_of_its_card(card: RateCard, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("candidate") / "dearer.yaml"
    path.write_text(
        "candidate: dearer\neffective: 2026-11-01\nproposed_by: a test\nwhy: to see\n"
        "changes:\n  - scale: {model: ovi-image-to-video}\n    factor: 2\n"
    )
    new, old = (each.models["ovi-image-to-video"] for each in (card.with_candidate(path), card))
    assert [rate.amount for rate in new.rates] == [2 * rate.amount for rate in old.rates]
    assert new != old


def test_an_instant_is_an_effective_date_too() -> None:
    table = family(text_model("m", by_tokens(RATES, effective="2026-01-01T06:00:00Z")))
    card = RateCard(tables_from({"made-up.yaml": table.encode()}))
    assert card.models["m"].effective == datetime.fromisoformat("2026-01-01T06:00:00Z")
