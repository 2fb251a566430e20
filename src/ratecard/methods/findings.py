"""Findings of checks of tables: each at its place in the file, and once for several cases of one charge."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from ratecard.base.messages import Finding, Path
from ratecard.tables.rate import Charge, Rate

CheckOfCharge = Callable[[Charge], Iterable[Finding]]


def below(at: Path, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Return the findings of a part with their paths in the whole, where the part is `at` a path."""
    return (((*at, *path), words) for path, words in findings)


def listed_twice(rows: str, key: str, names: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding for each row of a list that has the name of an earlier row."""
    earlier_names = set[str]()
    for index, name in enumerate(names):
        if name in earlier_names:
            yield (rows, index, key), f"{key} '{name}' is listed twice; keep one"
        earlier_names.add(name)


def placed(findings: Iterable[Finding], numbered: Sequence[tuple[int, Rate]]) -> Iterator[Finding]:
    """Yield findings of some rates of a charge, at the indexes that these rates have in the whole charge."""
    for path, words in findings:
        in_rates = path[:1] == ("rates",) and path[1:]
        yield (*path[:1], numbered[int(path[1])][0], *path[2:]) if in_rates else path, words


def of_all_cases(cases: Iterable[tuple[str, Sequence[Finding]]]) -> Iterator[Finding]:
    """Yield the findings of all cases, each once; a finding of only some cases names the first of them."""
    cases_of, count = dict[Finding, list[str]](), 0
    for count, (case, findings) in enumerate(cases, 1):  # noqa: B007 (the last is how many there are)
        for finding in findings:
            cases_of.setdefault(finding, []).append(case)
    for (path, words), cases_with in cases_of.items():
        yield path, words if len(cases_with) == count or not cases_with[0] else f"{words} ({cases_with[0]})"
