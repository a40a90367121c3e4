// Shared by the tests of the driver API: a context, memory and the module of kernels.cu.
#ifndef HOSTCUDA_TESTS_DRIVER_SUPPORT_H
#define HOSTCUDA_TESTS_DRIVER_SUPPORT_H

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define EXPECT_DRIVER(call) EXPECT_EQ(CUDA_SUCCESS, call)

// The file of the module, as nvcc made it with -ptx, -cubin or -fatbin.
inline std::string file_of_module(const std::string& kind) {
  return std::string(HOSTCUDA_MODULES) + "/kernels." + kind;
}

inline std::string contents(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_DRIVER(cuInit(0));
    EXPECT_DRIVER(cuDeviceGet(&device_, 0));
    EXPECT_DRIVER(cuCtxCreate(&context_, nullptr, 0, device_));
  }
  void TearDown() override { EXPECT_DRIVER(cuCtxDestroy(context_)); }

  CUdevice device_ = -1;
  CUcontext context_ = nullptr;
};

class ModuleTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(CUDA_SUCCESS, cuModuleLoad(&module_, file_of_module("cubin").c_str()));
  }
  void TearDown() override {
    EXPECT_DRIVER(cuModuleUnload(module_));
    DriverTest::TearDown();
  }
  CUfunction function(const char* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&found, module_, name)) << name;
    return found;
  }

  CUmodule module_ = nullptr;
};

template <class T>
class Array {
 public:
  explicit Array(const std::vector<T>& values) : size_(values.size()) {
    EXPECT_DRIVER(cuMemAlloc(&address_, bytes()));
    EXPECT_DRIVER(cuMemcpyHtoD(address_, values.data(), bytes()));
  }
  ~Array() { EXPECT_DRIVER(cuMemFree(address_)); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  CUdeviceptr* argument() { return &address_; }  // for the list of a kernel's parameters
  CUdeviceptr address() const { return address_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  std::vector<T> get() const {
    std::vector<T> values(size_);
    EXPECT_DRIVER(cuMemcpyDtoH(values.data(), address_, bytes()));
    return values;
  }

 private:
  CUdeviceptr address_ = 0;
  std::size_t size_;
};

#endif
