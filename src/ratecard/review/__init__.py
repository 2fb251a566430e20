"""Compare tables, check which changes are allowed, and write accepted candidates into the files."""
