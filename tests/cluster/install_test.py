#!/usr/bin/env python3
"""Tests an installation by `cmake --install`. Its programs must run on any processor, even after
their folder has been moved. They are started from the folder and, if Lmod is installed, through the
module file.

usage: install_test.py BUILD COMPILER [TEST]

The class Install first builds the preset `portable` in BUILD/portable. The class Refuse tries to
install BUILD itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LMOD = Path("/usr/share/lmod/lmod/init/bash")


REPOSITORY = Path(__file__).resolve().parents[2]
NATIVE = re.compile(rb"-m(arch|cpu)=native")


class Refuse(unittest.TestCase):
    """BUILD is a developer's build, whose programs are compiled for this machine's processor."""

    def test_programs_for_this_processor_only(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(["cmake", "--install", str(BUILD), "--prefix", folder],
                                   text=True, capture_output=True, check=False)
            self.assertEqual([], list(Path(folder).iterdir()))
        self.assertNotEqual(0, ended.returncode)
        said = " ".join(ended.stderr.split())
        self.assertIn("for this machine's processor (-march=native) and are not installed", said)
        self.assertIn("cmake --preset portable", said)


class Install(unittest.TestCase):
    build = Path()

    @classmethod
    def setUpClass(cls) -> None:
        cls.build = BUILD / "portable"
        for command in (["--preset", "portable", "-B", str(cls.build),
                         f"-DCMAKE_CXX_COMPILER={COMPILER}"],
                        ["--build", str(cls.build), "--parallel", str(os.cpu_count())]):
            subprocess.run(
                ["cmake", *command], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL
            )

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="nbody installed "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.works(
            "cmake", "--install", str(self.build), "--prefix", "first"
        )  # a relative path, as users write it
        (self.folder / "first").rename(self.folder / "moved")

    def works(self, *words: str) -> str:
        ended = subprocess.run(
            words,
            cwd=self.folder,
            text=True,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            },
        )
        self.assertEqual(ended.returncode, 0, ended.stdout)
        return ended.stdout

    def test_every_program(self) -> None:
        programs = sorted((self.folder / "moved/bin").iterdir())
        self.assertIn("step14_cluster", [program.name for program in programs])
        for program in programs:
            if program.name.startswith("step"):
                self.assertIn(
                    "pass", self.works(str(program), "--scenario", "two-body", "--steps", "2")
                )
            else:
                self.works(str(program), "--help")

    def test_the_manual_page_and_the_completions(self) -> None:
        shared = self.folder / "moved/share"
        for file in (
            "man/man1/nbody.1",
            "bash-completion/completions/nbody",
            "zsh/site-functions/_nbody",
            "fish/vendor_completions.d/nbody.fish",
        ):
            self.assertIn("nightly", (shared / file).read_text("utf-8"), file)
        self.assertIn("MIT License", (shared / "doc/nbody-steps/LICENSE").read_text("utf-8"))

    def test_for_any_processor(self) -> None:
        for program in (self.folder / "moved/bin").iterdir():
            text = program.read_bytes()
            self.assertIsNone(NATIVE.search(text), program)
            if program.name.startswith(
                "step"
            ):  # a step contains its flags, for its records, so the search can find them
                self.assertIn(b"-O", text, program)

    @unittest.skipUnless(LMOD.exists(), "no Lmod here (Debian: apt install lmod)")
    def test_the_module(self) -> None:
        found = self.works(
            "bash",
            "-c",
            f"source {LMOD}; module use \"$PWD/moved/share/modulefiles\"; "
            "module load nbody-steps; command -v step14_cluster",
        )
        self.assertEqual(found.strip(), str(self.folder / "moved/bin/step14_cluster"))


if __name__ == "__main__":
    BUILD, COMPILER = Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
