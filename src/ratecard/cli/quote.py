"""`ratecard quote` and `ratecard rate`: the price of one request as a bill, or of a file of them."""

import shlex
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import click
from babel import Locale

from ratecard.base.errors import QuoteError
from ratecard.base.json_text import compact_json
from ratecard.base.messages import REQUIRED
from ratecard.base.money import plain
from ratecard.cli.modes import CommandOfModes
from ratecard.cli.options import (
    Decorator,
    as_wrong_use,
    book_options,
    json_option,
    locale_option,
    options,
)
from ratecard.cli.screen import align, heading_style, width
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.methods.method import MOST_COUNTED
from ratecard.price_book import PriceBook
from ratecard.requests.body import INVALID, Body, read_body, read_usage
from ratecard.requests.dialects import DIALECTS
from ratecard.requests.fields import NumberField, field_problems
from ratecard.requests.text_body import body_of_text, number_of_text, usage_of_text
from ratecard.requests.video import FIELD_ORDER
from ratecard.requests.video_request import Like, VideoRequest
from ratecard.simulation.report.figures import Figures
from ratecard.simulation.rows.columns import usage_of_row
from ratecard.tables.card import AnyModel
from ratecard.tables.metered import UsageExample
from ratecard.tables.version import Version
from ratecard.views.explain import Working, choices, workings

# An example value of each field, for the help and for refusals.
_LIKE = {
    name: like.words
    for name, field in VideoRequest.model_fields.items()
    for like in field.metadata
    if isinstance(like, Like)
}
# The same for the fields of every other type; those of a video follow.
_LIKE_USAGE = {
    "type": "type of the usage; that of its model where left out",
    "model": "id of the model, see `ratecard models`",
    "prompt_tokens": "tokens of the prompt, cached ones included",
    "completion_tokens": "tokens of the answer",
    "cached_tokens": "tokens of the prompt that were read from the cache",
    "cache_creation_input_tokens": "tokens of the prompt that were written to it",
    "web_search_requests": "how many searches of the web were made",
    "scraped_urls": "how many URLs were scraped",
    "x_search_results": "how many results of X were used",
    "enable_web_search": "off, on or auto",
    "enable_web_scraping": "true or false",
    "enable_x_search": "true or false",
    "n": "how many images; 1 where left out",
    "quality": "quality of the images, like high",
    "input_images": "how many images an edit begins with",
    "factor": "2x or 4x, of an image that is enlarged",
    "characters": "how many characters are spoken",
    "seconds": "seconds that are transcribed, like 1.5",
    "duration_seconds": "seconds of music or sound",
    "character_count": "characters of music or sound",
    "network": "network of an RPC call, like ethereum-mainnet",
    "method": "method of an RPC call, like eth_call",
    "failed": "true where the RPC call failed",
    "count": "how many searches, of a surcharge by itself",
} | {name: like for name, like in _LIKE.items() if name != "model"}


class _Command(NamedTuple):
    """The difference between `quote` and `rate`: how a body is priced, and how text and JSON become its fields."""

    price: Callable[[PriceBook, Mapping[str, Any], SourceVideo | None], Quote]
    of_text: Callable[[Mapping[str, str]], Mapping[str, Any]]
    likes: Mapping[str, str]
    done: str
    of_json: Callable[[Body], Mapping[str, Any]] = read_body


_QUOTE = _Command(lambda prices, body, source: prices.quote_video(body, source=source), body_of_text, _LIKE, "quoted")
# The fields that only JSON has, for counts of tokens and for calls.
_LIKE_JSON = {
    "usage": 'the counts of tokens, like {"prompt_tokens": 1000, "completion_tokens": 200}; or --prompt-tokens ...',
    "calls": 'a list, like [{"method": "eth_call"}]; or --method eth_call',
}
_RATE = _Command(lambda prices, usage, _: prices.rate(usage), usage_of_row, _LIKE_USAGE | _LIKE_JSON, "rated")


_SOURCE_FACTS = ("seconds", "width", "height", "fps")
_SOURCE = {f"source_{name}": name for name in _SOURCE_FACTS}
_FACTS = dict.fromkeys(_SOURCE, NumberField(Decimal(0), Decimal(MOST_COUNTED)))


