"""A price list becomes a folder, and later imports add lines for what has changed."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from importlib.metadata import PackageNotFoundError
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

import ratecard
from ratecard.cli import main
from ratecard.line_items.conditions import Edge, WrittenRate, chosen
from ratecard.price_lists.lines import EVERY_LENGTH, PricedCase, amount_at, specific_rates
from ratecard.price_lists.peer import (
    UNDATED,
    LeftOut,
    PeerCharge,
    PeerCondition,
    PeerExample,
    PeerModel,
    PeerRate,
    PeerVersion,
    PriceList,
)
from ratecard.price_lists.write import Imported, import_list
from ratecard.tables.meters import Meter
from ratecard.tables.rate import Rate

DAY = date(2026, 6, 1)
LATER = date(2026, 7, 1)


def version(rate: str, effective: date = UNDATED, total: str | None = None) -> PeerVersion:
    """A version whose input costs this per million tokens."""
    rates = (PeerRate(Decimal(rate), "input"), PeerRate(Decimal(9), "output"))
    usage = {"tokens": {"input": 1_000_000, "output": 0}}
    return PeerVersion(
        effective,
        (PeerCharge("token", 1_000_000, rates),),
        (PeerExample(usage, Decimal(rate if total is None else total)),),
    )


def model(name: str, *versions: PeerVersion, provider: str = "acme", aliases: tuple[str, ...] = ()) -> PeerModel:
    return PeerModel(provider, name, versions, aliases=aliases)


def listed(*models: PeerModel, source: str = "peer 1") -> PriceList:
    return PriceList(source, models)


def add(folder: Path, prices: PriceList, effective: date = DAY) -> Imported:
    return import_list(prices, folder, effective=effective, checked=effective)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def tables(folder: Path) -> dict[str, str]:
    return {name: text for name, text in contents(folder).items() if name.endswith(".yaml")}


def price(folder: Path, name: str, day: date) -> Decimal:
    usage = {"model": name, "tokens": {"input": 1_000_000}}
    return ratecard.load_rate_card(folder).at(day).rate(usage).total


def only_new_lines(before: dict[str, str], after: dict[str, str]) -> bool:
    """Return True if every file still has its old lines, in their order."""

    def kept(old: Sequence[str], new: Iterator[str]) -> bool:
        return all(line in new for line in old)

    return all(kept(text.splitlines(), iter(after[name].splitlines())) for name, text in before.items())


def test_a_list_becomes_a_folder_of_sound_tables(tmp_path: Path) -> None:
    pages = PeerCharge(
        "page",
        1_000,
        (PeerRate(Decimal("1.50")), PeerRate(Decimal(1), conditions={"route": "acme/eu"})),
        included=Decimal(2),
        note="two are free",
    )
    rates = (
        PeerRate(Decimal("0.10"), "input"),
        PeerRate(Decimal("0.20"), "input", above=200_000),
        PeerRate(Decimal("0.05"), "input", hours=("16:30..00:30",)),
        PeerRate(Decimal("0.07"), "input", above=200_000, hours=("16:30..00:30",)),
        PeerRate(Decimal("1e-3"), "input_map"),
        PeerRate(Decimal(3), "output"),
    )
    tokens = PeerCharge("token", 1_000_000, rates, factors=(({"service_tier": "batch"}, Decimal("0.5")),))
    example = PeerExample(
        {"tokens": {"input": 1_000, "output": 0}, "counts": {"page": 3}, "route": "acme/eu"},
        Decimal("0.00105"),
        "1970-01-01T17:00:00Z",
    )
    first = PeerVersion(UNDATED, (tokens, pages), (example,))
    prices = PriceList(
        "peer 1",
        (PeerModel("acme", "Large:8b", (first,), aliases=("large",), reference="https://example.com/prices"),),
        meters=(Meter(meter="scan", every_usage=0),),
        conditions=(PeerCondition("route", ("standard", "acme/eu"), "standard"),),
        buckets={"input_map": {"direction": "input", "part": "map"}},
    )
    done = add(tmp_path / "new" / "market", prices)
    assert (done.models, done.versions, done.retired, done.left_out) == (1, 1, 0, ())
    assert done.files == ("acme.yaml", "meters.yaml")
    card = ratecard.load_rate_card(tmp_path / "new" / "market")
    assert card.digest == done.digest
    quote = card.at(DAY).rate({"model": "acme/large", "tokens": {"input": 10, "input_map": 10}, "counts": {"page": 2}})
    assert (quote.model, quote.total) == ("acme/Large:8b", Decimal("0.00000001"))
    text = contents(tmp_path / "new" / "market")["acme.yaml"]
    for line in (
        '  - model: "acme/Large:8b"',
        "      - effective: 1970-01-01",
        "        checked: 2026-06-01",
        '        source: "peer 1"',
        "        line_places: 30",
        "          # two are free",
        '              - {tokens: input, above: 200000, hours: "16:30..00:30", zone: UTC, rate: 0.07}',
        "              - {tokens: input_map, rate: 0.001}",
        "              - {service_tier: batch, factor: 0.5}",
    ):
        assert f"{line}\n" in text, text


def test_the_same_list_again_changes_nothing(tmp_path: Path) -> None:
    prices = listed(model("a", version("1")), model("b", version("2", DAY), version("3")))
    add(tmp_path, prices)
    before = tables(tmp_path)
    again = add(tmp_path, replace(prices, source="peer 2"), LATER)
    assert tables(tmp_path) == before
    assert (again.files, again.models, again.versions) == ((), 0, 0)
    assert "nothing has changed" in str(again)


def test_an_undated_change_holds_from_the_day_that_is_given(tmp_path: Path) -> None:
    add(tmp_path, listed(model("a", version("1")), model("b", version("7"))))
    before = tables(tmp_path)
    done = add(tmp_path, listed(model("a", version("2")), model("b", version("7"))), LATER)
    assert (done.models, done.versions) == (0, 1)
    assert only_new_lines(before, tables(tmp_path))
    yesterday = LATER - timedelta(days=1)
    assert [price(tmp_path, "acme/a", day) for day in (UNDATED, yesterday, LATER)] == [1, 1, 2]


def test_a_dated_change_holds_from_its_own_day(tmp_path: Path) -> None:
    add(tmp_path, listed(model("a", version("1"))))
    before = tables(tmp_path)
    past, future = date(2026, 3, 1), date(2027, 1, 1)
    done = add(tmp_path, listed(model("a", version("1"), version("2", past), version("3", future))), LATER)
    assert done.versions == 2
    assert only_new_lines(before, tables(tmp_path))
    days = (past - timedelta(days=1), past, LATER, future - timedelta(days=1), future)
    assert [price(tmp_path, "acme/a", day) for day in days] == [1, 2, 2, 2, 3]


def test_what_is_new_and_what_has_vanished(tmp_path: Path) -> None:
    add(tmp_path, replace(listed(model("a", version("1")), model("b", version("2"))), meters=(Meter(meter="scan"),)))
    before = tables(tmp_path)
    scans = PeerCharge("photo", 100, (PeerRate(Decimal(5)),))
    photo = PeerVersion(UNDATED, (scans,), (PeerExample({"counts": {"photo": 100}}, Decimal(5)),))
    prices = replace(
        listed(model("a", version("1")), model("c", photo), model("z", version("4"), provider="zeta")),
        meters=(Meter(meter="scan"), Meter(meter="photo")),
        conditions=(PeerCondition("route", ("standard", "eu"), "standard"),),
        buckets={"input_map": {"direction": "input", "part": "map"}},
    )
    done = add(tmp_path, prices, LATER)
    assert (done.models, done.versions, done.retired) == (2, 2, 1)
    assert done.files == ("acme.yaml", "meters.yaml", "units.yaml", "zeta.yaml")
    assert only_new_lines(before, tables(tmp_path))
    card = ratecard.load_rate_card(tmp_path)
    assert card.tables.models["acme/b"].retired_at(LATER)
    assert price(tmp_path, "zeta/z", LATER) == 4
    further = replace(prices.conditions[0], values=("standard", "eu", "us"))
    tools = {**prices.buckets, "output_map": {"direction": "output", "part": "map"}}
    before = tables(tmp_path)
    add(tmp_path, replace(prices, conditions=(further,), buckets=tools), LATER)
    assert only_new_lines(before, tables(tmp_path))
    meters = ratecard.load_rate_card(tmp_path).tables.meters
    assert meters.condition["route"].values == ("standard", "eu", "us")
    assert "output_map" in meters.buckets


def test_a_model_that_comes_back_is_named(tmp_path: Path) -> None:
    prices = listed(model("a", version("1")), model("b", version("2")))
    add(tmp_path, prices)
    add(tmp_path, listed(model("a", version("1"))), LATER)
    before = tables(tmp_path)
    done = add(tmp_path, prices, LATER + timedelta(days=9))
    assert tables(tmp_path) == before
    assert [each.reason for each in done.left_out] == [
        "it is retired in acme.yaml, and listed again: edit that by hand"
    ]


def test_a_model_that_vanishes_before_its_first_price_is_named(tmp_path: Path) -> None:
    add(tmp_path, listed(model("a", version("1")), model("b", version("2", LATER))))
    before = tables(tmp_path)
    done = add(tmp_path, listed(model("a", version("1"))))
    assert tables(tmp_path) == before
    assert [(each.id, each.reason) for each in done.left_out] == [
        ("b", "the list has it no more, before its first price holds on 2026-07-01: edit acme.yaml by hand")
    ]


def test_a_folder_may_have_other_files(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text("Prices of the market.", encoding="utf-8")
    assert add(tmp_path, listed(model("a", version("1")))).models == 1


def test_what_the_tables_refuse_is_left_out_whole_with_the_reason(tmp_path: Path) -> None:
    noise, wrong = version("0.18000000000000002"), version("1", total="2")
    twice = replace(version("1"), charges=(*version("1").charges, *version("1").charges))
    prices = listed(
        model("good", version("1")),
        model("noise", noise),
        model("wrong", wrong),
        model("twice", twice),
        model("good", version("2")),
        model("file", version("1"), provider="No/File"),
        *(model("file", version("1"), provider=provider) for provider in ("limits", "monthly", "vocabulary")),
    )
    done = add(tmp_path, prices)
    reasons = {f"{each.provider}/{each.id}": each.reason for each in done.left_out}
    assert reasons["acme/noise"] == "its rates have the noise of a float"
    assert (
        "acme/noise: its rates have the noise of a float (0.18000000000000002 for 0.18)\n"
        in contents(tmp_path)["left-out.txt"]
    )
    assert "the example says 2, the rates give 1" in reasons["acme/wrong"]
    assert "listed twice" in reasons["acme/twice"]
    assert reasons["acme/good"] == "the list has another model of this name before it"
    for provider in ("No/File", "limits", "monthly", "vocabulary"):
        assert reasons[f"{provider}/file"] == "its provider's name cannot be that of a file"
    assert price(tmp_path, "acme/good", DAY) == 1
    assert "acme/noise" not in contents(tmp_path)["acme.yaml"]


def test_an_example_of_a_contract_that_a_later_list_contradicts_is_told(tmp_path: Path) -> None:
    add(tmp_path, listed(model("large", version("1"))))
    (tmp_path / "contracts").mkdir()
    usage = "model: acme/large, usage: {prompt_tokens: 1000000, completion_tokens: 0}, at: 2026-08-01, total: 0.5"
    contract = f"contract: ours\naccounts: [us]\nfrom: 2026-06-01\nsource: made up\nexamples:\n  - {{{usage}}}\n"
    overrides = "overrides:\n  - {for: {model: acme/large}, percent: -50%}\n"
    (tmp_path / "contracts" / "ours.yaml").write_text(contract + overrides)
    add(tmp_path, listed(model("large", version("1"))))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    words = r"contracts/ours.yaml:6: ours: the example says 0.5, the rates give 1"
    with pytest.raises(ratecard.TableError, match=words):
        add(tmp_path, listed(model("large", version("2"))), LATER)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_name_with_spaces_of_any_kind_is_written_on_one_line(tmp_path: Path) -> None:
    assert add(tmp_path, listed(replace(model("x", version("1")), name=" X\t1B\n"))).models == 1
    assert '    name: "X 1B"\n' in contents(tmp_path)["acme.yaml"]


def test_a_list_of_which_nothing_can_be_written_leaves_a_folder_that_the_next_import_fills(tmp_path: Path) -> None:
    meters = (Meter(meter="photo", every_usage=0),)
    assert add(tmp_path, replace(listed(model("x", version("1", total="2"))), meters=meters)).files == ()
    assert [path.name for path in tmp_path.iterdir()] == ["left-out.txt"]
    assert add(tmp_path, listed(model("x", version("1")))).models == 1


def test_a_price_that_needs_other_than_new_lines_is_left_out(tmp_path: Path) -> None:
    add(tmp_path, listed(model("a", version("1")), model("b", version("1"))))
    add(tmp_path, listed(model("a", version("2")), model("b", version("1"), version("4", LATER))))
    before = tables(tmp_path)
    done = add(tmp_path, listed(model("a", version("3")), model("b", version("1"))))
    assert tables(tmp_path) == before
    reasons = {each.id: each.reason for each in done.left_out}
    assert reasons["a"].startswith("acme.yaml:9: other prices from 2026-06-01 on than the list has now")
    assert "other prices from 2026-07-01 on" in reasons["b"]


def test_an_older_price_is_added_below_a_last_line_without_an_ending(tmp_path: Path) -> None:
    add(tmp_path, listed(model("a", version("1"))))
    table = tmp_path / "acme.yaml"
    table.write_text(table.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    before, early = tables(tmp_path), UNDATED - timedelta(days=365)
    add(tmp_path, listed(model("a", version("3", early), version("1"))))
    assert only_new_lines(before, tables(tmp_path))
    assert [price(tmp_path, "acme/a", day) for day in (early, DAY)] == [3, 1]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    add(tmp_path, listed(model("a", version("1"))))
    before = tables(tmp_path)
    with pytest.raises(ratecard.TableError, match=r"acme/a is not from other\. Import into a folder of its own"):
        add(tmp_path, listed(model("a", version("2")), source="other 1"))
    assert tables(tmp_path) == before


def test_names_mean_one_model(tmp_path: Path) -> None:
    add(tmp_path, listed(model("a", version("1"), aliases=("b", "x")), model("b", version("2"), aliases=("x", "y"))))
    card = ratecard.load_rate_card(tmp_path)
    assert card.tables.aliases == {"acme/x": "acme/a", "acme/y": "acme/b"}
    done = add(tmp_path, listed(*(model(name, version("1")) for name in "ax"), model("b", version("2"))))
    assert [each.reason for each in done.left_out] == ["its name is an alias of acme/a in acme.yaml"]


def test_a_later_import_adds_new_aliases_and_names_those_of_other_models(tmp_path: Path) -> None:
    add(tmp_path, listed(model("a", version("1"), aliases=("v", "x")), model("b", version("2"))))
    before = tables(tmp_path)
    later = listed(
        model("a", version("3"), aliases=("y",)),
        model("b", version("4"), aliases=("x", "z")),
        model("c", version("5"), aliases=("v", "w")),
    )
    done = add(tmp_path, later, LATER)
    owners = {**{f"acme/{alias}": "acme/a" for alias in "vxy"}, "acme/z": "acme/b", "acme/w": "acme/c"}
    assert ratecard.load_rate_card(tmp_path).tables.aliases == owners
    assert only_new_lines(before, tables(tmp_path))
    words = "the folder has its alias as a name of another model: edit that by hand"
    assert [(each.model, str(each)) for each in done.left_out] == [
        ("acme/b", f"{words} (acme/x of acme/a in acme.yaml)"),
        ("acme/c", f"{words} (acme/v of acme/a in acme.yaml)"),
    ]
    assert add(tmp_path, later, LATER).files == ()
    file, block = tmp_path / "acme.yaml", "    aliases:\n      - acme/z\n"
    file.write_text(file.read_text(encoding="utf-8").replace(block, "    aliases: [acme/z]\n"), encoding="utf-8")
    with pytest.raises(ratecard.TableError, match="must begin with a dash and its first key, not in brackets"):
        add(tmp_path, listed(model("a", version("3")), model("b", version("4"), aliases=("z", "n"))), LATER)


@pytest.mark.parametrize("seed", range(12))
def test_from_the_day_on_prices_are_those_of_the_list(seed: int, tmp_path: Path) -> None:
    """Lists with random dates, imported one after the other on random days."""
    random = Random(seed)  # noqa: S311 (no secret)
    days = [DAY + timedelta(days=number) for number in range(40)]
    at = DAY
    for _ in range(4):
        dates = sorted(random.sample(days, random.randrange(3)))
        versions = [version(str(random.randrange(1, 4)), day) for day in (UNDATED, *dates)]
        before = tables(tmp_path)
        earlier = ratecard.load_rate_card(tmp_path) if before else None
        done = add(tmp_path, listed(model("a", *versions)), at)
        assert only_new_lines(before, tables(tmp_path))
        if done.left_out:
            assert tables(tmp_path) == before
            assert "edit these lines by hand" in done.left_out[0].reason
            assert earlier is not None
        else:
            for day in (day for day in days if day >= at):
                newest = max((each for each in versions if each.effective <= day), key=lambda each: each.effective)
                assert price(tmp_path, "acme/a", day) == newest.charges[0].rates[0].amount
        at += timedelta(days=random.randrange(1, 12))


@pytest.mark.parametrize("seed", range(40))
def test_the_most_specific_rate_is_the_price_of_its_case(seed: int) -> None:
    """Of random prices by tier, tariff and route, as the tables choose."""
    random = Random(seed)  # noqa: S311 (no secret)
    cases = []
    for tier, route in product(("", "batch", "fast"), ("", "eu")):
        edges = sorted(random.sample((10, 20, 30), random.randrange(3)))
        amounts = tuple((edge, Decimal(random.randrange(3))) for edge in (EVERY_LENGTH, *edges))
        stated = {"tier": tier, "route": route}
        cases.append(PricedCase({name: value for name, value in stated.items() if value}, amounts))
    written = [
        WrittenRate("input", Edge(each.above, ""), each.conditions, Rate(rate=each.amount, attributes={}))
        for each in specific_rates(cases)
    ]
    for case, above in product(cases, (EVERY_LENGTH, 10, 20, 30)):
        found = chosen(written, "input", above, case.conditions)
        assert found is not None
        assert found.rate.rate == amount_at(case.amounts, above)
        others = [
            each
            for each in written
            if each.edge.above <= above and each.conditions.items() <= case.conditions.items() and each is not found
        ]
        assert all(
            found.conditions.items() >= each.conditions.items() and found.edge.above >= each.edge.above
            for each in others
        )


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["import", *arguments])


def test_the_command_says_what_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = tuple(LeftOut("p", f"m{number}", "is free", priced=False) for number in range(5))
    prices = replace(listed(model("a", version("1")), model("b", version("0.18000000000000002"))), left_out=free)
    monkeypatch.setattr("ratecard.price_lists.genai_prices.installed_list", lambda: prices)
    folder = str(tmp_path / "market")
    done = run("genai-prices", "--out", folder)
    assert done.exit_code == 0, done.output
    assert f"peer 1 -> {folder}: 1 model, 1 version added to 1 file. Digest " in done.output
    assert (
        "Left out: 1 model\n  its rates have the noise of a float: acme/b\nWithout a price: 5 models\n" in done.output
    )
    assert "\n  is free: p/m0, p/m1, p/m2, and 2 more\n" in done.output
    assert f"Each is named in {folder}/left-out.txt." in done.output
    assert contents(tmp_path / "market")["left-out.txt"].splitlines()[:2] == ["p/m0: is free", "p/m1: is free"]
    strict = run("genai-prices", "--out", folder, "--strict", "--json")
    assert strict.exit_code == 1
    said = json.loads(strict.output)
    assert (said["added"], said["files"]) == ({"models": 0, "versions": 0, "retired": 0}, [])
    assert [each["model"] for each in said["left_out"]] == ["acme/b"]
    assert said["without_price"] == [f"p/m{number}" for number in range(5)]
    monkeypatch.setattr(
        "ratecard.price_lists.genai_prices.installed_list", lambda: replace(prices, models=prices.models[:1])
    )
    assert run("genai-prices", "--out", folder, "--strict").exit_code == 0


@pytest.mark.parametrize(("version", "words"), [("", "is not installed"), ("0.1.10", "0.1.10 is too old")])
def test_the_command_says_how_to_install_the_list(
    version: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def installed(name: str) -> str:
        if not version:
            raise PackageNotFoundError(name)
        return version

    for name in [name for name in sys.modules if name.startswith("genai_prices.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    monkeypatch.setattr("ratecard.price_lists.genai_prices.version_of", installed)
    done = run("genai-prices", "--out", str(tmp_path / "market"))
    assert done.exit_code == 1
    assert done.output == f"genai-prices {words}. Install it beside ratecard: pip install -U genai-prices\n"
    assert not (tmp_path / "market").exists()


def test_help_names_every_list() -> None:
    done = run("--help")
    assert done.exit_code == 0
    assert "genai-prices" in done.output


@pytest.mark.parametrize("content", ["{}", '{"error": {"message": "Too many requests"}}'])
@pytest.mark.parametrize("kind", ["litellm", "models.dev"])
def test_a_file_without_any_price_retires_nothing(kind: str, content: str, tmp_path: Path) -> None:
    sound = {
        "litellm": '{"m": {"litellm_provider": "p", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}}',
        "models.dev": '{"p": {"models": {"m": {"cost": {"input": 1, "output": 2}}}}}',
    }
    file, folder = tmp_path / "list.json", tmp_path / "market"
    for text in (sound[kind], content):
        file.write_text(text, encoding="utf-8")
        done = CliRunner().invoke(main, ["import", kind, str(file), "--out", str(folder)])
    assert done.exit_code == 1
    assert "is not a price list" in done.output
    assert ratecard.load_rate_card(folder).models["p/m"].retired is None
