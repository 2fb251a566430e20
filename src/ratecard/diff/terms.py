"""The conditions of a version as text, in one order whatever that of the file: what is no rate and yet decides."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from ratecard.diff.change import TermChange
from ratecard.diff.side import Priceable
from ratecard.tables.charge import Charge
from ratecard.tables.scalars import Size
from ratecard.tables.vocabulary import Unit
from ratecard.words.money import plain, text

# Rates have their own comparison; the others say why a rate is right, or who wrote it when.
_NOT_TERMS = {"rates", "charges", "examples", "effective", "announced", "checked", "source", "reference", "evidence"}
_NOT_TERMS |= {"correction", "expected_change", "place"}
# Of these the first that fits holds, so that their order has a meaning.
_ORDERED = {"tiers"}
_RANGE = 3

Terms = dict[str, str | tuple[str, ...]]


def terms_of(side: Priceable) -> Terms:
    """Every condition of a version by its name: `accepts duration`, `rounding places`, `markup of video`."""
    model, version, units = side
    found: Terms = {"type": model.type, "currency": model.currency, "mode": getattr(model, "mode", "")}
    found["limit tier"] = getattr(model, "tier", None) or ""
    found |= described(version)
    found["order of charges"] = ", ".join(charge.charge for charge in version.charges)
    for charge in version.charges:
        for name, value in _of_charge(charge, units):
            found[f"{name} of {charge.charge}"] = value
    return {name: value for name, value in found.items() if value}


def described(part: BaseModel, prefix: str = "") -> Terms:
    """The keys of a part of a table, those of its parts below it, each with its value as text."""
    found: Terms = {}
    for name in type(part).model_fields.keys() - _NOT_TERMS:
        value, words = getattr(part, name), f"{prefix}{name.rstrip('_')}"
        if isinstance(value, BaseModel):
            found |= described(value, f"{words} ")
        elif isinstance(value, Mapping):
            found |= {f"{words} {key}": _one(each) for key, each in value.items()}
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            found[words] = _parts(value, ordered=name in _ORDERED)
        elif value is not None:
            found[words] = _one(value)
    return found


def term_changes(old: Terms, new: Terms) -> tuple[TermChange, ...]:
    """The conditions that differ, by name; of a list of parts only those parts that differ."""
    return tuple(
        TermChange(name, *_sides(old.get(name, ""), new.get(name, "")))
        for name in sorted({**old, **new})
        if old.get(name, "") != new.get(name, "")
    )


def _of_charge(charge: Charge, units: Mapping[str, Unit]) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    yield from ((name, value) for name, value in described(charge).items() if name != "charge")
    yield "unit count", str(units[charge.unit].per)


def _sides(old: str | tuple[str, ...], new: str | tuple[str, ...]) -> tuple[str, str]:
    before, after = _listed(old), _listed(new)
    return "; ".join(one for one in before if one not in after), "; ".join(one for one in after if one not in before)


def _listed(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,)


def _parts(values: tuple[BaseModel, ...], *, ordered: bool) -> tuple[str, ...]:
    words = [", ".join(f"{key} {_whole(value)}" for key, value in sorted(described(one).items())) for one in values]
    return tuple(f"{number}. {one}" for number, one in enumerate(words, 1)) if ordered else tuple(sorted(words))


def _whole(value: str | tuple[str, ...]) -> str:
    return "; ".join(_listed(value))


def _one(value: Any) -> str:
    if isinstance(value, Size):
        return f"{value.width}x{value.height}"
    if isinstance(value, (tuple, list)):
        return ", ".join(_ranges(sorted({_one(each) for each in value}, key=_natural)))
    if isinstance(value, bool):
        return str(value).lower()
    return text(plain(value)) if isinstance(value, Decimal) else str(value)


def _natural(word: str) -> tuple[int, str]:
    digits = word[: len(word) - len(word.lstrip("0123456789"))]
    return int(digits or 0), word


def _ranges(words: list[str]) -> list[str]:
    """`3s, 4s, 5s` as `3s..5s`, the way that a table writes it."""
    runs: list[list[str]] = []
    for word in words:
        if runs and word == f"{_natural(runs[-1][-1])[0] + 1}s" and runs[-1][-1][-1:] == "s":
            runs[-1].append(word)
        else:
            runs.append([word])
    return [one for run in runs for one in ([f"{run[0]}..{run[-1]}"] if len(run) >= _RANGE else run)]
