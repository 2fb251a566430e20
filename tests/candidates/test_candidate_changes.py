"""What each change of a candidate does to the tables, and what it leaves alone."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from overlays import ADDED, amounts, candidate

import ratecard
from ratecard import QuoteError, RateCard
from ratecard.base.messages import Finding
from ratecard.candidates import overlay
from ratecard.load.checks import check_video
from ratecard.tables.meters import VideoFields
from ratecard.tables.video import VideoModel, VideoVersion

BEFORE, DAY = date(2027, 8, 31), date(2027, 9, 1)
SIZED = {"model": "sized", "duration": "5s", "resolution": "720p"}


@pytest.fixture
def card(folder: Path) -> RateCard:
    return ratecard.load_rate_card(folder)


def test_the_versions_that_a_candidate_makes_are_checked_and_no_others(
    card: RateCard, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[date] = []

    def check(model: VideoModel, fields: VideoFields) -> Iterator[Finding]:
        checked.extend(version.effective for version in model.versions)
        return check_video(model, fields)

    monkeypatch.setattr(overlay, "check_video", check)
    card.with_candidate(candidate(folder, "  - set: sized\n    where: {audio: true}\n    rate: 0.05\n"))
    assert checked == [DAY]
    card.with_candidate(candidate(folder, ADDED.format(family="mixed", model="new")))
    assert checked == [DAY, DAY]


def test_a_set_moves_the_rates_that_match_where_and_names_their_lines(card: RateCard, folder: Path) -> None:
    path = candidate(folder, "  - set: sized\n    where: {resolution: [720p, 480p], audio: true}\n    rate: 0.05\n")
    new = card.with_candidate(path)
    assert amounts(new, "sized") == [
        ("2027-09-01", ["0.01", "0.05", "0.03", "0.5"]),
        ("2027-06-01", ["0.01", "0.02", "0.03", "0.5"]),
        ("2027-01-01", ["0.01"]),
    ]
    assert [line.source for line in new.at(DAY).quote_video(SIZED).lines] == [f"{path}:6", "video/mixed.yaml:53"]
    assert str(new.at(BEFORE).quote_video(SIZED).total) == "0.60"
    assert str(new.at(DAY).quote_video(SIZED).total) == "0.75"


def test_a_version_of_a_candidate_says_who_when_and_why(card: RateCard, folder: Path) -> None:
    path = candidate(folder, "  - set: plain\n    rate: 0.2\n", announced="2027-08-15")
    version = card.with_candidate(path).tables.models["plain"].versions[0]
    assert (version.effective, version.announced) == (DAY, date(2027, 8, 15))
    assert version.source == "candidate spring by Pricing: because"
    assert version.place == f"{path}:7"


def test_a_new_version_has_neither_correction_nor_expected_change(card: RateCard, folder: Path) -> None:
    path = candidate(folder, "  - set: sized\n    charge: fee\n    rate: 0.9\n")
    new, old, _ = card.with_candidate(path).tables.models["sized"].versions
    assert (old.correction, str(old.expected_change)) == ("misread", "3")
    assert (new.correction, new.expected_change) == (None, None)


def test_a_base_is_never_changed(card: RateCard, folder: Path) -> None:
    digest, before = card.digest, {name: amounts(card, name) for name in card.tables.models}
    changes = "  - scale: {type: video}\n    factor: 2\n  - retire: talker\n" + ADDED.format(
        family="mixed", model="new"
    )
    new = card.with_candidate(candidate(folder, changes))
    assert card.digest == digest != new.digest
    assert before == {name: amounts(card, name) for name in card.tables.models}
    assert not card.tables.proposed
    assert not card.tables.models["talker"].retired


@pytest.mark.parametrize(
    ("change", "rates"),
    [
        ("charge: fee", ["0.01", "0.02", "0.03", "0.7"]),
        ("charge: video\n    where: {resolution: 1080p}", ["0.01", "0.02", "0.7", "0.5"]),
        ("where: {resolution: 1080p}", ["0.01", "0.02", "0.7", "0.5"]),
        ("where: {resolution: [480p, 720p], audio: [true, false]}", ["0.7", "0.7", "0.03", "0.5"]),
    ],
)
def test_a_set_names_rates_by_charge_and_attributes(
    card: RateCard, folder: Path, change: str, rates: list[str]
) -> None:
    path = candidate(folder, f"  - set: sized\n    {change}\n    rate: 0.7\n")
    assert amounts(card.with_candidate(path), "sized")[0] == ("2027-09-01", rates)


@pytest.mark.parametrize(
    ("where", "rates"),
    [
        ("{tokens: [input, cache_input], context: base}", ["7", "2", "4"]),
        ("{tokens: output, context: base}", ["1", "7", "4"]),
        ("{context: extended}", ["1", "2", "7"]),
    ],
)
def test_tokens_without_a_context_are_those_of_the_base(
    card: RateCard, folder: Path, where: str, rates: list[str]
) -> None:
    path = candidate(folder, f"  - set: talker\n    where: {where}\n    rate: 7\n")
    assert amounts(card.with_candidate(path), "talker")[0][1] == rates


@pytest.mark.parametrize(
    ("what", "changed"),
    [
        ("model: plain", {"plain"}),
        ("family: mixed", {"plain", "sized"}),
        ("type: video", {"plain", "sized"}),
        ("{family: words, type: text}", {"talker"}),
        ("type: surcharge", {"looking"}),
    ],
)
def test_a_scale_moves_every_rate_of_a_model_a_family_or_a_type(
    card: RateCard, folder: Path, what: str, changed: set[str]
) -> None:
    text = f"  - scale: {what if what[0] == '{' else '{' + what + '}'}\n    factor: 1.5\n"
    new = card.with_candidate(candidate(folder, text))
    assert {name for name in new.tables.models if new.tables.models[name] is not card.tables.models[name]} == changed
    for name in changed:
        old, made = amounts(card, name), amounts(new, name)
        assert made[1:] == old
        assert made[0][0] == "2027-09-01"
        assert [Decimal(rate) for rate in made[0][1]] == [Decimal(rate) * Decimal("1.5") for rate in old[0][1]]


def test_a_model_of_a_family_without_a_price_on_the_day_is_left_alone(card: RateCard, folder: Path) -> None:
    later = candidate(folder, "  - scale: {model: sized}\n    factor: 3\n", "2028-02-01")
    assert len(amounts(card.with_candidate(later), "sized")) == 3
    retired = candidate(folder, "  - retire: plain\n  - scale: {type: video}\n    factor: 3\n", name="r.yaml")
    new = card.with_candidate(retired)
    assert [len(amounts(new, name)) for name in ("plain", "sized", "free")] == [1, 3, 1]


def test_all_changes_of_a_candidate_to_a_model_make_one_version_from_top_to_bottom(
    card: RateCard, folder: Path
) -> None:
    changes = """  - scale: {type: video}
    factor: 2
  - set: sized
    charge: fee
    rate: 0.9
  - scale: {model: sized}
    factor: 10
