"""Notes on sound tables: what can never apply, what no example reaches, lonely tiers and unlikely dates."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ratecard
from ratecard.examples import work
from ratecard.notes import notes_on
from shipped import CARD
from token_tables import by_tokens, family, text_model

NOW = datetime(2026, 10, 1, tzinfo=UTC)
BOTH = "- {tokens: [input, output], rate: 2}\n"
TRIED = "{prompt_tokens: 1000000, completion_tokens: 0}"
# The line of the first rate in the tables below.
FIRST = 17
NEVER, OVERRIDDEN = "this rate can never apply: ", "wherever it holds, another names more"


def notes(folder: Path, *versions: str, further: str = "", now: datetime = NOW) -> list[tuple[int, str]]:
    """The notes on a model of these versions, each with its line, without the model's name."""
    (folder / "made-up.yaml").write_text(family(text_model("made-up", *versions, further=further)), encoding="utf-8")
    card = ratecard.load_rate_card(folder)
    return [
        (note.line, note.message.removeprefix("made-up: ")) for note in notes_on(card.tables, work(card._compiler), now)
    ]


def mistakes(folder: Path, rates: str, further: str = "", context: str = "") -> list[tuple[int, str]]:
    """The notes on these rates that no further example mends, each with the number of its line after the first rate."""
    version = by_tokens(rates, further, usage=TRIED)
    version = version.replace("        rounding:", f"        {context}\n        rounding:") if context else version
    found = [(line, words) for line, words in notes(folder, version) if not words.startswith("no example")]
    return [(line - FIRST - bool(context), words) for line, words in found]


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param("- {tokens: input, service_tier: [standard, batch], rate: 2}\n", id="all that it knows"),
        pytest.param(
            "- {tokens: input, service_tier: [standard, batch, flex], speed: standard, rate: 2}\n"
            "- {tokens: input, service_tier: [standard, batch, flex], speed: fast, rate: 3}\n",
            id="two conditions",
        ),
        pytest.param(
            "- {tokens: input, speed: standard, rate: 2}\n- {tokens: input, speed: fast, rate: 3}\n",
            id="each value",
        ),
        pytest.param("- {tokens: input, hours: '00:00..24:00', zone: UTC, rate: 2}\n", id="every hour"),
        pytest.param(
            "- {tokens: input, weekdays: [mon, tue, wed, thu, fri], zone: UTC, rate: 2}\n"
            "- {tokens: input, weekdays: [sat, sun], zone: UTC, rate: 2}\n",
            id="every weekday",
        ),
    ],
)
def test_a_rate_that_others_override_everywhere_can_never_apply(tmp_path: Path, rates: str) -> None:
    found = mistakes(tmp_path, "- {tokens: input, rate: 9}\n- {tokens: output, rate: 9}\n" + rates)

    assert [number for number, words in found] == [0]
    assert found[0][1] == f"{NEVER}{OVERRIDDEN}. Leave it out, or correct what the others name"


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param("- {tokens: input, service_tier: batch, rate: 1}", id="a value"),
        pytest.param("- {tokens: input, service_tier: [batch, flex], rate: 1}", id="values without the default"),
        pytest.param("- {tokens: input, above: 1000, service_tier: [standard, batch], rate: 1}", id="a higher tier"),
        pytest.param("- {tokens: input, hours: '00:00..23:59', zone: UTC, rate: 2}", id="but for a minute"),
        pytest.param("- {tokens: cache_input, speed: [standard, fast], rate: 1}", id="another bucket"),
        pytest.param(
            "- {tokens: input, service_tier: standard, speed: standard, rate: 2}\n"
            "- {tokens: input, service_tier: batch, speed: standard, rate: 1}",
            id="but for speed fast and a batch at once",
        ),
    ],
)
def test_a_rate_that_some_request_takes_applies(tmp_path: Path, rates: str) -> None:
    further = "factors: [{speed: fast, factor: 2}]"
    found = mistakes(tmp_path, f"{BOTH}{rates}\n", further)
    assert not [words for _, words in found if words.startswith(NEVER)]


