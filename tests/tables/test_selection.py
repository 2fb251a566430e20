"""Every combination of attributes that a version accepts fits exactly one rate."""

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratecard.tables.rate import Charge, Rate, domains_of, missing, named_attributes, overlaps, select, tiers

ACCEPTED = {"resolution": ("480p", "720p"), "audio": ("false", "true"), "duration": ("5s",)}
ORDER = ("resolution", "audio", "up_to")


class Version:
    def values_of(self, attribute: str) -> tuple[str, ...]:
        return ACCEPTED[attribute]


class Priced(Charge):
    ATTRIBUTES = ORDER


def rates(*lines: Mapping[str, object]) -> tuple[Rate, ...]:
    return tuple(Rate.model_validate({"rate": str(number), **line}) for number, line in enumerate(lines, 1))


def charge(*lines: Mapping[str, object]) -> Priced:
    return Priced(charge="video", method="x", unit="clip", rates=rates(*lines))


def faults(*lines: Mapping[str, object]) -> tuple[list[tuple[int, int, str]], list[str]]:
    priced = charge(*lines)
    domains = domains_of(Version(), priced)
    return list(overlaps(priced.rates, domains)), list(missing(priced.rates, domains))


SOUND: dict[str, list[dict[str, object]]] = {
    "one rate for all": [{}],
    "one attribute": [{"resolution": "480p"}, {"resolution": "720p"}],
    "a list stands for each of its values": [{"resolution": ["480p", "720p"]}],
    "an attribute left out does not matter": [
        {"resolution": "480p"},
        {"resolution": "720p", "audio": "false"},
        {"resolution": "720p", "audio": "true"},
    ],
    "tiers": [{"up_to": "720", "audio": "true"}, {"up_to": "any", "audio": "true"}, {"audio": "false"}],
}


@pytest.mark.parametrize("lines", SOUND.values(), ids=list(SOUND))
def test_a_sound_table_has_neither_gaps_nor_overlaps(lines: list[dict[str, object]]) -> None:
    assert faults(*lines) == ([], [])


def test_every_gap_is_named_in_the_order_of_the_method() -> None:
    gaps = ["resolution: 480p, audio: true", "resolution: 720p, audio: false"]
    assert faults({"audio": "false", "resolution": "480p"}, {"resolution": "720p", "audio": "true"}) == ([], gaps)


def test_a_rate_that_overlaps_is_named_once_with_the_earlier_one() -> None:
    found, gaps = faults({"resolution": "480p"}, {"resolution": "720p"}, {"audio": "true"}, {"audio": "false"})
    assert found == [(2, 0, "resolution: 480p, audio: true"), (3, 0, "resolution: 480p, audio: false")]
    assert gaps == []


def test_two_rates_without_attributes_overlap() -> None:
    assert faults({}, {}) == ([(1, 0, "")], [])


def test_a_selection_finds_the_one_rate_of_each_combination() -> None:
    priced = charge(
        {"audio": "true"}, {"audio": "false", "resolution": "480p"}, {"audio": "false", "resolution": "720p"}
    )
    attributes, found = select(Version(), priced)
    assert attributes == ("resolution", "audio")
    assert {key: int(rate.rate) for key, rate in found.items()} == {
        ("480p", "true"): 1,
        ("720p", "true"): 1,
        ("480p", "false"): 2,
        ("720p", "false"): 3,
    }


def test_a_selection_without_attributes_has_one_rate() -> None:
    attributes, found = select(Version(), charge({}))
    assert attributes == ()
    assert list(found) == [()]


def test_tiers_rise_by_height_and_any_is_the_last() -> None:
    lines = rates({"up_to": "any"}, {"up_to": ["1080", "720"]}, {"up_to": "540", "audio": "true"}, {"up_to": "2160"})
    assert tiers(lines) == ("540", "720", "1080", "2160", "any")
    assert tiers(rates({})) == ()


def test_only_attributes_that_a_rate_names_count() -> None:
    assert named_attributes(rates({"audio": "true"}, {"unknown": "x", "resolution": "480p"}), ORDER) == ORDER[:2]


CELLS = list(product(ACCEPTED["resolution"], ACCEPTED["audio"]))


@given(st.permutations(CELLS), st.integers(0, len(CELLS)))
def test_gaps_are_exactly_the_cells_without_a_rate(cells: list[tuple[str, str]], count: int) -> None:
    lines = [{"resolution": resolution, "audio": audio} for resolution, audio in cells[:count]]
    if lines:
        _, gaps = faults(*lines)
        assert sorted(gaps) == sorted(f"resolution: {one}, audio: {other}" for one, other in cells[count:])
