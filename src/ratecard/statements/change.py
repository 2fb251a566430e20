"""Why the amount of a month differs from the month before: price, volume, mix, terms and refunds, exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ratecard.statements.lines import StatementLine, exact_text

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class MonthChange:
    """The difference between a month and the one before, in parts that add up to it exactly.

    With the quantity q and the mean price p of each SKU, before (0) and after (1), and Q of all SKUs of one unit:
    `price` is q1 x (p1 - p0) of SKUs of both months, `volume` is p0 x q0 x (Q1 / Q0 - 1), and `mix` the rest: other
    shares of the SKUs, new ones, and those that are gone. `terms` and `refunds` are the differences of these.
    """

    before: Fraction
    after: Fraction
    price: Fraction
    volume: Fraction
    mix: Fraction
    terms: Fraction
    refunds: Fraction

    @property
    def parts(self) -> dict[str, Fraction]:
        """Return the parts by name."""
        return {name: getattr(self, name) for name in ("price", "volume", "mix", "terms", "refunds")}

    def to_dict(self) -> dict[str, str]:
        """Return the change as a dict; amounts are text."""
        amounts = {"before": self.before, **self.parts, "after": self.after}
        return {name: exact_text(amount) for name, amount in amounts.items()}


@dataclass(frozen=True, slots=True)
class MonthTotals:
    """The sums of a month that a change compares: its usage, its terms, its refunds."""

    lines: Sequence[StatementLine]
    terms: Fraction
    refunds: Fraction

    @property
    def total(self) -> Fraction:
        """Return the sum of its lines, terms and refunds."""
        return sum((Fraction(line.amount) for line in self.lines), _ZERO) + self.terms + self.refunds


def change_of(before: MonthTotals, after: MonthTotals) -> MonthChange:
    """Return the change from one month to the next, in parts."""
    then, now = _by_sku(before.lines), _by_sku(after.lines)
    price = volume = _ZERO
    for unit in {unit for unit, _ in (*then, *now)}:
        quantities = [sum((pair[0] for key, pair in side.items() if key[0] == unit), _ZERO) for side in (then, now)]
        for key, (quantity, amount) in then.items():
            if key[0] == unit and quantities[0]:
                volume += amount * (quantities[1] / quantities[0] - 1)
            if key[0] == unit and quantity and (later := now.get(key, (_ZERO, _ZERO)))[0]:
                price += later[1] - later[0] * amount / quantity
    usage = [sum((amount for _, amount in side.values()), _ZERO) for side in (then, now)]
    mix = usage[1] - usage[0] - price - volume
    terms, refunds = after.terms - before.terms, after.refunds - before.refunds
    return MonthChange(before.total, after.total, price, volume, mix, terms, refunds)


def _by_sku(lines: Sequence[StatementLine]) -> Mapping[tuple[str, str], tuple[Fraction, Fraction]]:
    """Return the quantity and the amount of each SKU, by unit and SKU."""
    sums: dict[tuple[str, str], tuple[Fraction, Fraction]] = {}
    for line in lines:
        key = (line.rated.unit or "", line.rated.sku)
        quantity, amount = sums.get(key, (_ZERO, _ZERO))
        sums[key] = (quantity + Fraction(line.quantity), amount + Fraction(line.amount))
    return sums
