#!/usr/bin/env python3
"""Tests that inspect reports nothing about any step, whether its tiles are full or not.

usage: every_step_test.py INSPECTED_PROGRAM ...
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# With 2,090 and 4,200 bodies, step 14's last segment has empty tiles.
# With 65 bodies, some steps have an empty block. In a single step, the trees' arrays that carry the
# order of the bodies to the next step would be reported as unused.
PROBLEMS = ("--systems 1 --bodies 4200 --steps 2", "--systems 1 --bodies 2090 --steps 2",
            "--systems 3 --bodies 65 --steps 2", "--systems 5 --bodies 1 --steps 2")
LISTS = ("findings", "races", "barrier_divergences")


class EveryStep(unittest.TestCase):
    programs: list[Path] = []

    def test_has_no_findings(self) -> None:
        self.assertGreater(len(self.programs), 10)
        for program in self.programs:
            for problem in PROBLEMS:
                with (
                    self.subTest(program=program.name, problem=problem),
                    tempfile.TemporaryDirectory() as folder,
                ):
                    trace = Path(folder) / "trace.json"
                    ended = subprocess.run(
                        [program, *problem.split(), "--validate", "off", "--quiet"],
                        text=True,
                        check=False,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        env={**os.environ, "HOSTCUDA_TRACE": str(trace)},
                    )
                    self.assertEqual(ended.returncode, 0, ended.stdout)
                    found = json.loads(trace.read_text("utf-8"))
                    self.assertTrue(found["kernels"], "nothing was traced")
                    self.assertEqual(
                        [found[name] for name in LISTS], [[] for _ in LISTS], ended.stdout
                    )


if __name__ == "__main__":
    EveryStep.programs = [Path(word) for word in sys.argv[1:]]
    unittest.main(argv=sys.argv[:1], verbosity=2)
