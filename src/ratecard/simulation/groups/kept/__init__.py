"""Roll-ups that are kept in a folder: groups of usage as Parquet, and a manifest that says what they distinguish."""
