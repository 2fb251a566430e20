"""Samples of what goes wrong in recorded usage: rows that have no price."""

from collections.abc import Iterable, Iterator, Sequence

from ratecard.price_book import PriceBook
from ratecard.simulation.demo.sample import Row, Sample

_UNKNOWN = "preview"
_FAR_TOO_LONG = "99s"
# A filter lives on a connection, which a proxy does not keep.
_REFUSED_METHOD = "eth_newFilter"
_TWICE_THE_PROMPT = 2_000


def faulty_samples(prices: PriceBook, samples: Iterable[Sample], others: Iterable[Sample]) -> list[Sample]:
    """Spoilt copies of some `samples`, and those of `others` whose models have no price in this book."""
    spoilt = [each for sample in samples for each in _spoilt(sample, prices.card.tables.vocabulary.video.resolution)]
    return [sample for sample in (*spoilt, *others) if not sample.has_price(prices)]


def _spoilt(sample: Sample, resolutions: Sequence[str]) -> Iterator[Sample]:
    row = sample.row
    if row["type"] != "rpc":
        yield sample._replace(row=row | {"model": f"{row['model']}-{_UNKNOWN}"})
    match row["type"]:
        case "text":
            yield sample._replace(row=_without(row, "completion_tokens"))
            yield sample._replace(cached=_TWICE_THE_PROMPT, written=None)
            yield sample._replace(row=row | {"type": "chat"})
        case "video":
            yield sample._replace(row=row | {"duration": _FAR_TOO_LONG})
            yield sample._replace(row=_without(row, "duration"))
            yield sample._replace(row=row | {"resolution": resolutions[0]})
        case "rpc":
            yield sample._replace(row=row | {"method": _REFUSED_METHOD})
            yield sample._replace(row=row | {"network": f"{row['network']}-{_UNKNOWN}"})
        case _:
            pass


def _without(row: Row, name: str) -> Row:
    return {key: value for key, value in row.items() if key != name}
