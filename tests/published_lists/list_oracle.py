"""What eight price lists of the field say that requests cost, by fractions: nothing here is of ratecard.

    python tests/published_lists/list_oracle.py       writes the totals beside the tables

Each list is one function. It says the figures and the rules of its list in a way of its own, and yields usages at every
edge, each with its total, or with None where the list does not sell what the usage asks for.
"""

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

F = Fraction
HERE = Path(__file__).parent
# A usage, and its total; None if the usage is refused.
Case = tuple[dict[str, Any], F | None]
MILLION = 1_000_000


def text(model: str, tokens: Mapping[str, int], **further: Any) -> dict[str, Any]:
    """A usage of a language model; what is empty is left out."""
    return {"type": "text", "model": model, "tokens": dict(tokens)} | {
        name: value for name, value in further.items() if value not in (None, "", {})
    }


def openai() -> Iterator[Case]:
    """A tier above 272,000 tokens of the prompt; batch and flex are half, priority is twice; 1.1 in a region."""
    times = {"": F(1), "standard": F(1), "batch": F(1, 2), "flex": F(1, 2), "priority": F(2)}
    shapes = [
        {"input": 272_000, "output": 1_000},
        {"input": 272_001, "output": 1_000},
        {"input": 1, "output": 0},
        {"input": 300_000, "output": 7, "cache_input": 299_999, "cache_write": 1},
        {"input": 272_000, "output": 0, "cache_input": 100_000, "cache_write": 50_000},
    ]
    for tokens, tier in product(shapes, times):
        long = tokens["input"] > 272_000
        read, write = tokens.get("cache_input", 0), tokens.get("cache_write", 0)
        prompt = (tokens["input"] - read - write) * 4 + read * F("0.4") + write * 5
        dollars = (prompt * (2 if long else 1) + tokens["output"] * (30 if long else 20)) * times[tier] / MILLION
        for region, searches in (("", 0), ("us", 3), ("eu", 0)):
            total = dollars * (F("1.1") if region else 1) + searches * F(10, 1_000)
            yield text("gpt-5.6", tokens, service_tier=tier, data_residency=region, counts={"search": searches}), total
    for length, tier in product((1, 272_000, 272_001, 1_050_000), ("", "batch", "flex", "priority")):
        long, read = length > 272_000, length // 2
        cost = ((length - read) * 5 + read * F("0.5")) * (2 if long else 1) + 10 * (45 if long else 30)
        cost *= F("2.5") if tier == "priority" else times[tier]
        usage = text("gpt-5.5", {"input": length, "output": 10, "cache_input": read}, service_tier=tier)
        yield usage, None if long and tier == "priority" else cost / MILLION
    small = {"input": 1_000_000, "output": 500, "cache_input": 400_000}
    for tier, (new, cached, made) in {
        "": ("0.25", "0.025", "2"),
        "batch": ("0.125", "0.0125", "1"),
        "flex": ("0.125", "0.0125", "1"),
        "priority": ("0.45", "0.045", "3.6"),
    }.items():
        yield (
            text("gpt-5-mini", small, service_tier=tier),
            (600_000 * F(new) + 400_000 * F(cached) + 500 * F(made)) / MILLION,
        )
    yield text("gpt-5-mini", small, data_residency="eu"), None
    yield text("gpt-5-mini", small, service_tier="fast"), None
    yield text("gpt-5-mini", {**small, "cache_write": 1}), None
    yield text("gpt-5.6", {"input": 10, "output": 0, "cache_input": 11}, counts={"search": 0}), None
    yield text("gpt-5.6", {"input": 10, "output": 0, "input_audio": 1}, counts={"search": 0}), None
    yield text("gpt-5.6", {"input": 10, "output": 0}, counts={"page": 1}), None


