// Tests NVRTC: options, headers, messages, lowered names, and the results' use as modules.
#include <nvrtc.h>

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

  std::size_t size = 0;
  EXPECT_NVRTC(nvrtcGetPTXSize(program, &size));
  std::string ptx(size, '?');
  EXPECT_NVRTC(nvrtcGetPTX(program, ptx.data()));
  EXPECT_EQ(size, std::strlen(ptx.c_str()) + 1);
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

TEST_F(Nvrtc, RefusesUnknownOptions) {
  Program program("__global__ void k() {}");
  EXPECT_EQ(NVRTC_ERROR_INVALID_OPTION, program.compile({"-w", "--no-such-option"}));
  EXPECT_EQ("nvrtc: error: unrecognized option --no-such-option\n", program.log());
  EXPECT_EQ(NVRTC_ERROR_INVALID_OPTION, program.compile({"-arch=sm_12"}));
  EXPECT_NE(std::string::npos, program.log().find("invalid value 'sm_12'")) << program.log();
  EXPECT_EQ(NVRTC_ERROR_INVALID_OPTION, program.compile({"--gpu-architecture"}));
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
