"""Work the examples of a table: compare totals that a person wrote down with those of its rates."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ratecard.base.errors import Fault, QuoteError
from ratecard.base.instants import utc
from ratecard.base.money import text
from ratecard.line_items.quote import Quote
from ratecard.line_items.source_video import SourceVideo
from ratecard.price_book import PriceBook
from ratecard.pricing.compiler import Compiler
from ratecard.requests.text_body import body_of_text, usage_of_text
from ratecard.tables.card import AnyModel
from ratecard.tables.version import Example, Version

if TYPE_CHECKING:
    from ratecard.tables.contract import ContractExample


class Worked(NamedTuple):
    """One example with the quote that its rates give, or None and the reason why it has no price."""

    model: str
    number: int
    example: Example
    quote: Quote | None
    reason: str

    @property
    def total(self) -> Decimal | None:
        """Return the total of the quote."""
        return self.quote.total if self.quote else None


def work(compiler: Compiler) -> Iterator[Worked]:
    """Work every example of every version."""
    for model in compiler.tables.models.values():
        for version in model.versions:
            yield from work_version(compiler, model, version)


def work_version(compiler: Compiler, model: AnyModel, version: Version) -> Iterator[Worked]:
    """Work every example of one version, priced at the beginning of the version."""
    book = PriceBook(compiler, version.begins)
    for number, example in enumerate(version.examples):
        yield _worked(model.model, number, example, partial(price_example, book, model, example))


def work_contract_example(book: PriceBook, contract: str, number: int, example: "ContractExample") -> Worked:
    """Work an example of a contract by the price book of that contract at the instant of the example."""
    return _worked(contract, number, example, lambda: price_example(book, book.in_effect(example.model)[0], example))


def _worked(of: str, number: int, example: Example, price: Callable[[], Quote]) -> Worked:
    try:
        quote = price()
    except QuoteError as error:
        return Worked(of, number, example, None, str(error))
    lines = (f"\n    {line.sku} {text(line.amount)} ({line.source})" for line in quote.lines)
    return Worked(of, number, example, quote, "".join(lines))


def price_example(book: PriceBook, model: AnyModel, example: Example) -> Quote:
    """Quote an example's request at the instant of a price book, and the hour that it states. Raises `QuoteError`."""
    if example.at is not None:
        book = replace(book, hour=utc(example.at))
    fields, source = request_of_example(model, example)
    return book.quote_video(fields, source=source) if model.type == "video" else book.rate(fields)


def request_of_example(model: AnyModel, example: Example) -> tuple[dict[str, Any], SourceVideo | None]:
    """Return the body or usage of an example, as a client would send it, and what is known of its source video."""
    written: Any = example
    if model.type == "video":
        source = SourceVideo(**written.source) if written.source else None
        return {"model": model.model, **body_of_text(written.request or {})}, source
    return usage_of_text(model.type, model.model, written.usage or {}), None


def wrong_examples(compiler: Compiler) -> list[Fault]:
    """Return a fault, at its line, for every example whose total differs from that of the rates."""
    return faults_of(work(compiler))


def faults_of(examples: Iterable[Worked]) -> list[Fault]:
    """Return a fault, at its line, for each of these examples whose total differs from that of the rates."""
    return [_fault(worked) for worked in examples if worked.total != worked.example.total]


def _fault(worked: Worked) -> Fault:
    file, _, line = (worked.example.place or ":0").rpartition(":")
    if worked.total is not None:
        outcome = f"the rates give {text(worked.total)}:{worked.reason}"
    elif getattr(worked.example, "usage", None) == {}:
        outcome = f"but its usage is empty. Write what a request counts: {worked.reason}"
    else:
        outcome = f"but it is refused: {worked.reason}"
    words = f"{worked.model}: the example says {text(worked.example.total)}, {outcome}"
    return Fault(file, int(line), (worked.model, "examples", worked.number), words)
