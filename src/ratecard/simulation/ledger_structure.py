"""Whether two versions differ in more than rates: then a SKU does not say what its requests would cost."""

from collections.abc import Iterable, Iterator

from ratecard.diff.change import TermChange
from ratecard.diff.rates import rate_changes
from ratecard.diff.side import Priceable
from ratecard.diff.terms import Terms, term_changes, terms_of
from ratecard.simulation.ledger_skus import Standing

# What changes no price, or is in the rates already.
_FREE = ("context_tokens", "surcharges ", "mode", "markup of ")
_ACCEPTS = "accepts "
_SHOWN = 3


def structural(was: Standing, now: Standing) -> str:
    """The conditions that differ, as a person reads them; empty where only rates do."""
    changes = list(_binding(was, term_changes(_terms(was), _terms(now))))
    more = [f"and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    return "; ".join([*map(_worded, changes[:_SHOWN]), *more])


def unchanged(was: Standing, now: Standing) -> bool:
    """Whether two versions charge the same for every request."""
    if was.version is now.version:
        return True
    return not structural(was, now) and not rate_changes(_priceable(was), _priceable(now))


def _binding(was: Standing, changes: Iterable[TermChange]) -> Iterator[TermChange]:
    """A choice of a video that had to be made, as there were two or more, may have got more or fewer."""
    for change in changes:
        field = change.term.removeprefix(_ACCEPTS)
        chosen = field != change.term and field != "audio" and len(_choices(was, field)) > 1
        if not change.term.startswith(_FREE) and not chosen:
            yield change


def _choices(standing: Standing, field: str) -> tuple[object, ...]:
    found = getattr(getattr(standing.version, "accepts", None), field, None)
    return found if isinstance(found, tuple) else ()


def _terms(standing: Standing) -> Terms:
    """The conditions, and what each unit counts: the same unit may count something else in another folder."""
    units = standing.book.card.tables.units
    counted = {f"what {charge.charge} counts": units[charge.unit].counts for charge in standing.version.charges}
    return {**terms_of(_priceable(standing)), **counted}


def _priceable(standing: Standing) -> Priceable:
    return Priceable(standing.model, standing.version, standing.book.card.tables.units)


def _worded(change: TermChange) -> str:
    return f"{change.term} was {change.old or 'not set'}, is {change.new or 'not set'}"
