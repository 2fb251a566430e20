"""`ratecard check`, `models`, `explain`, `sheet`, and what all commands share."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ratecard import PriceBook, load_rate_card
from ratecard.cli import main
from ratecard.load.folder import shipped_folder
from shipped import CARD

DAY = "--at=2026-09-29"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one table."""
    (tmp_path / "video").mkdir()
    shutil.copy(shipped_folder() / "video" / "ovi.yaml", tmp_path / "video")
    return tmp_path


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "video" / "ovi.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("command", [[], ["check"], ["explain"], ["models"], ["quote"], ["rate"], ["sheet"]])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_teaches(command: list[str], flag: str) -> None:
    sent = run(*command, flag)
    assert sent.exit_code == 0
    assert "Options:" in sent.stdout
    assert "..." not in sent.stdout.partition("Commands:")[2]
    assert max(map(len, sent.stdout.splitlines())) <= 80


def test_help_says_the_exit_statuses_and_shows_an_example() -> None:
    sent = run("--help")
    assert "Exit status: 0 done, 1 the answer is an error body or a failed check, 2" in sent.stdout
    assert "ratecard quote --model" in sent.stdout


def test_an_unknown_command_is_told_the_nearest() -> None:
    sent = run("qoute")
    assert sent.exit_code == 2
    assert "No command 'qoute'. Did you mean 'quote'? Commands: check, " in sent.stderr


def test_check_of_sound_tables_counts_them(folder: Path) -> None:
    digest = load_rate_card(folder).digest
    words = run("check", str(folder)), run("check", str(folder), "--json")
    assert [sent.exit_code for sent in words] == [0, 0]
    assert words[0].stdout == f"Sound: 1 model, 1 version, 1 example. Digest {digest}.\n"
    assert json.loads(words[1].stdout) == {"models": 1, "versions": 1, "examples": 1, "digest": digest}


def test_check_says_notes_below_its_verdict_and_fails_by_them_only_where_it_is_strict(folder: Path) -> None:
    edit(folder, "checked: ", "checked: 2025-01-01 # ")
    digest = load_rate_card(folder).digest
    note = "video/ovi.yaml:11: ovi-image-to-video: checked 2025-01-01 is more than 90 days before effective 2025-"

    sent, as_json = run("check", str(folder)), run("check", str(folder), "--json")
    strict, strict_json = run("check", str(folder), "--strict"), run("check", str(folder), "--strict", "--json")

    assert [each.exit_code for each in (sent, as_json, strict, strict_json)] == [0, 0, 1, 1]
    verdict, blank, heading, line = sent.stdout.splitlines()
    assert verdict == f"Sound: 1 model, 1 version, 1 example. Digest {digest}."
    assert (blank, heading) == ("", "1 note, which fail with --strict alone:")
    assert line.startswith(f"  {note}")
    assert [each[: len(note)] for each in json.loads(as_json.stdout)["notes"]] == [note]
    assert strict.stdout.startswith(note)
    assert strict.stderr.endswith("\n1 note\n")
    assert json.loads(strict_json.stdout)["error"] == "1 note"


def test_check_shows_the_first_notes_and_says_how_many_more_there_are() -> None:
    sent, strict = run("check"), run("check", "--strict")
    notes = strict.stdout.splitlines()
    _, _, heading, *lines = sent.stdout.splitlines()
    assert (sent.exit_code, strict.exit_code) == (0, 1)
    assert heading == f"{len(notes)} notes, which fail with --strict alone:"
    assert lines == [*(f"  {note}" for note in notes[:5]), f"  and {len(notes) - 5} more: --strict names all"]


def test_check_without_a_folder_checks_the_shipped_tables() -> None:
    sent = run("check", "--json")
    assert sent.exit_code == 0
    assert json.loads(sent.stdout)["digest"] == CARD.digest


def test_check_tells_every_fault_by_file_and_line(folder: Path) -> None:
    edit(folder, "rate: 0.22", "rate: 0.2Z")
    edit(folder, "currency: USD", "currency: USD\n    colour: red")

    sent = run("check", str(folder))

    assert sent.exit_code == 1
    assert [line.split(" ")[0] for line in sent.stdout.splitlines()] == ["video/ovi.yaml:10:", "video/ovi.yaml:23:"]
    assert "unknown key 'colour'" in sent.stdout
    assert "rate '0.2Z' is not a number" in sent.stdout
    assert sent.stderr == f"Tables: {folder}\n2 faults in the tables\n"


