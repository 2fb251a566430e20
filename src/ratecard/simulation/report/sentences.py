"""The main answers of a report in sentences."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from ratecard.base.money import EXACT
from ratecard.simulation.answers.bridge import Bridge
from ratecard.simulation.answers.customers import Customers
from ratecard.simulation.answers.margin import Margin
from ratecard.simulation.answers.volume import Expected, Pace
from ratecard.simulation.billing import LedgerPricer
from ratecard.simulation.report.figures import share_of
from ratecard.simulation.report.report import Report, expectation, share_of_change, share_of_prices

if TYPE_CHECKING:
    from ratecard.simulation.answers.target import Reached, Target

# A usage whose pace changes by more than this share is said to grow or to shrink.
_STEADY = Fraction(1, 10)


def answers(report: Report) -> list[str]:
    """Return the answer of every candidate; without candidates, the revenue of the usage."""
    return [answer(report, candidate) for candidate in report.candidates or (0,)]


def answer(report: Report, candidate: int) -> str:
    """Say `Revenue rises by $1,234.56 (+3.42%), from $36,100.00 to $37,334.56, under kling.yaml.`

    If only one side offers some of the requests, it adds the change by other prices, the lost and the new amount; if a
    candidate takes effect within the usage, the share of the usage before that, and the change after it.
    """
    parts, since = _details(report, candidate)
    words = headline(report, candidate)
    if report.expected is None and parts:
        words, parts = f"{words.removesuffix('.')}: {parts}", ""
    return " ".join(filter(None, (words, parts, since)))


def headline(report: Report, candidate: int) -> str:
    """Return the first clause of the answer as a sentence: expected revenue, where volume may differ."""
    if candidate and (reason := report.simulation.no_effect[candidate - 1]):
        return f"No change under {report.names[candidate]}: {reason}."
    if report.expected is None:
        return f"{_moves(report, candidate)}."
    return f"{_moves(report, candidate, 'Expected revenue', report.expected)}, {expectation(report, candidate)}."


def _moves(report: Report, candidate: int, noun: str = "Revenue", expected: Expected | None = None) -> str:
    """Say how revenue moves: at unchanged usage, or at the expected volume."""
    figures, total = report.figures, report.simulation.total
    before, after = (report.revenue(side) if expected else report.rounded(side) for side in (0, candidate))
    if not candidate:
        return f"{noun} is {figures.money(after)}"
    name = report.names[candidate]
    change = expected.change(candidate) if expected else total.difference(candidate)
    if not change:
        # Some rates bring more and others less, while both sides offer the same requests.
        cancels = not total.beside(candidate).requests and bool(report.attribution(candidate).parts)
        cancelled = ": rises and falls cancel out" if cancels else ""
        return f"{noun} stays at {figures.money(before)} under {name}{cancelled}"
    percent = figures.percent(report.share(candidate) if expected else share_of_change(total, candidate))
    by = figures.money(EXACT.subtract(after, before).copy_abs()) + (f" ({percent})" if percent else "")
    verb = "rises" if change > 0 else "falls"
    return f"{noun} {verb} by {by}, from {figures.money(before)} to {figures.money(after)}, under {name}"


def details(report: Report, candidate: int) -> str:
    """Return the part of the answer that the headline leaves out; it may be empty."""
    return " ".join(filter(None, _details(report, candidate)))


def _details(report: Report, candidate: int) -> tuple[str, str]:
    idle = candidate and report.simulation.no_effect[candidate - 1]
    parts = "" if idle or not candidate else ", ".join(_parts(report, candidate))
    if report.expected is not None and not idle:
        unchanged = f"At unchanged usage, {_moves(report, candidate, 'revenue')}"
        parts = f"{unchanged}: {parts}" if parts else unchanged
    return f"{parts}." if parts else "", _since(report, candidate) if candidate and not idle else ""


def proposals(report: Report, candidate: int) -> Iterator[str]:
    """Yield `"Autumn prices", from 2026-10-01, proposed by Pricing: costs rose.`, for each candidate file of a side."""
    for file in report.simulation.sides[candidate].candidates:
        until = f" until {file.until}" if file.until else ""
        yield f'"{file.candidate}", from {file.effective}{until}, proposed by {file.proposed_by}: {file.why}'


def _parts(report: Report, candidate: int) -> Iterator[str]:
    """Yield the change on requests of both sides, the lost and the new amount; nothing if both offer the same."""
    figures, total = report.figures, report.simulation.total
    one_side = total.beside(candidate)
    if not one_side.requests:
        return
    prices, lost, new = report.parts(candidate)
    share = figures.percent(share_of_prices(total, candidate))
    yield f"{figures.change(prices)}{f' ({share})' if share else ''} by prices on the {report.noun}s that both offer"
    if one_side.lost_requests:
        requests = report.rows_of(one_side.lost_requests)
        yield f"{figures.change(lost)} lost with {requests} that it does not offer"
    if one_side.new_requests:
        yield f"{figures.change(new)} new with {report.rows_of(one_side.new_requests)} that only it offers"


def _since(report: Report, candidate: int) -> str:
    if (since := report.simulation.since(candidate)) is None:
        return ""
    figures, current = report.figures, Fraction(since.current)
    share = figures.percent(Fraction(since.before, since.requests), signed=False)
    words = f"{share} of the {report.noun}s lie before it takes effect on {since.day}"
    if since.before == since.requests or not current:
        return f"{words}."
    change = Fraction(EXACT.subtract(since.candidate, since.current)) / current
    if not change:
        return f"{words}; on those after, revenue stays as it is."
    by = figures.percent(abs(change), signed=False)
    return f"{words}; on those after, revenue {'rises' if change > 0 else 'falls'} by {by}."


def scope(report: Report) -> str:
    """Say `199,997 requests of 2026-01-01 to 2026-10-31, all at the prices of 2026-12-01; 3 rows without a price are in
    no figure.`"""
    counted, left = report.figures.counted, report.unpriced
    words = report.rows_of(report.simulation.priced)
    days = report.simulation.comparison.roll_up.days
    words += f" of {' to '.join(dict.fromkeys(map(str, days)))}" if days else ""
    if chosen := report.simulation.reading.chosen:
        count = report.figures.count
        words += f" ({count(report.simulation.rows)} of {counted(report.simulation.reading.found, 'row')}: {chosen})"
    words += f", {_prices(report)}"
    if left:
        words += f"; {counted(left, 'row')} without a price {'is' if left == 1 else 'are'} in no figure"
    return f"{words}.{_contracts(report)}"


def _contracts(report: Report) -> str:
    """Name the missing option for list, discount and net, or for contracts; empty if nothing is missing."""
    simulation = report.simulation
    if account := simulation.by_account:
        needed = f" Amounts are by contract: list, discount and net of each account need --by {account}."
        return "" if report.has(account) else needed
    # The rows of a billing export already have the charges of each account.
    rates = not isinstance(simulation.pricer, LedgerPricer)
    contracts = rates and any(side.card.contracts for side in simulation.sides)
    return " Amounts are at list prices: --contracts gives each account those of its contract." if contracts else ""


def _prices(report: Report) -> str:
    current, *candidates = report.simulation.sides
    if not current.has_rates:
        return "as they were billed"
    if current.at is None:
        return "each at the prices of its own day"
    others = {f"{side.at:%Y-%m-%d}": None for side in candidates if side.at and side.at != current.at}
    later = f", and of {', '.join(others)} under the candidate{'' if len(candidates) == 1 else 's'}" if others else ""
    return f"all at the prices of {current.at:%Y-%m-%d}{later}"


def own_days(report: Report) -> str:
    """Say the total at the prices of each row's own day and how it differs, or why it is not known; may be empty."""
    days, figures = report.own_days, report.figures
    if days is None:
        return ""
    if isinstance(days, str):
        return f"What these {report.noun}s came to at the prices of their own days cannot be had: {days}."
    amount, difference = report.shown_own_days(days)
    share = figures.percent(share_of(days.difference, report.simulation.total.amounts[0]))
    words = f"At the prices of its own days, this usage came to {figures.money(amount)}: {figures.change(difference)}"
    words += f" ({share})" if share else ""
    counts = ((days.only, "a price only there"), (days.without, "none there"))
    others = [f"{report.rows_of(count)} {'has' if count == 1 else 'have'} {price}" for count, price in counts if count]
    return f"{words}; {' and '.join(others)}." if others else f"{words}."


