"""Made-up usage: what it holds, that it has prices, and that a seed means the same rows."""

import re
import shutil
from collections import Counter
from datetime import UTC, date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute
import pyarrow.parquet
import pytest
from few import card_of_models

from ratecard import QuoteError, RateCard, load_rate_card
from ratecard.load.folder import shipped_folder
from ratecard.requests.body import TYPES
from ratecard.simulation.demo_usage import MILLION, Traffic, demo_stretches, demo_usage, quote_row
from ratecard.simulation.rows.columns import USAGE_COLUMNS
from shipped import CARD, FEW, few_models
from token_tables import by_tokens, text_model

# A few models, one of which takes reference video.
REFERENCED = few_models("seedance-2-0-reference-to-video-basic", "claude-opus-4-6", "crypto-rpc", of_each=0)
UNTIL = date(2026, 12, 1)
FIRST = ("type", "model", "timestamp", "request_id", "customer", "api_key", "region")


def rows_of(folder: Path, rows: int, *columns: str, **how: Any) -> list[dict[str, Any]]:
    """The rows that are made; of many rows only the columns that are looked at."""
    demo_usage(folder / "usage.parquet", rows, **{"card": CARD, **how})
    table = pyarrow.parquet.read_table(folder / "usage.parquet", columns=list(columns) or None)
    rows_made: list[dict[str, Any]] = table.to_pylist()
    return rows_made


def refusals(card: RateCard, rows: list[dict[str, Any]]) -> list[str]:
    """Return the reasons why rows have no price at their own instants."""
    found = []
    for row in rows:
        try:
            quote_row(card.at(row["timestamp"]), row)
        except QuoteError as error:
            found.append(f"{row}: {error}")
    return found


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return rows_of(tmp_path_factory.mktemp("usage"), 12_000, bad_share=Decimal(0))


