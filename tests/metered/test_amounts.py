"""Units of any whole number, what is included, the least, whole blocks, and the minimum of a request: at each edge."""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import ratecard
from ratecard import PriceBook, Quote
from ratecard.base.money import nearest

UNITS = """\
units:
  - {unit: audio_second, counts: second of audio, per: 1}
  - {unit: audio_minute, counts: second of audio, per: 60}
  - {unit: audio_hour, counts: second of audio, per: 3600}
  - {unit: kcharacter, counts: character, per: 1000}
  - {unit: page_of_text, counts: character, per: 1500}
  - {unit: token_block, counts: token, per: 3000}
  - {unit: mtoken, counts: token, per: 1000000}
  - {unit: image, counts: image, per: 1}
  - {unit: input_image, counts: input image, per: 1}
  - {unit: krequest, counts: search request, per: 1000}
  - {unit: credit, counts: RPC credit, per: 1}
  - {unit: video_second, counts: second of video, per: 1}
  - {unit: video_minute, counts: second of video, per: 60}
"""
PLAIN = {"transcription": "audio_minute", "speech": "page_of_text", "text": "token_block"}
METHOD = {"transcription": "per-audio-second", "speech": "per-character", "text": "tokens"}
EXAMPLE = {
    "transcription": "{seconds: 0}",
    "speech": "{characters: 0}",
    "text": "{prompt_tokens: 0, completion_tokens: 0}",
}


def table(kind: str, rates: str, options: str = "", version: str = "", unit: str = "", total: str = "0") -> str:
    """A table of one model `m`; lines are divided by `;`."""

    def lines(given: str, indent: int) -> str:
        return "".join(f"{' ' * indent}{line.strip()}\n" for line in given.split(";") if line)

    return f"""\
family: made-up
models:
  - model: m
    name: M
    type: {kind}
    currency: USD
    versions:
      - effective: 2026-09-01
        checked: 2026-09-02
        source: price page
{lines(version, 8)}        charges:
          - charge: charged
            method: {METHOD[kind]}
            unit: {unit or PLAIN[kind]}
{lines(options, 12)}            rates:
{lines(rates, 14)}        rounding: none
        examples:
          - {{usage: {EXAMPLE[kind]}, total: {total}}}
"""


def prices_of(folder: Path, *tables: str) -> PriceBook:
    (folder / "units.yaml").write_text(UNITS)
    for number, text in enumerate(tables):
        (folder / f"t{number}.yaml").write_text(text)
    return ratecard.load_rate_card(folder).at(date(2026, 10, 1))


def charged(prices: PriceBook, **fields: Any) -> Quote:
    return prices.rate({"model": "m", **fields})


@pytest.mark.parametrize(
    ("per", "rate", "seconds", "amount", "quantity"),
    [
        # 1/60 of 0.006 is a decimal: exact, whatever the count.
        ("audio_minute", "0.006", "61", "0.0061", "1.016666666667"),
        ("audio_minute", "0.006", "60", "0.006", "1"),
        ("audio_minute", "0.006", "3", "0.0003", "0.05"),
        ("audio_hour", "0.36", "1", "0.0001", "0.000277777778"),
        ("audio_hour", "0.36", "0.1", "0.00001", "0.000027777778"),
        # No decimal holds it: rounded half-up to 12 places, once.
        ("audio_hour", "0.5", "1", "0.000138888889", "0.000277777778"),
        ("audio_hour", "0.5", "3599", "0.499861111111", "0.999722222222"),
        ("audio_hour", "0.5", "3600", "0.5", "1"),
        ("audio_hour", "0.5", "3601", "0.500138888889", "1.000277777778"),
        # A decimal is never rounded, whatever its places.
        ("audio_hour", "0." + "0" * 29 + "9", "3600", "0." + "0" * 29 + "9", "1"),
        ("audio_hour", "0." + "0" * 29 + "9", "4", "0." + "0" * 31 + "1", "0.001111111111"),
        # Just below and at half of the last place: 1/3600 of 0.0000000018 is 5E-13.
        ("audio_hour", "0.0000000018", "1", "0.0000000000005", "0.000277777778"),
        ("audio_hour", "0.00000000179", "1", "0", "0.000277777778"),
        ("audio_hour", "0.00000000181", "1", "0.000000000001", "0.000277777778"),
    ],
)
def test_a_unit_of_any_whole_number_is_exact_as_a_fraction(
    tmp_path: Path, per: str, rate: str, seconds: str, amount: str, quantity: str
) -> None:
    prices = prices_of(tmp_path, table("transcription", f"- {{rate: {rate}}}", unit=per))
    (line,) = charged(prices, seconds=Decimal(seconds)).lines
    assert (line.amount, line.quantity) == (Decimal(amount), Decimal(quantity))
    assert (line.unit, line.unit_rate, line.note) == (per, Decimal(rate), "")


