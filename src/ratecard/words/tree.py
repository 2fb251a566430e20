"""The nested `_errors` tree that API clients parse, for request bodies and for tables alike."""

from collections.abc import Iterable
from typing import Any

ErrorTree = dict[str, Any]
Path = tuple[str | int, ...]


def error_tree(problems: Iterable[tuple[Path, str]]) -> ErrorTree:
    """The tree of these (path, message) pairs, in the order given.

    The root and every node on the way to a problem have `_errors`; an array index is a string key. A path part that is
    itself called `_errors` ends the way there, so that a hostile key can neither break the tree nor forge a node.

    >>> error_tree([(("refs", 2), "Required")])
    {'_errors': [], 'refs': {'_errors': [], '2': {'_errors': ['Required']}}}
    """
    root: ErrorTree = {"_errors": []}
    for path, message in problems:
        node = root
        for part in path:
            if part == "_errors":
                break
            node = node.setdefault(str(part), {"_errors": []})
        node["_errors"].append(str(message))  # plain text, whatever is known of the message inside
    return root
