"""The answers in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ratecard.simulation.customers import Customers
from ratecard.simulation.margin import Margin
from ratecard.simulation.report.people import changed
from ratecard.simulation.report.report import Report, share_of_change
from ratecard.simulation.volume import Response
from ratecard.words.money import EXACT, round_half_up

if TYPE_CHECKING:
    from ratecard.simulation.target import Reached, Target


def answer(report: Report, candidate: int) -> str:
    """`Revenue rises by $1,234.56 (+3.42%), from $36,100.00 to $37,334.56, under kling.yaml.`"""
    figures, total = report.figures, report.simulation.total
    before, after, name = report.rounded(0), report.rounded(candidate), report.names[candidate]
    if not total.difference(candidate):
        return f"Revenue stays at {figures.money(before)} under {name}: rises and falls cancel out."
    verb = "rises" if total.difference(candidate) > 0 else "falls"
    share = figures.percent(share_of_change(total, candidate))
    by = figures.money(EXACT.subtract(after, before).copy_abs()) + (f" ({share})" if share else "")
    return f"Revenue {verb} by {by}, from {figures.money(before)} to {figures.money(after)}, under {name}."


def scope(report: Report) -> str:
    """`199,997 requests of 2026-01-01 to 2026-10-31; 3 rows without a price are in no figure.`"""
    count, left = report.figures.count, report.unpriced
    words = f"{count(report.simulation.priced)} requests"
    words += f" of {' to '.join(dict.fromkeys(report.days))}" if report.days else ""
    if chosen := report.simulation.reading.chosen:
        words += f" ({count(report.simulation.rows)} of {count(report.simulation.reading.found)} rows: {chosen})"
    return f"{words}; {count(left)} rows without a price are in no figure." if left else f"{words}."


def further(report: Report, candidate: int) -> Iterator[str]:
    """What else was asked of a candidate: customers, elasticity, margin."""
    if (customers := report.customers(candidate)) is not None:
        yield _customers(report, customers)
    if (response := report.response(candidate)) is not None:
        yield _response(report, response)
    if report.margin is not None:
        yield _margin(report, report.margin, candidate)


def every_sentence(report: Report) -> Iterator[str]:
    """All that there is to say, in order."""
    for candidate in report.candidates:
        yield answer(report, candidate)
    yield scope(report)
    question = report.question
    if question.target and question.reached:
        yield reached(report, question.target, question.reached)
    for candidate in report.candidates:
        yield from further(report, candidate)


def reached(report: Report, target: "Target", found: "Reached") -> str:
    """The factor that reaches what was wanted."""
    figures = report.figures
    share = figures.percent(target.share, signed=target.kind != "margin")
    words = f"a margin of {share}" if target.kind == "margin" else f"{share} revenue"
    revenue, wanted, below = (
        figures.money(round_half_up(each, figures.places)) for each in (found.revenue, found.wanted, found.below)
    )
    return (
        f"The smallest factor that reaches {words} is {found.factor}: it brings {revenue}, and {wanted} is wanted;"
        f" one ten-thousandth less brings {below}."
    )


def _customers(report: Report, customers: Customers) -> str:
    figures, counts = report.figures, changed(customers)
    less, more, same = map(figures.count, counts)
    share = figures.percent(customers.share_above(report.question.rise), signed=False)
    rise = figures.percent(report.question.rise, signed=False)
    return f"{more} customers pay more, {less} less, {same} the same; for {share} of them the rise is above {rise}."


def _response(report: Report, response: Response) -> str:
    expected, low, high = map(report.figures.money, (response.expected, response.low, response.high))
    around = "" if response.low == response.high else f", between {low} and {high}"
    return f"At the volume that the elasticity expects, revenue is {expected}{around}."


def _margin(report: Report, margin: Margin, candidate: int) -> str:
    figures, whole = report.figures, margin.total
    before, after = (figures.money(round_half_up(whole.margin(side), figures.places)) for side in (0, candidate))
    count = len(margin.below[candidate])
    below = f"{figures.count(count)} kinds of request are sold" if count else "Nothing is sold"
    words = f"Margin goes from {before} to {after}. {below} below cost."
    unknown = f" {figures.count(whole.unknown)} requests of unknown cost are in no margin." if whole.unknown else ""
    return words + unknown
