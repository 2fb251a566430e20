"""Columns of buckets and of conditions: every row costs what `prices.rate` says of it, or is refused in its words."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow
import pytest
from few import card_of_models, with_models
from hypothesis import HealthCheck, Phase, assume, given, note, settings
from hypothesis import strategies as st
from kept_roll_ups import DEARER, NOW
from made_up_card import FACTORS, LINES, METERS, card_of
from pydantic_core import to_json

from nightly import examples
from ratecard import QuoteError, RateCard
from ratecard.base.errors import SimulationError
from ratecard.review.sides import Side
from ratecard.simulation.prices.outcome import Refused
from ratecard.simulation.result import Simulation
from ratecard.simulation.rows.columns import column_of
from ratecard.simulation.simulate import simulate
from ratecard.testing import rate_cards
from shipped import few_models
from token_tables import by_tokens, text_model

Row = dict[str, Any]
DAY = datetime(2026, 3, 1, tzinfo=UTC)
BUCKETS = ("input", "output", "cache_input", "cache_write", "cache_write_1h", "input_audio", "cache_input_audio",
           "input_text", "cache_input_text", "input_image", "output_audio", "output_reasoning")  # fmt: skip
COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_creation_input_tokens")
SAID = {
    "service_tier": (None, "batch", "priority", "standard", "auto", "flex", "?"),
    "speed": (None, None, "fast", "standard", ""),
}
SLOW = settings(
    max_examples=examples(25, nightly=400),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)


def usage_of(row: Row) -> Row:
    """The usage that a row is, field by field."""
    usage: Row = {}
    for name, value in row.items():
        if value is not None and name not in ("timestamp", "customer"):
            column_of(name).put(usage, value)
    return usage


def table_of(rows: Sequence[Row]) -> pyarrow.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    number = pyarrow.int64()
    fields = [(name, number if column_of(name).kind == "number" else pyarrow.string()) for name in names]
    return pyarrow.Table.from_pylist(list(rows), schema=pyarrow.schema(fields))


def by_row(card: RateCard, rows: Sequence[Row]) -> tuple[dict[str, Decimal], Counter[str]]:
    """Return the price of rows by model, and the number of refused rows by message."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    refused: Counter[str] = Counter()
    for row in rows:
        try:
            quote = card.at(row.get("timestamp", DAY)).rate(usage_of(row))
            if quote.currency == "USD":
                sums[row["model"]] += quote.total
            else:
                refused[f"charged in {quote.currency}, and amounts are added in USD"] += 1
        except QuoteError as error:
            refused[Refused.of(error).reason] += 1
    return dict(sums), refused


def check(found: Simulation, rows: Sequence[Row]) -> None:
    for number, side in enumerate(found.sides):
        sums, refused = by_row(side.card, rows)
        assert {row.key[0]: row.amounts[number] for row in found.groups if row.requests} == sums
        assert refusals(found, number) == refused


def refusals(found: Simulation, side: int) -> Counter[str]:
    """Return the number of rows that a side refuses, by message."""
    said: Counter[str] = Counter()
    for counted, outcome in zip(found.comparison.roll_up.shapes, found.outcomes[side], strict=True):
        if outcome.refusal:
            said[outcome.refusal.reason] += counted.requests
    return said


def simulated(card: RateCard, rows: Sequence[Row], *candidates: Side, **how: Any) -> Simulation:
    return simulate(table_of(rows), Side("now", card, DAY), candidates, **{"by": ("model",), **how})


@st.composite
def token_rows(draw: st.DrawFn, card: RateCard) -> list[Row]:
    """Rows with the counts of `usage`, by bucket, with both or none; near every threshold; under any condition."""
    models = [model for model in card.tables.models.values() if model.type in ("text", "embedding")]
    edges = sorted({int(value) for model in models for version in model.versions for charge in version.charges
                    for rate in charge.rates for name in ("above", "from") for value in rate.attributes.get(name, ())}
                   | {getattr(charge, "context_token_threshold", None) or 1
                      for model in models for version in model.versions for charge in version.charges})  # fmt: skip
    buckets = draw(st.lists(st.sampled_from(BUCKETS), unique=True))
    conditions = draw(st.lists(st.sampled_from(sorted(SAID)), unique=True))
    counts = draw(st.sampled_from((COUNTS, COUNTS, ()))) if buckets else COUNTS
    found = []
    for _ in range(draw(st.integers(1, 12))):
        model = draw(st.sampled_from(models))
        row: Row = dict.fromkeys((*counts, *(f"tokens.{name}" for name in buckets), *conditions))
        row |= {"type": model.type, "model": model.model}
        row |= {name: draw(st.sampled_from(SAID[name])) for name in conditions}
        prompt = draw(st.sampled_from(edges)) + draw(st.integers(-1, 1))
        form = draw(st.sampled_from(("usage", "tokens", "tokens", "both" if draw(st.booleans()) else "tokens", "none")))
        if form in ("usage", "both"):
            row |= {name: draw(st.sampled_from((None, 0, 1, 2))) for name in counts}
            row |= {"prompt_tokens": prompt, "completion_tokens": draw(st.sampled_from((0, 3)))} if counts else {}
        if form in ("tokens", "both"):
            row |= {f"tokens.{name}": draw(st.sampled_from((None, 0, 0, 1, 2, 5))) for name in buckets}
            if "input" in buckets:
                row["tokens.input"] = prompt
        found.append(row)
    return found


