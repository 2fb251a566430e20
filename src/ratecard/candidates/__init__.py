"""Candidates: proposed prices, read from a file and laid over the tables."""