@pytest.mark.parametrize(
    ("places", "amount"),
    [("", "0.000138888889"), ("line_places: 30", f"0.000{'1' + '3' + '8' * 24}9"), ("line_places: 0", "0")],
)
def test_a_version_says_to_how_many_places(tmp_path: Path, places: str, amount: str) -> None:
    prices = prices_of(tmp_path, table("transcription", "- {rate: 0.5}", version=places, unit="audio_hour"))
    (line,) = charged(prices, seconds=1).lines
    assert line.amount == Decimal(amount) == nearest(Fraction(1, 7200), 30 if "30" in places else 0 if places else 12)


def test_each_line_is_rounded_once_and_the_total_is_their_sum(tmp_path: Path) -> None:
    rates = "- {tokens: input, rate: 1}; - {tokens: cache_input, rate: 0.3}; - {tokens: output, rate: 2}"
    prices = prices_of(tmp_path, table("text", rates))
    quote = charged(
        prices,
        usage={"prompt_tokens": 8, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
    )
    amounts = [line.amount for line in quote.lines]
    assert amounts == [Decimal("0.002333333333"), Decimal("0.0001"), Decimal("0.000666666667")]
    assert quote.total == quote.exact == sum(amounts) == Decimal("0.0031")
    assert [line.quantity for line in quote.lines][1:] == [Decimal("0.000333333333")] * 2
    estimate = prices.estimate_text("m", prompt_tokens=8, max_completion_tokens=1)
    assert estimate.lowest <= Decimal("0.0008") < Decimal("0.003333333334") <= estimate.highest


@pytest.mark.parametrize(
    ("options", "seconds", "charge", "note"),
    [
        ("started: 60", "61.2", "120", "61.2 counted; charged in blocks of 60"),
        ("started: 60", "0", "0", ""),
        ("started: 60", "0.01", "60", "0.01 counted; charged in blocks of 60"),
        ("started: 60", "59.99", "60", "59.99 counted; charged in blocks of 60"),
        ("started: 60", "60", "60", ""),
        ("started: 60", "60.01", "120", "60.01 counted; charged in blocks of 60"),
        ("started: 0.5", "0.7", "1", "0.7 counted; charged in blocks of 0.5"),
        ("at_least: 10", "0", "0", ""),
        ("at_least: 10", "9.99", "10", "9.99 counted; at least 10 charged"),
        ("at_least: 10", "10", "10", ""),
        ("at_least: 10", "10.01", "10.01", ""),
        ("included: 30", "0", "0", ""),
        ("included: 30", "29.99", "0", "29.99 counted; 30 included"),
        ("included: 30", "30", "0", "30 counted; 30 included"),
        ("included: 30", "30.01", "0.01", "30.01 counted; 30 included"),
        ("included: 0", "7", "7", ""),
        # Options apply in this order: included units, the least charge, whole blocks.
        ("included: 30; at_least: 10; started: 60", "30", "0", "30 counted; 30 included"),
        (
            "included: 30; at_least: 10; started: 60",
            "31",
            "60",
            "31 counted; 30 included; at least 10 charged; charged in blocks of 60",
        ),
        ("included: 30; at_least: 10; started: 60", "90", "60", "90 counted; 30 included"),
        (
            "included: 30; at_least: 10; started: 60",
            "90.01",
            "120",
            "90.01 counted; 30 included; charged in blocks of 60",
        ),
        ("at_least: 10; started: 4", "1", "12", "1 counted; at least 10 charged; charged in blocks of 4"),
        ("included: 1; at_least: 2", "3", "2", "3 counted; 1 included"),
    ],
)
def test_what_is_charged_of_a_count(tmp_path: Path, options: str, seconds: str, charge: str, note: str) -> None:
    prices = prices_of(tmp_path, table("transcription", "- {rate: 0.006}", options))
    (line,) = charged(prices, seconds=Decimal(seconds)).lines
    assert line.count == Decimal(charge)
    assert line.amount == Decimal(charge) * Decimal("0.0001")
    assert line.note == note
    assert line.quantity == nearest(Fraction(charge) / 60, 12)


def test_further_input_images_are_those_of_each_image(tmp_path: Path) -> None:
    text = (
        table("transcription", "- {rate: 0.11}")
        .replace("transcription", "edit")
        .replace("per-audio-second", "per-image")
        .replace("audio_minute", "image")
        .replace("{seconds: 0}, total: 0", "{input_images: 3}, total: 0.12")
        .replace(
            "        rounding",
            "          - charge: inputs\n            method: per-input-image\n            unit: input_image\n"
            "            included: 1\n            started: 2\n            rates:\n              - {rate: 0.005}\n"
            "        rounding",
        )
    )
    prices = prices_of(tmp_path, text)
    assert len(charged(prices, input_images=1, n=5).lines) == 1
    for inputs, count, note in (
        (2, 10, "2 counted; 1 included; charged in blocks of 2; times 5"),
        (3, 10, "3 counted; 1 included; times 5"),
        (4, 20, "4 counted; 1 included; charged in blocks of 2; times 5"),
    ):
        line = charged(prices, input_images=inputs, n=5).lines[1]
        assert (line.count, line.note, line.amount) == (count, note, count * Decimal("0.005"))


@pytest.mark.parametrize(
    ("seconds", "rest"),
    [("0", "0.05"), ("499", "0.0001"), ("499.99", "0.000001"), ("500", ""), ("500.01", "")],
)
def test_a_request_costs_at_least_its_minimum(tmp_path: Path, seconds: str, rest: str) -> None:
    prices = prices_of(
        tmp_path, table("transcription", "- {rate: 0.006}", version="minimum: 0.05", unit="audio_minute", total="0.05")
    )
    quote = charged(prices, seconds=Decimal(seconds))
    assert quote.total == quote.exact == sum(line.amount for line in quote.lines)
    assert quote.total == max(Decimal("0.05"), Decimal(seconds) * Decimal("0.0001"))
    if not rest:
        assert len(quote.lines) == 1
        return
    first, line = quote.lines
    assert (line.sku, line.count, line.unit_rate, line.amount) == ("m-minimum", 1, Decimal(rest), Decimal(rest))
    assert line.source == "t0.yaml:11"
    assert prices.tables.models["m"].versions[0].charges[0].rates[0].source == first.source == "t0.yaml:17"
    assert line.note.endswith("charged; a request costs at least 0.05")
    (written,) = [row for row in quote.to_dict()["lines"] if row["sku"] == "m-minimum"]
    assert written["amount"] == rest


@pytest.mark.parametrize(
    ("minimum", "tokens", "skus"),
    [
        # The minimum applies before rounding: 2/3 of 0.001 is below it, though it would not be if rounded up.
        ("0.000666666667", 2, 1),
        ("0.000666666666", 2, 1),
        ("0.0006666666669", 2, 1),
        ("0.000666666668", 2, 2),
        ("0.001", 2, 2),
        ("0.001", 3, 1),
        ("0.001", 4, 1),
    ],
)
def test_the_minimum_is_held_against_the_sum_of_the_lines(tmp_path: Path, minimum: str, tokens: int, skus: int) -> None:
    rates = "- {tokens: input, rate: 1}; - {tokens: output, rate: 1}"
    prices = prices_of(tmp_path, table("text", rates, version=f"minimum: {minimum}", total=minimum))
    quote = charged(prices, usage={"prompt_tokens": tokens, "completion_tokens": 0})
    assert len(quote.lines) == skus
    assert quote.total == max(nearest(Fraction(tokens, 3000), 12), Decimal(minimum) if skus > 1 else Decimal(0))
    assert quote.tokens == (tokens, 0)


def test_rounding_does_not_take_a_request_below_its_minimum(tmp_path: Path) -> None:
    rates = "- {tokens: input, rate: 1}; - {tokens: output, rate: 1}"
    text = table("text", rates, version="minimum: 0.0006; line_places: 3", total="0.0006")
    quote = charged(prices_of(tmp_path, text), usage={"prompt_tokens": 1, "completion_tokens": 1})
    assert [line.amount for line in quote.lines] == [0, 0, Decimal("0.0006")]


def test_searches_come_on_top_of_the_minimum(tmp_path: Path) -> None:
    search = (
        table("transcription", "- {rate: 10}", unit="krequest")
        .replace("model: m", "model: search")
        .replace("type: transcription", "type: surcharge")
        .replace("per-audio-second", "surcharge")
        .replace("{seconds: 0}", "{count: 0}")
    )
    rates = "- {tokens: input, rate: 3}; - {tokens: output, rate: 3}"
    version = "surcharges: {web_search: search}; minimum: 0.01; factors: [{service_tier: batch, factor: 0.5}]"
    prices = prices_of(tmp_path, table("text", rates, version=version, total="0.01"), search)
    usage = {"prompt_tokens": 12, "completion_tokens": 0}
    quote = charged(prices, usage=usage, web_search_requests=2)
    assert [line.sku for line in quote.lines] == ["m-llm-input-token_block", "search-krequest"]
    assert quote.total == Decimal("0.032")
    # The minimum applies after factors: half of 0.012 is 0.004 below it, whatever the searches cost.
    quote = charged(prices, usage=usage, web_search_requests=2, service_tier="batch")
    assert [line.amount for line in quote.lines] == [Decimal("0.006"), Decimal("0.004"), Decimal("0.02")]
    assert quote.total == quote.exact == Decimal("0.03")
    estimate = prices.estimate_text("m", prompt_tokens=1, max_completion_tokens=0)
    assert (estimate.lowest, estimate.highest) == (Decimal("0.01"), Decimal("0.01"))


def test_seconds_of_video_by_the_minute(tmp_path: Path) -> None:
    text = (
        table("transcription", "- {rate: 0.5}", unit="video_minute")
        .replace("type: transcription", "type: video\n    mode: text-to-video")
        .replace("per-audio-second", "duration-rate")
        .replace("        charges", "        accepts: {duration: [5s, 6s], audio: none}\n        charges")
        .replace("rounding: none", "rounding: {places: 2, mode: half-up}")
        .replace("usage: {seconds: 0}, total: 0", "request: {duration: 6s}, total: 0.05")
    )
    prices = prices_of(tmp_path, text)
    (line,) = (quote := prices.quote_video({"model": "m", "duration": "5s"})).lines
    assert (line.amount, line.quantity, line.count) == (Decimal("0.041666666667"), Decimal("0.083333333333"), 5)
    assert quote.total == Decimal("0.04")


def with_fee(version: str, total: str, options: str = "", counts: str = "request") -> str:
    """A table of tokens, and a fee of 0.002 for each of something else."""
    rates = "- {tokens: input, rate: 3}; - {tokens: output, rate: 3}"
    fee = "          - {charge: fee, method: count, unit: UNIT, OPTIONSrates: [{rate: 0.002}]}\n        rounding"
    fee = fee.replace("OPTIONS", options).replace("UNIT", f"fee_{counts}")
    return table("text", rates, version=version, total=total).replace("        rounding", fee, 1)


FEES = UNITS + "  - {unit: fee_request, counts: request, per: 1}\n  - {unit: fee_page, counts: page, per: 3}\n"


def test_fees_of_a_request_are_part_of_what_a_minimum_is_compared_with(tmp_path: Path) -> None:
    for number, (version, total, tokens, amounts) in enumerate((
        ("minimum: 0.01", "0.01", 7, ["0.007", "0.002", "0.001"]),
        ("minimum: 0.01", "0.01", 8, ["0.008", "0.002"]),
        ("minimum: 0.01", "0.01", 9, ["0.009", "0.002"]),
        ("", "0.002", 1, ["0.001", "0.002"]),
    )):  # fmt: skip
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "meters.yaml").write_text("meters:\n  - {meter: page}\n")
        (folder / "units.yaml").write_text(FEES)
        (folder / "t.yaml").write_text(with_fee(version, total))
        prices = ratecard.load_rate_card(folder).at(date(2026, 10, 1))
        quote = charged(prices, usage={"prompt_tokens": tokens, "completion_tokens": 0})
        assert [line.amount for line in quote.lines] == [Decimal(amount) for amount in amounts]
        assert quote.total == quote.exact == sum(map(Decimal, amounts))
        estimate = prices.estimate_text("m", prompt_tokens=tokens, max_completion_tokens=0)
        assert estimate.lowest == estimate.highest == quote.total


