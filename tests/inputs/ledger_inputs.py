"""Money that is in another currency than it seems, or in none that is known."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner
from fastapi import FastAPI
from input_case import InputCase
from starlette.testclient import TestClient

from currencies import FILM, PICTURE, SHIPPED, TABLES, card_in, limits_with
from ratecard import RateCardError
from ratecard.accounts import settle, within_limits
from ratecard.base.money import plain, text
from ratecard.cli import main
from ratecard.history import usage_history_router
from ratecard.ledger import open_ledger, read_ledger
from ratecard.load.folder import LIMITS
from ratecard.server import router
from ratecard.simulation.prices.sides import AsBilled
from ratecard.simulation.simulate import simulate

WHEN = datetime(2026, 10, 1, tzinfo=UTC)
DAY, SKU = "2026-10-01T00:00:00Z", "picture-fixed-1K-1img"
QUOTES = {name: card_in(name).at(WHEN).rate(PICTURE) for name in ("USD", "EUR")}
ROW = {"timestamp": "2026-10-01", "sku": "s", "pricePerUnitUsd": 2, "unit": 1, "amount": -2, "currency": "USD"}


def answered(act: Callable[[], str]) -> Callable[[], str]:
    """Its answer, or the refusal."""

    def answer() -> str:
        try:
            return act()
        except (RateCardError, ValueError) as error:
            return f"refused: {error}"

    return answer


def booked(of: str, **paid: Any) -> Callable[[], str]:
    """Return a function that appends and returns the new rows: price, amount, currency."""

    def act() -> str:
        with TemporaryDirectory() as folder, open_ledger(f"sqlite:///{folder}/ledger.db") as ledger:
            ledger.append(QUOTES[of], account="a", request_id="r", timestamp=WHEN, **paid)
            rows = [row.to_dict() for row in ledger.page("a", ledger.walk("a")).entries]
        names = ("pricePerUnitUsd", "pricePerUnit", "unit", "amount", "currency")
        return "priced: " + "; ".join(" ".join(f"{name} {row[name]}" for name in names if name in row) for row in rows)

    return answered(act)


def read(**changed: Any) -> Callable[[], str]:
    def act() -> str:
        [row] = read_ledger(json.dumps([{name: value for name, value in (ROW | changed).items() if value is not None}]))
        return f"priced: {row.amount} {row.currency}"

    return answered(act)


def history(parameters: dict[str, str]) -> str:
    """The amounts of the usage history of two charges, in EUR and in USD."""
    with TemporaryDirectory() as folder, open_ledger(f"sqlite:///{folder}/ledger.db") as ledger:
        for name, quote in QUOTES.items():
            ledger.append(quote, account="a", request_id=name, timestamp=WHEN)
        app = FastAPI()
        app.include_router(usage_history_router(ledger, lambda: "a", secret="sixteen signs or more"))  # noqa: S106
        answer = TestClient(app).get("/billing/usage-history", params=parameters)
    if answer.status_code != 200:
        return f"refused: {answer.json()['details']['currency']['_errors'][0]}"
    return "priced: " + "; ".join(f"{row['amount']} {row['currency']}" for row in answer.json()["data"])


def quoted_over_http(currency: str) -> Callable[[], str]:
    def act() -> str:
        app = FastAPI()
        app.include_router(router(card_in(currency)))
        body = {name: value for name, value in FILM.items() if name != "type"}
        return "priced: " + TestClient(app).post("/api/v1/video/quote", json=body).text

    return act


def within(**more: Any) -> Callable[[], str]:
    key = {"consumptionLimits": {"usd": "100", "diem": "0.5", "vcu": "2"}}
    return answered(lambda: f"priced: {within_limits(QUOTES[more.pop('of', 'USD')], key, **more)}")


def within_record(key: Mapping[str, Any]) -> Callable[[], str]:
    return answered(lambda: f"priced: {within_limits(QUOTES['USD'], key)}")


def command(*arguments: str, files: Mapping[str, bytes]) -> Callable[[], str]:
    """The first fault that a command says, or its last line, run in a folder with these files."""

    def act() -> str:
        with TemporaryDirectory() as folder:
            for name, content in files.items():
                Path(folder, name).write_bytes(content)
            done = CliRunner().invoke(main, [each.replace("FOLDER", folder) for each in arguments])
            lines = [line.strip() for line in done.output.replace(folder, "FOLDER").strip().splitlines()]
            said = next((line for line in lines if ".yaml:" in line), lines[-1])
        return f"{'refused' if done.exit_code else 'priced'}: {said}"

    return act


def database(change: str) -> bytes:
    """A ledger whose schema was changed by another release."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "ledger.db")
        open_ledger(f"sqlite:///{file}").close()
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute(change)
            connection.commit()
        return file.read_bytes()


