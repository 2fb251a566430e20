"""What many shapes, models and further candidates have in common is found once."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rows import table_of
from usage import ROWS, row

from ratecard import simulate
from ratecard.simulation.answers.rows import EVEN, Row, made_rows
from ratecard.simulation.groups.roll_up import uncollected
from ratecard.simulation.groups.shapes import UsageShape
from ratecard.simulation.prices.pricer import Pricer

HEAD = "effective: 2026-10-01\nproposed_by: tests\nwhy: to see what it does\nchanges:\n"


def candidate(folder: Path, factor: str) -> Path:
    path = folder / f"times {factor}.yaml"
    path.write_text(f"candidate: times {factor}\n{HEAD}  - {{scale: {{type: text}}, factor: {factor}}}\n")
    return path


def counted(monkeypatch: pytest.MonkeyPatch, of: type, name: str) -> list[Any]:
    """The calls of a method, from now on."""
    calls: list[Any] = []
    whole: Callable[..., Any] = getattr(of, name)

    def called(self: object, *arguments: Any) -> Any:
        calls.append(arguments)
        return whole(self, *arguments)

    monkeypatch.setattr(of, name, called)
    return calls


def test_a_row_that_is_made_quickly_is_a_row_like_any_other() -> None:
    parts: Any = (("m", None), 2, (), (1, 2), (EVEN,))
    (made,) = made_rows(*([part] for part in parts))
    assert (type(made), made, hash(made), repr(made)) == (Row, Row(*parts), hash(Row(*parts)), repr(Row(*parts)))
    assert made.beside() is EVEN


def test_what_every_card_refuses_is_looked_at_once_for_all_further_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[UsageShape] = []
    incomplete: Any = vars(UsageShape)["incomplete"]

    def looked_at(self: UsageShape) -> Any:
        seen.append(self)
        return incomplete.fget(self)

    monkeypatch.setattr(UsageShape, "incomplete", property(looked_at))
    rows = [*ROWS, row("text", "claude-opus-4-6", "a", prompt_tokens=5)]
    with simulate(table_of(rows), None, candidate(tmp_path, "1.1"), by=["model"]) as found:
        found.against(candidate(tmp_path, "1.2"))
        before = len(seen)
        priced = counted(monkeypatch, Pricer, "price")
        further = found.against(candidate(tmp_path, "1.3"))
        assert [each.rows for each in further.unpriced] == [each.rows for each in found.unpriced]
    assert (before > 0, len(seen)) == (True, before)
    # What is charged; not what has no completion, or more cached tokens than its prompt.
    assert len(priced) == 1


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_of_the_host_is_left_alone(monkeypatch: pytest.MonkeyPatch, enabled: bool) -> None:
    """Its collector pauses, and none of its objects are moved to another generation."""
    frozen = counted_calls(monkeypatch)
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with uncollected():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()
    assert not frozen


def counted_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that move all objects of a process, each as often as it is called from now on."""
    calls: list[str] = []
    for name in ("freeze", "unfreeze", "collect"):
        monkeypatch.setattr(gc, name, lambda *_, name=name: calls.append(name))
    return calls
