"""Several candidates promoted in one go: the tables are those of the simulation that stacked them, or nothing is."""

from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from overlays import ADDED, amounts, candidate, without
from test_promote_laws import answer

from copied_tables import copy_with_shared
from ratecard import TableError, load_rate_card
from ratecard.cli import main
from ratecard.load.folder import read_folder
from ratecard.review.promote import promotion
from ratecard.review.sides import Stack
from ratecard.simulation.simulate import simulate

CHECKED = date(2027, 2, 1)
PLAIN = "- scale: {model: plain}\n  factor: 3\n"
ALL = "- scale: {family: mixed}\n  percent: -50%\n"


def stack(folder: Path, *parts: tuple[str, str]) -> Stack:
    """Candidates of (changes, day), one above the other."""
    numbered = enumerate(parts, 1)
    return Stack(tuple(candidate(folder, text, day, name=f"{number}.yaml") for number, (text, day) in numbered))


STACKS = {
    "one day": ((PLAIN, "2027-09-01"), (ALL, "2027-09-01")),
    "one after the other": ((PLAIN, "2027-09-01"), (ALL, "2027-10-01"), ("- retire: talker\n", "2027-11-01")),
    "the later one below": ((ALL, "2027-10-01"), (PLAIN, "2027-09-01")),
    "a model and a change": ((ADDED.format(family="mixed", model="new"), "2027-09-01"), (PLAIN, "2027-10-01")),
    "a new family above": ((PLAIN, "2027-08-01"), (ADDED.format(family="fresh", model="new"), "2027-09-01")),
}


@pytest.mark.parametrize("name", STACKS)
def test_promoted_tables_price_every_model_like_the_stack(folder: Path, name: str) -> None:
    given = stack(folder, *STACKS[name])
    before, wanted = read_folder(folder), given.over(load_rate_card(folder))
    made = promotion(folder, given, CHECKED)
    assert read_folder(folder) == before
    made.write()
    got = load_rate_card(folder)
    assert got.digest == wanted.digest == made.digest
    for file, content in made.after.items():
        lines = [(added.first, added.last) for added in made.added if added.file == file]
        assert without(content, lines) == before.get(file, b"")
    for instant in wanted.boundaries():
        one, other = got.at(instant), wanted.at(instant)
        for model in wanted.tables.models.values():
            for version in model.versions:
                for example in version.examples:
                    assert answer(one, model, example) == answer(other, model, example)


def test_a_version_of_one_day_is_that_of_the_whole_stack(folder: Path) -> None:
    promotion(folder, stack(folder, *STACKS["one day"]), CHECKED).write()
    assert amounts(load_rate_card(folder), "plain") == [("2027-09-01", ["0.15"]), ("2027-01-01", ["0.1"])]


def test_a_simulation_of_what_was_promoted_is_that_of_the_stack(tmp_path: Path) -> None:
    folder = copy_with_shared(tmp_path / "tables", "text/claude.yaml", "video/kling-o3.yaml")
    dearer = "- scale: {family: kling-o3}\n  percent: 10%\n"
    cheaper = "- scale: {model: claude-opus-4-6}\n  where: {tokens: output}\n  percent: -15%\n"
    given = stack(folder, (dearer, "2027-09-01"), (cheaper, "2027-09-15"), (dearer, "2027-09-01"))
    usage = tmp_path / "usage.csv"
    lines = [
        "type,model,timestamp,duration,prompt_tokens,completion_tokens",
        "video,kling-o3-pro-text-to-video,2027-08-31,5s,,",
        "video,kling-o3-pro-text-to-video,2027-09-01,5s,,",
        "text,claude-opus-4-6,2027-09-14,,1000,777",
        "text,claude-opus-4-6,2027-09-15,,1000,777",
    ]
    usage.write_text("\n".join(lines) + "\n", encoding="utf-8")
    by = ("model", "day")
    with simulate(usage, None, str(given), by=by, tables=folder) as found:
        stacked = {row.key: row.amounts for row in found.groups}
        assert found.priced == len(lines) - 1
    promotion(folder, given, CHECKED).write()
    with simulate(usage, None, by=by, tables=folder) as found:
        promoted = {row.key: row.amounts[0] for row in found.groups}
    assert promoted == {key: each[1] for key, each in stacked.items()}
    assert sum(each[0] != each[1] for each in stacked.values()) == 2


def test_a_model_that_one_adds_and_another_changes_is_written_first(folder: Path) -> None:
    added = ADDED.format(family="mixed", model="new")
    given = stack(folder, (added, "2027-09-01"), ("- scale: {model: new}\n  factor: 2\n", "2027-10-01"))
    before = read_folder(folder)
    with pytest.raises(TableError) as refused:
        promotion(folder, given, CHECKED)
    words = "a candidate above this one changes new. Write it here as it should be, or promote this candidate first"
    assert words in str(refused.value)
    assert str(refused.value).startswith(f"{given.paths[0]}:7: ")
    assert read_folder(folder) == before
    wanted = given.over(load_rate_card(folder)).digest
    for path in given.paths:
        promotion(folder, path, CHECKED).write()
    assert load_rate_card(folder).digest == wanted


def test_each_of_a_stack_is_told_where_it_changes_a_version_of_the_tables(folder: Path) -> None:
    above = candidate(folder, ALL, "2027-03-01\nuntil: 2027-11-01", name="window.yaml")
    with pytest.raises(TableError) as refused:
        promotion(folder, Stack((*stack(folder, (PLAIN, "2027-02-01")).paths, above)), CHECKED)
    assert "version 2027-06-01 of sized begins while the candidate holds" in str(refused.value)
    assert "(2027-03-01 until 2027-11-01)" in str(refused.value)


def test_the_command_takes_a_stack_as_a_simulation_does(folder: Path) -> None:
    given, run = stack(folder, *STACKS["one after the other"]), CliRunner()
    wanted = given.over(load_rate_card(folder)).digest
    before = read_folder(folder)
    sent = run.invoke(main, ["promote", f"{given.paths[0]}+none.yaml", "--tables", str(folder)])
    assert sent.exit_code == 2
    assert "there is no file none.yaml" in sent.stderr
    assert read_folder(folder) == before
    sent = run.invoke(main, ["promote", str(given), "--tables", str(folder), "--checked", "2027-08-20"])
    assert sent.exit_code == 0, sent.output
    assert sent.stdout.endswith(f"Digest {wanted}.\n")
    assert load_rate_card(folder).digest == wanted
