"""Two workers, tables swapped under load, every other time for broken ones: a small run of `make test-swaps`."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_no_request_fails_and_no_answer_is_of_refused_tables() -> None:
    options = {"--swaps": 2, "--swap-every": 0.3, "--kill-every": 0, "--stop-every": 0}
    words = [word for name, value in options.items() for word in (name, str(value))]
    command = [sys.executable, "benchmarks/serve_soak.py", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 answers with 5xx, 0 wrong" in done.stdout
    assert "2 swaps, 1 of them broken" in done.stdout
