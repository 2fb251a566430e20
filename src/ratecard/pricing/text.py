"""Price text and embedding requests: tokens by bucket, and searches."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Any, NamedTuple, cast

from ratecard.base.errors import QuoteError
from ratecard.base.layouts import Layouts
from ratecard.base.messages import REQUIRED, NotOffered, Path, Problems
from ratecard.base.money import total
from ratecard.line_items.conditions import NotSoldError, accepted_conditions, wrong_conditions
from ratecard.line_items.quote import LineItem, Quote
from ratecard.line_items.tokens import MOST_STATED, TokenRates, TokenTier
from ratecard.methods.metered import Metered, Rater
from ratecard.methods.method import UsageReading
from ratecard.methods.surcharge import surcharge_count, surcharge_line
from ratecard.pricing.counted import CONDITIONS, lines_under, once_for_each, readings_of
from ratecard.requests.body import INVALID, mapping_of
from ratecard.requests.counters import MOST_TOKENS, path_of, path_of_bucket
from ratecard.requests.metered import LISTED, Meterage, count_listed, read_counts, usage_keys, usage_problems
from ratecard.requests.service_parameters import NO_PARAMETERS, SEARCHES, Suffix, billed_searches, read_parameters
from ratecard.requests.token_usage import (
    NO_PRICE,
    NO_TOKENS,
    ORDINARY,
    count_messages,
    read_buckets,
    read_conditions,
    read_tokens,
)
from ratecard.tables.metered import Tokens

_LEFT_OUT: Any = object()
_COUNTS = ("usage", "tokens", "counts")
_WEB_SEARCHES = SEARCHES["web_search"][0]


class _Layout(NamedTuple):
    """The plan to read usages with the same names, if these are only tokens, conditions and metadata.

    `conditions` returns the values of a usage's conditions; `tiers` has the tiers of rates by these values.
    """

    conditions: Callable[[Mapping[str, Any]], Any]
    tiers: dict[Any, tuple[TokenTier, ...]]
    metadata: bool


def price_text(
    metered: Metered,
    rates: TokenRates,
    surcharges: Mapping[str, Metered],
    scraped_most: int,
    *,
    with_parameters: bool = True,
) -> Rater:
    """Compile the function that rates text or embedding usages at one version.

    `rates` are the rates of its tokens, `surcharges` those that the model names, `scraped_most` the most scraped URLs
    of a request, and `with_parameters` is True if requests have service parameters.
    """
    is_text = metered.model.type == "text"
    readings = readings_of(metered, metered.model.type)
    lines_of = lines_under(metered, metered.model.type, readings)
    read, tier_of = ORDINARY[is_text], rates.tier_of
    named = [metered.version.conditions, *(surcharge.version.conditions for surcharge in surcharges.values())]
    accepted = accepted_conditions(named, metered.meters)
    priced, minimum = metered.priced(), metered.version.minimum
    search_lines = search_lines_under(surcharges)
    text_fields = [field for field, _ in SEARCHES.values()] if is_text else []
    text_fields += ["service_parameters"] if is_text and with_parameters else []
    meters = counted_meters(readings, surcharges, scraped_most)
    # True if a meter must be read even from usages that do not name it.
    always = any(meterage.otherwise != 0 for meterage in meters.values())
    # A charge of the model counts these searches itself, so they are not surcharges below.
    charged = {name for reading in readings for name in reading.meters} & SEARCHES.keys()
    known, supported = usage_keys((*_COUNTS, *text_fields, *accepted)), frozenset(surcharges)
    of_searches = frozenset((*text_fields, "counts"))
    further_surcharges, wrong = surcharges.keys() - SEARCHES.keys(), wrong_conditions(metered.version, metered.meters)

    def layout(names: Sequence[str]) -> _Layout | None:
        if "usage" not in names or always or minimum or not {*names} <= known_alone:
            return None
        conditions = itemgetter(*[name for name in names if name in accepted] or ["type"])
        return _Layout(conditions, {}, "metadata" in names)

    def tiers_of(usage: Mapping[str, Any], of: _Layout) -> tuple[TokenTier, ...] | None:
        """Return the tiers under a usage's conditions, and keep them; None if these are wrong, or too many are kept."""
        problems: Problems = []
        stated = read_conditions(usage, accepted, problems)
        if problems or wrong(stated) or len(of.tiers) >= MOST_STATED:
            return None
        tiers = of.tiers[of.conditions(usage)] = rates.tiers(stated)
        return tiers

    layouts, known_alone = Layouts(layout), usage_keys(("usage", *accepted))

    def rate(usage: Mapping[str, Any], suffix: Suffix) -> Quote:
        # Most usages have only tokens, or tokens and conditions. Any other usage is read with care.
        usage_layout = layouts[(*usage,)]
        if usage_layout is None or suffix:
            return rate_with_care(usage, suffix)
        conditions, tiers_under, metadata = usage_layout
        usage_object = usage["usage"]
        counts = read(usage_object) if usage_object.__class__ is dict else None
        if counts is None or (metadata and usage["metadata"].__class__ is not dict):
            return rate_with_care(usage, suffix)
        names, values, searched, ignored = counts
        try:
            tiers = tiers_under.get(conditions(usage)) or tiers_of(usage, usage_layout)
        except TypeError:  # a value is unhashable
            return rate_with_care(usage, suffix)
        lines_and_sum = tiers and tier_of(tiers, values[0]).lines[names](*values)
        if not lines_and_sum or searched is not None:
            return rate_with_care(usage, suffix)
        lines, exact = lines_and_sum
        return Quote(priced, exact, exact, lines, ignored, (values[0], values[1]))

    def rate_with_care(usage: Mapping[str, Any], suffix: Suffix) -> Quote:
        problems: Problems = []
        usage_object = usage.get("usage", _LEFT_OUT)
        unpriced: tuple[str, ...] = ()
        if LISTED in usage:
            usage, unpriced = count_listed(usage, meters)
        problems += usage_problems(usage, known)
        stated = read_conditions(usage, accepted, problems)
        if "tokens" in usage:
            counts = read_buckets(usage["tokens"], rates.buckets.keys(), problems)
            if usage_object is not _LEFT_OUT:
                problems.append((("tokens",), "Give the counts once: as usage, or as tokens"))
        elif usage_object is _LEFT_OUT:
            counts = NO_TOKENS
            problems.append((("usage",), REQUIRED))
        else:
            counts = read_tokens(usage_object, problems, is_text, accepted, stated)
        counted = _NO_COUNTS
        if always or "counts" in usage:
            counted = read_counts(usage, meters, metered.meters.counted, problems)
        names, values, searched, ignored = counts
        ignored += unpriced
        if not problems:
            if refusals := wrong(stated):
                raise QuoteError(INVALID, stated_at(usage, refusals))
            tier = rates.tier(values[0], stated)
            if (lines_and_sum := tier.lines[names](*values)) is None:
                problems += stated_at(usage, ((name, words()) for name, words in tier.unmet.items())) or [
                    (path_of_bucket(name, usage), words) for name, words in tier.problems(names, values)
                ]
            else:
                priced_lines, exact = lines_and_sum
        searches = _NO_SEARCHES
        if is_text and (suffix or searched is not None or not of_searches.isdisjoint(usage)):
            others = {name: count for name, count in counted.items() if name not in charged}
            searches = _read_searches(usage, suffix, searched, others, supported, scraped_most, problems)
        elif searched:
            problems.append((path_of("searches", usage_object), NO_PRICE))
        if not (problems or counted or usage.get("tokens", True)):
            problems.append((("tokens",), "Object must contain at least 1 count"))
        if problems:
            raise QuoteError(INVALID, problems)
        tokens = values[0], values[1]
        if not (counted or minimum or searches != _NO_SEARCHES):
            return Quote(priced, exact, exact, priced_lines, ignored, tokens)
        lines = [*priced_lines]
        try:
            if counted and readings:
                lines += lines_of({"counts": counted, CONDITIONS: stated})
            lines += metered.up_to_minimum(lines)
            billed = dict(searches.billed)
            billed |= {name: count for name, count in counted.items() if count and name in further_surcharges}
            line_of = search_lines(stated)
            lines += [line_of[name](count) for name, count in billed.items()]
        except NotSoldError as refusal:
            raise QuoteError(INVALID, stated_at(usage, refusal.problems)) from None
        exact = total([line.amount for line in lines])
        return Quote(priced, exact, exact, (*lines,), ignored + searches.ignored, tokens)

    return rate


