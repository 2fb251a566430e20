"""Floor 3: what surrounds a charge: limits, balances, spending limits, endpoints that stopped. Pure arithmetic."""
