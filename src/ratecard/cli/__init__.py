"""The command `ratecard`: one command a file."""

from ratecard.cli.commands import main

__all__ = ["main"]
