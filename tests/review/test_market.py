"""`ratecard compare` and `compare_models`: our models beside those of another list."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import ratecard
from ratecard.cli import main
from ratecard.cli.compare import market_text
from ratecard.review.market import Market, absolute, compare_models
from ratecard.review.market_report import market_markdown, market_page

HEAD = """
    versions:
      - effective: 2026-03-01
        checked: 2026-03-01
        source: made up
        rounding: none
"""


def model(name: str, charges: str, kind: str = "text", currency: str = "USD", more: str = "", example: str = "") -> str:
    """A model of one version, with charges as lines; its example is not worked."""
    example = example or "{usage: {tokens: {input: 0}}, total: 0}"
    begin = f"  - model: {name}\n    name: {name}\n    type: {kind}\n    currency: {currency}{HEAD}{more}"
    return f"{begin}        charges:\n{charges}        examples:\n          - {example}\n"


def charge(method: str, unit: str, *rates: str, options: str = "") -> str:
    lines = "".join(f"              - {{{rate}}}\n" for rate in rates)
    name = f"          - charge: {unit}\n            method: {method}\n            unit: {unit}\n"
    return f"{name}{options}            rates:\n{lines}"


PLAIN = charge("tokens", "mtoken", "tokens: input, rate: 4", "tokens: output, rate: 20")
OURS = {
    "units.yaml": "units:\n  - {unit: audio_hour, counts: second of audio, per: 3600}\n",
    "ours.yaml": "family: ours\nmodels:\n"
    + model("plain", PLAIN)
    + model(
        "tiers",
        charge(
            "tokens",
            "mtoken",
            "tokens: input, rate: 4",
            "tokens: input, above: 100000, rate: 8",
            "tokens: cache_input, rate: 1",
            "tokens: output, rate: 20",
        ),
        more="        factors:\n          - {service_tier: batch, factor: 0.5}\n",
    )
    + model(
        "listen",
        charge("per-audio-second", "audio_hour", "rate: 0.35", options="            included: 30\n"),
        "transcription",
        example="{usage: {seconds: 30}, total: 0}",
    )
    + model(
        "draw",
        charge("per-image", "image", "resolution: 1K, rate: 0.04", "resolution: 2K, rate: 0.08"),
        "image",
        example="{usage: {images: 1, resolution: 1K}, total: 0.04}",
    ),
}
THEIRS = {
    "units.yaml": "units:\n  - {unit: third, counts: second of audio, per: 7}\n"
    "  - {unit: ktoken, counts: token, per: 1000}\n",
    "theirs.yaml": "family: theirs\nmodels:\n"
    + model("t/plain", PLAIN.replace("rate: 4", "rate: 5"))
    + model("t/euro", PLAIN, currency="EUR")
    + model(
        "t/tiers",
        charge(
            "tokens",
            "mtoken",
            "tokens: input, rate: 4",
            "tokens: input, from: 200000, rate: 6",
            "tokens: output, rate: 10",
            "tokens: output_reasoning, rate: 30",
            "tokens: output, processing: batch, rate: 6",
            options="            without_rate: {batch: default}\n",
        )
        + charge("count", "kpage", "rate: 1"),
    )
    + model(
        "t/listen",
        charge("per-audio-second", "third", "rate: 0.001"),
        "transcription",
        example="{usage: {seconds: 7}, total: 0.001}",
    )
    + model("t/thousands", charge("tokens", "ktoken", "tokens: input, rate: 0.005", "tokens: output, rate: 0.02"))
    + model(
        "t/draw",
        charge("count", "image", "rate: 0.05"),
        "image",
        example="{usage: {counts: {image: 1}}, total: 0.05}",
    ),
}
AT = date(2026, 6, 1)


def written(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("market")
    return written(folder / "ours", OURS), written(folder / "theirs", THEIRS)


@pytest.fixture(scope="module")
def cards(folders: tuple[Path, Path]) -> tuple[ratecard.RateCard, ratecard.RateCard]:
    return ratecard.load_rate_card(folders[0]), ratecard.load_rate_card(folders[1])


def rows(market: Market) -> list[tuple[str, ...]]:
    """(what, under what, ours, theirs, unit, difference, percent) of every price, in order."""
    return [
        (
            rate.charge,
            rate.attributes,
            str(rate.old.amount) if rate.old else "",
            str(rate.new.amount) if rate.new else "",
            " ".join(sorted({side.unit for side in (rate.old, rate.new) if side})),
            absolute(rate),
            rate.percent,
        )
        for pair in market.models
        for rate in pair.rates
    ]


def test_the_price_of_a_unit_on_both_sides(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    market = ratecard.review.market.compare_models(*cards, {"plain": "t/plain"}, at=AT)
    assert rows(market) == [
        ("input tokens", "", "4", "5", "mtoken", "+1", "+25%"),
        ("output tokens", "", "20", "20", "mtoken", "0", "-0%"),
    ]
    assert market.counts()["prices compared"] == 2
    assert market.unmatched == ("draw", "listen", "tiers")


def test_tiers_buckets_and_conditions(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    """Each range of prompts has both prices; a part without a rate has that of the whole; a factor is in the price."""
    market = compare_models(*cards, {"tiers": "t/tiers"}, at=AT, renamed={"processing": "service_tier"})
    one, two, three = (
        "prompts up to 100,000 tokens",
        "prompts of 100,001 to 199,999 tokens",
        "prompts from 200,000 tokens",
    )
    batch = "service_tier batch"
    assert rows(market) == [
        ("input tokens", one, "4", "4", "mtoken", "0", "-0%"),
        ("input tokens", two, "8", "4", "mtoken", "-4", "-50%"),
        ("input tokens", three, "8", "6", "mtoken", "-2", "-25%"),
        ("input tokens", f"{one}, {batch}", "2", "4", "mtoken", "+2", "+100%"),
        ("input tokens", f"{two}, {batch}", "4", "4", "mtoken", "0", "-0%"),
        ("input tokens", f"{three}, {batch}", "4", "6", "mtoken", "+2", "+50%"),
        ("cache_input tokens", "", "1", "", "mtoken", "", ""),
        ("cache_input tokens", batch, "0.5", "", "mtoken", "", ""),
        ("output tokens", "", "20", "10", "mtoken", "-10", "-50%"),
        ("output tokens", batch, "10", "6", "mtoken", "-4", "-40%"),
        ("output_reasoning tokens", "", "20", "30", "mtoken", "+10", "+50%"),
        ("output_reasoning tokens", batch, "10", "30", "mtoken", "+20", "+200%"),
        ("page", "", "", "1", "kpage", "", ""),
    ]
    counts = market.counts()
    assert (counts["only ours"], counts["only theirs"], counts["equal"]) == (2, 1, 2)


def test_without_the_name_of_ours_a_condition_is_another(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    found = rows(compare_models(*cards, {"tiers": "t/tiers"}, at=AT))
    assert ("output tokens", "service_tier batch", "10", "", "mtoken", "", "") in found
    assert ("output tokens", "processing batch", "", "6", "mtoken", "", "") in found
    # We charge reasoning with the output, so we have no price of it to list.
    assert [row[1] for row in found if row[0] == "output_reasoning tokens"] == ["", "processing batch"]


def test_other_units_are_brought_to_one_exactly(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    """No decimal holds 0.001 per 7 seconds as a price per hour, nor 0.35 an hour per 7: so the price of 25,200."""
    market = compare_models(*cards, {"listen": "t/listen"}, at=AT)
    assert rows(market) == [
        ("second of audio", "", "2.45", "3.6", "25,200 x second of audio", "+1.15", "+46.94%"),
    ]
    assert market.models[0].notes == ("ours: audio_hour: included 30",)
    ours = compare_models(*cards, {"plain": "t/thousands"}, at=AT)
    assert rows(ours)[0] == ("input tokens", "", "4", "5", "mtoken", "+1", "+25%")


def test_a_price_by_resolution_is_not_beside_one_without(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    market = compare_models(*cards, {"draw": "t/draw"}, at=AT)
    assert [row[1:4] for row in rows(market)] == [
        ("", "", "0.05"),
        ("resolution 1K", "0.04", ""),
        ("resolution 2K", "0.08", ""),
    ]


def pair(folder: Path, ours: str, theirs: str, more: Mapping[str, str] = {}) -> Market:
    """The comparison of two models `x`, each in a card with these further files."""
    cards = [
        ratecard.load_rate_card(written(folder / side, {"x.yaml": f"family: x\nmodels:\n{text}", **more}))
        for side, text in (("ours", ours), ("theirs", theirs))
    ]
    return compare_models(cards[0], cards[1], {"x": "x"}, at=AT)


def test_a_price_of_what_is_counted_is_compared_under_its_conditions(tmp_path: Path) -> None:
    example = "{usage: {images: 1, resolution: 1K}, total: 0.04}"
    factors = "            factors:\n              - {service_tier: batch, factor: 0.5}\n"
    ours = charge("per-image", "image", "resolution: 1K, rate: 0.04", options=factors)
    theirs = charge(
        "per-image", "image", "resolution: 1K, rate: 0.04", "resolution: 1K, service_tier: batch, rate: 0.03"
    )
    one, other = (model("x", each, "image", example=example) for each in (ours, theirs))
    market = pair(tmp_path, one, other)
    assert [row[1:4] for row in rows(market)] == [
        ("resolution 1K", "0.04", "0.04"),
        ("resolution 1K, service_tier batch", "0.02", "0.03"),
    ]


def test_what_is_not_sold_has_no_price(tmp_path: Path) -> None:
    """Ours sells no quick batches, and has no price for a request that names no lane."""
    meters = {"meters.yaml": "conditions:\n  - {condition: lane, values: [slow, quick]}\n"}
    factors = "{service_tier: batch, factor: 0.5}", "{lane: slow, factor: 1}", "{lane: quick, factor: 2}"
    options = "            factors:\n" + "".join(f"              - {factor}\n" for factor in factors)
    tokens = charge("tokens", "mtoken", "tokens: [input, output], rate: 4", options=options)
    example = "{usage: {tokens: {input: 0}, lane: slow}, total: 0}"
    unsold = "        not_sold: [{service_tier: batch, lane: quick}]\n"
    ours, theirs = (model("x", tokens, more=more, example=example) for more in (unsold, ""))
    market = pair(tmp_path, ours, theirs, meters)
    assert [row[1:4] for row in rows(market) if row[0] == "input tokens"] == [
        ("lane slow", "4", "4"),
        ("lane quick", "8", "8"),
        ("service_tier batch, lane slow", "2", "2"),
        ("service_tier batch, lane quick", "", "4"),
    ]


def test_another_currency_is_listed_and_not_compared(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    market = compare_models(*cards, {"plain": ["t/euro", "t/plain"]}, at=AT)
    assert market.models[0].reason == "ours is in USD, theirs in EUR: prices of two currencies are not compared"
    counts = market.counts()
    assert (counts["prices compared"], counts["only ours"], counts["only theirs"]) == (2, 2, 2)


def test_a_model_without_a_price_then_is_listed(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    market = compare_models(*cards, {"plain": "t/plain"}, at=date(2026, 1, 1))
    assert market.models[0].reason.startswith("No price for plain on 2026-01-01")
    assert market.models[0].rates == ()


def test_a_model_that_is_not_there_is_refused(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    with pytest.raises(ratecard.QuoteError, match=r"Specified model not found: t/plane\. Did you mean: t/plain"):
        compare_models(*cards, {"plain": "t/plane"}, at=AT)


def test_other_names_are_names_of_both_lists_and_each_of_one_thing(
    cards: tuple[ratecard.RateCard, ratecard.RateCard],
) -> None:
    for renamed, words in (
        ({"procesing": "service_tier"}, "'procesing' is not a .* of theirs. Did you mean 'processing'?"),
        ({"processing": "service_teir"}, "'service_teir' is not a .* of ours. Did you mean 'service_tier'?"),
    ):
        with pytest.raises(ratecard.QuoteError, match=words):
            compare_models(*cards, {"plain": "t/plain"}, at=AT, renamed=renamed)
    # Their price of input would take the place of that of output.
    market = compare_models(*cards, {"plain": "t/plain"}, at=AT, renamed={"input": "output"})
    assert market.models[0].reason == "two prices of t/plain would be prices of 'output'"


def run(folders: tuple[Path, Path], text: str, *words: str) -> Result:
    path = folders[0].parent / "map.yaml"
    path.write_text(text, encoding="utf-8")
    return CliRunner().invoke(main, ["compare", *map(str, folders), "--map", str(path), "--at=2026-06-01", *words])


MAP = "plain: t/plain\ntiers: [t/tiers, t/euro]\n"


def test_a_report_never_takes_the_place_of_what_is_compared(folders: tuple[Path, Path]) -> None:
    done = run(folders, MAP, f"--out={folders[0].parent / 'map.yaml'}")
    assert (done.exit_code, "is among what is compared" in done.stderr) == (2, True), done.output
    assert (folders[0].parent / "map.yaml").read_text(encoding="utf-8") == MAP


def test_every_format(folders: tuple[Path, Path], tmp_path: Path) -> None:
    text = run(folders, MAP)
    assert text.exit_code == 0, text.output
    assert "tiers beside t/euro\n    ours is in USD, theirs in EUR" in text.stdout
    assert "Not in the map: draw, listen" in text.stdout
    markdown = run(folders, MAP, "--format=markdown").stdout
    assert "\n### `plain` beside `t/plain`\n\n#### Prices\n" in markdown
    assert "\n### `tiers` beside `t/euro`\n\n* ours is in USD, theirs in EUR" in markdown
    assert "| input tokens | 4 | 5 | +1 | +25% | USD / mtoken | `ours.yaml:17, theirs.yaml:17` |" in markdown
    page = run(folders, MAP, "--format=html").stdout
    assert "<b>tiers beside t/tiers</b>" in page
    assert '<td data-label="Difference" class="number rise">+1</td>' in page
    body = json.loads(run(folders, MAP, "--format=json", "--same=processing=service_tier").stdout)
    first = body["models"][0]["rates"][0]
    assert (first["ours"]["rate"], first["theirs"]["rate"], first["difference"]) == ("4", "5", "+1")
    assert body["counts"]["pairs_of_models"] == 3
    out = tmp_path / "market.md"
    assert run(folders, MAP, "--format=markdown", f"--out={out}").exit_code == 0
    assert out.read_text(encoding="utf-8") == markdown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plane: t/plain\n", "map.yaml:1: 'plane' is not a model of ours. Did you mean 'plain'?"),
        ("plain:\n  - t/plain\n  - t/eura\n", "map.yaml:3: 't/eura' is not a model of theirs. Did you mean 't/euro'?"),
        ("plain: [t/plain, t/plain]\n", "map.yaml:1: t/plain is listed twice; keep one"),
        ("plain: {a: b}\n", "map.yaml:1: plain must name a model of theirs, or a list of such"),
        ("plain: {a: b}\nplane: t/plain\n", "map.yaml:2: 'plane' is not a model of ours. Did you mean 'plain'?"),
        ("plain: []\n", "map.yaml:1: plain must name a model"),
        ("plain:\n", "map.yaml:1: plain must name a model"),
        ("- plain\n", "map.yaml:1: must hold models, like `our-model: their-model`"),
        ("plain: t/plain\nplain: t/euro\n", "map.yaml:2: key 'plain' is written twice"),
    ],
)
def test_a_map_with_a_fault_is_refused(folders: tuple[Path, Path], text: str, words: str) -> None:
    sent = run(folders, text)
    assert (sent.exit_code, sent.stdout) == (1, "")
    assert words in sent.stderr


@pytest.mark.parametrize("words", ["--same=processing", "--same==tier", "--same=a=b --same=c=b"])
def test_names_that_are_not_pairs_are_a_wrong_use(folders: tuple[Path, Path], words: str) -> None:
    assert run(folders, MAP, *words.split()).exit_code == 2


def test_names_cannot_end_a_cell_or_begin_markup(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    market = compare_models(*cards, {"plain": "t/plain"}, at=AT, labels=("<b>|", "*x*"))
    assert "\\<b\\>\\|" in market_markdown(market)
    assert "&lt;b&gt;|" in market_page(market)
    assert "<b>| beside *x*" in market_text(market)


LONGER = ["from 200,002 tokens"]


def tiered(name: str, edge: str) -> str:
    rates = ("tokens: input, rate: 4", f"tokens: input, {edge}, rate: 8", "tokens: output, rate: 20")
    return model(name, charge("tokens", "mtoken", *rates))


@pytest.mark.parametrize(
    ("ours", "theirs", "prompts"),
    [
        # One list says above, the other from: neither price includes the one token between them.
        ("above: 200000", "from: 200000", ["up to 200,000 tokens", "from 200,001 tokens"]),
        ("from: 200000", "above: 200000", ["up to 200,000 tokens", "from 200,001 tokens"]),
        ("from: 200001", "above: 200000", ["up to 200,000 tokens", "from 200,001 tokens"]),
        # An empty prompt is a range of its own.
        ("from: 1", "from: 1", ["up to 0 tokens", "from 1 tokens"]),
        # Two tokens are a range.
        ("above: 200001", "from: 200000", ["up to 199,999 tokens", "of 200,000 to 200,001 tokens", *LONGER]),
    ],
)
def test_ranges_that_meet_at_an_edge_are_joined(tmp_path: Path, ours: str, theirs: str, prompts: list[str]) -> None:
    market = pair(tmp_path, tiered("x", ours), tiered("x", theirs))
    assert [row[1] for row in rows(market) if row[0] == "input tokens"] == [f"prompts {each}" for each in prompts]
    assert market.counts()["higher than ours"] == len(prompts) - 2


def test_a_price_that_follows_from_another_is_implied(cards: tuple[ratecard.RateCard, ratecard.RateCard]) -> None:
    """Ours charges reasoning with the output: that is no price of our list, and nothing is higher than it."""
    market = compare_models(*cards, {"tiers": "t/tiers"}, at=AT, renamed={"processing": "service_tier"})
    implied = [rate for pair in market.models for rate in pair.rates if rate.old and rate.old.implied]
    assert [(rate.charge, str(rate.old and rate.old.amount)) for rate in implied] == [
        ("output_reasoning tokens", "20"),
        ("output_reasoning tokens", "10"),
    ]
    counts = market.counts()
    assert (counts["prices compared"], counts["higher than ours"], counts["implied by another"]) == (8, 2, 2)
    assert "tokens | 20 (implied) | 30 |" in market_markdown(market)
    listed = market.to_dict()["models"][0]["rates"]
    [_, found] = [each for each in listed if each["ours"] and each["ours"]["rate"] == "20"]
    assert (found["ours"]["implied"], "implied" in found["theirs"]) == (True, False)


def test_models_come_in_the_order_of_our_own_usage(folders: tuple[Path, Path], tmp_path: Path) -> None:
    usage = tmp_path / "usage.csv"
    usage.write_text("type,model,tokens.input,tokens.output\ntext,plain,1000000,0\ntext,tiers,10,0\n", encoding="utf-8")
    path = tmp_path / "map.yaml"
    path.write_text("tiers: t/plain\nplain: t/plain\n", encoding="utf-8")
    words = ["compare", *map(str, folders), "--map", str(path), "--at=2026-06-01", "--format=json"]
    plainly = json.loads(CliRunner().invoke(main, words).stdout)
    assert [(each["ours"], "usage" in each) for each in plainly["models"]] == [("tiers", False), ("plain", False)]
    sent = CliRunner().invoke(main, [*words, "--usage", str(usage)])
    assert sent.exit_code == 0, sent.output
    assert [(each["ours"], each["usage"]) for each in json.loads(sent.stdout)["models"]] == [
        ("plain", "4"),
        ("tiers", "0.00004"),
    ]
    text = CliRunner().invoke(main, [*words[:-1], "--usage", str(usage)]).stdout
    assert "plain beside t/plain: 4 USD of our usage\n" in text


# Our tables, in which `plain` is also called `simple`.
PLAIN = "    name: plain\n"
NAMED = OURS | {"ours.yaml": OURS["ours.yaml"].replace(PLAIN, f"{PLAIN}    aliases: [simple]\n", 1)}


@pytest.mark.parametrize("text", ["plain: tiers\nsimple: tiers\n", "tiers:\n  - plain\n  - simple\n"])
def test_a_map_that_names_a_model_twice_is_refused(tmp_path: Path, text: str) -> None:
    folder, path = str(written(tmp_path / "ours", NAMED)), tmp_path / "map.yaml"
    path.write_text(text)
    sent = CliRunner().invoke(main, ["compare", folder, folder, "--map", str(path), "--at=2026-06-01"])
    assert (sent.exit_code, sent.stdout) == (1, "")
    line = len(text.splitlines())
    assert f"map.yaml:{line}: simple and plain are names of one model; keep one" in sent.stderr


def test_usage_under_an_alias_is_usage_of_its_model(tmp_path: Path) -> None:
    folder = str(written(tmp_path / "ours", NAMED))
    usage, path = tmp_path / "usage.csv", tmp_path / "map.yaml"
    usage.write_text("type,model,tokens.input,tokens.output\ntext,plain,1000000,0\ntext,simple,2000000,0\n")
    path.write_text("plain: plain\n")
    words = ["compare", folder, folder, "--map", str(path), "--at=2026-06-01", "--usage", str(usage)]
    assert "plain beside plain: 12 USD of our usage\n" in CliRunner().invoke(main, words).stdout


def test_usage_is_paid_in_the_currency_of_its_model_and_what_has_no_price_is_said(tmp_path: Path) -> None:
    euro = NAMED["ours.yaml"].replace("    currency: USD\n", "    currency: EUR\n", 1)
    folder = str(written(tmp_path / "ours", OURS | {"ours.yaml": euro}))
    usage, path = tmp_path / "usage.csv", tmp_path / "map.yaml"
    usage.write_text(
        "type,model,tokens.input,tokens.output,service_teir\ntext,plain,1000000,0,\ntext,tiers,1000000,0,\ntext,none,1,1,\n"
    )
    path.write_text("plain: plain\ntiers: tiers\n")
    done = CliRunner().invoke(
        main, ["compare", folder, folder, "--map", str(path), "--at=2026-06-01", "--usage", str(usage)]
    )
    assert "plain beside plain: 4 EUR of our usage\n" in done.stdout
    assert "tiers beside tiers: 8 USD of our usage\n" in done.stdout, done.stdout
    assert "Warning: 1 of 3 rows have no price, and are in no amount" in done.stderr
    assert "Warning: Column 'service_teir' is not read. Did you mean 'service_tier'?" in done.stderr