def anthropic() -> Iterator[Case]:
    """Writes of five minutes and of an hour, reads; batch, fast mode and a region multiply; no fast batch."""
    shapes = [
        {"input": 1_000, "output": 1_000},
        {"input": 199_999, "output": 10, "cache_input": 100_000, "cache_write": 50_000, "cache_write_1h": 20_000},
        {"input": 900_000, "output": 1, "cache_input": 900_000},
        {"input": 5, "output": 0, "cache_write": 5, "cache_write_1h": 5},
    ]
    for tokens, tier, speed, place in product(shapes, ("", "batch"), ("", "fast"), ("", "us")):
        hour = tokens.get("cache_write_1h", 0)
        minutes, read = tokens.get("cache_write", 0) - hour, tokens.get("cache_input", 0)
        fresh = tokens["input"] - minutes - hour - read
        dollars = fresh * 5 + minutes * F("6.25") + hour * 10 + read * F("0.5") + tokens["output"] * 25
        dollars *= (F(1, 2) if tier else 1) * (6 if speed else 1) * (F("1.1") if place else 1)
        searches = 2 if place else 0
        total = None if tier and speed else dollars / MILLION + searches * F(10, 1_000)
        stated = {"service_tier": tier, "speed": speed, "inference_geo": place, "counts": {"search": searches}}
        yield text("claude-opus-4-6", tokens, **stated), total
    for prompt in (1, 64, 199_999, 200_000, 200_001, 200_002, 1_000_000):
        for tier in ("", "batch"):
            read, write, hour = prompt // 2, prompt // 4, prompt // 8
            tokens = {
                "input": prompt,
                "output": 1_000,
                "cache_input": read,
                "cache_write": write,
                "cache_write_1h": hour,
            }
            dollars = (prompt - read - write) * 3 + (write - hour) * F("3.75") + hour * 6 + read * F("0.3")
            long = prompt > 200_000
            dollars = dollars * (2 if long else 1) + 1_000 * (F("22.5") if long else 15)
            yield text("claude-sonnet-4-5", tokens, service_tier=tier), dollars / (2 if tier else 1) / MILLION
    plain = {"input": 10, "output": 10}
    yield text("claude-sonnet-4-5", plain, speed="fast"), None
    yield text("claude-sonnet-4-5", plain, inference_geo="us"), None
    yield text("claude-opus-4-6", plain, service_tier="flex", counts={"search": 0}), None
    yield text("claude-opus-4-6", plain, inference_geo="eu", counts={"search": 0}), None
    yield text("claude-opus-4-6", {**plain, "cache_write": 2, "cache_write_1h": 3}, counts={"search": 0}), None


def gemini() -> Iterator[Case]:
    """Tiers above 200,000 tokens; half in batch and flex but for the cache; audio; the cache by the hour."""
    for prompt, tier in product(
        (1, 2, 3_000, 199_999, 200_000, 200_001, 600_000, 1_048_576), ("", "batch", "flex", "priority")
    ):
        long, read = prompt > 200_000, prompt // 3
        fresh, cached, output = (F("2.5"), F("0.25"), 15) if long else (F("1.25"), F("0.125"), 10)
        half = F(1, 2) if tier in ("batch", "flex") else F("1.8") if tier else 1
        of_cache = F("1.8") if tier == "priority" else 1
        dollars = ((prompt - read) * fresh + 100 * output) * half + read * cached * of_cache
        hours = F("0.5") if tier == "batch" else F(3) if long else F(0)
        tokens = {"input": prompt, "output": 100, "cache_input": read}
        stored = hours * 250_000
        usage = text("gemini-2.5-pro", tokens, service_tier=tier)
        yield {**usage, "counts": {"stored_token_hour": int(stored)}}, (dollars + stored * F("4.5")) / MILLION
    for audio, heard, tier in product((0, 1, 600), (0, 1), ("", "batch")):
        tokens = {
            "input": 1_000,
            "output": 50,
            "input_audio": audio,
            "cache_input": 300,
            "cache_input_audio": min(audio, heard),
        }
        both = min(audio, heard)
        fresh = (1_000 - audio - 300 + both) * F("0.3") + (audio - both) * 1
        dollars = (fresh + 50 * F("2.5")) * (F(1, 2) if tier else 1) + (300 - both) * F("0.03") + both * F("0.1")
        usage = {**text("gemini-2.5-flash", tokens, service_tier=tier), "counts": {"stored_token_hour": 24 * audio}}
        yield usage, (dollars + 24 * audio) / MILLION
    plain, none = {"input": 10, "output": 10}, {"counts": {"stored_token_hour": 0}}
    yield {**text("gemini-2.5-flash", plain, service_tier="priority"), **none}, None
    yield {**text("gemini-2.5-flash", plain, service_tier="flex"), **none}, None
    yield text("gemini-2.5-flash", plain), None
    yield {**text("gemini-2.5-flash", {**plain, "input_audio": 5, "cache_input": 5}), **none}, None
    yield {**text("gemini-2.5-flash", {**plain, "input_image": 5}), **none}, None
    yield {**text("gemini-2.5-pro", {**plain, "input_image": 5}), **none}, (10 * F("1.25") + 10 * 10) / MILLION