"""
    path = candidate(folder, changes)
    new = card.with_candidate(path)
    assert amounts(new, "sized")[0] == ("2027-09-01", ["0.2", "0.4", "0.6", "9"])
    assert len(amounts(new, "sized")) == 3
    version = new.tables.models["sized"].versions[0]
    assert version.source == "candidate spring by Pricing: because"
    assert {rate.source for charge in version.charges for rate in charge.rates} == {f"{path}:11"}


def test_rates_that_do_not_move_keep_their_source(card: RateCard, folder: Path) -> None:
    path = candidate(folder, "  - set: sized\n    charge: fee\n    rate: 0.9\n")
    rates = [
        rate.source
        for charge in card.with_candidate(path).tables.models["sized"].versions[0].charges
        for rate in charge.rates
    ]
    assert rates == ["video/mixed.yaml:44", "video/mixed.yaml:46", "video/mixed.yaml:48", f"{path}:6"]


def test_a_candidate_before_a_later_version_ends_with_it(card: RateCard, folder: Path) -> None:
    path = candidate(folder, "  - scale: {model: sized}\n    factor: 2\n", "2027-03-01")
    new = card.with_candidate(path)
    assert [day for day, _ in amounts(new, "sized")] == ["2027-06-01", "2027-03-01", "2027-01-01"]
    version = new.at(date(2027, 5, 31)).in_effect("sized")[1]
    assert isinstance(version, VideoVersion)
    assert version.accepts.resolution == ("720p",)
    totals = [
        str(new.at(day).quote_video(SIZED).total)
        for day in (date(2027, 2, 28), date(2027, 3, 1), date(2027, 5, 31), date(2027, 6, 1))
    ]
    assert totals == ["0.05", "0.10", "0.10", "0.60"]


def test_candidates_are_stacked_in_either_order_of_their_days(card: RateCard, folder: Path) -> None:
    one = candidate(folder, "  - scale: {model: plain}\n    factor: 2\n", name="one.yaml")
    two = candidate(folder, "  - scale: {model: plain}\n    factor: 3\n", "2027-10-01", name="two.yaml")
    assert amounts(card.with_candidate(one).with_candidate(two), "plain") == [
        ("2027-10-01", ["0.6"]),
        ("2027-09-01", ["0.2"]),
        ("2027-01-01", ["0.1"]),
    ]
    # The later candidate was laid first, so it is based on the prices before the earlier one.
    assert amounts(card.with_candidate(two).with_candidate(one), "plain") == [
        ("2027-10-01", ["0.3"]),
        ("2027-09-01", ["0.2"]),
        ("2027-01-01", ["0.1"]),
    ]


def test_stacked_candidates_of_one_day_make_one_version_that_names_both(card: RateCard, folder: Path) -> None:
    one = candidate(folder, "  - scale: {model: plain}\n    factor: 2\n", name="one.yaml")
    two = candidate(folder, "  - set: plain\n    rate: 0.7\n", name="two.yaml")
    new = card.with_candidate(one).with_candidate(two)
    assert amounts(new, "plain") == [("2027-09-01", ["0.7"]), ("2027-01-01", ["0.1"])]
    words = "candidate spring by Pricing: because"
    assert new.tables.models["plain"].versions[0].source == f"{words}; {words}"


def test_a_model_that_a_candidate_added_is_changed_by_the_next_one(card: RateCard, folder: Path) -> None:
    one = candidate(folder, ADDED.format(family="mixed", model="new"), name="one.yaml")
    two = candidate(folder, "  - scale: {family: mixed}\n    factor: 2\n", name="two.yaml")
    assert amounts(card.with_candidate(one).with_candidate(two), "new") == [("2027-09-01", ["1.4"])]


def test_a_model_that_is_added_has_a_price_from_its_day_and_its_own_lines(card: RateCard, folder: Path) -> None:
    path = candidate(folder, "  - scale: {type: video}\n    factor: 2\n" + ADDED.format(family="fresh", model="new"))
    new = card.with_candidate(path)
    quote = new.at(DAY).quote_video({"model": "new", "duration": "5s"})
    assert (str(quote.total), quote.lines[0].source) == ("0.70", f"{path}:26")
    assert (new.tables.families["new"], new.tables.files["new"]) == ("fresh", str(path))
    with pytest.raises(
        QuoteError, match=r"^No price for new on 2027-08-31\. Its first version takes effect on 2027-09-01"
    ):
        new.at(BEFORE).quote_video({"model": "new", "duration": "5s"})


def test_a_retired_model_has_no_price_from_the_day_on_and_its_successor_is_named(card: RateCard, folder: Path) -> None:
    path = candidate(folder, "  - retire: plain\n    successor: new\n" + ADDED.format(family="mixed", model="new"))
    new = card.with_candidate(path)
    assert str(new.at(BEFORE).quote_video({"model": "plain"}).total) == "0.10"
    with pytest.raises(
        QuoteError, match=r"^Specified model not found: plain\. It was retired on 2027-09-01\. Use new ins"
    ):
        new.at(DAY).quote_video({"model": "plain"})


def test_a_retirement_can_be_brought_forward(card: RateCard, folder: Path) -> None:
    new = card.with_candidate(candidate(folder, "  - retire: free\n", "2027-07-01"))
    retired = new.tables.models["free"].retired
    assert retired is not None
    assert retired.on == date(2027, 7, 1)


def test_the_order_of_the_lines_of_a_candidate_does_not_matter(card: RateCard, folder: Path) -> None:
    one = candidate(folder, "  - set: plain\n    rate: 0.2\n  - scale: {model: talker}\n    factor: 2\n")
    two = candidate(
        folder, "  - scale: {model: talker}\n    factor: 2.0\n  - rate: 0.20\n    set: plain\n", name="d.yaml"
    )
    assert card.with_candidate(one).digest == card.with_candidate(two).digest