@pytest.mark.parametrize(
    ("above", "never"), [("above: 199999", False), ("above: 200000", True), ("from: 200000", False)]
)
def test_a_tier_beyond_the_context_can_never_apply(tmp_path: Path, above: str, never: bool) -> None:
    found = mistakes(
        tmp_path, f"{BOTH}- {{tokens: [input, output], {above}, rate: 3}}", context="context_tokens: 200000"
    )
    words = f"{NEVER}context_tokens 200000 allows no such prompt. Correct one of them, or leave the rate out"
    assert found == ([(1, words)] if never else [])


@pytest.mark.parametrize(
    ("rates", "factors", "lines"),
    [
        (BOTH, "factors: [{service_tier: batch, factor: 0.5}]", []),
        (
            BOTH + "- {tokens: [input, output], service_tier: batch, rate: 1}",
            "factors: [{service_tier: batch, factor: 0.5}]",
            [2],
        ),
        (BOTH + "- {tokens: input, service_tier: batch, rate: 1}", "factors: [{service_tier: batch, factor: 0.5}]", []),
        (
            BOTH + "- {tokens: [input, output], service_tier: batch, rate: 1}",
            "factors: [{speed: fast, factor: 0.5}, {service_tier: batch, inference_geo: us, factor: 2}]",
            [2],
        ),
        # The factor is for requests that are both fast and a batch, but those have rates of their own.
        (
            BOTH + "- {tokens: [input, output], speed: fast, rate: 4}",
            "factors: [{service_tier: batch, factor: 0.5}, {speed: fast, service_tier: flex, factor: 0.5}]",
            [2],
        ),
    ],
)
def test_a_factor_of_what_every_rate_names_can_never_apply(
    tmp_path: Path, rates: str, factors: str, lines: list[int]
) -> None:
    found = mistakes(tmp_path, rates, factors)
    assert [number for number, words in found] == lines
    assert all(words.startswith("this factor can never apply: every rate under it names ") for _, words in found)


@pytest.mark.parametrize("rate", ["", "- {tokens: [input, output], inference_geo: us, rate: 6}\n"])
def test_what_is_sold_beside_another_value_than_the_default_applies(tmp_path: Path, rate: str) -> None:
    """The region is not sold at the standard tier, and is in batches."""
    factors = "{service_tier: batch, factor: 0.5}" + ("" if rate else ", {inference_geo: us, factor: 3}")
    not_sold = "not_sold: [{service_tier: standard, inference_geo: us}]"
    assert mistakes(tmp_path, BOTH + rate, f"factors: [{factors}]", not_sold) == []


@pytest.mark.parametrize(
    ("said", "idle"),
    [
        ("batch: default", None),
        ("service_tier: default", None),
        ("cache: parent", None),
        ("audio: refuse", None),
        ("flex: default", "flex"),
        ("priority: refuse", "priority"),
        ("standard: default", "standard"),
        ("inference_geo: default", "inference_geo"),
        ("us: refuse", "us"),
        ("speed: refuse", None),
    ],
)
def test_a_word_of_without_rate_on_what_nothing_names_is_noted(tmp_path: Path, said: str, idle: str | None) -> None:
    rates = BOTH + "- {tokens: [input, output], service_tier: batch, rate: 1}"
    further = f"without_rate: {{{said}}}\nfactors: [{{speed: fast, factor: 2}}]"
    words = f"without_rate {idle} has no effect: of such a condition, charge tokens names the default or nothing"
    assert mistakes(tmp_path, rates, further) == ([(0, f"{words}. Leave it out, or correct the name")] if idle else [])


def counted(rates: str, factors: str = "") -> str:
    """A version with a charge of pages beside its tokens, and a factor of the version."""
    version = by_tokens(BOTH, usage="{prompt_tokens: 1000000, completion_tokens: 0, counts: {page: 1}}", total=3)
    lines = "".join(f"              {line}\n" for line in rates.splitlines())
    charge = (
        f"          - charge: pages\n            method: count\n            unit: page\n            rates:\n{lines}"
    )
    return version.replace(
        "        examples:",
        f"{charge}        {factors}\n        examples:" if factors else f"{charge}        examples:",
    )