@SLOW
@given(st.data())
def test_random_rows_of_random_tables(data: st.DataObject) -> None:
    card = data.draw(rate_cards(methods=["tokens"]))
    rows = data.draw(token_rows(card))
    note(rows)
    with simulated(card, rows) as found:
        # With rates and factors of many digits, several rows together show that their amounts cannot be added.
        assume(not any(each.refusal and "decimals, which cannot" in each.refusal.reason for each in found.outcomes[0]))
        check(found, rows)


def one_sided(model: str, refused: str, *rates: str) -> str:
    """A model without a price of its input, or of its output."""
    lines = "\n".join(f"- {{tokens: {rate}}}" for rate in rates)
    return text_model(model, by_tokens(lines, f"without_rate: {{{refused}: refuse}}"))


def test_models_without_a_price_of_one_side_beside_one_with_tiers() -> None:
    """Rows without tokens of that side have a price; those with some are refused."""
    card = card_of_models(
        one_sided("heard", "input", "cache_input, rate: 1", "input_audio, rate: 3", "output, rate: 5"),
        one_sided("read", "output", "input, rate: 2", "output_reasoning, rate: 7"),
        one_sided("tiers", "output", "input, rate: 2", "input, above: 9, rate: 4"),
    )
    rows = [
        {**dict.fromkeys(SAID), "type": "text", "model": model}
        | {"tokens.input": own + cached + audio, "tokens.cache_input": cached, "tokens.input_audio": audio}
        | {"tokens.output": output, "tokens.output_reasoning": reasoning, "tokens.cache_input_audio": 0}
        for model in ("heard", "read", "tiers")
        for own, cached, audio in ((0, 0, 0), (1, 0, 0), (0, 9, 0), (0, 0, 12), (4, 9, 0), (4, 0, 12))
        for output, reasoning in ((0, 0), (3, 0), (3, 3), (3, 1))
    ]
    with simulated(card, rows) as found:
        check(found, rows)
        assert {row.key[0] for row in found.groups if row.requests} == {"heard", "read", "tiers"}


_ALL = "- {tokens: [input, output], rate: 5}\n"
_PAGES = """
          - charge: pages
            method: count
            unit: page
            rates:
              - {rate: 7}
              - {service_tier: [priority, batch], rate: 3}
        examples:"""


@pytest.mark.parametrize("pages", [None, 2])
@pytest.mark.parametrize(
    ("rates", "further"),
    [
        ("- {tokens: input, service_tier: priority, rate: 8}", ""),
        ("- {tokens: output, service_tier: priority, rate: 8}", ""),
        ("- {tokens: input, service_tier: priority, speed: fast, rate: 8}\n- {tokens: output, speed: fast, rate: 9}",
         "factors: [{service_tier: batch, factor: 0.5}]"),
        ("- {tokens: cache_input, rate: 1}\n- {tokens: cache_input, service_tier: priority, rate: 3}", ""),
        ("- {tokens: [input, output], above: 1000, service_tier: priority, rate: 8}", ""),
        ("- {tokens: output, above: 1000, rate: 9}\n- {tokens: output, above: 1000, service_tier: priority, rate: 8}",
         "without_rate: {priority: default}"),
        ("- {tokens: input, above: 1000, rate: 9}\n- {tokens: [input, output], service_tier: priority, rate: 8}",
         "without_rate: {priority: refuse}"),
    ],
)  # fmt: skip
def test_a_bucket_or_tier_that_some_condition_does_not_sell(rates: str, further: str, pages: int | None) -> None:
    """Rows that have none of what is not sold cost what they cost by themselves, and others are refused."""
    version = by_tokens(_ALL + rates, further)
    if pages is not None:
        version = version.replace("\n        examples:", _PAGES).replace("completion_tokens: 0}",
                                  "completion_tokens: 0, counts: {page: 0}}")  # fmt: skip
    card = card_of_models(text_model("m", version))
    rows = [
        {"type": "text", "model": "m", "prompt_tokens": prompt, "completion_tokens": completion,
         "cached_tokens": cached, "service_tier": tier, "speed": speed, "counts.page": pages}
        for prompt in (0, 900, 5000) for completion in (0, 30) for cached in {0, prompt}
        for tier in (None, "priority", "batch") for speed in (None, "fast")
    ]  # fmt: skip
    with simulated(card, rows) as found:
        check(found, rows)


