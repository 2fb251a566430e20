"""What an override does to a rate: which wins, in which order they apply, and what they leave alone."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from contract_tables import TABLES, card_of, contract
from ratecard import QuoteError
from token_tables import by_tokens, family, text_model

DAY = date(2026, 11, 1)
TOKENS = {"input": 500, "cache_input": 100, "output": 10}


def rates(
    *overrides: str, tokens: dict[str, int] | None = None, model: str = "tiered", **stated: Any
) -> dict[str, str]:
    """The rate of each line of a usage of tokens under a contract with these overrides."""
    card = card_of(contract("\n".join(overrides)))
    usage = {"type": "text", "model": model, "tokens": tokens or TOKENS, **stated}
    quote = card.at(DAY, contract="acme").rate(usage)
    listed = card.at(DAY).rate(usage)
    assert [line.sku for line in quote.lines] == [line.sku for line in listed.lines]
    assert [line.list_rate for line in quote.lines] == [line.unit_rate for line in listed.lines]
    assert [line.list_source for line in quote.lines] == [line.source for line in listed.lines]
    return {line.sku.removeprefix(f"{model}-llm-").removesuffix("-mtoken"): str(line.unit_rate) for line in quote.lines}


CASES: dict[str, tuple[tuple[str, ...], dict[str, Any], str]] = {
    "nothing": ((), {}, "2 0.5 8"),
    "percent": (("- {for: {type: text}, percent: -20%}",), {}, "1.6 0.4 6.4"),
    "factor": (("- {for: {model: tiered}, factor: 1.5}",), {}, "3 0.75 12"),
    "rate": (("- {for: {model: tiered, conditions: {tokens: input}}, rate: 1.25}",), {}, "1.25 0.5 8"),
    "model over type": (
        ("- {for: {model: tiered}, percent: -50%}", "- {for: {type: text}, percent: -20%}"),
        {},
        "1 0.25 4",
    ),
    "bound keeps the discount": (
        ("- {for: {type: text}, percent: -20%}", "- {for: {model: tiered}, at_most: 5}"),
        {},
        "1.6 0.4 5",
    ),
    "at least after at most": (
        ("- {for: {type: text}, at_most: 1}", "- {for: {type: text}, at_least: 0.75}"),
        {},
        "1 0.75 1",
    ),
    "factors multiply a rate": (
        ("- {for: {model: tiered, conditions: {tokens: output}}, rate: 6}",),
        {"service_tier": "batch"},
        "1 0.25 3",
    ),
    "but not one that names their condition": (
        ("- {for: {model: tiered, conditions: {tokens: output, service_tier: batch}}, rate: 6}",),
        {"service_tier": "batch"},
        "1 0.25 6",
    ),
    "and only under it": (
        ("- {for: {model: tiered, conditions: {tokens: output, service_tier: batch}}, rate: 6}",),
        {},
        "2 0.5 8",
    ),
    "the default alone": (
        ("- {for: {model: tiered, conditions: {tokens: output, service_tier: standard}}, rate: 6}",),
        {},
        "2 0.5 6",
    ),
    "not beside the default": (
        ("- {for: {model: tiered, conditions: {tokens: output, service_tier: standard}}, rate: 6}",),
        {"service_tier": "batch"},
        "1 0.25 4",
    ),
    "percent under a condition": (
        (
            "- {for: {type: text}, percent: -10%}",
            "- {for: {type: text, conditions: {service_tier: batch}}, percent: -50%}",
        ),
        {"service_tier": "batch"},
        "0.5 0.125 2",
    ),
    "a tier": (
        ("- {for: {model: tiered, conditions: {above: 1000}}, rate: 3}",),
        {"tokens": {"input": 1001, "cache_input": 100, "output": 10}},
        "3 0.5 8",
    ),
    "not below the tier": (("- {for: {model: tiered, conditions: {above: 1000}}, rate: 3}",), {}, "2 0.5 8"),
    "the base tier": (
        ("- {for: {model: tiered, conditions: {context: base, tokens: input}}, rate: 1}",),
        {"tokens": {"input": 1001, "cache_input": 100, "output": 10}},
        "4 0.5 8",
    ),
    "a part of a line": (
        ("- {for: {model: flat, conditions: {tokens: cache_input}}, rate: 0.1}",),
        {"model": "flat"},
        "1 0.1 3",
    ),
    "except": (("- {for: {type: text, except: {model: tiered}}, percent: -20%}",), {}, "2 0.5 8"),
    "a charge": (("- {for: {type: text, charge: tokens}, percent: -20%}",), {}, "1.6 0.4 6.4"),
}


@pytest.mark.parametrize("case", CASES)
def test_an_override_makes_the_rate(case: str) -> None:
    overrides, stated, expected = CASES[case]
    assert " ".join(rates(*overrides, **stated).values()) == expected


def test_a_video_has_its_rates_after_markup_and_is_rounded_after_the_contract() -> None:
    card = card_of(contract("- {for: {family: clips, conditions: {resolution: 720p}}, rate: 0.1333}"))
    book, listed = card.at(DAY, account="a-1"), card.at(DAY, account="nobody")
    body = {"model": "clip", "duration": "5s", "resolution": "720p"}
    quote = book.quote_video(body)
    assert (quote.total, quote.exact, quote.contract) == (Decimal("0.67"), Decimal("0.6665"), "acme")
    assert listed.quote_video(body).total == Decimal("1.10")
    [line] = quote.lines
    assert (line.source, line.list_rate, line.list_source) == ("contracts/c0.yaml:7", Decimal("0.22"), "video.yaml:20")
    assert book.quote_video(body | {"resolution": "480p"}).total == Decimal("0.55")


def test_searches_are_discounted_where_they_are_named_only() -> None:
    usage = {"type": "text", "model": "flat", "tokens": {"input": 0, "output": 0}}
    for name, total in (("type: text", "0.01"), ("type: surcharge", "0.008"), ("model: web-search", "0.008")):
        card = card_of(contract(f"- {{for: {{{name}}}, percent: -20%}}"))
        assert card.at(DAY, contract="acme").surcharge("web-search", 1).total == Decimal(total)
    assert usage


def test_the_contract_holds_from_its_first_day_until_its_last() -> None:
    card = card_of(contract("- {for: {type: text}, percent: -20%}"))
    held = {
        day: card.at(date.fromisoformat(day), contract="acme").contract
        for day in ("2026-09-30", "2026-10-01", "2027-09-30", "2027-10-01")
    }
    assert held == {"2026-09-30": None, "2026-10-01": "acme", "2027-09-30": "acme", "2027-10-01": None}


def test_the_digest_of_a_quote_is_of_the_list_and_the_contract_and_that_of_the_card_of_the_list() -> None:
    plain, one = card_of(), card_of(contract("- {for: {type: text}, percent: -20%}"))
    other = card_of(contract("- {for: {type: text}, percent: -21%}"))
    body = {"model": "hidden", "duration": "5s"}
    digests = [card.at(DAY, contract="acme").quote_video(body).digest for card in (one, other)]
    assert plain.digest == one.digest == other.digest == one.at(DAY).quote_video(body).digest
    assert len({plain.digest, *digests}) == 3
    moved = card_of("# a comment\n" + contract("- {for: {type: text}, percent: -20%}", accounts="a-1, a-2"))
    assert moved.at(DAY, contract="acme").quote_video(body).digest == digests[0]


def test_a_book_under_a_contract_is_compiled_once() -> None:
    card = card_of(contract("- {for: {type: text}, percent: -20%}", accounts="a-1, a-2"))
    books = [card.at(DAY, account="a-1"), card.at(date(2026, 12, 1), account="a-2"), card.at(DAY, contract="acme")]
    assert len({id(book._compiler) for book in books}) == 1
    assert card.at(DAY)._compiler is card._compiler


def test_a_condition_narrows_a_rate_that_is_for_every_value_of_it() -> None:
    both = "\n".join(f"              - {{resolution: 720p, audio: {word}, rate: 0.2}}" for word in ("true", "false"))
    video = TABLES["video.yaml"].replace("              - {resolution: 720p, rate: 0.20}", both)
    video = video.replace("audio: none", "audio: configurable", 1)
    video = video.replace("resolution: 480p}, total: 0.55", "resolution: 480p, audio: true}, total: 0.55")
    override = contract("- {for: {model: clip, conditions: {audio: true}}, rate: 0.5}")
    prices = card_of(override, tables=TABLES | {"video.yaml": video}).at(date(2026, 10, 5), contract="acme")
    body = {"model": "clip", "duration": "5s", "resolution": "480p"}
    assert [str(prices.quote_video({**body, "audio": audio}).total) for audio in (True, False)] == ["2.50", "0.55"]


@pytest.mark.parametrize("stated", [{}, {"region": "eu"}, {"region": "us"}, {"service_tier": "batch"}])
def test_conditions_that_the_list_does_not_sell_are_refused_in_its_words(stated: dict[str, str]) -> None:
    """Of a condition without a default that a factor names only together with another one."""
    charge = by_tokens(
        "- {tokens: [input, output], rate: 2}", "factors: [{region: eu, service_tier: batch, factor: 0.5}]"
    )
    tables = {
        "meters.yaml": "conditions:\n  - {condition: region, values: [eu, us]}\n",
        "text.yaml": family(text_model("m", charge)).replace("usage: {", "usage: {region: eu, service_tier: batch, "),
    }
    card = card_of(contract("- {for: {type: text, conditions: {region: eu}}, percent: -10%}"), tables=tables)
    usage = {"type": "text", "model": "m", "tokens": {"input": 10, "output": 0}}
    sold = card.at(DAY, account="a-1").rate(usage | {"region": "eu", "service_tier": "batch"})
    assert str(sold.lines[0].unit_rate) == "0.9"
    said = []
    for prices in (card.at(DAY), card.at(DAY, account="a-1")):
        with pytest.raises(QuoteError) as refused:
            prices.rate(usage | stated)
        said.append(str(refused.value))
    assert said[0] == said[1]
