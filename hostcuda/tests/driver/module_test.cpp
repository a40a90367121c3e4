// Tests modules: loading, kernels and their parameters, variables, wrong images, unloading.
#include <cstdint>
#include <cstring>

#include "parameters.h"
#include "support.h"

// The module has a variable of the same name, which its kernels must use.
int counter = -1;

namespace {

using Launch = ModuleTest;
using Module = ModuleTest;

TEST_F(Launch, PassesPointersToParameters) {
  Array<float> a({1, 2, 3}), b({10, 20, 30});
  int n = 2;
  void* parameters[] = {a.argument(), b.argument(), &n};
  EXPECT_DRIVER(
      cuLaunchKernel(function("add"), 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ((std::vector<float>{11, 22, 30}), b.get());
}

TEST_F(Launch, TakesParametersFromABuffer) {
  Array<double> out(std::vector<double>(7));
  struct {
    CUdeviceptr out;
    char c;
    double d;
    Pair pair;
    short s;
    Large large;
    bool flag;
  } buffer{out.address(), 'A', 1.25, {7, 8.5f}, -3, {{1, 2, 3, 4, 5, 6, 7, 8, 99}}, true};
  std::size_t size = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  CUfunction kernel = function("store_parameters");
  EXPECT_DRIVER(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ((std::vector<double>{'A', 1.25, 7, 8.5, -3, 99, 1}), out.get());

  std::vector<char> unaligned(1 + sizeof buffer);
  std::memcpy(unaligned.data() + 1, &buffer, sizeof buffer);
  extra[1] = unaligned.data() + 1;
  EXPECT_DRIVER(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ((std::vector<double>{'A', 1.25, 7, 8.5, -3, 99, 1}), out.get());

  size = offsetof(decltype(buffer), flag);  // lacks the last parameter
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  size = sizeof buffer;
  void* parameters[7] = {};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,  // both
            cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, extra));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,  // neither
            cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

TEST_F(Launch, KnowsThePlacesOfParameters) {
  const CUfunction kernel = function("store_parameters");
  const std::vector<std::pair<std::size_t, std::size_t>> expected = {
      {0, 8}, {8, 1}, {16, 8}, {24, 8}, {32, 2}, {36, 36}, {72, 1}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::size_t offset = 0, size = 0;
    EXPECT_DRIVER(cuFuncGetParamInfo(kernel, i, &offset, &size));
    EXPECT_EQ(expected[i], std::make_pair(offset, size)) << i;
  }
  std::size_t offset = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(kernel, 7, &offset, nullptr));
}

TEST_F(Launch, SharedMemoryOfAllKindsWorksInModules) {
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<std::size_t>(i)] = i;
  Array<int> data(values);
  void* parameters[] = {data.argument()};
  EXPECT_DRIVER(
      cuLaunchKernel(function("reverse"), 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(63, data.get()[0]);
  EXPECT_DRIVER(cuLaunchKernel(function("rotate_in_shared"), 1, 1, 1, 32, 1, 1, 32 * sizeof(int),
                               nullptr, parameters, nullptr));
  EXPECT_EQ(62 + 1000, data.get()[0]);
  EXPECT_EQ(63 + 1000, data.get()[31]);
}

TEST_F(Launch, RefusesWrongConfigurationsAndHandles) {
  Array<int> data({1});
  void* parameters[] = {data.argument()};
  const CUfunction kernel = function("reverse");
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuLaunchKernel(kernel, 1, 1, 1, 2048, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(cudaSuccess, cudaPeekAtLastError());  // the runtime API's error stays as it was
  int no_function = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE,
            cuLaunchKernel(reinterpret_cast<CUfunction>(&no_function), 1, 1, 1, 1, 1, 1, 0, nullptr,
                           parameters, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 64 << 10, nullptr, parameters, nullptr));
  EXPECT_DRIVER(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 99328));
  int allowed = 0;
  EXPECT_DRIVER(
      cuFuncGetAttribute(&allowed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel));
  EXPECT_EQ(99328, allowed);
}

TEST_F(Launch, TakesAttributesOfTheLaunch) {
  Array<float> a({1}), b({2});
  int n = 1;
  void* parameters[] = {a.argument(), b.argument(), &n};
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{4, 1, 1, 1, 1, 1, 0, nullptr, &attribute, 1};
  EXPECT_DRIVER(cuLaunchKernelEx(&config, function("add"), parameters, nullptr));
  EXPECT_EQ(3, b.get()[0]);
  config.gridDimX = 3;
  EXPECT_EQ(static_cast<CUresult>(cudaErrorInvalidClusterSize),
            cuLaunchKernelEx(&config, function("add"), parameters, nullptr));
  EXPECT_DRIVER(
      cuLaunchCooperativeKernel(function("add"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters));
  EXPECT_EQ(4, b.get()[0]);
}

TEST_F(Module, FindsVariables) {
  CUdeviceptr counter = 0, factors = 0, second = 0, total = 0;
  std::size_t size = 0;
  EXPECT_DRIVER(cuModuleGetGlobal(&counter, &size, module_, "counter"));
  EXPECT_EQ(sizeof(int), size);
  EXPECT_DRIVER(cuModuleGetGlobal(&factors, &size, module_, "factors"));
  EXPECT_EQ(4 * sizeof(float), size);
  EXPECT_DRIVER(cuModuleGetGlobal(nullptr, &size, module_, "hidden"));
  EXPECT_EQ(2 * sizeof(int), size);
  EXPECT_DRIVER(cuModuleGetGlobal(&second, &size, module_, "_ZN8counters6secondE"));
  EXPECT_EQ(3 * sizeof(long long), size);
  EXPECT_DRIVER(cuModuleGetGlobal(&total, &size, module_, "total"));
  EXPECT_EQ(sizeof(int), size);
  for (const char* name : {"second", "no_such_variable", "add", "environ"})
    EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&counter, &size, module_, name)) << name;

  const float new_factors[4] = {0, 0, 0, 40};
  const int new_counter = 100;
  EXPECT_DRIVER(cuMemcpyHtoD(factors, new_factors, sizeof new_factors));
  EXPECT_DRIVER(cuMemcpyHtoD(counter, &new_counter, sizeof new_counter));
  Array<int> out({0, 0});
  void* parameters[] = {out.argument()};
  EXPECT_DRIVER(
      cuLaunchKernel(function("count"), 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ((std::vector<int>{132, 44}), out.get());
  long long seconds[3];
  EXPECT_DRIVER(cuMemcpyDtoH(seconds, second, sizeof seconds));
  EXPECT_EQ(132, seconds[2]);
  EXPECT_EQ(132, *reinterpret_cast<int*>(total));
  EXPECT_EQ(-1, ::counter);
}

TEST_F(Module, HasItsOwnVariables) {
  CUmodule other = nullptr;
  CUdeviceptr mine = 0, others = 0;
  const int value = 1;
  EXPECT_DRIVER(cuModuleLoad(&other, file_of_module("fatbin").c_str()));
  EXPECT_DRIVER(cuModuleGetGlobal(&mine, nullptr, module_, "counter"));
  EXPECT_DRIVER(cuModuleGetGlobal(&others, nullptr, other, "counter"));
  EXPECT_NE(mine, others);
  EXPECT_DRIVER(cuMemcpyHtoD(mine, &value, sizeof value));
  int read = 0;
  EXPECT_DRIVER(cuMemcpyDtoH(&read, others, sizeof read));
  EXPECT_EQ(5, read);
  EXPECT_DRIVER(cuModuleUnload(other));
}

TEST_F(Module, FindsFunctionsByTheirNamesInTheModule) {
  Array<int> out({1, 2, 3, 4});
  int value = 6;
  void* parameters[] = {out.argument(), &value};
  const auto launch = [&](const char* name) {
    EXPECT_DRIVER(
        cuLaunchKernel(function(name), 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr));
    return out.get();
  };
  EXPECT_EQ((std::vector<int>{2, 4, 6, 8}), launch("_Z5twiceIiEvPT_"));
  EXPECT_EQ((std::vector<int>(4, 6)), launch("_ZN6shapes4fillEPii"));
  EXPECT_EQ((std::vector<int>(4, -7)), launch("fill_static"));
  CUfunction none = nullptr;
  for (const char* name : {"fill", "twice", "no_such_kernel", "counter", "malloc"})
    EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, module_, name)) << name;
  const char* name = nullptr;
  EXPECT_DRIVER(cuFuncGetName(&name, function("_ZN6shapes4fillEPff")));
  EXPECT_STREQ("_ZN6shapes4fillEPff", name);
  unsigned count = 0;
  EXPECT_DRIVER(cuModuleGetFunctionCount(&count, module_));
  EXPECT_EQ(11u, count);
}

TEST_F(DriverTest, EveryKindOfImageLoadsFromMemory) {
  for (const char* kind : {"ptx", "cubin", "fatbin"}) {
    const std::string image = contents(file_of_module(kind));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_DRIVER(cuModuleLoadData(&module, image.data())) << kind;
    EXPECT_DRIVER(cuModuleGetFunction(&function, module, "add")) << kind;
    EXPECT_DRIVER(cuModuleUnload(module));
  }
  // Programs handle PTX as a string.
  const std::string ptx = contents(file_of_module("ptx"));
  EXPECT_EQ(std::strlen(ptx.c_str()), ptx.size());
}

TEST_F(DriverTest, WrongImagesAreRefused) {
  CUmodule module = nullptr;
  char log[200] = "untouched", empty[10] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log), empty,
                    reinterpret_cast<void*>(sizeof empty)};
  const char ptx[] = "//\n.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() {}\n";
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, ptx, 4, options, values));
  EXPECT_NE(nullptr, std::strstr(log, "PTX for a GPU")) << log;
  EXPECT_EQ(std::strlen(log) + 1, reinterpret_cast<std::size_t>(values[1]));
  EXPECT_STREQ("", empty);
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "not a module"));

  std::string cubin(64, '\0');  // the header of an ELF file for a GPU
  std::memcpy(cubin.data(), "\177ELF\2\1\1", 7);
  cubin[18] = static_cast<char>(190);
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, cubin.data()));
  const std::uint32_t fatbin[4] = {0xba55ed50};
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadFatBinary(&module, fatbin));
  EXPECT_EQ(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "no/such/file.cubin"));

  const char* text = nullptr;
  EXPECT_DRIVER(cuGetErrorString(CUDA_ERROR_INVALID_IMAGE, &text));
  EXPECT_STREQ("device kernel image is invalid", text);
}

