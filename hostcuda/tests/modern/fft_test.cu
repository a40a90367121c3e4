// Tests cuFFT's extended interface: callbacks, 64-bit sizes, and several devices.
#include <cufftXt.h>

#include <cmath>

#include "support.h"

namespace {

constexpr int kSize = 12;

std::vector<cufftComplex> wave(int frequency) {
  std::vector<cufftComplex> values(kSize);
  for (int i = 0; i < kSize; ++i) {
    const double angle = 2 * M_PI * frequency * i / kSize;
    values[i] = {static_cast<float>(cos(angle)), static_cast<float>(sin(angle))};
  }
  return values;
}

void expect_peak(const std::vector<cufftComplex>& got, int frequency, float height) {
  for (int i = 0; i < kSize; ++i) {
    EXPECT_NEAR(i == frequency ? height : 0, got[i].x, 1e-4) << i;
    EXPECT_NEAR(0, got[i].y, 1e-4) << i;
  }
}

TEST(FftXt, LongSizes) {
  DeviceArray<cufftComplex> data(kSize);
  data.set(wave(5));
  cufftHandle plan;
  long long n = kSize;
  std::size_t work = 1;
  ASSERT_EQ(CUFFT_SUCCESS, cufftCreate(&plan));
  EXPECT_EQ(CUFFT_INVALID_TYPE, cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, 1, CUDA_R_32F, nullptr,
                                                    1, 1, CUDA_R_32F, 1, &work, CUDA_C_32F));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, 1, CUDA_C_32F, nullptr, 1,
                                               1, CUDA_C_32F, 1, &work, CUDA_C_32F));
  EXPECT_EQ(0u, work);
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtExec(plan, data, data, CUFFT_FORWARD));
  expect_peak(data.get(), 5, kSize);
  EXPECT_EQ(CUFFT_SUCCESS, cufftDestroy(plan));
}

struct Scales {
  float in, out;
};
__device__ cufftComplex load_scaled(void* in, std::size_t offset, void* caller, void*) {
  const cufftComplex value = static_cast<cufftComplex*>(in)[offset];
  const float scale = static_cast<Scales*>(caller)->in;
  return {value.x * scale, value.y * scale};
}
__device__ void store_scaled(void* out, std::size_t offset, cufftComplex value, void* caller,
                             void*) {
  const float scale = static_cast<Scales*>(caller)->out;
  static_cast<cufftComplex*>(out)[offset] = {value.x * scale, value.y * scale};
}
__device__ cufftCallbackLoadC load_pointer = load_scaled;
__device__ cufftCallbackStoreC store_pointer = store_scaled;

TEST(FftXt, Callbacks) {
  DeviceArray<cufftComplex> data(kSize);
  data.set(wave(3));
  DeviceArray<Scales> scales(1);
  scales.set({{2, 10}});
  cufftCallbackLoadC load;
  cufftCallbackStoreC store;
  EXPECT_CUDA(cudaMemcpyFromSymbol(&load, load_pointer, sizeof load));
  EXPECT_CUDA(cudaMemcpyFromSymbol(&store, store_pointer, sizeof store));
  cufftHandle plan;
  ASSERT_EQ(CUFFT_SUCCESS, cufftPlan1d(&plan, kSize, CUFFT_C2C, 1));
  void *caller = static_cast<Scales*>(scales), *function = reinterpret_cast<void*>(load);
  EXPECT_EQ(CUFFT_INVALID_VALUE, cufftXtSetCallback(plan, &function, CUFFT_CB_LD_REAL, &caller));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtSetCallback(plan, &function, CUFFT_CB_LD_COMPLEX, &caller));
  function = reinterpret_cast<void*>(store);
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtSetCallback(plan, &function, CUFFT_CB_ST_COMPLEX, &caller));
  EXPECT_EQ(CUFFT_SUCCESS, cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  expect_peak(data.get(), 3, kSize * 2 * 10);
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtClearCallback(plan, CUFFT_CB_LD_COMPLEX));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtClearCallback(plan, CUFFT_CB_ST_COMPLEX));
  data.set(wave(3));
  EXPECT_EQ(CUFFT_SUCCESS, cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  expect_peak(data.get(), 3, kSize);
  cufftDestroy(plan);
}

