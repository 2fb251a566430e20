"""The ledger in a database: quotes are appended once, and read in the order of time."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from types import TracebackType
from typing import Self

from sqlalchemy import ColumnElement, Connection, and_, func, insert, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite

from ratecard.ledger.checks import check_count, check_moment, check_name
from ratecard.ledger.database import connect, connected
from ratecard.ledger.errors import LedgerConflictError
from ratecard.ledger.rows import difference, entry_of, row_of
from ratecard.ledger.sql_tables import ACCOUNTS, ENTRIES, REQUESTS
from ratecard.ledger.walk import AFTER_ALL, BEFORE_ALL, Page, Walk, instant_of
from ratecard.rating.ledger_entry import LedgerEntry
from ratecard.rating.quote import Quote


class Ledger:
    """The ledger of any number of accounts. One may be shared by threads; each process opens its own."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        # The same words in both dialects, but no common statement.
        self._insert = sqlite.insert if self._engine.dialect.name == "sqlite" else postgresql.insert

    def append(
        self,
        quote: Quote,
        *,
        account: str,
        request_id: str,
        timestamp: datetime,
        execution_ms: int | None = None,
        currency: str | None = None,
        paid: Mapping[str, Decimal] | None = None,
    ) -> bool:
        """Charge an account for a request: all rows of the quote or none, and once, however often it is tried.

        The rows are in the currency of the quote; `currency` is a balance that pays all of it, and `paid` what each of
        several balances pays, as `settle` splits it. True where the request was new; False where it was charged
        already, and then the first timestamp and execution time stay. Raises `LedgerConflictError` where it was charged
        for something else or paid otherwise, `CurrencyError` for a currency that cannot pay it, `InstantError` for a
        naive timestamp, `LedgerError` for a name that cannot be kept, and `LedgerUnavailableError` without a database.
        """
        check_name("account", account)
        check_name("request_id", request_id)
        check_count("execution_ms", execution_ms)
        for count in quote.tokens or ():
            check_count("tokens", count)
        entries = quote.ledger_entries(
            timestamp=timestamp, request_id=request_id, execution_ms=execution_ms, currency=currency, paid=paid
        )
        check_moment(timestamp)
        with connected(self._engine) as connection:
            last = self._count(connection, account, len(entries))
            if not self._claim(connection, account, request_id, last, len(entries)):
                connection.rollback()
                self._compare(connection, account, request_id, entries)
                return False
            if entries:
                first, instant = last - len(entries) + 1, instant_of(timestamp)
                rows = [row_of(account, first + place, instant, entry) for place, entry in enumerate(entries)]
                connection.execute(insert(ENTRIES), rows)
            connection.commit()
        return True

    def walk(
        self,
        account: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        currency: str | None = None,
        size: int = 1000,
    ) -> Walk:
        """Begin to read an account's rows from `start` on and before `end`; pages of `size` rows.

        What is appended from now on is not part of the walk, wherever in time it belongs.
        """
        if size < 1:
            raise ValueError(f"size={size}. Allowed: 1 or more")
        instant = BEFORE_ALL if start is None else instant_of(start)
        before = AFTER_ALL if end is None else instant_of(end)
        with connected(self._engine) as connection:
            rows = connection.scalar(select(ACCOUNTS.c.rows).where(ACCOUNTS.c.account == account)) or 0
            # Numbers begin at 1: the place (start, 0) is before every row of that instant.
            walk = Walk(size, before, currency, rows, 0, 1, instant, 0)
            total = connection.scalar(select(func.count()).select_from(ENTRIES).where(_ahead(account, walk)))
        return walk._replace(total=total or 0)

    def page(self, account: str, walk: Walk) -> Page:
        """The next rows of a walk, in the order of time, and of the appends where the time is the same."""
        query = select(ENTRIES).where(_ahead(account, walk)).order_by(ENTRIES.c.instant, ENTRIES.c.number)
        with connected(self._engine) as connection:
            rows = connection.execute(query.limit(walk.size + 1)).all()
        shown = rows[: walk.size]
        more = len(rows) > len(shown)
        after = walk._replace(page=walk.page + 1, instant=shown[-1].instant, number=shown[-1].number) if more else None
        return Page(tuple(map(entry_of, shown)), after)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _count(self, connection: Connection, account: str, rows: int) -> int:
        """Add to the account's count of rows, and so keep every other append to it waiting; the new count."""
        new = self._insert(ACCOUNTS).values(account=account, rows=rows)
        added = new.on_conflict_do_update(
            index_elements=[ACCOUNTS.c.account], set_={"rows": ACCOUNTS.c.rows + new.excluded.rows}
        )
        count: int = connection.execute(added.returning(ACCOUNTS.c.rows)).scalar_one()
        return count

    def _claim(self, connection: Connection, account: str, request_id: str, last: int, rows: int) -> bool:
        """Whether the request is new."""
        new = self._insert(REQUESTS).values(account=account, request_id=request_id, last=last, rows=rows)
        claimed = new.on_conflict_do_nothing().returning(REQUESTS.c.last)
        return connection.execute(claimed).first() is not None

    def _compare(self, connection: Connection, account: str, request_id: str, entries: Sequence[LedgerEntry]) -> None:
        ours = and_(REQUESTS.c.account == account, REQUESTS.c.request_id == request_id)
        request = connection.execute(select(REQUESTS).where(ours)).one()
        rows = and_(
            ENTRIES.c.account == account,
            ENTRIES.c.number.between(request.last - request.rows + 1, request.last),
        )
        kept = connection.execute(select(ENTRIES).where(rows).order_by(ENTRIES.c.number)).all()
        if differs := difference(tuple(map(entry_of, kept)), entries):
            raise LedgerConflictError(f"request {request_id!r} is in the ledger already, and not the same: {differs}")


def _ahead(account: str, walk: Walk) -> ColumnElement[bool]:
    """Which rows are ahead of where a walk stands."""
    ahead = [
        ENTRIES.c.account == account,
        ENTRIES.c.number <= walk.rows,
        tuple_(ENTRIES.c.instant, ENTRIES.c.number) > tuple_(walk.instant, walk.number),
        ENTRIES.c.instant < walk.end,
    ]
    return and_(*ahead) if walk.currency is None else and_(*ahead, ENTRIES.c.currency == walk.currency)
