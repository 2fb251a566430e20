"""A quote: what the rates say about one request."""

import json
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from ratecard.rating.line_item import LineItem
from ratecard.words.money import plain, text


class Quote(NamedTuple):
    """The price of one request, with the lines that add up to it.

    `exact` is the exact sum of the lines' amounts; `total` is `exact` rounded once, as the table says. `effective` is
    the date of the version that priced it, `digest` names the tables, `ignored` the valid fields without effect;
    `tokens` are those of prompt and completion, for language models only.
    """

    model: str
    total: Decimal
    exact: Decimal
    currency: str
    lines: tuple[LineItem, ...]
    effective: date
    digest: str
    ignored: tuple[str, ...] = ()
    type: str = "video"
    tokens: tuple[int, int] | None = None

    def to_json(self) -> bytes:
        """What HTTP answers: `{"quote":0.95}`, exact digits, never through a float."""
        if self.type == "video":  # rounded: its digits are those of the table's precision
            return f'{{"quote":{self.total!s}}}'.encode()
        return f'{{"quote":{text(plain(self.total))}}}'.encode()

    def to_dict(self) -> dict[str, Any]:
        """Everything, amounts as text: for records and explanations."""
        return {
            "type": self.type,
            "model": self.model,
            "total": text(self.total if self.type == "video" else plain(self.total)),
            "exact": text(plain(self.exact)),
            "currency": self.currency,
            "lines": [line.to_dict() for line in self.lines],
            "effective": self.effective.isoformat(),
            "digest": self.digest,
            "ignored": list(self.ignored),
        }

    def explain(self) -> str:
        """Everything as JSON text, for a log or a terminal."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
