"""Laws tried on many models and versions in one run, because starting one takes longer than a few requests."""

from collections import Counter
from collections.abc import Iterable, Sequence

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ratecard import RateCard
from ratecard.testing import LAWS, Case, Law

Pairs = Sequence[tuple[Law, Case]]
# Few enough that the data of one example is enough for all of them.
_AT_ONCE = 60


def cases_of(card: RateCard, files: dict[str, bytes]) -> list[Case]:
    return [
        Case(card.at(version.effective), model.model, files)
        for model in card.tables.models.values()
        for version in model.versions
    ]


def every_law(cases: Iterable[Case]) -> list[tuple[Law, Case]]:
    """Every law that applies to a case, with it."""
    return [(law, case) for case in cases for law in LAWS if law.applies(case)]


def try_a_little(pairs: Pairs) -> None:
    """Try each law on its case with two requests."""
    for start in range(0, len(pairs), _AT_ONCE):
        examples = Counter[str]()
        _attempt(pairs=pairs[start : start + _AT_ONCE], examples=examples)
        # One that draws too much is left out in silence. Laws that draw nothing have one example.
        assert examples["whole"] in (2, examples["begun"])


@settings(
    max_examples=2,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def _attempt(pairs: Pairs, examples: Counter[str], data: st.DataObject) -> None:
    examples["begun"] += 1
    try_each(pairs, data)
    examples["whole"] += 1


def try_each(pairs: Pairs, data: st.DataObject) -> None:
    for law, case in pairs:
        law.trial(case, data)
