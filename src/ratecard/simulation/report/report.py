"""The figures that every format of a report shows, each computed once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path

from babel import Locale

from ratecard.base.errors import SimulationError
from ratecard.base.money import EXACT, round_half_up
from ratecard.review.sides import Side
from ratecard.simulation.amounts import QUANTITY_NAMES
from ratecard.simulation.answers.answers import Answers
from ratecard.simulation.answers.attribution import Attribution
from ratecard.simulation.answers.bridge import Bridge
from ratecard.simulation.answers.customers import Customers, Discounted
from ratecard.simulation.answers.margin import Margin
from ratecard.simulation.answers.rows import OwnDays, Row, Unpriced
from ratecard.simulation.answers.target import Reached, Target
from ratecard.simulation.answers.volume import DEFAULT_PACE, Elasticity, Expected, Pace
from ratecard.simulation.groups.plan import PERIODS
from ratecard.simulation.report.figures import ENGLISH, Figures, apportion, share_of
from ratecard.simulation.rows.columns import DAY

# If all usage is less than one unit of the currency, cents would hide it.
_PLACES, _SMALL_PLACES = 2, 6
CURRENT = "Current"
# Names that a side must not have, because they are columns of an export; and words that follow a side's name there.
_COLUMNS = {"candidate", "change", "customer", "day", "model", "month", "requests", "requests_without_cost", "week of"}
_COLUMNS |= {"without", *QUANTITY_NAMES, *(name.replace("_", " ") for name in QUANTITY_NAMES)}
_DERIVED = ("difference", "percent", "change", "rise", "lost", "new", "revenue", "cost", "margin")
CUSTOMER = "customer"
# The default share above which a customer's rise is counted.
USUAL_RISE = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class Question:
    """The questions that a report answers besides the comparison of prices.

    `command` is the command that made the report; `rise` the share of a customer's payments above which a rise is
    counted; `reached` the answer to a target, or why it is not reached; `bridge` names two periods; `volumes` are
    changes of volume, as in `Answers.expected`; `pace` is the number of last days to scale to a year, None for all.
    """

    command: str = ""
    elasticities: Mapping[str, Elasticity] = field(default_factory=dict)
    rise: Fraction = USUAL_RISE
    target: Target | None = None
    reached: Reached | str | None = None
    bridge: tuple[str, str] | None = None
    volumes: Mapping[str, Decimal] = field(default_factory=dict)
    pace: int | None = DEFAULT_PACE


class Report:
    """A simulation, its further questions, and the locale in which numbers are written.

    >>> import pyarrow
    >>> from ratecard.simulation.simulate import simulate
    >>> usage = pyarrow.table({"type": ["video"], "model": ["ovi-image-to-video"]})
    >>> with simulate(usage, "2026-10-01", by=["model"]) as simulation:
    ...     Report(simulation).figures.money(simulation.total.amounts[0])
    '$0.220000'
    """

    def __init__(self, simulation: Answers, question: Question | None = None, locale: Locale = ENGLISH) -> None:
        self.simulation, self.question = simulation, question or Question()
        greatest = max(simulation.total.amounts)
        self.figures = Figures(locale, simulation.pricer.currency, _PLACES if greatest >= 1 else _SMALL_PLACES)
        # The difference of each candidate, by number, split by the rates that changed.
        self.attribution: Callable[[int], Attribution] = cache(simulation.attribution)
        self._customers: Callable[[int], Customers] = cache(lambda side: simulation.customers(CUSTOMER, side))
        # True for a workbook, whose tables have exact amounts.
        self.exact = False

    def exactly(self) -> "Report":
        """Return the same report for a workbook: its tables have exact amounts, and what only these can show."""
        other = copy(self)
        other.exact = True
        return other

    @property
    def candidates(self) -> range:
        """Return the number of every candidate among the sides."""
        return range(1, len(self.simulation.sides))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the name of each side for headings: a candidate's own name, or a file's name without its folder.

        If two names would be equal, or one would equal a column of figures, the file is added.
        """
        choices = [tuple(_choices(side)) for side in self.simulation.sides[1:]]
        return (CURRENT, *(_chosen(choices, number) for number in range(len(choices))))

    @property
    def noun(self) -> str:
        """Return the noun for a row: a request of usage, a row of a bill."""
        return self.simulation.pricer.noun

    def rows_of(self, count: int) -> str:
        """Count rows of the usage in words: `1,200 requests`."""
        return self.figures.counted(count, self.noun)

    def check(self) -> None:
        """Raise `SimulationError` for a question that this usage cannot answer, before anything is written."""
        _ = self.expected, self.bridge, self.margin, self.paced

    @property
    def unpriced(self) -> int:
        """Return the number of rows without a price, which no figure includes."""
        return self.simulation.rows - self.simulation.priced

    @property
    def without_price(self) -> tuple[Unpriced, ...]:
        """Return the rows without a price, by reason; candidates are named as in the headings."""
        named = dict(zip((side.label for side in self.simulation.sides[1:]), self.names[1:], strict=True))
        return tuple(
            replace(unpriced, side=named.get(unpriced.side, unpriced.side)) for unpriced in self.simulation.unpriced
        )

    def round(self, amount: Decimal) -> Decimal:
        """Round an amount to the decimals that are shown; an exact report leaves it."""
        return amount if self.exact else round_half_up(amount, self.figures.places)

    def rounded(self, side: int) -> Decimal:
        """Return the total of a side as it is shown."""
        return self.round(self.simulation.total.amounts[side])

    def difference(self, candidate: int) -> Decimal:
        """Return the change of the total under a candidate, from the two amounts that are shown."""
        return EXACT.subtract(self.rounded(candidate), self.rounded(0))

    def shown(self, amounts: Sequence[Decimal], whole: Decimal | None = None) -> Sequence[Decimal]:
        """Round amounts so that they add up to `whole`, by default their rounded sum; an exact report leaves them."""
        return amounts if self.exact else apportion(amounts, self.figures.places, whole)

    def parts(self, candidate: int) -> tuple[Decimal, Decimal, Decimal]:
        """Return the change by other prices, the lost amount (below zero) and the new one, as they are shown."""
        usage = self.simulation.total
        lost_and_new = usage.beside(candidate)
        parts = (usage.change(candidate), EXACT.minus(lost_and_new.lost), lost_and_new.new)
        prices, lost, new = self.shown(parts, self.difference(candidate))
        return prices, lost, new

    @property
    def lost_and_new(self) -> bool:
        """Return True if only one side offers some of the requests."""
        return bool(self.simulation.total.lost_and_new)

    def has(self, key: str) -> bool:
        """Return True if the usage is grouped by a key."""
        return key in self.simulation.by

    @property
    def period(self) -> str | None:
        """Return the shortest period that the usage is grouped by."""
        return next((key for key in (DAY, *PERIODS) if self.has(key)), None)

    def customers(self, candidate: int) -> Customers | None:
        """Return winners and losers; None unless the usage is grouped by customer."""
        return self._customers(candidate) if self.has(CUSTOMER) else None

    @cached_property
    def margin(self) -> Margin | None:
        """Return cost and margin; None unless costs are given."""
        return self.simulation.margin() if self.simulation.costs else None

    @cached_property
    def discounts(self) -> tuple[Discounted, ...]:
        """Return list and net of each customer; empty unless rows are priced by contract and grouped by account."""
        account = self.simulation.by_account
        return self.simulation.discounts() if account and self.has(account) else ()

    @cached_property
    def bridge(self) -> Bridge | None:
        """Return the bridge between two periods under the current prices; None unless the question names them."""
        periods = self.question.bridge
        return self.simulation.bridge(*periods) if periods else None

    @cached_property
    def expected(self) -> Expected | None:
        """Return revenue, cost and margin at the expected volume; None if that is the volume of the usage."""
        question = self.question
        if not question.elasticities and not question.volumes:
            return None
        return self.simulation.expected(question.elasticities, question.volumes)

    def revenue(self, side: int) -> Decimal:
        """Return the revenue of a side as it is shown: at the expected volume, if there is one."""
        return self.figures.rounded(self.expected.total.revenues[side]) if self.expected else self.rounded(side)

    def share(self, candidate: int) -> Fraction | None:
        """Return the change of `revenue` as a share of the current one; None if the current one is zero."""
        if self.expected is None:
            return share_of_change(self.simulation.total, candidate)
        return share_of(self.expected.change(candidate), self.expected.total.revenues[0])

    def margin_of(self, side: int) -> tuple[Fraction, Fraction, Fraction | None] | None:
        """Return cost, margin, and margin as a share of revenue (None without revenue), at the expected volume.

        Only requests of known cost count. Returns None if no costs are given.
        """
        if self.margin is None:
            return None
        if self.expected is not None:
            cost, left = self.expected.total.costs[side], self.expected.total.margins[side]
        else:
            total = self.margin.total
            cost, left = Fraction(total.costs[side]), Fraction(total.margin(side))
        return cost, left, share_of(left, cost + left)

    @cached_property
    def pace(self) -> Pace | None:
        """Return the days that a year is scaled from; None where days are not known."""
        return self.simulation.pace(self.question.pace)

    @cached_property
    def paced(self) -> Expected | None:
        """Return the revenue on the days of `pace` at the expected volume; None if days are not known."""
        question = self.question
        if self.pace is None:
            return None
        return self.simulation.expected(question.elasticities, question.volumes, since=self.pace.first)

    @cached_property
    def own_days(self) -> OwnDays | str | None:
        """Return the usage at the prices of each row's day, or why they are not known; None if it has them now."""
        try:
            return self.simulation.own_days()
        except SimulationError as error:
            return str(error)

    def shown_own_days(self, at_own_days: OwnDays) -> tuple[Decimal, Decimal]:
        """Round the amount at own days; return it and its difference from the current revenue as it is shown."""
        amount = self.round(at_own_days.amount)
        return amount, EXACT.subtract(amount, self.rounded(0))


