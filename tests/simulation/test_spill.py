"""The folders to which the engine spills: what a dead process left behind is removed, a living one is left alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ratecard.simulation.workspace import Workspace

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
