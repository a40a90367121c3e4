#!/usr/bin/env python3
"""Tests `pip install ./hostcuda` in a fresh environment, as a new user does it, from a copy of the
sources that is then deleted.

Exit code 77: venv is not installed, or pip cannot reach an index.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from install_test import PROJECT
from tool_test import REVERSE

HOME = Path(__file__).resolve().parents[1]
NOT_HERE = 77
NO_NETWORK = (
    "No matching distribution",
    "Could not find a version",
    "Temporary failure in name resolution",
)
SECONDS = 60  # time limit, with two cores, for the installation and the check of a program


def run(*words, cwd, **more):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run([str(word) for word in words], cwd=cwd, env={**environment, **more},
                          check=False, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def of_children():
    """Returns the processor time, in seconds, of all child processes that have ended."""
    return sum(os.times()[2:4])


def install(folder):
    """Installs hostcuda in a new environment and returns the environment's folder of programs."""
    shutil.copytree(HOME, folder / "source",
                    ignore=shutil.ignore_patterns("__pycache__", "build", "tests"))
    made = run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    if made.returncode:
        print(f"no venv here: {made.stdout}")
        sys.exit(NOT_HERE)
    programs = folder / "venv" / "bin"
    done = run(programs / "pip", "install", folder / "source", cwd=folder)
    if any(text in done.stdout for text in NO_NETWORK):
        print(f"no package index here: {done.stdout}")
        sys.exit(NOT_HERE)
    assert done.returncode == 0, done.stdout
    shutil.rmtree(folder / "source")
    return programs


class Installed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=FOLDER)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "program.cu").write_text(REVERSE % "BARRIER;", encoding="utf-8")

    def works(self, *words, code=0):
        ended = run(*words, cwd=self.folder, PATH=f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
                    XDG_CACHE_HOME=str(self.folder / "cache"))
        self.assertEqual(code, ended.returncode, ended.stdout)
        return ended.stdout

    def test_the_first_race_is_found_in_a_minute(self):
        before = of_children()
        said = self.works("hostcuda", "check", "-DBARRIER=", "program.cu", code=1)
        self.assertIn("RACE in kernel reverse", said)
        self.assertLess(INSTALLING + of_children() - before, 2 * SECONDS)
        self.assertEqual("58\n", self.works("hostcuda", "run", "-DBARRIER=__syncthreads()",
                                            "program.cu"))

    def test_no_nvcc_replaces_the_real_one_unasked(self):
        self.assertEqual(["hostcuda"], [file.name for file in PROGRAMS.iterdir()
                                        if file.name.startswith(("hostcuda", "nvcc"))])
        self.assertIn("hostcuda", self.works("hostcuda", "env", "nvcc", "--version"))

    def test_a_program_needs_no_other_library(self):
        self.works("hostcuda", "cc", "-DBARRIER=", "program.cu", "-o", "program")
        needed = self.works("ldd", "program")
        self.assertNotRegex(needed, "boost|blas")

    def test_nothing_names_the_folder_that_it_came_from(self):
        packages = PROGRAMS.parent / "lib"
        # With AddressSanitizer, g++ stores the names of source files in the object, for its
        # reports.
        named = [file.name for file in packages.rglob("hostcuda/**/*")
                 if file.is_file() and os.fsencode(FOLDER / "source") in file.read_bytes()
                 and file.name != "libhostcuda_asan.a"]
        self.assertEqual([], named)

    def test_a_cmake_project_finds_the_package(self):
        (self.folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        prefix = self.works("hostcuda", "prefix").strip()
        self.works("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.works("cmake", "--build", "build")
        self.assertEqual("58\n", self.works("build/program"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        FOLDER = Path(name).resolve()
        PROGRAMS = install(FOLDER)
        INSTALLING = of_children()
        unittest.main()
