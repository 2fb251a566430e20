"""What differs between two cards: rates, conditions, models, from which day, and what it does to prices."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from git_tables import FILES, SECOND, Edit, card_of, edited, newer
from ratecard.load.folder import shipped_folder
from ratecard.review.compare import Diff, compare_sides
from ratecard.review.difference import Difference, percent_text
from ratecard.review.report import summary
from ratecard.review.sides import Side

OLD = card_of(FILES)
MODEL = "per-second-video"


def diff(*edits: Edit, old: dict[str, str] | None = None, at: datetime | None = None) -> Diff:
    before = OLD if old is None else card_of(old)
    return compare_sides(Side("old", before), Side("new", card_of(edited(*edits))), at)


def only(found: Diff) -> Difference:
    assert len(found.changes) == 1, [(change.model, change.kind, change.effective) for change in found.changes]
    return found.changes[0]


def rates(change: Difference) -> list[tuple[str, str, str | None, str | None, str]]:
    return [
        (
            rate.kind,
            f"{rate.charge}, {rate.attributes}",
            rate.old and str(rate.old.amount),
            rate.new and str(rate.new.amount),
            rate.percent,
        )
        for rate in change.rates
    ]


SAME: dict[str, Edit] = {
    "a comment": (SECOND, "family:", "# why\nfamily:"),
    "a number written shorter": (SECOND, "rate: 0.10", "rate: 0.1"),
    "a range written out": (SECOND, "[3s..5s]", "[3s, 4s, 5s]"),
    "values in another order": (SECOND, "[3s..5s]", "[5s, 3s, 4s]"),
    "rates in another order": (
        SECOND,
        "              - {resolution: 480p, rate: 0.10}\n              - {resolution: 720p, rate: 0.20}\n",
        "              - {resolution: 720p, rate: 0.20}\n              - {resolution: 480p, rate: 0.10}\n",
    ),
    "keys in another order": (SECOND, "{resolution: 480p, rate: 0.10}", "{rate: 0.10, resolution: 480p}"),
    "a line split in two": (
        "per_clip.yaml",
        "- {duration: 8s, rate: 0.90}",
        "- {duration: 8s, audio: true, rate: 0.90}\n              - {duration: 8s, audio: false, rate: 0.90}",
    ),
    "an attribute that does not matter": (
        SECOND,
        "480p, rate: 0.10}",
        "480p, audio: [true, false], rate: 0.10}",
    ),
    "the ordinary context by its name": (
        "tokens.yaml",
        "- {tokens: input, rate: 2}",
        "- {context: base, tokens: input, rate: 2}",
    ),
    "a default written out": ("token_formula.yaml", "{max: 10}", "{max: 10, source_max: 30}"),
    "another proof": (SECOND, "price page, 2026-09-02", "quotes, 2026-09-02"),
    "the day of the last check": (SECOND, "checked: 2026-09-02", "checked: 2026-10-01"),
    "a word on a correction": (SECOND, "        checked:", "        correction: a slip\n        checked:"),
    "an expected factor": (SECOND, "        checked:", "        expected_change: 3\n        checked:"),
    "the name for people": (SECOND, "name: Example Video", "name: Another Name"),
}


@pytest.mark.parametrize("edit", SAME.values(), ids=list(SAME))
def test_another_way_to_write_the_same_is_no_change(edit: Edit) -> None:
    assert diff(edit) == Diff("old", "new", ())


@pytest.mark.parametrize("edit", SAME.values(), ids=list(SAME))
def test_another_way_to_write_the_same_is_no_part_of_a_change(edit: Edit) -> None:
    change = next(one for one in diff(edit, (SECOND, "places: 2", "places: 3")).changes if one.model == MODEL)
    assert (change.rates, change.terms) == ((), (("rounding places", "2", "3"),))


def test_what_is_said_for_the_guard_has_no_meaning() -> None:
    said = ("a word on a correction", "an expected factor")
    assert {card_of(edited(SAME[name])).digest for name in said} == {OLD.digest}


def test_another_file_and_another_order_of_models_is_no_change() -> None:
    models = [text.partition("models:\n")[2] for text in FILES.values()]
    moved = {"deep/all.yaml": "family: all\nmodels:\n" + "".join(reversed(models))}
    assert compare_sides(Side("old", OLD), Side("new", card_of(moved))).changes == ()


def test_a_changed_rate_has_both_sides_and_both_lines() -> None:
    change = only(diff((SECOND, "480p, rate: 0.10", "480p, rate: 0.125")))
    assert rates(change) == [("changed", "video, resolution 480p", "0.1", "0.125", "+25%")]
    (rate,) = change.rates
    assert rate.old is not None
    assert rate.new is not None
    assert (rate.old.source, rate.new.source) == (f"{SECOND}:21", f"{SECOND}:21")
    assert (change.model, change.kind, change.effective, change.until) == (MODEL, "changed", date(2026, 9, 1), None)
    assert (change.cells.affected, change.cells.of) == (3, 6)


def test_the_worst_rise_and_fall_are_those_of_totals_as_charged() -> None:
    found = diff((SECOND, "480p, rate: 0.10", "480p, rate: 0.113"), (SECOND, "720p, rate: 0.20", "720p, rate: 0.15"))
    rise, fall = found.worst
    assert rise is not None
    assert fall is not None
    # 3 s: 0.339 is charged as 0.34; 5 s: 0.565 as 0.57.
    assert (rise.cell, rise.old, rise.new) == ("duration 5s, resolution 480p", Decimal("0.5"), Decimal("0.57"))
    assert (fall.cell, fall.old, fall.new) == ("duration 3s, resolution 720p", Decimal("0.6"), Decimal("0.45"))
    assert summary(found) == "2 rates changed, 6 price cells affected"


def test_a_rate_too_small_to_charge_is_a_change_without_a_price_cell() -> None:
    change = only(diff((SECOND, "480p, rate: 0.10", "480p, rate: 0.1001")))
    assert (change.cells.affected, [rate.percent for rate in change.rates]) == (0, ["+0.1%"])


def test_from_nothing_is_the_worst_rise_and_has_no_percentage() -> None:
    free = edited((SECOND, "480p, rate: 0.10", "480p, rate: 0"))
    found = diff((SECOND, "720p, rate: 0.20", "720p, rate: 2000"), old=free)
    rise, fall = found.worst
    assert rise is not None
    assert rise.to_dict() == {
        "model": MODEL,
        "cell": "duration 5s, resolution 480p",
        "old": "0",
        "new": "0.5",
        "percent": None,
    }
    assert fall is None
    assert [rate.percent for rate in found.changes[0].rates] == ["", "+999900%"]


def test_to_nothing_is_the_worst_fall() -> None:
    rise, fall = diff(
        (SECOND, "480p, rate: 0.10", "480p, rate: 0.05"), (SECOND, "720p, rate: 0.20", "720p, rate: 0")
    ).worst
    assert rise is None
    assert fall is not None
    assert (fall.cell, fall.by) == ("duration 3s, resolution 720p", "-100%")


def test_the_worst_of_several_rises_is_the_greatest_in_percent() -> None:
    rise, _ = diff(
        (SECOND, "480p, rate: 0.10", "480p, rate: 0.30"), (SECOND, "720p, rate: 0.20", "720p, rate: 0.30")
    ).worst
    assert rise is not None
    assert (rise.cell, rise.by) == ("duration 3s, resolution 480p", "+200%")


def test_what_is_accepted_adds_and_removes_rates_and_prices() -> None:
    wider = diff(
        (SECOND, "resolution: [480p, 720p]", "resolution: [480p, 720p, 1080p]"),
        (SECOND, "- {resolution: 720p, rate: 0.20}", "- {resolution: [720p, 1080p], rate: 0.20}"),
    )
    change = only(wider)
    assert rates(change) == [("added", "video, resolution 1080p", None, "0.2", "")]
    assert change.terms[0] == ("accepts resolution", "480p, 720p", "480p, 720p, 1080p")
    assert (change.cells.added, change.cells.removed, change.cells.affected, change.cells.of) == (3, 0, 3, 9)
    back = compare_sides(Side("new", card_of(edited((SECOND, "[3s..5s]", "[3s..4s, 8s]")))), Side("old", OLD))
    assert only(back).terms == (("accepts duration", "3s, 4s, 8s", "3s..5s"),)
    assert (only(back).cells.added, only(back).cells.removed) == (2, 2)


CONDITIONS: dict[str, tuple[Edit, tuple[str, str, str]]] = {
    "a markup": (
        ("upscale.yaml", "markup: 1.25", "markup: 1.5"),
        ("markup of video upscale", "1.25", "1.5"),
    ),
    "rounding": ((SECOND, "places: 2", "places: 3"), ("rounding places", "2", "3")),
    "a minimum": (("token_formula.yaml", "5/3", "4/3"), ("reference_minimum of video tokens", "5/3", "4/3")),
    "a default": (
        ("upscale.yaml", "defaults: {upscale_factor: 2}", "defaults: {upscale_factor: 4}"),
        ("defaults upscale_factor", "2", "4"),
    ),
    "a limit": (
        ("upscale.yaml", "max_seconds: 300", "max_seconds: 301"),
        ("accepts video_url max_seconds", "300", "301"),
    ),
    "a frame rate": (("upscale.yaml", "from: 48", "from: 49"), ("frame_rate from of video upscale", "48", "49")),
    "a threshold": (
        ("tokens.yaml", "threshold: 200000", "threshold: 250000"),
        ("context_token_threshold of tokens", "200000", "250000"),
    ),
    "a size, and no other": (
        ("token_formula.yaml", "1280x720", "1281x720"),
        (
            "sizes of video tokens",
            "aspect_ratio 16:9, resolution 720p, size 1280x720",
            "aspect_ratio 16:9, resolution 720p, size 1281x720",
        ),
    ),
    "what was not said before": (
        ("tokens.yaml", "context_token_threshold:", "missing_cache_rate: input\n            context_token_threshold:"),
        ("missing_cache_rate of tokens", "", "input"),
    ),
    "credits of a chain": (
        ("rpc_credits.yaml", "credits: 20", "credits: 30"),
        (
            "chains of rpc credits",
            "chain ethereum, credits 20, networks mainnet",
            "chain ethereum, credits 30, networks mainnet",
        ),
    ),
    "the order of tiers": (
        (
            "rpc_credits.yaml",
            'tiers:\n              - {tier: standard, factor: 1, methods: ["eth_*"]}',
            'tiers:\n              - {tier: large, factor: 1, methods: ["net_*"]}\n'
            '              - {tier: standard, factor: 1, methods: ["eth_*"]}',
        ),
        (
            "tiers of rpc credits",
            "1. factor 1, methods eth_*, tier standard",
            "1. factor 1, methods net_*, tier large; 2. factor 1, methods eth_*, tier standard",
        ),
    ),
    "the currency": ((SECOND, "currency: USD", "currency: EUR"), ("currency", "USD", "EUR")),
}


@pytest.mark.parametrize(("edit", "term"), CONDITIONS.values(), ids=list(CONDITIONS))
def test_a_condition_is_told_as_old_and_new_text(edit: Edit, term: tuple[str, str, str]) -> None:
    assert term in only(diff(edit)).terms


def test_a_markup_changes_every_rate_and_says_so() -> None:
    change = only(diff(("upscale.yaml", "markup: 1.25", "markup: 1.5")))
    assert {rate.percent for rate in change.rates} == {"+20%"}
    assert rates(change)[0] == ("changed", "video upscale, up_to 720", "0.0125", "0.015", "+20%")


def test_charges_in_another_order_are_told() -> None:
    head, first, second = FILES["per_clip.yaml"].split("          - charge: ")
    second, rounding, tail = second.partition("        rounding:")
    swapped = "          - charge: ".join((head, second, first)) + rounding + tail
    change = only(compare_sides(Side("old", OLD), Side("new", card_of({**FILES, "per_clip.yaml": swapped}))))
    assert change.terms == (("order of charges", "video, input image", "input image, video"),)
    assert (change.rates, change.cells.affected) == ((), 0)


def test_rates_of_different_units_are_compared_by_the_price_of_one() -> None:
    files = edited(("units.yaml", "units:", "units:\n  - {unit: ktoken, counts: token, per: 1000}"))
    text = files["tokens.yaml"]
    for old, new in (("rate: 2}", "rate: 0.002}"), ("rate: 6}", "rate: 0.006}"), ("rate: 4}", "rate: 0.004}")):
        text = text.replace(old, new)
    text = text.replace("unit: mtoken", "unit: ktoken").replace("rate: 12}", "rate: 0.024}")
    found = compare_sides(Side("old", card_of(files)), Side("new", card_of({**files, "tokens.yaml": text})))
    change = only(found)
    assert rates(change) == [("changed", "tokens, context extended, tokens output", "12", "0.024", "+100%")]
    assert ("unit of tokens", "mtoken", "ktoken") in change.terms
    assert change.cells.affected == 1


def test_a_unit_that_counts_something_else_has_no_price_to_compare() -> None:
    change = only(diff((SECOND, "currency: USD", "currency: EUR")))
    assert [kind for kind, *_ in rates(change)] == ["removed", "removed", "added", "added"]
    assert {(rate.kind, rate.currency) for rate in change.rates} == {("removed", "USD"), ("added", "EUR")}
    assert (change.cells.affected, change.cells.differing, change.cells.steepest) == (6, (), None)


def test_shared_files_are_compared_too() -> None:
    found = diff(
        ("units.yaml", "{unit: song, counts: song, per: 1}", "{unit: song, counts: song, per: 10}"),
        ("vocabulary.yaml", "upscale_factor: [1, 2, 4]", "upscale_factor: [1, 2, 4, 8]"),
        ("limits.yaml", "scraped_urls: 5", "scraped_urls: 6"),
        ("limits.yaml", "  - {tier: XS, partner: false, requests: 500", "  - {tier: XS, partner: false, requests: 501"),
    )
    shared = {change.model: change for change in found.changes if change.model.endswith(".yaml")}
    assert shared["units.yaml"].terms == (("song", "1 x song", "10 x song"),)
    assert shared["vocabulary.yaml"].terms == (("upscale_factor", "1, 2, 4", "1, 2, 4, 8"),)
    (rows, urls) = sorted(shared["limits.yaml"].terms, reverse=True)[0], shared["limits.yaml"].terms[0]
    assert urls == ("scraped_urls", "5", "6")
    assert rows[1:] == (
        "partner false, requests 500, tier XS, tokens 1000000",
        "partner false, requests 501, tier XS, tokens 1000000",
    )
    assert rates(next(change for change in found.changes if change.model == "duration-band-music"))[0][4] == "-90%"


def test_a_future_version_is_compared_on_its_day() -> None:
    change = only(diff(newer(SECOND, "2027-01-01", ("rate: 0.10", "rate: 0.30"))))
    assert (change.effective, change.until) == (date(2027, 1, 1), None)
    assert rates(change) == [("changed", "video, resolution 480p", "0.1", "0.3", "+200%")]


def test_a_promotion_ends() -> None:
    first = newer(SECOND, "2027-01-01", ("rate: 0.10", "rate: 0.05"))
    back = edited(first)
    again = newer(SECOND, "2027-02-01", ("rate: 0.05", "rate: 0.10"), files=back)
    change = only(compare_sides(Side("old", OLD), Side("new", card_of(edited(again, files=back)))))
    assert (change.effective, change.until) == (date(2027, 1, 1), date(2027, 2, 1))


def test_the_same_promotion_twice_is_two_changes() -> None:
    files = edited()
    for day, old, new in (
        ("2027-01-01", "0.10", "0.05"),
        ("2027-02-01", "0.05", "0.10"),
        ("2027-03-01", "0.10", "0.05"),
        ("2027-04-01", "0.05", "0.10"),
    ):
        files = edited(newer(SECOND, day, (f"480p, rate: {old}", f"480p, rate: {new}"), files=files), files=files)
    found = compare_sides(Side("old", OLD), Side("new", card_of(files)))
    assert [(change.effective.month, change.until and change.until.month) for change in found.changes] == [
        (1, 2),
        (3, 4),
    ]


def test_what_goes_on_is_told_once() -> None:
    twice = edited(newer(SECOND, "2027-01-01", ("places: 2", "places: 3")))
    changed = {**twice, SECOND: twice[SECOND].replace("rate: 0.10", "rate: 0.15")}
    change = only(compare_sides(Side("old", card_of(twice)), Side("new", card_of(changed))))
    assert (change.effective, change.until) == (date(2026, 9, 1), None)
    differently = {**twice, SECOND: twice[SECOND].replace("rate: 0.10", "rate: 0.15", 1)}
    differently[SECOND] = differently[SECOND].replace("rate: 0.10", "rate: 0.16")
    found = compare_sides(Side("old", card_of(twice)), Side("new", card_of(differently)))
    assert [(change.effective, change.until) for change in found.changes] == [
        (date(2026, 9, 1), date(2027, 1, 1)),
        (date(2027, 1, 1), None),
    ]


def test_one_instant_is_compared_where_it_is_named() -> None:
    edits = [newer(SECOND, "2027-01-01", ("rate: 0.10", "rate: 0.30"))]
    assert diff(*edits, at=datetime(2026, 12, 31, 23, 59, tzinfo=UTC)).changes == ()
    assert only(diff(*edits, at=datetime(2027, 3, 1, tzinfo=UTC))).effective == date(2027, 1, 1)


def test_a_date_keeps_its_prices() -> None:
    card = card_of(edited(newer(SECOND, "2027-01-01", ("rate: 0.10", "rate: 0.30"))))
    before = Side("before", card, datetime(2026, 12, 1, tzinfo=UTC))
    after = Side("after", card, datetime(2027, 2, 1, tzinfo=UTC))
    change = only(compare_sides(before, after))
    assert (rates(change)[0][2:4], change.effective) == (("0.1", "0.3"), date(2027, 1, 1))
    assert only(compare_sides(after, before)).rates[0].percent == "-66.67%"
    assert only(compare_sides(before, Side("all", card))).effective == date(2027, 1, 1)
    assert compare_sides(after, Side("all", card)).changes == ()
    first = Side("early", card, datetime(2026, 8, 1, tzinfo=UTC))
    later = compare_sides(first, before)
    assert {(change.kind, change.note) for change in later.changes} == {("added", "")}


def test_models_come_and_go() -> None:
    without = {name: text for name, text in FILES.items() if name != SECOND}
    gone = only(compare_sides(Side("old", OLD), Side("new", card_of(without))))
    assert (gone.kind, gone.note, gone.effective) == ("removed", "not in the tables any more", date(2026, 9, 1))
    assert [rate.kind for rate in gone.rates] == ["removed", "removed"]
    assert (gone.cells.removed, gone.cells.of, gone.place) == (6, 6, f"{SECOND}:9")
    come = only(compare_sides(Side("old", card_of(without)), Side("new", OLD)))
    assert (come.kind, come.note, come.cells.added) == ("added", "", 6)
    assert come.terms == ()


def test_a_model_that_vanishes_with_many_versions_is_one_change() -> None:
    old = edited(newer(SECOND, "2027-01-01", ("rate: 0.10", "rate: 0.30")))
    new = {name: text for name, text in old.items() if name != SECOND}
    gone = only(compare_sides(Side("old", card_of(old)), Side("new", card_of(new))))
    assert (gone.effective, gone.until) == (date(2026, 9, 1), None)
    again = compare_sides(Side("old", card_of(new)), Side("new", card_of(old)))
    assert [change.effective for change in again.changes] == [date(2026, 9, 1), date(2027, 1, 1)]
    assert again.counts()["models added"] == 1


def test_a_retirement_names_its_successor() -> None:
    end = (SECOND, "    versions:", "    retired: {on: 2027-01-01, successor: per-clip-video}\n    versions:")
    change = only(diff(end))
    assert (change.kind, change.effective) == ("retired", date(2027, 1, 1))
    assert change.note == "retired on 2027-01-01, use per-clip-video"
    plain = (SECOND, "    versions:", "    retired: {on: 2027-01-01}\n    versions:")
    assert only(diff(plain)).note == "retired on 2027-01-01"
    back = only(compare_sides(Side("new", card_of(edited(end))), Side("old", OLD)))
    assert (back.kind, back.note, back.effective) == ("added", "was retired", date(2027, 1, 1))
    earlier = (SECOND, "    versions:", "    retired: {on: 2026-11-01}\n    versions:")
    moved = only(diff(earlier, old=edited(end)))
    assert (moved.effective, moved.until) == (date(2026, 11, 1), date(2027, 1, 1))


def test_a_first_price_that_is_moved() -> None:
    later = edited((SECOND, "effective: 2026-09-01", "effective: 2026-10-01"))
    moved = only(compare_sides(Side("old", OLD), Side("new", card_of(later))))
    assert (moved.kind, moved.note, moved.until) == (
        "removed",
        "has its first price from 2026-10-01",
        date(2026, 10, 1),
    )
    sooner = only(compare_sides(Side("old", card_of(later)), Side("new", OLD)))
    assert (sooner.kind, sooner.note) == ("added", "had its first price from 2026-10-01")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("0.154", "0.17", "+10.39%"),
        ("3", "2", "-33.33%"),
        ("1", "1.0000001", "+<0.01%"),
        ("1", "0.9999999", "-<0.01%"),
        ("2", "0", "-100%"),
        ("0", "1", ""),
        ("0.3", "0.6", "+100%"),
    ],
)
def test_percentages(old: str, new: str, words: str) -> None:
    assert percent_text(Decimal(old), Decimal(new)) == words


@pytest.mark.parametrize("name", sorted(FILES))
def test_every_method_has_its_cells_compared(name: str) -> None:
    text = FILES[name]
    first = text.index("rate: ", text.index("rates:"))
    amount = text[first + 6 :].partition("}")[0].partition(",")[0]
    changed = f"{text[:first]}rate: {Decimal(amount) * 3}{text[first + 6 + len(amount) :]}"
    found = only(compare_sides(Side("old", OLD), Side("new", card_of({**FILES, name: changed}))))
    assert found.cells.affected
    assert {change.percent for change in found.rates} == {"+200%"}


def test_a_surcharge_is_a_model_too() -> None:
    text = (shipped_folder() / "surcharges.yaml").read_text(encoding="utf-8")
    old, new = (card_of({"surcharges.yaml": each}) for each in (text, text.replace("rate: 10}", "rate: 20}", 1)))
    change = only(compare_sides(Side("old", old), Side("new", new)))
    assert (change.model, change.cells.affected, change.cells.differing[0].cell) == ("web-search", 1, "")
