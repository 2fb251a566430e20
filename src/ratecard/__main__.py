"""`python -m ratecard`."""

from ratecard.doors.cli import main

main()
