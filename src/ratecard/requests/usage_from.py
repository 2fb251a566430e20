"""Read what a provider's client returned, by the provider's own dialect, as a typed usage."""

from collections import Counter as Counts
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
from ratecard.requests.counts import LISTED
from ratecard.requests.dialects import DIALECTS, Sign, UsageDialect, Way
from ratecard.requests.fields import decimal
from ratecard.requests.token_usage import (
    DEEPEST,
    TOO_DEEP,
    count_messages,
    disagrees,
    is_counter,
    no_price,
    too_many_together,
)
from ratecard.requests.usage import EmbeddingUsage, ImageUsage, TextUsage, TranscriptionUsage
from ratecard.tables.meters import COMPLETION, PROMPT

_UNREADABLE = "Invalid response"
_TWO = "These are two responses: give each by itself"
_TWICE = "This turn is given twice"
_NOT_IN_ORDER = "Give the parts of a stream in their order"
_NOT_FINISHED = "This stream has not finished. Give all of its parts, or partial=True for the price of what came"
_CUT_OFF = "stream: not finished"
_UNCLEAR = "This count is not clear by itself"
_TWO_WAYS = "The same tokens may be counted here twice"
# The buckets that every usage of tokens has.
_WHOLES = (PROMPT, COMPLETION)

# The parts of the prompt of which the cache has parts, too.
_OF_MODALITY = frozenset(f"{PROMPT}_{each}" for each in ("text", "audio", "image", "video", "document"))

_Read = TextUsage | EmbeddingUsage | ImageUsage | TranscriptionUsage
# What a usage or a part of it counts, by the way to it.
_Counts = dict[Way, Decimal]


def usage_from(
    dialect: str, response: Any, *, model: str | None = None, partial: bool = False, **conditions: Any
) -> _Read:
    """Read the usage of a provider's response, for `prices.rate`.

    `dialect` says how the provider counts: `openai` (chat completions, responses, embeddings, images, audio, Realtime),
    `anthropic`, `gemini`, `gemini-interactions`, `bedrock` (Converse), `deepseek`, `openrouter`, `groq`, `xai`,
    `mistral`, `together`, `moonshot`, `cohere`, `voyage`, `litellm`, `langchain`, `vercel`, `genai-prices`, or
    `opentelemetry` (a span with `gen_ai.usage.*` attributes) and `otlp` (an export of one). The response is an object of
    the provider's client, a mapping, the usage alone, or the parts of one stream as a list or an iterator. A stream that
    has not finished is refused; with `partial`, what came is priced, and the quote's `ignored` says so. Turns of a
    session are added up.

    `model` is the name in your tables; left out, it is the response's own. `conditions` are those of your meters.yaml
    (`service_tier="batch"`); they replace what the response says. `counts` adds what the provider bills and its
    response does not count.

    The tokens are by bucket, where the input contains the cached tokens and the output the reasoning, whatever the
    provider counts. What a response lists, and some bill by the call and others not, is in `listed`. Raises
    `QuoteError` for a count that the dialect does not know, a sum that is not that of its parts, several responses in
    place of one, and a response without a usage or a model.

    >>> counts = {"input_tokens": 3, "cache_read_input_tokens": 1111, "output_tokens": 406, "service_tier": "batch"}
    >>> usage = usage_from("anthropic", {"model": "claude-opus-4-6", "usage": counts})
    >>> usage.tokens, usage.service_tier
    ({'input': 1114, 'output': 406, 'cache_input': 1111}, 'batch')
    """
    if (known := DIALECTS.get(dialect)) is None:
        raise QuoteError(_UNREADABLE, [(("dialect",), invalid_enum(DIALECTS, dialect))])
    problems: Problems = []
    response = _request(_opened(response, ()), known, problems)
    listed = isinstance(response, (list, tuple, Iterator))
    stream = _Stream(known, problems, partial) if listed or _says(response, known.begins) else None
    read = _Response(known, problems, stream)
    if listed and known.stream == "refuse":
        problems.append(((), "Each of these is a request of its own: read one at a time"))
    else:
        for part in response if listed else (response,):
            read.take(part)
    usage = read.usage(model, conditions)
    if problems or usage is None:
        raise QuoteError(_UNREADABLE, problems)
    return usage


