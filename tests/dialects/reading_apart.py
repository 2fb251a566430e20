"""A second reading of responses, which knows nothing of ours: what each costs, by the documentation of its provider.

Every count here is fresh, read or written, so nothing is contained in another, and the price is a sum of products.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

# Prices of a million tokens and of a thousand calls, no two alike: a token in another place changes the price.
RATES = {
    "input": "3",
    "cache_input": "0.37",
    "cache_write": "3.79",
    "cache_write_1h": "6.1",
    "output": "15",
    "input_audio": "41",
    "cache_input_audio": "2.3",
    "output_audio": "83",
    "input_image": "5.3",
    "cache_input_image": "0.59",
    "output_image": "31",
    "input_video": "7.1",
    "cache_input_video": "0.71",
    "output_video": "19",
    "input_document": "4.3",
    "cache_input_document": "0.43",
    "output_document": "23",
}
# Reasoning of a model with audio or images has no rate of its own here, because nobody counts its modality.
REASONING = "17"
CALLS = {
    "web_search": "11",
    "web_fetch": "1.3",
    "file_search": "2.5",
    "rerank_search": "2",
    "x_search": "5",
    "code_interpreter": "29",
    "input_audio_second": "0.1",
}
_OWN_RATE = ("audio", "image", "video", "document")


class Reading(NamedTuple):
    """What one request is billed for."""

    prompt: int = 0
    completion: int = 0
    read: int = 0
    written: int = 0
    written_1h: int = 0
    reasoning: int = 0
    # Tokens by modality; tokens without one are text.
    prompt_of: Mapping[str, int] = {}
    read_of: Mapping[str, int] = {}
    completion_of: Mapping[str, int] = {}
    calls: Mapping[str, int] = {}

    @property
    def speaks(self) -> bool:
        """Return True if the answer is not only text."""
        return any(self.completion_of.get(each) for each in _OWN_RATE)

    def price(self) -> Fraction:
        """The sum of all that is counted, each at its rate."""
        counts = Counter(
            input=self.prompt - self.read - self.written,
            cache_input=self.read,
            cache_write=self.written - self.written_1h,
            cache_write_1h=self.written_1h,
            output=self.completion,
        )
        for modality in _OWN_RATE:
            cached = self.read_of.get(modality, 0)
            counts[f"input_{modality}"] += self.prompt_of.get(modality, 0) - cached
            counts["input"] -= self.prompt_of.get(modality, 0) - cached
            counts[f"cache_input_{modality}"] += cached
            counts["cache_input"] -= cached
            counts[f"output_{modality}"] += self.completion_of.get(modality, 0)
            counts["output"] -= self.completion_of.get(modality, 0)
        tokens = sum((count * Fraction(RATES[name]) for name, count in counts.items()), Fraction())
        if not self.speaks:
            tokens += self.reasoning * (Fraction(REASONING) - Fraction(RATES["output"]))
        calls = sum((count * Fraction(CALLS[name]) for name, count in self.calls.items()), Fraction())
        return tokens / 1_000_000 + calls / 1_000


def _parts(response: Any) -> list[Any]:
    return response if isinstance(response, list) else [response]


def _usages(response: Any, *ways: str) -> Iterator[Mapping[str, Any]]:
    """Every usage in a response or in the parts of a stream, at one of these ways."""
    for part in _parts(response):
        for way in ways:
            found: Any = part
            for name in way.split("."):
                found = (found or {}).get(name)
            if found:
                yield found


def _last(response: Any, *ways: str) -> Mapping[str, Any]:
    usages = [*_usages(response, *ways)]
    return usages[-1] if usages else response


def _whole(counts: Mapping[str, Any], *names: str) -> int:
    """The first of these that is counted."""
    return next((int(counts[name]) for name in names if counts.get(name) is not None), 0)


def _of(details: Mapping[str, Any]) -> dict[str, int]:
    return {each: _whole(details, f"{each}_tokens") for each in _OWN_RATE}


def _details(usage: Mapping[str, Any], *sides: str) -> Mapping[str, Any]:
    names = (f"{side}_{word}_details" for side in sides for word in ("tokens", "token"))
    return next((usage[name] for name in names if usage.get(name)), {})


def _like_openai(usage: Mapping[str, Any]) -> Reading:
    """Read cached tokens as a part of the prompt, and reasoning as a part of the completion."""
    prompt, completion = _details(usage, "prompt", "input"), _details(usage, "completion", "output")
    return Reading(
        prompt=_whole(usage, "prompt_tokens", "input_tokens"),
        completion=_whole(usage, "completion_tokens", "output_tokens"),
        read=_whole(prompt, "cached_tokens")
        or _whole(usage, "cached_tokens", "prompt_cache_hit_tokens", "num_cached_tokens"),
        written=_whole(prompt, "cache_write_tokens", "cache_creation_input_tokens"),
        reasoning=_whole(completion, "reasoning_tokens"),
        prompt_of=_of(prompt),
        read_of=_of(prompt.get("cached_tokens_details") or {}),
        completion_of=_of(completion),
        calls={"input_audio_second": _whole(usage, "prompt_audio_seconds")},
    )


def _openai(response: Any) -> Reading:
    ends = [part["response"] for part in _parts(response) if part.get("type") in _ENDS]
    calls = Counter[str]()
    for item in (ends[-1] if ends else _parts(response)[-1]).get("output") or []:
        if item["type"] == "web_search_call" and (item.get("action") or {}).get("type") == "search":
            calls["web_search"] += 1
        calls["file_search"] += item["type"] == "file_search_call"
        calls["code_interpreter"] += item["type"] == "code_interpreter_call"
    return _like_openai(_last(response, "usage", "response.usage"))._replace(calls=calls)


_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.done")


def _xai(response: Any) -> Reading:
    """Reasoning lies beside the completion of a chat, as its total says; of a response it is part of the output."""
    usage = _last(response, "usage", "response.usage")
    reading = _like_openai(usage)
    beside = reading.reasoning if "completion_tokens" in usage else 0
    tools = usage.get("server_side_tool_usage_details") or {}
    calls = {name: _whole(tools, f"{name}_calls") for name in ("web_search", "x_search", "code_interpreter")}
    return reading._replace(completion=reading.completion + beside, calls=calls)


def _moonshot(response: Any) -> Reading:
    """A stream has its usage in the choice that ends it."""
    choices = [choice for part in _parts(response) for choice in part["choices"] if choice.get("usage")]
    return _like_openai(choices[-1]["usage"] if choices else _last(response, "usage"))


def _anthropic(response: Any) -> Reading:
    """The cache lies beside the input. In a stream, a later count replaces an earlier one."""
    usage: dict[str, Any] = {}
    for later in _usages(response, "message.usage", "usage"):
        usage |= {name: count for name, count in later.items() if count is not None}
    read, written = _whole(usage, "cache_read_input_tokens"), _whole(usage, "cache_creation_input_tokens")
    tools = usage.get("server_tool_use") or {}
    long, short = (_whole(usage.get("cache_creation") or {}, f"ephemeral_{each}_input_tokens") for each in ("1h", "5m"))
    return Reading(
        prompt=_whole(usage, "input_tokens") + read + written,
        completion=_whole(usage, "output_tokens"),
        read=read,
        written=written,
        # Everything is written for an hour if nothing is written for five minutes.
        written_1h=written if long and not short else long,
        reasoning=_whole(usage.get("output_tokens_details") or {}, "thinking_tokens"),
        calls={name: _whole(tools, f"{name}_requests") for name in ("web_search", "web_fetch")},
    )


def _by_modality(entries: Iterable[Mapping[str, Any]] | None, count: str) -> Counter[str]:
    return Counter({entry["modality"].lower(): entry.get(count, 0) for entry in entries or ()})


def _gemini(response: Any) -> Reading:
    """Thoughts lie beside the candidates, the prompt of tools beside the prompt."""
    usage = _last(response, "usageMetadata")

    def of(*lists: str) -> Counter[str]:
        return sum((_by_modality(usage.get(name), "tokenCount") for name in lists), Counter[str]())

    return Reading(
        prompt=_whole(usage, "promptTokenCount") + _whole(usage, "toolUsePromptTokenCount"),
        completion=_whole(usage, "candidatesTokenCount") + _whole(usage, "thoughtsTokenCount"),
        read=_whole(usage, "cachedContentTokenCount"),
        reasoning=_whole(usage, "thoughtsTokenCount"),
        prompt_of=of("promptTokensDetails", "promptTokenDetails", "toolUsePromptTokensDetails"),
        read_of=of("cacheTokensDetails"),
        completion_of=of("candidatesTokensDetails"),
        calls={"web_search": sum(map(len, _queries(response)))},
    )


def _queries(response: Any) -> Iterator[list[str]]:
    last: dict[int, list[str]] = {}
    for part in _parts(response):
        for index, candidate in enumerate(part.get("candidates") or []):
            if queries := (candidate.get("groundingMetadata") or {}).get("webSearchQueries"):
                last[index] = queries
    yield from last.values()


def _interactions(response: Any) -> Reading:
    """Thoughts lie beside the output, tokens of tools beside the input."""
    usage = _last(response, "interaction.usage", "usage")
    return Reading(
        prompt=_whole(usage, "total_input_tokens") + _whole(usage, "total_tool_use_tokens"),
        completion=_whole(usage, "total_output_tokens") + _whole(usage, "total_thought_tokens"),
        read=_whole(usage, "total_cached_tokens"),
        reasoning=_whole(usage, "total_thought_tokens"),
        prompt_of=_by_modality(usage.get("input_tokens_by_modality"), "tokens"),
        completion_of=_by_modality(usage.get("output_tokens_by_modality"), "tokens"),
        calls={"web_search": sum(each["count"] for each in usage.get("grounding_tool_count") or [])},
    )


def _bedrock(response: Any) -> Reading:
    """The cache lies beside the input."""
    usage = _last(response, "metadata.usage", "usage")
    read, written = _whole(usage, "cacheReadInputTokens"), _whole(usage, "cacheWriteInputTokens")
    return Reading(
        prompt=_whole(usage, "inputTokens") + read + written,
        completion=_whole(usage, "outputTokens"),
        read=read,
        written=written,
        written_1h=sum(each["inputTokens"] for each in usage.get("cacheDetails") or [] if each["ttl"] == "1h"),
    )


def _cohere(response: Any) -> Reading:
    """Billed are the billed units: `tokens` and `cached_tokens` count the provider's own instructions too."""
    billed = _last(response, "usage", "meta", "delta.usage", "response.meta")["billed_units"]
    searches = {"rerank_search": _whole(billed, "search_units")}
    return Reading(_whole(billed, "input_tokens"), _whole(billed, "output_tokens"), calls=searches)


