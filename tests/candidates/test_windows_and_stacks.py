"""Candidates that end, that scale some rates or round them, and several on top of each other: what holds when."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import event, given, settings
from hypothesis import strategies as st
from overlays import HEAD, amounts, candidate, refusal

from nightly import examples
from ratecard import RateCard, TableError, load_rate_card
from ratecard.candidates.rates import At, attributes_of
from ratecard.cli import main
from ratecard.review.promote import promotion
from ratecard.tables.version import Version
from shipped import CARD

MODELS = CARD.tables.models
FAMILIES = CARD.tables.families
FIRST, LAST = date(2026, 7, 1), date(2027, 12, 31)
ROUNDINGS = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "half-up": ROUND_HALF_UP}


@pytest.fixture
def card(folder: Path) -> RateCard:
    return load_rate_card(folder)


def ending(folder: Path, changes: str, day: str, until: str, name: str = "c.yaml") -> Path:
    path = candidate(folder, changes, day, name=name)
    path.write_text(path.read_text().replace("proposed_by", f"until: {until}\nproposed_by"))
    return path


@pytest.mark.parametrize(
    ("change", "rates"),
    [
        ("where: {audio: true}\n    percent: -15%", ["0.01", "0.017", "0.03", "0.5"]),
        ("where: {resolution: [480p, 720p]}\n    factor: 2", ["0.02", "0.04", "0.03", "0.5"]),
        ("charge: fee\n    percent: +10 %", ["0.01", "0.02", "0.03", "0.55"]),
        ("percent: -15%\n    round: {to: 0.005, mode: up}", ["0.01", "0.02", "0.03", "0.425"]),
        ("percent: -15%\n    round: {to: 0.002, mode: down}", ["0.008", "0.016", "0.024", "0.424"]),
        ("percent: 50%\n    round: {to: 0.01, mode: half-up}", ["0.02", "0.03", "0.05", "0.75"]),
        ("factor: 1\n    round: {to: 0.02, mode: half-up}", ["0.02", "0.02", "0.04", "0.5"]),
    ],
)
def test_a_scale_moves_the_rates_that_it_names_and_rounds_them(
    card: RateCard, folder: Path, change: str, rates: list[str]
) -> None:
    path = candidate(folder, f"  - scale: {{model: sized}}\n    {change}\n")
    assert amounts(card.with_candidate(path), "sized")[0] == ("2027-09-01", rates)


def test_a_scale_of_a_family_leaves_models_that_do_not_match_where(card: RateCard, folder: Path) -> None:
    new = card.with_candidate(candidate(folder, "- scale: {type: video}\n  where: {audio: false}\n  percent: 7%\n"))
    changed = [name for name, model in new.tables.models.items() if model is not card.tables.models[name]]
    assert changed == ["sized"]
    base = card.with_candidate(candidate(folder, "- scale: {type: text}\n  where: {context: base}\n  factor: 3\n"))
    assert amounts(base, "talker")[0][1] == ["3", "6", "4"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ("percent: 5%\n  factor: 2", "6: the change has both factor and percent; keep one"),
        ("charge: x", "6: the change has no factor. Write one of: factor (like 0.85), percent (like -15%)"),
        ("factr: 2", "7: unknown key 'factr'. Did you mean 'factor'? Allowed here: scale, charge, where, factor, p"),
        ("percent: -100%", "7: percent '-100%' leaves nothing of a rate. Write more than -100%"),
        ("percent: 0.0%", "7: changes nothing: every rate x 1 is the same"),
        ("percent: 15", "7: percent '15' is not a percentage. Write digits with at most 10 decimal places and %, like"),
        ("percent: 1,5%", "7: percent '1,5%' is not a percentage."),
        ("percent: 3%\n  round: 0.01", "8: round '0.01' must hold keys, like `key: value`"),
        ("percent: 3%\n  round: {to: 0, mode: up}", "8: to '0' must be more than zero"),
        ("percent: 3%\n  round: {to: 0.01}", "8: mode is missing in round"),
        ("percent: 3%\n  round: {to: 0.01, mode: upp}", "8: mode 'upp' is not known. Did you mean 'up'? Allowed: up"),
        ("percent: 3%\n  round: {to: 0.01, mod: up}", "8: unknown key 'mod'. Did you mean 'mode'? Allowed here: to, "),
        (
            "percent: 3%\n  round: {to: 0.1, mode: down}",
            "8: 0.01 (video/mixed.yaml:44) x 1.03 is rounded to 0, and 2 more rates of the model. Choose a smaller",
        ),
        ("factor: 1\n  round: {to: 0.01, mode: up}", "6: changes nothing: rounded, these rates are as they were"),
        (
            "factor: 1.00000000000000000000000000001",
            "7: 0.01 (video/mixed.yaml:44) x 1.00000000000000000000000000001 has more than 30 ",
        ),
        (
            "where: {audoi: true}\n  factor: 2",
            "7: matches nothing: no rate of sized names 'audoi'. Did you mean 'audio'",
        ),
        (
            "where: {resolution: 4k}\n  factor: 2",
            "7: matches nothing: no rate of sized is for resolution '4k'. Allowed",
        ),
        (
            "charge: feee\n  factor: 2",
            "7: matches nothing: sized has no charge 'feee'. Did you mean 'fee'? Allowed: vid",
        ),
        (
            "where: {resolution: 480p}\n  factor: 2",
            "7: the rate at video/mixed.yaml:44 is for resolution 480p, 720p tog",
        ),
        (
            "where: {resolution: 1080p, audio: true}\n  factor: 2",
            "7: no rate of sized matches all of these conditions. It has: resolution 480p | 720p, audio",
        ),
    ],
)
def test_a_wrong_scale_is_reported_at_its_line(card: RateCard, folder: Path, changes: str, words: str) -> None:
    path = candidate(folder, f"- scale: {{model: sized}}\n  {changes}\n")
    assert f"c.yaml:{words}" in refusal(card, path)


@pytest.mark.parametrize(
    ("day", "until", "versions"),
    [
        # No version of the list begins meanwhile: a version of the candidate restores the list prices.
        ("2027-09-01", "2027-11-01", [("2027-11-01", "0.01"), ("2027-09-01", "0.02")]),
        # A version of the list begins meanwhile, and the candidate follows it.
        ("2027-03-01", "2027-11-01", [("2027-11-01", "0.01"), ("2027-06-01", "0.02"), ("2027-03-01", "0.02")]),
        # A version of the list begins on the day on which the candidate ends, so no further version is needed.
        ("2027-03-01", "2027-06-01", [("2027-06-01", "0.01"), ("2027-03-01", "0.02")]),
        ("2027-03-01", "2027-06-02", [("2027-06-02", "0.01"), ("2027-06-01", "0.02"), ("2027-03-01", "0.02")]),
        ("2027-03-01", "2027-05-31", [("2027-06-01", "0.01"), ("2027-05-31", "0.01"), ("2027-03-01", "0.02")]),
    ],
)
def test_a_candidate_that_ends_gives_way_to_the_list(
    card: RateCard, folder: Path, day: str, until: str, versions: list[tuple[str, str]]
) -> None:
    new = card.with_candidate(ending(folder, "- scale: {model: sized}\n  factor: 2\n", day, until))
    found = [(day, rates[0]) for day, rates in amounts(new, "sized")]
    assert [each for each in found if each[0] >= day] == versions
    last = new.tables.models["sized"].version_at(date.fromisoformat(until))
    assert last is not None
    assert [rate.rate for charge in last.charges for rate in charge.rates][-1:] == [
        Decimal(amounts(card, "sized")[0 if until >= "2027-06-01" else 1][1][-1])
    ]


def test_the_versions_of_a_window_say_where_they_come_from(card: RateCard, folder: Path) -> None:
    path = ending(folder, "- scale: {model: sized}\n  factor: 2\n", "2027-03-01", "2027-11-01")
    found = {str(each.effective): each for each in card.with_candidate(path).tables.models["sized"].versions}
    words = "candidate spring by Pricing: because"
    assert found["2027-03-01"].source == words
    assert found["2027-06-01"].source == f"made up, on two lines; {words}"
    assert (found["2027-11-01"].source, found["2027-11-01"].place) == (f"the prices before {words}", f"{path}:3")


def test_a_version_without_a_new_rate_is_followed_by_one_with_some(folder: Path) -> None:
    mixed = folder / "video" / "mixed.yaml"
    text = mixed.read_text().replace("rates: [{rate: 0.01}]", "rates: [{rate: 0.04}]")
    mixed.write_text(text.replace("720p}, total: 0.05}", "720p}, total: 0.20}"))
    change = "- scale: {model: sized}\n  factor: 1\n  round: {to: 0.04, mode: up}\n"
    new = load_rate_card(folder).with_candidate(ending(folder, change, "2027-03-01", "2027-11-01"))
    assert amounts(new, "sized")[1:] == [("2027-06-01", ["0.04", "0.04", "0.04", "0.52"]), ("2027-01-01", ["0.04"])]


def test_a_set_overrides_what_the_list_says_meanwhile(card: RateCard, folder: Path) -> None:
    changes = "- set: sized\n  where: {audio: false, resolution: [480p, 720p]}\n  rate: 0.7\n"
    later = ending(folder, changes, "2027-07-01", "2027-11-01")
    assert [rates[0] for _, rates in amounts(card.with_candidate(later), "sized")] == ["0.01", "0.7", "0.01", "0.01"]
    # The list has no such rate before June.
    words = refusal(card, ending(folder, changes, "2027-03-01", "2027-11-01"))
    assert words == "c.yaml:8: matches nothing: no rate of sized names 'audio'. Allowed: none, leave where out\n" + (
        "c.yaml:8: matches nothing: no rate of sized names 'resolution'. Allowed: none, leave where out"
    )
    words = refusal(card, ending(folder, "- set: sized\n  rate: 0.7\n", "2027-03-01", "2027-11-01"))
    assert words.startswith("c.yaml:7: from 2027-06-01 on (video/mixed.yaml:27): fits rates of 2 charges of sized.")
    both = card.with_candidate(
        ending(folder, "- scale: {model: sized}\n  factor: 2\n" + changes, "2027-06-15", "2027-06-20")
    )
    assert amounts(both, "sized")[1] == ("2027-06-15", ["0.7", "0.04", "0.06", "1"])


@pytest.mark.parametrize(
    ("changes", "day", "until", "words"),
    [
        ("- retire: plain\n", "2027-09-01", "2027-10-01", "7: a model is retired for good, and until ends this cand"),
        (
            "- scale: {type: video}\n  factor: 2\n",
            "2027-09-01",
            "2027-09-01",
            "3: until '2027-09-01' must be after eff",
        ),
        ("- scale: {type: video}\n  factor: 2\n", "2027-09-01", "Easter", "3: until 'Easter' is not a date. Write YYY"),
        (
            "- scale: {model: sized}\n  charge: fee\n  factor: 2\n",
            "2027-03-01",
            "2027-04-01",
            "8: matches nothing: sized has no charge 'fee'. Allowed: video",
        ),
        (
            "- scale: {model: sized}\n  charge: fee\n  factor: 2\n",
            "2027-03-01",
            "2027-09-01",
            "8: matches nothing of sized from 2027-01-01 on (video/mixed.yaml:59), which is in the window of this can",
        ),
    ],
)
def test_a_wrong_window_is_reported_at_its_line(
    card: RateCard, folder: Path, changes: str, day: str, until: str, words: str
) -> None:
    assert f"c.yaml:{words}" in refusal(card, ending(folder, changes, day, until))


@pytest.mark.parametrize("begins", ["2027-06-01", "2027-06-01T09:00:00Z"])
def test_a_window_over_a_list_change_cannot_be_promoted_and_says_so(folder: Path, begins: str) -> None:
    mixed = folder / "video" / "mixed.yaml"
    mixed.write_text(mixed.read_text().replace("effective: 2027-06-01", f"effective: {begins}"))
    changes = "- scale: {model: sized}\n  factor: 2\n"
    with pytest.raises(TableError) as refused:
        promotion(folder, ending(folder, changes, "2027-03-01", "2027-11-01"), date(2027, 2, 1))
    words = f"video/mixed.yaml:27: version {begins} of sized begins while the candidate holds, and would change with"
    assert str(refused.value).startswith(words)
    assert "(until: 2027-06-01), and edit it by hand" in str(refused.value)
    made = promotion(folder, ending(folder, changes, "2027-03-01", "2027-06-01"), date(2027, 2, 1))
    # Before a version that begins at an hour of that day, the list has its price again.
    again = ["sized from 2027-06-01"] if "T" in begins else []
    assert [added.what for added in made.added] == [*again, "sized from 2027-03-01"]


def test_a_candidate_for_good_is_not_ended_by_the_promotion_below_it(card: RateCard, folder: Path) -> None:
    dearer = candidate(folder, "- scale: {model: plain}\n  factor: 3\n", "2027-10-01", name="dearer.yaml")
    sale = ending(folder, "- scale: {model: plain}\n  percent: -50%\n", "2027-09-01", "2027-11-01", "sale.yaml")
    # During the sale, its prices follow the dearer list, which is unchanged after it.
    assert amounts(card.with_candidate(dearer).with_candidate(sale), "plain") == [
        ("2027-11-01", ["0.3"]),
        ("2027-10-01", ["0.15"]),
        ("2027-09-01", ["0.05"]),
        ("2027-01-01", ["0.1"]),
    ]
    words = refusal(card.with_candidate(sale), dearer)
    assert words == (
        "dearer.yaml:6: plain has its list prices again from 2027-11-01 on, by `until` of a candidate below this one,"
        " which would end this one; stack it above this one"
    )
    another = candidate(folder, "- scale: {model: sized}\n  factor: 3\n", "2027-10-01", name="another.yaml")
    assert amounts(card.with_candidate(sale).with_candidate(another), "sized")[0][0] == "2027-10-01"
    twice = ending(folder, "- scale: {model: plain}\n  factor: 5\n", "2027-09-15", "2027-12-01", "twice.yaml")
    assert [rates for _, rates in amounts(card.with_candidate(sale).with_candidate(twice), "plain")] == [
        ["0.1"],
        ["0.5"],
        ["0.25"],
        ["0.05"],
        ["0.1"],
    ]


def test_several_candidates_are_stacked_on_the_command_line(folder: Path, card: RateCard) -> None:
    one = candidate(folder, "- scale: {model: plain}\n  factor: 3\n", "2027-09-01", name="one.yaml")
    two = candidate(folder, "- scale: {family: mixed}\n  percent: -50%\n", "2027-10-01", name="two.yaml")
    done = CliRunner().invoke(main, ["diff", str(folder), f"{one}+{two}", "--at", "2027-10-01", "--format", "json"])
    assert done.exit_code == 0, done.output
    assert '"new": "0.15"' in done.stdout
    for word, said in (
        (f"{one}+nothing.yaml", "there is no file nothing.yaml"),
        ("a.yaml+b.yaml", "there is no file of this name"),
        (f"{one}+{two}+{one.parent}/./{one.name}", f"names {one} twice, so that its changes would count twice"),
    ):
        done = CliRunner().invoke(main, ["diff", str(folder), word])
        assert done.exit_code == 2
        assert said in done.stderr
    # A file with a plus in its name is one file.
    plus = one.with_name("one+two.yaml")
    plus.write_bytes(one.read_bytes())
    assert CliRunner().invoke(main, ["diff", str(folder), str(plus)]).exit_code == 0


def rates(version: Version) -> dict[At, Decimal]:
    return {At(c, r): rate.rate for c, charge in enumerate(version.charges) for r, rate in enumerate(charge.rates)}


@st.composite
def windows(draw: st.DrawFn) -> tuple[str, str, Decimal, tuple[str, str] | None, tuple[Decimal, str] | None]:
    """A family, the change of it as lines, its factor, the attribute that it is limited to, and how it is rounded."""
    family = draw(st.sampled_from(sorted(set(FAMILIES.values()))))
    tenths = draw(st.integers(-900, -1) | st.integers(1, 2000))
    lines = f"- scale: {{family: {family}}}\n  percent: {Decimal(tenths) / 10}%\n"
    named = {
        (name, values[0])
        for model, own in FAMILIES.items()
        if own == family
        for version in MODELS[model].versions
        for charge in version.charges
        for rate in charge.rates
        for name, values in attributes_of(charge, rate, CARD.tables.meters).items()
        if len(values) == 1
    }
    where = draw(st.none() | st.sampled_from(sorted(named))) if named else None
    if where:
        lines += f'  where: {{{where[0]}: "{where[1]}"}}\n'
    step = draw(
        st.none() | st.tuples(st.sampled_from(["0.001", "0.0005", "0.00003"]), st.sampled_from(list(ROUNDINGS)))
    )
    if step:
        lines += f"  round: {{to: {step[0]}, mode: {step[1]}}}\n"
    rounding = (Decimal(step[0]), step[1]) if step else None
    return family, lines, 1 + Decimal(tenths) / 1000, where, rounding


spans = st.tuples(st.dates(FIRST, LAST), st.integers(1, 400)).map(lambda each: (each[0], each[0] + timedelta(each[1])))


def days(card: RateCard) -> Iterator[date]:
    for instant in card.boundaries():
        yield from (instant.date() - timedelta(1), instant.date())


@given(windows(), spans)
@settings(max_examples=examples(10, nightly=60), deadline=None)
def test_on_every_day_of_the_window_the_list_price_of_that_day_is_scaled_and_on_no_other(
    tmp_path_factory: pytest.TempPathFactory,
    change: tuple[str, str, Decimal, tuple[str, str] | None, tuple[Decimal, str] | None],
    span: tuple[date, date],
) -> None:
    family, lines, factor, where, rounding = change
    day, until = span
    path = tmp_path_factory.getbasetemp() / "window.yaml"
    path.write_text(HEAD.format(day=day, announced=f"until: {until}\n") + lines)
    try:
        new = CARD.with_candidate(path)
    except TableError as error:
        event("refused")
        for fault in error.faults:
            allowed = ("matches nothing", "has a version from", "rounded to 0", "decimal places", "changes nothing")
            assert any(words in fault.message for words in (*allowed, "together; name them all")), str(fault)
        return
    event("laid over")
    instants = sorted({day, day - timedelta(1), until, until - timedelta(1), *days(CARD)})
    for model, own in FAMILIES.items():
        for each in instants:
            was, now = (card.tables.models[model].version_at(each) for card in (CARD, new))
            assert (was is None) == (now is None)
            if was is None or now is None or MODELS[model].retired_at(each):
                continue
            begun = MODELS[model].version_at(day)
            holds = own == family and day <= each < until and begun and not MODELS[model].retired_at(day)
            expected = {}
            for at, amount in rates(was).items():
                charge = was.charges[at.charge]
                has = attributes_of(charge, charge.rates[at.number], CARD.tables.meters)
                if holds and (where is None or where[1] in has.get(where[0], ())):
                    amount = amount * factor
                    if rounding:
                        steps = (amount / rounding[0]).to_integral_value(ROUNDINGS[rounding[1]])
                        amount = steps * rounding[0]
                expected[at] = amount
            assert rates(now) == expected, (model, each)
            assert {key: value for key, value in was if key not in _OWN} == {
                key: value for key, value in now if key not in _OWN
            }
    assert new.digest != CARD.digest


_OWN = {"charges", "effective", "announced", "source", "correction", "expected_change", "place", "evidence", "checked"}
