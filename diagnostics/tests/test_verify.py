"""The tables of the examples' checks: a number outside its band, or none, must fail."""

import unittest

from larmor.verify import Row, all_passed, table


class Bands(unittest.TestCase):
    def test_relative(self):
        self.assertTrue(Row("a", 1.009, 1.0, 0.01).passed)
        self.assertFalse(Row("a", 1.011, 1.0, 0.01).passed)
        self.assertTrue(Row("a", -0.2323, -0.23, 0.02).passed)
        self.assertFalse(Row("a", 0.23, -0.23, 0.02).passed)

    def test_absolute(self):
        self.assertTrue(Row("a", 1e-7, 0.0, 1e-6, absolute=True).passed)
        self.assertFalse(Row("a", -2e-6, 0.0, 1e-6, absolute=True).passed)

    def test_nan_fails(self):
        self.assertFalse(Row("a", float("nan"), 1.0, 0.5).passed)

    def test_an_error_bar_does_not_widen_the_band(self):
        self.assertFalse(Row("a", 1.2, 1.0, 0.1, error=1.0).passed)

    def test_all(self):
        good, bad = Row("a", 1, 1, 0.1), Row("b", 2, 1, 0.1)
        self.assertTrue(all_passed([good]))
        self.assertFalse(all_passed([good, bad]))
        self.assertFalse(all_passed([]))

    def test_table(self):
        text = table([Row("a", 1, 1, 0.1), Row("b", 2, 1, 0.1)])
        self.assertIn("OUTSIDE", text.splitlines()[2])
        self.assertNotIn("OUTSIDE", text.splitlines()[1])
        self.assertIn("10.00%", text)


if __name__ == "__main__":
    unittest.main()
