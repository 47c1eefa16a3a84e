"""Balances, and how they are printed."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from ledger import money
from ledger.entries import Entry


def by_account(entries: Iterable[Entry]) -> dict[str, int]:
    """The balance of each account in cents, by name."""
    return _balances(entries, lambda entry: entry.account)


def by_month(entries: Iterable[Entry]) -> dict[str, int]:
    """The balance of each month in cents, the earliest first."""
    return _balances(entries, lambda entry: f"{entry.day:%Y-%m}")


def _balances(entries: Iterable[Entry], key: Callable[[Entry], str]) -> dict[str, int]:
    balances: Counter[str] = Counter()
    for entry in entries:
        balances[key(entry)] += entry.cents
    return dict(sorted(balances.items()))


def table(balances: Mapping[str, int]) -> str:
    """A line for each balance and one for their sum, the amounts aligned on the right."""
    rows = [*balances.items(), ("total", sum(balances.values()))]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}{money.show(cents):>12}" for name, cents in rows)
