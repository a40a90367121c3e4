#!/usr/bin/env python3
"""Tests that a traced step takes at most 25 times the processor time of the plain step.

    slowdown_test.py [PLAIN TRACED]...

A run with one time step is subtracted from a run with several more, and the difference is divided
by the number of additional time steps. The difference is measured three times on one core. Only the
smallest counts, so that other programs matter little.
"""
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = []
BOUND = 25
PROBLEM = ["--systems", "1", "--bodies", "4096", "--validate", "off", "--quiet"]


def seconds(program, steps, trace=None):
    """Returns the processor time of a run."""
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    if trace:
        variables["HOSTCUDA_TRACE"] = str(trace)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(
        [program, *PROBLEM, "--steps", str(steps)],
        env=variables,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def per_step(program, steps, trace=None):
    return (
        min(seconds(program, 1 + steps, trace) - seconds(program, 1, trace) for _ in range(3))
        / steps
    )


class Slowdown(unittest.TestCase):
    def test_a_traced_run(self):
        for plain, traced in zip(PROGRAMS[::2], PROGRAMS[1::2]):
            with self.subTest(program=plain), tempfile.TemporaryDirectory() as folder:
                factor = per_step(traced, 2, Path(folder) / "trace.json") / per_step(plain, 20)
                print(f"{Path(plain).name}: {factor:.1f} times the processor time")
                self.assertLessEqual(factor, BOUND)


if __name__ == "__main__":
    PROGRAMS.extend(sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
