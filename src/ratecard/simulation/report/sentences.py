"""The main answers of a report in sentences."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ratecard.base.money import EXACT, round_half_up
from ratecard.simulation.answers.customers import Customers
from ratecard.simulation.answers.margin import Margin
from ratecard.simulation.answers.volume import Response
from ratecard.simulation.report.report import Report, share_of_change, share_of_prices
from ratecard.simulation.report.sections import annualised, bridge_sentences

if TYPE_CHECKING:
    from ratecard.simulation.answers.target import Reached, Target


def answer(report: Report, candidate: int) -> str:
    """`Revenue rises by $1,234.56 (+3.42%), from $36,100.00 to $37,334.56, under kling.yaml.`

    Where only one side offers some of the requests, what other prices change, what is lost and what is new; where a
    candidate takes effect within the usage, how much of it lies before that, and the change after.
    """
    parts, since = _details(report, candidate)
    words = headline(report, candidate)
    words = f"{words.removesuffix('.')}: {parts}" if parts else words
    return f"{words} {since}" if since else words


def headline(report: Report, candidate: int) -> str:
    """The first clause of the answer alone, as a sentence."""
    figures, total = report.figures, report.simulation.total
    before, after, name = report.rounded(0), report.rounded(candidate), report.names[candidate]
    if why := report.simulation.no_effect[candidate - 1]:
        return f"No change under {name}: {why}."
    if not total.difference(candidate):
        cancelled = "" if total.beside(candidate).requests else ": rises and falls cancel out"
        return f"Revenue stays at {figures.money(before)} under {name}{cancelled}."
    verb = "rises" if total.difference(candidate) > 0 else "falls"
    share = figures.percent(share_of_change(total, candidate))
    by = figures.money(EXACT.subtract(after, before).copy_abs()) + (f" ({share})" if share else "")
    return f"Revenue {verb} by {by}, from {figures.money(before)} to {figures.money(after)}, under {name}."


def details(report: Report, candidate: int) -> str:
    """What the headline leaves out of the answer; perhaps nothing."""
    return " ".join(filter(None, _details(report, candidate)))


def _details(report: Report, candidate: int) -> tuple[str, str]:
    if report.simulation.no_effect[candidate - 1]:
        return "", ""
    parts = ", ".join(_parts(report, candidate))
    return f"{parts}." if parts else "", _since(report, candidate)


def proposals(report: Report, candidate: int) -> Iterator[str]:
    """`"Autumn prices", from 2026-10-01, proposed by Pricing: costs rose.`, for each candidate file of a side."""
    for each in report.simulation.sides[candidate].candidates:
        until = f" until {each.until}" if each.until else ""
        yield f'"{each.candidate}", from {each.effective}{until}, proposed by {each.proposed_by}: {each.why}'


def _parts(report: Report, candidate: int) -> Iterator[str]:
    """The change of what both sides price, what is lost and what is new; nothing where both price the same requests."""
    figures, total = report.figures, report.simulation.total
    uneven = total.beside(candidate)
    if not uneven.requests:
        return
    prices, lost, new = report.parts(candidate)
    share = figures.percent(share_of_prices(total, candidate))
    yield f"{figures.change(prices)}{f' ({share})' if share else ''} by prices on the requests that both offer"
    if uneven.lost_requests:
        yield f"{figures.change(lost)} lost with {_requests(report, uneven.lost_requests)} that it does not offer"
    if uneven.new_requests:
        yield f"{figures.change(new)} new with {_requests(report, uneven.new_requests)} that only it offers"


def _requests(report: Report, count: int) -> str:
    return f"{report.figures.count(count)} request{'' if count == 1 else 's'}"


def _since(report: Report, candidate: int) -> str:
    if (found := report.simulation.since(candidate)) is None:
        return ""
    figures, current = report.figures, Fraction(found.current)
    share = figures.percent(Fraction(found.before, found.requests), signed=False)
    words = f"{share} of the requests lie before it takes effect on {found.day}"
    if found.before == found.requests or not current:
        return f"{words}."
    change = Fraction(EXACT.subtract(found.candidate, found.current)) / current
    if not change:
        return f"{words}; on those after, revenue stays as it is."
    by = figures.percent(abs(change), signed=False)
    return f"{words}; on those after, revenue {'rises' if change > 0 else 'falls'} by {by}."


def scope(report: Report) -> str:
    """`199,997 requests of 2026-01-01 to 2026-10-31; 3 rows without a price are in no figure.`"""
    count, left = report.figures.count, report.unpriced
    words = f"{count(report.simulation.priced)} requests"
    words += f" of {' to '.join(dict.fromkeys(report.days))}" if report.days else ""
    if chosen := report.simulation.reading.chosen:
        words += f" ({count(report.simulation.rows)} of {count(report.simulation.reading.found)} rows: {chosen})"
    return f"{words}; {count(left)} rows without a price are in no figure." if left else f"{words}."


def further(report: Report, candidate: int) -> Iterator[str]:
    """What else is to say of a candidate: a year of it, customers, elasticity, margin."""
    if words := annualised(report, candidate):
        yield words
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
    if report.bridge is not None:
        yield from bridge_sentences(report, report.bridge)
    for candidate in report.candidates:
        yield from proposals(report, candidate)
        yield from further(report, candidate)


def reached(report: Report, target: "Target", found: "Reached") -> str:
    """The factor that reaches what was wanted."""
    figures = report.figures
    share = figures.percent(target.share, signed=target.kind != "margin")
    words = f"a margin of {share}" if target.kind == "margin" else f"{share} revenue"
    revenue, wanted = (figures.money(round_half_up(each, figures.places)) for each in (found.revenue, found.wanted))
    answer = f"The smallest factor that reaches {words} is {found.factor}: it brings {revenue}, and {wanted} is wanted"
    if found.below is not None:
        answer += f"; one ten-thousandth less brings {figures.money(round_half_up(found.below, figures.places))}"
    known = report.margin.total.unknown if target.kind == "margin" and report.margin else 0
    return f"{answer}, of the requests whose cost is known." if known else f"{answer}."


def _customers(report: Report, customers: Customers) -> str:
    figures = report.figures
    less, more, same = map(figures.count, (customers.less, customers.more, customers.same))
    share = figures.percent(customers.share_above(report.question.rise), signed=False)
    rise = figures.percent(report.question.rise, signed=False)
    words = f"{more} customers pay more, {less} less, {same} the same; for {share} of them the rise is above {rise}."
    lost = customers.losing
    if not lost:
        return words
    one = lost == 1
    return (
        f"{words} {figures.count(lost)} customer{' loses' if one else 's lose'} requests that are not offered any more."
    )


def _response(report: Report, response: Response) -> str:
    expected, low, high = map(report.figures.money, (response.expected, response.low, response.high))
    around = "" if response.low == response.high else f", between {low} and {high}"
    return f"At the volume that the elasticity expects, revenue is {expected}{around}."


def _margin(report: Report, margin: Margin, candidate: int) -> str:
    figures, whole = report.figures, margin.total
    before, after = (figures.money(round_half_up(whole.margin(side), figures.places)) for side in (0, candidate))
    paid, then = (figures.money(round_half_up(whole.costs[side], figures.places)) for side in (0, candidate))
    count = len(margin.below[candidate])
    below = f"{figures.count(count)} kinds of request are sold" if count else "Nothing is sold"
    cost = f"at a cost of {paid}" if paid == then else f"and cost from {paid} to {then}"
    words = f"Margin goes from {before} to {after}, {cost}. {below} below cost."
    if not whole.unknown:
        return words
    brings = figures.money(round_half_up(whole.unknown_revenues[0], figures.places))
    return f"{words} {_requests(report, whole.unknown)} of unknown cost, which bring {brings} now, are in no margin."
