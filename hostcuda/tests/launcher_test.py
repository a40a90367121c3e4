#!/usr/bin/env python3
"""Tests what the launcher does besides rewriting kernels and launches: it keeps dependencies and
line numbers, reports errors, and compiles other files."""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "c++"
LAUNCHER = Path(__file__).resolve().parents[1] / "launcher" / "hostcudacc.py"


class LauncherTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def launch(self, *arguments, compiler=(COMPILER,)):
        return subprocess.run([sys.executable, LAUNCHER, *compiler, *arguments],
                              cwd=self.folder, capture_output=True, text=True, check=False)

    def compile(self, text, *options):
        """Compiles a.cu with this text; returns (exit code, messages). If an option occurs twice,
        the last one counts."""
        self.write("a.cu", text)
        result = self.launch("-std=c++17", *options, "-o", "a.o", "-c", "a.cu")
        return result.returncode, result.stderr

    def show(self, *options):
        return self.launch("--show", COMPILER, "-std=c++17", *options, "a.cu", compiler=()).stdout

    def test_header_is_in_the_dependencies(self):
        self.write("a.h", "constexpr int kA = 1;\n")
        self.assertEqual(
            (0, ""),
            self.compile(
                '#include "a.h"\n__global__ void k() { (void)kA; }\n',
                "-std=c++20",
                "-MD",
                "-MT",
                "a.o",
                "-MF",
                "a.d",
            ),
        )
        dependencies = self.read("a.d")
        self.assertTrue(dependencies.startswith("a.o:"))
        self.assertIn("a.h", dependencies)
        self.assertIn("cuda_runtime.h", dependencies)

    def test_errors_name_the_line_of_the_source(self):
        text = (
            "__global__ void k(int) {}\nvoid f() {\n  k<<<1,\n     2>>>(3);\n  undeclared();\n}\n"
        )
        code, said = self.compile(text, "-std=c++20")
        self.assertNotEqual(0, code)
        self.assertIn("a.cu:5:", said)

    def test_merge_sorts_need_a_power_of_two_of_threads(self):
        text = "#include <cub/cub.cuh>\ntemplate class cub::BlockMergeSort<int, %d, 4>;\n"
        self.assertEqual((0, ""), self.compile(text % 64, "-fsyntax-only"))
        code, said = self.compile(text % 96, "-fsyntax-only")
        self.assertNotEqual(0, code)
        self.assertIn("the number of threads must be a power of two", said)

    def test_wrong_arguments_of_a_launch_are_errors(self):
        launches = (
            "k<<<1, 2>>>()",
            'k<<<1, 2>>>("text")',
            "k<<<1, 2>>>(1, 2)",
            "t<<<1, 2>>>()",
            "k<<<1>>>(1)",
        )
        code, said = self.compile(
            "__global__ void k(int) {} template <class T> __global__ void t(T) {}\n"
            + "".join(
                f"void f{number}() {{ {launch}; }}\n" for number, launch in enumerate(launches)
            ),
            "-std=c++20",
        )
        self.assertNotEqual(0, code)
        for line, launch in enumerate(launches, 2):
            self.assertRegex(said, rf"(?m)^a\.cu:{line}:\d+: error: ", launch)

    def test_an_invalid_launch_gives_one_message(self):
        self.assertEqual(
            (1, "a.cu:2: error: kernel launch: <<< without >>>(\n"),
            self.compile("__global__ void k() {}\nvoid f() { k<<<1, 2; }\n", "-std=c++20"),
        )

    def compile_error(self, text):
        """Returns the compiler's first error message."""
        code, said = self.compile(text)
        self.assertNotEqual(0, code)
        return next(line for line in said.splitlines() if "error:" in line)

    def test_an_invalid_launch_is_reported_with_its_line(self):
        text = "__global__ void k(int) {}\n\nvoid f() {\n  k<<<1, 2>>(3);\n}\n"
        self.assertEqual("a.cu:4: error: kernel launch: <<< without >>>(", self.compile_error(text))

    def test_what_nvcc_accepts_is_not_rejected(self):
        text = """#ifndef __CUDACC__
#error
#endif
#include <cuda/std/atomic>
#include <cublas_v2.h>
#include <curand.h>
#if !defined(CUBLAS_API_H_) || !defined(CURAND_H_)  // headers of NVIDIA's samples test these macros
#error
#endif
static_assert(__CUDACC_VER_MAJOR__ >= 12);
extern "C"__global__ void without_space() {}
struct Copied { Copied(const Copied&); int n; };
__global__ void refers(Copied c, int& x, const int& y) { x += y + c.n; }
__global__ void __maxnreg__(32) limited() {}
#define ASSURE(condition) if (!(condition)) asm("trap;")
__global__ void traps(int* p) { ASSURE(p); }
__device__ void trap_of_two_lines() { asm volatile (
"trap;"
); static_assert(__LINE__ == 19); }
__device__ cuda::std::atomic<int> of_device{0};
__global__ void shares() { __shared__ cuda::atomic<int> s; s = 1; of_device += s; }
void launch(Copied c, int* p) {
  without_space<<<1, 2>>>();
  refers<<<1, 2>>>(c, *p, *p);
  limited<<<1, 2>>>();
  traps<<<1, 2>>>(p);
  shares<<<1, 2>>>();
}
"""
        cublas = LAUNCHER.parents[1] / "cublas" / "include"
        self.assertEqual((0, ""), self.compile(text, f"-I{cublas}", "-Wall"))

    def test_toolkit_headers_are_rejected(self):
        (self.folder / "cuda/include").mkdir(parents=True)
        self.write("cuda/include/cuda_runtime_api.h", "")  # identifies the toolkit's folder
        self.write("cuda/include/cusolverDn.h", "struct Pages;\n")
        code, said = self.compile("\n#include <cusolverDn.h>\nint i;\n", "-Icuda/include")
        self.assertEqual(1, code)
        self.assertRegex(said, r"^a\.cu:2: error: <cusolverDn\.h> is not part of hostcuda")

    def test_wrong_arguments_of_an_api_call_give_one_line(self):
        code, said = self.compile(
            "void f(float* d, int n) {\n  cudaMalloc(d, 4);\n  cudaMemcpy(d, n);\n"
            "  cudaMemset(n, 0, 4);\n  unknown();\n}\n"
        )
        self.assertEqual(1, code)
        errors = [
            line for line in said.splitlines() if "cuda" in line and not line.startswith("    ")
        ]
        self.assertRegex(
            errors[0],
            r"^a\.cu:2:\d+: error: cudaMalloc.*the arguments do not fit: argument 1 has type "
            r"float *\*, not void *\*\*; pass the address of the pointer \(&\)$",
        )
        self.assertTrue(all(re.match(r"a\.cu:[234]:\d+: error: ", error) for error in errors), said)
        self.assertIn("a.cu:5:", said)
        self.assertNotIn("candidate", said.partition("a.cu:5:")[0])

    # Maps declarations to the device variables that they must register.
    VARIABLES = {
        "__device__ int a;": ["a"],
        "__constant__ float b[4] = {1, 2};": ["b"],
        "__device__ int c = 1, d[2];": ["c", "d"],
        "static __device__ volatile unsigned long long e = 0ull;": ["e"],
        "namespace n { __device__ float4 f; }": ["f"],
        "__device__ float (*g)(float) = nullptr;": [],
        "__device__ int h(int x) { return x; }": [],
        "__device__ __managed__ int i;": ["i"],
        "__managed__ int j;": ["j"],
        "extern __device__ int k;": [],
        "__device__ constexpr int l = 3;": [],
        "struct S { static __device__ int m(int x) { return x; } int n; };": [],
        "template <class T> __device__ T o(T x) { return x; }": [],
        "__device__ std::pair<int, float>* p;": ["p"],
        "__device__ const int q = 2;": [],
        "__device__ __align__(16) float r[8];": ["r"],
        "[[maybe_unused]] __device__ void s() {}": [],
        "[[nodiscard, gnu::cold]] static __device__ int t(int x[]) { return x[0]; }": [],
        "[[maybe_unused]] __device__ int u;": ["u"],
        "[[maybe_unused]] static __global__ void w(int* x) { x[0] = 1; }": [],
        "template <class T> [[maybe_unused]] __global__ __launch_bounds__(64) void x(T* y) {}": [],
        "__device__ [[maybe_unused]] const int v = 2;": [],
    }

    def test_device_variables_are_registered(self):
        self.write("a.cu", "\n".join(self.VARIABLES) + "\n")
        shown = self.show()
        for (text, names), line in zip(
            self.VARIABLES.items(), shown.rstrip().splitlines()[-len(self.VARIABLES) :]
        ):
            self.assertEqual(names, re.findall(r"hostcuda_variable_(\w+)\(", line), text)
        self.assertNotRegex(shown, "hostcuda_(device|managed)_")

    # Maps declarations in a module, each on a line of its own, to the parameters and the name of
    # the kernel that must be registered there.
    KERNELS = {
        'extern "C" __global__ void add(const float* a, int n = f<1, 2>(3), char c = 0) {}':
            ("const float* a, int n , char c", "add"),
        "namespace n { __global__ void __launch_bounds__(64, 2) k(double x) { if (x) {} } }":
            ("double x", "k"),
        "static void __global__ __cluster_dims__(2, 1, 1) k2() {}": ("", "k2"),
        "template <class T> __global__ void t(T* p) {}": None,
        "template __global__ void t<int>(int*);": ("int*", "t<int>"),
        "extern template __global__ void t<char>(char*);": None,
        "template __global__ void t(float*);": ("float*", "t"),
        "template <> __global__ void t<short>(short* p) {}": ("short* p", "t<short>"),
        "template <> __global__ void t<long>(long*);": None,
        "__global__ void d(int a = (1 < 2), int b = 9 >> 2, int c = f<1, 2>(3), int d = 0) {}":
            ("int a , int b , int c , int d", "d"),
        "__global__ void declared(int);": None,
        "__global__ void declared(Pair<int, 3> pair) {}": ("Pair<int, 3> pair", "declared"),
        "struct S { friend __global__ void of_friend(S) {} };": None,
        "__device__ void f() {}": None,
    }

    def test_kernels_of_modules_are_registered(self):
        self.write("a.cu", "\n".join(self.KERNELS) + "\n")
        self.assertNotIn("ModuleKernel", self.show())
        shown = self.show("-DHOSTCUDA_MODULE=1")
        lines = shown.rstrip().splitlines()[-len(self.KERNELS):]
        for (text, expected), line in zip(self.KERNELS.items(), lines):
            found = re.findall(r"ModuleKernel hostcuda_module_\d+\(static_cast<void "
                               r"\(\*\)\((.*?)\)>\(&.*?\), \"(.*?)\"\);", line)
            self.assertEqual([expected] if expected else [], found, text)
        self.assertNotIn("hostcuda_kernel_", shown)

    def test_shared_variables_of_extern_c_kernels_are_in_the_kernel(self):
        self.write("a.cu", 'extern "C" __global__ void k() {\n  __shared__ int s[2];\n}\n'
                           'extern "C" {\n__shared__ int at_file_scope[2];\n}\n')
        shown = self.show()
        self.assertIn('register_shared(hostcuda_seen, s, "s")', shown)
        self.assertIn("SharedAtFileScope hostcuda_at_file_scope", shown)

    # Maps uses of missing features, one per line, to a text that the message must contain.
    MISSING = {
        "cudaGraphUserObject_t object;": "cudaGraphUserObject_t",
        "cudaGraphRetainUserObject(0, 0);": "cudaGraphRetainUserObject",
        "cudaGraphCreates(0, 0);": "cudaGraphCreates is not part of hostcuda: did you mean",
        "cudaGraphMemAllocNodeGetParams(0, 0);":
            "cudaGraphMemAllocNodeGetParams is not part of hostcuda: do not use it",
        "cudaMaloc(0, 0);": "cudaMaloc is not part of hostcuda: did you mean cudaMalloc",
        "cudaLaunchCooperativeKernelMultiDevice(0, 1, 0);":
            "cudaLaunchCooperativeKernelMultiDevice",
        "CUcontext context;": "CUcontext",
        "cusparseSpGEMMDescr_t d;": "cusparseSpGEMMDescr_t is not part of hostcuda: hostcuda/",
        "CUFFT_FORWARDS;": "CUFFT_FORWARDS is not part of hostcuda: hostcuda/README.md lists",
        "cusparseSpSV_bufferSize();": "cusparseSpSV_bufferSize is not part of hostcuda: hostcuda/",
        "cublasXtCreate();": "cublasXtCreate is not part of hostcuda: this part of cuBLAS is not",
        "cuInit(0);": "cuInit is not part of hostcuda: include <cuda",
        "cuMulticastCreate(0, 0);": "cuMulticastCreate is not part of hostcuda: this part of the "
                                    "driver API is not emulated",
        "texture<float, 2> reference;": "texture is not part of hostcuda: texture references were "
                                        "removed",
        "__any(1);": "__any is not part of hostcuda: since Volta only the _sync form",
        "nvcuda::wmma::fill_fragment(0, 0);": "nvcuda is not part of hostcuda: include <mma",
        "thrust::shuffle(0, 0, 0);": "thrust::shuffle",
        "cub::DeviceSegmentedSort::SortKeys(0, 0);": "cub::DeviceSegmentedSort",
        "cub::DeviceScan::Mean(0, 0);": "cub::DeviceScan::Mean",
        "tex2DGrad<float>(0, 0, 0, 0);": "tex2DGrad is not part of hostcuda: ",
        "groups::exclusive_scan_update(0);":
            "cooperative_groups::exclusive_scan_update is not part",
        "cooperative_groups::inclusive_scan_update(0);":
            "cooperative_groups::inclusive_scan_update",
        "__barrier_sync(0);": "__barrier_sync",
        "int local = __cvta_generic_to_local(0);": "__cvta_generic_to_local",
        "int has = cudaDeviceProp().tensorMapSupported;": "cudaDeviceProp::tensorMapSupported",
        "int number = cudaDevAttrTensorMapAccessSupported;": "cudaDevAttrTensorMapAccessSupported",
        "curandGenerateSeeds(0);": "curandGenerateSeeds",
        "using Scan = cub::BlockScan<int, 64>; Scan().Median(0);": "cub::BlockScan::Median",
    }

    def test_each_missing_cuda_name_gives_one_line(self):
        headers = (
            "cooperative_groups.h",
            "cub/block/block_scan.cuh",
            "cub/device/device_scan.cuh",
            "cuda_fp16.h",
            "cusparse.h",
            "thrust/sort.h",
        )
        text = "".join(f"#include <{name}>\n" for name in headers)
        text += "namespace groups = cooperative_groups;\nvoid f() {\n"
        code, said = self.compile(
            text + "".join(f"{statement}\n" for statement in self.MISSING) + "}\n"
        )
        self.assertNotEqual(0, code)
        for line, name in enumerate(self.MISSING.values(), text.count("\n") + 1):
            self.assertRegex(said, rf"(?m)^a\.cu:{line}:\d+: error: {name}\b")
        self.assertEqual(len(self.MISSING), said.count(" is not part of hostcuda: "))
        self.assertEqual(len(self.MISSING), said.count("\n"), said)

    def test_notes_about_old_compilers_are_not_shown(self):
        code, said = self.compile(
            "#include <thrust/complex.h>\n#include <thrust/device_vector.h>\n"
            "#include <thrust/reduce.h>\nusing Z = thrust::complex<float>;\n"
            "Z f(const thrust::device_vector<Z>& v) {\n"
            "  return thrust::reduce(v.begin(), v.end(), Z(), thrust::plus<Z>());\n}\n")
        self.assertEqual((0, ""), (code, said))

    def test_namespace_cuda_without_a_header_gives_one_line(self):
        code, said = self.compile("#include <thrust/device_vector.h>\n"
                                  "int k = cuda::ceil_div(7, 2);\nint main() {}\n")
        self.assertEqual(1, code)
        self.assertRegex(said, r"^a\.cu:2:9: error: namespace cuda is not declared: include .*\n$")

    def test_each_missing_toolkit_header_gives_one_line(self):
        for name in (
            "thrust/mr/pool.h",
            "cusolverDn.h",
            "cufftw.h",
            "nvtx3/nvtx3.hpp",
            "cuda/stream_ref",
        ):
            error = self.compile_error(f"\n#include <{name}>\n")
            self.assertRegex(error, rf"^a\.cu:2: error: <{name}> is not part of hostcuda: .{{20}}")

    def test_a_macro_of_the_system_within_a_function(self):
        # The text after the macro assert still belongs to the function, and `while` ends the `do`.
        text = (
            "#include <assert.h>\n__global__ void k(volatile int* x) {\n  do {\n    assert(x);\n"
            "  } while (*x);\n  extern __shared__ char s[];\n  int* i = "
            "reinterpret_cast<int*>(s);\n"
            "  *x = *i;\n}\n"
        )
        self.assertEqual((0, ""), self.compile(text))

    def test_unknown_ptx_is_rejected_with_its_name(self):
        text = ('__device__ int leave() {\n  int i;\n  asm volatile("mov.u32 %0, %%laneid; exit;"\n'
                '               : "=r"(i));\n  return i;\n}\n')
        self.assertRegex(self.compile_error(text),
                         r"^a\.cu:3: error: inline PTX: the instruction exit is not emulated")
        for ptx, said in (("wgmma.fence.sync.aligned;", "instruction wgmma.fence.sync.aligned is"),
                          ("max.f16x2 %0, %1, %2;", "instruction max.f16x2 is not emulated"),
                          ("lg2.bf16x2 %0, %1;", "instruction lg2.bf16x2 is not emulated"),
                          ("testp.f16x2 %0, %1;", "instruction testp.f16x2 is not emulated"),
                          ("bar.sync 1, 32;", "only bar.sync 0"),
                          (".reg .b128 r; bar.sync 0;", "registers of type b128 are"),
                          ("ldmatrix.sync.m8n8.x1.b16 {%0}, [%1];", "instruction ldmatrix.sync."),
                          ("stmatrix.sync.aligned.m8n8.x4.b16 [%0], {%1, %2};",
                           ".x4 needs a vector of 4 registers, not 2"),
                          ("add.s32 1;", "add.s32 needs more operands")):
            self.assertRegex(self.compile_error(f'void f() {{\n  asm("{ptx}");\n}}\n'),
                             rf"^a\.cu:2: error: inline PTX: .*{re.escape(said)}")

    def test_overlapping_dynamic_arrays_are_reported(self):
        text = ("template <int> __global__ void k(int n) {\n  extern __shared__ float keys[];\n"
                "  %s\n  keys[n] = values[n];\n}\n"
                "__global__ void other() { extern __shared__ int values[]; values[0] = 1; }\n"
                "__global__ void either(bool b) {\n  if (b) {\n    extern __shared__ int x[];\n"
                "    x[0] = 1;\n  } else {\n    extern __shared__ float y[];\n    y[0] = 1;\n"
                "  }\n}\n")
        self.assertEqual((0, "a.cu:3:1: warning: 'values' and 'keys' are the same memory, because "
                             "every extern __shared__ array begins at the same address; let "
                             "'values' point into 'keys'\n"),
                         self.compile(text % "extern __shared__ float values[];"))
        self.assertEqual((0, ""), self.compile(text % "float* values = keys + n;"))

    def test_branches_on_cuda_arch_are_reported(self):
        text = "\n#ifdef __CUDA_ARCH__\nint device;\n#else\nint host;\n#endif\n"
        code, said = self.compile(text)
        self.assertEqual(0, code)
        self.assertRegex(said, r"^a\.cu:2: warning: __CUDA_ARCH__ is not defined")
        self.assertEqual((0, ""), self.compile(text, "-D__CUDA_ARCH__=900"))
        self.assertEqual(
            (0, ""),
            self.compile("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\nint i;\n#endif\n"),
        )

    def test_branches_on_cuda_arch_in_literals_and_comments_are_not_reported(self):
        branch = "\n#ifdef __CUDA_ARCH__\n#endif\n"
        for text in (f'auto s = R"({branch})";', f'auto s = u8R"x({branch} )" )x";',
                     f"/*{branch}*/", f"int n = 1'000; auto s = R\"({branch})\"; char c = '\"';"):
            self.assertEqual((0, ""), self.compile(text + "\n"), text)
        for text in ("int LR = '\"' + 0xa'b; // R\"(", "auto s = \"R\\\"(\"; /* ' */"):
            self.assertRegex(self.compile(text + branch)[1], r"^a\.cu:2: warning: __CUDA_ARCH__")

    def test_shared_variables_of_a_traced_file(self):
        text = ("template <class T> __global__ void k(T* out) {\n"
                "  __shared__ float tile[8][33],\n      *pointer, one;\n"
                "  __shared__ T value;\n  __shared__ struct { int n; } pair;"
                " __shared__ int before, after;\n"
                "  pointer = tile[0];\n  one = value = pair.n = before = after = 1;\n"
                "  static_assert(sizeof tile == 4 * 8 * 33);\n"
                "  out[threadIdx.x] = *pointer + one;\n}\n"
                "__shared__ volatile int at_file_scope[4];\n"
                "int main() {\n  k<<<1, 1>>>((int*)nullptr);\n  undeclared();\n"
                "  return at_file_scope[0];\n}\n")
        _, said = self.compile(text, "-DHOSTCUDA_TRACE=1")
        self.assertIn("a.cu:14:", said)  # line numbers are unchanged
        self.assertEqual(1, said.count("error:"), said)
        self.assertEqual(
            (0, ""), self.compile(text.replace("undeclared();", ""), "-DHOSTCUDA_TRACE=1")
        )
        # Each shared variable has padding before and after it that belongs to no variable.
        shown = self.show("-DHOSTCUDA_TRACE=1")
        self.assertEqual(8, shown.count("char hostcuda_before["), shown)

    def test_other_files_are_passed_through(self):
        self.write("a.cpp", "int f() { return 1; }\n")
        result = self.launch("-o", "a.o", "-c", "a.cpp")
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        self.assertTrue((self.folder / "a.o").exists())
        self.assertFalse((self.folder / "a.o.ii").exists())

    def test_compilations_go_through_ccache(self):
        # A replacement for ccache that logs its arguments and executes them.
        self.write("cache", '#!/bin/sh\necho "$@" >> "%s"\nexec "$@"\n' % (self.folder / "calls"))
        (self.folder / "cache").chmod(0o755)
        self.write("a.cu", "__global__ void k() {}\n")
        self.write("b.cpp", "int f() { return 1; }\n")
        for source in ("a.cu", "b.cpp"):
            result = self.launch("-std=c++20", "-o", "x.o", "-c", source,
                                 compiler=(f"--launcher={self.folder / 'cache'}", COMPILER))
            self.assertEqual((0, ""), (result.returncode, result.stderr))
        calls = self.read("calls").splitlines()
        self.assertEqual(2, len(calls))
        self.assertIn("x.o.ii", calls[0])
        self.assertIn("b.cpp", calls[1])

    def test_the_macro_and_the_header_are_provided(self):
        self.assertEqual(
            (0, ""),
            self.compile(
                "#ifndef __HOSTCUDA__\n#error\n#endif\n__device__ float4 f() "
                "{ return make_float4(1, 2, 3, 4); }\n",
                "-std=c++20",
            ),
        )

    def test_rewritten_text_draws_no_warning(self):
        text = ("__global__ void k(int) { __shared__ int unused[4]; extern __shared__ float "
                "also_unused[]; }\n"
                "void f() { k<<<1, 2>>>(3); }\n")
        self.assertEqual(
            (0, ""), self.compile(text, "-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Werror")
        )


if __name__ == "__main__":
    unittest.main()
