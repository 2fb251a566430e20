"""A kept roll-up answers as its rows do, to the last digit, or refuses with the roll-up that would."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pyarrow.parquet
import pytest
from candidate_files import candidate
from few import card_of_models
from hypothesis import given
from hypothesis import strategies as st
from kept_roll_ups import DEARER, NOW, REFUSED, answers, made_up_rows, same_or_refused, three_files, write
from made_up_card import FACTORS, LINES, METERS, card_of, token_columns
from rows import table_of
from test_row_by_row import SLOW, usage_rows

from ratecard import RateCard, rollup
from ratecard.base.errors import SimulationError
from ratecard.load.folder import tables_from
from ratecard.review.sides import Side
from ratecard.simulation.groups.kept import keep
from ratecard.simulation.groups.kept.place import MANIFEST, KeptPlace
from ratecard.simulation.rows.files import is_read_of
from ratecard.simulation.simulate import simulate
from ratecard.testing import rate_cards
from shipped import FEW
from token_tables import by_tokens, text_model

EARLY, LATE = (Side(day, FEW, datetime.fromisoformat(f"{day}T00:00Z")) for day in ("2026-08-03", "2026-11-10"))
FIRST = datetime(2025, 12, 1, tzinfo=UTC)
TABLES = Path(__file__).parents[2] / "pricing_tables"


@SLOW
@given(st.data())
def test_random_tables_and_candidates(data: st.DataObject) -> None:
    """Groups made for some cards, asked for others: what these do not distinguish is never answered."""
    cards = [Side(name, data.draw(rate_cards())) for name in ("made for", "made for too", "asked")]
    rows = data.draw(usage_rows(cards[0].card, FIRST, 400))
    half = len(rows) // 2
    made_for = cards[: data.draw(st.integers(1, 2))]
    by = data.draw(st.sampled_from((["model"], ["model", "day"], ["model", "day", "customer"])))
    asked = [data.draw(st.sampled_from(cards)), *data.draw(st.lists(st.sampled_from(cards), max_size=1))]
    asked = list({side.label: side for side in asked}.values())
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, 365).map(lambda days: FIRST + timedelta(days, 3_600)))
        asked = [Side(side.label, side.card, at) for side in asked]
    keys = data.draw(st.sampled_from(([], ["model"], ["day"], ["month", "customer"], ["model", "customer"])))
    since = data.draw(st.sampled_from((None, "2026-03-01")))
    with TemporaryDirectory() as folder:
        usage, kept = Path(folder, "usage"), Path(folder, "kept")
        usage.mkdir()
        for name, part in (("a", rows[:half]), ("b", rows[half:])):
            pyarrow.parquet.write_table(table_of(part), usage / f"{name}.parquet")
        rollup(usage, kept, made_for[0], made_for[1:], by=by)
        how = {"by": keys, "since": since}
        served = same_or_refused(kept, usage, asked[0], asked[1:], **how)
        if {side.label for side in asked} == {side.label for side in made_for}:
            assert served or ("customer" in keys and "customer" not in by)
        if not served:
            rollup(usage, kept, asked[0], asked[1:], by=[*by, *keys])
            assert same_or_refused(kept, usage, asked[0], asked[1:], **how)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pyarrow.Table:
    return made_up_rows(tmp_path_factory.mktemp("made up"))


@pytest.fixture
def usage(tmp_path: Path, rows: pyarrow.Table) -> Path:
    return three_files(rows, tmp_path / "usage")


def test_other_arguments_columns_and_tables_read_all_anew(usage: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert rollup(usage, kept, NOW).anew == ""
    assert rollup(usage, kept, NOW, by=["model", "region"]).anew == "the arguments changed"
    table = pyarrow.parquet.read_table(usage / "one.parquet")
    pyarrow.parquet.write_table(table.append_column("team", pyarrow.array(["x"] * 100)), usage / "four.parquet")
    found = rollup(usage, kept, NOW, by=["model", "region"])
    assert found.anew == "the columns of the usage changed"
    assert found.rows == 400
    assert same_or_refused(kept, usage, NOW, by=["region"])


def test_a_broken_run_leaves_what_was_there(
    rows: pyarrow.Table, usage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    rollup(usage, kept, NOW)
    before = contents(kept)
    write(rows, usage / "one.parquet", 300, 70)
    for steps in (0, 1):
        steps_left = iter(range(steps))
        with monkeypatch.context() as patched:
            patched.setattr(keep, "to_disk", lambda _, left=steps_left: None if next(left, None) == 0 else unwritable())
            with pytest.raises(SimulationError, match=r"cannot be written, and is as it was: .*No space"):
                rollup(usage, kept, NOW)
        assert contents(kept) == before
    assert rollup(usage, kept, NOW).rows == 270
    assert same_or_refused(kept, usage, NOW)


def contents(folder: Path) -> dict[Path, bytes]:
    """All files in a folder."""
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def unwritable(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_rows_that_were_chosen_and_rows_that_are_chosen_of_them(usage: Path, tmp_path: Path) -> None:
    kept, where = tmp_path / "kept", "type = 'text' and customer != 'customer-1'"
    rollup(usage, kept, NOW, by=["model", "region"], where=where)
    found, expected = (
        answers(place, NOW, by=["model"], where=asked, since="2026-03-01")
        for place, asked in (
            (kept, "region = 'eu' or model is missing"),
            (usage, f"{where} and (region = 'eu' or model is missing)"),
        )
    )
    assert found["reading"].pop("chosen") == f"where {where}, where region = 'eu' or model is missing, since 2026-03-01"
    expected["reading"].pop("chosen")
    assert found == expected
    assert answers(kept, NOW, where=where, by=["model"]) == answers(usage, NOW, where=where, by=["model"])
    assert "does not distinguish customer. This one would" in answers(kept, NOW, where="customer = 'a'")["refused"]


def test_thresholds_and_hours_that_are_not_kept_apart_are_refused(tmp_path: Path) -> None:
    """A candidate of another threshold would get the total of the old one."""
    usage, kept = tmp_path / "usage.parquet", tmp_path / "kept"
    rows = [
        {
            "type": "text",
            "model": "always",
            "timestamp": FIRST.replace(month=month, hour=hour),
            "prompt_tokens": tokens,
            "completion_tokens": 1,
        }
        for month, hour, tokens in ((1, 3, 10), (2, 17, 900), (3, 23, 150_000))
    ]
    pyarrow.parquet.write_table(table_of(rows), usage)
    plain, hours, long = (Side(name, made_of(rates)) for name, rates in RATES.items())
    rollup(usage, kept, plain)
    for side, words in ((hours, "prices that change at 16:00 UTC"), (long, "prompts above 500 tokens")):
        assert words in answers(kept, plain, side)["refused"]
        assert words in answers(kept, side)["refused"]
    done = rollup(usage, kept, plain, [hours, long])
    assert done.anew == "the arguments and what the prices ask changed" or done.anew == "what the prices ask changed"
    assert same_or_refused(kept, usage, plain, [hours, long], by=["day"])
    assert same_or_refused(kept, usage, Side("hours", hours.card, datetime(2026, 4, 1, 17, tzinfo=UTC)), [plain])


PLAIN = "- {tokens: [input, output], rate: 1}"
RATES = {
    "plain": PLAIN,
    "hours": PLAIN + '\n- {tokens: input, hours: "16:00..24:00", zone: UTC, rate: 2}',
    "long": PLAIN + "\n- {tokens: input, above: 500, rate: 3}",
}


def made_of(rates: str, name: str = "always") -> RateCard:
    return card_of_models(text_model(name, by_tokens(rates, effective="2025-01-01")))


def test_names_with_parameters_behind_them_whose_model_has_another_type(tmp_path: Path) -> None:
    """A row without a type has that of the model whose name begins its own."""
    usage, kept = tmp_path / "usage.csv", tmp_path / "kept"
    usage.write_text("model,prompt_tokens,completion_tokens\nalways:enable_web_search=off,7,1\nalways:more,7,1\n")
    sides = [Side(name, made_of(PLAIN, name), EARLY.at) for name in ("always", "never", "always:less")]
    rollup(usage, kept, sides[0])
    assert same_or_refused(kept, usage, sides[0], by=["model"])
    words = "the type of always:enable_web_search=off, which some rows do not say, the type of always:more, which"
    for other in sides[1:]:
        assert words in answers(kept, other, by=["model"])["refused"]
    rollup(usage, kept, sides[2])
    assert same_or_refused(kept, usage, sides[2], by=["model"])


def test_conditions_and_buckets(tmp_path: Path) -> None:
    usage, kept = tmp_path / "usage.parquet", tmp_path / "kept"
    pyarrow.parquet.write_table(token_columns(), usage)
    sides = [
        Side("now", card_of()),
        Side("then", card_of(LINES.replace("above: 128000, rate: 6", "above: 128000, rate: 7"))),
    ]
    rollup(usage, kept, *sides[:1])
    assert same_or_refused(kept, usage, sides[0], sides[1:], by=["day"])
    with_region = METERS.replace("america: us,", "")
    assert REFUSED in answers(kept, Side("other", card_of(meters=with_region)))["refused"]
    assert same_or_refused(kept, usage, Side("fewer", card_of(meters="meters: []", factors=FACTORS[:1])), by=[])


def test_rows_of_other_models_and_of_some_days(usage: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    rollup(usage, kept, EARLY, by=["model", "day"])
    how = {"by": ["model"], "since": "2026-10-08", "remap": {"claude-opus-4-6": "claude-sonnet-4-6"}}
    expected, found = (answers(each, EARLY, LATE, lines=True, **how) for each in (usage, kept))
    assert found == expected
    # Rows that are priced as those of another model have its lines.
    assert expected["lines"]


def test_a_simulation_of_a_roll_up_that_is_gone_answers_for_other_days(usage: Path, tmp_path: Path) -> None:
    kept, later = tmp_path / "kept", candidate(tmp_path, "{scale: {type: text}, factor: 1.3}", day="2026-10-07")
    rollup(usage, kept, NOW, by=["model"])
    with simulate(kept, NOW, by=["model", "day"]) as standing:
        shutil.rmtree(kept)
        further = standing.against(later)
        with simulate(usage, NOW, later, by=["model", "day"]) as anew:
            assert (further.total, further.groups) == (anew.total, anew.groups)


def test_what_is_no_roll_up_and_what_was_damaged(usage: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    rollup(usage, kept, NOW)
    of_one_name = usage / "one.*"
    for each in (usage, usage / "**/*.parquet", usage / "*", usage / "*/*/*/*.parquet", usage / "**/*.json"):
        with pytest.raises(SimulationError, match="so that it would be usage itself"):
            rollup([of_one_name, each], usage / "kept")
        assert not (usage / "kept").exists()
    rollup(of_one_name, usage / "kept", NOW)
    with pytest.raises(SimulationError, match="usage is Table, and a roll-up is kept of files"):
        rollup(pyarrow.table({"type": ["text"]}), tmp_path / "twice")
    words = "was made of other columns or another dialect; leave out --map .* --by model,day --map customer=api_key"
    with pytest.raises(SimulationError, match=words):
        simulate(kept, columns={"customer": "api_key"})
    (file,) = kept.rglob("tokens.parquet")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(
        SimulationError, match=r"tokens.parquet is not what was kept\. Make the roll-up again: ratecard"
    ):
        simulate(kept)


@pytest.fixture
def small(tmp_path: Path, rows: pyarrow.Table) -> Path:
    """A usage of a few rows."""
    write(rows, tmp_path / "small.parquet", 0, 10)
    return tmp_path / "small.parquet"


def test_what_a_broken_first_run_left_is_no_hindrance(small: Path, tmp_path: Path) -> None:
    expected = answers(small, NOW)
    for number, left in enumerate(
        ((".lock", "groups/"), ("groups/0.new/tokens.parquet", "groups/1/tokens-shapes.parquet"))
    ):
        kept = tmp_path / f"{number}"
        for name in left:
            place = kept / name
            (place if name.endswith("/") else place.parent).mkdir(parents=True)
            if not name.endswith("/"):
                place.write_bytes(b"")
        rollup(small, kept, NOW)
        assert answers(kept, NOW) == expected, left
        assert len(list((kept / "groups").iterdir())) == 1, left


@pytest.mark.parametrize("other", ["groups/mine", "mine", "groups/2024/mine.parquet", "groups/0/more/tokens.parquet"])
def test_a_folder_of_something_else_is_no_place_for_a_roll_up(usage: Path, tmp_path: Path, other: str) -> None:
    (tmp_path / "kept" / other).mkdir(parents=True)
    with pytest.raises(SimulationError, match="exists, and is not a roll-up"):
        rollup(usage, tmp_path / "kept", NOW)


def test_a_manifest_of_other_software_makes_no_roll_up(usage: Path, tmp_path: Path) -> None:
    """As a table format has one beside its files; what may be ours and was damaged is refused."""
    manifest = usage / "manifest.json"
    for text in ('{"files": ["one.parquet"]}', "[]"):
        manifest.write_text(text)
        assert not KeptPlace(usage).is_kept()
    for text in ('{"packs": []}', '{"format": 2, "pac', ""):
        manifest.write_text(text)
        with pytest.raises(
            SimulationError, match=r"manifest\.json is not the manifest of a roll-up: [^\n]*\. Make it again"
        ):
            simulate(usage)
    manifest.unlink()


def test_a_manifest_whose_column_has_no_type_is_refused(small: Path, tmp_path: Path) -> None:
    rollup(small, tmp_path / "kept", NOW)
    manifest = tmp_path / "kept" / "manifest.json"
    content = json.loads(manifest.read_text())
    del content["types"]["customer"]
    manifest.write_text(json.dumps(content))
    with pytest.raises(SimulationError, match="the column 'customer' has no type"):
        simulate(tmp_path / "kept")


def test_a_file_that_is_named_twice_is_refused(usage: Path, tmp_path: Path) -> None:
    """Its rows would count twice."""
    (tmp_path / "link.parquet").symlink_to(usage / "one.parquet")
    for further in (usage / "one.parquet", usage, usage / "one.*", tmp_path / "link.parquet"):
        with pytest.raises(SimulationError, match=r"the usage names .*(one|link)\.parquet twice"):
            simulate([usage / "one.parquet", further], NOW)
    with pytest.raises(SimulationError, match=r"the usage names .*one\.parquet twice"):
        rollup([usage, usage / "one.parquet"], tmp_path / "kept", NOW)


def test_a_further_run_makes_a_damaged_roll_up_again(small: Path, tmp_path: Path) -> None:
    """The command that a refusal names does what it says."""
    kept = tmp_path / "kept"
    rollup(small, kept, NOW)
    damages: tuple[Callable[[Path], Any], ...] = (Path.unlink, lambda file: file.write_bytes(b"PAR1"))
    for damage in damages:
        damage(next(kept.rglob("tokens-shapes.parquet")))
        assert "Make the roll-up again: ratecard rollup" in answers(kept, NOW)["refused"]
        assert rollup(small, kept, NOW).anew == "the files of the groups changed"
    assert same_or_refused(kept, small, NOW)
    assert not rollup(small, kept, NOW).anew


def test_names_that_are_not_read_are_refused_or_told(tmp_path: Path) -> None:
    """What is not kept cannot be asked for later, so that it is said when the groups are made."""
    usage = tmp_path / "usage.csv"
    usage.write_text(
        "type,model,timestamp,prompt_tokens,completion_tokens,cached_token\ntext,claude-opus-4-6,2026-10-01,5,1,4\n"
    )
    words = "Column 'cached_token' is not read. Did you mean 'cached_tokens'? Then name it: --map cached_tokens="
    assert rollup(usage, tmp_path / "kept", NOW).warnings == (f"{words}cached_token",)
    with pytest.raises(SimulationError, match=r"'cached_tokns' is not a column .*Did you mean 'cached_tokens'"):
        rollup(usage, tmp_path / "kept", NOW, columns={"cached_tokns": "cached_token"})


def test_a_run_that_finds_nothing_new_writes_nothing(small: Path, tmp_path: Path) -> None:
    kept = tmp_path / "new" / "kept"
    rollup(small, kept, NOW)

    def written() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.name != ".lock"}

    before = written()
    assert rollup(small, kept, NOW).changes.read == ()
    assert written() == before


def test_places_that_cannot_be_written_or_read(usage: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    rollup(usage, kept, NOW)
    (kept / ".lock").unlink()
    (kept / ".lock").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nothing" / "there")
    for place in (kept, tmp_path / "link"):
        with pytest.raises(SimulationError, match=f"{place} cannot be written: .*(directory|exists)"):
            rollup(usage, place, NOW)
    for ask in (simulate, lambda folder: rollup(usage, folder)):
        with pytest.raises(SimulationError, match=r"cannot be read: .*File name too long"):
            ask(tmp_path / ("x" * 300))


@pytest.mark.parametrize(
    ("current", "named"),
    [("2026-08-03", ""), (FEW, ""), (str(TABLES), f" --tables {TABLES}"), ("HEAD", " --candidate HEAD")],
    ids=["date", "card", "folder", "revision"],
)
def test_the_command_that_would_do_names_only_what_a_command_can(
    usage: Path, tmp_path: Path, current: Any, named: str
) -> None:
    with patch(
        "ratecard.simulation.rollup.sides",
        return_value=(replace(NOW, at=EARLY.at if "2026" in str(current) else None),),
    ):
        rollup(usage, tmp_path / "kept", current, by=["model"])
    refused = answers(tmp_path / "kept", NOW, by=["customer"])["refused"]
    assert refused.endswith(f"--by model,customer{named}")


def test_rows_that_take_prices_which_are_not_linear_need_the_usage(tmp_path: Path) -> None:
    """No roll-up can know to which models rows will be given, so none is named that would do."""
    usage, kept = tmp_path / "usage.csv", tmp_path / "kept"
    usage.write_text(
        "type,model,characters,who,timestamp\nspeech,even,100,a,2026-10-01\nspeech,even,700,b,2026-10-01\n"
    )
    charge = "charge: said\n        method: per-character\n        unit: kcharacter\n        rates: [{rate: 1}]"
    models = "".join(
        f"""  - model: {name}
    name: A
    type: speech
    currency: USD
    versions:
    - effective: 2026-09-01
      checked: 2026-09-02
      source: made up
      charges:
      - {charge}{more}
      rounding: none
      examples: [{{usage: {{characters: 1000}}, total: 1}}]
