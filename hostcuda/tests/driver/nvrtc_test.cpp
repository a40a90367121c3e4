// Tests NVRTC: options, headers, messages, lowered names, and the results' use as modules.
#include <nvrtc.h>

#include <csignal>
#include <cstring>

#include "support.h"

namespace {

#define EXPECT_NVRTC(call) EXPECT_EQ(NVRTC_SUCCESS, call)

class Program {
 public:
  explicit Program(const char* source, const std::vector<const char*>& headers = {},
                   const std::vector<const char*>& names = {}) {
    EXPECT_NVRTC(nvrtcCreateProgram(&handle_, source, "folder/my.cu",
                                    static_cast<int>(headers.size()), headers.data(),
                                    names.data()));
  }
  ~Program() { EXPECT_NVRTC(nvrtcDestroyProgram(&handle_)); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  operator nvrtcProgram() const { return handle_; }
  nvrtcResult compile(const std::vector<const char*>& options) {
    return nvrtcCompileProgram(handle_, static_cast<int>(options.size()), options.data());
  }
  std::string log() const {
    std::size_t size = 0;
    EXPECT_NVRTC(nvrtcGetProgramLogSize(handle_, &size));
    std::string text(size, '?');
    EXPECT_NVRTC(nvrtcGetProgramLog(handle_, text.data()));
    return text.c_str();
  }
  std::string ptx() const {
    std::size_t size = 0;
    EXPECT_NVRTC(nvrtcGetPTXSize(handle_, &size));
    std::string text(size, '?');
    EXPECT_NVRTC(nvrtcGetPTX(handle_, text.data()));
    EXPECT_EQ(size, std::strlen(text.c_str()) + 1);
    return text;
  }

 private:
  nvrtcProgram handle_ = nullptr;
};

using Nvrtc = DriverTest;

constexpr const char* kSource = R"(
#include "scale.h"
#include <deep/offset.h>
#if __CUDA_ARCH__ != 900 || !defined __CUDACC_RTC__
#error not compiled as device code
#endif
namespace ns {
__constant__ int added = 1;
template <class T> __global__ void scaled(T* out) {
  out[threadIdx.x] = SCALE * out[threadIdx.x] + OFFSET + added;
}
}
extern "C" __global__ void plain(int* out) { out[threadIdx.x] = FROM_OPTION; }
)";

TEST_F(Nvrtc, CompilesTemplatesWithHeaders) {
  Program program(kSource, {"#define SCALE 2", "#define OFFSET 100"}, {"scale.h", "deep/offset.h"});
  EXPECT_NVRTC(nvrtcAddNameExpression(program, "ns::scaled<int>"));
  EXPECT_NVRTC(nvrtcAddNameExpression(program, "&ns::scaled<double>"));
  EXPECT_NVRTC(nvrtcAddNameExpression(program, "&ns::added"));
  const char* name = nullptr;
  EXPECT_EQ(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION,
            nvrtcGetLoweredName(program, "&ns::added", &name));
  ASSERT_EQ(NVRTC_SUCCESS, program.compile({"--gpu-architecture=sm_90", "-DFROM_OPTION=77",
                                            "--std=c++17", "-default-device"}))
      << program.log();
  EXPECT_EQ("", program.log());
  EXPECT_EQ(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
            nvrtcAddNameExpression(program, "ns::scaled<float>"));
  EXPECT_EQ(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
            nvrtcGetLoweredName(program, "ns::scaled<float>", &name));

  const std::string ptx = program.ptx();
  std::size_t size = 0;
  EXPECT_NVRTC(nvrtcGetCUBINSize(program, &size));
  std::string cubin(size, '?');
  EXPECT_NVRTC(nvrtcGetCUBIN(program, cubin.data()));

  for (const std::string& image : {ptx, cubin}) {
    CUmodule module = nullptr;
    ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&module, image.data()));
    const auto launch = [&](const char* kernel, auto value) {
      Array<decltype(value)> data({value});
      CUfunction function = nullptr;
      void* parameters[] = {data.argument()};
      EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&function, module, kernel)) << kernel;
      EXPECT_DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
      return data.get()[0];
    };
    EXPECT_NVRTC(nvrtcGetLoweredName(program, "ns::scaled<int>", &name));
    EXPECT_EQ(111, launch(name, 5));
    EXPECT_NVRTC(nvrtcGetLoweredName(program, "&ns::scaled<double>", &name));
    EXPECT_EQ(102, launch(name, 0.5));
    EXPECT_EQ(77, launch("plain", 5));
    EXPECT_NVRTC(nvrtcGetLoweredName(program, "&ns::added", &name));
    CUdeviceptr added = 0;
    EXPECT_DRIVER(cuModuleGetGlobal(&added, &size, module, name));
    EXPECT_EQ(sizeof(int), size);
    EXPECT_DRIVER(cuModuleUnload(module));
  }
}