TEST(FftXt, SeveralDevices) {
  const int count = device_count() > 1 ? 2 : 1;
  int devices[] = {count - 1, 0};
  cufftHandle plan;
  ASSERT_EQ(CUFFT_SUCCESS, cufftCreate(&plan));
  int missing = device_count();
  EXPECT_EQ(CUFFT_INVALID_DEVICE, cufftXtSetGPUs(plan, 1, &missing));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtSetGPUs(plan, count, devices));
  std::size_t work[2] = {1, 1};
  EXPECT_EQ(CUFFT_SUCCESS, cufftMakePlan2d(plan, 3, kSize, CUFFT_C2C, work));
  EXPECT_EQ(0u, work[count - 1]);
  cudaLibXtDesc *data = nullptr, *copy = nullptr;
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtMalloc(plan, &data, CUFFT_XT_FORMAT_INPLACE));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtMalloc(plan, &copy, CUFFT_XT_FORMAT_INPLACE));
  EXPECT_EQ(count, data->descriptor->nGPUs);
  EXPECT_EQ(devices[0], data->descriptor->GPUs[0]);
  cudaPointerAttributes attributes;
  EXPECT_CUDA(cudaPointerGetAttributes(&attributes, data->descriptor->data[0]));
  EXPECT_EQ(devices[0], attributes.device);
  std::vector<cufftComplex> host;
  for (int row = 0; row < 3; ++row)
    for (const cufftComplex& value : wave(4)) host.push_back(value);
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtMemcpy(plan, data, host.data(), CUFFT_COPY_HOST_TO_DEVICE));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtExecDescriptorC2C(plan, data, data, CUFFT_FORWARD));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtMemcpy(plan, copy, data, CUFFT_COPY_DEVICE_TO_DEVICE));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtMemcpy(plan, host.data(), copy, CUFFT_COPY_DEVICE_TO_HOST));
  expect_peak(host, 4, 3 * kSize);
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtFree(data));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtFree(copy));
  EXPECT_EQ(CUFFT_SUCCESS, cufftDestroy(plan));
}

// The results are those of cuFFT in CUDA 13.0, except that it accepts an extent of 0 in some plans
// of several dimensions, against its documentation.
TEST(Fft, WrongPlansFail) {
  const auto wrong = static_cast<cufftType>(0x11);
  cufftHandle plan;
  int n[] = {kSize};
  EXPECT_EQ(CUFFT_INVALID_TYPE, cufftPlan1d(&plan, 0, wrong, 1));
  EXPECT_EQ(CUFFT_INVALID_TYPE, cufftPlan2d(&plan, kSize, 2, wrong));
  EXPECT_EQ(CUFFT_INVALID_TYPE, cufftPlan3d(&plan, kSize, 2, 2, wrong));
  const auto many = [&](int rank, int* embed, int stride, cufftType type, int batch) {
    return cufftPlanMany(&plan, rank, n, embed, stride, kSize, n, 1, kSize, type, batch);
  };
  EXPECT_EQ(CUFFT_INVALID_TYPE, many(1, n, 1, wrong, 1));
  EXPECT_EQ(CUFFT_INVALID_VALUE, many(4, n, 1, CUFFT_C2C, 1));
  EXPECT_EQ(CUFFT_INVALID_VALUE, many(1, nullptr, 1, CUFFT_C2C, 1));
  EXPECT_EQ(CUFFT_INVALID_VALUE, many(1, n, 0, CUFFT_C2C, 1));
  EXPECT_EQ(CUFFT_INVALID_SIZE, many(1, n, 1, CUFFT_C2C, 0));
  EXPECT_EQ(CUFFT_INVALID_SIZE, cufftPlan1d(&plan, -1, CUFFT_C2C, 1));
  EXPECT_EQ(CUFFT_INVALID_SIZE, cufftPlan2d(&plan, kSize, 0, CUFFT_C2C));
  DeviceArray<cufftComplex> data(kSize);
  ASSERT_EQ(CUFFT_SUCCESS, cufftCreate(&plan));
  EXPECT_EQ(CUFFT_INVALID_PLAN, cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  EXPECT_EQ(CUFFT_SUCCESS, cufftMakePlan1d(plan, kSize, CUFFT_C2C, 1, nullptr));
  EXPECT_EQ(CUFFT_INVALID_PLAN, cufftMakePlan1d(plan, kSize, CUFFT_C2C, 1, nullptr));
  EXPECT_EQ(CUFFT_INVALID_VALUE, cufftExecC2C(plan, data, data, 0));
  EXPECT_EQ(CUFFT_SUCCESS, cufftDestroy(plan));
}

std::size_t free_bytes(int device) {
  std::size_t free = 0, total = 0;
  EXPECT_CUDA(cudaSetDevice(device));
  EXPECT_CUDA(cudaMemGetInfo(&free, &total));
  EXPECT_CUDA(cudaSetDevice(0));
  return free;
}

TEST(FftXt, AFailedAllocationKeepsNoMemory) {
  if (device_count() < 2) GTEST_SKIP() << "needs two devices";
  int devices[] = {1, 0};
  cufftHandle plan;
  std::size_t work[2];
  ASSERT_EQ(CUFFT_SUCCESS, cufftCreate(&plan));
  EXPECT_EQ(CUFFT_SUCCESS, cufftXtSetGPUs(plan, 2, devices));
  EXPECT_EQ(CUFFT_SUCCESS, cufftMakePlan2d(plan, 4, kSize, CUFFT_C2C, work));
  const std::size_t before = free_bytes(1);
  DeviceArray<char> everything(free_bytes(0));
  cudaLibXtDesc* data = nullptr;
  EXPECT_EQ(CUFFT_ALLOC_FAILED, cufftXtMalloc(plan, &data, CUFFT_XT_FORMAT_INPLACE));
  EXPECT_EQ(nullptr, data);
  EXPECT_EQ(before, free_bytes(1));
  cudaGetLastError();
  EXPECT_EQ(CUFFT_SUCCESS, cufftDestroy(plan));
}

}  // namespace
