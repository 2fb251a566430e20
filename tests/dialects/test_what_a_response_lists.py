"""What a response lists beside its counts is charged or said; what `prices.rate` refuses is refused of it, too."""

from typing import Any

import pytest
from recorded import DAY

from ratecard import ImageUsage, QuoteError, RateCard, load_rate_card, usage_from
from ratecard.load.folder import tables_from
from ratecard.requests.dialects import DIALECTS
from token_tables import by_tokens, family, text_model

CHAT = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
MESSAGE = {"input_tokens": 30, "output_tokens": 40}
NO_PRICE = "No price is known for this count"
OUTPUT = [{"type": "reasoning"}, {"type": "code_interpreter_call"}, {"type": "image_generation_call"}]
OUTPUT += [{"type": "shell_call"}, {"type": "message"}, {"type": "shell_call"}]
SEARCHED = [{"groundingMetadata": {"webSearchQueries": ["a", "b"]}}]
RATES = "- {tokens: input, rate: 1}\n- {tokens: output, rate: 2}\n"
PRICED = """\
          - charge: shells
            method: count
            unit: shell
            rates:
              - {rate: 0.03}
          - charge: searches
            method: count
            unit: web_search
            rates:
              - {rate: 0.01}
"""
METERS = "meters:\n  - {meter: shell, every_usage: 0}\n  - {meter: web_search, every_usage: 0}\n"
UNITS = "units:\n  - {unit: shell, counts: shell, per: 1}\n  - {unit: web_search, counts: web_search, per: 1}\n"


def card() -> RateCard:
    """Two models, of which one has prices of calls."""
    million = "{prompt_tokens: 1000000, completion_tokens: 0}"
    plain, priced = (text_model(name, by_tokens(RATES, usage=million, total="1")) for name in ("plain", "priced"))
    priced = priced.replace("        examples:", f"{PRICED}        examples:")
    files = {"made-up.yaml": family(plain, priced), "meters.yaml": METERS, "units.yaml": UNITS}
    return RateCard(tables_from({name: text.encode() for name, text in files.items()}))


PRICES = card().at(DAY)


def refusal(dialect: str, response: Any) -> dict[str, str]:
    with pytest.raises(QuoteError) as caught:
        usage_from(dialect, response, model="m")
    return {".".join(map(str, path)): message for path, message in caught.value.problems}


