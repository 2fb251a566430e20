"""Every planted error is caught by what `pytest --rate-card` runs on the shipped tables; without one, all is sound."""

from collections.abc import Collection
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption
from mutations import MUTATIONS, Mutation
from table_mutations import TABLE_MUTATIONS, TableMutation

import ratecard
from ratecard import RateCard
from ratecard.load.folder import SHARED, read_folder, tables_from
from ratecard.testing import LAWS, Case, Law, check
from ratecard.testing.case import MAX_EXAMPLES
from ratecard.testing.plugin import CheckItem, checks_of
from shipped import CARD

TABLES, FILES = CARD.tables, read_folder()
# Files to which every other file refers.
KEPT = (*SHARED, "surcharges.yaml")


def holds(item: CheckItem) -> bool:
    try:
        item.run()
    except Exception:  # noqa: BLE001
        return False
    return True


def check_without_shrinking(law: Law, case: Case, *, max_examples: int) -> None:
    """`check`, but the first request that breaks a law is not made simpler, which takes most of the time."""
    errors: list[Exception] = []

    def trial(case: Case, data: st.DataObject) -> None:
        try:
            if not errors:
                law.trial(case, data)
        except UnsatisfiedAssumption:
            raise
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    check(law._replace(trial=trial), case, max_examples=max_examples)
    if errors:
        raise errors[0]


@pytest.fixture(autouse=True)
def laws_are_not_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ratecard.testing.plugin.check", check_without_shrinking)


def broken(models: tuple[str, ...], laws: Collection[str], examples: int = MAX_EXAMPLES) -> set[str]:
    """Return the laws and examples that do not hold for these models, on a card of their own."""
    kept = {name: model for name, model in TABLES.models.items() if name in models or model.type == "surcharge"}
    found = set()
    for item in checks_of(RateCard(replace(TABLES, models=kept)), FILES, max_examples=examples):
        model, _, words = item.name.split("::")
        name = words.removeprefix("law ").replace(" ", "_")
        if model in models and (name in laws or name.startswith("example")) and not holds(item):
            found.add(name)
    return found


@cache
def caught_by(mutation: Mutation) -> set[str]:
    with pytest.MonkeyPatch.context() as patch:
        mutation.plant(patch)
        found = broken(mutation.models, mutation.breaks)
        # The drawn examples depend on constants in all loaded modules, so a rare error may need more of them.
        return found if found >= set(mutation.breaks) else broken(mutation.models, mutation.breaks, 10 * MAX_EXAMPLES)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_an_error_planted_in_the_code_is_caught(mutation: Mutation) -> None:
    assert caught_by(mutation) >= set(mutation.breaks)


def test_without_a_planted_error_everything_holds() -> None:
    laws: dict[str, set[str]] = {}
    for mutation in MUTATIONS:
        for model in mutation.models:
            laws.setdefault(model, set()).update(mutation.breaks)
    assert not {model: found for model, each in laws.items() if (found := broken((model,), each))}


def test_every_law_is_broken_by_a_planted_error() -> None:
    meant = {law for mutation in MUTATIONS for law in mutation.breaks}
    assert meant == {law.trial.__name__ for law in LAWS}


def test_most_planted_errors_contradict_a_worked_example_too() -> None:
    by_example = [mutation for mutation in MUTATIONS if any(name.startswith("example") for name in caught_by(mutation))]
    assert len(by_example) > len(MUTATIONS) / 2


@pytest.mark.parametrize("mutation", TABLE_MUTATIONS, ids=str)
def test_an_error_planted_in_a_table_is_caught(mutation: TableMutation) -> None:
    files = {name: FILES[name] for name in {*KEPT, mutation.file}}
    sound = checks_of(RateCard(tables_from(files)), files)
    assert all(holds(item) for item in sound if "::example" in item.name)
    files[mutation.file] = mutation.planted(files[mutation.file])
    try:
        card = RateCard(tables_from(files))
    except ratecard.TableError as refusal:
        assert mutation.says in str(refusal)
        return
    wrong = [item.name for item in checks_of(card, files) if "::example" in item.name and not holds(item)]
    assert not mutation.says
    assert wrong
    assert all(name.startswith(f"{mutation.model}::") for name in wrong)
