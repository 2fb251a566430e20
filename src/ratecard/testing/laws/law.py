"""A law: a property of every valid table, and the models to which it applies."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ratecard.testing.case import Case

Trial = Callable[[Case, st.DataObject], None]
_Condition = Callable[[Case], bool]
# This is enough to find a mistake that most requests show; all shipped tables are checked in less than a minute.
MAX_EXAMPLES = 10


class Law(NamedTuple):
    """A function (case, data) that raises `BrokenLawError`, and a function that says whether it applies to a case."""

    trial: Trial
    applies: _Condition

    @property
    def name(self) -> str:
        """Return the name of the function, in words."""
        return self.trial.__name__.replace("_", " ")

    @property
    def statement(self) -> str:
        """Return the law as a sentence."""
        return (self.trial.__doc__ or "").strip()


def applies_to(condition: _Condition) -> Callable[[Trial], Law]:
    """Return the decorator that makes a function the law of the cases that meet a condition."""
    return lambda trial: Law(trial, condition)


def check(law: Law, case: Case, *, max_examples: int = MAX_EXAMPLES) -> None:
    """Try a law on a case with `max_examples` random requests, always the same ones.

    Raises `BrokenLawError` with the simplest request that breaks it.

    >>> from datetime import date
    >>> from ratecard import load_rate_card
    >>> from ratecard.testing import LAWS
    >>> case = Case(load_rate_card().at(date(2026, 10, 1)), "ovi-image-to-video")
    >>> for law in LAWS:
    ...     if law.applies(case):
    ...         check(law, case, max_examples=2)
    """
    _attempts(max_examples)(law=law, case=case)


@cache
def _attempts(max_examples: int) -> Callable[..., None]:
    """Return the trial of all laws, made once, because Hypothesis reads the source of every function that it gets."""

    @seed(0)
    @settings(
        max_examples=max_examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def attempt(law: Law, case: Case, data: st.DataObject) -> None:
        law.trial(case, data)

    return attempt


def any_case(case: Case) -> bool:
    """Return True for every model except models of RPC after the first one, which are never charged."""
    return case.found.type != "rpc" or next(case.prices._in_effect_all("rpc"))[0] is case.found


def of_type(*types: str) -> _Condition:
    """Return the condition of models of these types."""
    return lambda case: any_case(case) and case.found.type in types


def charged_by(field: str) -> _Condition:
    """Return the condition of models with a charge that depends on a field, or whose rates name it as an attribute."""
    return lambda case: any_case(case) and any(field in charge.fields for charge in case.version.charges)


def reading(field: str) -> _Condition:
    """Return the condition of models with a charge whose method reads a field of usages."""
    return lambda case: any_case(case) and bool(case.reading(field))