def further(report: Report, candidate: int) -> Iterator[str]:
    """Yield further sentences on a candidate, or the current prices alone (0): a year, customers, ranges, margin."""
    if words := annualised(report, candidate):
        yield words
    if candidate and (customers := report.customers(candidate)) is not None:
        yield _customers(report, customers)
    if report.expected is not None and candidate:
        low, high = report.expected.ranges[candidate]
        if low != high:
            ends = " and ".join(report.figures.money(report.figures.rounded(revenue)) for revenue in (low, high))
            yield f"Within the ranges of the elasticities, revenue is between {ends}."
    if (margin := report.margin) is not None:
        yield _margin(report, margin, candidate)


def every_sentence(report: Report) -> Iterator[str]:
    """Yield every sentence, in order."""
    yield from answers(report)
    yield scope(report)
    if words := own_days(report):
        yield words
    question = report.question
    if question.target and question.reached:
        yield reached(report, question.target, question.reached)
    if report.bridge is not None:
        yield from bridge_sentences(report, report.bridge)
    for candidate in report.candidates or (0,):
        yield from proposals(report, candidate)
        yield from further(report, candidate)


def annualised(report: Report, candidate: int) -> str:
    """Say `That is +$1,234.56 a year, at the pace of the last 90 days (2026-10-11 to 2027-01-08, x 365 / 90).`

    Reasons why these days may be unlike a year follow. Empty if days are not known.
    """
    pace, paced = report.pace, report.paced
    if pace is None or paced is None:
        return ""
    figures = report.figures
    amount = paced.change(candidate) if candidate else paced.total.revenues[0]
    year = figures.rounded(pace.year(amount))
    days = figures.counted(pace.days, "day")
    named = f"all {days} of the usage" if pace.every else f"the last {days}"
    named = f"{named} ({pace.first} to {pace.last}, x 365 / {pace.days})"
    if pace.days == 1:
        named = f"the {'only' if pace.every else 'last'} day ({pace.first}, x 365)"
    words = figures.change(year) if candidate else figures.money(year)
    return " ".join((f"That is {words} a year, at the pace of {named}.", *_unlike_a_year(report, pace)))