TEST_F(Nvrtc, LogsErrorsWithTheirLines) {
  Program program("__global__ void k(int* p) {\n  *p = unknown;\n}\n");
  EXPECT_EQ(NVRTC_ERROR_COMPILATION, program.compile({}));
  const std::string log = program.log();
  EXPECT_NE(log.npos, log.find("folder/my.cu:2:")) << log;
  EXPECT_NE(log.npos, log.find("unknown")) << log;
  EXPECT_EQ(log.npos, log.find("hostcuda-nvrtc-")) << log;  // the temporary folder
  std::size_t size = 0;
  EXPECT_EQ(NVRTC_ERROR_INVALID_PROGRAM, nvrtcGetPTXSize(program, &size));

  Program with_header("#include <deep/my.h>\n", {"\nint x = unknown;\n"}, {"deep/my.h"});
  EXPECT_EQ(NVRTC_ERROR_COMPILATION, with_header.compile({}));
  const std::string of_header = with_header.log();
  EXPECT_NE(of_header.npos, of_header.find("\ndeep/my.h:2:")) << of_header;
  EXPECT_EQ(NVRTC_ERROR_INVALID_INPUT, nvrtcCompileProgram(with_header, 1, nullptr));
}

TEST_F(Nvrtc, FindsNoHeadersOfTheHost) {
  Program program("#ifndef __CUDACC_RTC__\n#include <vector>\n#endif\n#include <cstdio>\n");
  EXPECT_EQ(NVRTC_ERROR_COMPILATION, program.compile({}));
  const std::string log = program.log();
  EXPECT_EQ(0u, log.find("folder/my.cu(4): catastrophic error: could not open source file "
                         "\"cstdio\""))
      << log;
  Program with_header("#include <cuda/std/cstdint>\n#include <cstdio>\n__global__ void k() {}\n",
                      {"#pragma once\n"}, {"cstdio"});
  EXPECT_NVRTC(with_header.compile({}));
}

TEST_F(Nvrtc, RefusesUnknownOptions) {
  Program program("__global__ void k() {}");
  EXPECT_EQ(NVRTC_ERROR_INVALID_OPTION, program.compile({"-w", "--no-such-option"}));
  EXPECT_EQ("nvrtc: error: unrecognized option --no-such-option\n", program.log());
  EXPECT_EQ(NVRTC_ERROR_INVALID_OPTION, program.compile({"-arch=sm_12"}));
  EXPECT_NE(std::string::npos, program.log().find("invalid value 'sm_12'")) << program.log();
  EXPECT_EQ(NVRTC_ERROR_INVALID_OPTION, program.compile({"--gpu-architecture"}));
}

// Runs a test with another value of an environment variable.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~Environment() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string before_;
};

