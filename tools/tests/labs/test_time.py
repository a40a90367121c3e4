"""Tests how the processor time of a submission is divided among its runs."""

from __future__ import annotations

import unittest
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from types import SimpleNamespace

from nbody_tools.labs.lab import find_lab
from nbody_tools.labs.running import SECONDS
from nbody_tools.labs.tests import SECONDS_OF_GRADING, Tests


def tests_with(seconds: float) -> Tests:
    """Returns the tests of a submission whose compilation left this much processor time."""
    workshop = SimpleNamespace(seconds=[SECONDS_OF_GRADING - seconds])
    return Tests(find_lab("03"), workshop, {}, seed=1)


class TimeOfRuns(unittest.TestCase):
    def test_a_run_waits_for_time_that_another_has_reserved(self) -> None:
        tests = tests_with(SECONDS + 4)
        first = tests._reserved()
        with ThreadPoolExecutor(1) as pool:
            second = pool.submit(tests._reserved)
            with self.assertRaises(TimeoutError):
                second.result(timeout=0.1)
            tests._give_back(first, used=1)
            self.assertEqual(second.result(), SECONDS)

    def test_a_run_alone_gets_what_is_left(self) -> None:
        tests = tests_with(4)
        self.assertEqual(tests._reserved(), 4)
        tests._give_back(4, used=4)
        self.assertEqual(tests._reserved(), 1)  # enough to find out that a program ends


if __name__ == "__main__":
    unittest.main()
