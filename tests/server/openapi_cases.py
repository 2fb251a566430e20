"""Sends what the OpenAPI description allows, and what it forbids, to a running server.

    python tests/server/openapi_cases.py 10000

Every check of schemathesis but one: that what the schema allows is accepted. Which fields matter, and their values,
vary by model, and a sunset endpoint accepts nothing.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from serving import Server, serving

KEY = "sesame-for-cases"


def send_cases(examples: int, seed: int = 1) -> dict[str, Any]:
    """Run schemathesis with `examples` for each endpoint; its report, and the answers of the server by status."""
    with TemporaryDirectory() as folder, serving(*with_charges(Path(folder)), RATECARD_API_KEYS=KEY) as server:
        path = Path(folder) / "report.json"
        command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{server.base}/openapi.json"]
        command += ["--header", f"Authorization: Bearer {KEY}", "--exclude-checks", "positive_data_acceptance"]
        command += ["--max-examples", str(examples), "--seed", str(seed), "--no-color", "--warnings", "off"]
        command += ["--continue-on-failure", "--report", "json", "--report-json-path", str(path)]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        report: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return report | {"status": done.returncode, "said": done.stdout, "answers": statuses(server)}


def with_charges(folder: Path) -> list[str]:
    """The options of a server that has every endpoint, with one key for all."""
    keys = folder / "keys"
    keys.write_text(KEY)
    return ["--database", f"sqlite:///{folder}/ledger.db", "--charge-keys", str(keys)]


def statuses(server: Server) -> dict[str, int]:
    """The number of answers by status."""
    found: dict[str, int] = {}
    for line in httpx.get(f"{server.base}/metrics").text.splitlines():
        if line.startswith("ratecard_request_seconds_count"):
            status = line.partition('status="')[2][:3]
            found[status] = found.get(status, 0) + int(float(line.rpartition(" ")[2]))
    return dict(sorted(found.items()))


def main() -> None:
    """Send at least as many cases as the argument says; the exit status is 1 if a check failed."""
    wanted = int(sys.argv[1])
    # One example makes 15 cases over all endpoints; repeated cases are not sent again.
    report = send_cases(examples=wanted * 7 // 100)
    sys.stdout.write(report["said"])
    sent = report["test_cases"]["generated"]
    sys.stdout.write(f"{sent:,} cases; answers by status: {report['answers']}\n")
    if sent < wanted:
        sys.exit(f"fewer than the {wanted:,} that were wanted")
    sys.exit(report["status"])


if __name__ == "__main__":
    main()
