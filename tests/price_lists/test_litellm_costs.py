"""The import of litellm's list against its own `completion_cost`: `make test-imports`, where litellm is installed.

A price is equal, or different by a rule of docs/import-litellm.md.
"""

import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

import ratecard
from ratecard.price_lists.litellm import named_entry, read_litellm
from ratecard.price_lists.write import import_list
from ratecard.tables.rate import Charge

# The list inside the package is read, not today's list on the web.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
litellm = pytest.importorskip("litellm", reason="litellm is not installed: see make test-imports")

costs = pytest.importorskip("litellm.litellm_core_utils.llm_cost_calc.utils")
types = pytest.importorskip("litellm.types.utils")
ocr = pytest.importorskip("litellm.llms.base_llm.ocr.transformation")
rerank = pytest.importorskip("litellm.types.rerank")
videos = pytest.importorskip("litellm.types.videos.main")
litellm.suppress_debug_info = True

# The classes of litellm warn when they are first used.
pytestmark = pytest.mark.filterwarnings("ignore")
USAGES = int(os.environ.get("USAGES", "2000"))
LIST = Path(litellm.__file__).parent / "model_prices_and_context_window_backup.json"
# A price of litellm is a float.
RELATIVE, ABSOLUTE = Decimal("1e-12"), Decimal("1e-15")

# These include the edges of the list's tiers.
_PROMPTS = (1, 7, 100, 999, 5_000, 31_999, 32_001, 127_999, 128_001, 200_000, 200_001, 272_000, 272_001, 600_000)
Case = tuple[dict[str, Any], Callable[[], float]]


def provider_of(entry: Mapping[str, Any]) -> str:
    """The provider that a call names: entries of Vertex AI have one for each kind of model."""
    provider = str(entry["litellm_provider"])
    return "vertex_ai" if provider.startswith("vertex_ai-") else provider


def random_case(random: Random, model: str, key: str, charges: Mapping[str, Charge]) -> Case | None:
    """A usage of one model, and the call of litellm that prices it; None for what its calls do not count."""
    entry = litellm.model_cost[key]
    if "tokens" in charges:
        return _tokens(random, model, key, entry, charges["tokens"])
    makers = {
        "image": _images,
        "pixel": _images,
        "video_second": _video,
        "character": _speech,
        "second": _seconds,
        "query": _queries,
        "page": _pages,
    }
    meter = next((meter for meter in makers if meter in charges), None)
    return makers[meter](random, model, key, entry, charges[meter]) if meter else None


