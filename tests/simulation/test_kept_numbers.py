"""Numbered shapes that are kept beside a roll-up are used where they are those that were asked for, and never else."""

import shutil
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from kept_roll_ups import answers

from ratecard import rollup
from ratecard.changes.sides import Side
from ratecard.simulation.demo.usage import demo_usage
from ratecard.simulation.simulate import simulate
from ratecard.simulation.usage.kept import numbering
from ratecard.simulation.usage.roll_up import RollUp
from shipped import CARD as SHIPPED

NOW = Side("now", SHIPPED)
DEARER = Side("then", SHIPPED.with_candidate(Path(__file__).parent / "dearer.yaml"))
THEN = Side("one day", SHIPPED, datetime.fromisoformat("2026-10-01T00:00Z"))
LATER = """
candidate: later
effective: 2026-10-07
proposed_by: tests
why: tests
changes:
  - scale: {type: text}
    factor: 1.3
"""


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made up") / "usage.parquet"
    demo_usage(path, 400, seed=3, card=SHIPPED, bad_share=Decimal("0.1"))
    return path


@pytest.fixture
def kept(usage: Path, tmp_path: Path) -> Path:
    rollup(usage, tmp_path / "kept", NOW, by=["model", "customer"])
    return tmp_path / "kept"


@pytest.fixture
def numbered(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many parts were numbered since it was last asked."""
    done, number = list[str](), RollUp._number

    def numbering_of(*given: Any) -> None:
        done.append(given[2].name)
        number(*given)

    monkeypatch.setattr(RollUp, "_number", numbering_of)

    def count() -> int:
        found = len(done)
        done.clear()
        return found

    return count


def places(kept: Path) -> list[Path]:
    return sorted((kept / "numbers").iterdir())


def test_a_further_simulation_that_asks_the_same_numbers_nothing(
    usage: Path, kept: Path, numbered: Callable[[], int]
) -> None:
    asked = [
        ((NOW, DEARER), {}),
        ((NOW,), {}),
        ((THEN,), {}),
        ((NOW, DEARER), {"by": ["week", "customer"]}),
        ((NOW, DEARER), {"by": ["region"]}),
    ]
    for compared, how in asked:
        expected = answers(usage, *compared, **how)
        numbered()
        found = [(answers(kept, *compared, **how), numbered()) for _ in range(2)]
        if "refused" in found[0][0]:
            assert how == {"by": ["region"]}
            continue
        assert found == [(expected, 3), (expected, 0)]
    # Chosen rows are few, and chosen otherwise each time.
    before = places(kept)
    for since in ("2026-03-01", "2026-04-01"):
        assert answers(kept, NOW, since=since) == answers(usage, NOW, since=since)
    assert places(kept) == before


def test_what_is_damaged_or_of_another_roll_up_is_made_again(
    usage: Path, kept: Path, numbered: Callable[[], int], tmp_path: Path
) -> None:
    expected = answers(usage, NOW, DEARER)
    assert answers(kept, NOW, DEARER) == expected
    part = places(kept)[0]
    named = part.name.rpartition("-")[0]
    for name in [file.name for file in part.iterdir()]:
        for damage in (lambda whole: whole[:-9], lambda _: b"", lambda whole: whole[:40] + b"?" + whole[41:]):
            (file,) = (kept / "numbers").glob(f"{named}-*/{name}")
            file.write_bytes(damage(file.read_bytes()))
            numbered()
            assert answers(kept, NOW, DEARER) == expected
            assert (numbered(), len(places(kept))) == (1, 3)
    first, second, third = places(kept)
    # Another part's, under the name of this one and with the digest of its bytes; and a part that is not whole.
    digest = second.name.rpartition("-")[2]
    shutil.rmtree(first)
    shutil.copytree(second, first.with_name(f"{first.name.rpartition('-')[0]}-{digest}"))
    (second / "cells.parquet").unlink()
    numbered()
    assert (answers(kept, NOW, DEARER), numbered(), third.is_dir()) == (expected, 2, True)
    other = tmp_path / "other"
    demo_usage(tmp_path / "other.parquet", 300, seed=4, card=SHIPPED)
    rollup(tmp_path / "other.parquet", other, NOW, by=["model", "customer"])
    shutil.copytree(kept / "numbers", other / "numbers")
    assert answers(other, NOW, DEARER) == answers(tmp_path / "other.parquet", NOW, DEARER)
    assert not {place.name for place in places(other)} & {place.name for place in places(kept)}


def test_a_further_run_of_the_roll_up_makes_them_stale(
    kept: Path, usage: Path, tmp_path: Path, numbered: Callable[[], int]
) -> None:
    answers(kept, NOW)
    before = places(kept)
    more = tmp_path / "more.parquet"
    demo_usage(more, 100, seed=5, card=SHIPPED)
    rollup([usage, more], kept, NOW, by=["model", "customer"])
    numbered()
    assert answers(kept, NOW) == answers([usage, more], NOW)
    assert not {*before} & {*places(kept)}


def test_where_they_cannot_be_written_nothing_is_kept(kept: Path, usage: Path) -> None:
    (kept / "numbers").write_text("no folder can be made here")
    assert answers(kept, NOW, DEARER) == answers(kept, NOW, DEARER) == answers(usage, NOW, DEARER)


def test_what_another_process_removes_meanwhile_is_made_again(
    kept: Path, usage: Path, monkeypatch: pytest.MonkeyPatch, numbered: Callable[[], int]
) -> None:
    expected = answers(usage, NOW, DEARER)
    assert answers(kept, NOW, DEARER) == expected and numbered()
    read = numbering.KeptNumbering.read

    def removed(*given: Any) -> dict[str, str]:
        found = read(*given)
        shutil.rmtree(kept / numbering.NUMBERS, ignore_errors=True)
        return found

    monkeypatch.setattr(numbering.KeptNumbering, "read", removed)
    assert answers(kept, NOW, DEARER) == expected and numbered()


def test_the_oldest_are_removed(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "_MOST", 3)
    answers(kept, NOW)
    first = places(kept)
    answers(kept, NOW, DEARER)
    assert len(places(kept)) == 3
    assert not {*first} & {*places(kept)}


def test_a_roll_up_that_was_not_grouped_is_grouped_for_other_days(
    kept: Path, usage: Path, tmp_path: Path, numbered: Callable[[], int]
) -> None:
    """The groups of what is numbered are made only then: whatever became of the folder."""
    path = tmp_path / "later.yaml"
    path.write_text(LATER)
    with simulate(kept, NOW, by=["model", "day"]):
        pass
    numbered()
    with simulate(kept, NOW, by=["model", "day"]) as standing:
        assert numbered() == 0
        shutil.rmtree(kept)
        further = standing.against(path)
        assert numbered() == 3
        with simulate(usage, NOW, path, by=["model", "day"]) as anew:
            assert (further.total, further.groups) == (anew.total, anew.groups)
