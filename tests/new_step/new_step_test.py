"""Calls ./nbody new in a clone of this repository. The new step must build and pass its tests, and
documents must treat the step as a draft.

usage: new_step_test.py COMPILER

Exits with 77 if this is not a clone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from nbody_tools.arguments import ROOT

STEP = "step17_mine"


class NewStep(unittest.TestCase):
    def run_in(self, clone: Path, *words: object) -> str:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=clone,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout[-4000:]}")
        return done.stdout

    def test_it_builds_passes_and_is_a_draft(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            clone = Path(folder) / "clone"
            self.run_in(ROOT, "git", "clone", "--quiet", ROOT, clone)
            self.assertIn(
                "a draft", self.run_in(clone, "./nbody", "new", "step", STEP, "--parent", "03")
            )
            self.run_in(
                clone,
                "cmake",
                "--preset",
                "cpu",
                f"-DCMAKE_CXX_COMPILER={COMPILER}",
                "-DNBODY_EXPERIMENTS=OFF",
            )
            self.run_in(
                clone,
                "cmake",
                "--build",
                "build/cpu",
                "--parallel",
                os.cpu_count(),
                "--target",
                STEP,
                f"{STEP}_test",
                "command_line_test",
            )
            said = self.run_in(
                clone,
                "ctest",
                "--test-dir",
                "build/cpu",
                "-L",
                f"^{STEP}$",
                "-LE",
                "nightly",
                "--output-on-failure",
                "--no-tests=error",
            )
            self.assertGreaterEqual(int(re.search(r"out of (\d+)", said)[1]), 5)
            said = self.run_in(clone, "./nbody", "documents", "--check")
            self.assertIn(f"{STEP}: a draft", said)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    if not (ROOT / ".git").exists():
        print("not a git repository: nothing to clone")
        sys.exit(77)
    unittest.main()