def token_rates(metered: Metered) -> TokenRates:
    """Return the rates of the tokens of a version that charges them."""
    charge = cast(Tokens, metered.version.tokens)
    name, version, per = metered.model.model, metered.version, metered.units[charge.unit].per
    return TokenRates(name, charge, per, metered.meters, version.factors, version.places_of_lines)


def stated_at(usage: Mapping[str, Any], refusals: Iterable[tuple[str, str]]) -> Problems:
    """Return the problems of conditions, each where the usage states it: in the usage or in the provider's object."""
    counts = mapping_of(usage.get("usage")) or {}
    return [(("usage", name) if name in counts and not usage.get(name) else (name,), words) for name, words in refusals]


SearchLines = Mapping[str, Callable[[int | Decimal], LineItem]]


def search_lines_under(surcharges: Mapping[str, Metered]) -> Callable[[Mapping[str, str]], SearchLines]:
    """Compile the function from stated conditions to the functions (count -> line item) of the surcharges."""
    wrong = {name: wrong_conditions(surcharge.version, surcharge.meters) for name, surcharge in surcharges.items()}

    def line_of(name: str, stated: Mapping[str, str]) -> Callable[[int | Decimal], LineItem]:
        line, problems = surcharge_line(surcharges[name].under(stated)), wrong[name](stated)

        def sold(count: int | Decimal) -> LineItem:
            if problems:
                raise NotSoldError(problems)
            return line(count)

        return sold

    return once_for_each(lambda stated: {name: line_of(name, stated) for name in surcharges})


