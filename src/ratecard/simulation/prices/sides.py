"""The sides that a simulation compares: the current prices and each candidate, or `as-billed`, what a bill charged."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ratecard.base.errors import SimulationError, TableError
from ratecard.base.instants import utc
from ratecard.candidates.file import read_candidate
from ratecard.card import RateCard, load_rate_card
from ratecard.load.revision import RevisionError
from ratecard.review.sides import Side, SideError, Stack, named, side_of
from ratecard.simulation.prices.costs import CardCosts, Costs, read_costs, share_costs

AS_BILLED, OWN_DATE = "as-billed", "each row's own date"


@dataclass(frozen=True, slots=True)
class AsBilled(Side):
    """The charges that a billing export states. Its card says under which prices they were billed."""

    @property
    def has_rates(self) -> bool:
        """Return False: a bill states amounts, not rates."""
        return False


# A folder, a candidate file, a git revision or a date, as text; or any of these as an object.
Specification = str | Path | date | datetime | RateCard | Side


def sides(
    current: Specification | None, candidates: Specification | Sequence[Specification], tables: Path | None
) -> tuple[Side, ...]:
    """Return the current side and every candidate. Raises `SimulationError` for a specification that names no prices.

    A candidate is laid over the current card. Where the current prices are those of one instant, the candidate's are
    those of its first day, or of that instant if that is later.
    """
    base = Side(OWN_DATE, load_rate_card(tables)) if current is None else _side(current, tables, None)
    several: Sequence[Any] = candidates if isinstance(candidates, (list, tuple)) else [candidates]
    compared = [base, *against(base, several, tables)]
    labels = [side.label for side in compared]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SimulationError(f"'{twice}' is compared with itself; name each side once")
    return tuple(compared)


def against(base: Side, candidates: Sequence[Specification], tables: Path | None = None) -> list[Side]:
    """Return the sides of candidates for a current side."""
    return [_side(candidate, tables, base) for candidate in candidates]


def costs_of(given: "Specification | Costs | None", compared: Sequence[Side], tables: Path | None) -> Costs | None:
    """Return our costs: a share (`60%`), a CSV file, or prices; a candidate is laid over the current ones.

    Prices are taken at the instant of the side that they are compared with; those of a date, at that date. Raises
    `SimulationError`.
    """
    if given is None or isinstance(given, Costs):
        return given
    if isinstance(given, (str, Path)):
        if (share := share_costs(str(given))) is not None:
            return share
        if Path(given).suffix.lower() == ".csv" and not Path(given).is_dir():
            listed = read_costs(Path(given))
            listed.check([side.card for side in compared])
            return listed
        if Path(given).is_file():
            return _candidate_costs(Path(given), compared)
    if given == AS_BILLED or isinstance(given, AsBilled):
        raise SimulationError(f"{AS_BILLED} is what we charge; give what we pay: tables, a candidate, CSV or a share")
    return CardCosts(_side(given, tables, compared[0]))


def _candidate_costs(file: Path, compared: Sequence[Side]) -> Costs:
    try:
        effective, card = read_candidate(file).candidate.effective, compared[0].card.with_candidate(file)
    except TableError as error:
        raise SimulationError(str(error)) from None
    for side in compared:
        if side.at and side.at.astimezone(UTC).date() < effective:
            words = f"the costs of {file} hold from {effective} on, and {side.label} is priced at {side.at:%Y-%m-%d}"
            raise SimulationError(f"{words}; give them an earlier effective date")
    return CardCosts(Side(str(file), card))


def _side(spec: Specification, tables: Path | None, base: Side | None) -> Side:
    if isinstance(spec, Side):
        return spec
    if isinstance(spec, RateCard):
        return Side("current" if base is None else f"card {spec.digest[:12]}", spec)
    if isinstance(spec, date):
        at = utc(spec)
        return Side(spec.isoformat(), load_rate_card(tables), at)
    if spec == AS_BILLED:
        return AsBilled(AS_BILLED, base.card if base else load_rate_card(tables))
    try:
        stack = named(str(spec), tables)
        if not isinstance(stack, Stack):
            return side_of(str(spec), stack, tables)
    except (SideError, RevisionError) as error:
        raise SimulationError(str(error)) from None
    if base is None:
        raise SimulationError(f"{spec} is a candidate, and the current prices are a folder, a revision or a date")
    if base.at is None:
        return Side(str(spec), stack.over(base.card), None, stack.candidates)
    try:
        day = stack.holds(base.at.astimezone(UTC).date())
    except SideError as error:
        raise SimulationError(str(error)) from None
    at = max(base.at, utc(day))
    return Side(str(spec), stack.over(base.card), at, stack.candidates)
