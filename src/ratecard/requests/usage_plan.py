"""What the counts of a usage mean together: the buckets that they make, and what must hold between them.

A plan is made of the data of a dialect and the names of the counts that a usage has. `token_usage.py` evaluates it and
says what does not hold, `usage_layouts.py` compiles it, and a simulation of responses writes it in SQL.
"""

from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from ratecard.base.messages import too_big
from ratecard.requests.counters import COUNTER
from ratecard.requests.dialects import ANY_USAGE, UsageDialect
from ratecard.tables.meters import COMPLETION, PROMPT

_Names = tuple[str, ...]


_UNCLEAR = "This count is not clear by itself: give {} too"
_TWO_WAYS = "The same tokens may be counted here twice: give this or {}"


class CountCheck(NamedTuple):
    """A count that is at most the sum of others, less some; with words, exactly that; `apart`, one of both is 0."""

    name: str
    of: _Names
    less: _Names = ()
    words: str = ""
    apart: bool = False


class UsagePlan(NamedTuple):
    """The buckets of a usage, each the sum of some of its counts, and the checks between these."""

    buckets: Mapping[str, _Names]
    checks: tuple[CountCheck, ...]

    def failures(self, counts: Mapping[str, int | Decimal]) -> Iterator[tuple[str, str]]:
        """Say what does not hold: a count, and the message."""
        for check in self.checks:
            count, limit = counts[check.name], sum(counts.get(name, 0) for name in check.of)
            less = sum(counts.get(name, 0) for name in check.less)
            # A part that is too large by itself is said once.
            if less <= limit and (
                count and limit if check.apart else count != limit if check.words else count > limit - less
            ):
                yield check.name, check.words.format(limit) if check.words else too_big(limit - less)


def usage_plan(dialect: UsageDialect, given: Collection[str]) -> UsagePlan:
    """Make the plan of usages that have the `given` counts.

    >>> from ratecard.requests.dialects import DIALECTS
    >>> usage_plan(DIALECTS["anthropic"], ["input", "completion", "top read"]).buckets
    {'input': ('input', 'top read'), 'output': ('completion',), 'cache_input': ('top read',)}
    """
    buckets: dict[str, _Names] = {PROMPT: (), COMPLETION: ()}
    bucket_of = {counter.name: counter.bucket for counter in (*COUNTER.values(), *dialect.counters)}
    paths = {counter.name: ".".join(counter.paths[0]) for counter in dialect.counters}
    for counter in dialect.counters:
        if counter.name in given:
            # Beside the input means within the prompt, where a usage counts that.
            beside = "" if counter.beside == PROMPT and "prompt" in given else counter.beside
            for bucket in filter(None, (counter.bucket, beside)):
                buckets[bucket] = (*buckets.get(bucket, ()), counter.name)
    checks = [
        CountCheck(
            counter.name,
            buckets.get(bucket_of[counter.whole], ()) if bucket_of[counter.whole] else (counter.whole,),
            buckets.get("cache_input", ()) if counter.bucket == "cache_write" else (),
        )
        for counter in dialect.counters
        if counter.whole and counter.name in given
    ]
    checks += [
        CountCheck(whole, parts, words=f"Expected {{}}, the sum of {', '.join(paths[name] for name in parts)}")
        for whole, parts in dialect.sums.items()
        if whole in given and parts[-1] in given
    ]
    for pairs, words, apart in ((dialect.only_with, _UNCLEAR, False), (dialect.never_with, _TWO_WAYS, True)):
        for name, others in pairs.items():
            if name in given and any(other in given for other in others) is apart:
                said = words.format(" or ".join(paths[other] for other in others))
                checks.append(CountCheck(name, others if apart else (), words=said, apart=apart))
    return UsagePlan(buckets, tuple(checks))


def any_usage_plan(given: Collection[str], is_text: bool) -> UsagePlan:
    """Make the plan of the usage object of a request of text, or of an embedding, whose total is its prompt."""
    plan = usage_plan(ANY_USAGE, given)
    if "total" not in given:
        return plan
    kinds = (PROMPT, COMPLETION) if is_text else (PROMPT,)
    # A total of another sum counts something unknown.
    words = f"Expected {{}}, the sum of all {'prompt and completion' if is_text else 'prompt'} tokens"
    check = CountCheck("total", tuple(name for kind in kinds for name in plan.buckets[kind]), words=words)
    return plan._replace(checks=(*plan.checks, check))
