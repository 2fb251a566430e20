"""Made-up tables of a few models, and candidates written on the spot."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from ratecard import RateCard, TableError
from ratecard.load.folder import shipped_folder

HEAD = """candidate: spring
effective: {day}
{announced}proposed_by: Pricing
why: because
changes:
"""

# The models of `MIXED`, each with the feature that it stands for.
MIXED = """# A comment at the top.
family: mixed
models:
  - model: plain
    name: Plain
    type: video
    mode: text-to-video
    currency: USD
    versions:
      - effective: 2027-01-01
        checked: 2027-01-01
        source: made up
        accepts: {duration: [5s], audio: none}
        charges:
          - {charge: video, method: fixed, unit: clip, rates: [{rate: 0.10}]}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s}, total: 0.10}

  - model: sized
    name: Sized
    type: video
    mode: text-to-video
    currency: USD
    versions:
      # It stands above its version.
      - effective: 2027-06-01
        announced: 2027-05-01  # a fair
        correction: misread
        expected_change: 3
        checked: 2027-05-01
        source: >-
          made up,
          on two lines
        accepts:
          duration: [5s]
          resolution: [480p, 720p, 1080p]
          audio: configurable
        charges:
          - charge: video
            method: resolution-rate
            unit: video_second
            rates:
              - {resolution: [480p, 720p], audio: false, rate: 0.01}
              # Between two rates.
              - {resolution: [480p, 720p], audio: true, rate: 0.02}   # with sound
              - resolution: 1080p
                rate: "0.03"
          - charge: fee
            method: fixed
            unit: clip
            rates:
              - {rate: 0.5}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s, resolution: 720p}, total: 0.60}
          - request: {duration: 5s, resolution: 1080p}
            total: 0.65
      - effective: 2027-01-01
        checked: 2027-01-01
        source: made up
        accepts: {duration: [5s], resolution: [720p], audio: none}
        charges:
          - {charge: video, method: resolution-rate, unit: video_second, rates: [{rate: 0.01}]}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s, resolution: 720p}, total: 0.05}

  - model: free
    name: Free
    type: video
    mode: text-to-video
    currency: USD
    retired: {on: 2028-01-01}
    versions:
      - effective: 2027-01-01
        checked: 2027-01-01
        source: made up
        accepts: {duration: [5s], audio: none}
        charges:
          - {charge: video, method: fixed, unit: clip, rates: [{rate: 0}]}
        rounding: {places: 2, mode: half-up}
        examples:
          - {request: {duration: 5s}, total: 0.00}
"""
WORDS = """family: words
models:
  - model: talker
    name: Talker
    type: text
    currency: USD
    versions:
      - effective: 2027-01-01
        checked: 2027-01-01
        source: made up
        surcharges: {web_search: looking}
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            context_token_threshold: 1000
            rates:
              - {tokens: [input, cache_input], rate: 1}
              - {tokens: output, rate: 2}
              - {context: extended, tokens: [input, output], rate: 4}
        rounding: none
        examples:
          - {usage: {prompt_tokens: 100, completion_tokens: 10}, total: 0.00012}
          - {usage: {prompt_tokens: 100, completion_tokens: 10, web_search_requests: 1}, total: 0.01012}
"""
SEARCH = """family: searches
models:
  - model: looking
    name: Looking
    type: surcharge
    currency: USD
    versions:
      - effective: 2027-01-01
        checked: 2027-01-01
        source: made up
        charges:
          - {charge: looking, method: surcharge, unit: krequest, rates: [{rate: 10}]}
        rounding: none
        examples:
          - {usage: {count: 1000}, total: 10}
"""
# A model as a candidate file writes it.
ADDED = """  - family: {family}
    add:
      model: {model}
      name: New
      type: video
      mode: text-to-video
      currency: USD
      versions:
        - effective: 2027-09-01
          checked: 2027-08-01
          source: "a plan: good"
          accepts: {{duration: [5s], audio: none}}
          charges:
            - charge: video
              method: fixed
              unit: clip
              # How much.
              rates:
                - {{rate: 0.70}}

          rounding: {{places: 2, mode: half-up}}
          examples:
            - {{request: {{duration: 5s}}, total: 0.70}}
"""


def made_up(folder: Path) -> Path:
    """A folder with these tables."""
    for name, text in (("video/mixed", MIXED), ("text/words", WORDS), ("searches", SEARCH)):
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def copy_of_shipped(folder: Path) -> Path:
    shutil.copytree(shipped_folder(), folder)
    return folder


def candidate(folder: Path, changes: str, day: str = "2027-09-01", announced: str = "", name: str = "c.yaml") -> Path:
    """A candidate with these changes, written as in a file."""
    path = folder.parent / f"{folder.name}-candidates" / name
    path.parent.mkdir(exist_ok=True)
    head = HEAD.format(day=day, announced=f"announced: {announced}\n" if announced else "")
    path.write_bytes((head + changes).encode())
    return path


def refusal(card: RateCard, path: Path) -> str:
    """The message of a candidate that is refused, without the folder of its file."""
    with pytest.raises(TableError) as caught:
        card.with_candidate(path)
    return str(caught.value).replace(str(path), path.name)


def amounts(card: RateCard, model: str) -> list[tuple[str, list[str]]]:
    """The versions of a model: their first days, and their rates in order."""
    return [
        (str(version.effective), [str(rate.rate) for charge in version.charges for rate in charge.rates])
        for version in card.tables.models[model].versions
    ]


def without(text: bytes, lines: Iterable[tuple[int, int]]) -> bytes:
    """A text without these ranges of its lines (first, last; counted from 1)."""
    gone = {number for first, last in lines for number in range(first, last + 1)}
    kept = re.findall(rb"[^\n]*\n|[^\n]+$", text)
    return b"".join(line for number, line in enumerate(kept, start=1) if number not in gone)
