"""The samples of a period in slots: how many of them a model has is how often it is used."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ratecard.simulation.demo.traffic import MILLION, Offer, Period

# Of each period; a power of two.
SLOTS = 65_536


class Stretch(NamedTuple):
    """So many slots from `slot` on hold the `kinds` samples from `first` on."""

    slot: int
    slots: int
    first: int
    kinds: int


def stretches(periods: Sequence[Period], bad: int) -> Iterator[Stretch]:
    """The slots of every period; `bad` is the part of the rows that are spoilt, of a million."""
    for number, period in enumerate(periods):
        spoilt = min(SLOTS, max(1, round_half_up(SLOTS * bad, MILLION))) if bad else 0
        yield from _placed(number * SLOTS, [(period.faults, spoilt), *_shared(period.offers, SLOTS - spoilt)])


def round_half_up(number: int, parts: int) -> int:
    """A fraction as the nearest whole number."""
    return (2 * number + parts) // (2 * parts)


def _shared(offers: Sequence[Offer], slots: int) -> Iterator[tuple[Offer, int]]:
    """Slots by weight; at least one each, as long as there are enough."""
    used = [offer for offer in offers if offer.weight]
    least = 1 if len(used) <= slots else 0
    free, total, so_far = slots - least * len(used), sum(offer.weight for offer in used), 0
    for offer in used:
        before = free * so_far // total
        so_far += offer.weight
        yield offer, free * so_far // total - before + least


def _placed(slot: int, shared: list[tuple[Offer, int]]) -> Iterator[Stretch]:
    for offer, slots in shared:
        if slots:
            yield Stretch(slot, slots, offer.first, offer.kinds)
            slot += slots
