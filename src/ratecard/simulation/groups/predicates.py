"""The differences between requests that matter to the compared tables: thresholds, unpriced buckets, dates, parties.

A party is a set of accounts with the same contracts on every card, and so the same prices: five hundred accounts of one
contract need no more shapes than one account.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from ratecard.base.instants import utc
from ratecard.base.layouts import Identity
from ratecard.card import RateCard
from ratecard.line_items.tokens import TokenRates
from ratecard.methods.method import is_linear, method_of
from ratecard.requests.service_parameters import SEARCHES, model_named
from ratecard.simulation.rows.columns import BUCKET_OF, LAYOUTS, Buckets, Layout
from ratecard.tables.card import AnyModel, Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.version import Version
from ratecard.tables.windows import Window, seconds_of_changes, windows_of


class HeldContract(NamedTuple):
    """The parts of a contract that usage is grouped by: its accounts, and the instants when its terms begin or end."""

    name: str
    accounts: tuple[str, ...]
    boundaries: tuple[datetime, ...]


class Parties(NamedTuple):
    """The parties by number; party 0 is all accounts without a contract.

    `accounts` has one account of each party (None for party 0), `boundaries` the instants when its terms begin or end,
    and `numbers` the party of each account that has a contract.
    """

    accounts: tuple[str | None, ...]
    boundaries: tuple[tuple[datetime, ...], ...]
    numbers: Mapping[str, int]


def held_contracts(card: RateCard) -> tuple[HeldContract, ...]:
    """Return the contracts of a card that name an account."""
    return tuple(
        HeldContract(name, contract.accounts, tuple(sorted(card.in_force.boundaries(name))))
        for name, contract in card.contracts.items()
        if contract.accounts
    )


def parties_of(contracts: Iterable[tuple[HeldContract, ...]]) -> Parties:
    """Return the parties of the contracts of some cards."""
    held_by: dict[str, list[tuple[int, str]]] = {}
    boundaries: dict[str, set[datetime]] = {}
    for number, held in enumerate(contracts):
        for contract in held:
            for account in contract.accounts:
                held_by.setdefault(account, []).append((number, contract.name))
                boundaries.setdefault(account, set()).update(contract.boundaries)
    accounts: list[str | None] = [None]
    numbers, party_numbers = dict[str, int](), dict[tuple[tuple[int, str], ...], int]()
    for account, names in sorted(held_by.items()):
        numbers[account] = party_numbers.setdefault(tuple(sorted(names)), len(accounts))
        if numbers[account] == len(accounts):
            accounts.append(account)
    edges = ((), *(tuple(sorted(boundaries[account])) for account in accounts if account is not None))
    return Parties(tuple(accounts), edges, numbers)


class PriceBasis(NamedTuple):
    """Everything that decides the price of a model.

    `parts`: the parts of the tables, by identity. `changes`: the instants of change, in order. `windows`: those of its
    rates. `models`: the models whose rates they are.
    """

    parts: tuple[Hashable, ...]
    changes: tuple[datetime, ...] = ()
    windows: tuple[Window, ...] = ()
    models: tuple[AnyModel, ...] = ()


def price_basis(tables: Tables, name: str | None) -> PriceBasis:
    """Return the basis of the price of a model and of its searches; without a name, that of RPC credits."""
    models: list[AnyModel]
    if name is None:
        models = [model for model in tables.models.values() if model.type == "rpc"]
    else:
        named = model_named(tables, name)
        if named is None:  # no model of this name on any day, or open patterns of several models match it
            return PriceBasis(tuple(tables.models))
        models = [named]
        searches = {search for version in named.versions for search in version.searches.values()}
        models += [tables.models[search] for search in sorted(searches)]
    versions = [version for model in models for version in model.versions]
    changes = {version.begins for version in versions}
    changes |= {utc(model.retired.on) for model in models if model.retired}
    changes |= {utc(limits.effective) for limits in tables.limits}
    parts = map(Identity, (*models, tables.units, tables.vocabulary, tables.limits, tables.meters))
    return PriceBasis(tuple(parts), tuple(sorted(changes)), windows_of(versions), tuple(models))


_Part = TypeVar("_Part")
# Marked like a used bucket without a price: the row has its counts as `tokens`, so that it is refused in other words.
BY_BUCKET = "by bucket"
_BUCKETS = next(layout.buckets for layout in LAYOUTS.values() if layout.buckets)


class Predicates(NamedTuple):
    """Conditions that decide prices, derived from the tables of all compared cards together.

    `thresholds`: where long-context rates begin, in order. `lacking`: by type, the buckets of tokens without a price in
    some version, so that it matters whether a request uses them. `boundaries`: the instants at which some price
    changes; `of_model`: the same for each model, where fewer are enough. `windows`: the windows of the rates of each
    model, and of all models under "". `buckets`: the buckets of the usage; `in_usage`: True if rows can have them as
    `usage`. `counts`: the columns of counts by meter. `summed`: for each type or column of counts that some version
    does not charge linearly, the models whose quantities can still be summed; the quantities of all other models are
    part of the shape. `contracts`: if rows have the prices of their accounts, the contracts of each card that has any.
    """

    thresholds: tuple[int, ...] = ()
    lacking: Mapping[str, tuple[str, ...]] = {}
    boundaries: tuple[datetime, ...] = ()
    of_model: Mapping[str, tuple[datetime, ...]] = {}
    windows: Mapping[str, tuple[Window, ...]] = {}
    buckets: Buckets = _BUCKETS
    in_usage: bool = True
    summed: Mapping[str, frozenset[str]] = {}
    counts: tuple[str, ...] = ()
    contracts: tuple[tuple[HeldContract, ...], ...] = ()

    @classmethod
    def of(
        cls,
        cards: Iterable[RateCard],
        *,
        dated: bool = True,
        by_model: bool = True,
        pairs: Iterable[tuple[str, str]] = (),
        layouts: Mapping[str, Layout] = LAYOUTS,
        known: "Predicates | None" = None,
        contracts: bool = False,
    ) -> "Predicates":
        """Return the predicates of these cards; `dated`: some card is read at each row's own time, so days matter.

        `pairs`: a model and another one whose prices its rows may have, so that its price also changes on the days of
        the other. `layouts`: the columns of the usage. `known`: the predicates of the first card, perhaps with more.
        `contracts`: rows have the prices of their accounts.
        """
        merged, cards = known or cls(), tuple(cards)
        for layout in layouts.values() if known is None else ():
            if layout.buckets:
                in_usage = any(column.name in BUCKET_OF for column in layout.quantities)
                counts = tuple(column.name for column in layout.counts)
                merged = cls(buckets=layout.buckets, in_usage=in_usage, counts=counts)
        for card in cards[known is not None :]:
            changed_models = card.tables.models if known is None else _new_models(card.tables, cards[0].tables)
            models: Iterable[str] = changed_models if dated and by_model else ()
            bases = {
                name: price_basis(card.tables, None if card.tables.models[name].type == "rpc" else name)
                for name in models
            }
            windows = {name: basis.windows for name, basis in bases.items() if basis.windows}
            windows |= {"": card.windows} if dated and card.windows else {}
            changes = {name: basis.changes for name, basis in bases.items()}
            held = held_contracts(card) if contracts else ()
            term_boundaries = {boundary for contract in held for boundary in contract.boundaries}
            boundaries = _rising(card.boundaries(), term_boundaries) if dated else ()
            merged = merged.joined(cls((), {}, boundaries, changes, windows, contracts=(held,) if held else ()))
            for type_, rates in _token_rates(card.tables, changed_models.values()):
                names = merged.buckets.names
                lacking = tuple(bucket for bucket in names if not rates.always_prices(bucket, names))
                merged = merged.joined(cls(rates.thresholds, {type_: lacking} if lacking else {}))
        dates, pairs = dict(merged.of_model), tuple(pairs)
        merged = merged._replace(summed=dict(_summed(cards, pairs, layouts)))
        for old, new in pairs:
            if old in dates:  # rows of a model that no card has are split at every boundary anyway
                dates[old] = tuple(sorted({*dates[old], *merged.of_model.get(new, ())}))
            if joint_windows := tuple(dict.fromkeys((*merged.windows.get(old, ()), *merged.windows.get(new, ())))):
                merged = merged._replace(windows={**merged.windows, old: joint_windows})
        if merged.in_usage and merged.buckets.counted:
            merged = merged._replace(
                lacking={type_: tuple(dict.fromkeys((*names, BY_BUCKET))) for type_, names in merged.lacking.items()}
            )
        return merged._replace(of_model=dates)

    @property
    def cuts(self) -> tuple[int, ...]:
        """Return the seconds of a UTC day at which a price may change, from 0; empty if prices change at 00:00 only."""
        within = {boundary.hour * 3600 + boundary.minute * 60 + boundary.second for boundary in self.boundaries} - {0}
        windows = self.windows.get("", ())
        return tuple(sorted({0} | within | seconds_of_changes(windows))) if within or windows else ()

    def joined(self, other: "Predicates") -> "Predicates":
        """Return the predicates that distinguish what either of the two does."""
        order = (*self.buckets.names, BY_BUCKET)
        return self._replace(
            thresholds=_rising(self.thresholds, other.thresholds),
            lacking=_united(
                self.lacking,
                other.lacking,
                lambda one, two: tuple(bucket for bucket in order if bucket in {*one, *two}),
            ),
            boundaries=_rising(self.boundaries, other.boundaries),
            of_model=_united(self.of_model, other.of_model, _rising),
            summed=_united(self.summed, other.summed, frozenset.intersection),
            windows=_united(self.windows, other.windows, lambda one, two: tuple(dict.fromkeys((*one, *two)))),
            contracts=tuple(dict.fromkeys((*self.contracts, *other.contracts))),
        )

    def prompt_in(self, tier: int) -> int:
        """Return the tokens of the shortest prompt of a tier; 0 only if the first tier has no other prompt."""
        if tier:
            return self.thresholds[tier - 1] + 1
        return 0 if self.thresholds[:1] == (0,) else 1

    def weight(self, type_: str, bucket: str) -> int:
        """Return what a bucket without a price adds to the number of a shape that uses it."""
        return (len(self.thresholds) + 1) << self.lacking[type_].index(bucket)

    def split(self, type_: str, number: int) -> tuple[int, frozenset[str]]:
        """Split the number of a shape into the tier of its prompt, and the buckets without a price that it uses.

        The number is the tier, plus the `weight` of each of those buckets.
        """
        used, tier = divmod(number, len(self.thresholds) + 1)
        buckets = (bucket for bit, bucket in enumerate(self.lacking.get(type_, ())) if used >> bit & 1)
        return tier, frozenset(buckets)

    def groups(self, other: "Predicates") -> bool:
        """Return True if groups of the engine are fine-grained enough for `other`, except for whole days."""
        joined = self.joined(other)
        return joined[:2] == self[:2] and (joined.cuts, joined.summed) == (self.cuts, self.summed)

    def covers(self, other: "Predicates") -> bool:
        """Return True if shapes grouped for `self` are fine-grained enough for `other`."""
        return self.joined(other) == self


def _rising(one: Iterable[Any], two: Iterable[Any]) -> tuple[Any, ...]:
    """Return the values of both in rising order, without duplicates."""
    return tuple(sorted({*one, *two}))


def _united(one: Mapping[str, _Part], two: Mapping[str, _Part], join: Callable[[Any, Any], _Part]) -> dict[str, _Part]:
    """Return the entries of both mappings; if both have a name, its values are joined."""
    return {**one, **two, **{name: join(one[name], two[name]) for name in one.keys() & two.keys()}}


def _new_models(tables: Tables, known: Tables) -> Mapping[str, AnyModel]:
    """Return the models that are not in the known tables; all models if the tables differ in what models share."""
    new_models = {name: model for name, model in tables.models.items() if known.models.get(name) is not model}
    pairs = ((getattr(tables, part), getattr(known, part)) for part in ("units", "vocabulary", "limits", "meters"))
    alike = all(one is other for one, other in pairs)
    return (
        new_models
        if alike and not any(model.type in ("surcharge", "rpc") for model in new_models.values())
        else tables.models
    )


def _token_rates(tables: Tables, models: Iterable[AnyModel]) -> Iterator[tuple[str, TokenRates]]:
    """Yield the type and rates of charges by tokens; charges that differ only in amounts, as most do, yield one."""
    seen_forms = set[tuple[Hashable, ...]]()
    for model in models:
        for version in model.versions:
            if not (isinstance(version, MeteredVersion) and (charge := version.tokens)):
                continue
            attributes = tuple(tuple(rate.attributes.items()) for rate in charge.rates)
            factors = tuple(tuple(factor.conditions.items()) for factor in (*charge.factors, *version.factors))
            settings = (charge.context_token_threshold, charge.missing_cache_rate, *charge.without_rate.items())
            if (form := (model.type, attributes, factors, settings)) not in seen_forms:
                seen_forms.add(form)
                per = tables.units[charge.unit].per
                yield model.type, TokenRates(model.model, charge, per, tables.meters, version.factors)


def _summed(
    cards: Iterable[RateCard], pairs: Iterable[tuple[str, str]], layouts: Mapping[str, Layout]
) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the models of `Predicates.summed` for each type, and for each column of counts by meter."""
    models_by_part: dict[str, set[str]] = {}
    not_linear: list[tuple[Tables, dict[str, set[str]]]] = []
    for tables in (card.tables for card in cards):
        not_linear.append((tables, {}))
        for model in tables.models.values():
            for part, meter in _parts(model.type, layouts):
                models_by_part.setdefault(part, set()).add(model.model)
                if not all(_linear(version, tables, meter) for version in model.versions):
                    not_linear[-1][1].setdefault(part, set()).add(model.model)
    for part, names in models_by_part.items():
        separate_names = {name for tables, models in not_linear if part in models for name in names
                 if (meant := tables.meant(name)) and meant.model in models[part]}  # fmt: skip
        separate_names |= {old for old, new in pairs if new in separate_names}
        if names & separate_names:
            yield part, frozenset(names - separate_names)


def _parts(type_: str, layouts: Mapping[str, Layout]) -> Iterator[tuple[str, str]]:
    """Yield the summed parts of a type with their meters: its quantities (no meter), and each column of counts."""
    if layout := layouts.get(type_):
        yield from [(type_, "")] if layout.quantities else ()
        yield from ((column.name, column.path[-1]) for column in layout.counts)


def _linear(version: Version, tables: Tables, meter: str) -> bool:
    """Return True if a version charges linearly for a count by meter, or, without a meter, for all other quantities."""
    if not isinstance(version, MeteredVersion):
        return True
    linear = is_linear(version, tables, meter)
    if meter not in version.searches:
        return linear
    if meter in SEARCHES:  # the request may give this count in a field too, unless a charge counts it
        return linear and any(meter in method_of(charge).meters(tables) for charge in version.charges)
    searches = [
        search for search in tables.models[version.searches[meter]].versions if isinstance(search, MeteredVersion)
    ]
    declared = all(tables.units[search.charges[0].unit].counts in tables.meters.by_name for search in searches)
    return linear and declared and all(is_linear(search, tables) for search in searches)
