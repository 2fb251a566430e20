"""Plans are made once for each layout, and hostile layouts do not fill memory."""

from itertools import permutations
from typing import Any

import pytest

from ratecard.base.layouts import MOST_LETTERS, MOST_PLANS, Layouts


def test_a_plan_is_made_at_the_first_request_of_its_layout() -> None:
    made: list[Any] = []
    layouts = Layouts(made.append)
    for names in (("model", "duration"), ("duration", "model"), ("model", "duration"), ()):
        layouts[names]
    assert made == [("model", "duration"), ("duration", "model"), ()]


def test_however_many_layouts_are_sent_few_are_kept() -> None:
    layouts = Layouts(len)
    for names in permutations("abcdef"):
        assert layouts[names] == 6
        assert len(layouts) <= MOST_PLANS


@pytest.mark.parametrize(
    "names",
    [("x" * MOST_LETTERS,), tuple(map(str, range(MOST_LETTERS))), (1,), ("model", True), (("model",),), (b"model",)],
    ids=["long", "many", "number", "boolean", "tuple", "bytes"],
)
def test_names_that_no_client_sends_are_not_kept(names: tuple[Any, ...]) -> None:
    layouts = Layouts(list)
    assert layouts[names] == list(names)
    assert not layouts


def test_a_name_that_equals_another_has_a_plan_of_its_own() -> None:
    layouts = Layouts(repr)
    assert [layouts[names] for names in ((1,), (True,), (1.0,))] == ["(1,)", "(True,)", "(1.0,)"]
