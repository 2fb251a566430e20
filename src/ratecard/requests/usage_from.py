"""Read a provider's response, in the dialect of the provider, as a typed usage.

A response may be a stream: its parts must be complete and in order.
"""

from collections import Counter
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from ratecard.base.errors import QuoteError
from ratecard.base.json_text import JsonError, read_json
from ratecard.base.messages import REQUIRED, Path, Problems, echo, field_name, invalid_enum, wrong_type
from ratecard.requests.body import MOST_PROBLEMS, mapping_of
from ratecard.requests.counters import MODALITIES, Sign, UsageDialect, Way
from ratecard.requests.dialects import DIALECTS
from ratecard.requests.fields import decimal
from ratecard.requests.metered import LISTED
from ratecard.requests.token_usage import CarefulReader, CountAt, agreed, checked_count, disagrees, usage_plan, word_of
from ratecard.requests.usage import EmbeddingUsage, ImageUsage, TextUsage, TranscriptionUsage
from ratecard.tables.meters import COMPLETION, PROMPT

_INVALID = "Invalid response"
# The buckets that every usage of tokens has.
_WHOLES = (PROMPT, COMPLETION)

_OUTPUT: tuple[Way, ...] = (("output",), ("response", "output"))
# The parts of the prompt that the cache has too.
_OF_MODALITY = frozenset(f"{PROMPT}_{modality}" for modality in (*MODALITIES, "document"))
_OF_CACHE = f"cache_{PROMPT}"

_Read = TextUsage | EmbeddingUsage | ImageUsage | TranscriptionUsage


def usage_from(
    dialect: str, response: Any, *, model: str | None = None, partial: bool = False, **conditions: Any
) -> _Read:
    """Read the usage of a provider's response, for `prices.rate`.

    `dialect` says how the provider counts: `openai` (chat completions, responses, embeddings, images, audio, Realtime),
    `anthropic`, `gemini`, `gemini-interactions`, `bedrock` (Converse), `deepseek`, `openrouter`, `groq`, `xai`,
    `mistral`, `together`, `moonshot`, `cohere`, `voyage`, `litellm`, `langchain`, `vercel`, `genai-prices`, or
    `opentelemetry` (a span with `gen_ai.usage.*` attributes) and `otlp` (an export of one). The response is an object
    of the provider's client, a mapping, the usage alone, or the parts of one stream as a list or an iterator. A stream
    that has not finished is refused; with `partial`, its parts so far are priced, and the quote's `ignored` says so.
    Turns of a session are added up.

    `model` is the name in your tables, by default the response's own. `conditions` are those of your meters.yaml
    (`service_tier="batch"`); they replace those of the response. `counts` adds counts that the provider bills, but its
    response leaves out.

    The tokens are by bucket: the input includes the cached tokens, and the output the reasoning, however the provider
    counts. `listed` has items, such as calls of tools, that some providers bill and others do not. Raises `QuoteError`
    for a count that the dialect does not know, a sum that differs from its parts, several responses in place of one,
    and a response without a usage or a model.

    >>> counts = {"input_tokens": 3, "cache_read_input_tokens": 1111, "output_tokens": 406, "service_tier": "batch"}
    >>> usage = usage_from("anthropic", {"model": "claude-opus-4-6", "usage": counts})
    >>> usage.tokens, usage.service_tier
    ({'input': 1114, 'output': 406, 'cache_input': 1111}, 'batch')
    """
    if not isinstance(dialect, str):
        raise QuoteError(_INVALID, [(("dialect",), wrong_type("string", dialect))])
    if (known := DIALECTS.get(dialect)) is None:
        raise QuoteError(_INVALID, [(("dialect",), invalid_enum(DIALECTS, dialect))])
    problems: Problems = []
    conditions = {name: value for name, value in conditions.items() if value is not None}
    response = _of_export(_opened_json(response, ()), known, problems)
    listed = _is_stream(response)
    is_part = listed or _says(response, (*known.begins, *known.continues))
    stream = _Stream(known, problems, partial) if is_part else None
    read = _Response(known, problems, stream)
    if listed and known.stream == "refuse":
        problems.append(((), "Each of these is a request of its own: read one at a time"))
    else:
        for part in response if listed else (response,):
            read.take(part)
    usage = None
    given = conditions.get("counts", {})
    if (counts := mapping_of(given)) is None:
        problems.append((("counts",), wrong_type("object", given)))
    else:
        conditions |= {"counts": counts} if "counts" in conditions else {}
        try:
            usage = read.usage(model, conditions)
        except ValidationError as error:  # of the arguments: what a response says has been checked
            problems += [(fault["loc"], fault["msg"]) for fault in error.errors()]
    if problems or usage is None:
        raise QuoteError(_INVALID, problems)
    return usage