def counted_meters(
    readings: Sequence[UsageReading], surcharges: Mapping[str, Metered], scraped_most: int = 0
) -> dict[str, Meterage]:
    """Return the meters that the `counts` of a usage may name: those of these charges, and the surcharges."""
    meters = {name: meterage for reading in readings for name, meterage in reading.meters.items()}
    for name, surcharge in surcharges.items():
        most = scraped_most if name == "web_scraping" else MOST_TOKENS
        meters[name] = Meterage(surcharge_count(surcharge, most), 0)
    return meters


class _Searches(NamedTuple):
    billed: Mapping[str, int | Decimal]
    ignored: tuple[str, ...]


_NO_SEARCHES = _Searches({}, ())
_NO_COUNTS: dict[str, int | Decimal] = {}


def _read_searches(
    usage: Mapping[str, Any],
    suffix: Suffix,
    searched: int | None,
    counted: Mapping[str, int | Decimal],
    supported: frozenset[str],
    scraped_most: int,
    problems: Problems,
) -> _Searches:
    """Read the searches to bill: counted in a field, in `counts`, in the usage object (`searched`), or switched on.

    A count of a search that the model does not support is a problem. A parameter for such a search has no effect.
    """

    def path_to(kind: str) -> Path:
        field = SEARCHES[kind][0]
        if field in usage:
            return (field,)
        return ("counts", kind) if kind in counted else path_of("searches", usage["usage"])

    counts: dict[str, int] = {}
    for kind, (field, _) in SEARCHES.items():
        if field in usage:
            count, most = usage[field], scraped_most if kind == "web_scraping" else MOST_TOKENS
            messages = count_messages(count, most)
            problems += [((field,), message) for message in messages]
            counts[field] = 0 if messages else int(count)
        if kind in counted and counts.setdefault(field, int(counted[kind])) != counted[kind]:
            problems.append((("counts", kind), f"Expected {counts[field]}, as {field} beside it says"))
    if searched is not None:
        if counts.get(_WEB_SEARCHES, searched) != searched:
            words = f"Expected {counts[_WEB_SEARCHES]}, as {_WEB_SEARCHES} beside the usage says"
            problems.append((path_of("searches", usage["usage"]), words))
        counts.setdefault(_WEB_SEARCHES, searched)
    parameters = NO_PARAMETERS
    if suffix or "service_parameters" in usage:
        parameters = read_parameters(usage.get("service_parameters", {}), suffix, problems)
    if not any(parameters) and not any(counts.values()):
        return _NO_SEARCHES
    idle = parameters.idle(supported)
    billed = billed_searches(counts, {name: value for name, value in parameters.known.items() if name not in idle})
    problems += [
        (path_to(kind), NotOffered(f"This model does not support {kind.replace('_', ' ')}"))
        for kind in billed
        if kind not in supported
    ]
    uncharged = [kind for kind, (field, _) in SEARCHES.items() if counts.get(field) and kind not in billed]
    ignored = tuple(".".join(map(str, path_to(kind))) for kind in uncharged)
    return _Searches(billed, ignored + parameters.without_effect(supported))
