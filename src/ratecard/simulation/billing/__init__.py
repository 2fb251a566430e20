"""The re-rating of the rows of a billing export."""
