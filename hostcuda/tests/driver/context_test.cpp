// Tests contexts, devices, errors, streams, and functions by name.
#include <cstring>
#include <thread>

#include "support.h"

namespace {

using Context = DriverTest;
using Driver = DriverTest;
using Stream = ModuleTest;

// A thread starts without a context, like a program.
template <class Function>
void in_new_thread(const Function& function) {
  std::thread(function).join();
}

TEST_F(Context, IsNeededByCallsThatUseTheDevice) {
  in_new_thread([&] {
    CUdeviceptr memory = 0;
    CUcontext current = context_;
    EXPECT_DRIVER(cuCtxGetCurrent(&current));
    EXPECT_EQ(nullptr, current);
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
    EXPECT_DRIVER(cuCtxSetCurrent(context_));
    EXPECT_DRIVER(cuMemAlloc(&memory, 4));
    EXPECT_DRIVER(cuMemFree(memory));
  });
}

TEST_F(Context, IsAStackPerThread) {
  CUcontext second = nullptr, current = nullptr;
  EXPECT_DRIVER(cuCtxCreate(&second, CU_CTX_SCHED_SPIN, device_));  // the form of CUDA 12
  unsigned flags = 0;
  EXPECT_DRIVER(cuCtxGetFlags(&flags));
  EXPECT_EQ(static_cast<unsigned>(CU_CTX_SCHED_SPIN), flags);
  EXPECT_DRIVER(cuCtxPopCurrent(&current));
  EXPECT_EQ(second, current);
  EXPECT_DRIVER(cuCtxGetCurrent(&current));
  EXPECT_EQ(context_, current);
  EXPECT_DRIVER(cuCtxDestroy(second));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(second));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&second, nullptr, 0, 99));
}

TEST_F(Context, ThatAnotherThreadDestroyedCannotBeUsed) {
  CUcontext context = nullptr, popped = nullptr;
  EXPECT_DRIVER(cuCtxCreate(&context, nullptr, 0, device_));
  in_new_thread([&] { EXPECT_DRIVER(cuCtxDestroy(context)); });
  CUdevice device = -1;
  CUdeviceptr memory = 0;
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxGetDevice(&device));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&memory, 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(context));
  EXPECT_DRIVER(cuCtxPopCurrent(&popped));
  EXPECT_EQ(context, popped);
  EXPECT_DRIVER(cuCtxGetDevice(&device));
}

TEST_F(Context, OfTheRuntimeIsThePrimaryContext) {
  in_new_thread([] {
    CUcontext current = nullptr, primary = nullptr;
    EXPECT_EQ(cudaSuccess, cudaSetDevice(0));
    EXPECT_DRIVER(cuCtxGetCurrent(&current));
    EXPECT_DRIVER(cuDevicePrimaryCtxRetain(&primary, 0));
    EXPECT_EQ(primary, current);
    EXPECT_DRIVER(cuDevicePrimaryCtxRelease(0));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(primary));
  });
}

TEST_F(Context, ChoosesTheDeviceOfTheRuntime) {
  int count = 0;
  EXPECT_DRIVER(cuDeviceGetCount(&count));
  if (count < 2) GTEST_SKIP() << "needs two devices";
  CUcontext second = nullptr;
  int device = -1;
  EXPECT_DRIVER(cuCtxCreate(&second, nullptr, 0, 1));
  EXPECT_EQ(cudaSuccess, cudaGetDevice(&device));
  EXPECT_EQ(1, device);
  EXPECT_DRIVER(cuCtxDestroy(second));
  EXPECT_EQ(cudaSuccess, cudaGetDevice(&device));
  EXPECT_EQ(0, device);
}

