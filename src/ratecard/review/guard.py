"""Find the changes of tables that are refused.

Prices, limits and terms of a month that were in effect may not be edited, unless the version, the limit or the file of
the terms gives a `correction`. A price may not change by more than a factor, which may be a slip of the decimal point,
unless the version has `expected_change`.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import zip_longest
from math import ceil
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from ratecard.base.errors import Fault, in_order
from ratecard.base.instants import next_month, utc
from ratecard.base.money import from_fraction, text
from ratecard.card import RateCard
from ratecard.contracts.checks import fault_at
from ratecard.load.folder import LIMITS, METERS, MONTHLY, VOCABULARY
from ratecard.review.compare import compare_cells, days_of, same, stretches
from ratecard.review.contracts import contract_refusals, earlier_correction, is_corrected
from ratecard.review.difference import CHANGED, Difference, factor
from ratecard.review.rates import Terms, described, rate_changes, term_changes, terms_of
from ratecard.review.report import NONE
from ratecard.review.sides import Priceable, Side
from ratecard.tables.card import AnyModel, Tables, meaning
from ratecard.tables.limits import Limits
from ratecard.tables.metered import TextVersion
from ratecard.tables.monthly import described_terms
from ratecard.tables.scalars import in_ranges, value_text
from ratecard.tables.version import Version
from ratecard.tables.video import VideoVersion
from ratecard.tables.windows import each_hour, windows_of

# The decimal places of a factor in a message.
_PLACES = 2
# An entry that holds from a day on.
_Dated = TypeVar("_Dated", Version, Limits)


class Rules(NamedTuple):
    """The instant that divides past from future, the greatest factor allowed, and the name of the old side."""

    as_of: datetime
    most: Decimal
    revision: str

    def begun(self, day: date) -> bool:
        """Return True if a version of this day is in effect."""
        return utc(day) <= self.as_of

    def past(self, day: date) -> bool:
        """Return True if requests may have been priced since this day began."""
        return utc(day) < self.as_of

    @property
    def next_month(self) -> date:
        """Return the first day of the first month that has not begun."""
        first = self.as_of.astimezone(UTC).date().replace(day=1)
        return next_month(first) if self.past(first) else first


class _Step(NamedTuple):
    """The factor by which a price changes (above 1; None from or to zero), the change in words, and its `file:line`."""

    times: Fraction | None
    words: str
    place: str


def steep_steps(old: Side, new: Side, most: Decimal) -> Iterator[Fault]:
    """Yield a fault for each new or edited version that changes a price by more than `most` without expecting it."""
    days = days_of(old, new)
    for name in sorted(old.card.tables.models.keys() & new.card.tables.models.keys()):
        reported: set[date] = set()
        for change in stretches(name, old, new, days):
            version = _new_or_edited(name, change, old, new) if change.kind == CHANGED else None
            if version is None or version.effective in reported:
                continue
            step = _steepest(change, old, new)
            if not _allowed(step, version.expected_change, most):
                reported.add(version.effective)
                words = f"{name}: {step.words}{_hint(step, version, most)}"
                yield fault_at(step.place or version.place, name, words)


def _new_or_edited(name: str, change: Difference, old: Side, new: Side) -> Version | None:
    """Return the version in effect on the new side; None if the old side has the same one."""
    after = Priceable(*new.book(change.effective).in_effect(name), new.card.tables.units)
    model, units = old.card.tables.models[name], old.card.tables.units
    day = after.version.effective
    before = (Priceable(model, version, units) for version in model.versions if version.effective == day)
    return None if any(same(priceable, after) for priceable in before) else after.version


def _steepest(change: Difference, old: Side, new: Side) -> _Step:
    """Return the change by the greatest factor, of a rate or of a price cell at any hour."""
    steps = [_Step(Fraction(1), "", "")]
    for rate in change.rates:
        if rate.old and rate.new:
            was, now = rate.amounts
            words = f"{rate.subject} goes from {was} ({rate.old.source}) to {now}"
            steps.append(_Step(factor(rate.old.each, rate.new.each), words, rate.new.source))
    name, begins, ends = change.model, utc(change.effective), change.until and utc(change.until)
    versions = [version for side in (old, new) for version in side.card.tables.models[name].versions]
    for moment in each_hour(begins, windows_of(versions)):
        if moment == begins:
            cells, at = change.cells, ""
        elif ends is None or moment < ends:
            cells, at = compare_cells(name, old.book(moment), new.book(moment)), f" at {moment:%Y-%m-%dT%H:%MZ}"
        else:
            continue
        if steep := cells.steepest:
            words = f"the price of {steep.cell or 'a request'}{at} goes from {text(steep.old)} to {text(steep.new)}"
            steps.append(_Step(factor(steep.old, steep.new), words, ""))
    return max(steps, key=lambda step: (step.times is None, step.times or 0))


def _allowed(step: _Step, expected: Decimal | None, most: Decimal) -> bool:
    """Return True if a step is small enough, or the version expects it; a step from or to zero must be expected."""
    if step.times is None:
        return expected is not None
    # `expected_change: 0.25` allows a change by the factor 4.
    enough = [Fraction(most)]
    if expected:
        enough += [Fraction(expected), 1 / Fraction(expected)]
    return step.times <= max(enough)


def _hint(step: _Step, version: Version, most: Decimal) -> str:
    scale = 10**_PLACES
    # The factor is rounded up, so that writing it is enough.
    times = "" if step.times is None else text(from_fraction(Fraction(ceil(step.times * scale), scale), _PLACES))
    by = f", by a factor of {times}; without a word at most {text(most)}" if times else ""
    factor_words = f", which says {text(version.expected_change)}" if version.expected_change else ""
    return f"{by}. If that is right, say `expected_change: {times or 1}` in version {version.effective}{factor_words}"


def limit_refusals(old: tuple[Limits, ...], new: tuple[Limits, ...], rules: Rules) -> Iterator[Fault]:
    """Yield faults for edited or deleted limits in effect and for new limits in the past, without a `correction`."""
    for before, after in _in_question(old, new, rules):
        if before and after:
            yield from _edited_limits(before, after)
        elif before:
            place = f"{rules.revision}:{before.place}"
            words = f"the limits of {before.effective} were in effect ({place}), and are gone. Put them back"
            words += "; if only their date was wrong, say `correction: reason` in the others"
            yield _fault_of_limits(new[0].place if new else "", words)
        elif after and rules.past(after.effective):
            words = f"new limits begin on {after.effective}, in the past. Let them begin later"
            words += "; if the limits of that day were wrong, say `correction: reason`"
            yield _fault_of_limits(after.place, words)


def _in_question(
    old: Sequence[_Dated], new: Sequence[_Dated], rules: Rules
) -> Iterator[tuple[_Dated | None, _Dated | None]]:
    """Yield (old, new) pairs of entries that need a reason: old in effect, new None if gone; old None if added.

    An added entry with a `correction` is left out, and so is one entry that is gone, whose date it corrects.
    """
    days, now = {entry.effective for entry in old}, {entry.effective: entry for entry in new}
    added = [entry for entry in new if entry.effective not in days]
    corrected = [entry for entry in added if entry.correction]
    for before in old:
        if rules.begun(before.effective):
            after = now.get(before.effective)
            if after or not corrected:
                yield before, after
            else:
                corrected.pop()
    yield from ((None, entry) for entry in added if not entry.correction)


def _edited_limits(old: Limits, new: Limits) -> Iterator[Fault]:
    changes = term_changes(described(old), described(new))
    if not changes or is_corrected(old.correction, new.correction):
        return
    first = changes[0]
    was = {meaning(line) for line in (*old.text, *old.types, *old.sunsets)}
    places = (line.place for line in (*new.text, *new.types, *new.sunsets) if meaning(line) not in was)
    words = f"the limits of {new.effective} are in effect, and were edited: {first.term}: {first.old or NONE}"
    words += f" -> {first.new or NONE}. Put them back as they were and write new ones above them"
    hint = earlier_correction(new.correction) or "if they were wrong from the start, say `correction: reason` in them"
    place = next(places, "") if first.term in ("text", "types", "sunsets") else ""
    yield _fault_of_limits(place or new.place, f"{words}; {hint}")


def _fault_of_limits(place: str, words: str) -> Fault:
    return fault_at(place or f"{LIMITS}:1", "limits", words)


def monthly_refusals(old: Tables, new: Tables, rules: Rules) -> Iterator[Fault]:
    """Yield a fault for each general term of a month that has begun, if it differs without a `correction`."""
    correction = new.monthly_correction
    if is_corrected(old.monthly_correction, correction):
        return
    # Between two of these days the same terms hold; `date.min` stands for the months before the first of them.
    days = {date.min, *(day for term in (*old.monthly, *new.monthly) for day in (term.begins, term.until) if day)}
    refused: set[str] = set()
    for day in sorted(filter(rules.past, days)):
        (before, old_places), (after, new_places) = (_terms_in(day, tables) for tables in (old, new))
        for change in term_changes(before, after):
            if change.term in refused:
                continue
            refused.add(change.term)
            since = "in months that have begun" if day == date.min else f"from {day} on"
            words = f"{change.term}, which every account has, was edited {since}: {change.old or NONE}"
            words += f" -> {change.new or NONE}. Let it change from {rules.next_month} on, by until and from"
            wrong = f"if it was wrong from the start, say `correction: reason` in {MONTHLY}"
            hint = earlier_correction(correction) or wrong
            place = new_places.get(change.term) or f"{rules.revision}:{old_places[change.term]}"
            yield fault_at(place, "monthly", f"{words}; {hint}")


def _terms_in(month: date, tables: Tables) -> tuple[Terms, dict[str, str]]:
    """Return the texts of the general terms of a month, without their dates, and their `file:line`."""
    texts, places = Terms(), dict[str, str]()
    for term in tables.monthly:
        if term.holds(month):
            text_by_name = described_terms([term.model_copy(update={"begins": None, "until": None})])
            texts |= text_by_name
            places |= dict.fromkeys(text_by_name, term.source)
    return texts, places


# Prefixes of terms that may be edited because they do not change a price, and of terms that look like them but do.
_FREE = ("mode", "aliases", "patterns", "provider", "limit tier", "context_tokens", "order of charges", "accepts ")
_PRICED = ("accepts resolution_aliases", "accepts reference_video_total_duration source")


def edit_of(before: Priceable, after: Priceable) -> tuple[str, str] | None:
    """Return the first edit of prices or units in words, and its `file:line` (or empty text); None without an edit."""
    if same(before, after):
        return None
    after = after._replace(version=_named_alike(before.version, after.version))
    rates = rate_changes(before, after)
    if rates:
        more = f" and {len(rates) - 1} more" if len(rates) > 1 else ""
        old, new = rates[0].amounts
        words = f"{rates[0].subject}: {old or NONE} -> {new or NONE}{more}"
        return words, rates[0].new.source if rates[0].new else ""
    for term in term_changes(terms_of(before), terms_of(after)):
        was_stated = term.term == "provider" and term.old
        if was_stated or term.term.startswith(_PRICED) or not term.term.startswith(_FREE):
            return f"{term.term}: {term.old or NONE} -> {term.new or NONE}", ""
    lost = next(_no_more_accepted(before.version, after.version), None)
    return (f"{lost} -> {NONE}", "") if lost else None


def _no_more_accepted(before: Version, after: Version) -> Iterator[str]:
    """Yield what a field no longer accepts: values, or numbers beyond a limit that is narrower now."""
    if not isinstance(before, VideoVersion) or not isinstance(after, VideoVersion):
        return
    for name, accepted in before.accepts:
        now, lost = getattr(after.accepts, name), list[str]()
        if isinstance(accepted, tuple) and now is not None:
            lost = in_ranges(value_text(value) for value in accepted if value not in now)
        elif isinstance(accepted, BaseModel) and now is not None:
            limits = ((key, limit, getattr(now, key)) for key, limit in accepted)
            lost = [f"{key} {limit}" for key, limit, new in limits if (new > limit if key == "min" else new < limit)]
        if lost:
            yield f"accepts {name}: {', '.join(lost)}"


def _named_alike(old: Version, new: Version) -> Version:
    """Return the new version with renamed charges under their old names, because a name does not change a price."""
    was, now = [charge.charge for charge in old.charges], [charge.charge for charge in new.charges]
    removed, added = [name for name in was if name not in now], [name for name in now if name not in was]
    names = {name: before or name for name, before in zip_longest(added, removed[: len(added)])}
    charges = tuple(
        charge.model_copy(update={"charge": names.get(charge.charge, charge.charge)}) for charge in new.charges
    )
    return new.model_copy(update={"charges": charges})


_RIGHT_WAY = "Put it back as it was and write a new version above it"


def refusals(old: RateCard, new: RateCard, rules: Rules) -> list[Fault]:
    """Find every refused change, at its line, in the order of the files."""
    faults = [fault for model in old.tables.models.values() for fault in _of_model(model, old, new, rules)]
    faults += _moved_names(old.tables, new.tables, rules)
    faults += limit_refusals(old.tables.limits, new.tables.limits, rules)
    faults += monthly_refusals(old.tables, new.tables, rules)
    faults += contract_refusals(old, new, rules.as_of, rules.revision)
    faults += steep_steps(Side(rules.revision, old), Side("", new), rules.most)
    return in_order(faults)


def _of_model(model: AnyModel, old: RateCard, new: RateCard, rules: Rules) -> Iterator[Fault]:
    """Yield the refused changes of a model of the old side, except steep steps."""
    after = new.tables.models.get(model.model)
    begun = [version for version in model.versions if rules.begun(version.effective)]
    if after is None:
        is_retired = model.retired is not None and rules.begun(model.retired.on)
        if begun and not is_retired:
            words = f"model '{model.model}' vanished, and has had prices since {begun[-1].effective}"
            hint = "Put it back, and end it by `retired: {on: DATE}`; its versions stay"
            yield fault_at(f"{rules.revision}:{begun[0].place}", model.model, f"{words}. {hint}")
        return
    for version, now in _in_question(model.versions, after.versions, rules):
        if version and now:
            yield from _edited(model, version, after, now, old, new)
        elif version:
            yield _deleted(model, version, after, rules)
        elif now:
            yield from _backdated(model, now, rules)
    yield from _retired(model, after, rules)


def _moved_names(old: Tables, new: Tables, rules: Rules) -> Iterator[Fault]:
    """Yield a fault for each name of a model in effect that now means another one, or nothing: names have no dates."""
    for name in {name: None for tables in (old, new) for model in tables.models.values() for name in _names_of(model)}:
        was, now = (tables.meant(name) for tables in (old, new))
        begun = [version for version in was.versions if rules.begun(version.effective)] if was else []
        # A model that vanished with all of its names is a fault of its own.
        holder = now or (new.models.get(was.model) if was else None)
        if was is None or holder is None or not begun or (now and now.model == was.model):
            continue
        if not _corrects(holder, old.models.get(holder.model)):
            words = f"'{name}' meant {was.model}, which has had prices since {begun[-1].effective}, and now means"
            words += f" {now.model if now else 'nothing'}, which changes what had a price in the past"
            hint = "Leave the name where it was; if it was wrong from the start, say `correction: reason` in the"
            yield fault_at(holder.versions[0].place, holder.model, f"{words}. {hint} newest version of {holder.model}")


def _names_of(model: AnyModel) -> tuple[str, ...]:
    return (model.model, *(model.aliases or ()), *(model.patterns or ()))


def _corrects(model: AnyModel, before: AnyModel | None) -> bool:
    """Return True if the newest version of a model has a `correction` that it did not have before."""
    newest = model.versions[0]
    known = {version.effective: version for version in before.versions} if before else {}
    same_day = known.get(newest.effective)
    return is_corrected(same_day.correction if same_day else None, newest.correction)


def _edited(
    model: AnyModel, version: Version, after: AnyModel, now: Version, old: RateCard, new: RateCard
) -> Iterator[Fault]:
    if is_corrected(version.correction, now.correction):
        return
    edit = edit_of(Priceable(model, version, old.tables.units), Priceable(after, now, new.tables.units))
    edit = edit or _edit_of_shared(version, old.tables, new.tables)
    if edit is None:
        return
    words, place = edit
    words = f"version {version.effective} of {model.model} is in effect, and was edited: {words}"
    hint = earlier_correction(now.correction) or "if it was wrong from the start, say `correction: reason` in it"
    yield fault_at(place or now.place, model.model, f"{words}. {_RIGHT_WAY}; {hint}")


def _edit_of_shared(version: Version, old: Tables, new: Tables) -> tuple[str, str] | None:
    """Return the first edit of shared meters or the vocabulary that changes a price of a version, like `edit_of`."""
    if old.meters == new.meters and old.vocabulary == new.vocabulary:
        return None
    before, after = _of_shared(version, old), _of_shared(version, new)
    # A setting that only the new side has gives a price to usages that had none before.
    name = min((name for name in before if before[name] != after.get(name)), default="")
    file = VOCABULARY if name == _PARAMETERS else METERS
    return (f"{name}: {before[name]} -> {after.get(name, NONE)} ({file})", "") if name else None


# Without these, text requests and names of models that have parameters have no price.
_PARAMETERS = "service_parameters"


def _of_shared(version: Version, tables: Tables) -> dict[str, str]:
    """Return what the shared meters and the vocabulary say of the conditions, counts and parameters of a version."""
    of_text = isinstance(version, TextVersion) and tables.vocabulary.service_parameters
    terms: dict[str, str | None] = {_PARAMETERS: "true" if of_text else None}
    for condition in filter(None, map(tables.meters.condition.get, version.conditions)):
        terms[f"default of {condition.condition}"] = condition.default
        terms |= {f"{condition.condition} {word}": value for word, value in condition.same_as.items()}
    units = filter(None, (tables.units.get(charge.unit) for charge in version.charges))
    for meter in filter(None, (tables.meters.by_name.get(unit.counts) for unit in units)):
        terms |= {f"without_rate {name} of {meter.meter}": value for name, value in meter.without_rate.items()}
        terms[f"{meter.meter} of every usage"] = None if meter.every_usage is None else str(meter.every_usage)
        terms |= {f"bucket {bucket.bucket}": value_text(bucket.dimensions, in_order=False) for bucket in meter.buckets}
    return {name: term for name, term in terms.items() if term is not None}


def _deleted(model: AnyModel, version: Version, after: AnyModel, rules: Rules) -> Fault:
    words = (
        f"version {version.effective} of {model.model} was in effect ({rules.revision}:{version.place}), and is gone"
    )
    hint = "Put it back; if only its date was wrong, say `correction: reason` in the version with the right one"
    return fault_at(after.versions[0].place, model.model, f"{words}. {hint}")


def _backdated(model: AnyModel, version: Version, rules: Rules) -> Iterator[Fault]:
    before = model.version_at(version.effective)
    if before and not model.retired_at(version.effective) and rules.past(version.effective):
        words = f"new version {version.effective} of {model.model} begins in the past, in that of {before.effective}"
        hint = "Let it begin later; if that price was wrong, say `correction: reason` in the new version"
        yield fault_at(version.place, model.model, f"{words}. {hint}")


def _retired(model: AnyModel, after: AnyModel, rules: Rules) -> Iterator[Fault]:
    days = [side.retired.on if side.retired else None for side in (model, after)]
    if days[0] == days[1] or not any(day and rules.past(day) for day in days):
        return
    if _corrects(after, model):
        return
    old, new = (f"on {day}" if day else "not at all" for day in days)
    words = f"{model.model} was retired {old}, and now {new}, which changes what had a price in the past"
    hint = "Let it end later; if the date was wrong, say `correction: reason` in its newest version"
    yield fault_at(after.versions[0].place, model.model, f"{words}. {hint}")
