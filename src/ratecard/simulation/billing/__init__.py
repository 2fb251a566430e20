"""Re-rates the rows of a billing export."""
