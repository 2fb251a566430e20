"""The laws as functions: what a broken one says, and to which models each applies."""

import shutil
from datetime import date
from pathlib import Path

import pytest
from hypothesis import strategies as st

import ratecard
from ratecard import RateCard
from ratecard.load.folder import read_folder, tables_from
from ratecard.testing import LAWS, BrokenLawError, Case, Law, Request, check
from ratecard.testing.case import expect
from ratecard.testing.laws.any_quote import numbers_at
from ratecard.testing.plugin import checks_of
from shipped import CARD
from token_tables import by_tokens, family, text_model

BOOK = CARD.at(date(2026, 9, 29))
KLING = Case(BOOK, "kling-o3-pro-text-to-video", read_folder())
SOUND = Path(__file__).parent.parent / "tables" / "sound"


def test_every_law_has_a_name_and_a_sentence() -> None:
    assert len({law.name for law in LAWS}) == len(LAWS) > 30
    for law in LAWS:
        assert "_" not in law.name
        assert law.statement.endswith(".")
        assert "\n" not in law.statement


def test_every_law_applies_to_a_shipped_model_and_none_to_all_but_a_few() -> None:
    cases = [Case(BOOK, model.model) for model, _ in BOOK._in_effect_all()]
    assert [law.name for law in LAWS if not any(map(law.applies, cases))] == []


@pytest.mark.parametrize("path", sorted(SOUND.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_law_holds_on_a_sound_table(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / path.name)
    files = read_folder(tmp_path)
    for each in checks_of(RateCard(tables_from(files)), files, max_examples=5):
        each.run()


@pytest.mark.parametrize(
    ("refused", "rates"),
    [
        ("input", "- {tokens: [input_audio, cache_input], rate: 3}\n- {tokens: output, rate: 5}"),
        ("output", "- {tokens: input, rate: 3}\n- {tokens: input, above: 1000, rate: 2}"),
    ],
)
def test_every_law_holds_where_one_side_has_no_price(refused: str, rates: str) -> None:
    table = family(text_model("m", by_tokens(rates, f"without_rate: {{{refused}: refuse}}")))
    files = {"m.yaml": table.encode()}
    for each in checks_of(RateCard(tables_from(files)), files, max_examples=5):
        each.run()


def test_a_broken_law_shows_the_request_its_lines_and_the_yaml() -> None:
    def five_seconds_are_free(case: Case, data: st.DataObject) -> None:
        """Five seconds cost nothing."""
        asked = case.ask(Request({"model": case.model, "duration": "5s", "audio": data.draw(st.booleans())}))
        expect(asked.exact == 0, "Five seconds have a price", asked)

    with pytest.raises(BrokenLawError) as broken:
        check(Law(five_seconds_are_free, lambda case: True), KLING)
    words = str(broken.value).splitlines()
    source = BOOK.quote_video({"model": KLING.model, "duration": "5s", "audio": False}).lines[0].source
    assert words == [
        "Five seconds have a price",
        '  {"model": "kling-o3-pro-text-to-video", "duration": "5s", "audio": false}',
        "    kling-o3-pro-text-to-video-duration-rate-5s: 5 video_second x 0.1232 = 0.6160",
        f"      {source}: - {{audio: false, rate: 0.1232}}",
        "    total 0.62 USD, exact 0.6160",
    ]


def test_a_valid_request_that_is_refused_breaks_a_law() -> None:
    with pytest.raises(BrokenLawError, match=r"A valid request was refused: (?s:.*)duration: Required(?s:.*)kling"):
        KLING.ask(Request({"model": KLING.model}))


def test_an_error_of_the_library_says_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratecard.PriceBook, "quote_video", lambda *_, **__: [][0])
    with pytest.raises(IndexError) as raised:
        KLING.ask(Request({"model": KLING.model}))
    assert raised.value.__notes__ == [f'asked for {KLING!r}:\n  {{"model": "kling-o3-pro-text-to-video"}}']


def test_a_line_is_shown_where_its_table_is_known() -> None:
    assert KLING.shown("surcharges.yaml:4") == "surcharges.yaml:4: family: surcharges"
    for source in ("video/nothing.yaml:5", "surcharges.yaml:0", "surcharges.yaml:9999", "?"):
        assert KLING.shown(source) == source
    assert Case(BOOK, KLING.model).shown("surcharges.yaml:4") == "surcharges.yaml:4"


def test_every_law_holds_without_the_files_of_the_tables() -> None:
    case = Case(BOOK, KLING.model)
    for law in LAWS:
        if law.applies(case):
            check(law, case, max_examples=2)


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("- {rate: 0.10}", ["0.10"]),
        ('- {"rate": "0.10"}', ["0.10"]),
        ("rate: 0.10  # was 0.20", ["0.10"]),
        ("[{audio: true, rate: 1}, {audio: false, rate: 2}]", ["1", "2"]),
        ("- rate:\n    0.5", ["0.5"]),
        ("- {rate: *low}\n\n\n  other: &low 0.7", ["0.7"]),
        ("- {rate: free}", []),
        ("- {price: 1}\n- {rate: 2}", []),
    ],
)
def test_a_rate_is_read_as_a_person_wrote_it(written: str, numbers: list[str]) -> None:
    case = Case(BOOK, KLING.model, {"a.yaml": written.encode()})
    assert [str(number) for number in numbers_at(case, "a.yaml:1")] == numbers


def test_an_rpc_table_that_is_not_charged_obeys_no_law(tmp_path: Path) -> None:
    text = (SOUND / "rpc_credits.yaml").read_text(encoding="utf-8")
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "b.yaml").write_text(text.replace("crypto-rpc", "other-rpc"), encoding="utf-8")
    prices = ratecard.load_rate_card(tmp_path).at(date(2026, 10, 1))
    applying = {name: sum(law.applies(Case(prices, name)) for law in LAWS) for name in ("crypto-rpc", "other-rpc")}
    assert applying["crypto-rpc"] > 10
    assert applying["other-rpc"] == 0


def test_a_sheet_with_a_cell_without_a_price_breaks_a_law(tmp_path: Path) -> None:
    text = (SOUND / "image_upscale.yaml").read_text(encoding="utf-8").split("          - charge: upscale")[0]
    text = text.replace("type: image", "type: upscale") + "        rounding: none\n        examples:\n"
    (tmp_path / "a.yaml").write_text(f"{text}          - {{usage: {{}}, total: 0.01}}\n", encoding="utf-8")
    prices = ratecard.load_rate_card(tmp_path)._unproved.at(date(2026, 10, 1))
    with pytest.raises(
        BrokenLawError, match="The price sheet of image-upscale-image on 2026-10-01 has a cell without a"
    ):
        _ = Case(prices, "image-upscale-image").cells
