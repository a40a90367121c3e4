#!/usr/bin/env python3
"""Tests the command-line tools in ../bin: nvcc, cc and check."""
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

BIN = Path(__file__).resolve().parents[1] / "bin"
sys.path.insert(0, str(BIN.parent / "launcher"))

import check  # noqa: E402
import semantics  # noqa: E402

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
SHUFFLED_BY_WORDS = """#include <cstdio>
struct Mixed { double a; float b, c; };
template <class T> __device__ T from_lane(T value, int lane) {
  T result;
  int *from = (int*)&value, *to = (int*)&result;
  for (int i = 0; i < sizeof(T) / 4; ++i) to[i] = __shfl_sync(~0u, from[i], lane);
  return result;
}
__global__ void shuffle(double* out) {
  Mixed mixed;
  mixed.a = threadIdx.x * .5;
  mixed.b = threadIdx.x;
  mixed.c = 1;
  mixed = from_lane(mixed, threadIdx.x + 1 & 31);
  out[threadIdx.x] = mixed.a + mixed.b * 100 + mixed.c;
}
int main() {
  double* out;
  cudaMallocManaged(&out, 32 * sizeof *out);
  shuffle<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  std::printf("%g %g\\n", out[3], out[31]);
  cudaFree(out);
}
"""
# Each line with a comment contains an error, and the comment is the message to expect.
HOST_AND_DEVICE = """#include <vector>
int limit = 5;
const int kThree = 3;
int on_host(int x) { return x; }
struct Pair { int a; void reset() { a = 0; } };
struct Pointer { float* p; };
__device__ int on_device(int x) { return x * kThree; }
__global__ void child(int) {}
template <class T> __global__ void generic(T* p, int n) { *p = n; }
__global__ int returns(int* p) { return *p; }  // must have void return type
__global__ void kernel(float* p, int n) {
  p[0] = limit;  // reference to __host__ variable 'limit'
  p[1] = on_host(n);  // calling a __host__ function ('on_host') from a __global__ function
  std::vector<int> v;  // calling a __host__ function ('std::vector<int>') from a __global__
  p[2] = rand();  // calling a __host__ function ('rand')
  Pair pair;
  pair.reset();  // reference to __host__ function 'reset'
  child<<<1, 1, 0, cudaStreamFireAndForget>>>(n);
  child(n);  // calling a __global__ function ('child') from a __global__ function
  generic<<<1, 1>>>(p);  // launch of 'generic': requires 2 arguments, but 1 was provided
  cudaFree(p);
  cudaMemset(p, 0, 4);  // calling a __host__ function ('cudaMemset') from a __global__ function
  cudaDeviceSynchronize();  // a kernel calls cudaDeviceSynchronize, which CUDA 12 removed
  __shared__ int s = 3;  // initialization is not supported for __shared__
  p[3] = s + on_device(n) + kThree + fmaxf(sqrtf(2), std::abs(-1.0f)) + __shfl_sync(~0u, n, 0);
  printf("%g", p[3]);
  assert(p && malloc(4));
}
int main() {
  float* p = nullptr;
  int t = threadIdx.x;  // 'threadIdx' exists only in kernels, but host code uses it
  kernel(p, 3);  // a __global__ function call must be configured: kernel<<<
  kernel<<<1, 2>>>(p);  // too few arguments to function call, expected 2, have 1
  kernel<<<1, 2>>>(p, p);  // cannot initialize a parameter of type 'int'
  kernel<<<1, 2>>>(Pointer{p}, 1);  // no viable conversion from 'Pointer' to 'float *'
  kernel<<<1>>>(p, 1);  // too few execution configuration arguments
  generic<<<1, 2>>>(p);  // launch of 'generic': requires 2 arguments, but 1 was provided
  generic<<<1, 2>>>(p, 2);
  kernel<<<1, 2, 0, nullptr>>>(p, on_device(3));  // calling a __device__ function ('on_device')
  __shared__ int s[3];  // __shared__ local variables not allowed in __host__ functions
}
"""
MISTAKE = re.compile(r"  // (.*)$")


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def run_in_folder(self, *words, **environment):
        # Programs reject unknown HOSTCUDA_ variables, so the caller's environment must not contain
        # any.
        return subprocess.run(
            words,
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def works(self, *words, **environment):
        result = self.run_in_folder(*words, **environment)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        return result.stdout

    def write_program(self, factor="FACTOR", folder="."):
        """Writes a program of two files, which prints 6 if the factor is 2."""
        (self.folder / folder).mkdir(exist_ok=True)
        self.write(f"{folder}/scale.h", f"constexpr float kScale = {factor};\n")
        self.write("kernel.cu", KERNEL)
        self.write("main.cpp", MAIN)


class ToolTest(InFolder):
    @unittest.skipUnless(shutil.which("make"), "there is no make")
    def test_a_makefile_for_nvcc(self):
        self.write_program(folder="include")
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

    @unittest.skipUnless(shutil.which("make"), "there is no make")
    def test_a_makefile_that_links_with_the_host_compiler(self):
        self.write_program(2)
        self.write("Makefile", """CUDA_HOME = /usr/local/cuda
program: kernel.o main.o
\tc++ -o $@ $^ -L$(CUDA_HOME)/lib64 -lcudart
kernel.o: kernel.cu
\t$(CUDA_HOME)/bin/nvcc -O2 -c $<
main.o: main.cpp
\tc++ -I$(CUDA_HOME)/include -c $<
""")
        self.write("empty.cu", "int main() {}\n")
        said = self.run_in_folder(BIN / "nvcc", "-v", "empty.cu", "-o", "empty").stderr
        (self.folder / "cuda").symlink_to(
            re.search(r"TOP=(.*)", said)[1]
        )  # because such Makefiles cannot handle paths with blanks
        self.works("make", "-s", "CUDA_HOME=cuda")
        self.assertEqual("6\n", self.works("./program"))

    def test_impossible_options_give_one_line(self):
        self.write("a.cu", "int main() {}\n")
        for words, message in (
            (("a.cu", "-optix-ir"), "-optix-ir: hostcuda does not generate GPU code"),
            (("a.cu", "-lcusolver"), "-lcusolver: this library .* not emulated"),
            (("a.cu", "-o"), "-o needs a value"),
            (("--options-file", "no.rsp"), "--options-file no.rsp: cannot be read"),
            ((), "no input files"),
        ):
            result = self.run_in_folder(BIN / "nvcc", *words)
            self.assertEqual(1, result.returncode)
            self.assertRegex(result.stderr, rf"^nvcc \(hostcuda\): {message}\n$")
        self.assertIn("release 13.0", self.works(BIN / "nvcc", "--version"))

    def test_values_may_be_read_through_pointers_to_other_types(self):
        self.write("words.cu", SHUFFLED_BY_WORDS)
        self.works(BIN / "nvcc", "-O2", "-o", "words", "words.cu")
        self.assertEqual("403 1\n", self.works("./words"))

    @unittest.skipUnless(semantics.find_clang(), "no clang++ is installed")
    def test_host_and_device_code_are_distinguished(self):
        self.write("a.cu", HOST_AND_DEVICE)
        said = self.run_in_folder(BIN / "hostcuda", "cc", "a.cu")
        self.assertEqual(1, said.returncode)
        wrong = {number: match[1] for number, line in enumerate(HOST_AND_DEVICE.splitlines(), 1)
                 if (match := MISTAKE.search(line))}
        told = dict(re.findall(r"^a\.cu:(\d+):\d+: error: (.*)$", said.stderr, re.M))
        self.assertEqual(set(map(str, wrong)), set(told), said.stderr)
        for number, what in wrong.items():
            self.assertIn(what, told[str(number)])
        self.assertEqual(len(wrong), said.stderr.count("\n"), said.stderr)
        # Without the lines that contain errors, there are no messages.
        self.write(
            "b.cu",
            "\n".join(line for line in HOST_AND_DEVICE.splitlines() if not MISTAKE.search(line))
            .replace("+ s ", "")
            .replace("s + ", ""),
        )
        self.works(BIN / "hostcuda", "cc", "-Werror", "-c", "b.cu")

    def test_clang_reads_what_nvcc_accepts(self):
        self.write("own.h", "constexpr int kOwn = 1;\n")
        self.write("a.cu", """#include "own.h"
#include <cuda/atomic>
#include <cuda/std/algorithm>
#include <cuda/std/functional>
#include <cuda/std/numeric>
#include <cuda_fp16.h>
#ifdef __CUDACC__
#define BOTH __host__ __device__
#endif
BOTH int twice(int i) { return i + i; }
extern "C"__global__ void k(cuda::atomic<int>* p, int& i) { p->fetch_add(twice(kOwn)); ++i; }
__global__ void __maxnreg__(32) r() { if (threadIdx.x == 40) asm("trap;"); }
__global__ void h(float x, unsigned short* p) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(*p) : "f"(__low2float(__float2half2_rn(x))));
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}
struct Twice { __device__ int operator()(int i) const { return twice(i); } };
__global__ void s(int* p) {
  cuda::std::swap(p[0], p[1]);
  cuda::std::reference_wrapper<int> first = cuda::std::ref(p[0]);
  first.get() = cuda::std::invoke(Twice(), cuda::std::accumulate(p, p + 3, 0));
  __builtin_assume(p[0] > 0);
}
__global__ void a(int* p, int n) {
  int* end = cuda::std::remove_if(p, p + n, [](int i) { return i > twice(3); });
  cuda::std::fill(end, p + n, cuda::std::move(*cuda::std::max_element(p, end)));
  n = cuda::std::transform(p, end, p, Twice()) - cuda::std::lower_bound(p, end, 4);
  if (cuda::std::any_of(p, end, [n](int i) { return i == n; })) cuda::std::reverse(p, end);
  p[0] = cuda::std::min(n, int(cuda::std::count(p, end, 3)));
}
void launch(cuda::atomic<int>* p, int* i) { k<<<1, 2>>>(p, *i); r<<<1, 2>>>(); }
""")
        for standard in ("c++17", "c++20"):
            said = self.works(BIN / "hostcuda", "cc", f"-std={standard}", "-c", "a.cu")
            self.assertEqual("", said)
        self.write("b.cu", 'extern "C"__global__ void k() {}\nvoid f() { k(); }\n')
        said = self.run_in_folder(BIN / "hostcuda", "cc", "-c", "b.cu")
        if semantics.find_clang():
            self.assertRegex(said.stderr, r"^b\.cu:2:\d+: error: a __global__ function call must")

    def test_options_of_nvcc_that_mean_nothing_here(self):
        self.write("a.cu", "int main() {}\n")
        options = ("-Werror all-warnings -allow-unsupported-compiler -src-in-ptx -dopt=on "
                   "--dopt on -diag-error 20 -m 64 --no-compress -opt-info inline --jobserver "
                   "-compress-mode=size")
        self.assertEqual("", self.works(BIN / "nvcc", *options.split(), "-c", "a.cu"))
        for joined in ("-Wall -Wextra,-O2", " -O1  -g"):
            self.assertEqual("", self.works(BIN / "nvcc", "-Xcompiler", joined, "-c", "a.cu"))
        for option in ("-run", "-arch-ls"):
            said = self.run_in_folder(BIN / "nvcc", option, "a.cu")
            self.assertEqual(1, said.returncode)
            self.assertRegex(said.stderr, rf"^nvcc \(hostcuda\): {option}: .*\n$")

    @unittest.skipUnless(semantics.find_clang(), "no clang++ is installed")
    def test_uninitialised_variables_are_reported(self):
        kernel = (
            "__global__ void k(float* x, int n) {\n  float sum%s;\n  for (int i = 0; i < n; ++i) "
            "sum += x[i];\n  x[0] = sum;\n}\n"
        )
        self.write("a.cu", kernel % "")
        said = self.run_in_folder(BIN / "hostcuda", "cc", "-c", "a.cu")
        self.assertEqual(
            (0, "a.cu:3:31: warning: variable 'sum' is uninitialized when used here\n"),
            (said.returncode, said.stderr),
        )
        self.assertEqual(
            check.Finding(
                "variable 'sum' is uninitialized when used here", "compiled", "  at a.cu:3"
            ),
            check.finding_of_warning(said.stderr.strip()),
        )
        # clang reports nothing if it finds an error in a header.
        headers = "#include <cufftXt.h>\n#include <thrust/device_vector.h>\n" \
                  "#include <thrust/random.h>\n#include <nvrtc.h>\n#include <cuda.h>\n"
        self.write("d.cu", headers + kernel % "")
        said = self.run_in_folder(BIN / "hostcuda", "cc", "-c", "d.cu")
        self.assertIn("d.cu:8:31: warning: variable 'sum' is uninitialized", said.stderr)
        self.write("e.cu", "#include <cuda/atomic>\n" + kernel % "")
        said = self.run_in_folder(BIN / "hostcuda", "cc", "-c", "e.cu")
        self.assertIn("e.cu:4:31: warning: variable 'sum' is uninitialized", said.stderr)
        self.write("c.cu", "\n__global__ void k(int* x, int n) {\n  int v;\n"
                           "  if (n > 2) v = x[0];\n  x[1] = __shfl_sync(~0u, x[0], 0) + v;\n}\n")
        said = self.run_in_folder(BIN / "hostcuda", "cc", "-c", "c.cu")
        self.assertEqual((0, "c.cu:4:7: warning: variable 'v' is used uninitialized whenever 'if' "
                             "condition is false\n"), (said.returncode, said.stderr))
        # The kernels set each variable before they use it, but clang cannot know that.
        self.write("b.cu", kernel % " = 0" + """__global__ void guarded(float* x, int n) {
  float v;
  if (threadIdx.x < n) v = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) x[n - 1 - threadIdx.x] = v;
}
__global__ void aggregated(int* count, int* out) {
  int first;
  if (threadIdx.x % 32 == 0) first = atomicAdd(count, 32);
  first = __shfl_sync(0xffffffff, first, 0);
  out[first + threadIdx.x % 32] = 1;
}
""")
        said = self.run_in_folder(BIN / "hostcuda", "cc", "-c", "b.cu")
        self.assertEqual((0, ""), (said.returncode, said.stderr))

    def test_output_before_a_fault_is_not_lost(self):
        self.write("a.cu", """#include <cstdio>
__global__ void k(volatile int* p, bool waits) { do *p = 1; while (waits); }
int main(int count, char**) {
  int* p = nullptr;
  if (count > 1) cudaMalloc(&p, sizeof *p);
  std::printf("before\\n");
  k<<<1, 1>>>(p, count > 1);
  cudaDeviceSynchronize();
}
""")
        self.works(BIN / "hostcuda", "cc", "-o", "a", "a.cu")
        for arguments, signal, said in (((), 11, "a null pointer"),
                                        (("hang",), 6, "without reaching")):
            result = self.run_in_folder("./a", *arguments, HOSTCUDA_WATCHDOG="0.2")
            self.assertEqual((-signal, "before\n"), (result.returncode, result.stdout))
            self.assertIn(said, result.stderr)

    def test_a_stopped_program_reports_its_progress(self):
        self.write(
            "a.cu",
            """__global__ void k(int* p, int n) { for (int i = 0; i < n; ++i) atomicAdd(p, i); }
int main() {
  int* p;
  cudaMalloc(&p, 4);
  k<<<1, 1>>>(p, 1);
  k<<<1000000, 64>>>(p, 1000);
  cudaDeviceSynchronize();
}
""",
        )
        self.works(BIN / "hostcuda", "cc", "a.cu", "-o", "slow")
        ended = check.run(str(self.folder / "slow"), [], "default", {}, 1)
        self.assertEqual("timeout", ended.code)
        self.assertRegex(
            check.no_end(ended).details,
            r"^  stopped after \d+ s of processor time: \d+ of the 1000000 "
            r"blocks of kernel k \(launched at a\.cu:6\) have ended, after 1 earlier launches$",
        )

    def test_an_endless_loop_with_a_barrier_is_reported_with_its_line(self):
        self.write(
            "a.cu",
            """__global__ void k(unsigned n) {
  for (unsigned i = n; i >= 0; --i)
    __syncthreads();
}
int main() {
  k<<<1, 64>>>(10);
  cudaDeviceSynchronize();
}
""",
        )
        self.works(BIN / "hostcuda", "cc", "a.cu", "-o", "endless")
        ended = check.run(str(self.folder / "endless"), [], "default", {"OMP_NUM_THREADS": "1"}, 1)
        self.assertRegex(
            check.no_end(ended).details,
            r"0 of the 1 blocks of kernel k .*; thread \(\d+,0,0\) of block \(0,0,0\) last waited "
            r"at \S*a\.cu:3$",
        )

    def test_consequences_come_last_or_are_omitted(self):
        cause = "hostcuda: ERROR: out of bounds\n  thread (1,0,0) at /x/a.cu:3\n"
        same = "hostcuda: ERROR: accesses 0x1: no memory\n  at a.cu:3\n"
        other = "hostcuda: ERROR: a leak\n  at a.cu:9\n"

        def run(_, __, mode, environment, ___):
            if mode == "traced":
                Path(environment["HOSTCUDA_TRACE"]).write_text(
                    '{"findings": [{"kind": "out of bounds"}]}', encoding="utf-8"
                )
                return check.Run(mode, 0, [], cause)
            if mode == "device memory guarded":
                return check.Run(mode, -6, [], same + other)
            return check.Run(mode, 0, ["1" if mode == "two devices" else "2"], "")
        with mock.patch.object(check, "run", run):
            _, findings, _, _ = check.check_in_all_modes(
                dict.fromkeys(("plain", "asan", "traced"), ""), [], 1, self.folder
            )
        self.assertEqual(["out of bounds", "a leak"], [finding.what for finding in findings])

    def test_a_hang_is_waited_for_only_twice(self):
        modes = []

        def run(_, __, mode, *___):
            modes.append(mode)
            return check.Run(
                mode, -6, [], f"hostcuda: ERROR: thread (0,0,0) runs for 20 s {check.HANG}\n"
            )
        with mock.patch.object(check, "run", run):
            _, findings, _, runs = check.check_in_all_modes(
                dict.fromkeys(("plain", "asan", "traced"), ""), [], 1, self.folder
            )
        self.assertEqual((["the default order", "traced"], 2, 1), (modes, runs, len(findings)))

    def test_check_reports_that_clang_is_missing(self):
        ran = check.Run("the default order", 0, [], "")
        said = io.StringIO()
        with mock.patch.multiple(check, build=lambda *_: 0, find_clang=lambda: None,
                                 check_traced=lambda *_: (ran, [], [], 1)), \
                contextlib.redirect_stdout(said):
            self.assertEqual(0, check.main(["a.cu"]))
        self.assertRegex(
            said.getvalue(),
            r"\ncalls between host and device code were not checked: clang\+\+ is not "
        )

    def test_headers_of_the_samples(self):
        self.write("a.cu", """#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>
__global__ void k(float3* p) {
  *p = normalize(2.0f * cross(make_float3(1, 0, 0), make_float3(0, 1, 0)) + *p);
}
int main(int argc, char** argv) {
  findCudaDevice(argc, const_cast<const char**>(argv));
  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer);
  sdkStartTimer(&timer);
  float3* p;
  checkCudaErrors(cudaMallocManaged(&p, sizeof(float3)));
  *p = make_float3(0.0f);
  k<<<1, 1>>>(p);
  getLastCudaError("k");
  checkCudaErrors(cudaDeviceSynchronize());
  sdkStopTimer(&timer);
  const int number = getCmdLineArgumentInt(argc, const_cast<const char**>(argv), "n");
  printf("%g %d %d\\n", p->z, number, sdkGetTimerValue(&timer) > 0);
  sdkDeleteTimer(&timer);
  checkCudaErrors(cudaFree(p));
  checkCudaErrors(cudaSetDevice(7));
}
""")
        self.works(BIN / "nvcc", "-Wall", "-Wextra", "-Werror", "a.cu", "-o", "a")
        ended = self.run_in_folder("./a", "--n=5")
        self.assertEqual((1, "1 5 1\n"), (ended.returncode, ended.stdout))
        self.assertRegex(
            ended.stderr,
            r'^CUDA error at a\.cu:23 code=101\(cudaErrorInvalidDevice\) "cudaSetDevice\(7\)"',
        )
        # The program's own helper_cuda.h takes precedence over hostcuda's.
        self.write("helper_cuda.h", "constexpr int kOwn = 1;\n")
        self.write(
            "b.cu", '#include <cuda_runtime.h>\n#include "helper_cuda.h"\nstatic_assert(kOwn);\n'
        )
        self.works(BIN / "nvcc", "-c", "b.cu")

    def test_wrong_command_lines(self):
        for words in (("frobnicate",), ("check",), ("cc",)):
            result = self.run_in_folder(BIN / "hostcuda", *words)
            self.assertEqual(2, result.returncode)
            self.assertEqual(1, result.stderr.count("\n"), result.stderr)


class LongTest(InFolder):
    def test_a_cmake_project_for_nvcc(self):
        self.write_program(folder="include")
        self.write("CMakeLists.txt", """cmake_minimum_required(VERSION 3.18)
project(foreign LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_library(kernel STATIC kernel.cu)
target_include_directories(kernel PRIVATE include)
target_compile_definitions(kernel PRIVATE FACTOR=2)
set_target_properties(kernel PROPERTIES CUDA_ARCHITECTURES "70;80"
                      CUDA_SEPARABLE_COMPILATION ON CUDA_STANDARD 14)
add_executable(program main.cpp)
target_link_libraries(program PRIVATE kernel CUDA::cudart CUDA::cublas)
""")
        self.works("env", f"CUDACXX={BIN / 'nvcc'}", "cmake", "-S", ".", "-B", "build")
        self.works("cmake", "--build", "build")
        self.assertEqual("6\n", self.works("build/program"))

    def test_check_finds_and_clears(self):
        self.write("bug.cu", REVERSE % "")
        found = self.run_in_folder(BIN / "hostcuda", "check", "--json", "found.json", "bug.cu")
        self.assertEqual(1, found.returncode, found.stdout + found.stderr)
        self.assertRegex(
            found.stdout, r"RACE in kernel reverse: .*bug\.cu:4 and .*bug\.cu:6  \[traced"
        )
        self.assertIn('"kind": "race"', (self.folder / "found.json").read_text(encoding="utf-8"))
        latin_1 = """#include <cstdio>
#include <cstdlib>
__global__ void write(int* x) { x[threadIdx.x] = 1; /* zählt */ }
int main() {
  int* x;
  if (cudaMalloc(&x, 4)) std::puts("zählt nicht");
  write<<<1, 2>>>(x);
  cudaDeviceSynchronize();
  std::abort();
}
"""
        (self.folder / "aborts.cu").write_bytes(latin_1.encode("latin-1"))
        found = self.run_in_folder(BIN / "hostcuda", "check", "--json", "found.json", "aborts.cu")
        self.assertIn("the program itself ends with signal 6 (Aborted)", found.stdout)
        self.assertIn('"kind": "out of bounds"',
                      (self.folder / "found.json").read_text(encoding="utf-8"))
        if shutil.which("clang++"):
            self.write("host.cu", "int one() { return 1; }\n"
                       "__global__ void k(int* x) { *x = one(); }\nint main() {}\n")
            found = self.run_in_folder(BIN / "hostcuda", "check", "host.cu")
            self.assertEqual(2, found.returncode, found.stdout + found.stderr)
            self.assertIn("host.cu:2:34: error: calling a __host__ function ('one') from a "
                          "__global__ function", found.stderr)
        self.write("right.cu", REVERSE % "__syncthreads();")
        said = self.works(BIN / "hostcuda", "check", "right.cu", "argument")
        self.assertEqual("right.cu: nothing was found in the traced run", said.splitlines()[0])
        self.assertIn("\ncheck --all also runs the program in other orders", said)
        said = self.works(BIN / "hostcuda", "check", "--all", "right.cu", "argument")
        self.assertEqual("right.cu: nothing was found in 9 runs\n", said)


if __name__ == "__main__":
    unittest.main()