def _unlike_a_year(report: Report, pace: Pace) -> Iterator[str]:
    figures, most = report.figures, report.question.pace
    if pace.every and most is not None and pace.days < most:
        days = figures.counted(most, "day")
        yield f"The usage covers {figures.count(pace.days)} of the {days} that a year is reckoned from."
    if pace.empty:
        yield f"On {figures.count(pace.empty)} of these days no {report.noun} has a price: the usage may be partial."
    if pace.growth is not None and abs(pace.growth) > _STEADY:
        grows = "grows" if pace.growth > 0 else "shrinks"
        share = figures.percent(pace.growth)
        yield f"The usage {grows}: the second half of these days has {share} {report.noun}s against the first."


def reached(report: Report, target: "Target", result: "Reached | str") -> str:
    """Say which factor reaches the target, or why no factor does."""
    figures = report.figures
    if isinstance(result, str):
        return f"{result[0].upper()}{result[1:]}. All figures are of the candidate as it is."

    def money(amount: Decimal) -> str:
        rounded = report.round(amount)
        return figures.change(rounded) if target.kind == "year" else figures.money(rounded)

    share = figures.percent(target.share, signed=target.kind != "margin")
    words = {"margin": f"a margin of {share}", "year": f"{money(result.wanted)} a year"}.get(
        target.kind, f"{share} revenue"
    )
    revenue, wanted = money(result.revenue), money(result.wanted)
    answer = f"The smallest factor that reaches {words} is {result.factor}: it brings {revenue}, and {wanted} is wanted"
    if result.below is not None:
        answer += f"; one ten-thousandth less brings {money(result.below)}"
    if report.expected is not None:
        answer += f", {expectation(report)}"
    known = report.margin.total.unknown if target.kind == "margin" and report.margin else 0
    return f"{answer}, of the requests whose cost is known." if known else f"{answer}."


def _customers(report: Report, customers: Customers) -> str:
    figures = report.figures
    less, same = figures.count(customers.less), figures.count(customers.same)
    pay = "pays" if customers.more == 1 else "pay"
    words = f"{figures.counted(customers.more, 'customer')} {pay} more, {less} less, {same} the same"
    if customers.more:
        above, rise = customers.above(report.question.rise), figures.percent(report.question.rise, signed=False)
        share = figures.percent(Fraction(above, customers.more), signed=False)
        words += f"; for {figures.count(above)} of {figures.count(customers.more)} ({share}) the rise is above {rise}"
    lost = customers.losing
    if not lost:
        return f"{words}."
    loses = "loses" if lost == 1 else "lose"
    return f"{words}. {figures.counted(lost, 'customer')} {loses} requests that are not offered any more."


def _margin(report: Report, margin: Margin, candidate: int) -> str:
    figures = report.figures
    sides = [amounts for side in (0, candidate) if (amounts := report.margin_of(side)) is not None]
    old_cost, new_cost = (figures.money(figures.rounded(cost)) for cost, _, _ in sides)
    before, after = (
        figures.money(figures.rounded(left))
        + (f" ({figures.percent(share, signed=False)} of revenue)" if share else "")
        for _, left, share in sides
    )
    count = len(margin.below[candidate])
    below = (
        f"{figures.counted(count, 'kind')} of request {'is' if count == 1 else 'are'} sold"
        if count
        else "Nothing is sold"
    )
    cost = f"at a cost of {old_cost}" if old_cost == new_cost else f"and cost from {old_cost} to {new_cost}"
    moves = f"goes from {before} to {after}" if candidate else f"is {before}"
    noun = "Margin" if report.expected is None else "Expected margin"
    words = f"{noun} {moves}, {cost}. {below} below cost."
    if not margin.total.unknown:
        return words
    brings = figures.money(report.round(margin.total.unknown_revenues[0]))
    one = margin.total.unknown == 1
    unknown = f"{report.rows_of(margin.total.unknown)} of unknown cost"
    return (
        f"{words} {unknown}, which {'brings' if one else 'bring'} {brings} now, {'is' if one else 'are'} in no margin."
    )


def bridge_sentences(report: Report, bridge: Bridge) -> Iterator[str]:
    """Yield sentences on the revenue of both periods, and on the prices at which the effects are computed."""
    money = report.figures.money
    before, after = map(report.round, bridge.revenues)
    yield f"Revenue was {money(before)} in {bridge.periods[0]} and {money(after)} in {bridge.periods[1]}."
    prices = (
        "Both have the same prices, so that none of it is a price."
        if bridge.fixed
        else f"Size, volume and mix are at the prices of the end of {bridge.periods[0]}; price is what changed since."
    )
    yield f"{prices} A size is tokens, characters or seconds a request, where these are counted."