def expectation(report: Report, candidate: int = 1) -> str:
    """Say at which volume an amount is expected: `at a volume of -5%, once volume answers prices by veo -2`."""
    question, named = report.question, list[str]()
    for name, share in question.volumes.items():
        change = f"{'+' if share > 0 else '-'}{report.figures.percent(abs(Fraction(share)), signed=False)}"
        named.append(change if name == "all" else f"{name} {change}")
    words = [f"at a volume of {', '.join(named)}"] if question.volumes else []
    if question.elasticities and candidate:
        elastic = ", ".join(f"{name} {elasticity.value}" for name, elasticity in question.elasticities.items())
        words.append(f"once volume answers prices by {elastic}")
    return ", ".join(words) or "at the volume of the usage"


def _choices(side: Side) -> Iterator[str]:
    """Yield possible names of a side, the shortest first."""
    label = side.label
    # A stack of candidates is named after each of its files.
    file = "+".join(Path(part).name for part in label.split("+")) if "/" in label else label
    if side.candidates:
        names = "+".join(" ".join(candidate.candidate.split()) for candidate in side.candidates)
        yield from (names, f"{names} ({file})")
    else:
        yield file
    yield label


def _chosen(choices: Sequence[Sequence[str]], number: int) -> str:
    """Return the first choice of a side that is not also a name of something else."""
    others = {name.casefold() for place, names in enumerate(choices) if place != number for name in names}
    others |= {CURRENT.casefold()}
    used = others | _COLUMNS | {f"{other} {word}" for other in others for word in _DERIVED}
    return next((choice for choice in choices[number] if choice.casefold() not in used), choices[number][-1])


def share_of_change(row: Row, candidate: int) -> Fraction | None:
    """Return the change as a share of the current amount; None if that is zero."""
    return share_of(row.difference(candidate), row.amounts[0])


def share_of_prices(row: Row, candidate: int) -> Fraction | None:
    """Return the change on requests that both sides price, as a share of their current amount; None if zero."""
    return share_of(row.change(candidate), row.both(candidate)[0])
