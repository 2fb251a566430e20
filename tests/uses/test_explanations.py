"""Explanations: the version in effect, what it accepts, and the line of every rate."""

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from ratecard import PriceBook, QuoteError, RateCard
from ratecard.load.folder import shipped_folder
from ratecard.testing.card_strategies import card_of
from ratecard.views.explain import explain, workings
from token_tables import by_tokens, family, text_model


def test_every_rate_of_every_model_is_on_the_line_that_is_named(prices: PriceBook) -> None:
    lines = {
        path.relative_to(shipped_folder()).as_posix(): path.read_text(encoding="utf-8").splitlines()
        for path in shipped_folder().rglob("*.yaml")
    }
    for model in prices.models():
        for charge in explain(prices, model.model).charges:
            for rate in charge.rates:
                file, _, line = rate.source.rpartition(":")
                written = lines[file][int(line) - 1].partition("rate: ")[2].strip(" }")
                made_of = Decimal(rate.made_of.partition(" x ")[0] or rate.unit_rate)
                assert Decimal(written) == made_of, rate.source


def test_a_list_rate_is_shown_with_its_markup(prices: PriceBook) -> None:
    (charge,) = explain(prices, "seedance-2-0-text-to-video-basic").charges
    rate = charge.rates[0]
    assert (rate.unit_rate, rate.made_of, rate.attributes) == (Decimal("8.75"), "7 x 1.25", "resolution 480p | 720p")


def test_what_a_method_reads_beside_its_rates_is_shown(prices: PriceBook) -> None:
    (charge,) = explain(prices, "seedance-2-0-image-to-video-basic").charges
    sizes = "480p 864x496, 720p 1280x720, 1080p 1920x1080, 4k 3840x2160"
    assert charge.options == {
        "frames_per_second": "24",
        "pixels_per_token": "1024",
        "sizes": sizes,
    }
    assert explain(prices, "topaz-video-upscale").charges[0].options == {"frame_rate": "from 48, factor 2"}


def test_accepted_values_are_written_as_a_table_writes_them(prices: PriceBook) -> None:
    assert explain(prices, "topaz-video-upscale").accepts == {
        "duration": "1s..30s, Auto",
        "upscale_factor": "1, 2, 4",
        "enhancement_model": "Proteus, Artemis HQ, Artemis MQ, Artemis LQ, Nyx, Nyx Fast, Nyx XL, Nyx HF, Gaia HQ, "
        "Gaia CG, Gaia 2",
        "target_fps": "min 16, max 120",
        "audio": "none",
        "video_url": "max_seconds 300",
        "where left out": "upscale_factor 2, enhancement_model Proteus",
    }
    assert explain(prices, "wan-3-0-pro-text-to-video").accepts["duration"] == "2s, 5s, 10s, 15s, 20s, 25s, 30s"


def test_an_alias_is_shown_with_what_it_stands_for(prices: PriceBook) -> None:
    aliases = [explain(prices, model.model).accepts.get("resolution_aliases") for model in prices.models()]
    assert "4k = 2160p" in aliases


@pytest.mark.parametrize(
    ("day", "effective", "earlier", "later"),
    [
        (date(2026, 9, 28), "2026-09-28", None, "2026-10-16"),
        (date(2026, 10, 15), "2026-09-28", None, "2026-10-16"),
        (date(2026, 10, 16), "2026-10-16", "2026-09-28", None),
    ],
)
def test_versions_are_told_apart(
    card: RateCard, day: date, effective: str, earlier: str | None, later: str | None
) -> None:
    facts = explain(card.at(day), "flux-3-text-to-video").facts
    assert (facts["Effective"], facts.get("Earlier versions"), facts.get("Later versions")) == (
        effective,
        earlier,
        later,
    )


def test_a_retirement_names_the_successor(card: RateCard) -> None:
    facts = explain(card.at(date(2026, 9, 1)), "ltx-2-fast-text-to-video").facts
    assert (facts["Retires"], facts["Successor"]) == ("2026-09-28", "ltx-2-v2-3-fast-text-to-video")


def test_a_retirement_to_come_and_weaker_evidence_are_told(prices: PriceBook) -> None:
    assert explain(prices, "seedance-1-5-pro-text-to-video-basic").facts["Retires"] == "2026-11-10"
    assert explain(prices, "topaz-video-interpolation").facts["Evidence"] == "provider list price"


def test_what_holds_for_a_whole_version_is_shown() -> None:
    rates = "- {tokens: input, rate: 9}\n- {tokens: output, rate: 8}"
    version = by_tokens(rates, "markup: 0.5", usage="{prompt_tokens: 1000}", total="0.0045")
    version = re.sub(r"rates:\n +- (.*)\n +- (.*)", r"rates: [\1, \2]", version)
    further = "rounding: none\n        factors: [{service_tier: batch, factor: 0.5}]\n"
    further += "        correction: a slip\n        announced: 2025-10-01"
    tables = family(text_model("m", version.replace("rounding: none", further)))
    prices = card_of({"m.yaml": tables.encode()}).at(date(2026, 1, 1))
    explained = explain(prices, "m")
    assert explained.facts["Factors"].startswith("0.5 service_tier = batch m.yaml:")
    assert (explained.facts["Correction"], explained.facts["Announced"]) == ("a slip", "2025-10-01")
    assert [rate.made_of for rate in explained.charges[0].rates] == ["9 x 0.5", "8 x 0.5"]
    usage = {"type": "text", "model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    for tier, markup in (({}, Decimal("0.5")), ({"service_tier": "batch"}, None)):
        found = workings(prices, prices.rate(usage | tier), usage | tier)
        assert [each.markup for each in found] == [markup, markup]


def test_the_page_of_a_price_is_told(card: RateCard) -> None:
    name, link = "ovi-image-to-video", "https://example.com/pricing?family=ovi#clips"
    model = card.tables.models[name]
    version = model.versions[0].model_copy(update={"reference": link})
    models = {**card.tables.models, name: model.model_copy(update={"versions": (version,)})}
    explained = explain(RateCard(replace(card.tables, models=models)).at(date(2026, 10, 1)), name)
    assert explained.facts["Reference"] == explained.to_dict()["reference"] == link
    assert "reference" not in explain(card.at(date(2026, 10, 1)), name).to_dict()


def test_for_programs_everything_is_text(prices: PriceBook) -> None:
    found = explain(prices, "ovi-image-to-video").to_dict()
    (charge,) = found["charges"]
    assert (found["model"], found["effective"]) == ("ovi-image-to-video", "2025-12-01")
    assert charge["rates"] == [
        {"unit_rate": "0.22", "made_of": "", "source": charge["rates"][0]["source"], "attributes": ""}
    ]


def test_a_model_without_a_price_is_refused(prices: PriceBook) -> None:
    with pytest.raises(QuoteError, match=r"sora-2-text-to-video\. It was retired on 2026-09-28"):
        explain(prices, "sora-2-text-to-video")