TEST_F(DriverTest, ACutOffModuleIsRefused) {
  const std::string whole = contents(file_of_module("cubin"));
  const std::string file = testing::TempDir() + "/hostcuda_cut_off.cubin";
  std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() / 2);
  CUmodule module = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_IMAGE, cuModuleLoad(&module, file.c_str()));
  std::remove(file.c_str());
}

TEST_F(DriverTest, UnloadedModulesAreGone) {
  std::ifstream maps;
  for (int i = 0; i < 3; ++i) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    Array<int> data(std::vector<int>(64));
    void* parameters[] = {data.argument()};
    EXPECT_DRIVER(cuModuleLoad(&module, file_of_module("cubin").c_str()));
    EXPECT_DRIVER(cuModuleGetFunction(&function, module, "reverse"));
    EXPECT_DRIVER(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
    EXPECT_DRIVER(cuModuleUnload(module));  // waits for the kernel
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
    const char* name = nullptr;
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuFuncGetName(&name, function));
    CUfunction none = nullptr;
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&none, module, "reverse"));
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE,
              cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  }
  EXPECT_EQ(std::string::npos, contents("/proc/self/maps").find("hostcuda-module"));
}

TEST_F(DriverTest, GraphsKeepTheCodeOfTheirKernels) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  Array<int> data({-1, -1, -1, -1});
  void* parameters[] = {data.argument()};
  EXPECT_DRIVER(cuModuleLoad(&module, file_of_module("cubin").c_str()));
  EXPECT_DRIVER(cuModuleGetFunction(&function, module, "fill_static"));
  EXPECT_DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_DRIVER(cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, stream, parameters, nullptr));
  EXPECT_EQ(cudaSuccess, cudaStreamEndCapture(stream, &graph));
  EXPECT_DRIVER(cuModuleUnload(module));
  EXPECT_EQ(cudaSuccess, cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_EQ(cudaSuccess, cudaGraphDestroy(graph));
  EXPECT_EQ(cudaSuccess, cudaGraphLaunch(exec, stream));
  EXPECT_DRIVER(cuStreamSynchronize(stream));
  EXPECT_EQ((std::vector<int>(4, -7)), data.get());
  EXPECT_EQ(cudaSuccess, cudaGraphLaunch(exec, stream));
  EXPECT_EQ(cudaSuccess, cudaGraphExecDestroy(exec));  // before the launch has ended
  EXPECT_DRIVER(cuStreamSynchronize(stream));
  EXPECT_DRIVER(cuStreamDestroy(stream));
  EXPECT_EQ(std::string::npos, contents("/proc/self/maps").find("hostcuda-module"));
}

