#!/usr/bin/env python3
"""Tests hostcuda in folders with other names, and clones that were moved after they were built."""
import contextlib
import io
import shutil
import sys
import unittest
from pathlib import Path
from unittest import mock

HOME = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOME / "launcher"))

import libraries  # noqa: E402
from tool_test import InFolder  # noqa: E402

BEYOND = """#include <cuda/atomic>
__global__ void k(int* x) { cuda::atomic_ref<int>(x[64 + threadIdx.x]).fetch_add(1); }
int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof *x);
  cudaMemset(x, 0, 64 * sizeof *x);
  k<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
"""
PROJECT = """cmake_minimum_required(VERSION 3.18)
project(libraries LANGUAGES NONE)
add_custom_target(hostcuda_plain_libraries COMMAND ${CMAKE_COMMAND} -E touch built)
"""


class PlaceTest(InFolder):
    def test_the_folder_may_have_any_name(self):
        """Only the source that looks for hostcuda's folder is compiled again, in a folder that is
        laid out as an installation, and linked before the library."""
        home = self.folder / "share" / "emulator"
        for part in ("bin", "launcher", "include", "cublas/include", "src"):
            shutil.copytree(HOME / part, home / part)
        libraries.libraries(libraries.TRACED)
        (self.folder / "lib").symlink_to(libraries.library_folder())
        self.write("beyond.cu", BEYOND)
        self.works(home / "bin" / "nvcc", "-std=c++20", f"-I{home / 'src'}", "-c",
                   home / "src" / "support" / "source_line.cpp", "-o", "source_line.o")
        self.works(home / "bin" / "hostcuda", "cc", "--traced", "-std=c++20", "beyond.cu",
                   "source_line.o", "-Xlinker", "--allow-multiple-definition", "-o", "beyond")
        said = self.run_in_folder("./beyond", HOSTCUDA_TRACE="trace.json").stderr
        self.assertIn("/beyond.cu:2\n", said)
        self.assertNotIn("emulator/", said)

    def test_a_moved_clone_is_built_again(self):
        before, after = self.folder / "before", self.folder / "after"
        before.mkdir()
        self.write("before/CMakeLists.txt", PROJECT)
        said = io.StringIO()
        for home in (before, before, after):
            if not home.exists():
                before.rename(home)
            build = home / "build"
            with mock.patch.object(libraries, "HOME", home), contextlib.redirect_stderr(said), \
                    libraries.one_at_a_time(build):
                libraries.build_libraries(libraries.PLAIN, build)
            self.assertTrue((build / "built").exists())
            self.assertTrue((build / libraries.LOCK).exists())
        self.assertEqual(2, said.getvalue().count("building its libraries, once"))


if __name__ == "__main__":
    unittest.main()