def bedrock() -> Iterator[Case]:
    """Every price is of a region; latency optimized in one of them, batches in two, never both."""
    tokens = {"input": 10_000, "output": 1_001}
    regions = ("", "us-east-1", "us-east-2", "us-west-2", "eu-central-1", "ap-northeast-1")
    for region, latency, tier in product(regions, ("", "standard", "optimized"), ("", "batch")):
        if not region or region.startswith("ap"):
            prices = None
        elif latency == "optimized":
            prices = (F(1), F(4)) if region == "us-east-1" and not tier else None
        elif tier:
            prices = (F("0.4"), F("1.6")) if region in ("us-east-1", "us-west-2") else None
        else:
            prices = (F("1.05"), F("4.2")) if region.startswith("eu") else (F("0.8"), F("3.2"))
        total = prices and (10_000 * prices[0] + 1_001 * prices[1]) / MILLION
        yield text("nova-pro", tokens, region=region, latency=latency, service_tier=tier), total
    cached = {**tokens, "cache_input": 9_999}
    for region, latency, tier, figures in (
        ("us-west-2", "", "", ("0.8", "0.2", "3.2")),
        ("eu-central-1", "", "", ("1.05", "0.2625", "4.2")),
        ("us-east-1", "optimized", "", ("1", "0.25", "4")),
        ("us-east-1", "", "batch", None),
    ):
        total = figures and (F(figures[0]) + 9_999 * F(figures[1]) + 1_001 * F(figures[2])) / MILLION
        yield text("nova-pro", cached, region=region, latency=latency, service_tier=tier), total
    for region, latency in product(regions, ("", "optimized")):
        known = region.startswith("us") and (not latency or region == "us-east-2")
        prices = (F(1), F(5)) if latency else (F("0.8"), F(4))
        total = (10_000 * prices[0] + 1_001 * prices[1]) / MILLION if known else None
        yield text("claude-3-5-haiku", tokens, region=region, latency=latency), total
    yield text("claude-3-5-haiku", tokens, region="us-east-2", service_tier="batch"), None
    yield text("claude-3-5-haiku", tokens, region="mars"), None


