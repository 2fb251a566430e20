"""The model prices of litellm, a JSON file of entries whose keys name what is priced, for which prompts and tier.

Keys are read as litellm's own calculation reads them; what a missing key means is explained where it is read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ratecard.base.money import multiply, total
from ratecard.price_lists.lines import EVERY_LENGTH, PricedCase, TierAmounts, amount_at, specific_rates
from ratecard.price_lists.peer import (
    UNDATED,
    InexpressibleError,
    PeerCharge,
    PeerCondition,
    PeerExample,
    PeerModel,
    PeerRate,
    PeerVersion,
    PriceList,
    page_of,
    price_of,
    read_entries,
    read_list,
    tokens_of,
    without_rate,
)
from ratecard.tables.meters import TOKEN, Meter

_NAME = "litellm"
_MILLION = Decimal(1_000_000)
# This limits the work, because the price of a tier is searched in all tiers before it.
_MOST_TIERS = 50
_INPUT, _OUTPUT = "input_cost_per_token", "output_cost_per_token"
_READ, _WRITE = "cache_read_input_token_cost", "cache_creation_input_token_cost"
_IMAGES, _REASONING = "output_cost_per_image_token", "output_cost_per_reasoning_token"
# The buckets of the prices of tokens. Only the first four and those by lifetime depend on the length of the prompt.
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
# Providers for which the list leaves out the price of cached tokens, which is this share of the input.
_CACHE_SHARES = {"fireworks_ai": Decimal("0.5")}
# Providers for which a prompt of exactly the threshold already has the higher price.
_FROM_THE_THRESHOLD = {"xai"}

# The meters of other prices; below, the price and the condition of each suffix that is a size.
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
}
_SEARCHES = "search_context_cost_per_query"
_SIZED = {
    **dict.fromkeys(("480p", "720p", "768p", "1080p", "2k", "4k"), ("output_cost_per_second", "resolution")),
    **dict.fromkeys(("0.5K", "1K", "2K", "4K", "512", "1024", "1536"), ("output_cost_per_image", "image_size")),
}
# Factors on every price of tokens, each with the condition under which it applies.
_UPLIFTS = {
    "regional_processing_uplift_multiplier_eu": {"data_residency": "eu"},
    "regional_processing_uplift_multiplier_us": {"data_residency": "us"},
    "regional_endpoint_uplift_multiplier": {"vertex_location": "regional"},
}
_SPECIFIC_UPLIFTS = {"us": {"inference_geo": "us"}, "fast": {"speed": "fast"}}
# The service tier of each suffix; batches are priced by rules of their own.
_BATCH = "batch"
_TIERS = {"priority": "priority", "flex": "flex", "balanced": "balanced", "ultrafast": "ultrafast", "batches": _BATCH}
_KEY = re.compile(rf"(?P<of>.+?)(?:_above_(?P<above>[1-9]\d*k?)_tokens)?(?:_(?P<tier>{'|'.join(_TIERS)}))?")

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
    *(
        PeerCondition(
            condition, ("standard", *(size for size, (_, name) in _SIZED.items() if name == condition)), "standard"
        )
        for condition in ("resolution", "image_size")
    ),
)
# Keys that do not affect prices, besides those that begin with `supports_`.
_NO_PRICES = {
    *("comment", "deprecation_date", "litellm_provider", "metadata", "mode", "source"),
    *("max_input_tokens", "max_output_tokens", "max_tokens", "output_vector_size", "prompt_cache_min_tokens"),
    *("rpm", "tpm", "token_count_framing", "token_count_model", "token_count_tokenizer"),
    *("supported_audio_formats", "supported_endpoints", "supported_modalities", "supported_output_modalities"),
    *("supported_regions", "audio_transcription_config", "gemini_audio_only_live", "gemini_native_audio"),
    *("default_reasoning_effort", "reasoning_contexts", "reasoning_effort_levels", "reasoning_modes"),
    *("thinking_always_on", "bedrock_output_config_effort_ceiling", "bedrock_converse_supports_strict_tools"),
    *("use_openai_responses_path", "uses_embed_content", "vertex_ai_audio_api"),
    # These two prices are in DBU, the units of Databricks.
    *("input_dbu_cost_per_token", "output_dbu_cost_per_token"),
}
# Prices that cannot be written, and why.
_INEXPRESSIBLE = {
    "citation_cost_per_token": "its prices are of tokens of citations, beside those of the prompt",
    "explicit_cache_read_input_token_cost": "has two prices of reading from the cache",
    "guardrail_cost_per_unit": "its prices are of units of guardrails, which no usage counts",
    "off_peak_pricing": "has prices of some hours of the day",
}
# Keys inside of `provider_specific_entry` that do not affect prices.
_NOTHING_SPECIFIC = {"dashscope_video_reference_input", "volcengine_video_frames", "bedrock_invocation_schema"}


def read_litellm(path: Path) -> PriceList:
    """Return the price list of a file of litellm. Raises `RateCardError` if it is not JSON of entries by model."""
    return listed_entries(read_list(path, _NAME), f"{_NAME} {path.name}")


def listed_entries(entries: Mapping[str, Mapping[str, Any]], source: str) -> PriceList:
    """Return the price list of these entries, their numbers as decimals."""
    named = ((*named_entry(key, entry, entries), (key, entry)) for key, entry in entries.items())
    models, left_out = read_entries(named, _model)
    meters = (*dict.fromkeys((*_COUNTS.values(), "web_search")),)
    counted = tuple(Meter(meter=meter, every_usage=1 if meter == "request" else 0) for meter in meters)
    return PriceList(source, models, left_out, counted, _CONDITIONS)


def named_entry(key: str, entry: Mapping[str, Any], entries: Mapping[str, Any]) -> tuple[str, str]:
    """Return the provider of an entry, and its key without the provider, unless another of its entries has that key."""
    provider = str(entry.get("litellm_provider") or "none")
    name = key.removeprefix(f"{provider}/")
    other = entries.get(name)
    is_same = name != key and other is not None and other.get("litellm_provider") == provider
    return provider, key if is_same else name


def _model(provider: str, name: str, of: tuple[str, Mapping[str, Any]]) -> PeerModel:
    return PeerModel(provider, name, (_Entry(*of).version(),), reference=page_of(of[1].get("source")))


class _Price(NamedTuple):
    """The parts of a key of an entry: what it prices, the tokens that a prompt must exceed, and the service tier."""

    of: str
    above: int | None
    tier: str


class _Entry:
    """A reader of one entry. Raises `InexpressibleError` for a key or a value that is not understood."""

    def __init__(self, key: str, entry: Mapping[str, Any]) -> None:
        self.mode, self.provider = entry.get("mode"), entry.get("litellm_provider")
        self.entry = {name: value for name, value in entry.items() if value is not None}
        if "litellm_provider" not in entry or key == "sample_spec":
            raise InexpressibleError("is not a model, but a rule or a description of the file", priced=False)
        self.prices: dict[_Price, Decimal] = {}
        self.sized: list[tuple[str, str, str, Decimal]] = []
        self.factors: list[tuple[dict[str, str], Decimal]] = []
        self.searches: dict[str, Decimal] = {}
        self.notes: dict[str, str] = {}
        for name, value in self.entry.items():
            self._read(name, value)
        self.inclusive = self.provider in _FROM_THE_THRESHOLD
        self._complete()

    def _read(self, name: str, value: Any) -> None:
        if name in _NO_PRICES or name.startswith("supports_"):
            return
        if name == _SEARCHES:
            sizes = {size.removeprefix("search_context_size_"): price for size, price in value.items()}
            self.searches = {size: price_of(name, price) for size, price in sizes.items()}
            if len(sizes) < len(value) or not {"medium"} <= sizes.keys() <= {"low", "medium", "high"}:
                raise InexpressibleError(f"{name} has no price of the size medium, one of another size, or two of one")
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
            self._read_ranges(value)
        elif name == "input_cost_per_token_cache_hit":
            if value != self.entry.get(_READ):
                raise InexpressibleError(f"{name} differs from {_READ}")
        elif name in _INEXPRESSIBLE:
            raise InexpressibleError(_INEXPRESSIBLE[name])
        else:
            self._read_price(name, price_of(name, value))

    def _read_price(self, name: str, price: Decimal) -> None:
        key, _, size = name.rpartition("_")
        if size in _SIZED and _SIZED[size][0] == key:
            self.sized.append((key, _SIZED[size][1], size, price))
            return
        match = _KEY.fullmatch(name)
        if match is None or match["of"] not in (*_TOKENS, *_COUNTS):
            raise InexpressibleError(f"the key {name} is not known")
        tier, above = _TIERS.get(match["tier"] or "", ""), match["above"]
        if match["of"] in _COUNTS and (above or tier not in ("", _BATCH)):
            # A price of 0 beside another price counts too: without it, the other price would be charged.
            if price or self.entry.get(match["of"]):
                raise InexpressibleError(
                    f"{name} is not a price of tokens, and depends on the prompt or the service tier"
                )
            return
        edge = None if above is None else int(above.removesuffix("k")) * (1_000 if above.endswith("k") else 1)
        part = _PARTS.get(match["of"], "")
        if part and (edge or (tier not in ("", _BATCH) and part.startswith("output") and match["of"] != _REASONING)):
            raise InexpressibleError(f"the key {name} prices a part of the tokens that has only one price")
        if self.prices.setdefault(_Price(match["of"], edge, tier), price) != price:
            raise InexpressibleError(f"the key {name} has another price than an equivalent key")

    def _read_specific(self, value: Mapping[str, Any]) -> None:
        for name, part in value.items():
            if name in _SPECIFIC_UPLIFTS:
                self.factors.append((_SPECIFIC_UPLIFTS[name], price_of(name, part)))
            elif name not in _NOTHING_SPECIFIC:
                raise InexpressibleError(f"the key {name} of provider_specific_entry is not known")

    def _read_ranges(self, tiers: Sequence[Mapping[str, Any]]) -> None:
        """Read ranges of prompts, which must all have the same keys, as prices above thresholds."""
        end = 0
        for tier in tiers:
            if "range" not in tier:
                raise InexpressibleError("its prices depend on the number of results")
            start, after = map(tokens_of, tier["range"])
            if not end == start < after or tier.keys() != tiers[0].keys() or not {"range", _INPUT} <= tier.keys():
                raise InexpressibleError("the ranges of its tiered_pricing are not understood")
            end = after
            for name in tier.keys() - {"range"}:
                self._read_price(f"{name}_above_{start}_tokens" if start else name, price_of(name, tier[name]))

    def _complete(self) -> None:
        """Add the prices that the list leaves out: of the cache, of images as output, and half prices in batches."""
        missing: list[tuple[str, str, str, Decimal]] = []
        if self.provider in _CACHE_SHARES:
            missing.append((_READ, _INPUT, "", _CACHE_SHARES[self.provider]))
        if any(price.tier == _BATCH and price.of in _TOKENS for price in self.prices):
            cache_keys = (_INPUT, _READ, _WRITE) if self._of(_INPUT, _BATCH) is None else ()
            missing += [(key, key, _BATCH, Decimal("0.5")) for key in (*cache_keys, _OUTPUT, _IMAGES)]
        for key, parent, tier, share in missing:
            if (price := self._of(parent)) is not None:
                self.prices.setdefault(_Price(key, None, tier), multiply(price, share))
        output = [amount for price, amount in self.prices.items() if (price.of, price.tier) == (_OUTPUT, "")]
        if (images := self._of(_IMAGES)) and not any(output):
            self.prices[_Price(_OUTPUT, None, "")] = images

    def version(self) -> PeerVersion:
        """Return all charges as one undated version, because the list has no dates."""
        charges = [*self._tokens(), *self._counted()]
        if not charges:
            raise InexpressibleError("has no price in the list", priced=False)
        return PeerVersion(UNDATED, tuple(charges), (_example(charges),))

    def _of(self, key: str, tier: str = "", above: int | None = None) -> Decimal | None:
        return self.prices.get(_Price(key, above, tier))

    def _tokens(self) -> Iterator[PeerCharge]:
        named = {price.of for price in self.prices if price.of in _TOKENS}
        if not named:
            return
        tiers = dict.fromkeys(price.tier for price in self.prices if price.tier and price.of in _TOKENS)
        if "tiered_pricing" in self.entry and tiers:
            raise InexpressibleError("has tiered_pricing and prices of service tiers")
        if tiers.keys() - {_BATCH} and any(price.above and price.of in _BY_LIFETIME for price in self.prices):
            raise InexpressibleError("has prices of long prompts that are written for an hour, and of service tiers")
        cases = {tier: self._amounts(tier) for tier in ("", *tiers)}
        rates: list[PeerRate] = []
        buckets = dict.fromkeys(bucket for by_bucket in cases.values() for bucket in by_bucket)
        for bucket in buckets:
            of_bucket = [
                PricedCase({"service_tier": tier} if tier else {}, amounts)
                for tier, by_bucket in cases.items()
                if (amounts := by_bucket.get(bucket) or self._of_whole(bucket, tier, cases))
            ]
            kept = [("service_tier", tier) for tier in tiers if tier == _BATCH or not rates]
            ends = {case.conditions.get("service_tier"): case.amounts[-1][0] for case in of_bucket}
            for rate in specific_rates(of_bucket, kept):
                # The list has no price of a batch beyond its last threshold: such prompts are refused.
                if rate.conditions.get("service_tier") == _BATCH and rate.above > ends[_BATCH]:
                    continue
                edge = None if rate.above == EVERY_LENGTH else rate.above
                above, begins = (None, edge + 1) if edge is not None and self.inclusive else (edge, None)
                rates.append(
                    PeerRate(multiply(rate.amount, _MILLION), bucket, above, begins, conditions=rate.conditions)
                )
        # Without a rate in a tier, tokens have their standard price; in a batch they are refused.
        silent = dict.fromkeys((tier for tier in tiers if tier != _BATCH), "default")
        silent |= {_BATCH: "refuse"} if _BATCH in tiers else {}
        fallbacks = {**without_rate(cases[""]), **silent}
        yield PeerCharge(TOKEN, int(_MILLION), tuple(rates), fallbacks, tuple(self.factors))

    def _of_whole(self, bucket: str, tier: str, cases: Mapping[str, Mapping[str, TierAmounts]]) -> TierAmounts | None:
        """Return the amounts of a bucket without a price in a service tier: those of the bucket that contains it.

        The calculation of a batch ignores how long a cache is kept. So a bucket whose price depends on that has none in
        a batch; nor does output of which only images have a price.
        """
        standard, priced = cases[""], cases[tier]
        if tier == _BATCH and bucket in _BY_LIFETIME.values() and standard.get(bucket) != standard.get("cache_write"):
            return None
        return priced.get(_whole_of(bucket, priced))

    def _edges(self, tier: str) -> list[int]:
        """Return the numbers of tokens above which prices change; those of the standard tier count in every tier."""
        keys = (*_BY_LENGTH, *_BY_LIFETIME)
        edges = {price.above for price in self.prices if price.above and price.of in keys and price.tier in ("", tier)}
        if len(edges) > _MOST_TIERS:
            raise InexpressibleError(f"has {len(edges)} tiers")
        return sorted(edges)

    def _amounts(self, tier: str) -> dict[str, TierAmounts]:
        """Return the amounts of every bucket in a service tier; a missing price is that of the standard tier.

        A batch has only its own prices, each from the length of prompts at which it begins.
        """
        by_bucket: dict[str, dict[int, Decimal]] = {}
        edges = self._edges(tier)
        for key, bucket in _TOKENS.items():
            # If a tier has a price of output but not of reasoning, reasoning is charged as output.
            alone = tier == _BATCH or (key == _REASONING and self._of(_OUTPUT, tier) is not None)
            amounts = dict[int, Decimal]()
            price = None
            for edge in (None, *edges):
                if tier == _BATCH and self._of(key, tier, edge) is None:
                    continue
                price = _first(self._of(key, tier, edge), None if alone else self._of(key, "", edge), price)
                above = EVERY_LENGTH if edge is None else edge - self.inclusive
                # Without a price of its own, a cache write for an hour has the price of any cache write.
                written = by_bucket.get("cache_write", {}).get(above) if key in _BY_LIFETIME else None
                if (amount := _first(price, written)) is not None:
                    amounts[above] = amount
            if amounts:
                by_bucket[bucket] = amounts
        return {bucket: tuple(amounts.items()) for bucket, amounts in by_bucket.items()}

    def _counted(self) -> Iterator[PeerCharge]:
        standard, batch = self._meters(""), self._meters(_BATCH)
        for meter in dict.fromkeys((*standard, *batch)):
            if meter not in standard:
                raise InexpressibleError(f"has a price of a {meter} in batches only")
            rates = [PeerRate(standard[meter])]
            if meter in batch:
                rates.append(PeerRate(batch[meter], conditions={"service_tier": _BATCH}))
            for key, condition, size, amount in self.sized:
                if self._meter(key) == meter:
                    rates.append(PeerRate(amount, conditions={condition: size}))
            yield PeerCharge(meter, 1, tuple(rates), note=self.notes.get(meter, ""))
        if any(self._meter(key) not in standard for key, *_ in self.sized):
            raise InexpressibleError("has prices by size, and none without a size")
        if self.searches:
            sizes = [
                PeerRate(self.searches[size], conditions={"search_context_size": size} if size != "medium" else {})
                for size in ("medium", "low", "high")
                if size in self.searches
            ]
            yield PeerCharge("web_search", 1, tuple(sizes), note=self.notes.get("web_search", ""))

    def _meter(self, key: str) -> str:
        """Return the meter of a price; if only input images have a price, it is that of the images made."""
        if key == "output_cost_per_second" and self.mode == "video_generation":
            return "video_second"
        makes_images = self.mode in ("image_generation", "image_edit") and self._of("output_cost_per_image") is None
        return "image" if key == "input_cost_per_image" and makes_images else _COUNTS[key]

    def _meters(self, tier: str) -> dict[str, Decimal]:
        """Return the prices of a tier by meter. Several of one meter must be equal; a 0 beside another is ignored."""
        prices: dict[str, Decimal] = {}
        for (key, _, key_tier), price in self.prices.items():
            if key_tier != tier or key not in _COUNTS:
                continue
            meter = self._meter(key)
            if prices.get(meter) and price and prices[meter] != price:
                raise InexpressibleError(f"has two prices of a {meter}")
            prices[meter] = prices.get(meter) or price
        return prices


def _first(*prices: Decimal | None) -> Decimal | None:
    return next((price for price in prices if price is not None), None)


def _whole_of(bucket: str, known: Iterable[str]) -> str:
    """Return the bucket whose price holds for a part without a price of its own."""
    for name in (bucket.rpartition("_")[0], bucket.partition("_")[0]):
        if name in known:
            return name
    return "output" if bucket.startswith("output") else "input"


def _example(charges: Sequence[PeerCharge]) -> PeerExample:
    """Return an example by the list's prices: a thousand tokens of input and of output, and one of everything else."""
    usage: dict[str, Any] = {}
    amounts = []
    for charge in charges:
        if charge.meter == TOKEN:
            tokens = usage["tokens"] = {"input": 0, "output": 0}
            for bucket in tokens:
                steps = sorted(
                    (rate.above or (rate.begins - 1 if rate.begins else EVERY_LENGTH), rate.amount)
                    for rate in charge.rates
                    if rate.tokens == bucket and not rate.conditions
                )
                if steps:
                    tokens[bucket] = 1_000
                    amounts.append(multiply(amount_at(tuple(steps), 999), Decimal("0.001")))
        else:
            usage.setdefault("counts", {})[charge.meter] = charge.per
            amounts.append(next(rate.amount for rate in charge.rates if not rate.conditions))
    return PeerExample(usage, total(amounts))
