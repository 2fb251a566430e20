"""Sample usages of a version, made by its methods, for the price sheet, the tests, and the SKUs of a bill."""

from collections.abc import Iterator, Mapping
from typing import Any

from ratecard.line_items.conditions import StatedRate, charge_under, combinations_of, is_plain
from ratecard.methods.method import Method, Samples, method_of
from ratecard.tables.card import Tables
from ratecard.tables.metered import MeteredVersion
from ratecard.tables.version import Model


def unit_usages(model: Model[Any], version: MeteredVersion, tables: Tables) -> Samples:
    """Yield a usage for `prices.rate` for every rate of the version: one unit of it, if that can be used alone."""
    complete = _Whole(model, version, tables)
    for stated, method in _each_condition(version, model, tables):
        for sample in method.samples(version, model.type, tables):
            yield complete.usage({**sample, **stated}, beside=method.BESIDE)


def edge_usages(model: Model[Any], version: MeteredVersion, tables: Tables) -> Samples:
    """Yield further usages that may have a rate or a line of their own."""
    complete = _Whole(model, version, tables)
    for stated, method in _each_condition(version, model, tables):
        for edge in method.edges(version, model.type, tables):
            yield complete.usage({**edge, **stated})


def _each_condition(
    version: MeteredVersion, model: Model[Any], tables: Tables
) -> Iterator[tuple[Mapping[str, str], Method]]:
    """Yield combinations of conditions that are sold, each with a charge that has only the rates all of them affect."""
    for charge in version.charges:
        if is_plain(charge, version):
            yield {}, method_of(charge)
            continue
        for stated in combinations_of(version.conditions_of(charge), tables.meters):
            if version.refuses(stated, tables.meters):
                continue
            held = charge_under(charge, version, model.model, tables.meters, stated)
            rates = [
                rate
                for rate in held.rates
                if isinstance(rate, StatedRate)
                and stated.items() <= rate.factored.conditions.items()
                and not rate.factored.unmet
            ]
            if rates:
                yield stated, method_of(held.with_rates(rates))


class _Whole:
    """A maker of complete usages: it adds type, model, needed conditions, and the counts that other charges need."""

    def __init__(self, model: Model[Any], version: MeteredVersion, tables: Tables) -> None:
        self._named = {"type": model.type, "model": model.model, **version.first_values(tables.meters)}
        self._counts: dict[str, int] = {}
        samples: Samples = iter(())
        for charge in reversed(version.charges):
            method = method_of(charge)
            meters = method.meters(tables)
            self._counts |= {name: 0 for name, meterage in meters.items() if meterage.otherwise is None}
            if not method.BESIDE:
                samples = method.samples(version, model.type, tables)
        self._own = next(samples, {})

    def usage(self, sample: Mapping[str, Any], *, beside: bool = False) -> dict[str, Any]:
        """Return a complete usage; for a charge `beside` others, it includes a usage that these others charge."""
        complete = {**self._named, **(self._own if beside else {}), **sample}
        return complete | ({"counts": {**self._counts, **complete.get("counts", {})}} if self._counts else {})
