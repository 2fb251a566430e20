"""Statements of a month: what an account pays, line by line, with the terms of its contract."""

from ratecard.statements.change import MonthChange as MonthChange
from ratecard.statements.lines import Rated as Rated
from ratecard.statements.lines import StatementError as StatementError
from ratecard.statements.lines import Summed as Summed
from ratecard.statements.make import statement as statement
from ratecard.statements.settle import TermLine as TermLine
from ratecard.statements.statement import IssuedDifference as IssuedDifference
from ratecard.statements.statement import Statement as Statement
from ratecard.statements.statement import differences as differences

__all__ = [
    "IssuedDifference",
    "MonthChange",
    "Rated",
    "Statement",
    "StatementError",
    "Summed",
    "TermLine",
    "differences",
    "statement",
]
