"""Candidates: changes laid over the tables, read from a file."""