TEST_F(DriverTest, LibrariesNeedNoContext) {
  CUcontext context = nullptr;
  EXPECT_DRIVER(cuCtxPopCurrent(&context));
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  EXPECT_DRIVER(cuLibraryLoadFromFile(&library, file_of_module("fatbin").c_str(), nullptr, nullptr,
                                      0, nullptr, nullptr, 0));
  EXPECT_DRIVER(cuLibraryGetKernel(&kernel, library, "reverse"));
  EXPECT_DRIVER(cuCtxPushCurrent(context));
  Array<int> data(std::vector<int>(64, 3));
  void* parameters[] = {data.argument()};
  CUfunction function = nullptr;
  EXPECT_DRIVER(cuKernelGetFunction(&function, kernel));
  EXPECT_DRIVER(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_DRIVER(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 64, 1, 1, 0, nullptr,
                               parameters, nullptr));
  EXPECT_DRIVER(cuLibraryUnload(library));
}

TEST_F(DriverTest, LinksOneModule) {
  const std::string ptx = contents(file_of_module("ptx"));
  CUlinkState state = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  char log[100] = "untouched";
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    EXPECT_DRIVER(cuLinkCreate(2, options, values, &state));
    options[0] = options[1] = CU_JIT_MAX_REGISTERS;  // the array may end before the link
  }
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(state, &image, &size));
  EXPECT_DRIVER(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()),
                              ptx.size() + 1, "kernels", 0, nullptr, nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED,
            cuLinkAddFile(state, CU_JIT_INPUT_CUBIN, file_of_module("cubin").c_str(), 0, nullptr,
                          nullptr));
  EXPECT_NE(nullptr, std::strstr(log, "cannot link several modules")) << log;
  EXPECT_DRIVER(cuLinkComplete(state, &image, &size));
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_DRIVER(cuModuleLoadData(&module, image));
  EXPECT_DRIVER(cuLinkDestroy(state));
  EXPECT_DRIVER(cuModuleGetFunction(&function, module, "add"));
  EXPECT_DRIVER(cuModuleUnload(module));
}

}  // namespace
