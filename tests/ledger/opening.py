"""Opens a ledger in a process of its own: `python opening.py URL` opens it when its input ends, and prints its rows."""

import sys

from ratecard.ledger import open_ledger

if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    with open_ledger(sys.argv[1]) as ledger:
        sys.stdout.write(f"{ledger.walk('a').rows}\n")
