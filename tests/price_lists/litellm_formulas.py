"""What an entry of litellm says that a usage costs, by its key names and fractions: nothing here is of ratecard.

The rules are those of docs/import-litellm.md. A price is a key of the entry: what is counted, `_above_200k_tokens`
where the prompt is longer, and the service tier as its last word.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from functools import partial
from typing import Any

INPUT, OUTPUT = "input_cost_per_token", "output_cost_per_token"
READ, WRITE = "cache_read_input_token_cost", "cache_creation_input_token_cost"
HOUR = f"{WRITE}_above_1hr"
REASONING, IMAGES = "output_cost_per_reasoning_token", "output_cost_per_image_token"
OF_PARTS = {
    "input_audio": "input_cost_per_audio_token",
    "input_image": "input_cost_per_image_token",
    "input_video": "input_cost_per_video_token",
    "output_audio": "output_cost_per_audio_token",
    "output_image": IMAGES,
    "output_video": "output_cost_per_video_token",
    "output_reasoning": REASONING,
}
TIERS = ("priority", "flex", "balanced", "ultrafast")
COUNTS = {
    "input_cost_per_character": "character",
    "output_cost_per_character": "output_character",
    "cost_per_second": "second",
    "input_cost_per_second": "second",
    "output_cost_per_second": "second",
    "input_cost_per_audio_per_second": "input_audio_second",
    "input_cost_per_video_per_second": "input_video_second",
    "output_cost_per_video_per_second": "video_second",
    "input_cost_per_image": "input_image",
    "output_cost_per_image": "image",
    "input_cost_per_pixel": "pixel",
    "output_cost_per_pixel": "pixel",
    "input_cost_per_query": "query",
    "input_cost_per_request": "request",
    "input_cost_per_text_message": "text_message",
    "ocr_cost_per_page": "page",
    "ocr_cost_per_credit": "ocr_credit",
    "annotation_cost_per_page": "annotated_page",
    "code_interpreter_cost_per_session": "session",
    "google_maps_grounding_cost_per_query": "maps_search",
    "citation_cost_per_token": "citation_token",
}


class RefusedError(Exception):
    """What the page says of a usage that has no price."""


class Formula:
    """The prices of one entry, whose numbers are text."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.entry = entry
        self.ranges = entry.get("tiered_pricing") or []

    def price(self, key: str, above: str = "", tier: str = "") -> Fraction | None:
        """The price of a key for longer prompts, in a tier; None where the entry has none."""
        name = key + (f"_above_{above}_tokens" if above else "") + (f"_{tier}" if tier else "")
        value = self.entry.get(name)
        return None if value is None else Fraction(str(value))

    def thresholds(self, tier: str, *keys: str) -> list[tuple[int, str]]:
        """Return the thresholds above which prompts have other prices: in tokens, and as the entry writes them."""
        suffix = f"_{tier}" if tier else ""
        found = {
            match[1]
            for name, value in self.entry.items()
            for key in keys
            if value is not None and (match := re.fullmatch(rf"{key}_above_(\d+k?)_tokens{suffix}", name))
        }
        return sorted((int(words.removesuffix("k")) * (1_000 if words.endswith("k") else 1), words) for words in found)

    def crossed(self, prompt: int, tier: str, *keys: str) -> list[str]:
        """The thresholds that a prompt has crossed; of xAI, one counts itself."""
        least = 0 if self.entry["litellm_provider"] == "xai" else 1
        return [words for edge, words in self.thresholds(tier, *keys) if prompt >= edge + least]

    def of_prompt(self, key: str, prompt: int, tier: str = "") -> Fraction | None:
        """The price of a key: that of the tier, else of none; for each threshold crossed in the same way."""
        found = first(self.price(key, tier=tier) if tier else None, self.price(key))
        for words in self.all_crossed(prompt, tier):
            longer = self.price(key, words, tier) if tier else None
            found = first(longer, self.price(key, words), found)
        return found

    def all_crossed(self, prompt: int, tier: str) -> list[str]:
        """The thresholds of any price of tokens that a prompt has crossed, of no tier and of one."""
        keys = (INPUT, OUTPUT, READ, WRITE, HOUR)
        words = dict.fromkeys((*self.crossed(prompt, "", *keys), *(self.crossed(prompt, tier, *keys) if tier else ())))
        return sorted(words, key=lambda each: int(each.removesuffix("k")) * (1_000 if each.endswith("k") else 1))

    def of_range(self, key: str, prompt: int) -> Fraction | None:
        """A price of `tiered_pricing`, in the range of the prompt."""
        held = next(
            each for each in reversed(self.ranges) if prompt > Fraction(each["range"][0]) or each is self.ranges[0]
        )
        if key == OUTPUT:
            return first(number(held.get(OUTPUT)), self.price(OUTPUT))
        if not any(key in each for each in self.ranges):
            return None
        if key == REASONING:
            return first(number(held.get(key)), self.of_range(OUTPUT, prompt))
        return first(number(held.get(key)), number(held[INPUT]))

    def input(self, prompt: int, tier: str) -> Fraction | None:
        """The price of the prompt."""
        if self.ranges:
            return self.of_range(INPUT, prompt)
        return self.batch(INPUT, prompt) if tier == "batches" else self.of_prompt(INPUT, prompt, tier)

    def output(self, prompt: int, tier: str) -> Fraction | None:
        """The price of what is made; where it has none, that of images made."""
        if self.ranges:
            return self.of_range(OUTPUT, prompt)
        base = first(self.price(OUTPUT, tier=tier) if tier not in ("", "batches") else None, self.price(OUTPUT))
        by_images = (
            not base and not any(name.startswith(f"{OUTPUT}_above") for name in self.entry) and self.price(IMAGES)
        )
        if tier == "batches":
            found = self.batch(OUTPUT, prompt)
            if found is None and by_images:
                raise RefusedError("a batch")
            return found
        return by_images or self.of_prompt(OUTPUT, prompt, tier)

    def batch(self, key: str, prompt: int) -> Fraction | None:
        """The price of a batch: its own, else half of the standard one. Beyond its last threshold it is not known."""
        own = self.price(key, tier="batches")
        if own is None and key in (READ, WRITE) and self.price(INPUT, tier="batches") is not None:
            return None
        changes = self.changes(key)
        known = self.thresholds("batches", key) if own is not None else []
        least = 0 if self.entry["litellm_provider"] == "xai" else 1
        if any(prompt >= edge + least and edge > (known[-1][0] if known else 0) for edge in changes):
            raise RefusedError("a batch")
        if own is None:
            standard = self.price(key)
            return None if standard is None else standard / 2
        for _, words in known:
            own = first(
                self.price(key, words, "batches") if words in self.crossed(prompt, "batches", key) else None, own
            )
        return own

    def changes(self, key: str) -> list[int]:
        """The thresholds at which the standard price of a key is another one."""
        found, before = [], self.price(key)
        for edge, words in self.thresholds("", key):
            if (after := self.price(key, words)) != before:
                found.append(edge)
                before = after
        return found

    def cached(self, prompt: int, tier: str) -> Fraction | None:
        """The price of what is read from a cache; without one, that of the prompt."""
        if self.ranges:
            return first(self.of_range(READ, prompt), self.input(prompt, tier))
        if tier == "batches":
            self.refuse_longer(READ, prompt)
            return first(self.batch(READ, prompt), self.input(prompt, tier))
        share = self.entry["litellm_provider"] == "fireworks_ai" and self.price(INPUT)
        return first(self.of_prompt(READ, prompt, tier), share / 2 if share else None, self.input(prompt, tier))

    def refuse_longer(self, key: str, prompt: int) -> None:
        """Refuse a batch beyond a threshold of the standard price, where the batch has no price of the key's own."""
        least = 0 if self.entry["litellm_provider"] == "xai" else 1
        known = [edge for edge, _ in self.thresholds("batches", key if self.price(key, tier="batches") else INPUT)]
        if any(prompt >= edge + least and edge > (known[-1] if known else 0) for edge in self.changes(key)):
            raise RefusedError("a batch")

    def written(self, prompt: int, tier: str) -> Fraction | None:
        """The price of writing into a cache; without one, that of the prompt."""
        if self.ranges:
            return first(self.of_range(WRITE, prompt), self.input(prompt, tier))
        if tier == "batches":
            self.refuse_longer(WRITE, prompt)
            return first(self.batch(WRITE, prompt), self.input(prompt, tier))
        return first(self.of_prompt(WRITE, prompt, tier), self.input(prompt, tier))

    def written_for_an_hour(self, prompt: int, tier: str) -> Fraction | None:
        """The price of writing for an hour; without one, that of writing. A batch has none, if it differs."""
        if self.ranges:
            return first(self.of_range(HOUR, prompt), self.written(prompt, tier))
        if tier == "batches":
            if self.price(HOUR) is not None and self.price(HOUR) != self.price(WRITE):
                raise RefusedError("a batch")
            return self.written(prompt, tier)
        found = first(self.price(HOUR, tier=tier) if tier else None, self.price(HOUR))
        for words in self.all_crossed(prompt, tier):
            found = first(self.price(HOUR, words, tier), found)
        return first(found, self.written(prompt, tier))

    def part(self, bucket: str, prompt: int, tier: str, peak: Mapping[str, Fraction]) -> Fraction | None:
        """The price of audio, images, video or reasoning; without one, that of the prompt or of what is made."""
        key, whole = OF_PARTS[bucket], self.input if bucket.startswith("input") else self.output
        if peak and self.price(key) is None:
            return peak.get(INPUT if bucket.startswith("input") else OUTPUT)
        if self.ranges:
            own = self.of_range(key, prompt) if key == REASONING else None
            return first(own, self.price(key), whole(prompt, tier))
        if tier == "batches":
            half = self.price(IMAGES) if key == IMAGES else None
            own = first(self.price(key, tier=tier), half / 2 if half is not None else None)
            return own if own is not None else whole(prompt, tier)
        if key == REASONING:
            if not any(name.startswith(REASONING) for name in self.entry):
                return whole(prompt, tier)
            of_tier = whole(prompt, tier) if tier and self.price(OUTPUT, tier=tier) is not None else None
            return first(self.price(key, tier=tier) if tier else None, of_tier, self.price(key), whole(prompt, tier))
        own = self.price(key, tier=tier) if tier and bucket.startswith("input") else None
        return first(own, self.price(key), whole(prompt, tier))

    def tokens(self, counts: Mapping[str, int], tier: str, instant: datetime, *, explicit: bool) -> Fraction:
        """Return the price of tokens; the counts are inclusive, and have at most one part."""
        prompt, left = counts["input"], dict(counts)
        hour, read, write = (left.pop(name, 0) for name in ("cache_write_1h", "cache_input", "cache_write"))
        parts = {name: left.pop(name) for name in OF_PARTS if name in left}
        inputs = sum(count for name, count in parts.items() if name.startswith("input"))
        outputs = sum(parts.values()) - inputs
        peak = self.off_peak(instant)
        of_cache = self.price("explicit_cache_read_input_token_cost") if explicit else peak.get(READ)
        lines: list[tuple[int, Callable[[], Fraction | None]]] = [
            (counts["input"] - read - write - inputs, lambda: first(peak.get(INPUT), self.input(prompt, tier))),
            (counts["output"] - outputs, lambda: first(peak.get(OUTPUT), self.output(prompt, tier))),
            (read, lambda: first(of_cache, None if READ in self.entry else peak.get(INPUT), self.cached(prompt, tier))),
            (write - hour, lambda: first(peak.get(WRITE), self.written(prompt, tier))),
            (hour, lambda: self.written_for_an_hour(prompt, tier)),
            *((count, partial(self.part, name, prompt, tier, peak)) for name, count in parts.items()),
        ]
        total = Fraction(0)
        for count, price in lines:
            if count:
                amount = price()
                if amount is None:
                    raise RefusedError("no price of the input or output")
                total += count * amount
        return total

    def off_peak(self, instant: datetime) -> dict[str, Fraction]:
        """The prices of some hours that hold at an instant."""
        said = self.entry.get("off_peak_pricing") or {}
        clock = f"{instant:%H:%M}"
        for window in said.get("windows", ()):
            hours = [window["hours_utc"]] if isinstance(window["hours_utc"], str) else window["hours_utc"]
            days = [int(day) for day in window.get("weekdays", range(1, 8))]
            ends = ((begin, "24:00" if end == "00:00" else end) for begin, end in (each.split("-") for each in hours))
            if instant.isoweekday() in days and any(begin <= clock < end for begin, end in ends):
                return {name: Fraction(value) for name, value in said.items() if name != "windows"}
        return {}

    def factors(self) -> Iterator[tuple[str, str, Fraction]]:
        """Yield the factors on all tokens: a condition, its value, the factor."""
        specific = self.entry.get("provider_specific_entry") or {}
        for name, value, factor in (
            ("data_residency", "eu", self.entry.get("regional_processing_uplift_multiplier_eu")),
            ("data_residency", "us", self.entry.get("regional_processing_uplift_multiplier_us")),
            ("vertex_location", "regional", self.entry.get("regional_endpoint_uplift_multiplier")),
            ("inference_geo", "us", specific.get("us")),
            ("speed", "fast", specific.get("fast")),
        ):
            if factor is not None:
                yield name, value, Fraction(factor)

    def meters(self) -> dict[str, Fraction]:
        """Return the meters with their prices; if several keys have one meter, the price that is not zero."""
        found: dict[str, Fraction] = {}
        for key in COUNTS:
            if (price := self.price(key)) is not None:
                meter = COUNTS[key]
                if key == "output_cost_per_second" and self.entry.get("mode") == "video_generation":
                    meter = "video_second"
                made = self.entry.get("mode") in ("image_generation", "image_edit")
                if key == "input_cost_per_image" and made and self.price("output_cost_per_image") is None:
                    meter = "image"
                found[meter] = found.get(meter) or price
        searches = self.entry.get("search_context_cost_per_query")
        return found | ({"web_search": Fraction(searches["search_context_size_medium"])} if searches else {})


def number(value: Any) -> Fraction | None:
    """A value of the list as a fraction."""
    return None if value is None else Fraction(value)


def first(*prices: Fraction | None) -> Fraction | None:
    """The first of these that is there."""
    return next((price for price in prices if price is not None), None)
