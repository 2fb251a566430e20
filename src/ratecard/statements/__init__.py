"""Statements of a month: what an account pays, line by line, with the terms of its contract."""

from ratecard.statements.issued import IssuedDifference, MonthChange, Statement, differences
from ratecard.statements.lines import Rated, StatementError, StatementLine
from ratecard.statements.make import statement
from ratecard.statements.settle import TermLine

__all__ = [
    "IssuedDifference",
    "MonthChange",
    "Rated",
    "Statement",
    "StatementError",
    "StatementLine",
    "TermLine",
    "differences",
    "statement",
]