@pytest.mark.parametrize(
    ("rates", "factors", "expected"),
    [
        ("- {rate: 1}", "", []),
        ("- {rate: 5}\n- {speed: [standard, fast], rate: 1}", "", [NEVER]),
        ("- {rate: 1}\n- {speed: fast, rate: 1}", "", ["no example reaches"]),
        ("- {rate: 1}", "factors: [{speed: fast, factor: 2}]", ["no example reaches this line"]),
        ("- {rate: 5}\n- {hours: '00:00..24:00', zone: UTC, rate: 1}", "", [NEVER]),
    ],
)
def test_charges_of_other_methods_have_the_same_notes(
    tmp_path: Path, rates: str, factors: str, expected: list[str]
) -> None:
    found = notes(tmp_path, counted(rates, factors))
    assert len(found) == len(expected)
    for (_, words), begins in zip(found, expected, strict=True):
        assert words.startswith(begins)


def test_a_factor_of_a_version_that_one_charge_takes_applies(tmp_path: Path) -> None:
    found = notes(tmp_path, counted("- {rate: 1}\n- {speed: fast, rate: 1}", "factors: [{speed: fast, factor: 2}]"))
    assert not [words for _, words in found if "never" in words]


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ("- {tokens: input, above: 200000, rate: 3}", ["only input has a rate above 200k: output cost there"]),
        ("- {tokens: output, from: 999, rate: 3}", ["only output has a rate from 999: input cost there"]),
        ("- {tokens: [input, output], above: 200000, rate: 3}", []),
        ("- {tokens: input, above: 9, rate: 3}\n- {tokens: output, service_tier: batch, above: 9, rate: 3}", []),
        (
            "- {tokens: cache_input, rate: 1}\n- {tokens: input, above: 9, rate: 3}",
            ["only input has a rate above 9: output, cache_input cost there"],
        ),
    ],
)
def test_a_tier_that_one_bucket_alone_has_is_noted(tmp_path: Path, rates: str, expected: list[str]) -> None:
    found = mistakes(tmp_path, BOTH + rates)
    assert [words.partition(" what they cost")[0] for _, words in found] == [f"{words}" for words in expected]


def test_a_charge_of_one_bucket_may_have_tiers(tmp_path: Path) -> None:
    rates = "- {tokens: input, rate: 2}\n- {tokens: input, above: 200000, rate: 3}"
    assert not mistakes(tmp_path, rates, "without_rate: {output: refuse}")


@pytest.mark.parametrize(
    ("effective", "checked", "expected"),
    [
        (NOW + timedelta(days=365), NOW + timedelta(days=365), []),
        (NOW + timedelta(days=366), NOW + timedelta(days=366), ["effective 2027-10-02 is more than a year ahead"]),
        (NOW, NOW - timedelta(days=90), []),
        (NOW, NOW - timedelta(days=91), ["checked 2026-07-02 is more than 90 days before effective 2026-10-01"]),
        (NOW, NOW + timedelta(days=91), []),
    ],
)
def test_unlikely_dates_are_noted(tmp_path: Path, effective: datetime, checked: datetime, expected: list[str]) -> None:
    version = by_tokens(BOTH, effective=f"{effective:%Y-%m-%d}", usage=TRIED)
    version = version.replace("checked: 2026-01-01", f"checked: {checked:%Y-%m-%d}")
    found = notes(tmp_path, version)
    assert [words.partition(".")[0] for _, words in found] == expected
    assert all(line == 8 for line, _ in found)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ("{prompt_tokens: 0, completion_tokens: 0}", [(17, "no example reaches charge tokens, by the mtoken")]),
        (TRIED, [(18, "no example has a prompt above 2000k"), (19, "no example reaches lines 19, 20")]),
        (
            "{prompt_tokens: 1000000, completion_tokens: 0, service_tier: batch}",
            [(17, "no example reaches lines 17, 19"), (18, "no example has a prompt above 2000k")],
        ),
        ("{prompt_tokens: 3000000, completion_tokens: 0}", [(17, "no example reaches lines 17, 19, 20, 21")]),
    ],
)
def test_what_no_example_reaches_is_noted_once_for_a_charge_or_a_tier(
    tmp_path: Path, usage: str, expected: list[tuple[int, str]]
) -> None:
    rates = """\
- {tokens: input, rate: 2}
- {tokens: [input, output], above: 2000000, rate: 9}
- {tokens: output, rate: 3}
- {tokens: input, service_tier: batch, rate: 1}
- {tokens: input, service_tier: batch, above: 2000000, rate: 1}
"""
    found = notes(tmp_path, by_tokens(rates, usage=usage))
    assert found == [(line, f"{words}. Write one, worked by hand") for line, words in expected]


