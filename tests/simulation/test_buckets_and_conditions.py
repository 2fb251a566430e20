"""Columns of buckets and of conditions: every row costs what `prices.rate` says of it, or is refused in its words."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from nightly import examples
from ratecard import QuoteError, RateCard
from ratecard.changes.sides import Side
from ratecard.simulation.pricing.outcome import Refused
from ratecard.simulation.simulate import simulate
from ratecard.simulation.simulation import Simulation
from ratecard.simulation.usage.columns import column_of
from ratecard.testing import rate_cards

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
    max_examples=examples(40, nightly=400),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)


def usage_of(row: Row) -> Row:
    """The usage that a row is, field by field."""
    usage: Row = {}
    for name, value in row.items():
        if value is not None:
            *way, last = column_of(name).path
            within = usage
            for part in way:
                within = within.setdefault(part, {})
            within[last] = value
    return usage


def table_of(rows: Sequence[Row]) -> pyarrow.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    number = pyarrow.int64()
    fields = [(name, number if column_of(name).kind == "number" else pyarrow.string()) for name in names]
    return pyarrow.Table.from_pylist(list(rows), schema=pyarrow.schema(fields))


def by_row(card: RateCard, rows: Sequence[Row]) -> tuple[dict[str, Decimal], Counter[str]]:
    """What rows cost by model, and how many are refused in which words."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    refused: Counter[str] = Counter()
    for row in rows:
        try:
            quote = card.at(DAY).rate(usage_of(row))
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
        said: Counter[str] = Counter()
        for counted, outcome in zip(found.comparison.roll_up.shapes, found.outcomes[number], strict=True):
            if outcome.refusal:
                said[outcome.refusal.reason] += counted.requests
        assert said == refused


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
        check(found, rows)
