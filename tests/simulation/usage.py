"""A small usage of the shipped tables, priced by hand: two customers, three types, one row that cannot be priced."""

from datetime import UTC, datetime

from rows import Row

NOON = datetime(2026, 10, 2, 12, tzinfo=UTC)


def row(type_: str, model: str | None, customer: str, **values: object) -> Row:
    """One row at noon of 2026-10-02."""
    return {"type": type_, "model": model, "timestamp": NOON, "customer": customer, **values}


ROWS = [
    # 500 uncached x 6/M + 5,000 cached x 0.60/M + 100 x 30/M
    row("text", "claude-opus-4-6", "a", prompt_tokens=5_500, cached_tokens=5_000, completion_tokens=100),
    # 5 s x 0.154
    row("video", "kling-o3-pro-text-to-video", "b", duration="5s"),
    row("video", "kling-o3-pro-text-to-video", "b", duration="5s"),
    # 20 credits
    row("rpc", None, "b", network="ethereum-mainnet", method="eth_call"),
    # cached > prompt
    row("text", "claude-opus-4-6", "a", prompt_tokens=5, cached_tokens=6, completion_tokens=0),
]
TEXT, CLIP, CALL = "0.009", "0.77", "0.0000125"
