"""The entries of an account book, read from CSV with the columns date, account and amount."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from ledger import money


class LedgerError(ValueError):
    """A line that cannot be read; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One movement of money: spending is negative."""

    day: date
    account: str
    cents: int

    @classmethod
    def from_row(cls, row: list[str]) -> "Entry":
        day, account, amount = row
        return cls(date.fromisoformat(day), account.strip(), money.parse(amount))


def read(lines: Iterable[str]) -> Iterator[Entry]:
    """The entries of a file's lines, of which the first is the heading."""
    rows = csv.reader(lines)
    next(rows, None)
    for row in rows:
        try:
            entry = Entry.from_row(row)
        except ValueError as error:
            raise LedgerError(f"line {rows.line_num}: {error}") from error
        yield entry
