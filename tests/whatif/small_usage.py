"""A small usage for the page: three customers, four models with a price, and one without."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DAY = "2026-11-22"
STANDING = datetime(2026, 11, 22, tzinfo=UTC)
KLING, CLAUDE, OVI = "kling-o3-pro-text-to-video", "claude-opus-4-6", "ovi-image-to-video"
_ROWS: list[dict[str, Any]] = [
    {"type": "video", "model": KLING, "duration": "5s", "customer": "alpha"},
    {"type": "video", "model": KLING, "duration": "8s", "audio": "false", "customer": "beta"},
    {"type": "video", "model": OVI, "customer": "beta"},
    {"type": "text", "model": CLAUDE, "prompt_tokens": 5500, "completion_tokens": 100, "customer": "gamma"},
    {"type": "text", "model": CLAUDE, "prompt_tokens": 70001, "completion_tokens": 333, "customer": "alpha"},
    # Of which an image costs 0.036 on some days, and 0.04 later.
    {"type": "image", "model": "qwen-image-3", "resolution": "1K", "customer": "gamma"},
    {"type": "video", "model": "no-such-model", "duration": "5s", "customer": "beta"},
]
_COLUMNS = (
    *("type", "model", "timestamp", "customer"),
    *("duration", "audio", "resolution", "prompt_tokens", "completion_tokens"),
)


def write_usage(path: Path, customer: str = "customer") -> Path:
    """A CSV of the same rows on each of ten days."""
    rows = [{**row, "timestamp": f"2026-10-{day:02}T12:00:00Z"} for day in range(1, 11) for row in _ROWS]
    head = ",".join(customer if name == "customer" else name for name in _COLUMNS)
    lines = [head, *(",".join(str(row.get(name, "")) for name in _COLUMNS) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
