"""The process that reads one video: `python -m ratecard.probe.worker`, a task as JSON in, an answer as JSON out."""

import json
import signal
import sys
from typing import Any

from ratecard.probe.limits import Limits, UnreadableError
from ratecard.probe.source import read_source

_MEMORY = 2 * 2**30
_FILES = 64


def confine(seconds: int) -> None:
    """Limit the memory and time of this process, and forbid it to write files. Windows has no such limits."""
    if sys.platform == "win32":
        return
    import resource

    for kind, bound in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, seconds + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (bound, bound))
    # The parent kills it in time; the alarm is for a parent that was killed itself.
    signal.alarm(seconds + 1)


def _answer(task: dict[str, Any]) -> dict[str, Any]:
    """The facts as exact text, or the reason of a refusal."""
    try:
        facts = read_source(task["video_url"], Limits(**task["limits"]))
    except UnreadableError as refusal:
        return {"refused": str(refusal)}
    except MemoryError:
        return {"refused": "it would take too much memory to read"}
    return {name: str(getattr(facts, name)) for name in ("seconds", "width", "height", "fps")}


def main() -> None:
    """Read a task from standard input and write the answer."""
    task = json.load(sys.stdin)
    confine(task["limits"]["seconds"])
    json.dump(_answer(task), sys.stdout)


if __name__ == "__main__":
    main()