TEST_F(Nvrtc, SaysWhyItCannotRun) {
  Program program("__global__ void k() {}");
  {
    const Environment no_folder("TMPDIR", "/no/such/folder");
    EXPECT_EQ(NVRTC_ERROR_INTERNAL_ERROR, program.compile({}));
    EXPECT_NE(std::string::npos, program.log().find("/no/such/folder")) << program.log();
  }
  const Environment no_programs("PATH", "/no/such/folder");
  EXPECT_EQ(NVRTC_ERROR_INTERNAL_ERROR, program.compile({}));
  EXPECT_NE(std::string::npos, program.log().find("cannot run ")) << program.log();
  EXPECT_EQ(NVRTC_ERROR_INTERNAL_ERROR,
            hostcuda_nvrtc_compile(program, 0, nullptr, "/no/such/include/nvrtc.h"));
  EXPECT_NE(std::string::npos, program.log().find("hostcuda's nvcc is not in /no/such/bin"))
      << program.log();
}

TEST_F(Nvrtc, FindsNvccOnThePath) {
  const std::string own = HOSTCUDA_BIN;
  const Environment path("PATH", (own + ":" + std::getenv("PATH")).c_str());
  Program program("__global__ void k() {}");
  EXPECT_NVRTC(hostcuda_nvrtc_compile(program, 0, nullptr, "/no/such/include/nvrtc.h"))
      << program.log();
}

TEST_F(Nvrtc, WorksIfTheProgramIgnoresItsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  Program program("__global__ void k() {}"), wrong("error");
  EXPECT_NVRTC(program.compile({})) << program.log();
  EXPECT_EQ(NVRTC_ERROR_COMPILATION, wrong.compile({}));
  std::signal(SIGCHLD, before);
}

constexpr const char* kKernels = R"(
#if __CUDA_ARCH__ != 750
#error not the default architecture
#endif
template <class T> __global__ void set(T* out, int value) { *out = value; }
template __global__ void set<int>(int* out, int value);
template __global__ void set(long* out, int value);  // the argument of the template is deduced
template <> __global__ void set<char>(char* out, int) { *out = 'c'; }
template <int a, int b> struct Sum { static constexpr int value = a + b; };
__global__ void with_defaults(int* out, int n = (1 < 2), int m = 16 >> 2,
                              int sum = Sum<1, 2>::value, bool last = true) {
  *out = n + m + sum + last;
}
namespace { __global__ void hidden(int* out) { *out = 4; } }
)";

TEST_F(Nvrtc, RegistersEveryKindOfKernel) {
  Program program(kKernels);
  for (const char* name : {"&hidden", "\nset<char>"})
    EXPECT_NVRTC(nvrtcAddNameExpression(program, name));
  ASSERT_EQ(NVRTC_SUCCESS, program.compile({"-DMY_CUDA_ARCH=1"})) << program.log();
  const std::string ptx = program.ptx();
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&module, ptx.c_str()));
  for (const char* name :
       {"_Z3setIiEvPT_i", "_Z3setIlEvPT_i", "_Z3setIcEvPT_i", "_Z13with_defaultsPiiiib"})
    EXPECT_DRIVER(cuModuleGetFunction(&function, module, name)) << name;
  const char* hidden = nullptr;
  EXPECT_NVRTC(nvrtcGetLoweredName(program, "&hidden", &hidden));
  EXPECT_DRIVER(cuModuleGetFunction(&function, module, hidden)) << hidden;
  Array<int> out({0});
  void* parameters[] = {out.argument()};
  EXPECT_DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(4, out.get()[0]);
  EXPECT_DRIVER(cuModuleUnload(module));
}

// Returns what the kernel k of the module writes.
int result_of_module(const std::string& ptx) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  Array<int> out({0});
  void* parameters[] = {out.argument()};
  EXPECT_DRIVER(cuModuleLoadData(&module, ptx.c_str()));
  EXPECT_DRIVER(cuModuleGetFunction(&function, module, "k"));
  EXPECT_DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  const int result = out.get()[0];
  EXPECT_DRIVER(cuModuleUnload(module));
  return result;
}

