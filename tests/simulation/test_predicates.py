"""What prices ask of groups is the same, whether all models of a candidate are looked at or those that it changes."""

from pathlib import Path

import pytest
from candidate_files import candidate

from ratecard.simulation.groups.predicates import Predicates
from shipped import CARD

KNOWN = Predicates.of([CARD])


@pytest.mark.parametrize(
    "scaled", ["model: openai-gpt-56-sol", "type: video", "type: text", "type: surcharge", "type: rpc", "type: speech"]
)
def test_what_a_candidate_changes_is_enough(scaled: str, tmp_path: Path) -> None:
    changed = CARD.with_candidate(candidate(tmp_path, f"{{scale: {{{scaled}}}, factor: 1.5}}", day="2031-02-03"))
    asked = Predicates.of([CARD, changed], known=KNOWN)
    assert asked == Predicates.of([CARD, changed])
    assert asked != KNOWN
