"""A folder is one whole: every fault of every file at once, and no fault hides another."""

import re
import shutil
from pathlib import Path

import pytest

import ratecard
from ratecard.load.folder import load_tables, read_folder, shipped_folder, tables_from

MODEL = """\
  - model: {name}
    name: Example
    type: video
    mode: text-to-video
    currency: {currency}
    versions:
      - effective: 2026-09-01
        checked: {checked}
        source: price page
        accepts: {{duration: [5s], audio: none}}
        charges:
          - {{charge: video, method: duration-rate, unit: video_second, rates: [{{rate: {rate}}}]}}
        rounding: {{places: 2, mode: half-up}}
        examples:
          - {{request: {{duration: 5s}}, total: 0.50}}
"""


def model(name: str, currency: str = "USD", checked: str = "2026-09-02", rate: str = "0.10") -> str:
    return MODEL.format(name=name, currency=currency, checked=checked, rate=rate)


def family(*models: str) -> str:
    return "family: example\nmodels:\n" + "".join(models)


def faults(folder: Path) -> list[str]:
    with pytest.raises(ratecard.TableError) as refusal:
        ratecard.load_rate_card(folder)
    return [re.split(r" is (?!in \S+ too)", str(fault))[0] for fault in refusal.value.faults]


def test_all_faults_of_all_files_come_at_once_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(family(model("one", currency="usd", rate="1e3", checked="soon")))
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yml").write_text(family(model("two", rate="-1")))
    (tmp_path / "c.yaml").write_text(family(model("three", currency="eur"), model("three")))
    (tmp_path / "units.yaml").write_text("units:\n  - {unit: video_second, counts: second of video, per: 0}\n")
    assert faults(tmp_path) == [
        "b.yaml:10: checked 'soon'",
        "b.yaml:14: rate '1e3'",
        "c.yaml:7: currency 'eur'",
        "c.yaml:18: model 'three' is in c.yaml too",
        "deep/a.yml:14: rate '-1'",
        "units.yaml:2: per '0' must be more than zero",
    ]


def test_a_broken_model_does_not_hide_the_faults_of_the_models_beside_it(tmp_path: Path) -> None:
    models = model("broken", rate="free"), model("odd", currency="usd"), model("broken too", checked="no")
    (tmp_path / "a.yaml").write_text(family(*models).replace("family: example", "familly: example"))
    assert faults(tmp_path) == [
        "a.yaml:1: family",
        "a.yaml:1: unknown key 'familly'. Did you mean 'family'? Allowed here: family, models",
        "a.yaml:14: rate 'free'",
        "a.yaml:22: currency 'usd'",
        "a.yaml:40: checked 'no'",
    ]


def test_a_broken_successor_is_one_fault_and_not_two(tmp_path: Path) -> None:
    old = model("old").replace("    versions:", "    retired: {on: 2027-01-01, successor: new}\n    versions:")
    (tmp_path / "a.yaml").write_text(family(old))
    (tmp_path / "b.yaml").write_text(family(model("new", rate="free")))
    assert faults(tmp_path) == ["b.yaml:14: rate 'free'"]


def test_models_that_succeed_each_other_are_faults(tmp_path: Path) -> None:
    """`old` leads to a ring of two others, and is not part of it."""
    for name, successor in (("old", "one"), ("one", "two"), ("two", "one")):
        retired = f"    retired: {{on: 2027-01-01, successor: {successor}}}\n    versions:"
        (tmp_path / f"{name}.yaml").write_text(family(model(name).replace("    versions:", retired)))
    assert faults(tmp_path) == [
        f"{name}.yaml:8: successor '{successor}' leads back to this model, by successors of its own. Name one that"
        " stays, or leave it out"
        for name, successor in (("one", "two"), ("two", "one"))
    ]


def test_a_broken_model_is_not_blamed_on_terms_that_are_for_it(tmp_path: Path) -> None:
    terms = "monthly:\n  - {included: 1, unit: video_second, for: {model: one}}\n"
    (tmp_path / "monthly.yaml").write_text(terms)
    (tmp_path / "contracts").mkdir()
    signed = f"contract: c\naccounts: [a]\nfrom: 2026-01-01\nsource: signed\n{terms}"
    (tmp_path / "contracts" / "c.yaml").write_text(signed)
    (tmp_path / "a.yaml").write_text(family(model("one", rate="free")))
    assert faults(tmp_path) == ["a.yaml:14: rate 'free'"]
    (tmp_path / "a.yaml").write_text(family(model("two")))
    found = [each.partition("matches nothing")[0] for each in faults(tmp_path)]
    assert found == ["contracts/c.yaml:6: ", "monthly.yaml:2: "]


@pytest.mark.parametrize("text", ["- x", "models: x", "models: [x]", "models: [{model: [x]}]"])
def test_models_that_cannot_be_named_are_faults_like_any_other(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"family: x\n{text}\n" if text.startswith("m") else text)
    (tmp_path / "b.yaml").write_text(family(model("one", currency="usd")))
    found = faults(tmp_path)
    assert found[-1] == "b.yaml:7: currency 'usd'"
    assert found[0].startswith("a.yaml:")


