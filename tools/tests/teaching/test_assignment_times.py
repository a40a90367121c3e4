"""Tests the limits and points for the times of assignments on a GPU. The tests need no GPU."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from nbody_tools.assignments import timing
from nbody_tools.assignments.family import families, find_family
from nbody_tools.assignments.grading import lines_of
from nbody_tools.assignments.points import WEIGHTS
from nbody_tools.assignments.tests import Answers
from nbody_tools.assignments.times import share_of_time, times_of_references
from nbody_tools.labs.building import DoesNotCompile
from nbody_tools.labs.tests import Result

VARIANT = find_family("reduction").variants[0]


class Limits(unittest.TestCase):
    def test_a_statement_names_the_limit(self) -> None:
        names = {one.name for family in families() for one in family.variants}
        self.assertLessEqual(set(times_of_references()), names)
        for family in families():
            for variant in family.variants:
                limit = f"`solve` may take {variant.time_limit:.2f} times as long"
                self.assertIn(limit, variant.statement)

    def test_every_variant_has_a_limit(self) -> None:
        without = [one.name for family in families() for one in family.variants
                   if one.time_limit is None]
        self.assertEqual(without, [])

    def test_points_fall_in_proportion_to_the_time(self) -> None:
        for copies, share in ((1.0, 1), (1.5, 1), (3.0, 0.5), (9.9, 1.5 / 9.9), (10.0, 0)):
            self.assertAlmostEqual(share_of_time(copies, 1.5), share)

    def test_points_are_divided_with_and_without_the_time(self) -> None:
        results = [Result(name, 1) for name in WEIGHTS]
        self.assertEqual([line.points for line in lines_of(results)], [18, 8, 8, 11, 55])
        timed = lines_of([*results, Result("time", 0.5)])
        self.assertEqual([line.points for line in timed], [15, 7, 6, 10, 45, 17])


class OnGpu(unittest.TestCase):
    """Uses stubs for the workshop and the programs. The real ones are tested on a GPU."""

    def time(self, seconds: float, result: bytes, why: str = "", said: str = "1.0") -> Result:
        answers = Answers((result,), (seconds,), why, said if why else "")
        tools: Any = None
        with mock.patch.multiple(
                timing, Workshop=mock.Mock(), add_harness=mock.DEFAULT,
                build_for_gpu=mock.Mock(return_value=Path("program")),
                run_problems=mock.Mock(return_value=(answers, 0.0, False)),
                run_alone=mock.Mock(return_value=mock.Mock(said=said, why=""))), \
                mock.patch.object(type(VARIANT), "timed", (2, 40, 3)), \
                mock.patch.object(type(VARIANT), "time_limit", 1.5):
            return timing.time_on_gpu(VARIANT, "", 1, tools, True, "auto")

    def right(self) -> bytes:
        import random
        asked = VARIANT.problem(2, 40, random.Random(1))
        return asked.expected.values.astype("float32").tobytes()

    def test_a_right_result_has_the_points_of_its_time(self) -> None:
        self.assertEqual(self.time(1.4e-3, self.right()), Result("time", 1.0, ""))
        slow = self.time(3e-3, self.right())
        self.assertEqual((slow.share, slow.why),
                         (0.5, "it takes as long as 3.00 copies of its input; full points need "
                               "1.5 or less"))

    def test_a_wrong_result_has_none(self) -> None:
        found = self.time(1e-3, bytes(len(self.right())))
        self.assertEqual(found.share, 0)
        self.assertRegex(found.why, "^in the timed run: 2 x 40 bodies: result 0")
        self.assertEqual(self.time(1e-3, b"", "the program ended early", "").why,
                         "the program ended early")

    def test_what_nvcc_refuses_gets_no_points(self) -> None:
        refuses = mock.Mock(side_effect=(Path("copy"), DoesNotCompile("a.cu(7): error: no\nmore")))
        tools: Any = None
        with mock.patch.multiple(timing, Workshop=mock.Mock(), add_harness=mock.DEFAULT,
                                 build_for_gpu=refuses), \
                mock.patch.object(type(VARIANT), "timed", (2, 40, 3)), \
                mock.patch.object(type(VARIANT), "time_limit", 1.5):
            found = timing.time_on_gpu(VARIANT, "", 1, tools, True, "auto")
        self.assertEqual(found, Result("time", 0, "nvcc does not compile it: a.cu(7): error: no"))

    def test_wrong_results_are_not_timed(self) -> None:
        tools: Any = None
        with mock.patch.object(type(VARIANT), "time_limit", 1.5):
            found = timing.time_on_gpu(VARIANT, "", 1, tools, False, "auto")
        self.assertEqual(found.share, 0)

    def test_a_gpu_without_a_copy_is_no_students_mistake(self) -> None:
        with self.assertRaisesRegex(timing.NoGpu, "a copy of .* bytes failed on this GPU"):
            self.time(1e-3, self.right(), said="")
        broken = "before solve(): CUDA driver version is insufficient"
        with self.assertRaisesRegex(timing.NoGpu, "cannot be used in the sandbox\n.*insufficient"):
            self.time(1e-3, b"", "the program ended early", broken)


if __name__ == "__main__":
    unittest.main()
