"""The import of genai-prices against its own calculation: `make test-imports`, where the package is installed."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

import ratecard
from ratecard.price_lists.genai_prices import installed_list
from ratecard.price_lists.write import Imported, import_list
from ratecard.tables.card import meaning

genai_prices = pytest.importorskip("genai_prices", reason="genai-prices is not installed: see make test-imports")
snapshot = pytest.importorskip("genai_prices.data_snapshot")
units = pytest.importorskip("genai_prices.data_units").unit_data

TODAY = date(2026, 11, 20)
USAGES = int(os.environ.get("USAGES", "5000"))
SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Market:
    """The folder of an import, its card, and what the import said."""

    folder: Path
    card: ratecard.RateCard
    done: Imported


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Market:
    folder = tmp_path_factory.mktemp("market") / "genai"
    done = import_list(installed_list(), folder, effective=TODAY, checked=TODAY)
    return Market(folder, ratecard.load_rate_card(folder), done)


def every_model() -> Iterator[tuple[Any, Any]]:
    for provider in snapshot.get_snapshot().providers:
        for model in provider.models:
            yield provider, model


def prices_of(model: Any) -> list[dict[str, Any]]:
    """All prices that a model has, whenever they hold."""
    listed = [each.prices for each in model.prices] if isinstance(model.prices, list) else [model.prices]
    listed += [each.prices for each in model.price_variants or ()]
    return [{key: value for key, value in vars(each).items() if value is not None} for each in listed]


def test_every_priced_model_is_written_or_named_with_the_reason(market: Market) -> None:
    priced = {f"{provider.id}/{model.id}" for provider, model in every_model() if any(prices_of(model))}
    left_out = {f"{each.provider}/{each.id}": each.reason for each in market.done.left_out}
    assert market.card.tables.models.keys() | left_out.keys() == {
        f"{provider.id}/{model.id}" for provider, model in every_model()
    }
    assert not market.card.tables.models.keys() & left_out.keys()
    # The others have no exact price: their prices come from floats.
    reasons = {name: reason for name, reason in left_out.items() if name in priced}
    assert reasons.keys() == {f"{each.provider}/{each.id}" for each in market.done.inexpressible}
    assert set(reasons.values()) <= {"its rates have the noise of a float"}, reasons
    assert len(reasons) < len(priced) / 500


PLAIN = {"input_mtok", "output_mtok", "cache_read_mtok"}
EQUAL, BOTH, WRONG = "equal", "both refuse", "wrong"
# The rules of docs/import.md for prices of genai-prices that we refuse, by our words.
RULES = {
    "Invalid enum value": "a condition that the list does not price for this model then",
    "Unrecognized key(s) in object: 'tokens'": "tokens of a model that has prices of other counts only",
    "No price is known for": "a count that has no price",
    "overlap. Count": "two counts that overlap, without the count of what is in both",
    "Number must be less than or equal to": "a part that is more than its whole",
    "not clear by itself: give input_": "tokens that are made, without the count of those of the prompt",
}


def verdict(ours: Any, theirs: Any) -> str:
    """The rule by which two prices, or the words of refusals, differ; or that they do not, or are wrong."""
    if isinstance(theirs, Decimal) and isinstance(ours, Decimal):
        return EQUAL if abs(ours - theirs) <= max(theirs * Decimal("1e-15"), Decimal("1e-12")) else WRONG
    if isinstance(ours, Decimal):
        return WRONG
    if not isinstance(theirs, Decimal):
        return BOTH
    return next((rule for words, rule in RULES.items() if any(words in message for message in ours)), WRONG)


class Usages:
    """Random usages of a model: what it has prices of, and at times what it has not."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.by_price = {unit["price_key"]: key for key, unit in units.items()}
        self.of = {key: set(unit["dimensions"].items()) for key, unit in units.items()}

    def instant(self, model: Any) -> datetime:
        """An instant, often at an edge of the model's dates or hours."""
        constraints = [each.constraint for each in (model.prices if isinstance(model.prices, list) else ())]
        constraints += [each.constraint for each in model.price_variants or ()]
        days = [each.start_date for each in constraints if hasattr(each, "start_date")]
        edges = [t for each in constraints if hasattr(each, "start_time") for t in (each.start_time, each.end_time)]
        found = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=self.random.randrange(3 * 365 * 86400))
        if days and self.random.random() < 0.5:
            day = self.random.choice(days)
            found = datetime(day.year, day.month, day.day, tzinfo=UTC) + self.random.choice(
                (-SECOND, 0 * SECOND, SECOND)
            )
        elif edges and self.random.random() < 0.7:
            edge = self.random.choice(edges)
            found = found.replace(hour=edge.hour, minute=edge.minute, second=0)
            found += self.random.choice((-SECOND, 0 * SECOND, SECOND))
        elif self.random.random() < 0.3:
            found = datetime(2026, 11, 20, 12, tzinfo=UTC)
        return found

    def context(self, model: Any, at: datetime) -> dict[str, str]:
        """Conditions, most of them such as the model has prices for at that instant."""
        known: dict[str, list[str]] = {}
        for each in model.price_variants or ():
            for name, value in each.when.items():
                if each.constraint is None or each.constraint.active(at) or self.random.random() < 0.1:
                    known.setdefault(name, []).append(value)
        found = {name: self.random.choice(values) for name, values in known.items() if self.random.random() < 0.7}
        if self.random.random() < 0.03:
            found["service_tier"] = self.random.choice(("flex", "scale", "standard", "auto"))
        return found

    def usage(self, model: Any, at: datetime, context: dict[str, str]) -> dict[str, Any]:
        prices = {key: value for key, value in vars(model.get_prices(at, context)).items() if value is not None}
        keys = {self.by_price[key] for key in prices} - {"requests"}
        if self.random.random() < 0.2:
            others = [key for key in units if key.endswith("tokens") or "searches" in key]
            keys |= {self.random.choice(others)}
        if "input_tokens" in keys and self.random.random() < 0.9:
            kept = ("input_tokens", "output_tokens")
            keys = {key for key in sorted(keys) if key in kept or self.random.random() < 0.8}
        starts = sorted({tier.start for price in prices.values() for tier in getattr(price, "tiers", ())})
        # Counts that contain another one are counted too, and so is the part that two counts share.
        for key in sorted(keys):
            keys |= {whole for whole, of in self.of.items() if of < self.of[key]}
        for one in sorted(keys):
            for other in sorted(keys - {one}):
                joined = self.of[one] | self.of[other]
                if len({name for name, _ in joined}) == len(joined) and self.random.random() < 0.95:
                    keys |= {key for key, of in self.of.items() if of == joined}
        found: dict[str, Any] = {}
        for key in sorted(keys, key=lambda key: (-len(self.of[key]), key)):
            parts = sum(found[part] for part in found if self.of[key] < self.of[part])
            own: int | Decimal = self.random.choice(
                (0, 1, 7, self.random.randrange(10**4), self.random.randrange(10**6))
            )
            if key == "input_tokens" and starts and self.random.random() < 0.7:
                own = max(0, self.random.choice(starts) + self.random.choice((-1, 0, 1)) - parts)
            if key.endswith("seconds") and not parts:
                own = self.random.choice((own, Decimal(self.random.randrange(10**6)) / 1000))
            found[key] = own + parts
        if self.random.random() < 0.02:
            found[self.random.choice(list(found))] = 1
        return found


