"""Tests the results of the programs of memory/ against float64 on the CPU.

usage: results_test.py FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

FOLDER = Path(sys.argv.pop(1))
PROGRAMS = sorted(file for file in FOLDER.glob("memory[0-9][0-9]_*") if file.is_file())
# (bodies, systems): one body, sizes near those of a warp, a tile, a block or a run, and larger
# sizes.
SIZES = ((1, 1), (31, 1), (32, 1), (33, 2), (63, 3), (64, 32), (65, 31), (1, 33), (255, 1),
         (256, 1), (257, 5), (1000, 7), (4099, 3))
ORDERS = ("forward", "reverse", "random", "skewed")


def run(program: Path, *words: object, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([program, *map(str, words)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **environment})


class Results(unittest.TestCase):
    def test_every_program_is_here(self) -> None:
        sources = Path(__file__).parents[2].glob("memory/memory[0-9][0-9]_*.cu")
        self.assertEqual([one.name for one in PROGRAMS], sorted(one.stem for one in sources))

    def test_results_are_right_at_every_size(self) -> None:
        for program in PROGRAMS:
            for k, (bodies, systems) in enumerate(SIZES):
                with self.subTest(program=program.name, bodies=bodies, systems=systems):
                    # With one SM, the grids of fixed size have fewer threads than bodies.
                    done = run(program, "--bodies", bodies, "--systems", systems,
                               HOSTCUDA_ORDER=ORDERS[k % len(ORDERS)], HOSTCUDA_STRICT_MEM="1",
                               HOSTCUDA_SMS="1")
                    self.assertEqual(done.returncode, 0, done.stdout)
                    self.assertIn("pass", done.stdout)

    def test_no_emulated_time_is_printed(self) -> None:
        for program in PROGRAMS:
            said = run(program, "--bodies", 100).stdout
            self.assertIn("time    none: emulated", said)
            self.assertNotRegex(said, r"GB/s| ms")

    def test_wrong_options_are_rejected(self) -> None:
        for words, message in (
                (["--bodies", "0"], "--bodies takes a number from 1 to 268435456, not '0'"),
                (["--bodies", "12x"], "--bodies takes a number from 1 to 268435456, not '12x'"),
                (["--repeat"], "--repeat takes a number from 1 to 1000, not ''"),
                (["--speed", "9"], "unknown option '--speed'; allowed: --bodies N, --systems S, "
                                   "--repeat R"),
                (["--bodies", "268435456", "--systems", "9"],
                 "--systems 9 x --bodies 268435456 are more than 2^30 bodies")):
            done = run(PROGRAMS[0], *words)
            self.assertEqual((done.returncode, done.stdout), (2, message + "\n"))


if __name__ == "__main__":
    unittest.main()
