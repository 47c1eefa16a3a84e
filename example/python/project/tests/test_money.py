import unittest

from ledger import money


class ParseTest(unittest.TestCase):
    def test_whole_units(self):
        self.assertEqual(money.parse("12"), 1200)
        self.assertEqual(money.parse(" +7 "), 700)

    def test_cents(self):
        self.assertEqual(money.parse("12.50"), 1250)
        self.assertEqual(money.parse("0.05"), 5)

    def test_spending(self):
        for text, cents in [("-3", -300), ("-3.20", -320), ("-0.75", -75)]:
            with self.subTest(text):
                self.assertEqual(money.parse(text), cents)

    def test_what_is_no_amount(self):
        for text in ["", "-", "1,50", "1.5", "1.500", "--1", "one"]:
            with self.subTest(text), self.assertRaises(ValueError):
                money.parse(text)


class ShowTest(unittest.TestCase):
    def test_two_decimals(self):
        self.assertEqual(money.show(1250), "12.50")
        self.assertEqual(money.show(5), "0.05")

    def test_spending(self):
        self.assertEqual(money.show(-75), "-0.75")
        self.assertEqual(money.show(-320), "-3.20")


if __name__ == "__main__":
    unittest.main()