def _request(response: Any, dialect: UsageDialect, problems: Problems) -> Any:
    """The request of an export that has one, or the requests; attributes that are a list become a mapping."""
    if dialect.exported and _value(response, dialect.exported[:1]) is not None:
        requests = [request for _, request in _values(response, dialect.exported) if request is not None]
        response = requests[0] if len(requests) == 1 else requests
    given = _value(response, (dialect.attributes,)) if dialect.attributes else None
    if not isinstance(given, (list, tuple)):
        return response
    attributes: dict[str, Any] = {}
    for index, entry in enumerate(given):
        name = str(_value(entry, ("key",)))
        if name in attributes:
            problems.append(((dialect.attributes, index), f"{field_name(name)} is given twice in this list"))
        attributes[name] = _typed(_value(entry, ("value",)))
    return {**(mapping_of(response) or {}), dialect.attributes: attributes}


def _typed(given: Any) -> Any:
    """A value of OTLP as JSON, where whole numbers are text: `{"intValue": "12"}`."""
    way, value = _first(given, (("intValue",), ("doubleValue",), ("stringValue",), ("boolValue",)))
    is_whole = way == ("intValue",) and isinstance(value, str) and value.isascii() and value.isdigit()
    return int(value) if is_whole else value if way else given


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
    return next((value for _, value in _values(given, tuple(way))), None)