@pytest.mark.parametrize("without", ["cache_input", "input"])
def test_tokens_beside_searches_and_of_aliases_are_charged_once(without: str) -> None:
    """Whether a row has any matters, as one model has no price for them; not what one search is charged."""
    rates = {"input": 2, "cache_input": 1, "output": 4}
    lines = "\n".join(f"- {{tokens: {name}, rate: {rate}}}" for name, rate in rates.items() if name != without)
    lacking = text_model("lacking", by_tokens(lines, "without_rate: {input: refuse}" if without == "input" else ""))
    tiers = text_model(
        "tiers",
        by_tokens(
            "- {tokens: input, rate: 2}\n- {tokens: input, above: 200000, rate: 3}\n"
            "- {tokens: cache_input, rate: 1}\n- {tokens: output, rate: 4}"
        ),
        further="aliases: [alias]",
    )
    shop = few_models("claude-opus-4-6", "grok-4-3", of_each=0)
    card = with_models(shop, card_of_models(lacking, tiers))
    day = datetime(2026, 10, 5, tzinfo=UTC)
    head = {"type": "text", "completion_tokens": 9}
    rows = [
        head | {"model": name, "prompt_tokens": prompt, "cached_tokens": cached, "web_search_requests": count}
        for name in ("claude-opus-4-6", "grok-4-3", "grok-4-3:enable_web_search=on", "tiers", "alias")
        for prompt in (1_000, 250_000)
        for cached in (0, 400, prompt)
        for count in (None, *((2,) if name.startswith(("claude", "grok")) else ()))
        if not (count and ":" in name)
    ]
    with simulate(table_of(rows), Side("now", card, day), by=("model", "prompt_tokens", "cached_tokens")) as found:
        expected = dict[tuple[str, ...], Decimal]()
        for row in rows:
            key = (str(row["model"]), str(row["prompt_tokens"]), str(row["cached_tokens"]))
            expected[key] = expected.get(key, Decimal(0)) + card.at(day).rate(usage_of(row)).total
        assert {row.key: row.amounts[0] for row in found.groups} == expected


def test_wrong_counts_of_a_model_that_only_a_candidate_offers_are_said() -> None:
    tokens = by_tokens("- {tokens: input, rate: 1}\n- {tokens: output, rate: 2}")
    dearer = by_tokens("- {tokens: input, rate: 2}\n- {tokens: output, rate: 2}")
    offered = ([text_model("old", tokens)], [text_model("old", dearer), text_model("new", tokens)])
    now, then = (card_of_models(*each) for each in offered)
    counts = {"prompt_tokens": 1, "completion_tokens": 1}
    rows = [{"type": "text", "model": name, **counts, "cached_tokens": 5} for name in ("old", "new")]
    rows += [{"type": "text", "model": "new", "prompt_tokens": 1}, {"type": "text", "model": "old", **counts}]
    with simulate(table_of(rows), Side("now", now, DAY), [Side("then", then, DAY)], by=("model",)) as found:
        said = Counter((each.side, each.reason.partition(":")[0]) for each in found.unpriced for _ in range(each.rows))
        assert said == {
            ("now", "usage.prompt_tokens_details.cached_tokens"): 1,
            ("then", "usage.prompt_tokens_details.cached_tokens"): 1,
            ("then", "usage.completion_tokens"): 1,
        }


@pytest.fixture(scope="module")
def card() -> RateCard:
    return card_of()


def row(**values: Any) -> Row:
    return {"type": "text", "model": "m", **{name.replace("__", "."): value for name, value in values.items()}}


