"""Whatever a candidate says: promoted and loaded again, the shipped tables are those under the candidate."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from json import dumps
from pathlib import Path
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from overlays import HEAD, without

from nightly import examples
from ratecard import PriceBook, QuoteError, RateCard, TableError
from ratecard.candidates.rates import attributes_of
from ratecard.examples import price_example
from ratecard.load.folder import read_folder, shipped_folder, tables_from
from ratecard.review.promote import promotion
from ratecard.tables.card import AnyModel
from ratecard.tables.version import Example
from shipped import CARD

MODELS = CARD.tables.models
NAMES = sorted(MODELS)
FIRST, LAST = date(2026, 8, 1), date(2027, 12, 31)
# Reasons for which a candidate, or its promotion, may be refused; anything else is a mistake of the program.
REASONS = (
    "matches nothing: .* has (no|a) price on",
    "has a version from .* already",
    "is rounded to 0",
    "a model is retired for good, and until ends",
    "begins while the candidate holds, and would change with it",
    r"which is in the window of this candidate$",
    r"^from .* on \(.*\): (matches nothing|fits|the rate at)",
    "changes nothing",
    "retired on .*, but the first version takes effect on",
    "is retired already",
    "has more than 30 decimal places",
    "changes .* from the same day on; keep one",
    "charge by '.*' from then on",
    "retired is there already; change that line by hand",
    "sets a rate that is meant here too",
    "fits .* different rates",
    "the example says .*, with the candidate it is",
    "the example has no price: Specified model not found: .* It was retired on",
)

days = st.one_of(
    st.dates(FIRST, LAST),
    *[st.dates(date(2026, 11, 11), LAST)] * 4,
    st.sampled_from(CARD.boundaries()).map(lambda instant: instant.date()),
    st.sampled_from(CARD.boundaries()).map(lambda instant: instant.date() + timedelta(days=1)),
)
factors = st.integers(1, 30_000).map(lambda number: f"{number // 10_000}.{number % 10_000:04}")


@st.composite
def changes(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(NAMES))
    kind = draw(st.sampled_from(["set", "set", "scale", "scale", "family", "percent", "percent", "retire"]))
    if kind == "retire":
        successor = draw(st.none() | st.sampled_from(NAMES))
        return f"- retire: {name}\n" + (f"  successor: {successor}\n" if successor else "")
    if kind == "set":
        charge = draw(st.sampled_from(draw(st.sampled_from(MODELS[name].versions)).charges))
        rate = draw(st.sampled_from(charge.rates))
        default = {"context": ("base",)} if charge.method == "tokens" else {}
        named: Mapping[str, tuple[str, ...]] = {**default, **rate.attributes}
        where = f"  where: {dumps(named)}\n" if named else ""
        return f"- set: {name}\n  charge: {charge.charge}\n  rate: {draw(factors)}\n{where}"
    step = draw(
        st.sampled_from(["", "  round: {to: 0.0001, mode: half-up}\n", "  round: {to: 0.00000001, mode: up}\n"])
    )
    if kind == "percent":
        names = sorted({attribute for has in _attributes(name) for attribute in has})
        attribute = draw(st.none() | st.sampled_from(names)) if names else None
        values = sorted({value for has in _attributes(name) for value in has.get(attribute or "", ())})
        meant = f"  where: {{{attribute}: {dumps(values)}}}\n" if attribute else ""
        return f"- scale: {{model: {name}}}\n{meant}  percent: {draw(st.integers(-99, 300))}%\n{step}"
    what = f"family: {CARD.tables.families[name]}" if kind == "family" else f"model: {name}"
    return f"- scale: {{{what}}}\n  factor: {draw(factors)}\n{step}"


def _attributes(name: str) -> Iterator[Mapping[str, tuple[str, ...]]]:
    for version in MODELS[name].versions:
        for charge in version.charges:
            yield from (attributes_of(charge, rate, CARD.tables.meters) for rate in charge.rates)


@given(
    changes().map(lambda only: [only]) | st.lists(changes(), min_size=1, max_size=4),
    days,
    st.none() | days,
    st.none() | st.integers(1, 300),
)
@settings(max_examples=examples(10, nightly=60), deadline=None)
def test_promote_then_load_is_the_candidate(
    parts: list[str], day: date, announced: date | None, length: int | None
) -> None:
    until = day + timedelta(days=length) if length else None
    more = (f"announced: {announced}\n" if announced else "") + (f"until: {until}\n" if until else "")
    head = HEAD.format(day=day, announced=more)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.yaml"
        path.write_text(head + "".join(parts))
        try:
            wanted = CARD.with_candidate(path)
            made = promotion(shipped_folder(), path, day)
        except TableError as error:
            event("refused")
            for fault in error.faults:
                assert re.search("|".join(REASONS), fault.message), str(fault)
            return
    event(f"promoted {len(made.after)} files, {'for some days' if until else 'for good'}")
    before = read_folder(None)
    for name, content in made.after.items():
        lines = [(added.first, added.last) for added in made.added if added.file == name]
        assert without(content, lines) == before[name]
    got = RateCard(tables_from({**before, **made.after}))
    assert got.digest == wanted.digest
    assert_equal(got, wanted, day)


def assert_equal(got: RateCard, wanted: RateCard, day: date) -> None:
    changed = [name for name, model in wanted.tables.models.items() if model is not MODELS[name]]
    assert changed
    models = [wanted.tables.models[name] for name in changed]
    ticks = {version.effective for model in models for version in model.versions}
    ticks |= {model.retired.on for model in models if model.retired}
    instants = {day, day - timedelta(days=1), FIRST, LAST, *ticks, *(tick - timedelta(days=1) for tick in ticks)}
    for instant in sorted(instants):
        books = got.at(instant), wanted.at(instant)
        for name in changed:
            model = wanted.tables.models[name]
            examples = {
                str(example.model_dump(exclude={"place"})): example
                for version in model.versions
                for example in version.examples
            }.values()
            for example in examples:
                one, other = (answer(book, model, example) for book in books)
                assert one == other, (name, instant)


def answer(book: PriceBook, model: AnyModel, example: Example) -> Any:
    try:
        quote = price_example(book, model, example)
    except QuoteError as error:
        return error.body()
    return (
        quote.total,
        quote.exact,
        quote.effective,
        [(line.sku, line.quantity, line.unit_rate) for line in quote.lines],
    )
