"""What a table may say, as immutable models: units, field values, rates, charges, versions, models."""
