"""What the engine holds in memory, and the folders to which it spills the rest.

What a dead process left behind is removed, a living one is left alone.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ratecard import simulate
from ratecard.base.errors import SimulationError
from ratecard.simulation.demo_usage import demo_usage
from ratecard.simulation.workspace import Workspace
from shipped import FEW

ANOTHER = """
import sys
from ratecard.simulation.workspace import Workspace
workspace = Workspace()
(workspace.folder / "spilled").write_bytes(b"x")
print(workspace.folder, flush=True)
sys.stdin.read()
"""


def test_the_folder_of_a_dead_process_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "ratecard-of-another").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", ANOTHER],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        first = Workspace()
        assert (theirs / "spilled").exists()
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert (theirs / "spilled").exists()
        second = Workspace()
        assert not theirs.exists()
    assert first.folder.exists()
    assert (tmp_path / "ratecard-of-another").exists()
    for workspace in (first, second):
        workspace.close()
        assert not workspace.folder.exists()


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("usage") / "usage.parquet"
    demo_usage(path, 30_000, seed=1, customers=20_000, card=FEW)
    return path


@pytest.mark.parametrize("memory", ["5MB", "14MB", "16MB", "18MB", "24MB", "1GB"])
def test_too_little_memory_is_said_wherever_it_is_met(memory: str, usage: Path, tmp_path: Path) -> None:
    """While usage is read, grouped, priced or written; with enough of it, the answer is right."""
    said = (
        r"DuckDB needs more memory than the [\d.]+ MiB that it may use\. Give it more, such as --memory 4GB, or group"
    )
    try:
        with simulate(usage, FEW, "2026-10-01", by=("model", "day", "customer"), memory=memory) as found:
            found.write(tmp_path / "groups.parquet")
            assert found.rows == 30_000
            assert memory != "5MB"
    except SimulationError as error:
        assert re.search(said, str(error))
        assert memory != "1GB"
        assert not (tmp_path / "groups.parquet").exists()
