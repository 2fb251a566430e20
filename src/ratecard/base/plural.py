"""Numbers with their noun."""


def plural(number: int, noun: str) -> str:
    """Write a number and its noun, in the plural unless it is 1; the noun takes an s.

    >>> plural(1, "row"), plural(1_200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
