"""What the compared tables ask of a usage beside its attributes: on which side of a threshold, and which buckets."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from ratecard.card import RateCard
from ratecard.rating.tokens import BUCKETS, token_rates
from ratecard.tables.metered_charges import Tokens


class Predicates(NamedTuple):
    """Derived from the declarations of the tables, all compared cards together.

    `thresholds`: where long-context rates begin, in order. `lacking`: the buckets of tokens for which some version has
    no price, so that it matters whether a request has any. `boundaries`: the days on which some price changes.
    """

    thresholds: tuple[int, ...] = ()
    lacking: tuple[str, ...] = ()
    boundaries: tuple[date, ...] = ()

    @classmethod
    def of(cls, cards: Iterable[RateCard], *, dated: bool = True) -> "Predicates":
        """What these cards ask; where no card is read at the row's own time, days do not matter."""
        thresholds: set[int] = set()
        lacking: set[str] = set()
        boundaries: set[date] = set()
        for card in cards:
            boundaries |= {instant.date() for instant in card.boundaries()} if dated else set()
            for name, charge in _token_charges(card):
                rates = token_rates(name, charge, card.tables.units[charge.unit].per)
                thresholds |= {rates.threshold} if rates.threshold is not None else set()
                lacking |= {bucket for bucket in BUCKETS if bucket not in rates.base or bucket not in rates.extended}
        buckets = tuple(bucket for bucket in BUCKETS if bucket in lacking)
        return cls(tuple(sorted(thresholds)), buckets, tuple(sorted(boundaries)))

    def prompt_in(self, tier: int) -> int:
        """A prompt of the tier: one token more than its threshold; zero only where the first tier has no other."""
        if tier:
            return self.thresholds[tier - 1] + 1
        return 0 if self.thresholds[:1] == (0,) else 1

    def weight(self, bucket: str) -> int:
        """What a bucket without a price adds to the number of a tier where it is used."""
        return (len(self.thresholds) + 1) << self.lacking.index(bucket)

    def split(self, asked: int) -> tuple[int, frozenset[str]]:
        """The tier of a prompt, and the buckets that are used of those without a price."""
        used, tier = divmod(asked, len(self.thresholds) + 1)
        return tier, frozenset(bucket for bit, bucket in enumerate(self.lacking) if used >> bit & 1)

    def covers(self, other: "Predicates") -> bool:
        """Whether shapes made for this tell apart all that the other asks."""
        return (
            set(self.thresholds) >= set(other.thresholds)
            and set(self.lacking) >= set(other.lacking)
            and set(self.boundaries) >= set(other.boundaries)
        )


def _token_charges(card: RateCard) -> Iterator[tuple[str, Tokens]]:
    for name, model in card.tables.models.items():
        for version in model.versions:
            yield from ((name, charge) for charge in version.charges if isinstance(charge, Tokens))
