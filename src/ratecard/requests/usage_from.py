"""Read what a provider's client returned, by the provider's own dialect, as a typed usage."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.base.errors import QuoteError
from ratecard.base.json_reader import JsonError, read_json
from ratecard.base.messages import (
    NOT_AN_INTEGER,
    REQUIRED,
    Path,
    Problems,
    field_name,
    invalid_enum,
    too_big,
    wrong_type,
)
from ratecard.requests.body import MOST_PROBLEMS, mapping_of
from ratecard.requests.counters import Counter
from ratecard.requests.dialects import DIALECTS, UsageDialect, Way
from ratecard.requests.fields import decimal
from ratecard.requests.token_usage import DEEPEST, TOO_DEEP, count_messages, disagrees, no_price
from ratecard.requests.usage import EmbeddingUsage, ImageUsage, TextUsage, TranscriptionUsage
from ratecard.tables.meters import COMPLETION, PROMPT

_UNREADABLE = "Invalid response"
# The buckets that every usage of tokens has.
_WHOLES = (PROMPT, COMPLETION)

# The parts of the prompt of which the cache has parts, too.
_OF_MODALITY = frozenset(f"{PROMPT}_{each}" for each in ("text", "audio", "image", "video", "document"))

_Read = TextUsage | EmbeddingUsage | ImageUsage | TranscriptionUsage
# What a usage or a part of it counts, by the way to it.
_Counts = dict[Way, Decimal]


def usage_from(dialect: str, response: Any, *, model: str | None = None, **conditions: Any) -> _Read:
    """Read the usage of a provider's response, for `prices.rate`.

    `dialect` says how the provider counts: `openai` (chat completions, responses, embeddings, images, audio),
    `anthropic`, `gemini`, `bedrock` (Converse), `deepseek`, `openrouter`, `litellm`, `genai-prices` or `opentelemetry`
    (a span with `gen_ai.usage.*` attributes). The response is an object of the provider's client, a mapping, the usage
    alone, or the parts of a stream as a list or an iterator.

    `model` is the name in your tables; left out, it is the response's own. `conditions` are those of your meters.yaml
    (`service_tier="batch"`); they replace what the response says. `counts` adds what the provider bills and its
    response does not count.

    The tokens are by bucket, where the input contains the cached tokens and the output the reasoning, whatever the
    provider counts. Raises `QuoteError` for a count that the dialect does not know, a sum that is not that of its
    parts, and a response without a usage or a model.

    >>> counts = {"input_tokens": 3, "cache_read_input_tokens": 1111, "output_tokens": 406, "service_tier": "batch"}
    >>> usage = usage_from("anthropic", {"model": "claude-opus-4-6", "usage": counts})
    >>> usage.tokens, usage.service_tier
    ({'input': 1114, 'output': 406, 'cache_input': 1111}, 'batch')
    """
    if (known := DIALECTS.get(dialect)) is None:
        raise QuoteError(_UNREADABLE, [(("dialect",), invalid_enum(DIALECTS, dialect))])
    problems: Problems = []
    read = _Response(known, problems)
    for part in _parts(response, known, problems):
        read.take(part)
    usage = read.usage(model, conditions)
    if problems or usage is None:
        raise QuoteError(_UNREADABLE, problems)
    return usage


def _parts(response: Any, dialect: UsageDialect, problems: Problems) -> Iterable[Any]:
    """The parts of a stream, or the response by itself."""
    if not isinstance(response, (list, tuple, Iterator)):
        return (response,)
    if dialect.stream == "refuse":
        problems.append(((), "Each of these is a request of its own: read one at a time"))
        return ()
    return response


def _opened(given: Any, at: Path) -> Any:
    """Read JSON where text or bytes are given. Raises `QuoteError` where they are something else."""
    if not isinstance(given, (str, bytes, bytearray)):
        return given
    try:
        return read_json(given)
    except JsonError as error:
        raise QuoteError(_UNREADABLE, [(at, f"The text {error}")]) from None


def _value(given: Any, way: Iterable[str]) -> Any:
    """What lies at the end of a way, in mappings, JSON and objects of clients; None if nothing does.

    Raises `QuoteError` for text that begins as an object and is none: other counts would be read in place of its own.
    """
    at: Way = ()
    for name in way:
        if isinstance(given, str) and given.lstrip().startswith("{"):
            given = _opened(given, at)
        at = (*at, name)
        given = given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
    return given


def _first(given: Any, ways: Iterable[Way]) -> tuple[Way, Any]:
    return next(((way, value) for way in ways if (value := _value(given, way)) is not None), ((), None))


def _word(given: Any) -> str:
    """A word as text; clients have words as members of an enumeration."""
    return str(getattr(given, "value", given))


def _with_common_parts(tokens: dict[str, int]) -> dict[str, int]:
    """Add the empty common parts of the cache and a modality, where the parts of the cache are all of it.

    >>> _with_common_parts({"input": 9, "input_text": 5, "input_audio": 4, "cache_input": 3, "cache_input_text": 3})
    {'input': 9, 'input_text': 5, 'input_audio': 4, 'cache_input': 3, 'cache_input_text': 3, 'cache_input_audio': 0}
    """
    parts = [count for name, count in tokens.items() if name.startswith("cache_input_")]
    if parts and sum(parts) == tokens.get("cache_input"):
        names = [name for name in tokens if name in _OF_MODALITY]
        return tokens | {f"cache_{name}": tokens.get(f"cache_{name}", 0) for name in names}
    return tokens


def _has_parts(bucket: str, tokens: Mapping[str, int]) -> bool:
    """Whether parts of a bucket are counted, which its name with further words says: then it is none that has nothing.

    >>> _has_parts("input_audio", {"cache_input_audio": 1}), _has_parts("input_audio", {"cache_input": 1})
    (True, False)
    """
    words = {*bucket.split("_")}
    return any(count and words < {*name.split("_")} for name, count in tokens.items())


class _Found(NamedTuple):
    """The counts of a usage by counter, and where each was read."""

    counts: dict[str, Decimal]
    at: dict[str, Path]


class _Response:
    """What the parts of one response say together."""

    def __init__(self, dialect: UsageDialect, problems: Problems) -> None:
        self._dialect, self._problems = dialect, problems
        self._counts: _Counts = {}
        self._at: Way = ()
        self._model: Any = None
        self._conditions: dict[str, Any] = {}
        self._calls: dict[str, int] = {}
        # What audio by the second and images by the piece have, of which no token is counted.
        self._other: dict[str, Any] = {}
        self._is_embedding = False
        self._names = {way: counter for counter in dialect.counters for way in counter.paths}

    def take(self, part: Any) -> None:
        """Read one part of a stream, or all of a response."""
        dialect = self._dialect
        part = _opened(part, ())
        self._model = _first(part, dialect.model)[1] or self._model
        for name, ways in dialect.conditions.items():
            if (given := _first(part, ways)[1]) is not None:
                word = _word(given)
                self._conditions[name] = dialect.values.get(name, {}).get(word, word)
        self._is_embedding |= any(_value(part, way) == word for way, word in dialect.embedding)
        at, kind = _first(part, dialect.kinds)
        if kind is not None and _word(kind) not in dialect.read_kinds:
            self._problems.append((at, invalid_enum(sorted(dialect.read_kinds), _word(kind))))
            return
        at, usage = _first(part, dialect.usage)
        usage = _opened(usage, at)
        fields = mapping_of(part if usage is None else usage)
        if fields is None:
            self._problems.append((at, wrong_type("object", part if usage is None else usage)))
            return
        has_counts = any(fields.get(way[0]) is not None for way in self._names)
        at_seconds, seconds = _first(part, dialect.seconds)
        if seconds is not None and not has_counts:
            self._other = {"seconds": self._number(seconds, at_seconds)}
        elif usage is not None or has_counts:
            self._at = at
            self._calls = self._calls_of(part)
            self._made_apart(part)
            self._add(dict(self._read(fields, ())))
        elif isinstance(pieces := _first(part, dialect.pieces)[1], (list, tuple)):
            said = {name: _value(part, way) for name, way in (("resolution", ("size",)), ("quality", ("quality",)))}
            self._other = {"n": len(pieces)} | {name: word for name, word in said.items() if word is not None}

    def _add(self, counts: _Counts) -> None:
        """Put the counts of one part to those of the parts before it, as the dialect does."""
        match self._dialect.stream:
            case "replace":
                self._counts |= counts
            case "add":
                self._counts |= {way: count + self._counts.get(way, 0) for way, count in counts.items()}
            case _:
                self._counts = counts or self._counts

    def _read(self, fields: Mapping[Any, Any], at: Way) -> Iterator[tuple[Way, Decimal]]:
        """Every count of an object with the way to it; what is not understood becomes a problem."""
        for name, given in fields.items():
            way = (*at, str(name))
            if given is None or not str(name).startswith(self._dialect.prefix if not at else ""):
                continue
            if way in self._names:
                if (count := self._count(self._names[way], given, way)) is not None:
                    yield way, count
            elif not at and name in self._dialect.entries:
                yield from self._entries(given, way)
            else:
                yield from self._unknown(given, way)

    def _count(self, counter: Counter, given: Any, way: Way) -> Decimal | None:
        return self._number(given, (*self._at, *way), fractions=counter.fractions)

    def _number(self, given: Any, path: Path, *, fractions: bool = True) -> Decimal | None:
        messages = [words for words in count_messages(given) if not (fractions and words == NOT_AN_INTEGER)]
        self._problems += [(path, message) for message in messages]
        return None if messages else decimal(given)

    def _refuse(self, way: Path, words: str) -> None:
        """Add a problem at a way within the usage, unless there are enough."""
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(((*self._at, *way), words))

    def _entries(self, given: Any, way: Way) -> Iterator[tuple[Way, Decimal]]:
        """The counts of a list whose entries say what they count: `[{modality: TEXT, tokenCount: 7}]`."""
        key, count = self._dialect.entries[way[-1]]
        if not isinstance(given, (list, tuple)):
            self._refuse(way, wrong_type("array", given))
            return
        counted: set[Way] = set()
        for index, entry in enumerate(given):
            if (fields := mapping_of(entry)) is None:
                self._refuse((*way, index), wrong_type("object", entry))
                continue
            (at_word, word), (at_number, number) = (
                _first(entry, [(name,) for name in names]) for names in (key, count)
            )
            path = (*way, _word(word))
            if path in counted:
                self._refuse((*way, index), f"{field_name(path[-1])} is counted twice in this list")
                continue
            counted.add(path)
            yield from self._read({path[-1]: number}, way) if path in self._names else self._unknown(number, path)
            rest = {name: value for name, value in fields.items() if name not in (*at_word, *at_number)}
            yield from self._read(rest, path)

    def _unknown(self, given: Any, way: Way) -> Iterator[tuple[Way, Decimal]]:
        """What no counter has the name of: an object is searched, a number above 0 is refused."""
        if way[-1] in self._dialect.no_price or "cost" in way[-1]:
            return
        if isinstance(given, (list, tuple)):
            given = {str(index): entry for index, entry in enumerate(given)}
        number = decimal(given)
        if number is not None:
            if number and len(self._problems) < MOST_PROBLEMS:
                known = [path[-1] for path in self._names if path[:-1] == way[:-1]]
                self._refuse(way, no_price(way[-1], known))
        elif len(way) > DEEPEST:
            self._refuse(way, TOO_DEEP)
        elif not isinstance(given, (str, bytes)) and (inside := mapping_of(given)) is not None:
            yield from self._read(inside, way)

    def _made_apart(self, part: Any) -> None:
        """Refuse requests that are not part of the counts, unless they have none."""
        for way in self._dialect.apart:
            given = _value(part, way)
            for index, entry in enumerate(given) if isinstance(given, (list, tuple)) else ((None, given),):
                kind, fields = _value(entry, ("type",)), mapping_of(entry) or {}
                if kind != "message" and any(decimal(count) for count in fields.values()):
                    words = "This is not in the counts of the usage: read it by itself, with its own model"
                    self._problems.append(((*way, *(() if index is None else (index,))), words))

    def _calls_of(self, part: Any) -> dict[str, int]:
        """The calls of tools that a response counts beside its usage, by meter."""
        calls: dict[str, int] = {}
        output = _first(part, (("output",), ("response", "output")))[1] if self._dialect.calls else None
        for entry in output if isinstance(output, (list, tuple)) else ():
            kind, action = (_word(_value(entry, way)) for way in (("type",), ("action", "type")))
            meter = self._dialect.calls.get((kind, action)) or self._dialect.calls.get((kind,))
            if meter:
                calls[meter] = calls.get(meter, 0) + 1
        for meter, ways in self._dialect.calls_at.items():
            way, given = _first(part, ways)
            if way:
                calls[meter] = int(self._number(given, way, fractions=False) or 0)
        return {meter: count for meter, count in calls.items() if count}

    def usage(self, model: str | None, conditions: dict[str, Any]) -> _Read | None:
        """The usage of everything that was taken; None if there are problems."""
        name = model or self._model
        if not isinstance(name, str):
            self._problems.append((("model",), "The response names no model. Give it as model"))
            return None
        given = {name: word for name, word in self._conditions.items() if word} | conditions
        other = {} if self._counts else self._other
        if "seconds" in other:
            return None if self._problems else TranscriptionUsage(model=name, **other | conditions)
        if other:
            return ImageUsage(model=name, **other | conditions)
        if not self._counts:
            self._problems += [] if self._problems else [(self._dialect.usage[0], REQUIRED)]
            return None
        found = self._by_counter()
        if not self._problems:
            self._check(found)
        if self._problems:
            return None
        tokens, counts = self._buckets(found), self._meters(found)
        if counts or "counts" in given:
            given["counts"] = counts | given.get("counts", {})
        of = EmbeddingUsage if self._is_embedding else TextUsage
        return of(model=name, tokens=tokens, **given)

    def _by_counter(self) -> _Found:
        """The counts by counter; two names of one count must agree."""
        found = _Found({}, {})
        for way, count in self._counts.items():
            name = self._names[way].name
            if found.counts.setdefault(name, count) != count:
                self._problems.append(((*self._at, *way), disagrees(found.counts[name])))
            found.at.setdefault(name, (*self._at, *way))
        return found

    def _check(self, found: _Found) -> None:
        """Add the problems of required counts that are not there, of sums, and of parts of what is not tokens."""
        paths = {counter.name: counter.paths[0] for counter in self._dialect.counters}
        required = self._dialect.required[:1] if self._is_embedding else self._dialect.required
        self._problems += [((*self._at, *paths[name]), REQUIRED) for name in required if name not in found.counts]
        for whole, parts in self._dialect.sums.items():
            if whole in found.counts and parts[-1] in found.counts:
                together = sum(found.counts.get(name, Decimal()) for name in parts)
                if found.counts[whole] != together:
                    names = ", ".join(".".join(paths[name]) for name in parts)
                    self._problems.append((found.at[whole], f"Expected {together}, the sum of {names}"))
        for counter in self._dialect.counters:
            if counter.meter and counter.whole and counter.name in found.counts:
                most = found.counts.get(counter.whole, Decimal())
                if found.counts[counter.name] > most:
                    self._problems.append((found.at[counter.name], too_big(most)))

    def _buckets(self, found: _Found) -> dict[str, int]:
        """The tokens by bucket: a count beside another bucket is added to that too."""
        tokens = dict.fromkeys(_WHOLES, 0)
        for counter in self._dialect.counters:
            if counter.name in found.counts:
                for bucket in filter(None, (counter.bucket, counter.beside)):
                    tokens[bucket] = tokens.get(bucket, 0) + int(found.counts[counter.name])
        return _with_common_parts(
            {name: count for name, count in tokens.items() if count or name in _WHOLES or _has_parts(name, tokens)}
        )

    def _meters(self, found: _Found) -> dict[str, Any]:
        """What is counted beside tokens, by meter."""
        of_usage = {
            counter.meter: int(count) if count == int(count) else count
            for counter in self._dialect.counters
            if counter.meter and (count := found.counts.get(counter.name))
        }
        return of_usage | self._calls
