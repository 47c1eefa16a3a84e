import unittest
from datetime import date

from ledger import Entry, LedgerError, by_account, by_month, read, table

MARCH = """\
date,account,amount
2026-03-01,salary,2450.00
2026-03-01,rent,-780.00
2026-03-14,food,-61.35
2026-03-30,food,-18.90
2026-04-01,rent,-780.00
"""


class ReadTest(unittest.TestCase):
    def test_a_line_is_an_entry(self):
        first, *rest = read(MARCH.splitlines())
        self.assertEqual(first, Entry(date(2026, 3, 1), "salary", 245000))
        self.assertEqual(len(rest), 4)

    def test_a_line_that_cannot_be_read_is_named(self):
        for line in ["2026-02-30,rent,1", "2026-03-01,rent,much", "2026-03-01,rent"]:
            with self.subTest(line), self.assertRaisesRegex(LedgerError, "^line 2: "):
                list(read(["date,account,amount", line]))


class BalanceTest(unittest.TestCase):
    def setUp(self):
        self.entries = list(read(MARCH.splitlines()))

    def test_by_account(self):
        balances = {"food": -8025, "rent": -156000, "salary": 245000}
        self.assertEqual(by_account(self.entries), balances)

    def test_by_month(self):
        self.assertEqual(by_month(self.entries), {"2026-03": 158975, "2026-04": -78000})

    def test_a_table_ends_with_the_sum(self):
        lines = table({"rent": -156000, "salary": 245000}).splitlines()
        self.assertEqual(lines[0], "rent      -1560.00")
        self.assertEqual(lines[-1], "total       890.00")


if __name__ == "__main__":
    unittest.main()
