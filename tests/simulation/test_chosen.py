"""`where`, `since` and `until`: which rows they mean, and what they refuse."""

from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from chosen_rows import DAYS, WHERE, chosen, of_every_condition, table
from few import simulate
from rows import with_column

from ratecard.base.errors import SimulationError
from ratecard.simulation.rows.where import read_condition

TABLE = table()


def rows(usage: object, **how: object) -> str:
    with simulate(usage, by=("row",), **how) as found:
        assert found.unpriced == ()
        return "".join(sorted(str(row.key[0]) for row in found.groups))


def test_where() -> None:
    usage, where = of_every_condition()
    with simulate(usage, by=("condition", "row"), where=where) as found:
        assert found.unpriced == ()
        assert {row.key for row in found.groups} == chosen()


def test_what_a_file_says_of_its_columns_does_not_decide(tmp_path: Path) -> None:
    """Statistics of Parquet leave NaN out, so that all rows of a file would seem to be below a number."""
    for name, part in (("all", TABLE), ("some", TABLE.take([0, 3, 4]))):
        pyarrow.parquet.write_table(part, tmp_path / f"{name}.parquet", write_statistics=True)
        there = part["row"].to_pylist()
        for where, meant in WHERE.items():
            if "double" in where:
                assert rows(tmp_path / f"{name}.parquet", where=where) == "".join(x for x in meant if x in there)


@pytest.mark.parametrize(("since", "until"), DAYS)
def test_since_and_until(since: str | date | None, until: str | date | None) -> None:
    assert rows(TABLE, since=since, until=until) == DAYS[since, until]


def test_all_of_text_in_a_csv(tmp_path: Path) -> None:
    kept = TABLE.select(["row", "type", "model", "characters", "region", "count", "timestamp"])
    days = [f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in kept["timestamp"].to_pylist()]
    pyarrow.csv.write_csv(with_column(kept, "timestamp", days), tmp_path / "usage.csv")
    for where in ("region != 'eu'", "count >= 10 and count < 1000000000000", "day >= '2026-10-02'"):
        assert rows(tmp_path / "usage.csv", where=where) == WHERE[where]


def test_what_was_chosen_is_said() -> None:
    undated = with_column(TABLE, "timestamp", ["2026-10-02"] * 4 + ["soon", None])
    with simulate(undated, "2026-10-02", by=("row",), where="count > 0", since="2026-10-01") as found:
        reading = found.reading
        assert (found.rows, reading.found, reading.undated, reading.odd) == (4, 6, 2, "soon")
        assert reading.chosen == "where count > 0, since 2026-10-01"
        assert reading.warnings()[-1] == "2 rows without an instant are left out, because days are chosen"


def test_names_of_ours_are_known() -> None:
    assert rows(TABLE, where="customer = 'eu'", columns={"customer": "region"}) == "03"


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("", "at character 1, the end; expected a column"),
        ("region", "at character 7, the end; expected one of = !="),
        ("region = eu", r"at character 10, 'eu'; expected .*Text is in quotes: 'eu'"),
        ("region == 'eu'", "at character 9, '='; expected a number"),
        ("region = 'eu", "at character 10, ''eu' cannot be read"),
        ("region = 'eu' region = 'us'", "at character 15, 'region'; expected and, or, or the end"),
        ("(region = 'eu'", r"at character 15, the end; expected \)"),
        ("region in ()", "at character 12"),
        ("region is nothing", "'nothing'; expected missing"),
        ("count > 1; DROP TABLE usage", "at character 10, ';"),
        ("count = 123456789012345678901", "too many digits"),
        ("count = 1e5", "cannot be read"),
        ("regoin = 'eu'", "no column 'regoin'. Did you mean 'region'"),
        ("count = 'ten'", "column 'count' holds numbers, and is compared with text"),
        ("region = 5 and flag = 'x'", "column 'flag' holds true or false, and is compared with text"),
        ("flag = 1", "column 'flag' holds true or false, and is compared with a number"),
        ("timestamp > '2026-10-01'", "'timestamp' is a timestamp. Choose by day"),
        ("day = 5", "day is compared with a day in quotes"),
        ("day = '1 October'", "day is '1 October', and must be a day, like 2026-10-01"),
        ("(" * 200 + "flag = true" + ")" * 200, "conditions are nested more than 100 deep"),
    ],
)
def test_a_condition_that_cannot_be_meant_is_refused(where: str, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        rows(TABLE, where=where)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("timestamp >= '2026-10-05'", "'timestamp' is a timestamp. Choose by day"),
        ("characters > '1000'", "column 'characters' holds numbers, and is compared with text"),
    ],
)
def test_text_is_compared_as_what_it_means(tmp_path: Path, where: str, words: str) -> None:
    """As text, 900 is more than 1000, and so is a time of one zone than an earlier one of another."""
    (tmp_path / "usage.csv").write_text(
        "type,model,timestamp,characters\nspeech,tts-kokoro,2026-10-05T01:30+02:00,900\n"
    )
    with pytest.raises(SimulationError, match=words):
        simulate(tmp_path / "usage.csv", "2026-10-06", where=where)


def test_days_that_cannot_be_meant_are_refused() -> None:
    for since, until, words in (
        ("yesterday", None, "since is 'yesterday', and must be a day"),
        (datetime(2026, 10, 1, tzinfo=UTC), None, "must be a day"),
        (None, "2026-02-30", "until is '2026-02-30', and must be a day"),
        ("2026-10-02", "2026-10-02", "no day is since 2026-10-02 and before 2026-10-02"),
    ):
        with pytest.raises(SimulationError, match=words):
            rows(TABLE, since=since, until=until)
    with pytest.raises(SimulationError, match="no column 'timestamp' to choose days by"):
        simulate(TABLE.drop_columns(["timestamp"]), "2026-10-01", by=(), since="2026-10-01")


def test_a_condition_knows_its_columns() -> None:
    assert read_condition('"a b" = 1 or not (c is missing and "a b" != \'x\')').columns == ("a b", "c")