def _values(given: Any, way: Way, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Everything that lies at the end of a way, with its path: `*` is every entry of a list."""
    for place, name in enumerate(way):
        if name == "*":
            for index, entry in enumerate(given if isinstance(given, (list, tuple)) else ()):
                yield from _values(entry, way[place + 1 :], (*at, index))
            return
        if isinstance(given, str) and given.lstrip().startswith("{"):
            given = _opened(given, at)
        at = (*at, name)
        given = given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
    yield at, given


def _says(part: Any, signs: Iterable[Sign]) -> bool:
    """Return True if a part has one of these signs."""
    return any(
        _word(value) in words if words else bool(value) or isinstance(value, Mapping)
        for way, words in signs
        for _, value in _values(part, way)
        if value is not None
    )


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


class _Stream:
    """The beginning, the end and the order of a stream, as its parts say them."""

    def __init__(self, dialect: UsageDialect, problems: Problems, partial: bool) -> None:
        self._dialect, self._problems, self._partial = dialect, problems, partial
        self._number: Decimal | None = None
        # The number of the part that is read.
        self.place = -1
        # The first part with another id than those before it, and a complete response among the parts.
        self._other: int | None = None
        self._complete: int | None = None
        self._ids: set[Any] = set()
        self._turns: set[Any] = set()
        # Whether the parts with a usage so far are turns; None before the first.
        self._of_turns: bool | None = None
        self._finished = False

    def take(self, part: Any) -> None:
        """Read what a part says of the stream, whether it has a usage or not."""
        dialect = self._dialect
        self.place += 1
        if (number := decimal(_first(part, dialect.order)[1])) is not None:
            if self._number is not None and number <= self._number:
                self._refuse(_NOT_IN_ORDER)
            self._number = number
        if _says(part, dialect.begins):
            self._finished = False
            if self._of_turns is False:
                self._refuse(_TWO)
        self._finished |= _says(part, dialect.ends)
        if _says(part, dialect.complete):
            self._finished, self._complete = True, self.place
        # Azure begins a stream with a part whose id is empty.
        if (id_ := _first(part, dialect.id)[1]) not in (None, "") and id_ not in self._ids:
            if self._ids and self._other is None:
                self._other = self.place
            self._ids.add(id_)

    def is_turn(self, part: Any) -> bool:
        """Return True if a part with a usage is a turn; refuse one that is neither a turn nor of the same stream."""
        turn, id_ = _says(part, self._dialect.turns), _first(part, self._dialect.id)[1]
        if turn and id_ is not None and id_ in self._turns:
            self._refuse(_TWICE)
        elif self._of_turns is not None and not (turn and self._of_turns):
            goes_on = id_ is not None or _says(part, self._dialect.continues)
            if turn or self._of_turns or not (goes_on or self._dialect.stream == "add"):
                self._refuse(_TWO)
        self._turns |= {id_} if turn else set()
        self._of_turns = turn
        return turn

    def in_order(self, before: Decimal, after: Decimal) -> None:
        """Refuse a total that is less than an earlier one."""
        if after < before:
            self._refuse(_NOT_IN_ORDER)

    def note(self, has_usage: bool) -> tuple[str, ...]:
        """What a quote says of a stream that was cut off; it is refused unless what came is asked for."""
        if not self._of_turns and not self._problems:
            two = self._other if self._complete is None or self.place == 0 else self._complete
            if two is not None:
                self._problems.append(((two,), _TWO))
        if self._finished or self.place < 0 or not self._dialect.ends or self._problems:
            return ()
        if self._partial and has_usage:
            return (_CUT_OFF,)
        if not self._partial:
            self._problems.append(((), _NOT_FINISHED))
        return ()

    def _refuse(self, words: str) -> None:
        at = (self.place,)
        if all(path != at for path, _ in self._problems) and len(self._problems) < MOST_PROBLEMS:
            self._problems.append((at, words))


class _Response:
    """What the parts of one response say together."""

    def __init__(self, dialect: UsageDialect, problems: Problems, stream: _Stream | None) -> None:
        self._dialect, self._problems, self._stream = dialect, problems, stream
        self._counts: _Counts = {}
        self._at: Way = ()
        self._model: Any = None
        self._conditions: dict[str, Any] = {}
        self._calls: dict[str, int] = {}
        # What is listed beside the counts: its path, and its meter.
        self._listed: dict[str, str] = {}
        # The sums of a breakdown by requests, and where it is.
        self._iterations: tuple[Path, Counts[str]] | None = None
        # What audio by the second and images by the piece have, of which no token is counted.
        self._other: dict[str, Any] = {}
        self._is_embedding = False
        self._names = {way: counter for counter in dialect.counters for way in counter.paths}

    def take(self, part: Any) -> None:
        """Read one part of a stream, or all of a response."""
        dialect = self._dialect
        part = _opened(part, ())
        if self._stream:
            self._stream.take(part)
        self._model = _first(part, dialect.model)[1] or self._model
        for name, ways in dialect.conditions.items():
            if (given := _first(part, ways)[1]) is not None:
                word = _word(given)
                self._conditions[name] = dialect.values.get(name, {}).get(word, word)
        self._is_embedding |= _says(part, dialect.embedding)
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
        turn = self._stream is not None and bool(usage or has_counts) and self._stream.is_turn(part)
        self._list(part, turn)
        at_seconds, seconds = _first(part, dialect.seconds)
        if seconds is not None and not has_counts:
            self._other = {"seconds": self._number(seconds, at_seconds)}
        elif usage is not None or has_counts:
            self._at = at
            calls = self._calls_of(part)
            self._calls = dict(Counts(self._calls) + Counts(calls)) if turn else calls
            self._made_apart(part)
            self._add(dict(self._read(fields, ())), turn)
            self._sum_iterations(fields.get(dialect.iterations))
        elif pieces := self._pieces_of(part):
            said = {name: _value(part, way) for name, way in (("resolution", ("size",)), ("quality", ("quality",)))}
            self._other = {"n": len(pieces)} | {name: word for name, word in said.items() if word is not None}

    def _pieces_of(self, part: Any) -> list[Any] | tuple[Any, ...]:
        """The images of a response; a list of anything else is not one of images."""
        pieces = _first(part, self._dialect.pieces)[1]
        if not isinstance(pieces, (list, tuple)):
            return ()
        ways = [(name,) for name in self._dialect.piece]
        return pieces if all(_first(piece, ways)[0] for piece in pieces) else ()

    def _list(self, part: Any, turn: bool) -> None:
        """Keep what a part lists; the same place of a later part says the same again, but in another turn."""
        dialect, before = self._dialect, (self._stream.place,) if turn and self._stream else ()
        for way, meter in dialect.listed.items():
            self._listed |= {
                ".".join(map(str, (*before, *path))): meter for path, value in _values(part, way) if value is not None
            }
        at, output = _first(part, (("output",), ("response", "output"))) if dialect.listed_calls else ((), ())
        for index, entry in enumerate(output if isinstance(output, (list, tuple)) else ()):
            if call := dialect.listed_calls.get(_word(_value(entry, ("type",)))):
                self._listed[".".join(map(str, (*before, *at, index)))] = call

    def _add(self, counts: _Counts, turn: bool) -> None:
        """Put the counts of one part to those of the parts before it, as the dialect does."""
        match "add" if turn else self._dialect.stream:
            case "replace":
                self._counts = self._without_stale_parts(counts) | counts
            case "add":
                self._counts |= {way: count + self._counts.get(way, 0) for way, count in counts.items()}
            case _:
                total = [way for way in counts.keys() & self._counts if self._names[way].name == "total"]
                if self._stream and total:
                    self._stream.in_order(self._counts[total[0]], counts[total[0]])
                self._counts = counts or self._counts

    def _without_stale_parts(self, counts: _Counts) -> _Counts:
        """The counts so far, but for the breakdown of a count that is said again without one.

        Where one part was all of it, that is all of it still. Two parts are kept: if their sum is another now, nobody
        knows of which the rest is.
        """
        kept = dict(self._counts)
        by_name = {self._names[way].name: way for way in self._counts}
        for whole, names in self._dialect.sums.items():
            ways = [by_name[name] for name in names if name in by_name]
            said = [way for way in ways if self._counts[way]]
            again = counts.get(by_name.get(whole, ()))
            if again is not None and len(said) <= 1 and counts.keys().isdisjoint(ways):
                kept = {way: count for way, count in kept.items() if way not in ways} | dict.fromkeys(said, again)
        return kept

    def _sum_iterations(self, entries: Any) -> None:
        """Add up what each counter has in the entries of a breakdown by requests."""
        if not isinstance(entries, (list, tuple)):
            return
        sums, at = Counts[str](), (*self._at, self._dialect.iterations)
        for index, entry in enumerate(entries):
            for way, counter in self._names.items():
                path, given = next(_values(entry, way))
                if given is not None:
                    sums[counter.name] += int(self._number(given, (*at, index, *path)) or 0)
        self._iterations = at, sums

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
        elif isinstance(given, (str, bytes, bool, float)) and any(map(is_counter, way)):
            self._refuse(way, wrong_type("number", given))

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
        cut_off = self._stream.note(bool(self._counts or other)) if self._stream else ()
        if other:
            of_other = TranscriptionUsage if "seconds" in other else ImageUsage
            return None if self._problems else of_other(model=name, **other | conditions)
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
        # What is counted is not listed again.
        counted = given.get("counts") or {}
        listed = {path: meter for path, meter in self._listed.items() if meter not in counted}
        given |= {LISTED: listed | dict.fromkeys(cut_off, "")} if listed or cut_off else {}
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
        self._check_pairs(found)
        for counter in self._dialect.counters:
            if counter.whole in paths and counter.name in found.counts:
                most = found.counts.get(counter.whole, Decimal())
                if found.counts[counter.name] > most:
                    self._problems.append((found.at[counter.name], too_big(most)))
        at, sums = self._iterations or ((), Counts[str]())
        for name, count in sums.items():
            if count > (most := found.counts.get(name, Decimal())):
                self._problems.append((at, too_many_together(count, ".".join(paths[name]), most)))
                break

    def _check_pairs(self, found: _Found) -> None:
        """Add the problems of counts whose meaning depends on another count."""
        paths = {counter.name: ".".join(counter.paths[0]) for counter in self._dialect.counters}
        for name, others in self._dialect.only_with.items():
            if found.counts.get(name) and not any(other in found.counts for other in others):
                names = " or ".join(paths[other] for other in others)
                self._problems.append((found.at[name], f"{_UNCLEAR}: give {names} too"))
        for name, others in self._dialect.never_with.items():
            if found.counts.get(name) and any(found.counts.get(other) for other in others):
                names = " or ".join(paths[other] for other in others)
                self._problems.append((found.at[name], f"{_TWO_WAYS}: give this or {names}"))

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
        return self._calls | of_usage