def flat(rows: Sequence[Row]) -> list[Row]:
    """Every row with every column, as a table has them."""
    names = dict.fromkeys(name for each in rows for name in each)
    return [dict.fromkeys(names) | each for each in rows]


def test_a_batch_with_cached_tokens_at_every_edge(card: RateCard) -> None:
    prompts = (127_999, 128_000, 128_001, 999_999, 1_000_000, 1_000_001)
    rows = [
        row(tokens__input=prompt, tokens__cache_input=90_000, tokens__output=10, service_tier=tier)
        for prompt in prompts
        for tier in ("batch", "priority", None)
    ]
    with simulated(card, rows, by=("service_tier",)) as found:
        amounts = {each.key[0]: each.amounts[0] for each in found.groups}
        assert len(found.comparison.roll_up.shapes) == 3 * 3  # tiers x conditions: counts are summed
        assert found.total.amounts[0] == sum(card.at(DAY).rate(usage_of(each)).total for each in rows)
    batch, plain = Decimal(0), Decimal(0)
    for prompt in prompts:
        new, cached, made = (4, "0.4", 20) if prompt <= 128_000 else (6 if prompt < 1_000_000 else 9, "0.6", 30)
        one = ((prompt - 90_000) * new + 90_000 * Decimal(cached) + 10 * made) / Decimal(1_000_000)
        plain, batch = plain + one, batch + one / 2
    assert (amounts["batch"], amounts[None]) == (batch, plain)


def test_spellings_of_a_condition_of_the_folder_are_one_shape(card: RateCard) -> None:
    said = ("", "us", "america", None, "eu", "europe", "moon", "mars")
    rows = [row(prompt_tokens=10, completion_tokens=1, region=each) for each in said]
    with simulated(card, rows, by=("region",), where="region != 'moon'") as found:
        kept = [each for each in rows if each["region"] != "moon"]
        check_reasons(found, card, kept)
        assert len(found.comparison.roll_up.shapes) == 4  # the default; eu and europe, each as it is written; mars
        assert [each.reason for each in found.unpriced] == [
            "region: Invalid enum value. Expected 'us' | 'eu' | '' | 'america' | 'europe', received 'mars'"
        ]


def check_reasons(found: Simulation, card: RateCard, rows: Sequence[Row]) -> None:
    sums, refused = by_row(card, rows)
    assert found.total.amounts[0] == sum(sums.values())
    assert Counter({each.reason: each.rows for each in found.unpriced}) == refused


def test_counts_by_bucket_in_an_object_of_parquet_and_json(card: RateCard, tmp_path: Any) -> None:
    tokens: list[Row | None] = [
        {"input": 100, "cache_input": 60, "output": 5},
        {"input": 9, "cache_input": 10, "output": None},
        None,
    ]
    rows = [{"type": "text", "model": "m", "tokens": each, "service_tier": "batch"} for each in tokens]
    said = [
        row(service_tier="batch", **{f"tokens__{name}": count for name, count in (each or {}).items()})
        for each in tokens
    ]
    struct = pyarrow.Table.from_pylist(rows)
    lines = tmp_path / "usage.jsonl"
    lines.write_bytes(b"".join(to_json(each) + b"\n" for each in rows))
    for usage in (struct, lines):
        with simulate(usage, Side("now", card, DAY), by=("model",)) as found:
            check(found, said)
            assert found.reading.unused == ()


def test_a_count_that_is_no_object_and_one_that_is_given_twice_are_refused(card: RateCard, tmp_path: Any) -> None:
    lines = tmp_path / "usage.jsonl"
    lines.write_text('{"type": "text", "model": "m", "tokens": 5}\n')
    with pytest.raises(SimulationError, match="'tokens' is 5 in some line, and must be an object"):
        simulate(lines, Side("now", card, DAY))
    lines.write_text('{"type": "text", "model": "m", "tokens": {"input": 5}, "tokens.input": 5}\n')
    with pytest.raises(SimulationError, match=r"'tokens.input' as a column, and within the column 'tokens'"):
        simulate(lines, Side("now", card, DAY))


def test_a_condition_is_text(card: RateCard) -> None:
    usage = pyarrow.table({"type": ["text"], "model": ["m"], "service_tier": [1]})
    with pytest.raises(SimulationError, match="column 'service_tier' is BIGINT, and service_tier can be text"):
        simulate(usage, Side("now", card, DAY))