def test_check_as_json_is_the_nested_tree_of_requests(folder: Path) -> None:
    edit(folder, "rate: 0.22", "rate: 0.2Z")

    sent = run("check", str(folder), "--json")

    body = json.loads(sent.stdout)
    node: Any = body["details"]
    for part in ("video/ovi.yaml", "models", "0", "versions", "0", "charges", "0", "rates", "0", "rate"):
        assert node["_errors"] == []
        node = node[part]
    assert sent.exit_code == 1
    assert body["error"] == "1 fault in the tables"
    assert node["_errors"][0].startswith("video/ovi.yaml:22: rate '0.2Z' is not a number.")


def test_check_catches_an_example_with_another_total(folder: Path) -> None:
    edit(folder, "total: 0.22", "total: 2.22")

    sent = run("check", str(folder))

    assert sent.exit_code == 1
    assert sent.stdout == (
        "video/ovi.yaml:25: ovi-image-to-video: the example says 2.22, the rates give 0.22:\n"
        "    ovi-image-to-video-fixed 0.22 (video/ovi.yaml:22)\n"
    )


@pytest.mark.parametrize("given", ["total: 0.22", "total: 0.2"])
def test_check_catches_an_example_that_is_refused(folder: Path, given: str) -> None:
    edit(folder, "{request: {duration: 5s}, total: 0.22}", "{request: {duration: 6s}, " + given + "}")

    sent = run("check", str(folder))

    assert sent.exit_code == 1
    assert "but it is refused: Invalid request body\n  duration: " in sent.stdout


@pytest.mark.parametrize("name", ["", "units.yaml"])
def test_check_of_a_folder_without_models_fails(tmp_path: Path, name: str) -> None:
    if name:
        shutil.copy(shipped_folder() / name, tmp_path)
    sent = run("check", str(tmp_path))
    assert sent.exit_code == 1
    assert "holds no " in sent.stdout


def test_models_lists_what_has_a_price_then() -> None:
    sent = run("models", DAY, "--json")
    rows = json.loads(sent.stdout)
    ids = [row["id"] for row in rows]
    assert ids == sorted(ids)
    assert "kling-o3-pro-text-to-video" in ids
    assert "kling-v4-text-to-video" not in ids  # from 2026-10-24
    assert not [name for name in ids if name.startswith("sora-2")]  # retired on 2026-09-28
    assert rows[ids.index("ovi-image-to-video")] == {
        "id": "ovi-image-to-video",
        "name": "Ovi Image to Video",
        "type": "video",
        "mode": "image-to-video",
        "currency": "USD",
        "effective": "2025-12-01",
        "retires": None,
    }


def test_models_narrows_by_a_part_of_the_id() -> None:
    sent = run("models", DAY, "SEEDANCE-1")
    heading, *lines = sent.stdout.splitlines()
    assert heading.split() == ["Model", "Type", "Since"]
    assert all("seedance-1" in line for line in lines)
    assert lines[-1] == "seedance-1-5-pro-text-to-video-basic retires on 2026-11-10"
    assert sent.stderr == f"{len(lines) - 1} models\n"


def test_models_without_a_match() -> None:
    sent = run("models", DAY, "abacus")
    assert (sent.exit_code, sent.stdout, sent.stderr) == (0, "", "0 models\n")
    assert run("models", DAY, "ovi-image").stderr == "1 model\n"


def test_explain_names_the_line_of_every_rate() -> None:
    sent = run("explain", DAY, "kling-o3-pro-text-to-video")
    lines = (shipped_folder() / "video" / "kling-o3.yaml").read_text(encoding="utf-8").splitlines()
    rates = [line.split() for line in sent.stdout.splitlines() if "kling-o3.yaml:" in line]
    assert [rate[0] for rate in rates] == ["$0.1232", "$0.154"]
    for amount, source, *_ in rates:
        assert f"rate: {amount[1:]}}}" in lines[int(source.rpartition(":")[2]) - 1]


def test_explain_shows_list_rates_with_their_markup_and_later_versions() -> None:
    assert "7 x 1.25" in run("explain", DAY, "seedance-2-0-text-to-video-basic").stdout
    assert "Later versions: 2026-10-16" in run("explain", DAY, "flux-3-text-to-video").stdout
    assert "Earlier versions: 2026-09-28" in run("explain", "--at=2026-10-16", "flux-3-text-to-video").stdout


