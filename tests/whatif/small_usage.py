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
    # An image costs 0.036 on some days, and 0.04 later.
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


FLASH = "flash"
_TABLE = f"""
family: flash
models:
  - model: {FLASH}
    name: Flash
    type: text
    currency: USD
    versions:
      - effective: 2026-01-01
        checked: 2026-11-20
        source: made up
        factors: [{{speed: fast, factor: 2}}]
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            factors: [{{service_tier: batch, factor: 0.5}}]
            rates:
              - {{tokens: input, rate: 2}}
              - {{tokens: output, rate: 10}}
        rounding: none
        examples:
          - {{usage: {{prompt_tokens: 1000, completion_tokens: 100}}, total: 0.003}}
"""


def write_tables(folder: Path) -> Path:
    """Tables of one model, which has factors: of its charge, and of all that it charges."""
    folder.mkdir()
    Path(folder, "flash.yaml").write_text(_TABLE, encoding="utf-8")
    return folder


def write_batches(path: Path) -> Path:
    """A CSV of two requests of that model, one of them in a batch."""
    head = "type,model,timestamp,tokens.input,tokens.output,service_tier"
    rows = [f"text,{FLASH},2026-10-0{day}T12:00:00Z,1000000,0,{tier}" for day, tier in ((1, "batch"), (2, ""))]
    path.write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    return path