def test_what_no_example_reaches_stands_below_what_can_never_apply(tmp_path: Path) -> None:
    rates = (
        BOTH + "- {tokens: input, service_tier: batch, rate: 1}\n- {tokens: output, speed: [standard, fast], rate: 1}"
    )
    rates = rates.replace("[input, output]", "input") + "\n- {tokens: output, rate: 1}"
    assert [words.partition(":")[0] for _, words in notes(tmp_path, by_tokens(rates, usage=TRIED))] == [
        "this rate can never apply",
        "no example reaches lines 18, 19. Write one, worked by hand",
    ]


def test_shipped_tables_have_nothing_that_can_never_apply_and_no_unlikely_date() -> None:
    found = notes_on(CARD.tables, work(CARD._compiler), NOW)
    assert [note for note in found if ": no example reaches " not in str(note)] == []
    # Each note is about a line without an example: the quotes of the examples tell which lines they take.
    reached = {line.source for worked in work(CARD._compiler) if worked.quote for line in worked.quote.lines}
    assert not reached & {f"{note.file}:{note.line}" for note in found}


OWN_CONDITIONS = "conditions:\n  - {condition: hardware, values: [small, large]}\n"


@pytest.mark.parametrize(
    ("rates", "further", "line"),
    [
        # Every usage states the hardware, and each kind of hardware has a rate.
        (BOTH + "- {tokens: [input, output], hardware: [small, large], rate: 1}", "", 0),
        (
            "- {tokens: [input, output], hardware: [small, large], rate: 1}\n"
            "- {tokens: [input, output], hardware: small, service_tier: batch, speed: fast, rate: 1}",
            "not_sold: [{service_tier: batch, speed: fast}]",
            1,
        ),
        ("- {tokens: [input, output], hardware: [small, large], rate: 1}", "", None),
    ],
)
def test_what_no_usage_can_state_never_applies(tmp_path: Path, rates: str, further: str, line: int | None) -> None:
    (tmp_path / "meters.yaml").write_text(OWN_CONDITIONS, encoding="utf-8")
    version = by_tokens(rates, usage="{prompt_tokens: 1000000, completion_tokens: 0, hardware: small}")
    version = version.replace("        rounding:", f"        {further}\n        rounding:") if further else version
    found = [(number - FIRST - bool(further), words) for number, words in notes(tmp_path, version) if "never" in words]
    assert [number for number, _ in found] == ([] if line is None else [line])


@pytest.mark.parametrize(("not_sold", "never"), [("{service_tier: flex, speed: fast}", 0), ("{speed: fast}", 1)])
def test_a_factor_of_what_is_not_sold_never_applies(tmp_path: Path, not_sold: str, never: int) -> None:
    factors = "factors: [{speed: fast, factor: 2}, {service_tier: flex, factor: 0.5}]"
    version = by_tokens(BOTH, factors, usage=TRIED)
    version = version.replace("        rounding:", f"        not_sold: [{not_sold}]\n        rounding:")
    found = [words for _, words in notes(tmp_path, version) if "can never apply" in words]
    assert len(found) == never
