"""A made-up folder with charges of what a meter counts: alone, beside tokens or media; surcharges by any name."""

from datetime import date

from ratecard import PriceBook, RateCard
from ratecard.base.errors import TableError
from ratecard.load.folder import tables_from

DAY = date(2026, 10, 1)
UNITS = """units:
  - {unit: mtoken, counts: token, per: 1000000}
  - {unit: kpage, counts: page, per: 1000}
  - {unit: request, counts: request, per: 1}
  - {unit: session, counts: session, per: 1}
  - {unit: mcharacter, counts: character, per: 1000000}
  - {unit: image, counts: image, per: 1}
  - {unit: krerank, counts: search, per: 1000}
  - {unit: krequest, counts: search request, per: 1000}
  - {unit: minute, counts: minute, per: 1}
  - {unit: credit, counts: RPC credit, per: 1}
"""
METERS = """meters:
  - {meter: minute}
"""
TOKENS = """
          - charge: tokens
            method: tokens
            unit: mtoken
            rates:
              - {tokens: input, rate: 4}
              - {tokens: output, rate: 20}"""
PAGES = """
          - charge: pages
            method: count
            unit: kpage
            rates:
              - {rate: 1.5}"""
REQUESTS = """
          - charge: requests
            method: count
            unit: request
            rates:
              - {rate: 0.01}"""


def model(name: str, type_: str, charges: str, example: str, further: str = "") -> str:
    return f"""
  - model: {name}
    name: Made up
    type: {type_}
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a price list that nobody has
        rounding: none{further}
        charges:{charges}
        examples:
          - {{{example}}}
"""


def book_card(*models: str, meters: str = METERS) -> RateCard:
    contents = {
        "units.yaml": UNITS,
        "meters.yaml": meters,
        "made-up.yaml": "family: made-up\nmodels:" + "".join(models),
    }
    return RateCard(tables_from({name: text.encode() for name, text in contents.items()}))


def book(*models: str, meters: str = METERS) -> PriceBook:
    return book_card(*models, meters=meters).at(DAY)


def faults(*models: str, meters: str = METERS) -> list[str]:
    try:
        book(*models, meters=meters)
    except TableError as error:
        return [str(fault) for fault in error.faults]
    return []