def _with_common_parts(tokens: dict[str, int]) -> dict[str, int]:
    """Add zero counts of modalities that the cache lacks, if the parts of the cache add up to all of it.

    >>> _with_common_parts({"input": 9, "input_text": 5, "input_audio": 4, "cache_input": 3, "cache_input_text": 3})
    {'input': 9, 'input_text': 5, 'input_audio': 4, 'cache_input': 3, 'cache_input_text': 3, 'cache_input_audio': 0}
    """
    parts = [count for name, count in tokens.items() if name.startswith(f"{_OF_CACHE}_")]
    if parts and sum(parts) == tokens.get(_OF_CACHE):
        names = [name for name in tokens if name in _OF_MODALITY]
        return tokens | {f"cache_{name}": tokens.get(f"cache_{name}", 0) for name in names}
    return tokens


def _has_parts(bucket: str, tokens: Mapping[str, int]) -> bool:
    """Return True if a part of a bucket is counted: a bucket whose name has the same words and further ones.

    >>> _has_parts("input_audio", {"cache_input_audio": 1}), _has_parts("input_audio", {"cache_input": 1})
    (True, False)
    """
    words = {*bucket.split("_")}
    return any(count and words < {*name.split("_")} for name, count in tokens.items())


class _Response:
    """The counts and conditions of all parts of one response."""

    def __init__(self, dialect: UsageDialect, problems: Problems, stream: "_Stream | None") -> None:
        self._dialect, self._problems, self._stream = dialect, problems, stream
        self._counts: CountAt = {}
        # The reader of the last part with a usage.
        self._reading = CarefulReader(dialect, problems, ())
        self._model: Any = None
        self._conditions: dict[str, Any] = {}
        self._calls = Counter[str]()
        # Items that are listed beside the counts: their path and their meter.
        self._listed: dict[str, str] = {}
        # The fields of audio by the second and of images by the piece, which have no tokens.
        self._other: dict[str, Any] = {}
        # The part whose usage is in seconds. A length beside a usage of tokens is not such a usage.
        self._seconds_at: Path | None = None
        self._is_embedding = False

    def take(self, part: Any) -> None:
        """Read one part of a stream, or all of a response."""
        dialect = self._dialect
        part = _opened_json(part, ())
        if self._stream:
            self._stream.take(part)
        self._model = _first_of(part, dialect.model)[1] or self._model
        for name, ways in dialect.conditions.items():
            known = dialect.values.get(name, {})
            written = ((way, word_of(value)) for way, value in _each_of(part, ways))
            stated = [(way, word) for way, given in written if (word := known.get(given, given))]
            if stated:
                place, first = stated[0]
                self._conditions[name] = first
                expected = f"Expected '{echo(first)}', as {'.'.join(place)} says"
                self._problems += [(way, expected) for way, word in stated if word != first]
        self._is_embedding |= _says(part, dialect.embedding)
        at, kind = _first_of(part, dialect.kinds)
        if kind is not None and word_of(kind) not in dialect.read_kinds:
            self._problems.append((at, invalid_enum(sorted(dialect.read_kinds), word_of(kind))))
            return
        if _says(part, dialect.of_several):
            words = "This counts several requests together: give the response of each by itself"
            self._problems.append((("object",), words))
            return
        at, usage = _first_of(part, dialect.usage)
        usage = _opened_json(usage, at)
        usage_object = part if usage is None else usage
        if (fields := mapping_of(usage_object)) is None:
            self._problems.append((at, wrong_type("object", usage_object)))
            return
        has_counts = any(fields.get(way[0]) is not None for way in dialect.counter_at)
        pieces = self._pieces_of(part)
        at_seconds, seconds = ((), None) if has_counts else _first_of(part, dialect.seconds)
        turn = self._stream is not None and bool(usage or has_counts) and self._stream.is_turn(part)
        if self._stream and self._other and (pieces or seconds is not None):
            self._stream.refuse()
        self._list(part)
        if usage is not None or has_counts or dialect.stream == "add":
            calls = self._calls_of(part)
            # A part of a stream that counts no calls does not take back those of the parts before it.
            self._calls = self._calls + calls if turn else calls or self._calls
        self._made_apart(part)
        if seconds is not None:
            self._other = {"seconds": checked_count(seconds, at_seconds, self._problems, fractions=True)}
            if usage is not None:
                self._seconds_at = (self._stream.place,) if self._stream else ()
                beside = CarefulReader(dialect, self._problems, at)
                beside.sort_out({name: value for name, value in fields.items() if (*at, name) != at_seconds})
                beside.read_others()
        elif usage is not None or has_counts:
            self._reading = reading = CarefulReader(dialect, self._problems, at)
            reading.sort_out(fields)
            reading.read_others()
            self._check_other_places(part)
            self._add(reading.counts, turn)
        elif pieces:
            choices = {
                name: _value_in(part, way) for name, way in (("resolution", ("size",)), ("quality", ("quality",)))
            }
            self._other = {"n": len(pieces)} | {name: word for name, word in choices.items() if word is not None}
        self._check_all_steps(part)

    def _check_other_places(self, part: Any) -> None:
        """Refuse a count that a part states elsewhere with another number than in its usage."""
        dialect, reading = self._dialect, self._reading
        for way in (*dialect.usage, ()) if reading.at else ():
            found = [(at, fields) for at, of in _values_in(part, way) if (fields := mapping_of(_opened_json(of, at)))]
            for at, fields in found[way == reading.at :]:
                other = CarefulReader(dialect, self._problems, at)
                other.sort_out(fields)
                known = agreed(dialect, reading.counts, reading.at, []).counts if other.counts else {}
                for path, count in other.counts.items():
                    if (expected := known.get(dialect.counter_at[path].name, count)) != count:
                        self._problems.append(((*at, *path), disagrees(expected)))

    def _pieces_of(self, part: Any) -> list[Any] | tuple[Any, ...]:
        """Return the images of a response; empty if it lists something else."""
        pieces = _first_of(part, self._dialect.pieces)[1]
        if not isinstance(pieces, (list, tuple)):
            return ()
        ways = [(name,) for name in self._dialect.piece]
        return pieces if all(_first_of(piece, ways)[0] for piece in pieces) else ()

    def _list(self, part: Any) -> None:
        """Keep the items that a part lists. The same place in a later part is the same item, except in another turn."""
        dialect = self._dialect
        prefix = (self._stream.place,) if self._stream and _says(part, dialect.turns) else ()
        for way, meter in dialect.listed.items():
            for path, value in _values_in(part, way):
                # A part of a stream states the index of its item in the list.
                index = _value_in(value, ("index",))
                place = (*path[:-1], index) if isinstance(index, int) else path
                self._listed |= {} if value is None else {".".join(map(str, (*prefix, *place))): meter}
        at, output = _first_of(part, _OUTPUT) if dialect.listed_calls else ((), ())
        for index, entry in enumerate(output if isinstance(output, (list, tuple)) else ()):
            if call := dialect.listed_calls.get(word_of(_value_in(entry, ("type",)))):
                self._listed[".".join(map(str, (*prefix, *at, index)))] = call

    def _add(self, counts: CountAt, turn: bool) -> None:
        """Combine the counts of one part with the counts of earlier parts, as the dialect does."""
        if turn or self._dialect.stream == "add":
            self._counts |= {way: count + self._counts.get(way, 0) for way, count in counts.items()}
            return
        before, after = self._counts, counts or self._counts
        if self._dialect.stream == "replace":
            after = self._without_stale_parts(counts) | counts
        self._counts = after
        if self._stream:
            # The total never becomes less; without one, nor do the prompt, the output, and what has a meter.
            sums = self._sums(after, before)
            for name, count in self._sums(before, after).items():
                self._stream.in_order(count, sums.get(name, 0))

    def _sums(self, counts: CountAt, others: CountAt) -> dict[str, int | Decimal]:
        """Return the total of a part if other counts have one too; else the sum of each side and of each meter."""
        sums: dict[str, int | Decimal] = {}
        for way, count in counts.items():
            counter = self._dialect.counter_at[way]
            if counter.name == "total" and way in others:
                return {"total": count}
            sides = [side for side in _WHOLES if side in (counter.bucket, counter.beside)]
            for name in filter(None, (*sides, counter.meter)):
                sums[name] = sums.get(name, 0) + count
        return sums

    def _without_stale_parts(self, counts: CountAt) -> CountAt:
        """Return the counts so far, without the breakdown of a count that is now given again without a breakdown.

        If one part was all of the count, it still is. Several parts are kept: if the new count differs from their sum,
        nobody knows which part has the rest.
        """
        kept = dict(self._counts)
        by_name = {self._dialect.counter_at[way].name: way for way in self._counts}
        for total, names in self._dialect.breakdowns.items():
            ways = [by_name[name] for name in names if name in by_name]
            nonzero_ways = [way for way in ways if self._counts[way]]
            new_count = counts.get(by_name.get(total, ()))
            if new_count is not None and len(nonzero_ways) <= 1 and counts.keys().isdisjoint(ways):
                kept = {way: count for way, count in kept.items() if way not in ways}
                kept |= dict.fromkeys(nonzero_ways, new_count)
        return kept

    def _made_apart(self, part: Any) -> None:
        """Refuse further requests that the counts do not include, unless all of their own counts are zero."""
        for way, requests in (found for apart in self._dialect.apart for found in _values_in(part, apart)):
            for index, entry in enumerate(requests) if isinstance(requests, (list, tuple)) else ((None, requests),):
                kind, fields = _value_in(entry, ("type",)), mapping_of(entry) or {}
                if kind != "message" and any(decimal(count) for count in fields.values()):
                    words = "This is not in the counts of the usage: read it by itself, with its own model"
                    self._problems.append(((*way, *(() if index is None else (index,))), words))

    def _check_all_steps(self, part: Any) -> None:
        """Refuse a usage of all steps that differs from that of the last step, or from the steps of the stream so far.

        With one step, both are the same. The end of a stream may leave out counts that its steps have.
        """
        at = self._dialect.of_all_steps
        if self._counts and (fields := mapping_of(_value_in(part, at)) if at else None):
            of_all = CarefulReader(self._dialect, self._problems, at)
            of_all.sort_out(fields)
            if self._stream and any(count != self._counts.get(way, 0) for way, count in of_all.counts.items()):
                self._problems.append((at, "This is of all steps, and differs from their sum: give each step once"))
            elif not self._stream and of_all.counts != self._counts:
                words = "This is of all steps, and the usage of the last: give the usage of each step by itself"
                self._problems.append((at, words))

    def _calls_of(self, part: Any) -> Counter[str]:
        """Return the calls of tools that a response counts beside its usage, by meter."""
        calls = Counter[str]()
        output = _first_of(part, _OUTPUT)[1] if self._dialect.calls else None
        for entry in output if isinstance(output, (list, tuple)) else ():
            kind, action = (word_of(_value_in(entry, way) or "") for way in (("type",), ("action", "type")))
            meter = self._dialect.calls.get((kind, action)) or self._dialect.calls.get((kind,))
            calls.update(filter(None, (meter,)))
        for meter, ways in self._dialect.calls_at.items():
            numbers = [(way, checked_count(number, way, self._problems)) for way, number in _each_of(part, ways)]
            if numbers:
                first = numbers[0][1]
                calls[meter] = int(first or 0)
                self._problems += [(way, disagrees(first)) for way, number in numbers if number != first]
        return +calls

    def usage(self, model: str | None, conditions: dict[str, Any]) -> _Read | None:
        """Return the usage of all parts that were read; None if there are problems."""
        name, dialect, problems = model or self._model, self._dialect, self._problems
        if not isinstance(name, str):
            problems.append((("model",), "The response names no model. Give it as model"))
            return None
        stated = {name: word for name, word in self._conditions.items() if word} | conditions
        other = {} if self._counts else self._other
        note = self._stream.note(bool(self._counts or other)) if self._stream else {}
        if self._counts and self._seconds_at is not None and not problems:
            problems.append((self._seconds_at, "This usage is in seconds, and another in tokens: give each by itself"))
        if other:
            of_other = TranscriptionUsage if "seconds" in other else ImageUsage
            other |= {LISTED: note} if note else {}
            return None if problems else of_other(model=name, **other | stated)
        if not self._counts:
            problems += [] if problems else [(dialect.usage[0], REQUIRED)]
            return None
        at = self._reading.at
        agreed_counts = agreed(dialect, self._counts, at, problems)
        plan = usage_plan(dialect, agreed_counts.counts.keys())
        if not problems:
            paths = {counter.name: counter.paths[0] for counter in dialect.counters}
            required = dialect.required[:1] if self._is_embedding else dialect.required
            problems += [((*at, *paths[count]), REQUIRED) for count in required if count not in agreed_counts.counts]
            problems += plan.failures(agreed_counts)
            self._reading.check_iterations(agreed_counts.counts)
        if problems:
            return None
        totals = plan.totals(agreed_counts.counts)
        stated_buckets = [name for name in totals if totals[name] or name in _WHOLES or _has_parts(name, totals)]
        tokens = {name: totals[name] for name in stated_buckets}
        counts = {
            counter.meter: int(count) if count == int(count) else count
            for counter in dialect.counters
            if counter.meter and (count := agreed_counts.counts.get(counter.name))
        }
        counts = self._calls | counts | stated.pop("counts", {})
        # Counted items are not listed again.
        listed = {path: meter for path, meter in self._listed.items() if meter not in counts} | note
        further = {name: value for name, value in (("counts", counts), (LISTED, listed)) if value}
        usage_class = EmbeddingUsage if self._is_embedding else TextUsage
        return usage_class(model=name, tokens=_with_common_parts(tokens), **further, **stated)


