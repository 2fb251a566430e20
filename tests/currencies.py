"""Small tables in any currency, and limits that state what balances are worth."""

import re

from ratecard import RateCard
from ratecard.load.folder import LIMITS, shipped_folder
from ratecard.testing.card_strategies import card_of

SHIPPED = "{DIEM: 1, BUNDLED_CREDITS: 1, VCU: unknown}"
# A picture, and a film whose two lines add up to 0.505 and are rounded.
TABLES = """\
family: made-up
models:
  - model: picture
    name: Picture
    type: image
    currency: {currency}
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a test
        rounding: none
        examples: [{{usage: {{resolution: 1K}}, total: 2}}]
        charges:
          - charge: images
            method: per-image
            unit: image
            rates:
              - {{resolution: 1K, rate: 2}}
              - {{resolution: 2K, rate: 0.3}}
  - model: film
    name: Film
    type: video
    mode: text-to-video
    currency: {currency}
    versions:
      - effective: 2026-01-01
        checked: 2026-01-01
        source: a test
        accepts: {{duration: [5s], resolution: [720p], audio: none}}
        rounding: {{places: 2, mode: half-up}}
        examples: [{{request: {{duration: 5s, resolution: 720p}}, total: 0.51}}]
        charges:
          - charge: video
            method: resolution-rate
            unit: video_second
            rates: [{{resolution: 720p, rate: 0.101}}]
"""
PICTURE = {"type": "image", "model": "picture", "resolution": "1K"}
FILM = {"type": "video", "model": "film", "duration": "5s", "resolution": "720p"}


def limits_with(rates: str = SHIPPED) -> bytes:
    """The shipped limits with other rates of the balances."""
    content = (shipped_folder() / LIMITS).read_text(encoding="utf-8")
    assert content.count(f"rates: {SHIPPED}") == 1
    return content.replace(f"rates: {SHIPPED}", f"rates: {rates}").encode()


def limits_in_time(*dated: tuple[str, str]) -> bytes:
    """The shipped limits again and again: (first day, rates), newest first."""
    head, _, tail = (shipped_folder() / LIMITS).read_text(encoding="utf-8").partition("  - effective: ")
    one = "  - effective: " + tail
    parts = (
        re.sub(r"effective: \S+", f"effective: {day}", one.replace(SHIPPED, rates), count=1) for day, rates in dated
    )
    return (head + "".join(parts)).encode()


def card_in(currency: str, rates: str = SHIPPED) -> RateCard:
    """A picture at 2 (1K) or 0.3 (2K) and a film at 0.51, in a currency."""
    return card_of({"tables.yaml": TABLES.format(currency=currency).encode(), LIMITS: limits_with(rates)})
