"""A folder of one's own has the shipped units and meters, and nothing that belongs to this service alone."""

import json
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import ratecard
from ratecard import PriceBook, QuoteError, TableError
from ratecard.accounts import CurrencyError
from ratecard.limits import LimitError
from ratecard.load import folder as folder_of
from ratecard.load.folder import load_tables, shipped_folder
from ratecard.tables.limits import NO_LIMITS

TABLE = """family: mine
models:
  - model: talker
    name: Talker
    type: text
    currency: EUR
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list
        rounding: none
        charges:
          - {charge: tokens, method: tokens, unit: UNIT, rates: [{tokens: [input, output], rate: 1}]}
        examples:
          - {usage: {prompt_tokens: 1000, completion_tokens: 0}, total: TOTAL}
"""
USAGE: dict[str, Any] = {"type": "text", "model": "talker", "usage": {"prompt_tokens": 10, "completion_tokens": 0}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.yaml").write_text(TABLE.replace("UNIT", "mtoken").replace("TOTAL", "0.001"))
    return tmp_path


@pytest.fixture
def prices(folder: Path) -> PriceBook:
    return ratecard.load_rate_card(folder).at(ratecard.load_rate_card(folder).boundaries()[0])


def refused(prices: PriceBook, usage: dict[str, Any]) -> str:
    with pytest.raises(QuoteError) as caught:
        prices.rate(usage)
    return json.dumps(caught.value.body())


def test_its_units_and_meters_are_laid_over_the_shipped_ones(folder: Path) -> None:
    (folder / "mine.yaml").write_text(TABLE.replace("UNIT", "dozen").replace("TOTAL", "0.001"))
    (folder / "units.yaml").write_text("units:\n  - {unit: dozen, counts: token, per: 1000000}\n")
    tables = load_tables(folder)
    assert list(tables.units) == [*load_tables().units, "dozen"]
    assert tables.meters == load_tables().meters
    (folder / "units.yaml").write_text("units:\n  - {unit: mtoken, counts: token, per: 10}\n")
    (folder / "mine.yaml").write_text(TABLE.replace("UNIT", "mtoken").replace("TOTAL", "100"))
    assert load_tables(folder).units["mtoken"].per == 10


def test_it_has_no_limits_balances_or_ended_endpoints(prices: PriceBook) -> None:
    assert prices.limits is NO_LIMITS
    assert prices.limits.scraped_urls == 10**9
    with pytest.raises(LimitError, match="type 'image' has no limit for everybody"):
        prices.limits_for("image")
    assert prices.sunset("GET /billing/usage") is None
    quote = prices.rate(USAGE)
    assert (str(quote.total), quote.currency) == ("0.000010", "EUR")
    for balance in ("DIEM", "BUNDLED_CREDITS", "VCU"):
        with pytest.raises(CurrencyError):
            quote.ledger_entries(timestamp=prices.instant, request_id="r", currency=balance)
    [row] = quote.ledger_entries(timestamp=prices.instant, request_id="r")
    assert (row.currency, row.amount) == ("EUR", Decimal("-0.00001"))


def test_it_has_no_rpc_and_no_service_parameters(prices: PriceBook) -> None:
    assert "no model of type rpc" in refused(prices, {"type": "rpc", "network": "ethereum-mainnet", "calls": []})
    parameters = USAGE | {"service_parameters": {"enable_web_search": "on"}}
    assert "Unrecognized key(s) in object: 'service_parameters'" in refused(prices, parameters)
    named = USAGE | {"model": "talker:enable_web_search=on"}
    assert "Specified model not found: talker:enable_web_search=on" in refused(prices, named)
    with pytest.raises(QuoteError, match="no service parameters"):
        prices.estimate_text(
            "talker", prompt_tokens=1, max_completion_tokens=1, service_parameters={"disable_thinking": True}
        )


def test_its_own_vocabulary_may_have_them(folder: Path) -> None:
    usage, own = USAGE | {"model": "talker:disable_thinking=true"}, folder / "vocabulary.yaml"
    own.write_bytes((shipped_folder() / "vocabulary.yaml").read_bytes())
    card = ratecard.load_rate_card(folder)
    quote = card.at(card.boundaries()[0]).rate(usage)
    assert quote.ignored == ("service_parameters.disable_thinking",)
    own.write_text(own.read_text().replace("service_parameters: true", ""))
    assert "Specified model not found" in refused(ratecard.load_rate_card(folder).at(card.boundaries()[0]), usage)


def test_no_word_of_this_service_is_in_what_it_says(prices: PriceBook) -> None:
    said = [refused(prices, USAGE | {"model": "other"}), refused(prices, USAGE | {"usage": {"tokens": 1}})]
    said.append(json.dumps(prices.rate(USAGE).to_dict()))
    assert not any(word in text.lower() for text in said for word in ("venice", "diem", "grok", "web_search"))


@pytest.fixture
def shipped_anew() -> Iterator[None]:
    """Forget the remembered shipped tables before and after."""
    known = (folder_of.shipped_units, folder_of.shipped_meters, folder_of._vocabulary, folder_of.shipped_limits)
    for each in known:
        each.cache_clear()
    yield
    for each in known:
        each.cache_clear()


@pytest.mark.usefixtures("shipped_anew")
@pytest.mark.parametrize("name", ["units.yaml", "meters.yaml", "vocabulary.yaml"])
def test_a_fault_of_a_shipped_file_is_said_with_its_place(
    folder: Path, name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a checkout's own tables, which are those that ship, are being edited."""
    shipped = tmp_path_factory.mktemp("shipped")
    shutil.copytree(shipped_folder(), shipped, dirs_exist_ok=True)
    with (shipped / name).open("a", encoding="utf-8") as file:
        file.write("mistyped: 1\n")
    monkeypatch.setattr(folder_of, "shipped_folder", lambda: shipped)
    with (folder / "mine.yaml").open("a") as file:  # the fixtures remember tables that were loaded before
        file.write(f"# beside {name}\n")
    for tables in (folder, shipped):
        with pytest.raises(TableError) as caught:
            load_tables(tables)
        assert [fault.file for fault in caught.value.faults] == [name]
        assert "unknown key 'mistyped'" in str(caught.value)