_TWO = "These are two responses: give each by itself"
_TWICE = "This turn is given twice"
_ANOTHER_MODEL = "This usage is of another model: leave it out, and read it by itself"
_ASYNCHRONOUS = "Collect an asynchronous stream first: [part async for part in stream]"
_NO_BEGINNING = "This goes on with counts of an earlier part: give the stream from its beginning"
_NOT_IN_ORDER = "Give the parts of a stream in their order"
_NOT_FINISHED = "This stream has not finished. Give all of its parts, or partial=True for the price of what came"


class _Stream:
    """The state of a stream that is read part by part: its order, its turns, and whether it has finished."""

    def __init__(self, dialect: UsageDialect, problems: Problems, partial: bool) -> None:
        self._dialect, self._problems, self._partial = dialect, problems, partial
        self._number: Decimal | None = None
        # The number of the part that is being read.
        self.place = -1
        # The numbers of parts that have the id of another response, and of parts that are complete responses.
        self._others: list[int] = []
        self._complete: list[int] = []
        # The first id that the client made (True), and the first other id (False).
        self._ids: dict[bool, str] = {}
        self._another_model: list[int] = []
        self._turns: set[str] = set()
        # True if the parts with a usage so far are turns; None before the first part.
        self._of_turns: bool | None = None
        # True if the first part with a usage continues the counts of an earlier part.
        self._headless = False
        self._finished = False
        # The entries of a list that each end by themselves, like the choices of a chat; True once one has ended.
        self._entries: dict[Any, bool] = {}

    def take(self, part: Any) -> None:
        """Read the order, the beginning, the end and the id of the stream from a part, with or without a usage."""
        dialect = self._dialect
        self.place += 1
        if (number := decimal(_first_of(part, dialect.order)[1])) is not None:
            if self._number is not None and number <= self._number:
                self.refuse(_NOT_IN_ORDER)
            self._number = number
        if _says(part, dialect.begins):
            self._finished, self._entries = False, {}
            if self._of_turns is False:
                self.refuse()
        # A part that goes on counting ends a stream by its counts.
        counted = _first_of(part, dialect.usage)[1] or not _says(part, dialect.continues)
        self._finished |= bool(counted) and _says(part, dialect.ends)
        self._end_entries(part)
        if _says(part, dialect.complete):
            self._finished, self._entries = True, {}
            self._complete.append(self.place)
        id_ = self._id_of(part)
        if id_ and self._ids.setdefault(id_.startswith(dialect.ids_of_client), id_) != id_:
            self._others.append(self.place)

    def _end_entries(self, part: Any) -> None:
        for way, _ in self._dialect.ends:
            for path, entry in _values_in(part, way[:-1]) if "*" in way else ():
                index = _value_in(entry, ("index",))
                place = index if isinstance(index, int) else path[-1]
                self._entries[place] = self._entries.get(place, False) or _says(entry, ((way[-1:], frozenset()),))

    def is_turn(self, part: Any) -> bool:
        """Return True if a part with a usage is a turn; refuse one that neither is a turn nor continues the stream."""
        if _says(part, self._dialect.of_another_model):
            self._another_model.append(self.place)
            return False
        turn, id_ = _says(part, self._dialect.turns), self._id_of(part)
        self._headless |= self._of_turns is None and _says(part, self._dialect.continues)
        if turn and id_ in self._turns - {""}:
            self.refuse(_TWICE)
        elif self._of_turns is not None and not (turn and self._of_turns):
            goes_on = id_ or _says(part, self._dialect.continues) or self._dialect.stream == "add"
            if turn or self._of_turns or not goes_on:
                self.refuse()
        self._turns |= {id_} if turn else set()
        self._of_turns = turn
        return turn

    def in_order(self, before: int | Decimal, after: int | Decimal) -> None:
        """Refuse a total that is less than an earlier one."""
        if after < before:
            self.refuse(_NOT_IN_ORDER)

    def note(self, has_usage: bool) -> dict[str, str]:
        """Return the note that a stream was cut off, or no note; refuse such a stream unless it may be partial."""
        if self.place:
            self._problems += [((place,), _ANOTHER_MODEL) for place in self._another_model[:MOST_PROBLEMS]]
        others = [*(self._complete if self.place else ()), *self._others]
        if others and not (self._of_turns or self._problems):
            self._problems.append(((others[0],), _TWO))
        if self._headless and not self._problems:
            self._problems.append(((), _NO_BEGINNING))
        finished = self._finished and all(self._entries.values())
        cut_off = self._dialect.ends and self.place >= 0 and not (finished or self._problems)
        if cut_off and not self._partial:
            self._problems.append(((), _NOT_FINISHED))
        return {"stream: not finished": ""} if cut_off and self._partial and has_usage else {}

    def _id_of(self, part: Any) -> str:
        """Return the id of the response in a part; empty if it has none, like the first part of a stream from Azure."""
        id_ = _first_of(part, self._dialect.id)[1]
        return "" if id_ is None or (word := word_of(id_)).startswith(self._dialect.ids_of_parts) else word

    def refuse(self, words: str = _TWO) -> None:
        """Add a problem of this part, unless it has one already."""
        at = (self.place,)
        if len(self._problems) < MOST_PROBLEMS and all(path != at for path, _ in self._problems):
            self._problems.append((at, words))


