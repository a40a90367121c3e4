#!/usr/bin/env python3
"""Tests an installed hostcuda: find_package in a new folder, and the prefix's bin/nvcc and
bin/hostcuda.

    install_test.py CMAKE_OPTION...
"""
import os
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "driver"))

from modules_tool_test import BEGIN, COMPILES, END, RIGHT  # noqa: E402
from tool_test import REVERSE, InFolder  # noqa: E402

HOME = Path(__file__).resolve().parents[1]
OPTIONS = sys.argv[1:]
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


FETCHED = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(hostcuda GIT_REPOSITORY https://example.org/a.git SOURCE_SUBDIR {name})
FetchContent_MakeAvailable(hostcuda)
add_executable(program program.cu)
hostcuda_target(program)
target_compile_definitions(program PRIVATE "BARRIER=__syncthreads()")
"""


class InstallTest(InFolder):
    def test_fetched_by_another_project(self):
        self.write("program.cu", REVERSE % "BARRIER;")
        self.write("CMakeLists.txt", FETCHED.format(name=HOME.name))
        self.works("cmake", "-S", ".", "-B", "build",
                   f"-DFETCHCONTENT_SOURCE_DIR_HOSTCUDA={HOME.parent}", *OPTIONS)
        self.works("cmake", "--build", "build", "--parallel", str(os.cpu_count()))
        self.assertEqual("58\n", self.works("build/program"))
        # Only the library that the program links is built.
        self.assertEqual(["libhostcuda.a"],
                         [file.name for file in self.folder.rglob("libhostcuda*.a")])

    def test_from_a_fresh_folder(self):
        prefix = self.folder / "prefix"
        self.works(
            "cmake",
            "-S",
            HOME,
            "-B",
            "library",
            "-DHOSTCUDA_INSTALL=ON",
            "-DBUILD_TESTING=OFF",
            f"-DCMAKE_INSTALL_PREFIX={prefix}",
            *OPTIONS,
        )
        self.works("cmake", "--build", "library", "--parallel", str(os.cpu_count()))
        self.works("cmake", "--install", "library")
        self.write("program.cu", REVERSE % "BARRIER;")
        self.write("CMakeLists.txt", PROJECT)
        self.works("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", *OPTIONS)
        self.works("cmake", "--build", "build")
        self.assertEqual("58\n", self.works("build/program"))
        if (self.folder / "build" / "traced").exists():
            self.assertEqual("58\n", self.works("build/traced", HOSTCUDA_TRACE="trace.json"))
            self.assertIn(
                '"findings": []', (self.folder / "trace.json").read_text(encoding="utf-8")
            )
        self.works(
            prefix / "bin" / "nvcc", "-DBARRIER=__syncthreads()", "program.cu", "-o", "by_nvcc"
        )
        self.assertEqual("58\n", self.works("./by_nvcc"))
        self.write("kernel.cu", RIGHT)
        self.write("main.cpp", BEGIN + COMPILES + END)
        self.works(prefix / "bin" / "nvcc", "main.cpp", "-o", "modules")
        self.assertEqual("42\n", self.works("./modules"))
        self.links_modules_with_the_host_compiler(prefix)
        found = self.run_in_folder(prefix / "bin" / "hostcuda", "check", "-DBARRIER=", "program.cu")
        self.assertEqual(1, found.returncode, found.stdout + found.stderr)
        self.assertIn("RACE in kernel reverse", found.stdout)

    def links_modules_with_the_host_compiler(self, prefix):
        """The program needs the installation, but not the folder of the toolkit's layout."""
        cache = self.folder / "cache"
        build = 'c++ main.cpp -I"$CUDA_HOME/include" -L"$CUDA_HOME/lib64" -lcuda -lnvrtc -o linked'
        self.works(prefix / "bin" / "hostcuda", "env", "sh", "-c", build, XDG_CACHE_HOME=cache)
        shutil.rmtree(cache)
        self.assertEqual("42\n", self.works("./linked", CUDA_HOME=prefix))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
