"""Faults of a charge that is checked in several cases: at each of its hours, and under each of its conditions."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from ratecard.base.messages import Finding
from ratecard.tables.rate import Charge, Rate

CheckOfCharge = Callable[[Charge], Iterable[Finding]]


def placed(findings: Iterable[Finding], numbered: Sequence[tuple[int, Rate]]) -> Iterator[Finding]:
    """Findings of some of the rates of a charge, at the lines that these have in the charge."""
    for path, words in findings:
        in_rates = path[:1] == ("rates",) and path[1:]
        yield (*path[:1], numbered[int(path[1])][0], *path[2:]) if in_rates else path, words


def of_all_cases(cases: Iterable[tuple[str, Sequence[Finding]]]) -> Iterator[Finding]:
    """The findings of all cases, each once; one that is not of all of them says the first that has it."""
    found, count = dict[Finding, list[str]](), 0
    for count, (case, findings) in enumerate(cases, 1):  # noqa: B007 (the last is how many there are)
        for finding in findings:
            found.setdefault(finding, []).append(case)
    for (path, words), of in found.items():
        yield path, words if len(of) == count or not of[0] else f"{words} ({of[0]})"