def azure() -> Iterator[Case]:
    """Data zones and regions cost a tenth more; a region has neither batches nor priority; throughput by the hour."""
    tokens = {"input": 100_000, "output": 3_000, "cache_input": 64_000}
    for place, tier in product(
        ("", "global", "us-data-zone", "eu-data-zone", "regional"), ("", "batch", "priority", "flex")
    ):
        dollars = 36_000 * F("1.25") + 64_000 * F("0.125") + 3_000 * 10
        times = {"": F(1), "batch": F(1, 2), "priority": F(2), "flex": F(0)}[tier]
        dollars *= times * (F("1.1") if place not in ("", "global") else 1)
        refused = tier == "flex" or (place == "regional" and tier)
        yield text("gpt-5", tokens, deployment=place, service_tier=tier), None if refused else dollars / MILLION
    for place, hours in product(
        ("", "us-data-zone", "eu-data-zone", "regional"), ("0", "0.5", "50", "730", "1000000", "0.001", "1")
    ):
        rate = {"": F(1), "regional": F(2)}.get(place, F("1.1"))
        usage = {"type": "text", "model": "provisioned", "counts": {"ptu_hour": hours}}
        yield usage | ({"deployment": place} if place else {}), F(hours) * rate
    yield {"type": "text", "model": "provisioned", "counts": {"ptu_hour": "1"}, "service_tier": "batch"}, None
    yield text("gpt-5", {**tokens, "cache_write": 1}), None
    yield text("gpt-5", tokens, deployment="moon"), None
    yield {"type": "text", "model": "provisioned", "counts": {}}, None


def open_models() -> Iterator[Case]:
    """A price for each size, which every request has to say; half in batches; the cache of one is not halved twice."""
    together = {"4b": "0.10", "8b": "0.20", "16b": "0.30", "21b": "0.30", "41b": "0.80", "80b": "0.90"}
    together |= {"moe-56b": "0.60", "moe-176b": "1.20"}
    fireworks = {"4b": "0.10", "8b": "0.20", "16b": "0.20", "21b": "0.90", "41b": "0.90", "80b": "0.90"}
    fireworks |= {"moe-56b": "0.50", "moe-176b": "1.20"}
    tokens = {"input": 1_234_567, "output": 89}
    for size, tier in product(("", *together), ("", "batch")):
        half = F(1, 2) if tier else F(1)
        total = F(together[size]) * 1_234_656 * half / MILLION if size else None
        yield text("together-chat", tokens, parameters=size, service_tier=tier), total
        read = 234_567
        total = F(fireworks[size]) * (1_000_089 + F(read, 2)) * half / MILLION if size else None
        if size == "moe-176b" and tier:
            total = None
        yield text("fireworks-chat", {**tokens, "cache_input": read}, parameters=size, service_tier=tier), total
    for read, tier in product((0, 1, 1_234_567), ("", "batch", "flex", "priority")):
        half = F(1, 2) if tier == "batch" else F(1)
        dollars = ((1_234_567 - read) * F("0.59") + 89 * F("0.79")) * half + read * F("0.295")
        usage = text("groq-llama-3.3-70b", {**tokens, "cache_input": read}, service_tier=tier)
        yield usage, None if tier == "priority" else dollars / MILLION
    yield text("together-chat", tokens, parameters="7b"), None
    yield text("together-chat", {**tokens, "cache_input": 1}, parameters="8b"), None


def deepgram() -> Iterator[Case]:
    """Minutes of audio, by how it is sent; speakers and redaction come on top, each by its minutes."""
    rates = {
        ("prerecorded", ""): ("0.0043", "0.0036"),
        ("prerecorded", "multi"): ("0.0052", "0.0043"),
        ("streaming", ""): ("0.0077", "0.0065"),
        ("streaming", "multi"): ("0.0092", "0.0078"),
    }
    lines = (60, 1, 3_599, "0.5")
    for (mode, language), growth in product(rates, (False, True)):
        for seconds, (speakers, redacted) in product(lines[:2], ((False, False), (True, False), (True, True))):
            usage = audio(
                seconds,
                mode=mode,
                language=language,
                plan="growth" if growth else "",
                diarization="on" if speakers else "",
                redaction="on" if redacted else "",
            )
            main, more = F(rates[mode, language][growth]), F("0.0017" if growth else "0.0020")
            minutes = F(str(seconds)) / 60
            yield usage, places(minutes * main) + places(minutes * more) * (speakers + redacted)
    for seconds in lines[2:]:
        yield audio(seconds, mode="streaming"), places(F(str(seconds)) / 60 * F("0.0077"))
        yield (
            audio(seconds, mode="streaming", redaction="on"),
            places(F(str(seconds)) / 60 * F("0.0077")) + places(F(str(seconds)) / 60 * F("0.002")),
        )
    yield audio(0, mode="prerecorded", diarization="on"), F(0)
    yield audio(60), None
    yield audio(60, diarization="on"), None
    yield audio(60, mode="live"), None
    yield audio(60, mode="streaming", diarization="true"), None


