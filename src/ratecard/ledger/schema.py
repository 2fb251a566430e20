"""The tables of the ledger's database: accounts, the requests that they were charged for, refunds, and the rows.

They are checked when a ledger is opened, created in a new database, and migrated from an earlier release.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from decimal import Decimal

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Dialect,
    Index,
    Integer,
    MetaData,
    Numeric,
    Table,
    Text,
    TypeDecorator,
    delete,
    insert,
    inspect,
    select,
)
from sqlalchemy import text as statement
from sqlalchemy.types import TypeEngine

from ratecard.base.errors import LedgerError
from ratecard.base.money import text

METADATA = MetaData()


class Exact(TypeDecorator[Decimal]):
    """A decimal with all its digits: NUMERIC in PostgreSQL, text in SQLite, whose numbers are floats."""

    impl = Numeric
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Decimal] | TypeEngine[str]:
        """Return text for SQLite, else NUMERIC without bounds."""
        return dialect.type_descriptor(Text()) if dialect.name == "sqlite" else dialect.type_descriptor(Numeric())

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Decimal | str | None:
        """Return the digits as text for SQLite, else the decimal itself."""
        return text(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Decimal | str | None, dialect: Dialect) -> Decimal | None:
        """Return a decimal of the same digits."""
        return None if value is None else Decimal(value)


# One row: the version of the schema.
SCHEMA = Table("ledger_schema", METADATA, Column("version", Integer, primary_key=True, autoincrement=False))

# `rows` counts an account's rows. An append adds to it first, and so locks this row until it commits: the rows of an
# account are numbered 1, 2, 3 ... in the order of the commits, and "the rows up to N" never change later.
ACCOUNTS = Table(
    "ledger_accounts",
    METADATA,
    Column("account", Text, primary_key=True),
    Column("rows", BigInteger, nullable=False),
)

# The key makes appends idempotent. The request has `rows` rows (or 0), the last of which has the number `last`.
# `content` is the fingerprint of what was charged: its usage, its timestamp, who pays; null where only rows were given.
REQUESTS = Table(
    "ledger_requests",
    METADATA,
    Column("account", Text, primary_key=True),
    Column("request_id", Text, primary_key=True),
    Column("last", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("content", Text),
)

# Refunds have the same columns, and an id of their own; `request_id` is that of the charge.
REFUNDS = Table(
    "ledger_refunds",
    METADATA,
    Column("account", Text, primary_key=True),
    Column("refund_id", Text, primary_key=True),
    Column("request_id", Text, nullable=False),
    Column("last", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("content", Text, nullable=False),
)
Index("ledger_refunds_of_a_request", REFUNDS.c.account, REFUNDS.c.request_id)

ENTRIES = Table(
    "ledger_entries",
    METADATA,
    Column("account", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("instant", BigInteger, nullable=False, comment="microseconds since 1970-01-01T00:00:00Z"),
    Column("sku", Text, nullable=False),
    Column("price_per_unit", Exact, nullable=False),  # in US dollars, or in the row's currency if that is another one
    Column("unit", Exact, nullable=False),
    Column("amount", Exact, nullable=False),
    Column("currency", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("execution_ms", BigInteger),
    Column("prompt_tokens", BigInteger),
    Column("completion_tokens", BigInteger),
    Column("worth", Exact),  # of one unit of `currency`, in the currency of the price; null in rows of earlier releases
    Column("contract", Text),  # whose price the row has; null for a price of the list
)

# The order of the usage history. It includes the currency, so that the index alone is enough to count rows.
Index("ledger_entries_in_time", ENTRIES.c.account, ENTRIES.c.instant, ENTRIES.c.number, ENTRIES.c.currency)


# Releases with schema 1 did not write its number: all rows were in US dollars, and the price was in the column
# `price_per_unit_usd`. Schema 2 had no refunds, and neither `content` nor `worth`; schema 3 had no `contract`.
_CURRENT, _WITHOUT_CONTRACTS, _WITHOUT_REFUNDS, _UNNOTED = 4, 3, 2, 1
_FIRST_TABLES = {table.name for table in (ACCOUNTS, REQUESTS, ENTRIES)}
_BEFORE_2 = "price_per_unit_usd"
# The advisory lock of PostgreSQL under which a ledger is created or migrated.
_LOCK = 0x7261_7465_6361_7264
_FIX = "Open it with the release that wrote it, or restore a backup; a ledger of your own needs an empty database"


def prepare(connect: Callable[[], AbstractContextManager[Connection]]) -> None:
    """Create or migrate the tables if they are not of this release: in one transaction, and in one process only.

    Raises `LedgerError` for a schema of a newer release, and for tables that are not a ledger's.
    """
    # A current schema needs no lock or write. Anything else is decided under the lock: others may migrate it now.
    with connect() as connection, suppress(LedgerError):
        if _version(connection) == _CURRENT:
            return
    with connect() as connection:
        _take_lock(connection)
        version = _version(connection)  # another process may have migrated it meanwhile
        if version == _UNNOTED:
            connection.execute(statement(f"ALTER TABLE {ENTRIES.name} RENAME COLUMN {_BEFORE_2} TO price_per_unit"))
        added = [REQUESTS.c.content, ENTRIES.c.worth] if version in (_UNNOTED, _WITHOUT_REFUNDS) else []
        for column in [*added, ENTRIES.c.contract] if version not in (0, _CURRENT) else []:
            kind = column.type.compile(connection.dialect)
            connection.execute(statement(f"ALTER TABLE {column.table.name} ADD COLUMN {column.name} {kind}"))
        if version != _CURRENT:
            METADATA.create_all(connection)
            connection.execute(delete(SCHEMA))
            connection.execute(insert(SCHEMA).values(version=_CURRENT))
        connection.commit()


def _take_lock(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        # The file keeps this mode, in which readers never wait for a writer.
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # Python begins a transaction too late for CREATE TABLE
    else:
        connection.execute(statement("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def _version(connection: Connection) -> int:
    """Return the version of a database's schema; 0 if there is no ledger yet."""
    inspector = inspect(connection)
    tables = set(inspector.get_table_names())
    if SCHEMA.name in tables:
        columns = [column["name"] for column in inspector.get_columns(SCHEMA.name)]
        versions = list(connection.scalars(select(SCHEMA.c.version))) if columns == ["version"] else []
        if versions in ([_CURRENT], [_WITHOUT_CONTRACTS], [_WITHOUT_REFUNDS]):
            return int(versions[0])
        if len(versions) == 1 and isinstance(versions[0], int) and versions[0] > _CURRENT:
            raise LedgerError(
                f"the ledger's database has schema {versions[0]}, of a newer release; this one knows schema {_CURRENT}."
                " Upgrade ratecard, or open another database. Nothing was changed"
            )
        raise _unknown(f"{', '.join(map(str, versions)) or 'none'} in {SCHEMA.name}")
    if not tables & _FIRST_TABLES:
        return 0
    if missing := sorted(_FIRST_TABLES - tables):
        raise _unknown(f"it has no {', '.join(missing)}")
    if _BEFORE_2 not in {column["name"] for column in inspector.get_columns(ENTRIES.name)}:
        raise _unknown(f"{ENTRIES.name} has no column {_BEFORE_2}")
    return _UNNOTED


def _unknown(words: str) -> LedgerError:
    return LedgerError(f"the schema of the ledger's database is not known: {words}. {_FIX}")