TEST_F(Driver, DescribesDevices) {
  int value = 0, major = 0, minor = 0;
  std::size_t bytes = 0;
  char name[8] = {};
  EXPECT_DRIVER(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device_));
  EXPECT_EQ(32, value);
  EXPECT_DRIVER(cuDeviceGetAttribute(
      &value, CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, device_));
  EXPECT_EQ(1, value);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), device_));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE,
            cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
  EXPECT_DRIVER(cuDeviceComputeCapability(&major, &minor, device_));
  EXPECT_EQ(9, major);
  EXPECT_DRIVER(cuDeviceTotalMem(&bytes, device_));
  EXPECT_LT(0u, bytes);
  EXPECT_DRIVER(cuDeviceGetName(name, sizeof name, device_));
  EXPECT_STREQ("hostcud", name);  // cut off
}

TEST_F(Driver, NamesErrors) {
  const char* text = nullptr;
  EXPECT_DRIVER(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &text));
  EXPECT_STREQ("CUDA_ERROR_INVALID_PTX", text);
  EXPECT_DRIVER(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ("out of memory", text);
  EXPECT_DRIVER(cuGetErrorString(CUDA_ERROR_UNMAP_FAILED, &text));
  EXPECT_STREQ("unmap failed", text);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetErrorString(static_cast<CUresult>(12345), &text));
  EXPECT_EQ(nullptr, text);
}

TEST_F(Driver, FindsFunctionsByName) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  EXPECT_DRIVER(cuGetProcAddress("cuDriverGetVersion", &function, 13000, 0, &status));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SUCCESS, status);
  int version = 0;
  EXPECT_DRIVER(reinterpret_cast<CUresult (*)(int*)>(function)(&version));
  EXPECT_EQ(CUDA_VERSION, version);
  EXPECT_DRIVER(cuGetProcAddress("cuNoSuchFunction", &function, 13000, 0, &status));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, status);
  EXPECT_EQ(nullptr, function);
}

// The types of these functions in NVIDIA's header.
using LaunchKernel = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**, void**);
using LaunchCooperative = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       unsigned, unsigned, CUstream, void**);
using LaunchKernelEx = CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**);
[[maybe_unused]] constexpr LaunchKernel kLaunch = cuLaunchKernel;
[[maybe_unused]] constexpr LaunchCooperative kLaunchCooperative = cuLaunchCooperativeKernel;
[[maybe_unused]] constexpr LaunchKernelEx kLaunchEx = cuLaunchKernelEx;

TEST_F(Stream, OrdersItsWork) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  EXPECT_DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_DRIVER(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CUdeviceptr data = 0;
  EXPECT_DRIVER(cuMemAlloc(&data, 64 * sizeof(int)));
  EXPECT_DRIVER(cuMemsetD32Async(data, 0x01020304, 64, stream));
  void *parameters[] = {&data}, *launch = nullptr;
  EXPECT_DRIVER(cuGetProcAddress("cuLaunchKernel", &launch, 13000, 0));
  EXPECT_DRIVER(reinterpret_cast<LaunchKernel>(launch)(function("reverse"), 1, 1, 1, 64, 1, 1, 0,
                                                       stream, parameters, nullptr));
  EXPECT_DRIVER(cuEventRecord(event, stream));
  static CUresult called_with = CUDA_ERROR_UNKNOWN;
  EXPECT_DRIVER(cuStreamAddCallback(
      stream, [](CUstream, CUresult status, void*) { called_with = status; }, nullptr, 0));
  EXPECT_DRIVER(cuEventSynchronize(event));
  EXPECT_DRIVER(cuStreamSynchronize(stream));
  EXPECT_DRIVER(called_with);
  int read = 0;
  EXPECT_DRIVER(cuMemcpyDtoH(&read, data, sizeof read));
  EXPECT_EQ(0x01020304, read);
  CUcontext of_stream = nullptr;
  EXPECT_DRIVER(cuStreamGetCtx(stream, &of_stream));
  EXPECT_EQ(context_, of_stream);
  EXPECT_DRIVER(cuMemFree(data));
  EXPECT_DRIVER(cuEventDestroy(event));
  EXPECT_DRIVER(cuStreamDestroy(stream));
}

}  // namespace
