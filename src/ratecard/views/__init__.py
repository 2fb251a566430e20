"""Other ways to look at prices: explanations, price sheets, and the JSON Schema of the tables."""
