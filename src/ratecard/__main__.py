"""`python -m ratecard`."""

from ratecard.cli import main

main()
