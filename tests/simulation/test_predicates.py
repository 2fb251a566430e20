"""What prices ask of groups is the same, whether all models of a candidate are looked at or those that it changes."""

from pathlib import Path

import pytest

from ratecard.simulation.groups.predicates import Predicates
from shipped import CARD

KNOWN = Predicates.of([CARD])


@pytest.mark.parametrize(
    "scaled", ["model: openai-gpt-56-sol", "type: video", "type: text", "type: surcharge", "type: rpc", "type: speech"]
)
def test_what_a_candidate_changes_is_enough(scaled: str, tmp_path: Path) -> None:
    path = tmp_path / "candidate.yaml"
    head = "candidate: dearer\neffective: 2031-02-03\nproposed_by: tests\nwhy: to see\n"
    path.write_text(f"{head}changes:\n  - scale: {{{scaled}}}\n    factor: 1.5\n", encoding="utf-8")
    candidate = CARD.with_candidate(path)
    asked = Predicates.of([CARD, candidate], known=KNOWN)
    assert asked == Predicates.of([CARD, candidate])
    assert asked != KNOWN
