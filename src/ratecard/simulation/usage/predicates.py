"""Which differences between requests matter to the compared tables: thresholds, buckets without a price, dates."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import date
from typing import NamedTuple

from ratecard.base.identity import Identity
from ratecard.card import RateCard
from ratecard.rating.tokens import TokenRates
from ratecard.requests.service_parameters import split_model
from ratecard.simulation.usage.columns import BUCKET_OF, LAYOUTS, Buckets, Layout
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.metered import TextVersion, Tokens


class PriceBasis(NamedTuple):
    """What decides the price of a model: the parts of the tables by identity, and the days of change, in order."""

    parts: tuple[Hashable, ...]
    days: tuple[date, ...] = ()


def price_basis(tables: Tables, name: str | None) -> PriceBasis:
    """What decides the price of a model, and of a text model that of its searches; without a name, of RPC credits."""
    if name is not None and name not in tables.models:
        name = split_model(name)[0]
    if name is not None and name not in tables.models:  # no model of this name on any day
        return PriceBasis(tuple(tables.models))
    models: list[AnyModel] = [model for model in tables.models.values() if model.type == "rpc"]
    if name is not None:
        models = [tables.models[name]]
        texts = (version for version in models[0].versions if isinstance(version, TextVersion))
        searches = {search for version in texts for search in version.surcharges.values()}
        models += [tables.models[search] for search in sorted(searches)]
    days = {version.effective for model in models for version in model.versions}
    days |= {model.retired.on for model in models if model.retired} | {limits.effective for limits in tables.limits}
    parts = map(Identity, (*models, tables.units, tables.vocabulary, tables.limits))
    return PriceBasis(tuple(parts), tuple(sorted(days)))


# Beside buckets without a price, where it matters which words refuse it: that a row has its counts as `tokens`.
BY_BUCKET = "by bucket"
_BUCKETS = next(layout.buckets for layout in LAYOUTS.values() if layout.buckets)


class Predicates(NamedTuple):
    """Derived from the declarations of the tables, all compared cards together.

    `thresholds`: where long-context rates begin, in order. `lacking`: the buckets of tokens for which some version of a
    type has no price, so that it matters whether a request has any. `boundaries`: the days on which some price changes;
    `of_model`: those of one model, where fewer are enough. `buckets`: those of the usage; `in_usage`: whether rows can
    have them as `usage`.
    """

    thresholds: tuple[int, ...] = ()
    lacking: Mapping[str, tuple[str, ...]] = {}
    boundaries: tuple[date, ...] = ()
    of_model: Mapping[str, tuple[date, ...]] = {}
    buckets: Buckets = _BUCKETS
    in_usage: bool = True

    @classmethod
    def of(
        cls,
        cards: Iterable[RateCard],
        *,
        dated: bool = True,
        by_model: bool = True,
        pairs: Iterable[tuple[str, str]] = (),
        layouts: Mapping[str, Layout] = LAYOUTS,
    ) -> "Predicates":
        """What these cards ask; where no card is read at the row's own time, days do not matter.

        `pairs`: a model whose rows may be priced as those of another, on whose days its price then changes too.
        `layouts`: the columns of the usage.
        """
        found = cls()
        for layout in layouts.values():
            if layout.buckets:
                in_usage = any(column.name in BUCKET_OF for column in layout.quantities)
                found = cls(buckets=layout.buckets, in_usage=in_usage)
        for card in cards:
            days = tuple(instant.date() for instant in card.boundaries()) if dated else ()
            names = card.tables.models if dated and by_model else ()
            of_model = {name: price_basis(card.tables, _rpc_or(card, name)).days for name in names}
            found = found.joined(cls((), {}, days, of_model))
            for model, charge in _token_charges(card):
                rates = TokenRates(model.model, charge, card.tables.units[charge.unit].per, card.tables.meters)
                lacking = tuple(each for each in found.buckets.names if not rates.prices(each, found.buckets.names))
                found = found.joined(cls(rates.thresholds, {model.type: lacking} if lacking else {}))
        own = dict(found.of_model)
        for old, new in pairs:
            if old in own:  # the rows of a model that no card has are split at every day
                own[old] = tuple(sorted({*own[old], *found.of_model.get(new, ())}))
        if found.in_usage and found.buckets.counted:
            found = found._replace(lacking={type_: (*names, BY_BUCKET) for type_, names in found.lacking.items()})
        return found._replace(of_model=own)

    def joined(self, other: "Predicates") -> "Predicates":
        """The predicates of both."""
        lacking = {
            type_: tuple(
                each
                for each in (*self.buckets.names, BY_BUCKET)
                if each in {*self.lacking.get(type_, ()), *other.lacking.get(type_, ())}
            )
            for type_ in {**self.lacking, **other.lacking}
        }
        of_model = self.of_model
        if other.of_model:
            of_model = {
                name: tuple(sorted({*self.of_model.get(name, ()), *other.of_model.get(name, ())}))
                for name in {**self.of_model, **other.of_model}
            }
        return self._replace(
            thresholds=tuple(sorted({*self.thresholds, *other.thresholds})),
            lacking=lacking,
            boundaries=tuple(sorted({*self.boundaries, *other.boundaries})),
            of_model=of_model,
        )

    def prompt_in(self, tier: int) -> int:
        """The shortest prompt of the tier; zero only where the first tier has no other."""
        if tier:
            return self.thresholds[tier - 1] + 1
        return 0 if self.thresholds[:1] == (0,) else 1

    def weight(self, type_: str, bucket: str) -> int:
        """What a bucket without a price adds to the number of a shape that uses it."""
        return (len(self.thresholds) + 1) << self.lacking[type_].index(bucket)

    def split(self, type_: str, number: int) -> tuple[int, frozenset[str]]:
        """Split the number of a shape into the tier of its prompt, and the buckets without a price that it uses.

        The number is the tier, plus the `weight` of each of those buckets.
        """
        used, tier = divmod(number, len(self.thresholds) + 1)
        buckets = (bucket for bit, bucket in enumerate(self.lacking.get(type_, ())) if used >> bit & 1)
        return tier, frozenset(buckets)

    def groups(self, other: "Predicates") -> bool:
        """Whether groups of the engine are fine-grained enough for `other`, except for days."""
        return self.joined(other)[:2] == self[:2]

    def covers(self, other: "Predicates") -> bool:
        """Whether shapes grouped for `self` are fine-grained enough for `other`."""
        return self.joined(other) == self


def _token_charges(card: RateCard) -> Iterator[tuple[AnyModel, Tokens]]:
    for model in card.tables.models.values():
        for version in model.versions:
            yield from ((model, charge) for charge in version.charges if isinstance(charge, Tokens))


def _rpc_or(card: RateCard, name: str) -> str | None:
    """None for RPC credits, whose usage does not name its model."""
    return None if card.tables.models[name].type == "rpc" else name
