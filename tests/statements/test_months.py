"""Months by their first day, over the end of a year too."""

from datetime import UTC, date, datetime

import pytest

from ratecard.base.instants import month_before, next_month
from ratecard.statements import StatementError
from ratecard.statements.make import current_month, read_month


@pytest.mark.parametrize("month", [date(2026, 1, 1), date(2026, 3, 1), date(2025, 12, 1), date(2000, 2, 1)])
def test_a_month_is_between_the_one_before_and_the_next(month: date) -> None:
    assert next_month(month_before(month)) == month_before(next_month(month)) == month
    assert (month - month_before(month)).days in range(28, 32)


def test_the_first_and_the_last_month_have_none_beside_them() -> None:
    assert (read_month("0001-02"), read_month("9999-11")) == (date(1, 2, 1), date(9999, 11, 1))
    for given in ("0001-01", "9999-12", date(2026, 10, 2), datetime(2026, 10, 1, 5, tzinfo=UTC)):
        with pytest.raises(StatementError, match="is not a month"):
            read_month(given)


def test_the_current_month_is_its_first_day() -> None:
    assert read_month(current_month()) == current_month()
