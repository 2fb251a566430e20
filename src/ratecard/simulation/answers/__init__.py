"""What a simulation finds: totals, groups, attribution, customers, margin, targets."""
