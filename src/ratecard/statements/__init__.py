"""Statements of a month: what an account pays, line by line, with the terms of its contract."""

from ratecard.statements.change import MonthChange as MonthChange
from ratecard.statements.issued import IssuedDifference as IssuedDifference
from ratecard.statements.issued import Statement as Statement
from ratecard.statements.issued import differences as differences
from ratecard.statements.lines import Rated as Rated
from ratecard.statements.lines import StatementError as StatementError
from ratecard.statements.lines import StatementLine as StatementLine
from ratecard.statements.make import statement as statement
from ratecard.statements.settle import TermLine as TermLine

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
