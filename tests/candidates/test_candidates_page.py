"""The page for finance: its candidate is sound, its keys are all there, and its words about folders are true."""

import re
from datetime import date
from pathlib import Path

import pytest
from overlays import copy_of_shipped

from copied_tables import copy_with_shared
from ratecard import RateCard, TableError, load_rate_card
from ratecard.review.promote import promotion
from ratecard.tables.candidate import KINDS, Candidate
from readme_blocks import CANDIDATES, ROOT

PAGE = (ROOT / CANDIDATES).read_text(encoding="utf-8")
EXAMPLE = re.findall(r"^```yaml\n# \S+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    text, _ = EXAMPLE  # the second one brings a contract
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    return tmp_path / "c.yaml"


def test_the_candidate_of_the_page_is_sound_and_can_be_promoted(card: RateCard, tmp_path: Path, path: Path) -> None:
    new = card.with_candidate(path)
    day, before = date(2027, 3, 1), date(2027, 2, 28)
    body = {"model": "kling-o3-pro-text-to-video", "duration": "10s", "audio": True}
    assert [str(new.at(each).quote_video(body).total) for each in (before, day)] == ["1.54", "1.70"]
    added = {"model": "ovi-2-image-to-video", "duration": "10s"}
    assert str(new.at(day).quote_video(added).total) == "0.50"
    folder = copy_of_shipped(tmp_path / "tables")
    assert promotion(folder, path, date(2027, 2, 1)).digest == new.digest


def test_the_page_names_every_key_of_a_candidate(path: Path) -> None:
    known = {*Candidate.model_fields, *(name for kind in KINDS.values() for name in kind.model_fields)}
    assert not [name for name in known if f"`{name}" not in PAGE]


def test_a_candidate_among_tables_is_refused_as_a_bad_table(tmp_path: Path, path: Path) -> None:
    folder = copy_with_shared(tmp_path / "tables", "video/ovi.yaml")
    (folder / "candidates").mkdir()
    path.rename(folder / "candidates" / "c.yaml")
    with pytest.raises(TableError, match=r"candidates/c.yaml:1: unknown key 'candidate'. Allowed here: family, models"):
        load_rate_card(folder)
