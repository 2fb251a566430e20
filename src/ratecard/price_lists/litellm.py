"""The model prices of litellm, a JSON file of entries whose keys name what is priced, for which prompts and tier.

Keys are read as litellm's own calculation reads them: what a missing one means is said below, where it is read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ratecard.base.money import multiply, total
from ratecard.price_lists.json_file import page_of, price_of, read_entries, read_list
from ratecard.price_lists.peer import (
    UNDATED,
    InexpressibleError,
    PeerCharge,
    PeerCondition,
    PeerExample,
    PeerMeter,
    PeerModel,
    PeerRate,
    PeerVersion,
    PriceList,
    without_rate,
)
from ratecard.price_lists.specific import EVERY_LENGTH, PricedCase, TierAmounts, amount_at, specific_rates
from ratecard.tables.meters import TOKEN
from ratecard.tables.windows import DAYS, window_of

_NAME = "litellm"
_MILLION = Decimal(1_000_000)
# The price of each tier is looked for in all those before it.
_MOST_TIERS = 50
_INPUT, _OUTPUT = "input_cost_per_token", "output_cost_per_token"
_READ, _WRITE = "cache_read_input_token_cost", "cache_creation_input_token_cost"
_EXPLICIT = "explicit_cache_read_input_token_cost"
_IMAGES, _REASONING = "output_cost_per_image_token", "output_cost_per_reasoning_token"
# Prices of tokens: their buckets. Only the first ones and those by lifetime depend on the length of the prompt.
_BY_LENGTH = {_INPUT: "input", _OUTPUT: "output", _READ: "cache_input", _WRITE: "cache_write"}
_BY_LIFETIME = {f"{_WRITE}_above_1hr": "cache_write_1h", f"{_WRITE}_above_12hr": "cache_write_12h"}
_PARTS = {
    "input_cost_per_audio_token": "input_audio",
    "input_cost_per_image_token": "input_image",
    "input_cost_per_video_token": "input_video",
    "cache_read_input_audio_token_cost": "cache_input_audio",
    "cache_read_input_image_token_cost": "cache_input_image",
    "cache_creation_input_audio_token_cost": "cache_write_audio",
    "output_cost_per_audio_token": "output_audio",
    "output_cost_per_video_token": "output_video",
    _IMAGES: "output_image",
    _REASONING: "output_reasoning",
}
_TOKENS = {**_BY_LENGTH, **_BY_LIFETIME, **_PARTS}
# Of these the cached prompt has a price without one in the list: this share of the input.
_CACHE_SHARES = {"fireworks_ai": Decimal("0.5")}
# Of these a threshold counts itself already.
_FROM_THE_THRESHOLD = {"xai"}

# Other prices: their meters, and the condition of a suffix.
_COUNTS = {
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
_SEARCHES = "search_context_cost_per_query"
_SIZED = {
    **dict.fromkeys(("480p", "720p", "768p", "1080p", "2k", "4k"), ("output_cost_per_second", "resolution")),
    **dict.fromkeys(("0.5K", "1K", "2K", "4K", "512", "1024", "1536"), ("output_cost_per_image", "image_size")),
}
# What multiplies every price of tokens: the condition under which it does.
_UPLIFTS = {
    "regional_processing_uplift_multiplier_eu": {"data_residency": "eu"},
    "regional_processing_uplift_multiplier_us": {"data_residency": "us"},
    "regional_endpoint_uplift_multiplier": {"vertex_location": "regional"},
}
_SPECIFIC_UPLIFTS = {"us": {"inference_geo": "us"}, "fast": {"speed": "fast"}}
# Suffixes of service tiers: the tier; batches are priced by rules of their own.
_BATCH = "batch"
_TIERS = {"priority": "priority", "flex": "flex", "balanced": "balanced", "ultrafast": "ultrafast", "batches": _BATCH}
_KEY = re.compile(rf"(?P<of>.+?)(?:_above_(?P<above>\d+k?)_tokens)?(?:_(?P<tier>{'|'.join(_TIERS)}))?")

_WHOLE_DAY = "00:00..24:00"
_WEEKDAYS = dict(enumerate(DAYS, 1))
_CONDITIONS = (
    PeerCondition(
        "service_tier",
        ("standard", *_TIERS.values()),
        "standard",
        {"default": "standard", "auto": "standard", "fast": "priority"},
    ),
    PeerCondition("data_residency", ("standard", "eu", "us"), "standard"),
    PeerCondition("vertex_location", ("global", "regional"), "global"),
    PeerCondition("search_context_size", ("medium", "low", "high"), "medium"),
    PeerCondition("cache_type", ("standard", "ephemeral"), "standard"),
    PeerCondition(
        "resolution", ("standard", *(size for size, (_, name) in _SIZED.items() if name == "resolution")), "standard"
    ),
    PeerCondition(
        "image_size", ("standard", *(size for size, (_, name) in _SIZED.items() if name == "image_size")), "standard"
    ),
)
# Keys that say nothing of a price; those that begin with `supports_` do not either.
_NO_PRICES = {
    "audio_transcription_config",
    "bedrock_converse_supports_strict_tools",
    "bedrock_output_config_effort_ceiling",
    "comment",
    "default_reasoning_effort",
    "deprecation_date",
    "gemini_audio_only_live",
    "gemini_native_audio",
    "input_dbu_cost_per_token",
    "litellm_provider",
    "max_input_tokens",
    "max_output_tokens",
    "max_tokens",
    "metadata",
    "mode",
    "output_dbu_cost_per_token",
    "output_vector_size",
    "prompt_cache_min_tokens",
    "reasoning_contexts",
    "reasoning_effort_levels",
    "reasoning_modes",
    "rpm",
    "source",
    "supported_audio_formats",
    "supported_endpoints",
    "supported_modalities",
    "supported_output_modalities",
    "supported_regions",
    "thinking_always_on",
    "token_count_framing",
    "token_count_model",
    "token_count_tokenizer",
    "tpm",
    "use_openai_responses_path",
    "uses_embed_content",
    "vertex_ai_audio_api",
}
# Prices that cannot be written, and why.
_INEXPRESSIBLE = {
    "guardrail_cost_per_unit": "its prices are of units of guardrails, which no usage counts",
}
# The same inside of provider_specific_entry.
_NOTHING_SPECIFIC = {"dashscope_video_reference_input", "volcengine_video_frames", "bedrock_invocation_schema"}


def read_litellm(path: Path) -> PriceList:
    """The price list of a file of litellm, as it is in its repository and in its package.

    Raises `RateCardError` if it is not JSON of entries by model.
    """
    return listed_entries(read_list(path, _NAME), f"{_NAME} {path.name}")


def listed_entries(entries: Mapping[str, Mapping[str, Any]], source: str) -> PriceList:
    """The price list of these entries, their numbers as decimals."""
    named = ((*named_entry(key, entry, entries), (key, entry)) for key, entry in entries.items())
    models, left_out = read_entries(named, _model)
    meters = (*dict.fromkeys((*_COUNTS.values(), "web_search")),)
    counted = tuple(PeerMeter(meter, 1 if meter == "request" else 0) for meter in meters)
    return PriceList(source, models, left_out, counted, _CONDITIONS)


def named_entry(key: str, entry: Mapping[str, Any], entries: Mapping[str, Any]) -> tuple[str, str]:
    """The provider of an entry, and its key without it, unless another entry has that."""
    provider = str(entry.get("litellm_provider") or "none")
    name = key.removeprefix(f"{provider}/")
    other = entries.get(name)
    taken = name != key and other is not None and other.get("litellm_provider") == provider
    return provider, key if taken else name


def _model(provider: str, name: str, of: tuple[str, Mapping[str, Any]]) -> PeerModel:
    """The model of a key and its entry."""
    return PeerModel(provider, name, (_Entry(*of).version(),), reference=page_of(of[1].get("source")))


class _Price(NamedTuple):
    """A key of an entry, taken apart: what it prices, for prompts above how many tokens, in which tier."""

    of: str
    above: int | None
    tier: str


class _Entry:
    """Reads one entry. Raises `InexpressibleError` for a key or a value that is not understood."""

    def __init__(self, key: str, entry: Mapping[str, Any]) -> None:
        self.mode, self.provider = entry.get("mode"), entry.get("litellm_provider")
        self.entry = {name: value for name, value in entry.items() if value is not None}
        if "litellm_provider" not in entry or key == "sample_spec":
            raise InexpressibleError("is not a model, but a rule or a description of the file", priced=False)
        self.prices: dict[_Price, Decimal] = {}
        self.sized: list[tuple[str, str, str, Decimal]] = []
        self.factors: list[tuple[dict[str, str], Decimal]] = []
        self.tiers: list[Mapping[str, Any]] = []
        self.searches: dict[str, Decimal] = {}
        self.free_images: Decimal | None = None
        self.explicit: Decimal | None = None
        self.off_peak: Mapping[str, Any] = {}
        self.notes: dict[str, str] = {}
        for name, value in self.entry.items():
            self._read(name, value)
        self.inclusive = self.provider in _FROM_THE_THRESHOLD

    def _read(self, name: str, value: Any) -> None:
        if name in _NO_PRICES or name.startswith("supports_"):
            return
        if name == _SEARCHES:
            sizes = {size.removeprefix("search_context_size_"): price for size, price in value.items()}
            self.searches = {size: price_of(name, price) for size, price in sizes.items()}
            if not {"medium"} <= sizes.keys() <= {"low", "medium", "high"}:
                raise InexpressibleError(f"{name} has no price of the size medium, or one of another size")
        elif name == "search_free_requests":
            words = f"The first {value['count']} a {value['period']} are free, of all models of {value['shared_group']}"
            self.notes["web_search"] = f"{words}: leave these out of the count."
        elif name == "web_search_billing_unit" and value == "per_query":
            self.notes.setdefault("web_search", "Each query counts, not each prompt.")
        elif name in _UPLIFTS:
            self.factors.append((_UPLIFTS[name], price_of(name, value)))
        elif name == "provider_specific_entry":
            self._read_specific(value)
        elif name == "tiered_pricing":
            self.tiers = list(value)
        elif name == "off_peak_pricing":
            self.off_peak = value
        elif name == "input_cost_per_token_cache_hit":
            if value != self.entry.get(_READ):
                raise InexpressibleError(f"{name} differs from {_READ}")
        elif name == _EXPLICIT:
            self.explicit = price_of(name, value)
        elif name in _INEXPRESSIBLE:
            raise InexpressibleError(_INEXPRESSIBLE[name])
        else:
            self._read_price(name, price_of(name, value))

    def _read_price(self, name: str, price: Decimal) -> None:
        whole, _, size = name.rpartition("_")
        if size in _SIZED and _SIZED[size][0] == whole:
            self.sized.append((whole, _SIZED[size][1], size, price))
            return
        match = _KEY.fullmatch(name)
        if match is None or match["of"] not in (*_TOKENS, *_COUNTS):
            raise InexpressibleError(f"the key {name} is not known")
        tier, above = _TIERS.get(match["tier"] or "", ""), match["above"]
        if match["of"] in _COUNTS and (above or tier not in ("", _BATCH)):
            if price:
                raise InexpressibleError(
                    f"{name} is not a price of tokens, and depends on the prompt or the service tier"
                )
            return
        edge = None if above is None else int(above.removesuffix("k")) * (1_000 if above.endswith("k") else 1)
        part = _PARTS.get(match["of"], "")
        if part and (edge or (tier not in ("", _BATCH) and part.startswith("output") and match["of"] != _REASONING)):
            raise InexpressibleError(f"the key {name} is of a part of the tokens, which has one price for all of these")
        if self.prices.setdefault(_Price(match["of"], edge, tier), price) != price:
            raise InexpressibleError(f"the key {name} has another price than the same in other words")

    def _read_specific(self, value: Mapping[str, Any]) -> None:
        for name, part in value.items():
            if name in _SPECIFIC_UPLIFTS:
                self.factors.append((_SPECIFIC_UPLIFTS[name], price_of(name, part)))
            elif name == "minimax_free_input_images":
                self.free_images = price_of(name, part)
            elif name not in _NOTHING_SPECIFIC:
                raise InexpressibleError(f"the key {name} of provider_specific_entry is not known")

    def version(self) -> PeerVersion:
        """All that is charged, from ever on: the list has no dates."""
        charges = [*self._tokens(), *self._counted()]
        if not charges:
            raise InexpressibleError("has no price in the list", priced=False)
        return PeerVersion(UNDATED, tuple(charges), (_example(charges, self._standard_hour()),))

    def _of(self, key: str, tier: str = "", above: int | None = None) -> Decimal | None:
        return self.prices.get(_Price(key, above, tier))

    def _tokens(self) -> Iterator[PeerCharge]:
        named = {price.of for price in self.prices if price.of in _TOKENS}
        if any("input_cost_per_query" in tier for tier in self.tiers):
            raise InexpressibleError("its prices depend on the number of results")
        if not (named or self.tiers):
            return
        tiers = dict.fromkeys(price.tier for price in self.prices if price.tier and price.of in _TOKENS)
        if self.tiers and tiers:
            raise InexpressibleError("has tiered_pricing and prices of service tiers")
        cases = {"": self._by_ranges() if self.tiers else self._standard("")}
        cases |= {tier: self._batch() if tier == _BATCH else self._standard(tier) for tier in tiers}
        rates: list[PeerRate] = []
        buckets = dict.fromkeys(bucket for found in cases.values() for bucket in found)
        for bucket in buckets:
            of_bucket = [
                PricedCase({"service_tier": tier} if tier else {}, amounts)
                for tier, found in cases.items()
                if (amounts := found.get(bucket) or self._of_whole(bucket, tier, cases))
            ]
            kept = [("service_tier", tier) for tier in tiers if tier == _BATCH or not rates]
            ends = {case.conditions.get("service_tier"): case.amounts[-1][0] for case in of_bucket}
            for rate in specific_rates(of_bucket, kept):
                # What a batch costs beyond its last price is not said: such prompts are refused.
                if rate.conditions.get("service_tier") == _BATCH and rate.above > ends[_BATCH]:
                    continue
                edge = None if rate.above == EVERY_LENGTH else rate.above
                above, begins = (None, edge + 1) if edge is not None and self.inclusive else (edge, None)
                rates.append(
                    PeerRate(multiply(rate.amount, _MILLION), bucket, above, begins, conditions=rate.conditions)
                )
        if self.explicit is not None:
            if len(cases) > 1 or len(cases[""]["cache_input"]) > 1:
                raise InexpressibleError("has a price of an explicit cache beside tiers")
            amount = multiply(self.explicit, _MILLION)
            rates.append(PeerRate(amount, "cache_input", conditions={"cache_type": "ephemeral"}))
        if self.off_peak:
            if len(cases) > 1 or any(len(amounts) > 1 for amounts in cases[""].values()):
                raise InexpressibleError("has prices of some hours beside tiers")
            rates += self._at_hours()
        # A tier that does not price something leaves it as it is. A batch prices all that it has a price for.
        silent = dict.fromkeys((tier for tier in tiers if tier != _BATCH), "default")
        silent |= {_BATCH: "refuse"} if _BATCH in tiers else {}
        silent |= {"cache_type": "default"} if self.explicit is not None else {}
        of = {**without_rate(cases[""]), **silent}
        yield PeerCharge(TOKEN, int(_MILLION), tuple(rates), of, tuple(self.factors))

    def _of_whole(self, bucket: str, tier: str, cases: Mapping[str, Mapping[str, TierAmounts]]) -> TierAmounts | None:
        """The amounts of a bucket without a price of its own in a service tier: those of the bucket that contains it.

        The calculation of a batch does not look at how long a cache is kept. So where the list has a price of that, it
        has none in a batch; nor has what is made where only images have a price.
        """
        standard, found = cases[""], cases[tier]
        if tier == _BATCH and bucket in _BY_LIFETIME.values() and standard[bucket] != standard.get("cache_write"):
            return None
        return found.get(_whole_of(bucket, found))

    def _at_hours(self) -> Iterator[PeerRate]:
        """The prices of some hours, which replace those of all others."""
        said = {name: value for name, value in self.off_peak.items() if name != "windows"}
        if not said.keys() <= _BY_LENGTH.keys():
            raise InexpressibleError("its prices of some hours are not understood")
        for name, value in said.items():
            for window in self.off_peak["windows"]:
                listed = window["hours_utc"]
                hours = tuple(map(_hours, [listed] if isinstance(listed, str) else listed))
                if window.keys() - {"hours_utc", "weekdays"} or (_WHOLE_DAY in hours and len(hours) > 1):
                    raise InexpressibleError("its prices of some hours are not understood")
                days = tuple(_WEEKDAYS[day] for day in window.get("weekdays", ()))
                amount = multiply(price_of(name, value), _MILLION)
                own = () if hours == (_WHOLE_DAY,) else hours
                yield PeerRate(amount, _BY_LENGTH[name], hours=own, weekdays=days)

    def _standard_hour(self) -> str | None:
        """An instant at which no price of some hours holds; None where there are none of these."""
        if not self.off_peak:
            return None
        windows = [
            window_of({"hours": rate.hours or (_WHOLE_DAY,), "weekdays": rate.weekdays or DAYS, "zone": ("UTC",)})
            for rate in self._at_hours()
        ]
        first = datetime(UNDATED.year, UNDATED.month, UNDATED.day, tzinfo=UTC)
        for hour in range(len(DAYS) * 24):
            instant = first + timedelta(hours=hour)
            if not any(window and window.holds(instant) for window in windows):
                return f"{instant:%Y-%m-%dT%H:%M:%SZ}"
        raise InexpressibleError("its prices of some hours are those of all hours")

    def _edges(self, tier: str) -> list[int]:
        """Where prompts begin to cost another price: those of the standard tier count in every tier."""
        of = (*_BY_LENGTH, *_BY_LIFETIME)
        edges = {each.above for each in self.prices if each.above and each.of in of and each.tier in ("", tier)}
        if len(edges) > _MOST_TIERS:
            raise InexpressibleError(f"has {len(edges)} tiers")
        return sorted(edges)

    def _standard(self, tier: str) -> dict[str, TierAmounts]:
        """The amounts of every bucket in a service tier: what it does not name has the price of the standard tier."""
        found: dict[str, list[tuple[int, Decimal]]] = {}
        edges = self._edges(tier)
        for edge in (None, *edges):
            crossed = [each for each in edges if edge is not None and each <= edge]
            above = EVERY_LENGTH if edge is None else edge - self.inclusive
            for bucket, amount in self._beyond(tier, crossed).items():
                found.setdefault(bucket, []).append((above, amount))
        return {bucket: tuple(amounts) for bucket, amounts in found.items()}

    def _beyond(self, tier: str, crossed: Sequence[int]) -> dict[str, Decimal]:
        """The prices of prompts that have crossed these thresholds."""

        def last(key: str) -> Decimal | None:
            price = _first(self._of(key, tier), self._of(key))
            for above in crossed:
                price = _first(self._of(key, tier, above), self._of(key, "", above), price)
            return price

        output = last(_OUTPUT)
        base_output = _first(self._of(_OUTPUT, tier), self._of(_OUTPUT))
        if not base_output and not any(price.of == _OUTPUT and price.above for price in self.prices):
            output = self._of(_IMAGES) or output
        read, write, whole = last(_READ), last(_WRITE), self._of(_INPUT)
        share = _CACHE_SHARES.get(str(self.provider))
        if read is None and share is not None and whole is not None:
            read = multiply(whole, share)
        found = {"input": last(_INPUT), "output": output, "cache_input": read, "cache_write": write}
        for key, bucket in _BY_LIFETIME.items():
            price = _first(self._of(key, tier), self._of(key))
            for above in crossed:
                price = _first(self._of(key, tier, above), price)
                price = price if tier else _first(self._of(key, "", above), price)
            found[bucket] = _first(price, write)
        for key, bucket in _PARTS.items():
            price = self._of(key)
            if key == _REASONING:
                own = self._of(_OUTPUT, tier) if tier else None
                price = _first(self._of(key, tier), output if own is not None else None, price) if tier else price
                if not any(each.of == _REASONING for each in self.prices):
                    price = None
            elif not bucket.startswith("output"):
                price = _first(self._of(key, tier), price)
            found[bucket] = price
        return {bucket: price for bucket, price in found.items() if price is not None}

    def _by_ranges(self) -> dict[str, TierAmounts]:
        """The amounts of `tiered_pricing`: of one range for all tokens, by the length of the prompt."""
        found: dict[str, list[tuple[int, Decimal]]] = {}
        end = Decimal(0)
        for number, tier in enumerate(self.tiers):
            start, after = tier.get("range", (None, None))
            if start != end or not tier.keys() <= {"range", *_BY_LENGTH, *_BY_LIFETIME, _REASONING}:
                raise InexpressibleError("the ranges of its tiered_pricing are not understood")
            end = after
            price = {name: price_of(name, value) for name, value in tier.items() if name != "range"}
            whole = price.get(_INPUT)
            if whole is None:
                raise InexpressibleError("a range of its tiered_pricing has no price of the input")
            output = _first(price.get(_OUTPUT), self._of(_OUTPUT))
            if output is None and any(_OUTPUT in each or _REASONING in each for each in self.tiers):
                raise InexpressibleError("a range of its tiered_pricing has no price of the output")
            amounts: dict[str, Decimal | None] = {"input": whole, "output": output}
            if any(_REASONING in each for each in self.tiers):
                amounts["output_reasoning"] = price.get(_REASONING, output)
            for key in (_READ, _WRITE):
                if any(key in each for each in self.tiers):
                    amounts[_BY_LENGTH[key]] = price.get(key, whole)
            for key, bucket in _BY_LIFETIME.items():
                if any(key in each or _WRITE in each for each in self.tiers):
                    amounts[bucket] = _first(price.get(key), price.get(_WRITE), whole)
            amounts |= {bucket: self._of(key) for key, bucket in _PARTS.items() if bucket not in amounts}
            for bucket, amount in amounts.items():
                if amount is not None:
                    found.setdefault(bucket, []).append((int(start) if number else EVERY_LENGTH, amount))
        return {bucket: tuple(amounts) for bucket, amounts in found.items()}

    def _batch(self) -> dict[str, TierAmounts]:
        """The amounts of a batch: its own prices; without one of the input or the output, half of the standard one."""

        def own(key: str) -> TierAmounts | None:
            flat = self._of(key, _BATCH)
            edges = sorted(each.above for each in self.prices if each.of == key and each.tier == _BATCH and each.above)
            tiers = tuple((edge - self.inclusive, self.prices[_Price(key, edge, _BATCH)]) for edge in edges)
            return None if flat is None else ((EVERY_LENGTH, flat), *tiers)

        def half(key: str) -> TierAmounts | None:
            price = self._of(key)
            return None if price is None else ((EVERY_LENGTH, multiply(price, Decimal("0.5"))),)

        whole = own(_INPUT)
        found = {"input": whole or half(_INPUT), "output": own(_OUTPUT) or half(_OUTPUT)}
        for key in (_READ, _WRITE):
            found[_BY_LENGTH[key]] = own(key) if whole else half(key)
        for key, bucket in (*_BY_LIFETIME.items(), *_PARTS.items()):
            found[bucket] = own(key) or (half(key) if key == _IMAGES else None)
        return {bucket: amounts for bucket, amounts in found.items() if amounts}

    def _counted(self) -> Iterator[PeerCharge]:
        listed: dict[str, dict[str, Decimal]] = {}
        for price, amount in self.prices.items():
            if price.of in _COUNTS:
                listed.setdefault(price.tier, {})[price.of] = amount
        standard = self._meters(listed.get("", {}))
        batch = self._meters(listed.get(_BATCH, {}))
        for meter in dict.fromkeys((*standard, *batch)):
            if meter not in standard:
                raise InexpressibleError(f"has a price of a {meter} in batches only")
            rates = [PeerRate(standard[meter])]
            if meter in batch:
                rates.append(PeerRate(batch[meter], conditions={"service_tier": _BATCH}))
            for whole, condition, size, amount in self.sized:
                if self._meter(whole) == meter:
                    rates.append(PeerRate(amount, conditions={condition: size}))
            per = int(_MILLION) if meter == "citation_token" else 1
            if per > 1:
                rates = [PeerRate(multiply(rate.amount, Decimal(per)), conditions=rate.conditions) for rate in rates]
            included = self.free_images if meter == "input_image" else None
            yield PeerCharge(meter, per, tuple(rates), included=included, note=self.notes.get(meter, ""))
        if self.sized and not any(self._meter(whole) in standard for whole, *_ in self.sized):
            raise InexpressibleError("has prices by size, and none without a size")
        if self.searches:
            sizes = [
                PeerRate(self.searches[size], conditions={"search_context_size": size} if size != "medium" else {})
                for size in ("medium", "low", "high")
                if size in self.searches
            ]
            yield PeerCharge("web_search", 1, tuple(sizes), note=self.notes.get("web_search", ""))

    def _meter(self, key: str) -> str:
        """The meter of a price. Where images are made and only their input has a price, it is that of those made."""
        if key == "output_cost_per_second" and self.mode == "video_generation":
            return "video_second"
        made = self.mode in ("image_generation", "image_edit") and self._of("output_cost_per_image") is None
        return "image" if key == "input_cost_per_image" and made else _COUNTS[key]

    def _meters(self, prices: Mapping[str, Decimal]) -> dict[str, Decimal]:
        """Prices by meter. Several of one meter must be the same; one of 0 beside another is none."""
        found: dict[str, Decimal] = {}
        for key, price in prices.items():
            meter = self._meter(key)
            if found.get(meter) and price and found[meter] != price:
                raise InexpressibleError(f"has two prices of a {meter}")
            found[meter] = found.get(meter) or price
        return found


def _hours(words: str) -> str:
    """Hours of the list, like `10:00-00:00`, as a table writes them; each part of a day is of the weekday itself."""
    match = re.fullmatch(r"(\d\d:\d\d)-(\d\d:\d\d)", words)
    if match is None or (match[2] != "00:00" and match[1] >= match[2]):
        raise InexpressibleError("has prices of hours over midnight, whose weekday is not understood")
    return f"{match[1]}..{'24:00' if match[2] == '00:00' else match[2]}"


def _first(*prices: Decimal | None) -> Decimal | None:
    return next((price for price in prices if price is not None), None)


def _whole_of(bucket: str, known: Iterable[str]) -> str:
    """The bucket whose price a part has that has none of its own."""
    for whole in (bucket.rpartition("_")[0], bucket.partition("_")[0]):
        if whole in known:
            return whole
    return "output" if bucket.startswith("output") else "input"


def _example(charges: Sequence[PeerCharge], at: str | None) -> PeerExample:
    """A usage of a thousand tokens on each side with a price, and one of all else; its total by the list's prices."""
    usage: dict[str, Any] = {}
    amounts = []
    for charge in charges:
        if charge.meter == TOKEN:
            tokens = usage["tokens"] = {"input": 0, "output": 0}
            for bucket in tokens:
                always = [each for each in charge.rates if not (each.conditions or each.hours or each.weekdays)]
                steps = sorted(
                    (rate.above or (rate.begins - 1 if rate.begins else EVERY_LENGTH), rate.amount)
                    for rate in always
                    if rate.tokens == bucket
                )
                if steps:
                    tokens[bucket] = 1_000
                    amounts.append(multiply(amount_at(tuple(steps), 999), Decimal("0.001")))
        elif not charge.included:
            usage.setdefault("counts", {})[charge.meter] = charge.per
            amounts.append(next(rate.amount for rate in charge.rates if not rate.conditions))
    return PeerExample(usage, total(amounts), at)
