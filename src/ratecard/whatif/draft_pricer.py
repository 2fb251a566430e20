"""Usage that is grouped once, and priced again under each draft."""

from dataclasses import replace
from datetime import date
from threading import Lock
from time import perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple

from ratecard.base.errors import SimulationError
from ratecard.base.instants import utc
from ratecard.card import RateCard
from ratecard.review.sides import Side
from ratecard.simulation.answers.attribution import check_effect
from ratecard.simulation.groups.grouped_usage import RollUp
from ratecard.simulation.prices.sides import Costs
from ratecard.simulation.report.figures import ENGLISH
from ratecard.simulation.report.report import Question, Report
from ratecard.simulation.result import Simulation
from ratecard.tables.scalars import read_day
from ratecard.whatif.draft import YOURS, Draft, DraftError
from ratecard.whatif.view import Panel, panel_now, panel_of

if TYPE_CHECKING:
    from babel import Locale


class Answer(NamedTuple):
    """The panel of a draft, how long it took, and why nothing changes, if nothing does."""

    panel: Panel
    milliseconds: int
    idle: str = ""


class DraftPricer:
    """The pricer of one grouped usage under each draft, one draft at a time; drafts are not cached."""

    def __init__(self, simulation: Simulation, locale: "Locale" = ENGLISH) -> None:
        """Take a `simulation` with the current prices only, those of the day of the first draft."""
        self._standing, self._locale, self._busy = simulation, locale, Lock()
        # The panel of the current prices alone, made when it is first needed.
        self._now: Panel | None = None

    @property
    def card(self) -> RateCard:
        """Return the current tables."""
        return self._standing.sides[0].card

    def answer(self, draft: Draft, label: str = YOURS) -> Answer:
        """Price all usage at the rates of the draft's day, and at those with its changes, which `label` names.

        Unfinished changes are left out. Raises `DraftError` with every error of the others.
        """
        start = perf_counter_ns()
        with self._busy:
            panel, idle = self._tried(draft, label)
        return Answer(panel, (perf_counter_ns() - start) // 1_000_000, idle)

    def _tried(self, draft: Draft, label: str) -> tuple[Panel, str]:
        current = self._standing_at(_day(draft.effective))
        question = Question(elasticities=draft.elasticities(current))
        if draft.empty:
            self._now = self._now or panel_now(Report(current, None, self._locale))
            return self._now, ""
        with current.trying(draft.side(current.sides[0], label)) as simulation:
            return panel_of(Report(simulation, question, self._locale)), _idle(simulation)

    def take(self, card: RateCard) -> None:
        """Use other tables from now on, like those to which a draft was promoted; costs stay as they were read.

        Raises `SimulationError` if the usage would have to be read again; then nothing is changed.
        """
        with self._busy:
            known = self._standing
            current = replace(known.sides[0], card=card)
            compared = known.against(current)
            compared.forget()
            self._stand(compared.comparison.roll_up, current, known.costs)

    def _standing_at(self, day: date) -> Simulation:
        instant, known = utc(day), self._standing
        if known.sides[0].at != instant:
            # Costs at the old day of the prices move to the new one; costs at a day of their own stay there.
            costs = known.costs and known.costs.following(known.sides[0].at)
            self._stand(known.comparison.roll_up, Side(day.isoformat(), self.card, instant), costs)
        return self._standing

    def _stand(self, rolled: RollUp, current: Side, costs: Costs | None) -> None:
        known = self._standing
        outcomes = known.pricer.outcomes((current,), rolled.shapes)
        self._standing = Simulation(rolled, (current,), known.pricer, outcomes, costs)
        self._now = None
        known.forget()
        known.comparison.sides[0].drop()


def _idle(simulation: Simulation) -> str:
    try:
        check_effect(simulation.no_effect if simulation.rows else (), simulation.sides)
    except SimulationError as error:
        return str(error)
    return ""


def _day(typed: str) -> date:
    try:
        return read_day(typed.strip())
    except ValueError as error:
        raise DraftError({}, {"effective": f"'{typed}' {error}"}) from None
