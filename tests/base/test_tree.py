"""The nested `_errors` tree, rule by rule of errors.md."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard.base.errors import Fault, QuoteError, RateCardError, TableError
from ratecard.base.messages import ErrorTree, Path, error_tree

TREES: dict[str, tuple[list[tuple[Path, str]], ErrorTree]] = {
    "no problem": ([], {"_errors": []}),
    "of the body": ([((), "Required")], {"_errors": ["Required"]}),
    "of a field": ([(("a",), "x")], {"_errors": [], "a": {"_errors": ["x"]}}),
    "every node on the way": ([(("a", "b"), "x")], {"_errors": [], "a": {"_errors": [], "b": {"_errors": ["x"]}}}),
    "an index is text": ([(("refs", 2), "x")], {"_errors": [], "refs": {"_errors": [], "2": {"_errors": ["x"]}}}),
    "several in order": ([(("a",), "y"), (("a",), "x")], {"_errors": [], "a": {"_errors": ["y", "x"]}}),
    "holder and held": (
        [(("a", 0), "x"), (("a",), "y"), ((), "z")],
        {"_errors": ["z"], "a": {"_errors": ["y"], "0": {"_errors": ["x"]}}},
    ),
    "fields in order": (
        [(("b",), "x"), (("a",), "y")],
        {"_errors": [], "b": {"_errors": ["x"]}, "a": {"_errors": ["y"]}},
    ),
    "a hostile key": ([(("_errors",), "x")], {"_errors": ["x"]}),
    "a hostile key inside": ([(("a", "_errors", "b"), "x")], {"_errors": [], "a": {"_errors": ["x"]}}),
}
PATHS = st.lists(st.sampled_from(["a", "b", "_errors", 0, 1]), max_size=5).map(tuple)


@pytest.mark.parametrize(("problems", "tree"), TREES.values(), ids=list(TREES))
def test_the_tree(problems: list[tuple[Path, str]], tree: ErrorTree) -> None:
    found = error_tree(problems)
    assert found == tree
    assert list(found) == list(tree)


@given(st.lists(st.tuples(PATHS, st.text())))
def test_every_node_has_its_errors_and_no_message_is_lost(problems: list[tuple[Path, str]]) -> None:
    messages: list[str] = []
    nodes: list[Any] = [error_tree(problems)]
    while nodes:
        node = nodes.pop()
        assert all(isinstance(key, str) for key in node)
        messages += node["_errors"]
        nodes += [part for key, part in node.items() if key != "_errors"]
    assert sorted(messages) == sorted(message for _, message in problems)


def test_a_quote_error_with_problems_has_a_tree() -> None:
    error = QuoteError("Invalid request body", [(("refs", 2), "Required"), ((), "Wrong")])
    tree = {"_errors": ["Wrong"], "refs": {"_errors": [], "2": {"_errors": ["Required"]}}}
    assert error.details == tree
    assert error.body() == {"error": "Invalid request body", "details": tree}
    assert str(error) == "Invalid request body\n  refs.2: Required\n  body: Wrong"
    assert isinstance(error, RateCardError)


def test_a_quote_error_that_is_one_sentence_has_no_details() -> None:
    error = QuoteError("Specified model not found: x")
    assert error.details is None
    assert error.body() == {"error": "Specified model not found: x"}
    assert str(error) == "Specified model not found: x"


def test_an_error_as_json_keeps_every_letter() -> None:
    error = QuoteError("Größe", [(("a",), 'say "5s"')])
    assert error.to_json() == '{"error":"Größe","details":{"_errors":[],"a":{"_errors":["say \\"5s\\""]}}}'.encode()


def test_a_table_error_has_the_same_tree_below_the_file() -> None:
    faults = [Fault("a.yaml", 3, ("models", 0), "x"), Fault("a.yaml", 1, (), "y")]
    error = TableError(faults)
    models = {"_errors": [], "0": {"_errors": ["a.yaml:3: x"]}}
    tree = {"_errors": [], "a.yaml": {"_errors": ["a.yaml:1: y"], "models": models}}
    assert error.body() == {"error": "2 faults in the tables", "details": tree}
    assert str(error) == "a.yaml:3: x\na.yaml:1: y"
    assert error.faults == tuple(faults)
