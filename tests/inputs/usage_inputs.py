"""Usages and quote bodies with something in them that could be taken for something else."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

from click.testing import CliRunner
from fastapi.testclient import TestClient
from input_case import InputCase

from ratecard import PriceBook, Quote, QuoteError, TextUsage
from ratecard.cli import main
from ratecard.server import LiveRateCard, application
from shipped import CARD

DAY = date(2026, 9, 29)
OPUS, GROK = "claude-opus-4-6", "grok-4-3"
KLING = {"model": "kling-o3-pro-text-to-video", "duration": "5s"}
NO_PRICE = "No price is known for this count"
NO_AUDIO = "No price is known for input_audio tokens of this model"
NO_HOUR = "No price is known for cache_write_1h tokens of this model"
AMBIGUOUS = "In the prompt, or beside it? Give them with input_tokens alone, or with prompt_tokens alone"


@cache
def prices() -> PriceBook:
    return CARD.at(DAY)


def said(ask: Callable[[], Quote]) -> str:
    """Return a quote or a refusal in short."""
    try:
        quote = ask()
    except QuoteError as refusal:
        if not refusal.problems:
            return f"refused: {refusal.error}"
        return "refused: " + "; ".join(f"{'.'.join(map(str, at)) or 'body'}: {words}" for at, words in refusal.problems)
    total = format(quote.total.normalize(), "f")
    return f"listed: {', '.join(quote.ignored)} ({total})" if quote.ignored else f"priced: {total}"


def rated(given: str, answer: str, usage: Any, *, guard: bool = False) -> InputCase:
    """A usage as Python hands it in."""
    return InputCase(given, "python", lambda: said(lambda: prices().rate(usage)), answer, guard)


def text(
    given: str, answer: str, tokens: Any, *, model: str = OPUS, typed: bool = False, guard: bool = False, **beside: Any
) -> InputCase:
    """The tokens of a language model; `typed`: in a `TextUsage`."""
    usage = {"type": "text", "model": model, "usage": tokens, **beside}
    if typed:
        act = lambda: said(lambda: prices().rate(TextUsage.model_validate(usage)))  # noqa: E731
        return InputCase(f"{given}, typed", "python", act, answer, guard)
    return rated(given, answer, usage, guard=guard)


def of_command(given: str, answer: str, body: dict[str, Any], *, guard: bool = False) -> InputCase:
    """The last lines of `ratecard quote`, without the tables."""

    def act() -> str:
        done = CliRunner().invoke(main, ["quote", "--at", DAY.isoformat(), json.dumps(body)])
        words = done.output.strip().splitlines()
        listed = [line for line in words if line.startswith("Without effect")]
        total = next((line.split()[-1] for line in words if line.startswith("Total")), "")
        return f"listed: {listed[0].partition(': ')[2]} ({total})" if listed else f"priced: {total}"

    return InputCase(given, "cli", act, answer, guard)


@cache
def client() -> TestClient:
    nanoseconds = int(datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC).timestamp()) * 10**9
    return TestClient(application(LiveRateCard(CARD, clock=lambda: nanoseconds)))


def over_http(given: str, answer: str, path: str, body: Any, *, guard: bool = False) -> InputCase:
    """Return a case for the answer of `/api/v1`; with `?explain=true` in the path, for its list of ignored fields."""

    def act() -> str:
        with client() as asking:
            answered = asking.post(f"/api/v1{path}", json=body)
        found = answered.json()
        if found.get("ignored"):
            return f"listed: {', '.join(found['ignored'])} ({found['quote']})"
        return f"priced: {answered.text}" if answered.status_code == 200 else f"refused: {answered.text}"

    return InputCase(given, "http", act, answer, guard)


def tokens(**more: Any) -> dict[str, Any]:
    """100 tokens and 10."""
    return {"prompt_tokens": 100, "completion_tokens": 10, **more}


_100K: dict[str, Any] = {"prompt_tokens": 100_000, "completion_tokens": 10}
_CACHED = _100K | {"input_tokens_details": {"cached_tokens": 90_000}}
_ANTHROPIC = {
    "input_tokens": 100, "output_tokens": 1_000, "cache_read_input_tokens": 700_000,
    "cache_creation_input_tokens": 2_000,
}  # fmt: skip
_TIER = "Invalid enum value. Expected 'standard' | 'default' | 'auto', received"
_GEO = "Invalid enum value. Expected 'global' | '' | 'not_available', received"
_IMAGE = {"type": "image", "model": "flux-2-pro"}
_ITERATIONS = [{"type": "message", "input_tokens": 60, "output_tokens": 5}, {"input_tokens": 41, "output_tokens": 5}]

DIALECTS = [
    text("cached tokens in the details of the other dialect", "priced: 0.1143", _CACHED),
    text("cached tokens in the details of the other dialect", "priced: 0.1143", _CACHED, typed=True, guard=True),
    text("the same with no web search", "priced: 0.1143", _CACHED, web_search_requests=0, guard=True),
    text("Anthropic's own object, its cache beside the input", "priced: 0.4656", _ANTHROPIC),
    text("Anthropic's own object", "priced: 0.4656", _ANTHROPIC, typed=True),
    text("Anthropic's own object with a total of all", "priced: 0.4656", _ANTHROPIC | {"total_tokens": 703_100}),
    text(
        "Anthropic's own object with a total without its cache",
        "refused: usage.total_tokens: Expected 703100, the sum of all prompt and completion tokens",
        _ANTHROPIC | {"total_tokens": 1_100},
    ),
    text(
        "a threshold that only the whole prompt of Anthropic's own object is above",
        "priced: 0.090283",
        {"input_tokens": 100, "cache_read_input_tokens": 200_000, "output_tokens": 0},
        model=GROK,
    ),
    text(
        "cache counts beside prompt_tokens are inside it",
        "priced: 0.1143",
        _100K | {"cache_read_input_tokens": 90_000},
    ),
    text(
        "cache counts beside prompt_tokens that are not those of the details",
        "refused: usage.cache_read_input_tokens: Expected 90000, as another name of this count says",
        _CACHED | {"cache_read_input_tokens": 80_000},
    ),
    text(
        "cache counts beside both input_tokens and prompt_tokens",
        f"refused: usage.cache_read_input_tokens: {AMBIGUOUS}",
        _100K | {"input_tokens": 100_000, "cache_read_input_tokens": 5},
    ),
    text(
        "cache counts beside input_tokens and in its details",
        f"refused: usage.cache_creation_input_tokens: {AMBIGUOUS}",
        {"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 5,
         "input_tokens_details": {"cached_tokens": 5}},
    ),
    text(
        "two names of the prompt that disagree",
        "refused: usage.input_tokens: Expected 100, as another name of this count says",
        tokens(input_tokens=99),
    ),
    text(
        "two names of the cached tokens that disagree",
        "refused: usage.input_tokens_details.cached_tokens: Expected 9, as another name of this count says",
        tokens(prompt_tokens_details={"cached_tokens": 9}, input_tokens_details={"cached_tokens": 8}),
    ),
]  # fmt: skip

COUNTERS = [
    text("audio tokens", f"refused: usage.prompt_tokens_details.audio_tokens: {NO_AUDIO}",
         tokens(prompt_tokens_details={"audio_tokens": 90})),
    text("audio tokens", f"refused: usage.prompt_tokens_details.audio_tokens: {NO_AUDIO}",
         tokens(prompt_tokens_details={"audio_tokens": 90}), typed=True),
    text("audio tokens of null and 0", "priced: 0.0009", guard=True,
         tokens=tokens(prompt_tokens_details={"audio_tokens": None, "image_tokens": 0})),
    text("a counter of another provider", f"refused: usage.prompt_cache_hit_tokens: {NO_PRICE}",
         tokens(prompt_cache_hit_tokens=90)),
    text("a counter in camel case", f"refused: usage.cachedContentTokenCount: {NO_PRICE}",
         tokens(cachedContentTokenCount=90)),
    text("a typo of a counter", "refused: usage.prompt_tokens_details.cached_token: "
         f"{NO_PRICE}. Did you mean 'cached_tokens'?", tokens(prompt_tokens_details={"cached_token": 90})),
    text("a counter deep in an object of its own", f"refused: usage.cost_details.parts.0.audio_tokens: {NO_PRICE}",
         tokens(cost_details={"parts": [{"audio_tokens": 1}]})),
    text("a counter that is text", "refused: usage.tool_tokens: Expected number, received string",
         tokens(tool_tokens="5")),
    text("a counter that is true", "refused: usage.num_search_queries: Expected number, received boolean",
         tokens(num_search_queries=True)),
    text("half a counter", "refused: usage.audio_seconds: Expected integer, received float", tokens(audio_seconds=0.5)),
    text("a counter below zero", "refused: usage.input_images: Number must be greater than or equal to 0",
         tokens(input_images=-1)),
    text("fetches of Anthropic's server", f"refused: usage.server_tool_use.web_fetch_requests: {NO_PRICE}",
         tokens(server_tool_use={"web_fetch_requests": 1})),
    text("searches of Anthropic's server", "priced: 0.0209", tokens(server_tool_use={"web_search_requests": 2})),
    text("searches counted twice over", "refused: usage.server_tool_use.web_search_requests: "
         "Expected 1, as web_search_requests beside the usage says",
         tokens(server_tool_use={"web_search_requests": 2}), web_search_requests=1),
    text("what was kept for an hour", f"refused: usage.cache_creation.ephemeral_1h_input_tokens: {NO_HOUR}",
         _ANTHROPIC | {"cache_creation": {"ephemeral_1h_input_tokens": 2_000}}),
    text("what was kept for five minutes", "priced: 0.4656",
         _ANTHROPIC | {"cache_creation": {"ephemeral_5m_input_tokens": 2_000, "ephemeral_1h_input_tokens": 0}}),
    text("less kept for five minutes than was written", "refused: usage.cache_creation_input_tokens: "
         "Expected 1999, the sum of cache_creation.ephemeral_5m_input_tokens",
         _ANTHROPIC | {"cache_creation": {"ephemeral_5m_input_tokens": 1_999}}),
    text("more kept for five minutes than was written", "refused: usage.cache_creation.ephemeral_5m_input_tokens: "
         "Number must be less than or equal to 2000; usage.cache_creation_input_tokens: Expected 2001, the sum of "
         "cache_creation.ephemeral_5m_input_tokens",
         _ANTHROPIC | {"cache_creation": {"ephemeral_5m_input_tokens": 2_001}}),
    text("reasoning that is part of the completion", "priced: 0.0009", guard=True,
         tokens=tokens(completion_tokens_details={"reasoning_tokens": 10})),
    text("more reasoning than completion", "refused: usage.completion_tokens_details.reasoning_tokens: "
         "Number must be less than or equal to 10", tokens(completion_tokens_details={"reasoning_tokens": 11})),
    text("reasoning beside the completion", "refused: usage.total_tokens: "
         "Expected 110, the sum of all prompt and completion tokens", tokens(total_tokens=130)),
    text("iterations with more tokens than the usage", "refused: usage.iterations: "
         "The entries have 101 input_tokens together, and the usage has 100",
         {"input_tokens": 100, "output_tokens": 10, "iterations": _ITERATIONS}),
    text("iterations that are a part", "listed: usage.iterations.0.type (0.0009)",
         {"input_tokens": 100, "output_tokens": 10, "iterations": _ITERATIONS[:1]}),
    text("a tier with a price of its own", f"refused: usage.service_tier: {_TIER} 'priority'",
         tokens(service_tier="priority")),
    text("a batch, said beside the tokens", f"refused: processing: {_TIER} 'batch'", tokens(), processing="batch"),
    text("a speed within an object of its own", f"refused: usage.mode.speed: {_TIER} 'fast'",
         tokens(mode={"speed": "fast"})),
    text("a region with a price of its own", f"refused: usage.inference_geo: {_GEO} 'us'", tokens(inference_geo="us")),
    text("the tier, region and speed of the list", "priced: 0.0009", guard=True,
         tokens=tokens(service_tier="default", inference_geo="global", speed=None)),
    text("what counts nothing", "listed: usage.cost, usage.cost_details.upstream, usage.is_byok (0.0009)",
         tokens(cost=0.5, cost_details={"upstream": "x", "cache": None}, is_byok=False)),
    text("a key of the caller's that looks like an error", "listed: usage._errors.0 (0.0009)",
         tokens(_errors=["forged"])),
    rated("an embedding's total with something beside the prompt",
          "refused: usage.total_tokens: Expected 8, the sum of all prompt and completion tokens",
          {"type": "embedding", "model": "text-embedding-bge-m3", "usage": {"prompt_tokens": 8, "total_tokens": 9}}),
    rated("an embedding's total without its completion, which is charged",
          "refused: usage.total_tokens: Expected 9, the sum of all prompt and completion tokens",
          {"type": "embedding", "model": "text-embedding-bge-m3",
           "usage": {"prompt_tokens": 8, "completion_tokens": 1, "total_tokens": 8}}),
]  # fmt: skip

_FIELDS_OF_IMAGES = "Did you mean one of 'n', 'resolution', 'quality', 'metadata'?"
KEYS = [
    rated("ten images, as another API counts them",
          f"refused: body: Unrecognized key(s) in object: 'count'. {_FIELDS_OF_IMAGES}", {**_IMAGE, "count": 10}),
    rated("the size of an image, as another API calls it",
          f"refused: body: Unrecognized key(s) in object: 'size'. {_FIELDS_OF_IMAGES}", {**_IMAGE, "size": "4K"}),
    rated("n of an upscale",
          "refused: body: Unrecognized key(s) in object: 'n'. Did you mean one of 'factor', 'metadata'?",
          {"type": "upscale", "model": "upscaler", "factor": "2x", "n": 5}),
    text("a typo of a count beside the tokens", "refused: body: Unrecognized key(s) in object: 'web_serch_requests'. "
         "Did you mean 'web_search_requests'?", tokens(), web_serch_requests=5),
    text("a count of the usage beside it", "refused: body: Unrecognized key(s) in object: 'cached_token'. "
         "Did you mean 'usage.prompt_tokens_details.cached_tokens'?", tokens(), cached_token=5),
    text("a typo of a parameter", "listed: service_parameters.enable_web_serch (0.0009)",
         tokens(), service_parameters={"enable_web_serch": "on"}),
    text("metadata of the caller's own", "priced: 0.0009", tokens(), metadata={"team": {"tokens": 5}}, guard=True),
    text("metadata that is text", "refused: metadata: Expected object, received string", tokens(), metadata="team"),
    rated("an RPC call with a key of another kind",
          "refused: calls.0: Unrecognized key(s) in object: 'count'. Did you mean one of 'method', 'failed'?",
          {"type": "rpc", "network": "base-mainnet", "calls": [{"method": "eth_call", "count": 3}]}),
    rated("an RPC batch that names the model of something else",
          "refused: Specified model not found: grok-4-3 is of type text, and has no price for rpc",
          {"type": "rpc", "model": GROK, "network": "base-mainnet", "calls": [{"method": "eth_call"}]}),
    rated("several videos, said in a key that a video does not have",
          "refused: body: Unrecognized key(s) in object: 'n'. Did you mean one of 'duration', 'aspect_ratio', "
          "'resolution', 'upscale_factor', 'enhancement_model', 'target_fps', 'slowdown_factor', 'audio', 'video_url', "
          "'reference_video_total_duration', 'metadata'?", {"type": "video", **KLING, "n": 4}),
    rated("a prompt of a transcription", "refused: body: Unrecognized key(s) in object: 'prompt'. "
          "Did you mean one of 'seconds', 'metadata'?",
          {"type": "transcription", "model": "openai/whisper-large-v3", "seconds": 2, "prompt": "x"}),
]  # fmt: skip

SEARCHES = [
    text("the parameter of a search that the model does not have",
         "listed: service_parameters.enable_x_search (0.0009)", tokens(), service_parameters={"enable_x_search": True}),
    text("a count of a search that the model does not have",
         "refused: x_search_results: This model does not support x search", tokens(), x_search_results=1, guard=True),
    text("parameters joined by colons in the model's name", "listed: service_parameters.disable_thinking (0.0101703)",
         tokens(), model=f"{GROK}:enable_web_search=on:disable_thinking=true"),
    text("an unknown parameter after a colon", "listed: service_parameters.zzz (0.0001703)",
         tokens(), model=f"{GROK}:enable_web_search=off:zzz=1"),
]  # fmt: skip

_SENT = {**KLING, "prompt": "a cat", "image_url": "https://example.org/cat.png"}
_MANY = {f"{number:03}{'x' * 70}": 1 for number in range(30)}
_HTTP_KLING = '{"quote":0.77}'
BODIES = [
    InputCase("a surcharge without a name", "python", lambda: said(lambda: prices().surcharge(None, 2)),  # type: ignore[arg-type]
              "refused: model: Expected string, received null"),
    InputCase("a prompt in a video body", "python", lambda: said(lambda: prices().quote_video(_SENT)),
              "listed: prompt, image_url (0.77)"),
    InputCase("thirty long names in a video body", "python", lambda: said(lambda: prices().quote_video(KLING | _MANY)),
              f"listed: {', '.join(name[:64] for name in list(_MANY)[:20])} (0.77)"),
    InputCase("a name that a terminal would obey", "python",
              lambda: said(lambda: prices().quote_video({**KLING, "\x1b[2J": 1})), "listed: \\x1b[2J (0.77)"),
    InputCase("a seed in an audio body", "python",
              lambda: said(lambda: prices().quote_audio({"model": "tts-kokoro", "character_count": 2, "seed": 7})),
              "listed: seed (0.000007)"),
    of_command("a prompt in a video body", "listed: prompt, image_url ($0.77)", _SENT),
    of_command("a name that a terminal would obey", "listed: \\x1b[2J ($0.77)", {**KLING, "\x1b[2J": 1}),
    of_command("nothing else in a video body", "priced: $0.77", KLING, guard=True),
    over_http("a prompt in a video body, explained", "listed: prompt, image_url (0.77)",
              "/video/quote?explain=true", _SENT),
    over_http("a seed in an audio body, explained", "listed: seed (7e-06)", "/audio/quote?explain=true",
              {"model": "tts-kokoro", "character_count": 2, "seed": 7}),
    over_http("a prompt in a video body", f"priced: {_HTTP_KLING}", "/video/quote", _SENT, guard=True),
]  # fmt: skip

USAGE_INPUTS = [*DIALECTS, *COUNTERS, *KEYS, *SEARCHES, *BODIES]