def _opened_json(given: Any, at: Path) -> Any:
    """Read text or bytes as JSON; return any other value as it is. Raises `QuoteError` for text that is not JSON."""
    if not isinstance(given, (str, bytes, bytearray)):
        return given
    try:
        return read_json(given)
    except JsonError as error:
        raise QuoteError(_INVALID, [(at, f"The text {error}")]) from None


def _value_in(given: Any, way: Iterable[str]) -> Any:
    """Return the value that a way leads to through mappings, JSON and client objects; None if there is none.

    Raises `QuoteError` for invalid text that begins like JSON: otherwise, other counts would be read in its place.
    """
    return next((value for _, value in _values_in(given, tuple(way))), None)


def _values_in(given: Any, way: Way, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value at the end of a way, with its path; the name `*` means every entry of a list."""
    for place, name in enumerate(way):
        if given is None:
            return
        if name == "*":
            for index, entry in enumerate(given if isinstance(given, (list, tuple)) else ()):
                yield from _values_in(entry, way[place + 1 :], (*at, index))
            return
        if isinstance(given, str) and given.lstrip().startswith("{"):
            given = _opened_json(given, at)
        at = (*at, name)
        given = given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
    yield at, given


def _says(part: Any, signs: Iterable[Sign]) -> bool:
    """Return True if a part has one of these signs."""
    return any(
        word_of(value) in words if words else bool(value) or isinstance(value, Mapping)
        for way, words in signs
        for _, value in _values_in(part, way)
        if value is not None
    )


def _each_of(given: Any, ways: Iterable[Way]) -> Iterator[tuple[Way, Any]]:
    """Yield each of these ways that leads to a value, with the value."""
    return ((way, value) for way in ways if (value := _value_in(given, way)) is not None)


def _first_of(given: Any, ways: Iterable[Way]) -> tuple[Way, Any]:
    """Return the first of these ways that leads to a value, and the value; an empty way and None without any."""
    return next(_each_of(given, ways), ((), None))


def _is_stream(response: Any) -> bool:
    """Return True for a response in parts: a list, an iterator, or a client object that yields the parts.

    Raises `QuoteError` for an asynchronous stream. Pydantic models yield their fields, so they are not streams.
    """
    if isinstance(response, AsyncIterable) and not isinstance(response, Iterable):
        raise QuoteError(_INVALID, [((), _ASYNCHRONOUS)])
    is_one = isinstance(response, (str, bytes, bytearray, Mapping)) or hasattr(response, "model_dump")
    return isinstance(response, Iterable) and not is_one


def _of_export(response: Any, dialect: UsageDialect, problems: Problems) -> Any:
    """Return the only request of an export, or a list of its requests; attributes in a list become a mapping."""
    if dialect.exported and _value_in(response, dialect.exported[:1]) is not None:
        requests = [request for _, request in _values_in(response, dialect.exported) if request is not None]
        response = requests if len(requests) > 1 else next(iter(requests), response)
    entries = _value_in(response, (dialect.attributes,)) if dialect.attributes else None
    if not isinstance(entries, (list, tuple)):
        return response
    attributes: dict[str, Any] = {}
    for index, entry in enumerate(entries):
        name = str(_value_in(entry, ("key",)))
        if name in attributes:
            problems.append(((dialect.attributes, index), f"{field_name(name)} is given twice in this list"))
        attributes[name] = _typed(_value_in(entry, ("value",)))
    return {**(mapping_of(response) or {}), dialect.attributes: attributes}


def _typed(given: Any) -> Any:
    """Return the value of an OTLP attribute; whole numbers are text there: `{"intValue": "12"}`."""
    way, value = _first_of(given, (("intValue",), ("doubleValue",), ("stringValue",), ("boolValue",)))
    is_whole = way == ("intValue",) and isinstance(value, str) and value.isascii() and value.isdigit()
    return int(value) if is_whole else value if way else given
