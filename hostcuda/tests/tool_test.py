#!/usr/bin/env python3
"""The command line tools in ../bin: nvcc's stand-in, cc and check."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BIN = Path(__file__).resolve().parents[1] / "bin"

KERNEL = """#include <cstdio>
#include "scale.h"
__global__ void scale(float* x) { x[threadIdx.x] *= kScale; }
void run(float* x) { scale<<<1, 32>>>(x); }
"""
MAIN = """#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
void run(float* x);
int main(int argc, char** argv) {
  float* x;
  cudaMallocManaged(&x, 32 * sizeof(float));
  for (int i = 0; i < 32; ++i) x[i] = i;
  run(x);
  cudaDeviceSynchronize();
  std::printf("%g\\n", x[3] + (argc > 1 ? std::atoi(argv[1]) : 0));
}
"""
REVERSE = """#include <cstdio>
__global__ void reverse(int* x) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  %s
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() {
  int host[64], *x;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 64>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%%d\\n", host[5]);
  cudaFree(x);
}
"""


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def run_in_folder(self, *words):
        # Programs refuse unknown HOSTCUDA_ variables, so none may come from outside.
        return subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)

    def works(self, *words):
        result = self.run_in_folder(*words)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        return result.stdout

    def test_a_makefile_for_nvcc(self):
        (self.folder / "include").mkdir()
        self.write("include/scale.h", "constexpr float kScale = FACTOR;\n")
        self.write("kernel.cu", KERNEL)
        self.write("main.cpp", MAIN)
        self.write("Makefile", """NVCC = nvcc
FLAGS = -O3 -std=c++11 -arch=sm_70 -gencode arch=compute_80,code=sm_80 -Xcompiler -Wall,-Wextra \\
        --use_fast_math -lineinfo -Iinclude -DFACTOR=2 --ptxas-options=-v -rdc=true
program: kernel.o main.o
\t$(NVCC) $(FLAGS) -o $@ $^ -lcudart -lcublas -lm
%.o: %.cu
\t$(NVCC) $(FLAGS) -dc $< -o $@
%.o: %.cpp
\t$(NVCC) $(FLAGS) -x cu -c $< -o $@
""")
        self.works("make", "-s", f"NVCC='{BIN / 'nvcc'}'")
        self.assertEqual("6\n", self.works("./program"))

    def test_what_cannot_be_is_one_line(self):
        self.write("a.cu", "int main() {}\n")
        for words, message in ((("a.cu", "-ptx"), "-ptx: there is no code for a GPU here"),
                               (("a.cu", "-lcufft"), "-lcufft: this library .* not emulated"),
                               (("a.cu", "-o"), "-o needs a value"),
                               ((), "no input files")):
            result = self.run_in_folder(BIN / "nvcc", *words)
            self.assertEqual(1, result.returncode)
            self.assertRegex(result.stderr, rf"^nvcc \(hostcuda\): {message}\n$")
        self.assertIn("release 13.0", self.works(BIN / "nvcc", "--version"))

    def test_check_finds_and_clears(self):
        self.write("bug.cu", REVERSE % "")
        found = self.run_in_folder(BIN / "hostcuda", "check", "--json", "found.json", "bug.cu")
        self.assertEqual(1, found.returncode, found.stdout + found.stderr)
        self.assertRegex(found.stdout, r"RACE in kernel reverse: .*bug\.cu:4 and .*bug\.cu:6  \[traced")
        self.assertIn('"kind": "race"', (self.folder / "found.json").read_text(encoding="utf-8"))
        self.write("right.cu", REVERSE % "__syncthreads();")
        self.assertEqual("right.cu: nothing was found in 8 runs\n",
                         self.works(BIN / "hostcuda", "check", "right.cu", "argument"))

    def test_wrong_command_lines(self):
        for words in (("frobnicate",), ("check",), ("cc",)):
            result = self.run_in_folder(BIN / "hostcuda", *words)
            self.assertEqual(2, result.returncode)
            self.assertEqual(1, result.stderr.count("\n"), result.stderr)


if __name__ == "__main__":
    unittest.main()
