"""The made-up tables that candidates are laid over."""

from pathlib import Path

import pytest
from overlays import made_up


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_up(tmp_path / "tables")
