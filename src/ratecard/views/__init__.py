"""Other ways to look at prices: explanation, price sheet, schema."""