def test_explain_shows_what_a_text_model_charges_for_searches() -> None:
    sent = run("explain", DAY, "grok-4-3")
    assert "A request may say" not in sent.stdout
    searches = sent.stdout.partition("web search: surcharge, a rate per ")[2].splitlines()
    assert searches[1:4] == [
        "  counted by: web_search_requests",
        "  switched by: enable_web_search",
        "  priced as: web-search",
    ]
    assert searches[5].split()[0] == "$10.00"
    assert searches[5].split()[1].startswith("surcharges.yaml:")
    assert "x search: surcharge" in sent.stdout
    assert "search: " not in run("explain", DAY, "tts-kokoro").stdout


def test_explain_shows_the_formula_of_video_tokens() -> None:
    formula = "  tokens: seconds x width x height x frames_per_second / pixels_per_token\n  frames_per_second: 24\n"
    assert formula in run("explain", DAY, "seedance-2-0-text-to-video-basic").stdout
    assert "tokens: seconds" not in run("explain", DAY, "kling-o3-pro-text-to-video").stdout


def test_explain_as_json_has_the_same_rates() -> None:
    found = json.loads(run("explain", DAY, "kling-o3-pro-text-to-video", "--json").stdout)
    assert [rate["unit_rate"] for charge in found["charges"] for rate in charge["rates"]] == ["0.1232", "0.154"]
    assert found["effective"] == "2026-09-28"


def test_explain_of_an_unknown_model_is_refused_as_a_quote_is() -> None:
    for_people, for_programs = run("explain", DAY, "ovi"), run("explain", DAY, "ovi", "--json")
    assert for_people.exit_code == for_programs.exit_code == 1
    assert json.loads(for_programs.stdout)["error"] == for_people.stderr.strip()


def test_sheet_of_all_models_has_every_cell_at_its_price(prices: PriceBook) -> None:
    rows = list(csv.DictReader(io.StringIO(run("sheet", "--every-request", DAY).stdout)))
    assert len(rows) > 5_000
    assert len({tuple(row.items()) for row in rows}) == len(rows)
    for row in rows[::7]:
        if row["source_video"] or prices.in_effect(row["model"])[0].type != "video":
            continue
        body: dict[str, Any] = {
            name: row[name] for name in ("model", "duration", "aspect_ratio", "resolution") if row.get(name)
        }
        if row["audio"]:
            body["audio"] = row["audio"] == "true"
        if row["reference_video_total_duration"]:
            body["reference_video_total_duration"] = int(row["reference_video_total_duration"])
        assert f"{prices.quote_video(body).total}" == row["total"], body


def test_sheet_formats_hold_the_same_cells() -> None:
    models = "kling-o3-pro-text-to-video", "grok-imagine-1-5-image-to-video-private"
    rows = list(csv.DictReader(io.StringIO(run("sheet", "--every-request", DAY, *models).stdout)))
    objects = json.loads(run("sheet", "--every-request", DAY, *models, "--format=json").stdout)
    table = run("sheet", "--every-request", DAY, *models, "--format=markdown").stdout.splitlines()

    assert [{key: value for key, value in row.items() if value} for row in rows] == objects
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    assert cells[0] == list(rows[0])
    assert cells[2:] == [[value.strip() for value in row.values()] for row in rows]


def test_sheet_leaves_empty_columns_out() -> None:
    heading = run("sheet", "--every-request", DAY, "ovi-image-to-video").stdout.splitlines()[0]
    assert heading == "model,total,exact,currency,effective,sku,source"


def test_sheet_of_tables_without_a_price_then_is_empty(folder: Path) -> None:
    words = ["sheet", "--every-request", "--at=2020-01-01", "--tables", str(folder)]
    assert run(*words).stdout.strip() == ""
    assert json.loads(run(*words, "--format=json").stdout) == []


def test_sheet_of_an_unknown_model_is_refused() -> None:
    sent = run("sheet", "--every-request", DAY, "kling-o3-pro-text-to-vide")
    assert sent.exit_code == 1
    assert "Did you mean: kling-o3-pro-text-to-video" in sent.stderr


def test_sheet_of_every_request_takes_families_and_patterns() -> None:
    family, pattern = (run("sheet", "--every-request", DAY, name).stdout for name in ("kling-o3", "kling-o3-*"))
    assert sorted(family.splitlines()) == sorted(pattern.splitlines())
    assert len(family.splitlines()) > 100
    assert "No model fits klng-*" in run("sheet", "--every-request", DAY, "klng-*").stderr


@pytest.mark.parametrize("more", [[], ["--every-request"]])
def test_sheet_before_the_first_price_says_since_when(more: list[str]) -> None:
    sent = run("sheet", "--at=2020-01-01", *more)
    assert "No price is in effect on 2020-01-01. The first prices of these tables are of 20" in sent.stderr
