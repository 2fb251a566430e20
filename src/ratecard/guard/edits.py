"""Whether a version reads differently where it may not once it is in effect: in its prices and its units."""

from itertools import zip_longest
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.diff.change import RateChange
from ratecard.diff.rates import rate_changes
from ratecard.diff.side import Priceable
from ratecard.diff.stretch import same
from ratecard.diff.terms import term_changes, terms_of
from ratecard.diff.wording import NONE, amounts, subject
from ratecard.tables.card import AnyModel
from ratecard.tables.version import Version

Dated = tuple[RateCard, AnyModel, Version]

# What may be said differently without another price: what can be asked for, and names.
_FREE = ("mode", "limit tier", "context_tokens", "order of charges", "accepts ")
# Of what can be asked for, what decides a price.
_PRICED = ("accepts resolution_aliases", "accepts reference_video_total_duration source")


class Edit(NamedTuple):
    """What was edited, and where, if it stands on a line of its own."""

    words: str
    place: str


def edit_of(old: Dated, new: Dated) -> Edit | None:
    """The first edit of prices or units; None where there is none."""
    before, after = _priceable(*old), _priceable(*new)
    if same(before, after):
        return None
    after = after._replace(version=_named_alike(before.version, after.version))
    rates = rate_changes(before, after)
    if rates:
        more = f" and {len(rates) - 1} more" if len(rates) > 1 else ""
        return Edit(f"{_words(rates[0])}{more}", rates[0].new.source if rates[0].new else "")
    for term in term_changes(terms_of(before), terms_of(after)):
        if term.term.startswith(_PRICED) or not term.term.startswith(_FREE):
            return Edit(f"{term.term}: {term.old or NONE} -> {term.new or NONE}", "")
    return None


def _priceable(card: RateCard, model: AnyModel, version: Version) -> Priceable:
    return Priceable(model, version, card.tables.units)


def _named_alike(old: Version, new: Version) -> Version:
    """The new version with its charges under the names that they had: a name is no price."""
    was, now = [charge.charge for charge in old.charges], [charge.charge for charge in new.charges]
    gone, come = [name for name in was if name not in now], [name for name in now if name not in was]
    names = {name: before or name for name, before in zip_longest(come, gone[: len(come)])}
    charges = tuple(
        charge.model_copy(update={"charge": names.get(charge.charge, charge.charge)}) for charge in new.charges
    )
    return new.model_copy(update={"charges": charges})


def _words(rate: RateChange) -> str:
    old, new = amounts(rate)
    return f"{subject(rate)}: {old or NONE} -> {new or NONE}"
