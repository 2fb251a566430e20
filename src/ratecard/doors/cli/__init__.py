"""The command `ratecard`: one command a file."""

from ratecard.doors.cli.main import main

__all__ = ["main"]
