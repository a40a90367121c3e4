#!/usr/bin/env python3
"""Compares the operation counts of a program with counts made by hand: counts_test.py COUNTED"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).with_name("counted.cu")
PROGRAM = ""
ALL, HALF = 64, 32  # numbers of threads
BY_HAND = {
    "straight": {"float32": {"mul": ALL, "add": 2 * ALL, "div": ALL}},
    "index_and_bound": {
        "float32": {"add": 48},
        "integer": {"mul": ALL, "add": ALL, "compare": ALL},
    },
    "loop": {
        "float32": {"mul": 10 * ALL, "add": 10 * ALL},
        "integer": {"add": 10 * ALL, "compare": 11 * ALL},
    },
    "half_of_the_threads": {
        "float32": {"sqrt": HALF, "mul": HALF},
        "integer": {"div": ALL, "compare": ALL},
    },
    # Thread i makes i + 1 comparisons, i multiplications and i additions; 0 + 1 + ... + 63 = 2016.
    "leaves_early": {"float32": {"mul": 2016}, "integer": {"compare": 2016 + ALL, "add": 2016}},
    # The kernel is launched twice. The second condition holds only in the second launch.
    "second_condition": {"integer": {"compare": 2 * ALL + 16}, "float32": {"compare": 2 * 16}},
    "functions": {
        "float32": {
            "fma": 2 * ALL,
            "rsqrt": ALL,
            "sqrt": 2 * ALL,
            "div": 2 * ALL,
            "add": 4 * ALL,
            "compare": 2 * ALL,
            "mul": ALL,
            "function": 2 * ALL,
        }
    },
    "of_threads": {
        "threads": {"shuffle": 2 * ALL, "barrier": 2 * ALL, "vote": ALL, "warp_barrier": ALL},
        "float32": {"compare": ALL},
        "integer": {"compare": ALL},
    },
    "of_groups": {"threads": {"shuffle": ALL, "barrier": ALL, "warp_barrier": ALL}},
    "unwanted_double": {"float64": {"mul": ALL}, "conversion": {"convert": 2 * ALL}},
    "of_half": {"float16": {"fma": ALL, "add": ALL}},
    # The kernel is launched twice.
    "calls": {"float32": {"add": 2 * 4 * ALL, "mul": 2 * 3 * ALL}},
}


def counted():
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "count.json"
        subprocess.run([PROGRAM], env={**os.environ, "HOSTCUDA_COUNT": str(record)}, check=True)
        return {
            kernel["name"]: kernel
            for kernel in json.loads(record.read_text(encoding="utf-8"))["kernels"]
        }


class Counts(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.kernels = counted()

    def test_every_kernel_was_counted_by_hand(self):
        self.assertEqual(set(self.kernels), set(BY_HAND))

    def test_counts_equal_those_made_by_hand(self):
        for name, by_hand in BY_HAND.items():
            found = {}
            for one in self.kernels[name]["operations"]:
                of = found.setdefault(one["type"], {})
                of[one["operation"]] = of.get(one["operation"], 0) + one["count"]
            with self.subTest(kernel=name):
                self.assertEqual(found, by_hand)

    # The kernels of_threads and of_groups have two warps. In both, every lane shuffles; in
    # of_threads, every lane also votes.
    def test_warps_that_shuffle_and_vote(self):
        none, once = {"requests": 0, "executions": 0}, {"requests": 2, "executions": ALL}
        twice = {"requests": 4, "executions": 2 * ALL}
        for name, shuffles, votes in (("of_threads", twice, once), ("of_groups", once, none),
                                      ("straight", none, none)):
            with self.subTest(kernel=name):
                self.assertEqual((self.kernels[name]["shuffles"], self.kernels[name]["votes"]),
                                 (shuffles, votes))

    def test_lines_are_source_lines(self):
        lines = SOURCE.read_text(encoding="utf-8").splitlines()
        for one in self.kernels["functions"]["operations"]:
            self.assertEqual(Path(one["file"]).name, SOURCE.name)
            if one["operation"] == "rsqrt":
                self.assertIn("rsqrtf(a)", lines[one["line"] - 1])

    def test_launches_add_up(self):
        self.assertEqual([self.kernels[name]["launches"] for name in ("straight", "calls")], [1, 2])
        self.assertEqual(
            [self.kernels[name]["threads"] for name in ("straight", "calls")], [64, 128]
        )

    def test_without_the_variable_it_runs_and_counts_nothing(self):
        without = {name: value for name, value in os.environ.items() if name != "HOSTCUDA_COUNT"}
        ended = subprocess.run([PROGRAM], env=without, capture_output=True, check=False)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, b"", b""))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
