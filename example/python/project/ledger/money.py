"""Amounts of money: decimal text outside, whole cents inside."""

import re

_AMOUNT = re.compile(r"([+-]?\d+)(?:\.(\d{2}))?")


def parse(text: str) -> int:
    """The cents of an amount such as "12", "+12.50" or "-0.75"."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an amount: {text!r}")
    units, cents = match.groups(default="0")
    return int(units) * 100 + int(cents)


def show(cents: int) -> str:
    """The amount as text, with two decimals."""
    units, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{units}.{rest:02}"
