"""Floor 3: the billing ledger: rows of a charge, and how they are written and read."""