def _quote_row(prices: PriceBook, body: Mapping[str, Any], _: SourceVideo | None) -> Quote:
    """Quote a row of a batch, in which columns like `source_seconds` say what is known of its source video.

    Those that do not change the price stay among the fields without effect.
    """
    given = {name: number_of_text(body[name]) for name in _SOURCE if body.get(name) is not None}
    if not given:
        return prices.quote_video(body)
    facts: dict[str, Any] = {}
    problems = field_problems(given, _FACTS, facts)
    for name, value in facts.items():
        try:
            SourceVideo(**{_SOURCE[name]: str(value)})
        except ValueError as error:
            problems.append(((name,), str(error)))
    if problems:
        raise QuoteError(INVALID, problems)
    quoted = prices.quote_video(body, source=SourceVideo(**{_SOURCE[name]: value for name, value in facts.items()}))
    try:
        without: Decimal | None = prices.quote_video(body).exact
    except QuoteError:
        without = None
    ignored = tuple(name for name in quoted.ignored if name not in _SOURCE)
    return quoted if quoted.exact == without else replace(quoted, ignored=ignored)


def source_video(given: str) -> SourceVideo:
    """Read `seconds=10,width=854,height=480,fps=30`, or a part of it."""
    parts = [part.partition("=") for part in given.replace(" ", "").split(",")]
    try:
        if len({name for name, _, _ in parts}) < len(parts) or any(name not in _SOURCE_FACTS for name, _, _ in parts):
            raise ValueError(f"each of {', '.join(_SOURCE_FACTS)} at most once, and nothing else")
        return SourceVideo(**{name: value for name, _, value in parts})
    except ValueError as error:
        raise click.BadParameter(f"'{given}' ({error}). Write seconds=10,width=854,height=480,fps=30") from None


def _field_options(likes: Mapping[str, str]) -> Decorator:
    named = ((f"--{name.replace('_', '-')}", name, f"{like}.") for name, like in likes.items())
    return options(*(click.option(option, name, metavar="VALUE", help=words) for option, name, words in named))


_shared_options = options(
    click.option(
        "--batch", type=click.Path(path_type=Path, allow_dash=True), help="A file of many: JSON lines or CSV."
    ),
    book_options,
    locale_option,
    json_option,
)


@click.command(cls=CommandOfModes, short_help="Quote one video request, or a file of them.")
@click.argument("body", required=False)
@_field_options({name: _LIKE[name] for name in FIELD_ORDER})
@click.option(
    "--source", type=source_video, metavar="VIDEO", help="Video to process: seconds=10,width=854,height=480,fps=30."
)
@click.option("--probe", "probing", is_flag=True, help="Fetch video_url, and read what --source would say.")
@_shared_options
def quote(
    body: str | None,
    source: SourceVideo | None,
    probing: bool,
    batch: Path | None,
    book: Callable[[], PriceBook],
    locale: Locale,
    as_json: bool,
    **fields: str | None,
) -> None:
    """Quote a video: BODY is JSON, @FILE, or - for standard input; or name its fields as options.

    \b
    ratecard quote --model kling-o3-pro-text-to-video --duration 5s
    ratecard quote '{"model": "ovi-image-to-video"}' --json
    ratecard quote @body.json --at 2026-10-01 --locale de_DE
    ratecard quote --batch bodies.jsonl > answers.jsonl

    --json prints what the API answers. --batch answers every row with one line of JSON, bad rows in their place, and
    exits with 1 if there were any. The first line of a CSV names the fields; source_seconds, source_width,
    source_height and source_fps of a row are its --source. Models of other types: ratecard rate.
    """
    if batch is not None and (source is not None or probing):
        raise click.UsageError("--source and --probe are for the video of one request; a batch has many")
    if probing and source is not None:
        raise click.UsageError("Give one of --source and --probe")
    find = _probed if probing else lambda _: source
    _answer(_QUOTE, body, fields, batch, book(), locale, as_json, find)