@pytest.mark.parametrize(
    ("dialect", "response", "counted", "ignored"),
    [
        (
            "openai",
            {"usage": CHAT, "output": OUTPUT},
            {"shell": 2},
            ("output.1", "output.2", "output.3", "output.5"),
        ),
        (
            "openai",
            {"type": "response.completed", "response": {"usage": CHAT, "output": OUTPUT[3:4]}},
            {"shell": 1},
            ("response.output.0",),
        ),
        (
            "gemini",
            {"candidates": SEARCHED, "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}},
            {"web_search": 2},
            tuple(f"candidates.0.groundingMetadata.webSearchQueries.{place}" for place in (0, 1)),
        ),
        (
            "gemini",  # a stream lists its searches once, and again as they grow
            [
                {"responseId": "a", "candidates": SEARCHED, "usageMetadata": {"promptTokenCount": 10}},
                {"responseId": "a", "candidates": [SEARCHED[0] | {"finishReason": "STOP"}]}
                | {"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}},
            ],
            {"web_search": 2},
            tuple(f"candidates.0.groundingMetadata.webSearchQueries.{place}" for place in (0, 1)),
        ),
        ("openai", {"usage": CHAT, "output": [{"type": "function_call"}, 5, None]}, {}, ()),
    ],
)
def test_what_is_listed_is_charged_by_its_meter_or_said_by_its_path(
    dialect: str, response: Any, counted: dict[str, int], ignored: tuple[str, ...]
) -> None:
    plain = PRICES.rate(usage_from(dialect, response, model="plain"))
    assert plain.ignored == ignored
    priced = PRICES.rate(usage_from(dialect, response, model="priced"))
    lines = {line.unit: line.count for line in priced.lines if line.count and line.unit != "mtoken"}
    assert lines == counted
    assert len(priced.ignored) == len(ignored) - sum(counted.values())
    # A mapping with the same fields has the same result.
    usage = usage_from(dialect, response, model="priced")
    assert PRICES.rate(usage.model_dump(exclude_none=True)) == priced


def test_what_the_caller_counts_replaces_what_is_listed() -> None:
    response = {"usage": CHAT, "output": OUTPUT}
    usage = usage_from("openai", response, model="priced", counts={"shell": 7})
    assert {line.unit: line.count for line in PRICES.rate(usage).lines}["shell"] == 7
    assert usage.listed == {"output.1": "code_interpreter", "output.2": "image_generation"}


@pytest.mark.parametrize("wrong", ["7", -1, None, True, [7]])
def test_a_wrong_count_is_refused_beside_what_is_listed_too(wrong: Any) -> None:
    usage = {"type": "text", "model": "priced", "usage": CHAT, "counts": {"shell": wrong}}
    for listed in ({}, {"listed": {"output.0": "shell"}}):
        with pytest.raises(QuoteError) as caught:
            PRICES.rate(usage | listed)
        assert {path for path, _ in caught.value.problems} == {("counts", "shell")}
    both = usage | {"counts": {"shell": 1.5}, "listed": {"output.0": "shell"}}
    assert PRICES.rate(both).lines[-1].count == 2.5


@pytest.mark.parametrize("wrong", [["a"], "a", 5, {"a": 1}, {5: "a"}, {"a": None}])
def test_a_list_of_another_form_is_refused(wrong: Any) -> None:
    usage = {"type": "text", "model": "plain", "usage": CHAT, "listed": wrong}
    with pytest.raises(QuoteError) as caught:
        PRICES.rate(usage)
    assert [path for path, _ in caught.value.problems] == [("listed",)]


def test_every_bucket_and_condition_of_a_dialect_is_declared() -> None:
    """What is not declared would be refused as a word that nobody knows, by tables that may well price it."""
    meters = load_rate_card().tables.meters
    for name, dialect in DIALECTS.items():
        buckets = {bucket for each in dialect.counters for bucket in (each.bucket, each.beside) if bucket}
        assert buckets <= meters.buckets.keys(), name
        assert dialect.conditions.keys() <= meters.condition.keys(), name
        for condition, words in dialect.values.items():
            known = meters.condition[condition]
            assert {*words.values()} - {""} <= {*known.values, *known.same_as}, name


def test_latency_that_is_not_sold_is_refused_by_its_name() -> None:
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    response = {"usage": usage, "performanceConfig": {"latency": "optimized"}}
    with pytest.raises(QuoteError) as caught:
        PRICES.rate(usage_from("bedrock", response, model="plain"))
    assert [path for path, _ in caught.value.problems] == [("latency",)]


ENTRY = {"type": "message"} | MESSAGE


@pytest.mark.parametrize(
    ("dialect", "response", "said"),
    [
        # A breakdown by requests that counts more than the whole.
        (
            "anthropic",
            {"usage": MESSAGE | {"iterations": [ENTRY, ENTRY]}},
            {"usage.iterations": "The entries have 60 input_tokens together, and the usage has 30"},
        ),
        (
            "anthropic",
            {"usage": MESSAGE | {"iterations": [ENTRY | {"output_tokens": "4"}]}},
            {"usage.iterations.0.output_tokens": "Expected number, received string"},
        ),
        (
            "litellm",
            {"usage": CHAT | {"iterations": [{"output_tokens": 9}]}},
            {"usage.iterations": "The entries have 9 completion_tokens together, and the usage has 5"},
        ),
        # Counts as text, and other values, under a name that is not known.
        ("openai", {"usage": CHAT | {"audio_tokens": "5"}}, "usage.audio_tokens"),
        ("openai", {"usage": CHAT | {"prompt_tokens_details": {"cached": "5"}}}, "usage.prompt_tokens_details.cached"),
        ("openai", {"usage": CHAT | {"more_tokens": True}}, "usage.more_tokens"),
        ("anthropic", {"usage": MESSAGE | {"code_execution_requests": "1"}}, "usage.code_execution_requests"),
        ("gemini", {"usageMetadata": {"promptTokenCount": 1, "videoTokenCount": "9"}}, "usageMetadata.videoTokenCount"),
        # A part that exceeds its whole.
        (
            "openai",
            {"usage": CHAT | {"completion_tokens_details": {"accepted_prediction_tokens": 6}}},
            {"usage.completion_tokens_details.accepted_prediction_tokens": "Number must be less than or equal to 5"},
        ),
        # A list that is not one of images.
        ("openai", {"object": "list", "data": [{"id": "gpt-5", "object": "model"}]}, {"usage": "Required"}),
        ("openai", {"data": [{"url": "a"}, {"id": "b"}]}, {"usage": "Required"}),
        ("openai", {"data": []}, {"usage": "Required"}),
    ],
)
def test_the_checks_are_those_of_rate(dialect: str, response: Any, said: Any) -> None:
    expected = said if isinstance(said, dict) else {said: "Expected number, received "}
    assert {
        path: next((words for words in expected.values() if message.startswith(words)), message)
        for path, message in refusal(dialect, response).items()
    } == expected


def test_images_are_read_as_before() -> None:
    for pieces in ([{"url": "a"}], [{"b64_json": "..."}], [{"b64_json": "...", "revised_prompt": "x"}, {"url": "a"}]):
        assert usage_from("openai", {"created": 1, "data": pieces}, model="m") == ImageUsage(model="m", n=len(pieces))


MODALITIES = ("TEXT", "AUDIO", "IMAGE", "VIDEO", "DOCUMENT")


@pytest.mark.parametrize("word", MODALITIES)
def test_two_entries_of_one_modality_are_refused_in_every_list(word: str) -> None:
    dialect = DIALECTS["gemini"]
    for name, (key, count) in dialect.entries.items():
        entry = {key[0]: word, count[0]: 1}
        for second in (entry, {key[0]: word, count[-1]: 1}, entry | {count[0]: 0}, entry | {count[0]: None}):
            usage = {"promptTokenCount": 9, "candidatesTokenCount": 9, "toolUsePromptTokenCount": 9} | {
                name: [entry, second]
            }
            assert refusal("gemini", {"usageMetadata": usage}) == {
                f"usageMetadata.{name}.1": f"{word} is counted twice in this list"
            }
