"""The answers of a simulation: totals, groups, attribution, customers, margin, targets."""
