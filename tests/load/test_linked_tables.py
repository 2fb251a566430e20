"""Links are followed as a person sees them; hidden names are not read, nothing is read twice, and a loop is a fault."""

import os
import shutil
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

import ratecard
from git_tables import FILES, SECOND, card_of, git, repository, write
from mounted import Mount
from ratecard import RateCard, TableError
from ratecard.cli.commands import main
from ratecard.load.folder import read_folder, shipped_folder
from ratecard.load.revision import find_revision, load_revision
from ratecard.review.promote import promotion
from shipped import CARD

TABLES = {name: text.encode() for name, text in FILES.items()}
SHARED = {"units.yaml", "meters.yaml", "vocabulary.yaml", "limits.yaml"}


def names(folder: Path) -> list[str]:
    return [name for name in read_folder(folder) if name not in SHARED]


def faults(folder: Path) -> list[str]:
    with pytest.raises(TableError) as caught:
        read_folder(folder)
    return [str(fault) for fault in caught.value.faults]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two families, one of them in a folder."""
    write(tmp_path / "tables", {f"video/{SECOND}": FILES[SECOND], "tokens.yaml": FILES["tokens.yaml"]})
    return tmp_path / "tables"


def test_a_mounted_volume_has_all_its_models(tmp_path: Path) -> None:
    shipped = read_folder()
    mount = Mount(tmp_path / "tables")
    mount.put(shipped)
    assert read_folder(mount.folder) == shipped
    done = CliRunner().invoke(main, ["check", str(mount.folder)])
    counted = CliRunner().invoke(main, ["check", str(shipped_folder())])
    assert done.stdout == counted.stdout


def test_a_fault_names_the_file_as_a_person_sees_it(tmp_path: Path) -> None:
    mount = Mount(tmp_path / "tables")
    mount.put({f"video/{SECOND}": FILES[SECOND].replace("rate: 0.10", "rate: free").encode()})
    done = CliRunner().invoke(main, ["check", str(mount.folder)])
    assert done.exit_code == 1
    assert done.stdout.startswith(f"video/{SECOND}:")


def test_the_line_of_a_price_names_the_link_too(tmp_path: Path) -> None:
    mount = Mount(tmp_path / "tables")
    mount.put(read_folder())
    quote = ratecard.load_rate_card(mount.folder).at(CARD.boundaries()[-1])
    assert quote.quote_video({"model": "ovi-image-to-video"}).lines[0].source == "video/ovi.yaml:22"


def test_what_is_hidden_is_not_read_by_itself(folder: Path) -> None:
    for hidden in (".git", "..data", ".backup"):
        shutil.copytree(folder / "video", folder / hidden)
    shutil.copy(folder / "tokens.yaml", folder / ".tokens.yaml")
    (folder / ".link.yaml").symlink_to("tokens.yaml")
    (folder / ".linked").symlink_to("video")
    assert names(folder) == ["tokens.yaml", f"video/{SECOND}"]


def test_links_out_of_the_folder_are_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "video").rename(tmp_path / "elsewhere")
    (folder / "tokens.yaml").rename(tmp_path / "tokens.txt")
    (folder / "video").symlink_to(tmp_path / "elsewhere")
    (folder / "tokens.yaml").symlink_to("../tokens.txt")
    assert names(folder) == ["tokens.yaml", f"video/{SECOND}"]
    link = tmp_path / "current"
    link.symlink_to(folder)
    assert names(link) == ["tokens.yaml", f"video/{SECOND}"]


@pytest.mark.parametrize("name", ["a", "zz"])
def test_a_file_that_is_reached_twice_counts_once_under_its_own_name(folder: Path, name: str) -> None:
    """Whether the other name comes before it or after it."""
    (folder / name).symlink_to("video")
    (folder / f"{name}.yaml").symlink_to("tokens.yaml")
    (folder / f"{name}2.yaml").symlink_to(f"{name}.yaml")
    (folder / f"{name}3.yaml").symlink_to(f"video/{SECOND}")
    assert names(folder) == ["tokens.yaml", f"video/{SECOND}"]
    assert len(ratecard.load_rate_card(folder).tables.models) == 2


def test_two_links_to_one_folder_count_once(folder: Path, tmp_path: Path) -> None:
    (folder / "video").rename(tmp_path / "elsewhere")
    for name in ("b", "a"):
        (folder / name).symlink_to(tmp_path / "elsewhere")
    assert names(folder) == [f"a/{SECOND}", "tokens.yaml"]


def test_links_within_linked_folders_are_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "video").rename(tmp_path / "far")
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "deeper").symlink_to("../far")
    (folder / "near").symlink_to("../near")
    assert names(folder) == [f"near/deeper/{SECOND}", "tokens.yaml"]


@pytest.mark.parametrize("target", [".", "..", "../..", "../video", "../../tables"])
def test_a_link_to_what_holds_it_is_a_loop(folder: Path, target: str) -> None:
    (folder / "video" / "again").symlink_to(target)
    words = "is a link to a folder that leads back to it. Remove the link"
    assert faults(folder) == [f"video/again:1: {words}"]


def test_two_folders_that_lead_to_each_other_are_a_loop(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "one").symlink_to("../video")
    assert names(folder) == ["tokens.yaml", f"video/{SECOND}"]
    (folder / "video" / "two").symlink_to("../other")
    assert [fault.partition(" ")[0] for fault in faults(folder)] == ["other/one:1:", "video/two:1:"]


def test_a_loop_through_folders_elsewhere_is_found(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "back").symlink_to(tmp_path)
    (folder / "far").symlink_to("../far")
    assert [fault.partition(" ")[0] for fault in faults(folder)] == ["far/back:1:"]


def test_a_link_that_leads_to_itself_is_a_fault(folder: Path) -> None:
    (folder / "self.yaml").symlink_to("self.yaml")
    (fault,) = faults(folder)
    assert fault.startswith("self.yaml:1: is a link that cannot be followed")


@pytest.mark.parametrize("name", ["gone.yaml", "gone"])
def test_a_link_to_nothing_is_a_fault_and_not_a_folder_less(folder: Path, name: str) -> None:
    (folder / "video" / name).symlink_to("nowhere")
    assert faults(folder) == [
        f"video/{name}:1: is a link to nothing: nowhere is not there. Mend the link, or remove it"
    ]


def test_a_link_to_what_is_no_file_is_a_fault_and_not_read(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # to read it would never end
    (folder / "video" / "pipe.yaml").symlink_to(tmp_path / "pipe")
    (fault,) = faults(folder)
    assert fault.startswith("video/pipe.yaml:1: is a link to ")
    assert fault.endswith("/pipe, which is no file. Mend the link, or remove it")


def test_what_is_no_file_is_a_fault_and_not_read(folder: Path) -> None:
    os.mkfifo(folder / "video" / "pipe.yaml")
    os.mkfifo(folder / "video" / "pipe")
    assert faults(folder) == ["video/pipe.yaml:1: is no file. Remove it"]


def test_promoting_writes_through_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / "video").rename(tmp_path / "elsewhere")
    (folder / "video").symlink_to("../elsewhere")
    candidate = tmp_path / "candidate.yaml"
    head = "candidate: x\neffective: 2027-01-01\nproposed_by: me\nwhy: to see\nchanges:\n"
    candidate.write_text(head + "  - scale: {model: per-second-video}\n    factor: 2\n")
    promotion(folder, candidate, date(2026, 11, 22)).write()
    assert "2027-01-01" in (tmp_path / "elsewhere" / SECOND).read_text()
    assert (folder / "video").is_symlink()


def at_head(folder: Path) -> RateCard:
    return RateCard(load_revision(find_revision(folder, "HEAD")))


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "links")


def test_a_revision_follows_the_links_that_it_holds(tmp_path: Path) -> None:
    folder = repository(tmp_path, FILES)
    (tmp_path / "elsewhere").mkdir()
    (folder / SECOND).rename(tmp_path / "elsewhere" / SECOND)
    (folder / "tokens.yaml").rename(tmp_path / "tokens.txt")
    (folder / "video").symlink_to("../near")
    (tmp_path / "near").symlink_to("elsewhere")
    (folder / "tokens.yaml").symlink_to("../tokens.txt")
    (folder / ".hidden.yaml").symlink_to("tokens.yaml")
    commit(folder)
    assert at_head(folder).digest == card_of(FILES).digest
    assert at_head(folder).tables.files["per-second-video"] == f"video/{SECOND}"


def test_hidden_names_of_a_revision_are_not_read(tmp_path: Path) -> None:
    folder = repository(tmp_path, {**FILES, f".old/{SECOND}": FILES[SECOND], f".{SECOND}": FILES[SECOND]})
    assert at_head(folder).digest == card_of(FILES).digest


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("..", "is a link to a folder that leads back to it"),
        ("nowhere", "is a link to nothing: pricing_tables/nowhere is not in the repository"),
        ("/etc", "is a link out of the repository, to /etc"),
        ("../../outside", "is a link out of the repository, to ../../outside"),
        ("link", "is a link that leads back to itself"),
    ],
)
def test_a_link_of_a_revision_that_cannot_be_followed_is_a_fault(tmp_path: Path, target: str, words: str) -> None:
    folder = repository(tmp_path, FILES)
    (folder / "link").symlink_to(target)
    commit(folder)
    with pytest.raises(TableError) as caught:
        at_head(folder)
    (fault,) = caught.value.faults
    assert str(fault).startswith(f"HEAD:link:1: {words}")


def test_the_guard_sees_a_model_that_was_behind_a_link(tmp_path: Path) -> None:
    folder = repository(tmp_path, FILES)
    (tmp_path / "elsewhere").mkdir()
    (folder / SECOND).rename(tmp_path / "elsewhere" / SECOND)
    (folder / "video").symlink_to("../elsewhere")
    commit(folder)
    (folder / "video").unlink()
    done = CliRunner().invoke(main, ["check", str(folder), "--against", "HEAD"])
    assert done.exit_code == 1
    assert "model 'per-second-video' vanished" in done.stdout