def _langchain(response: Any) -> Reading:
    """The input contains all of the cache, the output the reasoning."""
    usage = _last(response, "usage_metadata")
    inside, outside = usage.get("input_token_details") or {}, usage.get("output_token_details") or {}
    long = _whole(inside, "ephemeral_1h_input_tokens")
    return Reading(
        prompt=_whole(usage, "input_tokens"),
        completion=_whole(usage, "output_tokens"),
        read=_whole(inside, "cache_read"),
        written=_whole(inside, "cache_creation") + _whole(inside, "ephemeral_5m_input_tokens") + long,
        written_1h=long,
        reasoning=_whole(outside, "reasoning"),
    )


def _vercel(response: Any) -> Reading:
    """Since version 6, the input contains the cache and the output the reasoning."""
    usage = _last(response, "usage")
    inside, outside = usage.get("inputTokenDetails") or {}, usage.get("outputTokenDetails") or {}
    return Reading(
        prompt=_whole(usage, "inputTokens"),
        completion=_whole(usage, "outputTokens"),
        read=_whole(inside, "cacheReadTokens"),
        written=_whole(inside, "cacheWriteTokens"),
        reasoning=_whole(outside, "reasoningTokens"),
    )


def _otlp(response: Any) -> Reading:
    """The conventions: input tokens include the cached ones, output tokens the reasoning."""
    span = response if "attributes" in response else response["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    said = {entry["key"]: next(iter(entry["value"].values())) for entry in span["attributes"]}
    counts = {name.removeprefix("gen_ai.usage."): count for name, count in said.items()}
    return Reading(
        prompt=_whole(counts, "input_tokens"),
        completion=_whole(counts, "output_tokens"),
        read=_whole(counts, "cache_read.input_tokens"),
        written=_whole(counts, "cache_creation.input_tokens"),
        reasoning=_whole(counts, "reasoning.output_tokens"),
    )


def _last_of_openai(*ways: str) -> Callable[[Any], Reading]:
    return lambda response: _like_openai(_last(response, *ways))


READINGS: Mapping[str, Callable[[Any], Reading]] = {
    "openai": _openai,
    "openai-realtime": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "gemini-interactions": _interactions,
    "bedrock": _bedrock,
    "deepseek": _last_of_openai("usage", "response.usage"),
    "openrouter": _last_of_openai("usage", "response.usage"),
    "groq": _last_of_openai("usage", "x_groq.usage"),
    "mistral": _last_of_openai("usage"),
    "together": _last_of_openai("usage"),
    "moonshot": _moonshot,
    "xai": _xai,
    "cohere": _cohere,
    "voyage": lambda response: Reading(response["usage"]["total_tokens"]),
    "langchain": _langchain,
    "vercel": _vercel,
    "otlp": _otlp,
}
