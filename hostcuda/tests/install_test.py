#!/usr/bin/env python3
"""hostcuda installed: find_package from a fresh folder, and bin/nvcc and bin/hostcuda of the prefix.

    install_test.py CMAKE_OPTION...
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tool_test import REVERSE

HOME = Path(__file__).resolve().parents[1]
OPTIONS = sys.argv[1:]
PROGRAM = REVERSE % "BARRIER;"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(hostcuda REQUIRED)
add_executable(program program.cu)
hostcuda_target(program)
set_source_files_properties(program.cu PROPERTIES COMPILE_DEFINITIONS "BARRIER=__syncthreads()")
hostcuda_can_trace(can_trace)
if(can_trace)
  add_executable(traced program.cu)
  hostcuda_traced_target(traced)
endif()
"""


class InstallTest(unittest.TestCase):
    def works(self, *words, **environment):
        ended = subprocess.run(words, cwd=self.folder, env={**os.environ, **environment}, capture_output=True,
                               text=True, check=False)
        self.assertEqual(0, ended.returncode, ended.stdout + ended.stderr)
        return ended.stdout

    def test_from_a_fresh_folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        prefix = self.folder / "prefix"
        self.works("cmake", "-S", HOME, "-B", "library", "-DHOSTCUDA_INSTALL=ON", "-DBUILD_TESTING=OFF",
                   f"-DCMAKE_INSTALL_PREFIX={prefix}", *OPTIONS)
        self.works("cmake", "--build", "library", "--parallel", str(os.cpu_count()))
        self.works("cmake", "--install", "library")
        (self.folder / "program.cu").write_text(PROGRAM, encoding="utf-8")
        (self.folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        self.works("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", *OPTIONS)
        self.works("cmake", "--build", "build")
        self.assertEqual("58\n", self.works("build/program"))
        if (self.folder / "build" / "traced").exists():
            self.assertEqual("58\n", self.works("build/traced", HOSTCUDA_TRACE="trace.json"))
            self.assertIn('"findings": []', (self.folder / "trace.json").read_text(encoding="utf-8"))
        self.works(prefix / "bin" / "nvcc", "-DBARRIER=__syncthreads()", "program.cu", "-o", "by_nvcc")
        self.assertEqual("58\n", self.works("./by_nvcc"))
        found = subprocess.run([prefix / "bin" / "hostcuda", "check", "-DBARRIER=", "program.cu"], cwd=self.folder,
                               capture_output=True, text=True, check=False)
        self.assertEqual(1, found.returncode, found.stdout + found.stderr)
        self.assertIn("RACE in kernel reverse", found.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
