"""Checks pages of the built site in a real browser: at three widths nothing may overlap or leave
the screen, and in both themes text must have the contrast that WCAG AA requires.

    PYTHONPATH=tools python3 tests/course/site_pages_test.py build/site
"""

import sys
import unittest
from pathlib import Path

from tests.design import boxes

SITE = Path(sys.argv.pop())
PAGES = ("index.html", "step03_tiling/index.html", "docs/performance.html", "docs/scenarios.html",
         "docs/reports/lab_report.html")


class Pages(unittest.TestCase):
    def test_pages(self) -> None:
        with boxes.Browser() as browser:
            for page in PAGES:
                with self.subTest(page):
                    self.assertEqual(boxes.problems((SITE / page).resolve(), browser), [])


if __name__ == "__main__":
    if boxes.Browser.find() is None:
        print("skipped: no chromium here")
        sys.exit(77)
    unittest.main()
