"""`python -m ledger FILE.csv`: prints the balances of a file."""

import sys
from pathlib import Path

from ledger import LedgerError, by_account, by_month, read, table


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m ledger FILE.csv", file=sys.stderr)
        return 2
    try:
        with Path(arguments[0]).open(newline="", encoding="utf-8") as lines:
            entries = list(read(lines))
    except (OSError, LedgerError) as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 1
    print(table(by_account(entries)), table(by_month(entries)), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