def test_blocks_of_what_a_meter_counts(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "meters.yaml").write_text("meters:\n  - {meter: page}\n")
    (folder / "units.yaml").write_text(FEES)
    text = with_fee("", "0.002", "included: 1, started: 3, ", "page").replace(
        "total: 0.002", "counts: {page: 4}, total: 0.002"
    )
    (folder / "t.yaml").write_text(
        text.replace(
            "usage: {prompt_tokens: 0, completion_tokens: 0}, counts: {page: 4}",
            "usage: {prompt_tokens: 0, completion_tokens: 0, counts: {page: 4}}",
        )
    )
    prices = ratecard.load_rate_card(folder).at(date(2026, 10, 1))
    for pages, count, note in (
        (4, 3, "4 counted; 1 included"),
        (5, 6, "5 counted; 1 included; charged in blocks of 3"),
    ):
        usage = {"prompt_tokens": 0, "completion_tokens": 0}
        line = charged(prices, usage=usage, counts={"page": pages}).lines[-1]
        assert (line.count, line.amount, line.note) == (count, Decimal("0.002") * count / 3, note)
    with pytest.raises(ratecard.QuoteError) as refused:
        prices.estimate_text("m", prompt_tokens=1, max_completion_tokens=0)
    assert list(refused.value.problems) == [(("counts", "page"), "Required")]
    estimate = prices.estimate_text("m", prompt_tokens=1, max_completion_tokens=0, counts={"page": 12})
    usage = {"prompt_tokens": 1, "completion_tokens": 0}
    assert estimate.lowest == estimate.highest == charged(prices, usage=usage, counts={"page": 12}).total
