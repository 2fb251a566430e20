"""The usage dialect of each provider, as data: the counts in its responses, and which of them contain others.

A dialect takes the counts that several providers share from `counters.py`, and adds its own. A count `beside` a bucket
(Gemini's thoughts beside the candidates, Anthropic's cache beside the input) is added to that bucket; any other part is
already included in the count of its whole.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, get_args

from ratecard.requests.counters import COUNTER, LIFETIMES, MODALITIES, Counter, Sign, UsageDialect, Way

_PROMPT_PARTS = tuple(f"{modality} of the prompt" for modality in MODALITIES)
_CACHE_PARTS = tuple(f"{modality} of the cache" for modality in MODALITIES[:3])
_COMPLETION_PARTS = tuple(f"{modality} of the completion" for modality in MODALITIES)
_PREDICTIONS = ("accepted_prediction_tokens", "rejected_prediction_tokens")
_LIFETIMES = LIFETIMES[:2]
# The conditions that Anthropic states.
_STATED = ("service_tier", "speed", "inference_geo")


def _shared(*names: str) -> tuple[Counter, ...]:
    return tuple(COUNTER[name] for name in names)


def _one(name: str, *names: str, further: tuple[Way, ...] = ()) -> Counter:
    """Return the first of these counts, with the paths of all of them and the `further` paths."""
    paths = [path for counter_name in (name, *names) for path in COUNTER[counter_name].paths]
    return COUNTER[name]._replace(paths=(*paths, *further))


def _both(name: str) -> tuple[Way, ...]:
    """Return the ways for a name in JSON and in the Python client: `promptTokenCount`, `prompt_token_count`."""
    names = (name, "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name))
    return tuple((spelling,) for spelling in dict.fromkeys(names))


def _says(way: str, *words: str) -> Sign:
    """Return a sign: a way, given as text with dots, and the words that the value there may be."""
    return tuple(way.split(".")), frozenset(words)


def _both_ways(way: str) -> tuple[Way, ...]:
    """Return a way, given as text with dots, twice: with the names of JSON and with those of the Python client."""
    names = [_both(name) for name in way.split(".")]
    return tuple(tuple(name[place][0] for name in names) for place in (0, -1))


def _both_say(*ways: str, words: tuple[str, ...] = ()) -> tuple[Sign, ...]:
    """Return a sign for each way, with the names of JSON and with those of the Python client."""
    return tuple((way, frozenset(words)) for dotted in ways for way in _both_ways(dotted))


# The signs of a chat completion. In a stream, the last part with choices has the reason why it ended.
_CHAT_ENDS = (_says("choices.*.finish_reason"),)
_CHAT = _says("object", "chat.completion")


def _by_modality(lists: Mapping[str, str], modalities: Iterable[str]) -> tuple[Counter, ...]:
    """Return the counts in lists by modality; the bucket of each is the bucket of its list and the modality."""
    return tuple(
        Counter(
            f"{name} {modality}", tuple((*way, modality) for way in _both(name)), bucket=f"{bucket}_{modality.lower()}"
        )
        for name, bucket in lists.items()
        for modality in modalities
    )


_TOTAL = {"total": ("completion", "prompt")}
# In chat completions, responses, images and audio, cached tokens and reasoning are parts of other counts.
_OPENAI_COUNTERS = (
    _one("prompt", "input"),
    *_shared("completion", "total", "read", "written", *LIFETIMES[2:], "reasoning_tokens", *_PREDICTIONS),
    *_shared(*_PROMPT_PARTS, *_CACHE_PARTS, *_COMPLETION_PARTS),
)
# The first and the last events of a stream of OpenAI's Responses API, which other providers have too.
_RESPONSE_BEGINS = _says("type", "response.created", "response.queued", "response.in_progress")
_RESPONSE_ENDS = _says("type", "response.completed", "response.incomplete", "response.failed")
# Chat completions and responses, also as streams, of all providers that answer as OpenAI does.
_AS_OPENAI = UsageDialect(
    _OPENAI_COUNTERS,
    required=("prompt", "completion"),
    sums=_TOTAL,
    usage=(("usage",), ("response", "usage")),
    model=(("model",), ("response", "model")),
    conditions={"service_tier": (("service_tier",), ("response", "service_tier"))},
    apart=tuple(
        (*at, *way)
        for at in ((), ("response",))
        for way in (("tool_usage", "image_gen"), ("svg_usage",), ("output", "*", "svg_usage"))
    ),
    calls_at={"web_search": tuple((*at, "tool_usage", "web_search", "num_requests") for at in ((), ("response",)))},
    # A call without an action is a search: early versions of the API did not state the action.
    calls={
        **{("web_search_call", action): "web_search" for action in ("search", "")},
        ("file_search_call",): "file_search",
    },
    listed_calls={f"{tool}_call": tool for tool in ("code_interpreter", "image_generation", "shell")},
    id=(("id",), ("response", "id")),
    order=(("sequence_number",),),
    begins=(_RESPONSE_BEGINS,),
    ends=(*_CHAT_ENDS, _RESPONSE_ENDS),
    complete=(_CHAT, _says("object", "response", "list")),
    embedding=(_says("object", "list"),),
)


def _of_a_session(counter: Counter) -> Counter:
    """Return a count with the path that its details have in speech, sessions and runs: `input_token_details`."""
    paths = ((path[0].replace("_tokens_", "_token_"), *path[1:]) for path in counter.paths if len(path) > 1)
    return counter._replace(paths=tuple(dict.fromkeys((*counter.paths, *paths))))


_OPENAI = replace(
    _AS_OPENAI,
    counters=tuple(map(_of_a_session, _OPENAI_COUNTERS)),
    ends=(
        *_AS_OPENAI.ends,
        _says("type", "response.done", "transcript.text.done"),
        _says("type", "speech.audio.done", "image_generation.completed", "image_edit.completed"),
    ),
    turns=(_says("type", "response.done"),),
    of_another_model=(_says("type", "conversation.item.input_audio_transcription.completed"),),
    seconds=(("usage", "seconds"), ("duration",)),
    pieces=(("data",),),
    piece=("b64_json", "url"),
    no_price=frozenset(("latency_checkpoint",)),
    of_several=(_says("object", "batch", "agent.session", "agent.session.turn"),),
)
_ANTHROPIC = UsageDialect(
    (
        *_shared("input", "completion", "top read", "top written", *_LIFETIMES, "reasoning_tokens", "searches"),
        Counter("fetches", (("server_tool_use", "web_fetch_requests"),), meter="web_fetch"),
    ),
    required=("input", "completion"),
    usage=(("usage",), ("message", "usage")),
    model=(("model",), ("message", "model")),
    conditions={name: ((name,),) for name in _STATED},
    stream="replace",
    id=(("message", "id"), ("id",)),
    begins=(_says("type", "message_start"),),
    # The part with the stop reason counts the output. The part that stops a stream does not, unless a client has put
    # the message into it.
    ends=(_says("delta.stop_reason"), _says("message.stop_reason")),
    continues=(_says("type", "message_delta"),),
    complete=(_says("type", "message"),),
    apart=(("usage", "iterations"), ("message", "usage", "iterations"), ("iterations",)),
    iterations="iterations",
    no_price=frozenset(("iterations",)),
)
_GEMINI_LISTS = {
    "promptTokensDetails": "input",
    "promptTokenDetails": "input",  # embeddings have this name
    "toolUsePromptTokensDetails": "input",
    "cacheTokensDetails": "cache_input",
    "candidatesTokensDetails": "output",
    "responseTokensDetails": "output",
}
_GEMINI = UsageDialect(
    (
        Counter("prompt", _both("promptTokenCount"), bucket="input"),
        Counter("prompt of tools", _both("toolUsePromptTokenCount"), bucket="input"),
        # The cache may hold tokens of both prompts, so this count is not a part of only one of them.
        Counter("read", _both("cachedContentTokenCount"), bucket="cache_input"),
        Counter("completion", _both("candidatesTokenCount") + _both("responseTokenCount"), bucket="output"),
        Counter("thoughts", _both("thoughtsTokenCount"), bucket="output_reasoning", beside="output"),
        Counter("total", _both("totalTokenCount")),
        *_by_modality(_GEMINI_LISTS, ("TEXT", "AUDIO", "IMAGE", "VIDEO", "DOCUMENT")),
    ),
    required=("prompt",),
    sums={"total": ("prompt of tools", "completion", "thoughts", "prompt")},
    entries={
        name: (("modality",), ("tokenCount", "token_count")) for list_of in _GEMINI_LISTS for (name,) in _both(list_of)
    },
    usage=_both("usageMetadata"),
    model=_both("modelVersion"),
    id=_both("responseId"),
    # A session counts each turn by itself; its parts have other names than those of a stream.
    begins=_both_say("serverContent.modelTurn"),
    ends=_both_say(
        *("candidates.*.finishReason", "promptFeedback.blockReason"),
        *("serverContent.turnComplete", "serverContent.generationComplete", "serverContent.interrupted"),
    ),
    turns=(
        *_both_say("serverContent", "toolCall", "usageMetadata.responseTokenCount"),
        *_both_say("usageMetadata.responseTokenCount", words=("0",)),
    ),
    embedding=(_says("embedding"), _says("embeddings")),
    listed={
        way: "web_search"
        for at in ("candidates.*", "serverContent")
        for way in _both_ways(f"{at}.groundingMetadata.webSearchQueries.*")
    },
    conditions={
        "service_tier": tuple(
            (*usage, *name)
            for usage in (*_both("usageMetadata"), ())
            for name in (*_both("serviceTier"), *_both("trafficType"))
        )
    },
    values={
        "service_tier": {
            "ON_DEMAND": "standard",
            "ON_DEMAND_PRIORITY": "priority",
            "ON_DEMAND_FLEX": "flex",
            "TRAFFIC_TYPE_UNSPECIFIED": "",
            "unspecified": "",
        }
    },
)
_BEDROCK = UsageDialect(
    (
        Counter("input", (("inputTokens",),), bucket="input"),
        Counter("completion", (("outputTokens",),), bucket="output"),
        Counter("read", (("cacheReadInputTokens",), ("cacheReadInputTokenCount",)), "", "cache_input", "input"),
        Counter("written", (("cacheWriteInputTokens",), ("cacheWriteInputTokenCount",)), "", "cache_write", "input"),
        Counter("written for 5 minutes", (("cacheDetails", "5m"),), "written", without="cache_write_1h"),
        Counter("written for 1 hour", (("cacheDetails", "1h"),), "written", "cache_write_1h"),
        Counter("total", (("totalTokens",),)),
    ),
    required=("input", "completion"),
    sums={"total": ("read", "written", "input", "completion")},
    entries={"cacheDetails": (("ttl",), ("inputTokens",))},
    usage=(("usage",), ("metadata", "usage")),
    ends=(_says("messageStop"), _says("metadata.usage"), _says("stopReason")),
    model=(),
    conditions={
        "service_tier": (("serviceTier", "type"), ("metadata", "serviceTier", "type")),
        "latency": (("performanceConfig", "latency"), ("metadata", "performanceConfig", "latency")),
    },
    values={"latency": {"standard": ""}},
)
_MISSED = Counter("missed", (("prompt_cache_miss_tokens",),), "prompt")
_HIT_OR_MISSED = {"prompt": ("read", "missed")}
_DEEPSEEK = replace(
    _AS_OPENAI,
    counters=(
        _one("prompt", "input"),
        *_shared("completion", "total", "reasoning_tokens"),
        _one("read", further=(("prompt_cache_hit_tokens",),)),
        _MISSED,
    ),
    sums=_TOTAL | _HIT_OR_MISSED,
)
_SEARCHED = ("server_tool_use_details", "web_search_requests")
# Bills are by the provider's own counts: `usage` in a response, and `native_tokens_...` in a generation.
_OPENROUTER = replace(
    _AS_OPENAI,
    counters=(
        _one("prompt", "input", further=(("native_tokens_prompt",),)),
        _one("completion", further=(("native_tokens_completion",),)),
        _one("read", further=(("native_tokens_cached",),)),
        _one("reasoning_tokens", further=(("native_tokens_reasoning",),)),
        _one("image of the completion", further=(("native_tokens_completion_images",),)),
        _one("searches", further=(_SEARCHED,)),
        *_shared("total", "written", *_PREDICTIONS, *_PROMPT_PARTS, *_CACHE_PARTS),
        *_shared("text of the completion", "audio of the completion", "video of the completion"),
    ),
    usage=(*_AS_OPENAI.usage, ("data",)),
    model=(*_AS_OPENAI.model, ("data", "model")),
    id=(*_AS_OPENAI.id, ("data", "id")),
    ends=(*_AS_OPENAI.ends, _says("type", "response.done")),
    # A generation also has OpenRouter's own counts, times, the name of the app, and amounts, one of them named `usage`.
    no_price=frozenset(
        (
            *("tokens_prompt", "tokens_completion", "latency", "moderation_latency", "generation_time"),
            *("app_id", "provider_responses", "usage", "cache_discount"),
        )
    ),
)
_KINDS = ("completion", "text_completion", "responses", "embedding", "anthropic_messages", "generate_content")
_CREATED = ("prompt_tokens_details", "cache_creation_token_details")
# Counts of the cache at the top repeat those of the details. A row of the spend logs has the counts at its top.
_LITELLM = UsageDialect(
    (
        _one("prompt"),
        _one("read", "top read", further=(("prompt_cache_hit_tokens",),)),
        _MISSED,
        _one("written", "top written", further=(("prompt_tokens_details", "cache_creation_tokens"),)),
        _one("searches", further=(("prompt_tokens_details", "web_search_requests"), _SEARCHED)),
        *_shared("completion", "total", "reasoning_tokens", *_PREDICTIONS),
        *_shared(*_PROMPT_PARTS, *_CACHE_PARTS, *_COMPLETION_PARTS),
        _one("written for 5 minutes", further=((*_CREATED, "ephemeral_5m_input_tokens"),)),
        _one("written for 1 hour", further=((*_CREATED, "ephemeral_1h_input_tokens"),)),
        Counter("fetches", (("server_tool_use", "web_fetch_requests"),), meter="web_fetch"),
    ),
    required=("prompt", "completion"),
    sums=_TOTAL | _HIT_OR_MISSED,
    usage=(("usage",), ("metadata", "usage_object")),
    conditions={name: ((name,),) for name in _STATED},
    moment=(("startTime",),),
    id=(("id",), ("request_id",)),
    ends=_CHAT_ENDS,
    complete=(_CHAT, _says("object", "list"), _says("call_type")),
    iterations="iterations",
    no_price=frozenset(("iterations",)),
    kinds=(("call_type",),),
    read_kinds=frozenset((*_KINDS, *(f"a{kind}" for kind in _KINDS))),
    embedding=(_says("object", "list"), _says("call_type", "embedding", "aembedding")),
)


def _of_modality(bucket: str, name: str) -> tuple[Counter, ...]:
    """Return the counts of genai-prices for a bucket, whole and by modality; `name` has a `{}` for the modality."""
    return tuple(
        Counter(
            f"{bucket} {modality}".strip(),
            ((name.format(f"{modality}_" if modality else ""),),),
            bucket=bucket.format(f"_{modality}" if modality else ""),
        )
        for modality in ("", *MODALITIES)
    )


# A count of genai-prices -> the count that contains it.
_METER_WHOLES = {
    "input_audio_second": "audio_second",
    "output_audio_second": "audio_second",
    "input_annotated_document_page": "input_document_page",
}
_METERS = (
    *("input_character", "input_text_message", "audio_second", "input_audio_second", "output_audio_second"),
    *("input_pixel", "input_document_page", "input_annotated_document_page"),
    *("rerank_search", "web_search", "social_search", "storage_search", "code_execution", "request"),
)


def _of_meter(meter: str) -> Counter:
    """Return the count of genai-prices for a meter; the name of the count is the plural of the meter."""
    name = f"{meter}es" if meter.endswith("search") else f"{meter}s"
    fractions = meter.endswith("second")
    return Counter(meter, ((name,),), whole=_METER_WHOLES.get(meter, ""), meter=meter, fractions=fractions)


_GENAI_PRICES = UsageDialect(
    (
        *_of_modality("input{}", "input_{}tokens"),
        *_of_modality("output{}", "output_{}tokens"),
        *_of_modality("cache_input{}", "cache_{}read_tokens"),
        *_of_modality("cache_write{}", "cache_{}write_tokens"),
        *_of_modality("cache_write_1h{}", "cache_{}write_1h_tokens"),
        # The bucket `cache_write` has the rate of five minutes, so these counts have no bucket of their own.
        *(
            counter._replace(bucket="", whole=whole.name, without=counter.bucket.replace("5m", "1h"))
            for counter, whole in zip(
                _of_modality("cache_write_5m{}", "cache_{}write_5m_tokens"),
                _of_modality("cache_write{}", "cache_{}write_tokens"),
                strict=True,
            )
        ),
        *_of_modality("input{}_tool", "input_{}tool_tokens"),
        *_of_modality("output{}_reasoning", "output_{}reasoning_tokens"),
        *_of_modality("output{}_citation", "output_{}citation_tokens"),
        *map(_of_meter, _METERS),
    ),
    # A usage with only an output is a part of another provider's stream.
    only_with={"output{}": ("input{}",)},
    stream="add",
)
_ATTRIBUTE = "gen_ai.usage."


def _of_span(*names: str) -> tuple[Way, ...]:
    return tuple((*at, name) for name in names for at in (("attributes",), ()))


def _attributes(name: str, *attributes: str) -> Counter:
    return COUNTER[name]._replace(paths=tuple((f"{_ATTRIBUTE}{attribute}",) for attribute in attributes), beside="")


# By the semantic conventions, input tokens include the cached ones, and output tokens include the reasoning.
_OPENTELEMETRY = UsageDialect(
    (
        _attributes("prompt", "input_tokens", "prompt_tokens"),
        _attributes("completion", "output_tokens", "completion_tokens"),
        _attributes("read", "cache_read.input_tokens", "cache_read_input_tokens", "details.cache_read_tokens"),
        _attributes(
            "written", "cache_creation.input_tokens", "cache_creation_input_tokens", "details.cache_write_tokens"
        ),
        _attributes("reasoning_tokens", "reasoning.output_tokens", "details.reasoning_tokens"),
        *(_attributes(f"{modality} of the prompt", f"{modality}.input_tokens") for modality in MODALITIES),
        *(_attributes(f"{modality} of the completion", f"{modality}.output_tokens") for modality in MODALITIES),
    ),
    required=("prompt",),
    usage=(("attributes",),),
    prefix=_ATTRIBUTE,
    model=_of_span("gen_ai.response.model", "gen_ai.request.model"),
    conditions={"service_tier": _of_span("openai.response.service_tier", "gen_ai.openai.response.service_tier")},
    moment=(("start_time",),),
    stream="refuse",
    kinds=_of_span("gen_ai.operation.name"),
    read_kinds=frozenset(("chat", "generate_content", "text_completion", "embeddings")),
    embedding=tuple((way, frozenset(("embeddings",))) for way in _of_span("gen_ai.operation.name")),
    exported=("resourceSpans", "*", "scopeSpans", "*", "spans", "*"),
    attributes="attributes",
)
# Groq's usage also has times, which have no price. Its first streams had the usage in `x_groq`.
_GROQ = replace(
    _AS_OPENAI,
    usage=(*_AS_OPENAI.usage, ("x_groq", "usage")),
    values={"service_tier": {"on_demand": "standard"}},
    no_price=frozenset(("queue_time", "prompt_time", "completion_time", "total_time")),
    # A system of several models lists the requests that it made to each of them.
    apart=(
        *_AS_OPENAI.apart,
        *((*at, "usage_breakdown", "models", "*", "usage") for at in ((), ("x_groq",))),
    ),
    listed={("choices", "*", at, "executed_tools", "*"): "executed_tool" for at in ("message", "delta")},
)
# In a chat, reasoning is counted beside the completion, as the total shows; in a response, it is part of the output.
_XAI_TOOLS = ("web_search", "x_search", "code_interpreter", "file_search", "document_search", "image_generation", "mcp")
_XAI_CALLS = tuple(f"calls of {tool}" for tool in _XAI_TOOLS)
# MCP calls have no price of their own: only their tokens are billed. The meter `x_search` counts results, not calls.
_XAI_METERS = {"mcp": "", "x_search": "x_search_call"}
_XAI = replace(
    _AS_OPENAI,
    counters=(
        _one("prompt", "input"),
        *_shared("completion", "total", "read", *_PREDICTIONS, *_PROMPT_PARTS, *_COMPLETION_PARTS),
        Counter(
            "reasoning beside",
            (("completion_tokens_details", "reasoning_tokens"),),
            bucket="output_reasoning",
            beside="output",
        ),
        Counter("reasoning_tokens", (("output_tokens_details", "reasoning_tokens"),), "completion", "output_reasoning"),
        Counter("sources", (("num_sources_used",),), meter="source"),
        Counter("calls", (("num_server_side_tools_used",),)),
        *(
            Counter(calls, (("server_side_tool_usage_details", f"{tool}_calls"),), meter=_XAI_METERS.get(tool, tool))
            for calls, tool in zip(_XAI_CALLS, _XAI_TOOLS, strict=True)
        ),
    ),
    sums={"total": ("reasoning beside", "completion", "prompt"), "calls": _XAI_CALLS[::-1]},
    only_with={"calls": _XAI_CALLS},
    # These details describe only the last of several calls of the model.
    no_price=frozenset(("context_details",)),
)
# Together and Moonshot have the cached tokens at the top of the usage. Moonshot has the usage of a stream in a choice.
_CACHED_AT_THE_TOP = replace(
    _AS_OPENAI,
    counters=(
        _one("prompt"),
        _one("read", further=(("cached_tokens",),)),
        *_shared("completion", "total", "reasoning_tokens"),
    ),
    usage=(("usage",), ("choices", "*", "usage")),
)
_MISTRAL = replace(
    _AS_OPENAI,
    counters=(
        _one("prompt"),
        _one("read", further=(("prompt_token_details", "cached_tokens"), ("num_cached_tokens",))),
        *_shared("completion", "total", "reasoning_tokens"),
        Counter("seconds", (("prompt_audio_seconds",),), meter="input_audio_second", fractions=True),
    ),
    conditions={"service_tier": (*_AS_OPENAI.conditions["service_tier"], ("data", "service_tier"))},
    # Mistral's client returns each part of a stream as the data of an event.
    usage=(*_AS_OPENAI.usage, ("data", "usage")),
    model=(*_AS_OPENAI.model, ("data", "model")),
    id=(*_AS_OPENAI.id, ("data", "id")),
    ends=(*_AS_OPENAI.ends, _says("data.choices.*.finish_reason")),
    # Neither the messages of the prompt nor the number of requests has a price.
    no_price=frozenset(("messages", "request_count")),
)
# Cohere does not bill the tokens of its own instructions, which `tokens` and `cached_tokens` include.
_BILLED = "billed_units"
_COHERE = UsageDialect(
    (
        Counter("input", ((_BILLED, "input_tokens"),), bucket="input"),
        Counter("completion", ((_BILLED, "output_tokens"),), bucket="output"),
        Counter("searches", ((_BILLED, "search_units"),), meter="rerank_search"),
        Counter("images", ((_BILLED, "images"),), meter="image"),
        Counter("classifications", ((_BILLED, "classifications"),), meter="classification"),
    ),
    usage=(("usage",), ("meta",), ("delta", "usage"), ("response", "meta")),
    model=(),
    begins=(_says("type", "message-start"), _says("event_type", "stream-start")),
    ends=(_says("type", "message-end"), _says("event_type", "stream-end")),
    complete=(_says("usage"), _says("meta")),
    no_price=frozenset(("tokens", "cached_tokens", "api_version")),
    embedding=(_says("response_type"),),
)
# Voyage makes embeddings and rerankings, so all of its tokens are input.
_VOYAGE = UsageDialect(
    (Counter("prompt", (("total_tokens",),), bucket="input"), Counter("text", (("text_tokens",),), "prompt")),
    required=("prompt",),
    sums={"prompt": ("text",)},
    complete=(_says("object", "list"),),
    embedding=(_says("object", "list"),),
    # Voyage's client returns the embeddings or results beside the tokens.
    no_price=frozenset(("embeddings", "results")),
)


_INTERACTION_LISTS = {
    "input_tokens_by_modality": "input",
    "tool_use_tokens_by_modality": "input",
    "cached_tokens_by_modality": "cache_input",
    "output_tokens_by_modality": "output",
}
_GEMINI_INTERACTIONS = UsageDialect(
    (
        Counter("prompt", (("total_input_tokens",),), bucket="input"),
        Counter("prompt of tools", (("total_tool_use_tokens",),), bucket="input"),
        # The cache may hold tokens of both prompts, so this count is not a part of only one of them.
        Counter("read", (("total_cached_tokens",),), bucket="cache_input"),
        Counter("completion", (("total_output_tokens",),), bucket="output"),
        Counter("thoughts", (("total_thought_tokens",),), bucket="output_reasoning", beside="output"),
        Counter("total", (("total_tokens",),)),
        *_by_modality(_INTERACTION_LISTS, (*MODALITIES, "document")),
        Counter("searches", (("grounding_tool_count", "google_search"),), meter="web_search"),
    ),
    required=("prompt",),
    sums={"total": ("prompt of tools", "completion", "thoughts", "prompt")},
    entries={
        **dict.fromkeys(_INTERACTION_LISTS, (("modality",), ("tokens",))),
        "grounding_tool_count": (("type",), ("count",)),
    },
    usage=(("usage",), ("interaction", "usage")),
    model=(("model",), ("interaction", "model")),
    conditions={"service_tier": (("service_tier",), ("interaction", "service_tier"))},
    id=(("id",), ("interaction", "id")),
    begins=(_says("event_type", "interaction.created", "interaction.start"),),
    ends=(
        _says("event_type", "interaction.completed", "interaction.complete", "interaction.failed"),
        _says("event_type", "interaction.cancelled", "interaction.incomplete"),
    ),
    complete=(_says("object", "interaction"),),
)
# In a message of LangChain, the input includes the cache, and the output the reasoning. Tokens that are written to the
# cache for a stated time are not in `cache_creation` too. Parts of a stream are added up, as LangChain does.
_LANGCHAIN_USAGE = (("usage_metadata",), ("kwargs", "usage_metadata"))
_IN, _OUT = "input_token_details", "output_token_details"
_METADATA = ("response_metadata",)
_LANGCHAIN = UsageDialect(
    (
        Counter("prompt", (("input_tokens",),), bucket="input"),
        Counter("completion", (("output_tokens",),), bucket="output"),
        Counter("total", (("total_tokens",),)),
        Counter("read", ((_IN, "cache_read"),), "prompt", "cache_input"),
        Counter("written", ((_IN, "cache_creation"),), "prompt", "cache_write", without="cache_input"),
        Counter(
            "written for 5 minutes",
            ((_IN, "ephemeral_5m_input_tokens"),),
            "prompt",
            "cache_write",
            without="cache_input",
        ),
        Counter("written for 1 hour", ((_IN, "ephemeral_1h_input_tokens"),), "prompt", "cache_write_1h", "cache_write"),
        Counter("audio of the prompt", ((_IN, "audio"),), "prompt", "input_audio"),
        Counter("audio of the completion", ((_OUT, "audio"),), "completion", "output_audio"),
        Counter("reasoning", ((_OUT, "reasoning"),), "completion", "output_reasoning"),
    ),
    required=("prompt", "completion"),
    sums=_TOTAL,
    never_with={"written": _LIFETIMES},
    breakdowns={},
    usage=_LANGCHAIN_USAGE,
    model=tuple((*at, *_METADATA, name) for name in ("model_name", "model") for at in ((), ("kwargs",))),
    conditions={
        name: tuple((*at, *_METADATA, *within, name) for within in ((), ("usage",)) for at in ((), ("kwargs",)))
        for name in _STATED
    },
    values={"service_tier": {"on_demand": "standard"}},
    stream="add",
    # LangChain makes an id for parts without one; with OpenAI, some parts have that of the response or of a message.
    id=(("id",),),
    ids_of_client=("run-", "lc_"),
    ids_of_parts=("resp_", "msg_"),
    ends=(
        _says("chunk_position", "last"),
        *(_says(f"response_metadata.{name}") for name in ("finish_reason", "stop_reason", "stopReason", "done_reason")),
        _says("response_metadata.status", "completed", "incomplete", "failed"),
    ),
    complete=(_says("type", "ai"),),
    calls_at={
        meter: ((*_METADATA, "usage", "server_tool_use", f"{meter}_requests"),) for meter in ("web_search", "web_fetch")
    },
)
# The usage of Vercel's AI SDK. In version 5, the provider decides whether the input includes the cached tokens. Since
# version 6 it includes them, and such a usage has `inputTokenDetails`.
_AI_IN, _AI_OUT = "inputTokenDetails", "outputTokenDetails"
# The ways to the usage as the provider wrote it.
_AI_RAW = (("usage", "raw"), ("raw",), ("providerMetadata", "anthropic", "usage"))
_VERCEL = UsageDialect(
    (
        Counter("prompt", (("inputTokens",), ("tokens",)), bucket="input"),
        Counter("uncached", ((_AI_IN, "noCacheTokens"),), "prompt"),
        Counter("read", ((_AI_IN, "cacheReadTokens"), ("cachedInputTokens",)), "prompt", "cache_input"),
        Counter("written", ((_AI_IN, "cacheWriteTokens"),), "prompt", "cache_write", without="cache_input"),
        Counter("completion", (("outputTokens",),), bucket="output"),
        Counter("text", ((_AI_OUT, "textTokens"),), "completion"),
        Counter("reasoning", ((_AI_OUT, "reasoningTokens"), ("reasoningTokens",)), "completion", "output_reasoning"),
        Counter("total", (("totalTokens",),)),
    ),
    required=("prompt", "completion"),
    sums=_TOTAL | {"prompt": ("written", "read", "uncached"), "completion": ("reasoning", "text")},
    only_with={"read": ("uncached",), "written": ("uncached",), "reasoning": ("text", "total")},
    model=(("response", "modelId"), ("modelId",)),
    id=(("response", "id"),),
    ends=(_says("type", "finish", "finish-step"), _says("finishReason")),
    turns=(_says("type", "finish-step"),),
    of_all_steps=("totalUsage",),
    conditions={
        **{name: tuple((*at, name) for at in _AI_RAW) for name in _STATED},
        "service_tier": (
            *(("providerMetadata", provider, "serviceTier") for provider in ("openai", "azure")),
            *((*at, name) for at in _AI_RAW for name in ("service_tier", "serviceTier", "trafficType")),
        ),
    },
    values={"service_tier": {**_GEMINI.values["service_tier"], **_GROQ.values["service_tier"]}},
    calls_at={
        meter: tuple((*at, "server_tool_use", f"{meter}_requests") for at in _AI_RAW)
        for meter in ("web_search", "web_fetch")
    },
    # `raw` has the counts as the provider wrote them.
    no_price=frozenset(("raw",)),
    embedding=(_says("embedding"), _says("embeddings")),
)

# Dialects whose tables have one row for each request.
TableDialect = Literal["opentelemetry", "litellm"]
TABLE_DIALECTS: tuple[TableDialect, ...] = get_args(TableDialect)
DIALECTS: Mapping[str, UsageDialect] = {
    "openai": _OPENAI,
    "anthropic": _ANTHROPIC,
    "gemini": _GEMINI,
    "bedrock": _BEDROCK,
    "deepseek": _DEEPSEEK,
    "openrouter": _OPENROUTER,
    "litellm": _LITELLM,
    "genai-prices": _GENAI_PRICES,
    "opentelemetry": _OPENTELEMETRY,
    "openai-realtime": _OPENAI,
    "groq": _GROQ,
    "mistral": _MISTRAL,
    "xai": _XAI,
    "cohere": _COHERE,
    "voyage": _VOYAGE,
    "together": _CACHED_AT_THE_TOP,
    "moonshot": _CACHED_AT_THE_TOP,
    "gemini-interactions": _GEMINI_INTERACTIONS,
    "langchain": _LANGCHAIN,
    "vercel": _VERCEL,
    "otlp": _OPENTELEMETRY,
}
# Every meter that a response may count beside its tokens.
DIALECT_METERS = frozenset(
    meter
    for dialect in DIALECTS.values()
    for meters in (
        (counter.meter for counter in dialect.counters),
        *(of.values() for of in (dialect.calls, dialect.listed_calls, dialect.listed)),
        dialect.calls_at,
    )
    for meter in meters
    if meter
)
