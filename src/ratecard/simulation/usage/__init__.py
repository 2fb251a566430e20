"""Usage: which files and rows are read, and how they are grouped by shape."""
