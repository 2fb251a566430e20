"""Floor 1: frozen models of what finance writes: units, vocabulary, rates, charges, versions, models."""
