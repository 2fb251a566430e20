"""Tables of made-up text models: a test writes the rates of tokens, and what is said here has no effect on prices."""

from textwrap import dedent, indent

NO_TOKENS = "{prompt_tokens: 0, completion_tokens: 0}"


def family(*models: str) -> str:
    """A file of these models."""
    return "family: made-up\nmodels:\n" + "".join(models)


def text_model(name: str, *versions: str, further: str = "") -> str:
    """A model with its versions, newest first; `further` are more lines of it."""
    head = f"  - model: {name}\n{_at(4, further)}    name: Made up\n    type: text\n    currency: USD\n    versions:\n"
    return head + "".join(versions)


def by_tokens(
    rates: str, further: str = "", *, effective: str = "2026-01-01", usage: str = NO_TOKENS, total: object = 0
) -> str:
    """A version with these lines of rates, and `further` lines of their charge; its example has this total."""
    head = f"""\
      - effective: {effective}
        checked: 2026-01-01
        source: a price list that nobody has
        rounding: none
        charges:
          - charge: tokens
            method: tokens
            unit: mtoken
            rates:
"""
    example = f"        examples:\n          - {{usage: {usage}, total: {total}}}\n"
    return head + _at(14, rates) + _at(12, further) + example


def _at(column: int, lines: str) -> str:
    return indent(dedent(lines).strip("\n") + "\n", " " * column) if lines.strip() else ""
