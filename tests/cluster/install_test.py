#!/usr/bin/env python3
"""Is what `cmake --install` copies a whole: do the programs run from there, and where there is Lmod, through the
module file, also from a folder that was moved?

usage: install_test.py BUILD
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LMOD = Path("/usr/share/lmod/lmod/init/bash")


class Install(unittest.TestCase):
    build: Path

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="nbody installed "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.works("cmake", "--install", str(self.build), "--prefix", "first")  # relative, as users write it
        (self.folder / "first").rename(self.folder / "moved")

    def works(self, *words: str) -> str:
        ended = subprocess.run(words, cwd=self.folder, text=True, check=False, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                                              "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        self.assertEqual(ended.returncode, 0, ended.stdout)
        return ended.stdout

    def test_every_program(self) -> None:
        programs = sorted((self.folder / "moved/bin").iterdir())
        self.assertIn("step14_cluster", [program.name for program in programs])
        for program in programs:
            if program.name.startswith("step"):
                self.assertIn("pass", self.works(str(program), "--scenario", "two-body", "--steps", "2"))
            else:
                self.works(str(program), "--help")

    @unittest.skipUnless(LMOD.exists(), "no Lmod here (Debian: apt install lmod)")
    def test_the_module(self) -> None:
        found = self.works("bash", "-c", f"source {LMOD}; module use \"$PWD/moved/share/modulefiles\"; "
                                         "module load nbody-steps; command -v step14_cluster")
        self.assertEqual(found.strip(), str(self.folder / "moved/bin/step14_cluster"))


if __name__ == "__main__":
    Install.build = Path(sys.argv[1])
    unittest.main(argv=sys.argv[:1], verbosity=2)
