"""The command `ratecard`."""

from ratecard.cli.commands import main

__all__ = ["main"]
