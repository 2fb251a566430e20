"""Requests that people worked by hand, from the tables, as examples."""

from typing import Any

from ratecard.price_book import PriceBook
from ratecard.requests.text_body import body_of_text
from ratecard.tables.video import VideoExample
from ratecard.words.money import text


def video_examples(prices: PriceBook) -> dict[str, Any]:
    """One worked request of every family of video models, by the model's id."""
    found: dict[str, Any] = {}
    families = set()
    for model, version in prices.in_effect_all("video"):
        family = prices.card.tables.families[model.model]
        example = next((each for each in version.examples if isinstance(each, VideoExample) and not each.source), None)
        if example and family not in families:
            families.add(family)
            value = {"model": model.model} | body_of_text(example.request)
            summary = f"{model.name}: {text(example.total)} {model.currency}"
            found[model.model] = {"summary": summary, "value": value}
    return found


def audio_examples(prices: PriceBook) -> dict[str, Any]:
    """A request of every kind of audio model."""
    fields = {"speech": {"character_count": 1000}, "transcription": {"duration_seconds": 60}, "music": {}}
    return {
        type_: {"summary": model.name, "value": {"model": model.model, **count}}
        for type_, count in fields.items()
        for model, _ in list(prices.in_effect_all(type_))[:1]
    }