def priced_by_peer(provider: Any, model: Any, usage: dict[str, Any], at: datetime, context: dict[str, str]) -> Any:
    try:
        priced = model.calc_price(usage, provider, genai_request_timestamp=at, price_context=context)
        return Decimal(priced.total_price)
    except ValueError as error:
        return str(error)


def priced_by_us(
    card: ratecard.RateCard, name: str, usage: dict[str, Any], at: datetime, context: dict[str, Any]
) -> Any:
    try:
        return card.at(at).rate(ratecard.usage_from("genai-prices", usage, model=name, **context)).total
    except ratecard.QuoteError as error:
        return [message for _, message in error.problems] or [str(error)]


def test_random_usages_cost_what_genai_prices_says(market: Market) -> None:
    random = Random(20261120)  # noqa: S311 (no secret)
    usages = Usages(random)
    models = [each for each in every_model() if f"{each[0].id}/{each[1].id}" in market.card.tables.models]
    # Models with more data are drawn more often.
    rich = [each for each in models if isinstance(each[1].prices, list) or each[1].price_variants]
    rich += [each for each in models if not {key for found in prices_of(each[1]) for key in found} <= PLAIN]
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(USAGES):
        provider, model = random.choice((models, rich)[number % 2])
        at = usages.instant(model)
        context = usages.context(model, at)
        usage = usages.usage(model, at, context)
        theirs = priced_by_peer(provider, model, usage, at, context)
        ours = priced_by_us(market.card, f"{provider.id}/{model.id}", usage, at, context)
        seen[verdict(ours, theirs)] += 1
        if verdict(ours, theirs) == WRONG:
            wrong.append(f"{provider.id}/{model.id} {usage} {context} {at}: ours {ours}, theirs {theirs}")
    assert not wrong, "\n".join(wrong[:20])
    assert seen[EQUAL] > USAGES * 0.9, seen


