"""Immutable models of what a table may say: units, field values, rates, charges, versions, models."""
