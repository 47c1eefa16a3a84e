"""A small account book: CSV in, balances out."""

from ledger.entries import Entry, LedgerError, read
from ledger.report import by_account, by_month, table

__all__ = ["Entry", "LedgerError", "by_account", "by_month", "read", "table"]
