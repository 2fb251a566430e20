"""`simulate`: recorded usage under the current prices and under candidates."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from ratecard.base.collector import uncollected
from ratecard.base.errors import SimulationError
from ratecard.base.money import no_currency
from ratecard.base.suggestions import did_you_mean
from ratecard.card import RateCard
from ratecard.requests.dialects import TableDialect
from ratecard.review.sides import Side
from ratecard.simulation.answers.attribution import check_effect
from ratecard.simulation.billing import LedgerPricer
from ratecard.simulation.groups.engines import Engine, layouts_for, opened_usage
from ratecard.simulation.groups.grouped_usage import Reading, RollUp
from ratecard.simulation.groups.kept.kept_usage import kept_place, open_kept
from ratecard.simulation.groups.plan import NO_ACCOUNT, PERIODS, Plan, Usage, places_of_type
from ratecard.simulation.groups.predicates import Predicates
from ratecard.simulation.groups.queries import OpenUsage
from ratecard.simulation.prices.outcome import Outcomes
from ratecard.simulation.prices.pricer import NO_REMAPPING, Pricer, Remapping
from ratecard.simulation.prices.sides import AS_BILLED, OWN_DATE, Costs, Specification, costs_of, sides
from ratecard.simulation.progress import OPENED, PRICED, READ, Progress, silent, within
from ratecard.simulation.result import Simulation
from ratecard.simulation.rows.billing_export import ROW_COLUMNS
from ratecard.simulation.rows.columns import DAY, LAYOUTS
from ratecard.simulation.rows.duckdb_responses import requests_only, table_dialect
from ratecard.simulation.rows.files import FILE
from ratecard.simulation.rows.where import Chosen
from ratecard.simulation.workspace import Workspace, enough_memory


@enough_memory()
def simulate(
    usage: Any,
    current: Specification | None = None,
    candidates: Specification | Sequence[Specification] = (),
    *,
    by: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    dialect: TableDialect | None = None,
    where: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    tables: str | Path | None = None,
    strict: bool = False,
    currency: str = "USD",
    memory: str | None = None,
    engine: Engine | None = None,
    master: str | None = None,
    costs: Specification | Costs | None = None,
    successors: bool = False,
    remap: Mapping[str, str] | None = None,
    contracts: bool = False,
    progress: Progress = silent,
) -> Simulation:
    """Price usage under the current prices and under each candidate, exactly.

    `usage` is a path (or paths, a folder, a pattern) of Parquet, CSV or JSON lines, or a DuckDB, Polars, pandas,
    PyArrow or Spark frame. `current` and `candidates` are folders, git revisions, dates ("as of"), candidate overlays
    or cards; without `current`, each row is priced at its own timestamp by `tables`, the shipped ones by default. `by`
    names columns to group by, and `day`; `columns` maps the known names of columns to those of the usage.
    With a `dialect`, rows are responses: "opentelemetry" (spans), "litellm" (its spend logs).

    `where` chooses rows by a condition on columns, such as `region = 'eu' and not model in ('a', 'b')`; `since` and
    `until` by their UTC day: from the first on, before the second. A row without a type has the type of its model.
    `progress` is called with the name of the step that begins, and a function that returns the percentage of the whole.

    `engine` is "duckdb", or "spark" for usage that outgrows a machine; a Spark frame chooses Spark by itself. `master`
    is where Spark runs, by default on this machine.

    `costs` is what we pay, for `margin()`: prices as above (at the instant of the side that they are compared with), a
    CSV file of `model,unit,cost` or `sku,cost`, or a share of what is charged, like "60%". With `successors`,
    candidates price requests that they no longer offer at the successor of the model; `remap` names models whose rows
    they price as requests of another model. With `contracts`, each row has the prices of the contract that its account
    (the column `account`, else `customer`) has at its instant; a row without an account has those of the list.

    Amounts are exact sums, in one `currency`, of the charges of single requests, with their rounding. A row that only
    one side offers is `lost` or `new`. Raises `SimulationError`; with `strict` also for rows that no side can price,
    which otherwise are counted by reason in `unpriced`.
    """
    if words := no_currency(currency):
        raise SimulationError(words)
    folder = Path(tables) if tables else None
    with uncollected():
        compared = sides(current, candidates, folder)
    paid, remapping = costs_of(costs, compared, folder), Remapping(dict(remap or {}), successors)
    remapping.check(side.card for side in compared)
    chosen, names = Chosen.of(where, since, until), columns or {}
    usage_dialect = table_dialect(dialect) if dialect is not None else None
    workspace = Workspace(memory)
    try:
        opening_progress = within(progress, 0, OPENED)
        if kept := kept_place(usage, workspace.folder, engine):
            layouts = layouts_for(_cards(compared, paid))
            opening: AbstractContextManager[OpenUsage] = open_kept(
                workspace, kept, names, dialect, _named(compared, paid, tables), layouts
            )
        else:
            opening = opened_usage(
                workspace, usage, names, engine, master, _cards(compared, paid), opening_progress, usage_dialect
            )
        with opening as opened:
            known = opened.known
            if known.where is not None and known.where == where:  # the kept rows meet this condition already
                chosen = chosen._replace(where=None)
            elif usage_dialect and not known.is_counted:
                chosen = Chosen.of(requests_only(usage_dialect, known.types, where), since, until)
            keys = keys_of(known, contracts=contracts) if by is None else by
            known.check_names(names, (*keys, *chosen.columns))
            plan = plan_of(compared, keys, known, chosen, paid, remapping, contracts=contracts)
            plain_plan = plan_of(compared, keys, known, chosen, paid, contracts=contracts) if remapping else plan
            opened.check(plan, plain_plan)
            reading = Reading(opened.source)
            if chosen or known.where is not None:
                found_rows, undated = opened.counted(plan)
                rows = ", ".join(filter(None, (known.where and f"where {known.where}", chosen.words())))
                reading = replace(reading, chosen=rows, found=found_rows, undated=undated)
            request_pricer = Pricer(plan.predicates, currency, remapping)
            pricer = LedgerPricer(plan.predicates, compared[0].card, currency) if known.is_ledger else request_pricer
            places = {type_: places_of_type(known, layout) for type_, layout in known.layouts.items()}
            rolled = RollUp(workspace, plan, places)
            priced: list[list[Outcomes]] = []
            with closing(opened.groups(plan, progress)) as tables_of_groups:
                # Groups are priced while the engine reads on.
                for grouping, groups_of in tables_of_groups:
                    priced.append(pricer.outcomes(compared, rolled.take(grouping, groups_of)))
            outcomes = Outcomes.joined(rolled.shapes, priced, len(compared))
            odd = opened.odd_instant(plan) if reading.undated or (plan.dated and rolled.shapes.undated) else ""
            types = {template.type for template in rolled.shapes.templates}
            compared_cards = [side.card for side in compared]
            rolled.reading = replace(
                reading.with_columns(known, plan, types),
                odd=odd,
                without_account=rolled.rows_without_account(),
                alike=rolled.accounts_alike(compared_cards),
            )
            remapping.check_used({template.model for template in rolled.shapes.templates}, compared_cards)
            answers = Simulation(rolled, compared, pricer, outcomes, paid)
        within(progress, READ, PRICED)("Pricing", None)
        if answers.rows and not answers.priced and len(compared) > 1:
            raise SimulationError(answers.unpriced_text())
        check_effect(answers.no_effect if answers.rows else (), answers.sides)
        if strict and answers.unpriced:
            raise SimulationError(answers.unpriced_text())
    except BaseException:
        workspace.close()
        raise
    return answers


def keys_of(usage: Usage, *, contracts: bool = False) -> tuple[str, ...]:
    """Return the default keys: model, day and customer, as far as the usage has them; for a roll-up, its own.

    With `contracts`, the column of the accounts is a key too.
    """
    if usage.by is not None:
        return usage.by
    needed = {"model": "model", DAY: "timestamp", "customer": "customer"}
    keys = tuple(key for key, column in needed.items() if usage.has(column))
    return (*keys, usage.account) if contracts and usage.account not in ("", *keys) else keys


def plan_of(
    compared: Sequence[Side],
    by: Sequence[str],
    usage: Usage,
    chosen: Chosen,
    costs: Costs | None = None,
    remapping: Remapping = NO_REMAPPING,
    *,
    contracts: bool = False,
) -> Plan:
    """Plan the roll-up for these sides and keys. Raises `SimulationError` for a column that is missing."""
    if not usage.is_ledger and not {*ROW_COLUMNS}.isdisjoint(by):
        raise SimulationError("the usage is not a billing export, and does not say what was charged")
    for key in by:
        if key not in (DAY, *PERIODS) and not usage.gives(key):
            near = did_you_mean(key, (DAY, *PERIODS, *usage.columns))
            there = ", ".join(name for name in usage.columns if name != FILE)
            raise SimulationError(f"the usage has no column '{key}' to group by.{near} It has: {there}")
    for name in chosen.columns:
        if name != DAY and not usage.gives(name):
            near = did_you_mean(name, (DAY, *usage.columns))
            raise SimulationError(f"where: the usage has no column '{name}'.{near} It has: {', '.join(usage.columns)}")
    if not usage.is_ledger and not all(side.has_rates for side in compared):
        raise SimulationError(f"{AS_BILLED}: the usage is not a billing export, and does not say what was charged")
    dated = usage.is_ledger or any(side.at is None for side in compared)
    near = did_you_mean("timestamp", usage.columns)
    if chosen.by_day and not usage.has("timestamp"):
        words = f"the usage has no column 'timestamp' to choose days by.{near} Name it: --map timestamp=COLUMN"
        raise SimulationError(words)
    if (dated or not {DAY, *PERIODS}.isdisjoint(by)) and not usage.has("timestamp"):
        words = "the usage has no column 'timestamp', and each row is priced at its own timestamp"
        raise SimulationError(f"{words}.{near} Name it: --map timestamp=COLUMN, or compare dates and leave out day")
    if usage.is_ledger and remapping:
        words = "a billing export holds what was charged, not the requests"
        raise SimulationError(f"{words}: neither successors nor other models can be asked for them; give the usage")
    if contracts and usage.is_ledger:
        raise SimulationError("a billing export holds what each account was charged already; leave out contracts")
    if contracts and not usage.account:
        raise SimulationError(NO_ACCOUNT)
    cards = _cards(compared, costs)
    pairs = remapping.pairs(cards)
    layouts, meters = usage.layouts, tuple(card.tables.meters for card in cards)
    by_model = not usage.is_ledger
    predicates = Predicates.of(cards, dated=dated, by_model=by_model, pairs=pairs, layouts=layouts, contracts=contracts)
    rpc = next(
        (model.model for side in compared for model in side.card.tables.models.values() if model.type == "rpc"), "rpc"
    )
    periods = tuple(key for key in PERIODS if usage.gives(key))
    types = {
        name: model.type
        for side in reversed(compared)
        for model in side.card.tables.models.values()
        for name in (model.model, *(model.aliases or ()))
        if model.type in LAYOUTS
    }
    account = usage.account if contracts else ""
    return Plan(tuple(dict.fromkeys(by)), predicates, dated, rpc, types, chosen, periods, layouts, meters, account)


def _named(compared: Sequence[Side], costs: Costs | None, tables: str | Path | None) -> list[str]:
    """Return the names of the compared prices: the tables, then every side that is not one of their dates."""
    named = ["" if side.at and side.label.startswith(f"{side.at:%Y-%m-%d}") else side.label for side in compared]
    named += [costs.card.label] if costs and costs.card else []
    first = str(tables or "") if compared[0].label == OWN_DATE else named[0] or str(tables or "")
    return [first, *filter(None, named[1:])]


def _cards(compared: Sequence[Side], costs: Costs | None) -> list[RateCard]:
    """Return every card that prices the usage, the current one first."""
    return [side.card for side in compared] + ([costs.card.card] if costs and costs.card else [])