def audio(seconds: Any, **conditions: str) -> dict[str, Any]:
    """A usage of so many seconds of audio."""
    stated = {name: value for name, value in conditions.items() if value}
    return {"type": "transcription", "model": "nova-3", "counts": {"second": seconds}, **stated}


def places(amount: F) -> F:
    """An amount as a line has it: to 12 decimal places, half up."""
    return F((amount * 10**12 * 2 + 1) // 2, 10**12)


def hardware() -> Iterator[Case]:
    """Seconds of what a request runs on, which it has to say; several of one; a place and a promise multiply all."""
    replicate = {"cpu": "0.000100", "t4": "0.000225", "l40s": "0.000975", "a100": "0.001400", "h100": "0.001525"}
    for kind, number in product(("", *replicate), ("", "1", "2", "8")):
        several = int(number or 1)
        usage = {"type": "text", "model": "replicate-prediction", "counts": {"second": "12.345"}}
        usage |= {name: value for name, value in (("hardware", kind), ("gpus", number)) if value}
        sold = kind and (several == 1 or kind in ("l40s", "a100", "h100"))
        yield usage, F("12.345") * F(replicate[kind]) * several if sold else None
    modal = {"cpu": "0", "t4": "0.000164", "l40s": "0.000542", "a100": "0.000694", "h100": "0.001097"}
    for kind, place, preemption in product(modal, ("", "us", "ap"), ("", "none")):
        usage = {"type": "text", "model": "modal-function", "hardware": kind}
        usage["counts"] = {"second": 100, "core_second": 800, "gib_second": "1600.5"}
        usage |= {name: value for name, value in (("placement", place), ("preemption", preemption)) if value}
        dollars = 100 * F(modal[kind]) + 800 * F("0.0000131") + F("1600.5") * F("0.00000222")
        yield usage, dollars * {"": F(1), "us": F("1.25"), "ap": F("2.5")}[place] * (3 if preemption else 1)
    counts = {"second": 1, "core_second": 0, "gib_second": 0}
    yield {"type": "text", "model": "modal-function", "counts": counts}, None
    yield {"type": "text", "model": "modal-function", "counts": counts, "hardware": "tpu"}, None
    yield {"type": "text", "model": "modal-function", "counts": counts, "hardware": "h100", "gpus": "2"}, None
    yield {"type": "text", "model": "modal-function", "counts": {"second": 1}, "hardware": "h100"}, None


LISTS = {each.__name__: each for each in (openai, anthropic, gemini, bedrock, azure, open_models, deepgram, hardware)}


def decimal(total: F) -> str:
    """A total as a decimal, which each of these is."""
    digits = 0
    while (total * 10**digits).denominator != 1:
        digits += 1
        assert digits < 100, f"{total} is no decimal"
    whole = str(int(total * 10**digits)).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole


def lines(name: str) -> list[str]:
    """The totals of a list, as its file has them: a usage with its total, or null where it is refused."""
    return [
        json.dumps({"usage": usage, "total": None if total is None else decimal(total)})
        for usage, total in LISTS[name]()
    ]


if __name__ == "__main__":
    for each in LISTS:
        (HERE / each / "totals.jsonl").write_text("\n".join(lines(each)) + "\n", encoding="utf-8")
