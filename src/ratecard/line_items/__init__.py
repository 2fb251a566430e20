"""Calculators: a request shape and a rate make a line item. Pure: no clock, no I/O, no state."""

from ratecard.line_items.ledger_entry import InferenceDetails, LedgerEntry
from ratecard.line_items.quote import LineRate, PricedVersion

__all__ = ["InferenceDetails", "LedgerEntry", "LineRate", "PricedVersion"]
