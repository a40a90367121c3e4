#!/usr/bin/env python3
"""Tests ./nbody compare, with our own kernel in place of KTT's: compare_test.py BUILD"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Sequence

from nbody_tools.arguments import ROOT

BUILD = Path()
KERNEL = Path(__file__).resolve().parent / "kernel" / "Nbody.cu"
# A name selects every contender whose name begins with it, so the first selects both.
OURS = ["step11_register_blocking", "step11_register_blocking_double"]
NAMES = [*OURS, "ktt_256x1_2", "ktt_64x8_2"]


class Compare(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compare(self, kernel: Path, names: Sequence[str] = NAMES,
                bodies: str = "512,1024") -> tuple[int, str, list[dict]]:
        output = self.folder / "records.jsonl"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "nbody_tools",
                "compare",
                *names,
                "--build",
                BUILD,
                "--ktt",
                kernel.parent,
                "--nvcc",
                ROOT / "hostcuda" / "bin" / "nvcc",
                "--bodies",
                bodies,
                "--rounds",
                "2",
                "--repeat",
                "1",
                "--seconds",
                "1e-6",
                "--output",
                output,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        records = [json.loads(line) for line in output.read_text().splitlines()]
        return done.returncode, done.stdout + done.stderr, records

    def test_all_take_turns(self) -> None:
        code, printed, records = self.compare(KERNEL)
        self.assertEqual(code, 0, printed)
        self.assertEqual([(r["contender"], r["bodies"]) for r in records],
                         [(name, bodies) for bodies in (512, 1024) for name in NAMES
                          if bodies % 1024 == 0 or name != "ktt_64x8_2"])
        self.assertIn("ktt_64x8_2: skipped: 512 bodies are not a multiple of 1024", printed)
        for record in records:
            self.assertEqual((record["backend"], len(record["repeats"])), ("hostcuda", 2))
            self.assertLess(record["acceleration_rms"], 1e-6)
        self.assertIn("emulated", printed)

    def test_wrong_forces_are_not_timed(self) -> None:
        spoiled = self.folder / "spoiled" / "Nbody.cu"
        spoiled.parent.mkdir()
        text = KERNEL.read_text(encoding="utf-8")
        spoiled.write_text(
            text.replace("a.z += s * dz;", "a.z += 1.001f * s * dz;"), encoding="utf-8"
        )
        self.assertNotEqual(text, spoiled.read_text(encoding="utf-8"))
        code, printed, records = self.compare(spoiled, [NAMES[0], NAMES[-1]], "1024")
        self.assertEqual((code, {r["contender"] for r in records}), (1, set(OURS)), printed)
        self.assertIn("ktt_64x8_2, 1024 bodies: its forces are wrong: RMS error", printed)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