@pytest.fixture(scope="module")
def traffic(card: RateCard) -> Traffic:
    return Traffic(card, UNTIL, seed=7, fractional=MILLION // 10)


def test_every_good_row_has_a_price_at_its_own_instant(card: RateCard, usage: list[dict[str, Any]]) -> None:
    assert not refusals(card, usage)
    assert {row["type"] for row in usage} == set(TYPES.words)


def test_rows_of_models_without_a_price_of_one_side_have_a_price(tmp_path: Path) -> None:
    heard = by_tokens("- {tokens: output, rate: 5}", "without_rate: {input: refuse}")
    read = by_tokens("- {tokens: input, rate: 3}", "without_rate: {output: refuse}")
    card = card_of_models(text_model("heard", heard), text_model("read", read))
    made = rows_of(tmp_path, 200, bad_share=Decimal(0), card=card)
    assert not refusals(card, made)
    assert {row["model"] for row in made} == {"heard", "read"}


def test_every_model_is_used_in_every_period_in_which_it_has_a_price(card: RateCard, traffic: Traffic) -> None:
    for period in traffic.periods:
        priced = {model.model for model, _ in card.at(period.start)._in_effect_all() if model.type != "surcharge"}
        assert {offer.model for offer in period.offers} == priced
    drawn = {traffic.samples[each.first].row["model"] for each in demo_stretches(traffic.periods, bad=0)}
    assert drawn == {name for name, model in card.tables.models.items() if model.type != "surcharge"}


def test_types_have_their_shares_and_customers_differ(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, 60_000, "type", "customer", "api_key", until=UNTIL, card=FEW)
    share = {kind: 1000 * count / len(rows) for kind, count in Counter(row["type"] for row in rows).items()}
    thousandths = {"text": 700, "rpc": 80, "image": 80, "video": 60, "embedding": 40, "speech": 10, "edit": 10}
    thousandths |= {"transcription": 10, "music": 5, "upscale": 5}
    assert all(abs(share[kind] - part) < min(10, part / 12) for kind, part in thousandths.items()), share
    customers = Counter(row["customer"] for row in rows).most_common()
    assert 1_500 < len(customers) <= 2_000
    assert customers[0][1] > 100 * customers[len(customers) // 2][1]
    keys = {(row["api_key"], row["customer"]) for row in rows}
    assert len({key for key, _ in keys}) == len(keys)


def test_usage_has_what_makes_prices_hard(usage: list[dict[str, Any]], traffic: Traffic) -> None:
    def any_row(**wanted: Any) -> bool:
        return any(all(row[name] == value for name, value in wanted.items()) for row in usage)

    assert any(row["cached_tokens"] for row in usage)
    assert any(row["cache_creation_input_tokens"] for row in usage)
    assert any((row["prompt_tokens"] or 0) > 200_000 for row in usage)
    assert any_row(enable_web_search="on")
    assert any_row(failed=True)
    assert any(sample.row.get("duration") == "auto" for sample in traffic.samples)  # such samples are rare
    assert any(row["model"] == "topaz-video-upscale" and row["source_seconds"] for row in usage)
    assert any(row["model"] == "topaz-video-interpolation" and row["source_fps"] for row in usage)


def test_fractional_reference_video_has_the_share_that_was_asked_for(tmp_path: Path) -> None:
    def fractional(share: str) -> int:
        how = {"card": REFERENCED, "fractional_share": Decimal(share), "bad_share": Decimal(0)}
        rows = rows_of(tmp_path, 10_000, "reference_video_total_duration", **how)
        return sum(1 for row in rows if (row["reference_video_total_duration"] or 0) % 1)

    assert fractional("0") == 0
    assert 900 < fractional("0.1") < 1_100


def test_bad_rows_have_no_price_and_the_share_that_was_asked_for(tmp_path: Path) -> None:
    assert len(refusals(FEW, rows_of(tmp_path, 300, bad_share=Decimal(1), card=FEW))) == 300
    assert 100 < len(refusals(FEW, rows_of(tmp_path, 3_000, bad_share=Decimal("0.05"), card=FEW))) < 200


def test_bad_rows_are_bad_for_many_reasons(card: RateCard, traffic: Traffic) -> None:
    reasons: Counter[str] = Counter()
    for period in traffic.periods:
        prices = card.at(period.start)
        for sample in traffic.samples[period.faults.first : period.faults.first + period.faults.kinds]:
            with pytest.raises(QuoteError) as refusal:
                quote_row(prices, sample.typical())
            reasons[str(refusal.value)] += 1
    for words in (
        "-preview. Did you mean",
        "first version takes",
        "was retired",
        "cached_tokens: Number",
        "completion_tokens: Required",
        "duration: Required",
        "resolution: Invalid",
        "type: Invalid",
        "method is not",
        "network: Invalid",
    ):
        assert any(words in reason for reason in reasons), words


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_the_same_seed_makes_the_same_bytes(tmp_path: Path, ending: str) -> None:
    def written(name: str, seed: int) -> bytes:
        demo_usage(tmp_path / f"{name}.{ending}", 500, seed=seed, card=REFERENCED)
        return (tmp_path / f"{name}.{ending}").read_bytes()

    one = written("one", 3)
    assert written("again", 3) == one != written("other", 4)


@pytest.mark.parametrize("rows", [1, 10, 3_000, 130_000])
def test_rows_are_in_the_order_of_time_however_many(tmp_path: Path, rows: int) -> None:
    """The engine would rather join few rows the other way round, and so lose their order."""
    demo_usage(tmp_path / "usage.parquet", rows, card=FEW)
    table = pyarrow.parquet.read_table(tmp_path / "usage.parquet", columns=["request_id", "timestamp"])
    assert table["request_id"].to_pylist() == [f"req-0-{number:012}" for number in range(rows)]
    instants = table["timestamp"].combine_chunks()
    assert pyarrow.compute.all(pyarrow.compute.less_equal(instants[:-1], instants[1:])).as_py() in (True, None)


def test_the_three_formats_hold_the_same(tmp_path: Path) -> None:
    tables = []
    for ending in ("parquet", "csv", "jsonl"):
        demo_usage(tmp_path / f"usage.{ending}", 500, until=UNTIL, card=FEW)
        columns = ", ".join(f"{name}::VARCHAR" for name in ("type", "model", "request_id", *USAGE_COLUMNS))
        instant = "epoch_us(timestamp::TIMESTAMPTZ)"
        with duckdb.connect() as engine:
            found = engine.sql(f"FROM '{tmp_path}/usage.{ending}'").project(f"{instant}, {columns}")
            tables.append(found.fetchall())
        if ending != "parquet":
            assert re.search(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z", (tmp_path / f"usage.{ending}").read_text())
    decimals = [[tuple(_number(cell) for cell in row) for row in table] for table in tables]
    assert decimals[0] == decimals[1] == decimals[2]


def _number(cell: Any) -> Any:
    """Thousandths are written with as many digits as a format likes."""
    return Decimal(cell).normalize() if isinstance(cell, str) and cell.replace(".", "", 1).isdigit() else cell


def test_the_columns_are_those_of_a_usage_table(tmp_path: Path) -> None:
    demo_usage(tmp_path / "usage.parquet", 10, card=FEW)
    schema = pyarrow.parquet.read_schema(tmp_path / "usage.parquet")
    assert schema.names == [*FIRST, *USAGE_COLUMNS]
    kinds = {"text": "string", "url": "string", "flag": "bool", "number": "int64"}
    decimals = {"seconds": "decimal128(12, 3)"}
    decimals |= dict.fromkeys(("reference_video_total_duration", "source_seconds", "source_fps"), "decimal128(9, 3)")
    assert {name: str(schema.field(name).type) for name in USAGE_COLUMNS} == {
        name: decimals.get(name, kinds[column.kind]) for name, column in USAGE_COLUMNS.items()
    }
    assert str(schema.field("timestamp").type) == "timestamp[us, tz=UTC]"


def test_a_folder_with_one_model_has_usage_of_that_model(tmp_path: Path) -> None:
    (tmp_path / "video").mkdir()
    shutil.copy(shipped_folder() / "video" / "ovi.yaml", tmp_path / "video")
    own = load_rate_card(tmp_path)
    rows = rows_of(tmp_path, 200, card=own, bad_share=Decimal(0))
    assert {row["model"] for row in rows} == {"ovi-image-to-video"}
    assert not refusals(own, rows)
    with pytest.raises(ValueError, match="no model of these tables takes reference video"):
        demo_usage(tmp_path / "usage.csv", 10, card=own, fractional_share=Decimal(1))


def test_tables_that_price_less_have_usage_of_just_that(tmp_path: Path) -> None:
    """A language model without a price of cached tokens, and credits for the standard methods only."""
    for name in ("rpc.yaml", "surcharges.yaml", "text/llama.yaml"):
        text = (shipped_folder() / name).read_text(encoding="utf-8").replace("missing_cache_rate: input", "")
        (tmp_path / name).parent.mkdir(exist_ok=True)
        kept = [line for line in text.splitlines() if not any(word in line for word in ("large", "advanced", "trace"))]
        kept = [line for line in kept if "getLargestAccounts" not in line]
        (tmp_path / name).write_text("\n".join(kept), encoding="utf-8")
    own = load_rate_card(tmp_path)
    rows = rows_of(tmp_path, 3_000, card=own, bad_share=Decimal(0))
    assert {row["type"] for row in rows} == {"text", "rpc"}
    assert not refusals(own, rows)
    assert not any(row["cached_tokens"] for row in rows)


def test_usage_ends_before_the_day_that_is_named(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, 2_000, "timestamp", until=date(2026, 9, 1), card=FEW)
    assert {row["timestamp"].astimezone(UTC).date() for row in rows} <= {
        date(2025, 12, 1) + timedelta(days=day) for day in range((date(2026, 9, 1) - date(2025, 12, 1)).days)
    }