"""
        for name, more in (("even", ""), ("uneven", "\n        started: 500"))
    )
    now = Side("now", RateCard(tables_from({"voices.yaml": f"family: voices\nmodels:\n{models}".encode()})), LATE.at)
    rollup(usage, kept, now)
    with simulate(usage, now, [replace(now, label="then")], by=["model"], remap={"even": "uneven"}) as found:
        assert found.total.amounts == (Decimal("0.8"), Decimal("1.5"))
    with pytest.raises(
        SimulationError, match=r"each request of even, as the model asks whose .* Simulate the usage itself"
    ):
        simulate(kept, now, [replace(now, label="then")], by=["model"], remap={"even": "uneven"})
    with pytest.raises(SimulationError, match=r"does not distinguish who\. This one would"):
        simulate(kept, now, [replace(now, label="then")], by=["who"], remap={"even": "uneven"})


def test_usage_without_days_keys_or_types(tmp_path: Path) -> None:
    usage, kept = tmp_path / "u [1].csv", tmp_path / "it's kept"
    usage.write_text("model,characters,who\ntts-kokoro,5,a\ntts-kokoro,7,\nclaude-opus-4-6,,b\nnobody,1,b\n")
    rollup(usage, kept, NOW, by=["who"])
    assert same_or_refused(kept, usage, EARLY, LATE, by=["who"])
    assert "timestamp" in answers(kept, NOW)["refused"]
    (tmp_path / "odd.csv").write_text("model,characters,timestamp\ntts-kokoro,5,10/02/2026\ntts-kokoro,7,2026-10-02\n")
    rollup(tmp_path / "odd.csv", tmp_path / "odd", NOW)
    assert same_or_refused(tmp_path / "odd", tmp_path / "odd.csv", NOW, since="2026-01-01")


def test_usage_without_rows(rows: pyarrow.Table, tmp_path: Path) -> None:
    empty, kept = tmp_path / "empty.parquet", tmp_path / "kept"
    write(rows, empty, 0, 0)
    assert rollup(empty, kept, NOW, by=["model", "customer"]).rows == 0
    assert same_or_refused(kept, empty, NOW, DEARER, by=[])
    assert same_or_refused(kept, empty, NOW, DEARER, by=["customer", "month"], since="2026-10-01")


@pytest.mark.parametrize(
    ("usage", "is_read"),
    [
        ("s3://bucket/usage", True),
        ("s3a://bucket/usage/", True),
        ("s3://bucket/**", True),
        ("s3://bucket/*/kept/groups/*/*.parquet", True),
        ("s3://bucket/usage/*.parquet", False),
        ("s3://bucket/**/*.csv", False),
        ("s3://bucket/usage/kept/groups/0/1.parquet/more", False),
        ("s3://other/usage", False),
        ("gs://bucket/usage", False),
        ("s3://bucket/us", False),
        ("bucket/usage", False),
    ],
)
def test_files_that_a_usage_of_a_storage_would_read(usage: str, *, is_read: bool) -> None:
    assert is_read_of(usage, "s3://bucket/usage/kept/groups/0/1.parquet") == is_read


def test_a_manifest_that_is_removed_while_it_is_looked_for_is_none(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).touch()
    with patch.object(Path, "read_bytes", side_effect=FileNotFoundError):
        assert not KeptPlace(tmp_path).is_kept()