@click.command(cls=CommandOfModes, short_help="Price any usage, or a file of them.")
@click.argument("usage", required=False)
@_field_options(_LIKE_USAGE)
@click.option(
    "--dialect",
    type=click.Choice(tuple(DIALECTS)),
    metavar="NAME",
    help=f"USAGE, or each line of --batch, is a response, or a list of the parts of one: {', '.join(DIALECTS)}.",
)
@click.option("--partial", is_flag=True, help="Price the part of a stream that has arrived, if it has not finished.")
@_shared_options
def rate(
    usage: str | None,
    dialect: str | None,
    partial: bool,
    batch: Path | None,
    book: Callable[[], PriceBook],
    locale: Locale,
    as_json: bool,
    **fields: str | None,
) -> None:
    """Price a usage of any type: USAGE is JSON, @FILE, or - for standard input; or name its fields as options.

    \b
    ratecard rate --model grok-4-3 --prompt-tokens 5500 --completion-tokens 300
    ratecard rate --model qwen-image-2 --factor 4x
    ratecard rate --network base-mainnet --method eth_call
    ratecard rate '{"model": "tts-kokoro", "characters": 900}' --json
    ratecard rate --batch usage.csv > answers.jsonl
    ratecard rate --dialect anthropic @response.json --model claude-opus-4-6

    The type is that of the model, and may be left out. In JSON the counts of tokens are the object `usage` of a
    response; in options and in a CSV, whose first line names its fields, each has a name of its own. --json and
    --batch answer as they do for `ratecard quote`, which prices a video by its source too.
    """
    command = _RATE
    if partial and dialect is None:
        raise click.UsageError("--partial is for the stream of a response: give --dialect too")
    if dialect is not None:
        from ratecard.requests.usage_from import usage_from

        model = fields.pop("model")
        if named := [name for name, value in fields.items() if value is not None]:
            raise click.UsageError(f"A response has its own counts; leave out --{named[0].replace('_', '-')}")
        command = _RATE._replace(
            of_text=_no_text,
            of_json=lambda response: read_usage(usage_from(dialect, response, model=model, partial=partial)),
        )
    _answer(command, usage, fields, batch, book(), locale, as_json, lambda _: None)


def _no_text(_: Mapping[str, str]) -> Mapping[str, Any]:
    raise click.UsageError("Responses are JSON, and have no columns: give --batch a file of JSON lines")


def _answer(
    command: _Command,
    body: str | None,
    given: Mapping[str, str | None],
    batch: Path | None,
    prices: PriceBook,
    locale: Locale,
    as_json: bool,
    source_of: Callable[[Mapping[str, Any]], SourceVideo | None],
) -> None:
    stated = {name: value for name, value in given.items() if value is not None}
    if sum((body is not None, bool(stated), batch is not None)) != 1:
        raise click.UsageError("Give one of: a JSON body, fields such as --model, or --batch FILE")
    if batch is not None:
        # Loaded only here, because its progress bar takes longer to load than a quote takes.
        from ratecard.cli.batch import answer_batch

        price = _quote_row if command is _QUOTE else command.price
        bad = answer_batch(lambda row: price(prices, command.of_json(row), None), command.of_text, command.done, batch)
        raise SystemExit(1 if bad else 0)
    sent = None if body is None else _read(body)
    fields: Mapping[str, Any] = {}
    try:
        fields = command.of_text(stated) if sent is None else command.of_json(sent)
        source = source_of(fields)
        quoted = command.price(prices, fields, source)
    except QuoteError as error:
        if as_json:
            click.echo(error.to_json())
        else:
            click.echo(refusal_text(error, prices, fields, command.likes), err=True)
        if hint := _other_command(prices, error, fields, command is _QUOTE):
            click.echo(hint, err=True)
        raise SystemExit(1) from None
    if as_json:
        click.echo(quoted.to_json())
        if quoted.ignored:
            click.echo(_without_effect(quoted), err=True)
    else:
        show_bill(prices, quoted, fields, source, locale)


def _other_command(prices: PriceBook, error: QuoteError, fields: Mapping[str, Any], quoting: bool) -> str:
    """Return the right command for a model that the wrong command refused; empty for any other refusal."""
    name = fields.get("model")
    if quoting and "model" not in fields and fields.keys() & {"network", "calls"}:
        named = next(prices._in_effect_all("rpc"), None)
    else:
        named = None if error.problems or not isinstance(name, str) else _named(prices, name)
    if named is None:
        return ""
    model, version = named
    if model.type == ("video" if quoting else fields.get("type", model.type)):
        return ""
    example = version.examples[0] if version.examples else None
    words = ["--model", str(name)] if model.type != "rpc" else []
    if isinstance(example, UsageExample):
        given = example.usage.items()
        if all(isinstance(value, str) for _, value in given):
            words += [word for field, value in given for word in (f"--{field.replace('_', '-')}", value)]
        else:  # no option states what an object counts
            words = [compact_json(usage_of_text(model.type, str(name), example.usage)).decode()]
    elif model.type == "video":
        return f"It is priced so: ratecard quote --model {shlex.quote(model.model)}"
    return f"It is priced so: {shlex.join(['ratecard', 'rate', *words])}"


