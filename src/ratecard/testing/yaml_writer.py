"""Tables as a person writes them: keys one below the other, each rate and each example on one line."""

from collections.abc import Iterator, Mapping
from typing import Any

from ratecard.load.positions import literal


def yaml_text(data: Mapping[str, Any]) -> str:
    """Nested mappings, lists and words as YAML.

    >>> print(yaml_text({"family": "f", "rates": [{"resolution": ["720p", "4k"], "rate": "0.10"}]}), end="")
    family: f
    rates:
      - {resolution: [720p, 4k], rate: 0.10}
    """
    return "".join(f"{line}\n" for line in _mapping(data))


def _mapping(data: Mapping[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        if _fits_a_line(value):
            yield f"{literal(key)}: {_line(value)}"
        else:
            yield f"{literal(key)}:"
            below = _mapping(value) if isinstance(value, Mapping) else _list(value)
            yield from (f"  {line}" for line in below)


def _list(items: list[Any]) -> Iterator[str]:
    for item in items:
        if any(isinstance(value, list) and not _fits_a_line(value) for value in item.values()):
            first, *others = _mapping(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in others)
        else:
            yield f"- {_line(item)}"


def _fits_a_line(value: Any) -> bool:
    """A word, a list of words, or a mapping of words."""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return all(isinstance(part, str) for part in parts)


def _line(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(key)}: {_line(part)}" for key, part in value.items()) + "}"
    return "[" + ", ".join(map(_line, value)) + "]" if isinstance(value, list) else literal(value)
