"""A kept roll-up answers as its rows do, to the last digit, or refuses with the roll-up that would."""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet
from hypothesis import given
from hypothesis import strategies as st
from kept_roll_ups import REFUSED, answers, same_or_refused
from rows import table_of
from test_row_by_row import SLOW, usage_rows

from ratecard import rollup
from ratecard.changes.sides import Side
from ratecard.testing import rate_cards
from shipped import CARD as SHIPPED

FIRST = datetime(2025, 12, 1, tzinfo=UTC)


@SLOW
@given(st.data())
def test_random_tables_and_candidates(data: st.DataObject) -> None:
    """Groups made for some cards, asked for others: what these do not distinguish is never answered."""
    cards = [Side(name, data.draw(rate_cards())) for name in ("made for", "made for too", "asked")]
    rows = data.draw(usage_rows(cards[0].card, FIRST, 400))
    half = len(rows) // 2
    made_for = cards[: data.draw(st.integers(1, 2))]
    by = data.draw(st.sampled_from((["model"], ["model", "day"], ["model", "day", "customer"])))
    asked = [data.draw(st.sampled_from(cards)), *data.draw(st.lists(st.sampled_from(cards), max_size=1))]
    asked = list({side.label: side for side in asked}.values())
    if data.draw(st.booleans()):
        at = data.draw(st.datetimes(FIRST.replace(tzinfo=None), datetime(2026, 12, 1), timezones=st.just(UTC)))
        asked = [Side(side.label, side.card, at) for side in asked]
    keys = data.draw(st.sampled_from(([], ["model"], ["day"], ["month", "customer"], ["model", "customer"])))
    since = data.draw(st.sampled_from((None, "2026-03-01")))
    with TemporaryDirectory() as folder:
        usage, kept = Path(folder, "usage"), Path(folder, "kept")
        usage.mkdir()
        for name, part in (("a", rows[:half]), ("b", rows[half:])):
            pyarrow.parquet.write_table(table_of(part), usage / f"{name}.parquet")
        rollup(usage, kept, made_for[0], made_for[1:], by=by)
        how = {"by": keys, "since": since}
        served = same_or_refused(kept, usage, asked[0], asked[1:], **how)
        if {side.label for side in asked} == {side.label for side in made_for}:
            assert served or ("customer" in keys and "customer" not in by)
        if not served:
            rollup(usage, kept, asked[0], asked[1:], by=[*by, *keys])
            assert same_or_refused(kept, usage, asked[0], asked[1:], **how)
