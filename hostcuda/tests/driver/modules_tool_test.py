#!/usr/bin/env python3
"""Tests how the command-line tools build modules and programs that load them, and that `check`
finds mistakes in modules."""
import shlex
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tool_test import BIN, InFolder  # noqa: E402

# The last thread reads past the end of `in`, and a barrier is missing.
KERNEL = """extern "C" __global__ void shift(int* out, const int* in) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  %s
  out[threadIdx.x] = tile[63 - threadIdx.x] + in[threadIdx.x + %d];
}
"""
RIGHT = KERNEL % ("__syncthreads();", 0)
WRONG = KERNEL % ("", 1)
BEGIN = """#include <cuda.h>
#include <nvrtc.h>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#define OK(call) if (const int error = call) return std::printf("%s: %d\\n", #call, error), 3
int main() {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuCtxCreate(&context, nullptr, 0, device));
"""
LOADS = """  OK(cuModuleLoad(&module, "kernel.module"));
"""
COMPILES = """  std::ifstream file("kernel.cu");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  nvrtcProgram program;
  std::size_t size;
  const char* options[] = {"-arch=compute_90"};
  OK(nvrtcCreateProgram(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr));
  OK(nvrtcCompileProgram(program, 1, options));
  OK(nvrtcGetPTXSize(program, &size));
  std::vector<char> ptx(size);
  OK(nvrtcGetPTX(program, ptx.data()));
  OK(nvrtcDestroyProgram(&program));
  OK(cuModuleLoadData(&module, ptx.data()));
"""
END = """  OK(cuModuleGetFunction(&kernel, module, "shift"));
  CUdeviceptr in, out;
  std::vector<int> values(64, 21);
  const std::size_t bytes = values.size() * sizeof(int);
  OK(cuMemAlloc(&in, bytes));
  OK(cuMemAlloc(&out, bytes));
  OK(cuMemcpyHtoD(in, values.data(), bytes));
  void* parameters[] = {&out, &in};
  OK(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  OK(cuMemcpyDtoH(values.data(), out, bytes));
  std::printf("%d\\n", values[0]);
  OK(cuMemFree(in));
  OK(cuMemFree(out));
  OK(cuModuleUnload(module));
  return 0;
}
"""
C_PROGRAM = """#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#define OK(call) do { int error = call; if (error) return printf("%s: %d\\n", #call, error), 3; } \\
  while (0)
int main(void) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  nvrtcProgram program;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  OK(cuCtxCreate(&context, NULL, 0, device));
  OK(cuModuleLoad(&module, "kernel.module"));
  OK(cuModuleGetFunction(&kernel, module, "k"));
  OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, NULL, NULL));
  OK(cuCtxSynchronize());
  OK(nvrtcCreateProgram(&program, "__global__ void k() {}", "k.cu", 0, NULL, NULL));
  OK(nvrtcCompileProgram(program, 0, NULL));
  return 0;
}
"""
BUILD = """nvcc -fatbin kernel.cu -o kernel.module &&
  nvcc main.cpp -o program -lcuda -lnvrtc &&
  ./program
"""


class ModulesToolTest(InFolder):
    def write_program(self, kernel=RIGHT, middle=LOADS):
        self.write("kernel.cu", kernel)
        self.write("main.cpp", BEGIN + middle + END)

    def test_programs_of_nvcc_load_every_kind_of_module(self):
        self.write_program()
        self.works(BIN / "nvcc", "main.cpp", "-o", "program")  # finds out that it loads modules
        for option, name in (("-ptx", "kernel.ptx"), ("--cubin", "kernel.cubin"),
                             ("-fatbin", "kernel.fatbin")):
            self.works(BIN / "nvcc", option, "-arch=sm_90", "kernel.cu")
            (self.folder / name).rename(self.folder / "kernel.module")
            self.assertEqual("42\n", self.works("./program"))

    def test_programs_of_the_host_compiler_load_modules(self):
        self.write_program()
        self.works(BIN / "nvcc", "-fatbin", "kernel.cu", "-o", "kernel.module")
        settings = shlex.split(self.works(BIN / "hostcuda", "env"))
        home = next(word[10:] for word in settings if word.startswith("CUDA_HOME="))
        words = ("c++", "main.cpp", f"-I{home}/include", f"-L{home}/lib64", "-o", "program")
        self.works(*words, "-lcudart", "-lcuda")
        self.assertEqual("42\n", self.works("./program"))
        # Without -lcuda, the modules do not find the program's runtime.
        self.works(*words, "-lcudart")
        result = self.run_in_folder("./program")
        self.assertEqual("hostcuda: cuModuleLoad: the program does not export hostcuda's runtime: "
                         "link it with hostcuda's nvcc and -lcuda, or with -rdynamic\n",
                         result.stderr)
        self.assertEqual(3, result.returncode)

    def test_programs_in_c(self):
        self.write("kernel.cu", 'extern "C" __global__ void k() { printf("in C\\n"); }\n')
        self.write("main.c", C_PROGRAM)
        self.works(BIN / "nvcc", "-fatbin", "kernel.cu", "-o", "kernel.module")
        by_gcc = ('gcc -Wall -Wextra -Wpedantic -Werror main.c -I"$CUDA_HOME/include" '
                  '-L"$CUDA_HOME/lib64" -lcuda -lnvrtc -o program')
        for words in ((BIN / "nvcc", "main.c", "-o", "program"),
                      (BIN / "hostcuda", "env", "sh", "-c", by_gcc)):
            self.works(*words)
            self.assertEqual("in C\n", self.works("./program"))

    def assert_mistakes_are_found(self):
        found = self.run_in_folder(BIN / "hostcuda", "check", "--", "sh", "build.sh")
        said = found.stdout + found.stderr
        self.assertEqual(1, found.returncode, said)
        self.assertRegex(said, r"RACE in kernel shift: .* at kernel.cu:3 and kernel.cu:5")
        self.assertRegex(said, r"a kernel reads out of bounds: 4 bytes, 0 bytes past the end of "
                               r"the allocation of main.cpp:\d+")
        lines = (self.folder / "main.cpp").read_text(encoding="utf-8").splitlines()
        line = next(number for number, text in enumerate(lines, 1) if "cuLaunchKernel" in text)
        self.assertIn(f"kernel shift launched at main.cpp:{line}", said)

    def test_check_finds_mistakes_in_modules(self):
        self.write_program(WRONG)
        self.write("build.sh", BUILD)
        self.assert_mistakes_are_found()
        self.write_program(RIGHT)
        self.works(BIN / "hostcuda", "check", "--", "sh", "build.sh")

    def test_check_finds_mistakes_in_code_that_nvrtc_compiles(self):
        self.write_program(WRONG, COMPILES)
        self.write("build.sh", BUILD)
        self.assert_mistakes_are_found()

    def test_a_missing_compiler_gives_one_line(self):
        self.write("kernel.cu", RIGHT)
        result = self.run_in_folder(sys.executable, BIN / "nvcc", "-ptx", "kernel.cu",
                                    PATH="/no/such/folder")
        self.assertEqual((1, "nvcc (hostcuda): c++: No such file or directory\n"),
                         (result.returncode, result.stderr))

    def test_errors_of_modules_name_the_line(self):
        self.write_program(RIGHT.replace("tile[63", "tiles[63"))
        result = self.run_in_folder(BIN / "nvcc", "-ptx", "kernel.cu")
        self.assertNotEqual(0, result.returncode)
        self.assertIn("kernel.cu:5:", result.stderr)
        self.assertFalse((self.folder / "kernel.ptx").exists())


if __name__ == "__main__":
    unittest.main()
