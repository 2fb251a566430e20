"""A question that the usage history refuses, with every error at its parameter."""

from collections.abc import Sequence
from typing import Any

from ratecard.words.errors import RateCardError
from ratecard.words.tree import Path, error_tree

_ERROR = "Invalid query parameters"


class RefusedError(RateCardError):
    """Query parameters that are answered with 400."""

    def __init__(self, problems: Sequence[tuple[Path, str]]) -> None:
        super().__init__(_ERROR, problems)
        self.problems = tuple(problems)

    def body(self) -> dict[str, Any]:
        """The error object: a sentence, and the tree of errors."""
        return {"error": _ERROR, "details": error_tree(self.problems)}