def _named(prices: PriceBook, name: str) -> tuple[AnyModel, Version] | None:
    """Return the model and its version, if it has a price; the name of a text model may have parameters."""
    plain = prices.plain_name(name)
    try:
        model, version = prices.in_effect(plain)
    except QuoteError:
        return None
    return (model, version) if name == plain or model.type == "text" else None


def _probed(body: Mapping[str, Any]) -> SourceVideo | None:
    """Probe the source video of a body; None without a video in the body, which the quote then accepts or refuses."""
    if not isinstance(body.get("video_url"), str):
        return None
    from ratecard.probe import probe

    with as_wrong_use(ImportError):
        return probe(body["video_url"])


def _read(body: str) -> Body:
    if body != "-" and not body.startswith("@"):
        return body
    try:
        content = sys.stdin.buffer.read() if body == "-" else Path(body[1:]).read_bytes()
        return content.removeprefix(BOM_UTF8)
    except (OSError, ValueError) as error:
        raise click.UsageError(f"Cannot read {body[1:]}: {getattr(error, 'strerror', error)}") from None


def show_bill(
    prices: PriceBook, quoted: Quote, fields: Mapping[str, Any], source: SourceVideo | None, locale: Locale
) -> None:
    """Print a quote as a bill: each SKU on a line, below it the place of its rate, quantity, unit rate and amount."""
    figures = Figures(locale, quoted.currency)
    amount = figures.exact
    rows = [
        (
            f"  {line.source}",
            f"{figures.quantity(plain(line.quantity))} {line.unit}",
            amount(line.unit_rate),
            amount(line.amount),
        )
        for line in quoted.lines
    ]
    sums = [("Total", "", "", amount(quoted.total))]
    if quoted.exact != quoted.total:
        sums.insert(0, ("Exact", "", "", amount(quoted.exact)))
    widest = min(max((len(line.sku) for line in quoted.lines), default=0), width() or sys.maxsize)
    head, *body = align([("Line item", "Quantity", "Unit rate", "Amount"), *rows, *sums], {1, 2, 3}, least=widest)
    rule = "-" * max(len(head), widest)
    click.echo(heading_style(head))
    click.echo(rule)
    line_workings = workings(prices, quoted, fields, source)
    for line, row, working in zip(quoted.lines, body[: len(rows)], line_workings, strict=True):
        click.echo(line.sku)
        click.echo(row)
        for words in (line.note, *_working(working, figures)):
            if words:
                click.echo(f"  ({words})")
    click.echo(rule)
    for row in body[len(rows) :]:
        click.echo(row)
    if quoted.ignored:
        click.echo(_without_effect(quoted))
    by = f"contract {quoted.contract}, " if quoted.contract else ""
    click.echo(f"Prices of {quoted.effective}, {by}tables {quoted.digest}")


def _without_effect(quoted: Quote) -> str:
    return f"Without effect on this price: {', '.join(quoted.ignored)}"


def _working(working: Working, figures: Figures) -> list[str]:
    """Return how the quantity and the unit rate of a line were computed, unless they are numbers of the table."""
    words = [" ".join(part if isinstance(part, str) else figures.quantity(part) for part in working.counted)]
    if working.list_rate is not None and working.markup is not None:
        markup = figures.quantity(plain(working.markup))
        words.append(f"list rate {figures.exact(working.list_rate)} x {markup}")
    return words


def refusal_text(error: QuoteError, prices: PriceBook, fields: Mapping[str, Any], likes: Mapping[str, str]) -> str:
    """Return a refusal as text; a required field is followed by its choices, or else by its words in `likes`."""
    problems = []
    for path, message in error.problems:
        name = str(path[-1]) if path else ""
        if message == REQUIRED and path:
            if allowed := choices(prices, fields, name):
                message = f"{message}. Choices: {', '.join(allowed)}"
            elif name in likes:
                message = f"{message} ({likes[name]})"
        problems.append((path, message))
    return str(QuoteError(error.error, problems))