TEST_F(Nvrtc, ModulesThatStayInMemoryDoNotHideTheNext) {
  // The system must keep the library until the thread ends, because of the destructor.
  Program stays(R"(
struct Object { ~Object() { value = 0; } int value = 1; };
thread_local Object object;
int* address = &object.value;
extern "C" __global__ void k(int* out) { *out = 1; })");
  Program next("extern \"C\" __global__ void k(int* out) { *out = 2; }");
  for (Program* program : {&stays, &next})
    ASSERT_EQ(NVRTC_SUCCESS, program->compile({"-default-device"})) << program->log();
  EXPECT_EQ(1, result_of_module(stays.ptx()));
  EXPECT_EQ(2, result_of_module(next.ptx()));
}

// The next module may get the addresses of one that was unloaded, and must not inherit what was
// learnt about it.
TEST_F(Nvrtc, ModulesDoNotInheritClusters) {
  const std::string with_cluster =
      "extern \"C\" __global__ void __cluster_dims__(2,1,1) k(int* out) { out[blockIdx.x] = 1; }";
  for (const char* size : {"(2,1,1)", "(1,1,1)"}) {
    std::string source = with_cluster;
    Program program(source.replace(source.find("(2,1,1)"), 7, size).c_str());
    ASSERT_EQ(NVRTC_SUCCESS, program.compile({})) << program.log();
    const std::string ptx = program.ptx();
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&module, ptx.c_str()));
    EXPECT_DRIVER(cuModuleGetFunction(&function, module, "k"));
    const unsigned blocks = size[1] == '2' ? 2 : 3;
    Array<int> out{std::vector<int>(blocks)};
    void* parameters[] = {out.argument()};
    EXPECT_DRIVER(cuLaunchKernel(function, blocks, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    EXPECT_EQ(std::vector<int>(blocks, 1), out.get());
    EXPECT_DRIVER(cuModuleUnload(module));
  }
}

TEST_F(Nvrtc, MakesNoCubinForVirtualArchitectures) {
  Program program("extern \"C\" __global__ void k() {}");
  EXPECT_NVRTC(program.compile({"-arch", "compute_80", "-lineinfo", "--use_fast_math"}));
  std::size_t cubin = 1, ltoir = 1, ptx = 0;
  EXPECT_NVRTC(nvrtcGetCUBINSize(program, &cubin));
  EXPECT_NVRTC(nvrtcGetLTOIRSize(program, &ltoir));
  EXPECT_NVRTC(nvrtcGetPTXSize(program, &ptx));
  EXPECT_EQ(0u, cubin);
  EXPECT_EQ(0u, ltoir);
  EXPECT_LT(0u, ptx);
}

TEST(NvrtcLibrary, KnowsItsVersionAndErrors) {
  int major = 0, minor = 0, count = 0;
  EXPECT_NVRTC(nvrtcVersion(&major, &minor));
  EXPECT_EQ(CUDA_VERSION, 1000 * major + 10 * minor);
  EXPECT_NVRTC(nvrtcGetNumSupportedArchs(&count));
  std::vector<int> architectures(static_cast<std::size_t>(count));
  EXPECT_NVRTC(nvrtcGetSupportedArchs(architectures.data()));
  EXPECT_EQ(75, architectures.front());
  EXPECT_STREQ("NVRTC_ERROR_COMPILATION", nvrtcGetErrorString(NVRTC_ERROR_COMPILATION));
  EXPECT_STREQ("NVRTC_ERROR unknown", nvrtcGetErrorString(static_cast<nvrtcResult>(99)));
  nvrtcProgram none = nullptr;
  EXPECT_EQ(NVRTC_ERROR_INVALID_INPUT, nvrtcCreateProgram(&none, nullptr, "", 0, nullptr, nullptr));
  EXPECT_EQ(NVRTC_ERROR_INVALID_PROGRAM, nvrtcDestroyProgram(&none));
}

}  // namespace