def _tokens(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    tokens = {"input": random.choice(_PROMPTS), "output": random.choice((0, 10, 5_000))}
    prompt: dict[str, Any] = {"text_tokens": tokens["input"]}
    completion: dict[str, Any] = {"text_tokens": tokens["output"]}

    def part(name: str, field: str, into: dict[str, Any]) -> None:
        into[field] = tokens[name] = random.choice((1, 50, 1_000))
        tokens["output" if name.startswith("output") else "input"] += into[field]

    kind = random.choice(("plain", "read", "written", "modality"))
    if kind in ("read", "written"):
        part("cache_input", "cached_tokens", prompt)
    if kind == "written":
        short, hour = random.choice((0, 100)), random.choice((0, 0, 300))
        tokens["cache_write"] = prompt["cache_creation_tokens"] = short + hour
        tokens["input"] += short + hour
        if hour:
            tokens["cache_write_1h"] = hour
            prompt["cache_creation_token_details"] = types.CacheCreationTokenDetails(
                ephemeral_5m_input_tokens=short, ephemeral_1h_input_tokens=hour
            )
    if kind == "modality":
        modality = random.choice(("audio", "image", "video"))
        part(f"input_{modality}", f"{modality}_tokens", prompt)
    further = random.choice(("", "reasoning", "audio", "image"))
    if further:
        part(f"output_{further}", f"{further}_tokens", completion)
    usage = types.Usage(
        prompt_tokens=tokens["input"],
        completion_tokens=tokens["output"],
        total_tokens=tokens["input"] + tokens["output"],
        prompt_tokens_details=types.PromptTokensDetailsWrapper(**prompt),
        completion_tokens_details=types.CompletionTokensDetailsWrapper(**completion),
    )
    ours: dict[str, Any] = {"model": model, "tokens": tokens}
    asked: dict[str, Any] = {"call_type": "completion"}
    tiers = {value for rate in charge.rates for value in rate.attributes.get("service_tier", ())}
    if tier := random.choice(("", "", *sorted(tiers))):
        ours["service_tier"] = tier
        asked |= {"call_type": "aretrieve_batch"} if tier == "batch" else {"service_tier": tier}
    conditions = {name for factor in getattr(charge, "factors", ()) for name in factor.conditions}
    for name, value, theirs in (
        ("data_residency", "eu", {"data_residency": "eu"}),
        ("vertex_location", "regional", {"vertex_location": "us-east5"}),
        ("inference_geo", "us", {}),
        ("speed", "fast", {}),
    ):
        if name in conditions and random.random() < 0.5:
            ours[name] = value
            asked |= theirs
            if not theirs:
                setattr(usage, name, value)
    return ours, _call(types.ModelResponse(model=key, usage=usage), key, entry, **asked)


def _images(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    number, side = random.choice((1, 2, 4)), random.choice((512, 1024))
    response = types.ImageResponse(data=[types.ImageObject(url="x") for _ in range(number)])
    unit = "pixel" if charge.charge == "pixel" else "image"
    counts = {unit: number * (side * side if unit == "pixel" else 1)}
    asked = {"call_type": "image_generation", "size": f"{side}x{side}", "n": number}
    return {"model": model, "counts": counts}, _call(response, key, entry, **asked)


def _video(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    seconds = random.choice((1, 5, 8))
    sizes = sorted({value for rate in charge.rates for value in rate.attributes.get("resolution", ())})
    size = random.choice(("", *sizes))
    usage = {"duration_seconds": seconds, **({"video_resolution": size} if size else {})}
    response = videos.VideoObject(id="x", object="video", status="completed", model=key, usage=usage)
    ours = {"model": model, "counts": {"video_second": seconds}, **({"resolution": size} if size else {})}
    return ours, _call(response, key, entry, call_type="create_video")


def _speech(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    number = random.choice((1, 17, 1_000))
    call = lambda: litellm.completion_cost(  # noqa: E731
        model=key, prompt="x" * number, custom_llm_provider=provider_of(entry), call_type="speech"
    )
    return {"model": model, "counts": {"character": number}}, call


def _seconds(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    seconds = random.choice((1, 61, 3_600))
    ours = {"model": model, "counts": {"second": seconds}}
    if entry.get("mode") == "audio_transcription":
        response = types.TranscriptionResponse(text="x")
        response._hidden_params = {"audio_transcription_duration": float(seconds)}
        return ours, _call(response, key, entry, call_type="transcription")
    response = types.ModelResponse(model=key, usage=types.Usage(prompt_tokens=1, completion_tokens=1, total_tokens=2))
    return ours, _call(response, key, entry, call_type="completion", total_time=seconds * 1_000.0)


def _queries(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    number = random.choice((1, 2, 30))
    ours = {"model": model, "counts": {"query": number}}
    if entry.get("mode") == "search":
        return ours, lambda: litellm.completion_cost(
            model=key,
            custom_llm_provider=provider_of(entry),
            call_type="search",
            optional_params={"query": ["x"] * number},
        )
    response = rerank.RerankResponse(id="x", results=[], meta={"billed_units": {"search_units": number}})
    return ours, _call(response, key, entry, call_type="rerank")


def _pages(random: Random, model: str, key: str, entry: Mapping[str, Any], charge: Charge) -> Case:
    pages = random.choice((1, 12))
    response = ocr.OCRResponse(pages=[], model=key, usage_info=ocr.OCRUsageInfo(pages_processed=pages))
    return {"model": model, "counts": {"page": pages}}, _call(response, key, entry, call_type="ocr")


def _call(response: Any, key: str, entry: Mapping[str, Any], **asked: Any) -> Callable[[], float]:
    provider = provider_of(entry)
    hidden = getattr(response, "_hidden_params", None) or {}
    response._hidden_params = {**hidden, "custom_llm_provider": provider}
    return lambda: litellm.completion_cost(
        completion_response=response, model=key, custom_llm_provider=provider, **asked
    )


# A usage with tokens whose price, or whose part's price, the entry lacks is refused.
WHOLES = {"input": "input_cost_per_token", "output": "output_cost_per_token"}
Rule = Callable[[str, Mapping[str, Any], Mapping[str, Any]], bool]
# The reasons why both costs differ: the name of the rule in the table of the page, and where it applies.
RULES: dict[str, Rule] = {
    "perplexity": lambda key, entry, ours: entry["litellm_provider"] == "perplexity",
    "fireworks_ai": lambda key, entry, ours: entry["litellm_provider"] == "fireworks_ai" and "service_tier" in ours,
    "together-ai-*": lambda key, entry, ours: key.startswith("together-ai-"),
    "batch": lambda key, entry, ours: (
        ours.get("service_tier") == "batch" and {"inference_geo", "speed"} & ours.keys() != set()
    ),
    "gpt-image": lambda key, entry, ours: "gpt-image" in key and "-x-" in key,
    "realtime": lambda key, entry, ours: entry.get("mode") == "realtime" and "second" in ours.get("counts", {}),
    "parallel_ai": lambda key, entry, ours: entry["litellm_provider"] == "parallel_ai",
    "two entries": lambda key, entry, ours: (
        f"{entry['litellm_provider']}/{key}" in litellm.model_cost
        or key.removeprefix(f"{entry['litellm_provider']}/") in litellm.model_cost
    ),
}


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> ratecard.RateCard:
    logging.disable(logging.CRITICAL)  # litellm logs what it cannot price
    folder = tmp_path_factory.mktemp("litellm") / "tables"
    listed, day = read_litellm(LIST), date(2026, 11, 22)
    done = import_list(listed, folder, effective=day, checked=day)
    priced = [key for key, entry in litellm.model_cost.items() if any(map(is_priced, entry.items()))]
    kept = {f"{model.provider}/{model.id}" for model in listed.models} - {
        f"{each.provider}/{each.id}" for each in done.left_out
    }
    share = sum("/".join(named_entry(key, litellm.model_cost[key], litellm.model_cost)) in kept for key in priced)
    print(f"\n{share} of {len(priced)} priced entries")  # noqa: T201 (the figures of the page)
    assert 100 * share >= 97 * len(priced)
    return ratecard.load_rate_card(folder)


def is_priced(item: tuple[str, Any]) -> bool:
    """Return True if a key of an entry is a price above zero."""
    name, value = item
    if isinstance(value, dict):
        return "cost" in name and any(map(is_priced, ((name, each) for each in value.values())))
    if name == "tiered_pricing":
        return any(map(is_priced, (pair for tier in value for pair in tier.items())))
    return "cost" in name and isinstance(value, (int, float)) and value > 0


def test_random_usages(card: ratecard.RateCard, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(20261122)  # noqa: S311 (usages, no secrets)
    entries, clock = litellm.model_cost, [datetime(2026, 11, 22, tzinfo=UTC)]
    monkeypatch.setattr(costs, "current_billing_time", lambda: clock[0])
    keys = {"/".join(named_entry(key, entry, entries)): key for key, entry in entries.items()}
    models, found, refused = sorted(card.tables.models), Counter[str](), 0
    wrong: list[str] = []
    while found.total() + len(wrong) < USAGES:
        model = random.choice(models)
        key = keys[model]
        charges = {charge.charge: charge for charge in card.tables.models[model].versions[0].charges}
        case = random_case(random, model, key, charges)
        if case is None:
            continue
        ours, call = case
        clock[0] = datetime(2026, 11, 16, tzinfo=UTC) + timedelta(hours=random.randrange(7 * 24))
        try:
            theirs = Decimal(call())
        except Exception:  # noqa: BLE001 (what it cannot price is not compared)
            refused += 1
            continue
        try:
            amount = card._unproved.at(clock[0]).rate(ours).total
        except ratecard.QuoteError as error:
            missing = [bucket for bucket, name in WHOLES.items() if entries[key].get(name) is None]
            if any(f"No price is known for {bucket}" in str(error) for bucket in missing):
                found["no price of the input or output"] += 1
            elif ours.get("service_tier") == "batch" and re.search("under these conditions|Not sold", str(error)):
                found["a batch of which the list is silent"] += 1
            else:
                wrong.append(f"{key}: {ours}: {error}")
            continue
        if abs(theirs - amount) <= max(abs(amount) * RELATIVE, ABSOLUTE):
            found["equal"] += 1
            continue
        rule = next((name for name, holds in RULES.items() if holds(key, entries[key], ours)), None)
        if rule is None:
            wrong.append(f"{key} of {provider_of(entries[key])}: {ours}: {amount}, {theirs}")
        else:
            found[rule] += 1
    print(f"\n{dict(found)}; refused by litellm: {refused}")  # noqa: T201
    assert not wrong, "\n".join(wrong)