def test_columns_have_other_names_in_a_usage(card: RateCard) -> None:
    usage = pyarrow.table({"type": ["text"], "model": ["m"], "in": [100], "out": [5], "tier": ["batch"]})
    columns = {"tokens.input": "in", "tokens.output": "out", "service_tier": "tier"}
    with simulate(usage, Side("now", card, DAY), by=("model",), columns=columns) as found:
        assert found.total.amounts == (Decimal("0.00025"),)


def test_cards_that_know_other_buckets_and_conditions(card: RateCard) -> None:
    other = card_of(LINES.replace("input_audio", "input_image").replace("cache_input_image", "cache_input_image"),
                    FACTORS[:1], METERS.replace("default: us", "default: eu"))  # fmt: skip
    rows = flat([
        row(tokens__input=50, tokens__output=1, region=region, **more)
        for region in (None, "us", "eu", "europe", "moon")
        for more in ({}, {"tokens__input_audio": 4}, {"tokens__input_image": 4}, {"tokens__nothing": 0})
    ])  # fmt: skip
    with simulated(card, rows, Side("then", other, DAY)) as found:
        for number, side in enumerate(found.sides):
            assert refusals(found, number) == by_row(side.card, rows)[1]
    with simulated(card, rows) as alone, pytest.raises(SimulationError, match="other buckets or conditions"):
        alone.against(Side("then", other, DAY))


def test_a_candidate_of_the_same_meters_prices_the_kept_groups(card: RateCard) -> None:
    dearer = card_of(LINES.replace("rate: 0.40", "rate: 0.50"))
    rows = flat([
        row(tokens__input=50, tokens__cache_input=7, tokens__output=1, service_tier=tier)
        for tier in (None, "batch", "priority")
    ])  # fmt: skip
    with simulated(card, rows) as alone, alone.trying(Side("then", dearer, DAY)) as found:
        check(found, rows)
        assert found.total.difference() == Decimal("0.0000001") * 7 * Decimal("2.5")


def test_tokens_of_every_bucket_are_in_the_quantities(card: RateCard) -> None:
    counts = {"input": 100, "cache_input": 30, "input_audio": 40, "cache_input_audio": 10,
              "output": 7, "output_reasoning": 2}  # fmt: skip
    with simulated(card, [row(**{f"tokens__{name}": count for name, count in counts.items()})]) as found:
        assert found.total.quantities[:4] == tuple(map(Decimal, (70, 30, 0, 7)))


@pytest.mark.parametrize("more", [{}, {"tokens.output_reasoning": 0}, {"tokens.output_reasoning": 400_000}])
def test_what_several_buckets_pay_at_one_rate_is_attributed_to_it(more: dict[str, int]) -> None:
    """A bucket without a rate of its own is charged with its parent: two lines of a request have one SKU."""
    rows = [{"type": "text", "model": "claude-opus-4-6", "tokens.input": 1_000_000, "tokens.output": 1_000_000, **more}]
    sides = [replace(side, at=datetime(2026, 10, 20, tzinfo=UTC)) for side in (NOW, DEARER)]
    with simulate(pyarrow.Table.from_pylist(rows), sides[0], sides[1:], by=("model",)) as found:
        parts = found.attribution()
        assert parts.difference == found.total.difference() == sum(part.amount for part in parts.parts)
        assert len(parts.parts) == 2


def test_a_bill_is_re_rated_by_the_skus_of_tiers_and_conditions(card: RateCard, tmp_path: Any) -> None:
    rates = {
        "above-128k-input-batch": "3",
        "input-priority-region-eu": "7.7",
        "cache-write-1h": "8",
        "input-audio-batch-region-eu": "22",
    }
    lines = [
        f"2026-03-01T00:00:00Z,m-llm-{name}-mtoken,{rate},2,-{Decimal(rate) * 2},USD," for name, rate in rates.items()
    ]
    path = tmp_path / "bill.csv"
    path.write_text("\n".join(("timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes", *lines)))
    dearer = card_of(LINES, ("{service_tier: batch, factor: 0.6}", "{region: eu, factor: 1.2}"))
    with simulate(path, Side("now", card), [Side("then", dearer)], by=("sku",)) as found:
        assert not found.unpriced and not found.disputed
        assert {row.key[0]: row.amounts for row in found.groups} == {
            "m-llm-above-128k-input-batch-mtoken": (6, Decimal("7.2")),
            "m-llm-input-priority-region-eu-mtoken": (Decimal("15.4"), Decimal("16.8")),
            "m-llm-cache-write-1h-mtoken": (16, 16),
            "m-llm-input-audio-batch-region-eu-mtoken": (44, Decimal("57.6")),
        }