def test_broken_units_or_vocabulary_are_not_blamed_on_the_models(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(family(model("one")))
    (tmp_path / "units.yaml").write_text("unit: [video_second]\n")
    (tmp_path / "vocabulary.yaml").write_text("video: {}\n")
    (tmp_path / "limits.yaml").write_text("limit: []\n")
    found = [fault for fault in faults(tmp_path) if not fault.startswith("limits.yaml")]
    assert len(found) < len(faults(tmp_path))
    assert {fault.partition(":")[0] for fault in found} == {"units.yaml", "vocabulary.yaml"}
    assert found[:2] == [
        "units.yaml:1: units",
        "units.yaml:1: unknown key 'unit'. Did you mean 'units'? Allowed here: units",
    ]


def test_a_fault_leads_to_its_field_in_the_tree_that_requests_have_too(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(family(model("one"), model("two", currency="usd")))
    with pytest.raises(ratecard.TableError) as refusal:
        ratecard.load_rate_card(tmp_path)
    words = "a.yaml:22: currency 'usd' is not an ISO 4217 code. Write three capitals, like USD"
    at_model = {"_errors": [], "currency": {"_errors": [words]}}
    tree = {"_errors": [], "a.yaml": {"_errors": [], "models": {"_errors": [], "1": at_model}}}
    assert refusal.value.body() == {"error": "1 fault in the tables", "details": tree}


def test_the_error_counts_its_faults(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(family(model("one", currency="usd", rate="0.1"), model("two", currency="$")))
    with pytest.raises(ratecard.TableError) as refusal:
        ratecard.load_rate_card(tmp_path)
    assert refusal.value.body()["error"] == "2 faults in the tables"


@pytest.mark.parametrize(
    ("make", "words"), [(False, "is not a folder. Name the"), (True, "holds no rate table. A table")]
)
def test_a_folder_without_tables_is_refused(tmp_path: Path, make: bool, words: str) -> None:
    folder = tmp_path / "tables"
    if make:
        folder.mkdir()
        (folder / "units.yaml").write_bytes((shipped_folder() / "units.yaml").read_bytes())
        (folder / "notes.txt").write_text("not a table")
    with pytest.raises(ratecard.TableError, match=words) as refusal:
        ratecard.load_rate_card(folder)
    assert str(folder) in str(refusal.value)


def test_tables_can_be_read_from_bytes_without_a_file_system() -> None:
    shared = {path.name: path.read_bytes() for path in shipped_folder().glob("*.yaml")}
    tables = tables_from({"any/name.yaml": family(model("one")).encode(), **shared})
    [version] = tables.models["one"].versions
    assert version.charges[0].rates[0].source == "any/name.yaml:14"


def test_a_folder_may_bring_its_own_units(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(family(model("one")).replace("unit: video_second", "unit: second"))
    (tmp_path / "units.yaml").write_text("units:\n  - {unit: second, counts: second of video, per: 1}\n")
    units = ratecard.load_rate_card(tmp_path).tables.units
    assert list(units) == [*load_tables().units, "second"]


@pytest.mark.parametrize("name", ["b.YAML", "b.Yml", "contracts/b.YAML"])
def test_an_ending_in_capitals_is_no_reason_to_leave_a_file_out(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.yaml").write_text(family(model("one")))
    (tmp_path / "contracts").mkdir()
    (tmp_path / name).write_text("nothing: 1\n")
    with pytest.raises(ratecard.TableError, match=f"^{name}:1: "):
        ratecard.load_rate_card(tmp_path)


def test_limits_are_there_and_stand_newest_first(tmp_path: Path) -> None:
    shipped = (shipped_folder() / "limits.yaml").read_text()
    entry = shipped[shipped.index("  - effective:") :]
    for text, words in (
        ("limits: []\n", "limits is empty"),
        (f"limits:\n{entry}{entry}", "must be before"),
    ):
        shutil.copytree(shipped_folder(), tmp_path / words)
        (tmp_path / words / "limits.yaml").write_text(text)
        with pytest.raises(ratecard.TableError) as caught:
            ratecard.load_rate_card(tmp_path / words)
        [fault] = caught.value.faults
        assert fault.file == "limits.yaml"
        assert words in fault.message


def test_hidden_files_are_no_tables(tmp_path: Path) -> None:
    # A mounted configuration has this form on a disk: each file is a link to a file in a hidden folder.
    hidden = tmp_path / "..2026_11_21"
    hidden.mkdir()
    (hidden / "ovi.yaml").write_bytes((shipped_folder() / "video" / "ovi.yaml").read_bytes())
    (tmp_path / "..data").symlink_to(hidden)
    (tmp_path / "ovi.yaml").symlink_to(tmp_path / "..data" / "ovi.yaml")
    (tmp_path / ".#ovi.yaml").write_text("an editor's lock")
    assert load_tables(tmp_path).files.keys() == load_tables(hidden).files.keys()
    assert set(read_folder(tmp_path)) == {"ovi.yaml", *read_folder(hidden)}
