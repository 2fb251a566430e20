"""One input that ratecard could take for something that it is not, and what each entry point answers to it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InputCase:
    """`answer` is what `act` returns: "refused: ...", "listed: ..." or "priced: ...".

    A `guard` was answered so before it was written down here; every other case failed then.
    """

    given: str
    entry: str  # python, cli, http, ledger, tables or simulation
    act: Callable[[], str]
    answer: str
    guard: bool = False

    def __str__(self) -> str:
        return f"{self.entry}: {self.given}"