def test_the_page_names_every_rule() -> None:
    page = (Path(__file__).parents[2] / "docs" / "import.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES.values() if f"| {rule} |" not in page] == []


@pytest.mark.parametrize("name", ["whisper-large-v3", "whisper-large-v3-turbo"])
@pytest.mark.parametrize("seconds", [0, 9, 10, Decimal("10.5")])
def test_the_least_seconds_of_audio_are_those_of_the_calculation(market: Market, seconds: Any, name: str) -> None:
    """They are in the code of genai-prices, and not in its data."""
    found = [each for each in every_model() if (each[0].id, each[1].id) == ("groq", name)]
    usage, at = {"audio_seconds": seconds}, datetime(2026, 11, 20, tzinfo=UTC)
    theirs = [priced_by_peer(*each, {**usage, "input_audio_seconds": seconds}, at, {}) for each in found]
    ours = priced_by_us(market.card, f"groq/{name}", usage, at, {})
    assert [verdict(ours, each) for each in theirs] == [EQUAL]


def test_a_later_import_adds_what_is_new_by_lines(market: Market, tmp_path: Path) -> None:
    """From a list without later versions, without each seventh model, and with a model that is gone since."""
    now = installed_list()
    written = market.card.tables.models
    some = [model for model in now.models[::4] if f"{model.provider}/{model.id}" in written]
    now = replace(now, models=tuple(some), left_out=())
    kept = [model for number, model in enumerate(now.models) if number % 7]
    gone = replace(kept[0], id="gone", aliases=())
    earlier = tuple(replace(model, versions=model.versions[:1], aliases=()) for model in (*kept, gone))
    import_list(replace(now, models=earlier), tmp_path, effective=TODAY, checked=TODAY)
    before = {path.name: path.read_text(encoding="utf-8").splitlines() for path in tmp_path.glob("*.yaml")}
    done = import_list(now, tmp_path, effective=TODAY, checked=TODAY)
    assert done.retired == 1
    for name, lines in before.items():
        after = iter((tmp_path / name).read_text(encoding="utf-8").splitlines())
        assert all(line in after for line in lines), name
    card = ratecard.load_rate_card(tmp_path)
    for model in now.models:
        name = f"{model.provider}/{model.id}"
        found, wanted = card.tables.models[name].versions, written[name].versions
        assert [meaning(each) for each in found] == [meaning(each) for each in wanted], name
    again = import_list(now, tmp_path, effective=TODAY, checked=TODAY)
    assert not again.files
