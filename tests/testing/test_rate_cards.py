"""Random rate cards: valid YAML of every method, on which every law holds."""

from datetime import date

import pytest
from every_law import cases_of, every_law, try_each
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

import ratecard
from nightly import examples
from ratecard.examples import wrong_examples
from ratecard.testing import LAWS, rate_cards, table_files
from ratecard.testing.card_strategies import DRAWN_METHODS, card_of

SOME = settings(
    max_examples=examples(8, nightly=100),
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
# The phase that explains which part of an example mattered is left out.
PLAIN = settings(database=None, phases=(Phase.generate, Phase.shrink))
SIMPLEST = """\
family: made-up
models:
  - model: model-1
    name: Model-1
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: made-up
        accepts:
          duration: [1s]
          audio: none
        charges:
          - charge: fixed
            method: fixed
            unit: clip
            rates:
              - {rate: 1}
        rounding: {places: 0, mode: half-up}
        examples:
          - {request: {duration: 1s}, total: 1}
"""


@SOME
@given(rate_cards(max_models=5))
def test_a_rate_card_is_sound(card: ratecard.RateCard) -> None:
    assert 1 <= len(card.tables.models) <= 5
    assert not wrong_examples(card._compiler)
    for model in card.tables.models:
        assert card.at(date(2026, 1, 1)).in_effect(model)


def test_the_simplest_one_is_one_model_with_one_rate() -> None:
    found = find(table_files(methods=["fixed"]), lambda files: True, settings=PLAIN)
    assert found == {"tables.yaml": SIMPLEST.encode()}


@pytest.mark.parametrize("method", DRAWN_METHODS)
def test_every_law_holds_for_every_method(method: str) -> None:
    """One model is enough for a law, but for text, whose searches are charged by another model."""
    methods = [method, "surcharge"] if method == "tokens" else [method]

    @settings(SOME, max_examples=examples(5, nightly=100))
    @given(table_files(methods=methods, max_models=examples(len(methods), nightly=2)), st.data())
    def try_it(files: dict[str, bytes], data: st.DataObject) -> None:
        card = card_of(files)
        seen.update(charge.method for model in card.tables.models.values() for charge in model.versions[0].charges)
        try_each(every_law(cases_of(card, files)), data)

    seen: set[str] = set()
    try_it()
    assert method in seen


@settings(SOME, max_examples=examples(40, nightly=500))
@given(table_files(methods=["tokens"], max_models=1), st.data())
def test_no_rate_of_tokens_waits_for_a_prompt_that_is_refused(files: dict[str, bytes], data: st.DataObject) -> None:
    """A tier begins at a prompt, so its rates need one with a price; this is rare, and so it is tried more often."""
    [law] = (law for law in LAWS if law.name == "every rate is charged somewhere")
    try_each([(law, case) for case in cases_of(card_of(files), files)], data)
