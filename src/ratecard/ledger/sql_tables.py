"""The tables of a ledger in a database: accounts, the requests they were charged for, and the rows of these."""

from decimal import Decimal

from sqlalchemy import BigInteger, Column, Dialect, Index, Integer, MetaData, Numeric, Table, Text, TypeDecorator
from sqlalchemy.types import TypeEngine

from ratecard.words.money import text

METADATA = MetaData()


class Exact(TypeDecorator[Decimal]):
    """A decimal with all its digits: NUMERIC where a database has it, text in SQLite, whose own numbers are floats."""

    impl = Numeric
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Decimal] | TypeEngine[str]:
        """Text for SQLite, NUMERIC without bounds for any other."""
        return dialect.type_descriptor(Text()) if dialect.name == "sqlite" else dialect.type_descriptor(Numeric())

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Decimal | str | None:
        """Digits for SQLite."""
        return text(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Decimal | str | None, dialect: Dialect) -> Decimal | None:
        """The same digits again."""
        return None if value is None else Decimal(value)


# One row: which of the forms of these tables a database has.
SCHEMA = Table("ledger_schema", METADATA, Column("version", Integer, primary_key=True, autoincrement=False))

# `rows` counts an account's rows. An append adds to it first and so holds this line until it commits: the rows of an
# account are numbered 1, 2, 3 ... in the order of the commits, and "the rows up to N" never gains a row later.
ACCOUNTS = Table(
    "ledger_accounts",
    METADATA,
    Column("account", Text, primary_key=True),
    Column("rows", BigInteger, nullable=False),
)

# Its key is what makes an append idempotent. `last` and `rows` say which rows are the request's; there may be none.
REQUESTS = Table(
    "ledger_requests",
    METADATA,
    Column("account", Text, primary_key=True),
    Column("request_id", Text, primary_key=True),
    Column("last", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
)

ENTRIES = Table(
    "ledger_entries",
    METADATA,
    Column("account", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("instant", BigInteger, nullable=False, comment="microseconds since 1970-01-01T00:00:00Z"),
    Column("sku", Text, nullable=False),
    Column("price_per_unit", Exact, nullable=False),  # in US dollars, or in the currency of a row that has another
    Column("unit", Exact, nullable=False),
    Column("amount", Exact, nullable=False),
    Column("currency", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("execution_ms", BigInteger),
    Column("prompt_tokens", BigInteger),
    Column("completion_tokens", BigInteger),
)

# The order of the usage history; with the currency, rows are counted without being read.
Index("ledger_entries_in_time", ENTRIES.c.account, ENTRIES.c.instant, ENTRIES.c.number, ENTRIES.c.currency)
