"""Calculators: a request shape and a rate make a line item. Pure: no clock, no I/O, no state."""
