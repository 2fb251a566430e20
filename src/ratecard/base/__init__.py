"""Errors and their wording, money, instants. Imports the standard library only."""
