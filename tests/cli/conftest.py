"""Few of the shipped tables, for commands that look at every model of their tables."""

from pathlib import Path

import pytest

from copied_tables import copy_with_shared
from ratecard.load import folder


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of the usage of `reports.py`, and of a few other models."""
    files = ("text/claude.yaml", "text/gpt.yaml", "video/kling-o3.yaml", "video/ovi.yaml", "audio/speech.yaml")
    return copy_with_shared(tmp_path_factory.mktemp("few"), *files)


@pytest.fixture
def few_shipped(few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """These are the tables where a command names none."""
    monkeypatch.setattr(folder, "shipped_folder", lambda: few)