def tables(currency: str, rates: str = SHIPPED) -> dict[str, bytes]:
    return {"tables.yaml": TABLES.format(currency=currency).encode(), LIMITS: limits_with(rates)}


def export(*rows: str) -> dict[str, bytes]:
    head = "timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes,requestId"
    return {"export.csv": "\n".join((head, *rows, "")).encode()}


def simulated(*rows: str) -> Callable[[], str]:
    """Return a function that prices an export as it was billed: its total, and unpriced or disputed rows."""

    def act() -> str:
        with TemporaryDirectory() as folder:
            file = Path(folder, "export.csv")
            file.write_bytes(export(*rows)["export.csv"])
            card = card_in("USD", "{DIEM: 0.8, BUNDLED_CREDITS: 1}")
            with simulate(str(file), AsBilled("as-billed", card), by=()) as found:
                if found.unpriced:
                    return f"refused: {found.unpriced[0].reason}"
                listed = [f"listed: {each.rows} {each.reason}" for each in found.disputed]
                return "; ".join([*listed, f"priced: {text(plain(found.total.amounts[0]))}"])

    return act


UNCLOSED = (
    'timestamp,sku,pricePerUnitUsd,unit,amount,currency,notes\n2026-10-01,s,2,1,-2,USD,"n\n2026-10-01,s,2,1,-2,USD,n\n'
)
TWICE = json.dumps([ROW])[:-2] + ', "amount": -9}]'
PAID = {"DIEM": Decimal("0.5"), "USD": Decimal("1.5")}
NO_VCU = "currency='VCU' has no rate in limits.yaml. Allowed: USD, DIEM, BUNDLED_CREDITS"
NO_NAME = "which is not a name of a balance. Write capitals, digits and _, and no ISO 4217 code"
KNOWN = "Allowed: USD, DIEM, BUNDLED_CREDITS or another ISO 4217 code"
NEWER = (
    "the ledger's database has schema 9, of a newer release; this one knows schema 4. "
    "Upgrade ratecard, or open another database. Nothing was changed"
)
FILTER = "Invalid enum value. Expected 'USD' | 'DIEM' | 'BUNDLED_CREDITS' | another ISO 4217 code, received"
IN_USD = "pricePerUnitUsd 2 unit 1 amount -2 currency"
EXACT = "does not divide a dollar into an exact decimal, so charges could be inexact. Write one like 1, 0.5 or 0.8"

RATES_LINE = limits_with().decode().partition("    rates: ")[0].count("\n") + 1

LEDGER_INPUTS = [
    InputCase("a quote in EUR is booked", "ledger", booked("EUR"),
              "priced: pricePerUnit 2 unit 1 amount -2 currency EUR"),
    InputCase("a quote in EUR, paid from DIEM", "ledger", booked("EUR", currency="DIEM"),
              "refused: currency='DIEM' cannot pay what is priced in EUR. Allowed: EUR"),
    InputCase("a quote in EUR, paid in USD", "ledger", booked("EUR", currency="USD"),
              "refused: currency='USD' cannot pay what is priced in EUR. Allowed: EUR"),
    InputCase("a quote in USD", "ledger", booked("USD"), f"priced: {IN_USD} USD", guard=True),
    InputCase("a quote in USD, paid from DIEM", "ledger", booked("USD", currency="DIEM"), f"priced: {IN_USD} DIEM",
              guard=True),
    InputCase("a quote in USD, paid in VCU", "ledger", booked("USD", currency="VCU"), f"refused: {NO_VCU}"),
    InputCase("a charge of two balances", "ledger", booked("USD", paid=PAID),
              "priced: pricePerUnitUsd 2 unit 1 amount -0.5 currency DIEM; "
              "pricePerUnitUsd 2 unit 0 amount -1.5 currency USD"),
    InputCase("parts that are less than the charge", "ledger", booked("USD", paid={"DIEM": Decimal(1)}),
              "refused: paid adds up to 1 USD, but the charge is 2 USD"),
    InputCase("a row in EUR with a price in USD", "ledger", read(currency="EUR"),
              "refused: row 1: pricePerUnitUsd of a row in EUR. Its price is pricePerUnit, and no other"),
    InputCase("a row with two prices", "ledger", read(pricePerUnit=2),
              "refused: row 1: pricePerUnit of a row in USD. Its price is pricePerUnitUsd, and no other"),
    InputCase("a row in EUR", "ledger", read(currency="EUR", pricePerUnitUsd=None, pricePerUnit=2), "priced: -2 EUR"),
    InputCase("a row in usd", "ledger", read(currency="usd"),
              f"refused: row 1: currency 'usd' is not known. Did you mean 'USD'? {KNOWN}"),
    InputCase("a row in VCU", "ledger", read(currency="VCU"),
              f"refused: row 1: currency 'VCU' has no stated rate. {KNOWN}"),
    InputCase("a column that is there twice", "ledger",
              answered(lambda: f"priced: {read_ledger('timestamp,sku,pricePerUnitUsd,unit,amount,amount,currency')}"),
              "refused: the heading has amount twice"),
    InputCase("a row whose two names of the count disagree", "ledger", read(units=9),
              "refused: row 1: units 9 is not what unit says. Keep one"),
    InputCase("a key that is twice in a row of JSON", "ledger",
              answered(lambda: f"priced: {read_ledger(TWICE)}"),
              "refused: an object has the key 'amount' twice; keep one"),
    InputCase("a quotation mark that takes the rows after it in", "ledger",
              answered(lambda: f"priced: {len(read_ledger(UNCLOSED))} rows"),
              "refused: after line 1: not CSV: unexpected end of data"),
    InputCase("VCU against a limit in VCU", "python", within(currency="vcu"), f"refused: {NO_VCU}"),
    InputCase("a quote in EUR against a limit in USD", "python", within(of="EUR"),
              "refused: currency='EUR' has no spending limit. Allowed: usd, diem, vcu"),
    InputCase("what was spent in an unknown currency", "python", within(spent={"euro": Decimal(99)}),
              "refused: spent has 'euro'. Allowed: usd, diem, vcu"),
    InputCase("what was spent in USD, in capitals", "python", within(spent={"USD": Decimal(99)}), "priced: False"),
    InputCase("what was spent in USD, said twice", "python", within(spent={"USD": Decimal(99), "usd": Decimal(0)}),
              "refused: spent has 'usd' twice; keep one"),
    *(InputCase(f"{spent} that was spent", "python", within(spent=spent),
                f"refused: spent={spent!r} must be a {allowed}")
      for allowed, amounts in (("Decimal or an int; a float has lost its digits already", (0.5, "0.5", True)),
                               ("finite number, zero or more", (Decimal("NaN"), Decimal(-1))))
      for spent in amounts),
    InputCase("nothing known of what was spent in USD", "python", within(spent={"usd": None}),
              "refused: spent['usd']=None must be a Decimal or an int; a float has lost its digits already"),
    *(InputCase(f"{field} in capitals in a key record", "python", within_record({field: {"USD": "1", "vcu": None}}),
                f"refused: {field} has 'USD'. Allowed: usd, diem, vcu")
      for field in ("consumptionLimits", "currentPeriodUsage")),
    InputCase("a currency that is a number", "python", within(currency=5),
              "refused: currency='5' has no spending limit. Allowed: usd, diem, vcu"),
    InputCase("each part against its own limit", "python", within(paid=PAID), "priced: True"),
    InputCase("more DIEM than their limit", "python", within(paid={"DIEM": Decimal(2)}), "priced: False"),
    InputCase("an amount in USD out of EUR", "python",
              answered(lambda: f"priced: {settle(Decimal(2), {'EUR': Decimal(9)})}"),
              "refused: balances has 'EUR'. Allowed: DIEM, BUNDLED_CREDITS, USD", guard=True),
    InputCase("a quote in EUR out of EUR", "python",
              answered(lambda: f"priced: {settle(QUOTES['EUR'], {'EUR': Decimal(9)})}"),
              "priced: {'EUR': Decimal('2')}"),
    InputCase("the quote of a model in EUR", "http", quoted_over_http("EUR"),
              'priced: {"quote":0.51,"currency":"EUR"}'),
    InputCase("the quote of a model in USD", "http", quoted_over_http("USD"), 'priced: {"quote":0.51}', guard=True),
    InputCase("the history in EUR", "http", lambda: history({"currency": "EUR"}), "priced: -2 EUR"),
    InputCase("the history in every currency", "http", lambda: history({}), "priced: -2 USD; -2 EUR"),
    InputCase("the history in EUX", "http", lambda: history({"currency": "EUX"}), f"refused: {FILTER} 'EUX'"),
    InputCase("a table in VCU", "tables", command("check", "FOLDER", files=tables("VCU")),
              "refused: tables.yaml:6: currency 'VCU' is not an ISO 4217 code. Write three capitals, like USD"),
    InputCase("a DIEM that divides no dollar", "tables", command("check", "FOLDER", files=tables("USD", "{DIEM: 3}")),
              f"refused: limits.yaml:{RATES_LINE}: DIEM '3' {EXACT}"),
    InputCase("a rate of a balance in small letters", "tables",
              command("check", "FOLDER", files=tables("USD", "{diem: 1}")),
              f"refused: limits.yaml:{RATES_LINE}: rates has 'diem', {NO_NAME}"),
    InputCase("a rate of a currency", "tables", command("check", "FOLDER", files=tables("USD", "{EUR: 1}")),
              f"refused: limits.yaml:{RATES_LINE}: rates has 'EUR', {NO_NAME}"),
    InputCase("a ledger of a newer release", "cli",
              command("serve", "--no-auth", "--database", "sqlite:///FOLDER/ledger.db",
                      files={"ledger.db": database("UPDATE ledger_schema SET version = 9")}),
              f"refused: Error: Invalid value for --database: {NEWER}"),
    InputCase("DIEM at their own rate", "simulation", simulated(f"{DAY},{SKU},2,1,-2.5,DIEM,picture,r"), "priced: 2"),
    InputCase("DIEM billed as dollars", "simulation", simulated(f"{DAY},{SKU},2,1,-2,DIEM,picture,r"),
              "listed: 1 amount: is not unit x pricePerUnitUsd; priced: 1.6"),
    InputCase("the two rows of a split charge", "simulation",
              simulated(f"{DAY},{SKU},2,1,-1,DIEM,picture,r", f"{DAY},{SKU},2,0,-1.2,USD,picture,r"), "priced: 2"),
    InputCase("a row in EUR among dollars", "simulation", simulated(f"{DAY},{SKU},2,1,-2,EUR,picture,r"),
              "refused: currency: charged in EUR, and amounts are added in USD"),
]  # fmt: skip
