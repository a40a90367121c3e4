// Tests cuFFT against sums of sines and cosines, cuSPARSE against dense products, and the memory
// nodes of graphs.
#include <cufft.h>
#include <cusparse.h>

#include <cmath>
#include <complex>

#include "support.h"

namespace {

using Complex = std::complex<double>;

Complex transform_at(const std::vector<Complex>& values, int k) {
  Complex sum = 0;
  const auto n = static_cast<double>(values.size());
  for (std::size_t j = 0; j < values.size(); ++j)
    sum += values[j] * std::polar(1.0, -2 * M_PI * k * static_cast<double>(j) / n);
  return sum;
}

TEST(Fft, ComplexNumbersInBatches) {
  for (const int n : {1, 8, 30, 101}) {
    constexpr int kBatch = 2;
    std::vector<cufftComplex> values(n * kBatch);
    for (int i = 0; i < n * kBatch; ++i) values[i] = {float(i % 7), float(i % 3)};
    DeviceArray<cufftComplex> data(values.size());
    data.set(values);
    cufftHandle plan;
    ASSERT_EQ(CUFFT_SUCCESS, cufftPlan1d(&plan, n, CUFFT_C2C, kBatch));
    ASSERT_EQ(CUFFT_SUCCESS, cufftExecC2C(plan, data, data, CUFFT_FORWARD));
    const std::vector<cufftComplex> got = data.get();
    for (int batch = 0; batch < kBatch; ++batch) {
      std::vector<Complex> part;
      for (int i = 0; i < n; ++i)
        part.emplace_back(values[batch * n + i].x, values[batch * n + i].y);
      for (int k = 0; k < n; ++k) {
        const Complex sum = transform_at(part, k);
        EXPECT_NEAR(sum.real(), got[batch * n + k].x, 1e-3);
        EXPECT_NEAR(sum.imag(), got[batch * n + k].y, 1e-3);
      }
    }
    EXPECT_EQ(CUFFT_SUCCESS, cufftDestroy(plan));
    EXPECT_EQ(CUFFT_INVALID_PLAN, cufftDestroy(plan));
  }
}

TEST(Fft, RealNumbersThereAndBack) {
  constexpr int kRows = 6, kColumns = 9, kHalf = kColumns / 2 + 1;
  std::vector<float> values(kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) values[i] = float(i * i % 11);
  DeviceArray<float> data(values.size());
  DeviceArray<cufftComplex> spectrum(kRows * kHalf);
  data.set(values);
  const Stream stream;
  cufftHandle forward, back;
  ASSERT_EQ(CUFFT_SUCCESS, cufftPlan2d(&forward, kRows, kColumns, CUFFT_R2C));
  ASSERT_EQ(CUFFT_SUCCESS, cufftPlan2d(&back, kRows, kColumns, CUFFT_C2R));
  EXPECT_EQ(CUFFT_SUCCESS, cufftSetStream(forward, stream));
  EXPECT_EQ(CUFFT_SUCCESS, cufftSetStream(back, stream));
  EXPECT_EQ(CUFFT_SUCCESS, cufftExecR2C(forward, data, spectrum));
  EXPECT_EQ(CUFFT_INVALID_TYPE, cufftExecC2R(forward, spectrum, data));
  EXPECT_EQ(CUFFT_SUCCESS, cufftExecC2R(back, spectrum, data));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  float total = 0;
  for (const float value : values) total += value;
  EXPECT_NEAR(total, spectrum.get()[0].x, 1e-3);
  const std::vector<float> got = data.get();
  for (int i = 0; i < kRows * kColumns; ++i)
    EXPECT_NEAR(values[i], got[i] / (kRows * kColumns), 1e-4);
  cufftDestroy(forward);
  cufftDestroy(back);
}

// The matrix 1 0 2 0 | 0 3 0 0 | 4 0 0 5, in CSR.
struct Csr {
  Csr() {
    offsets.set({0, 2, 3, 5});
    columns.set({0, 2, 1, 0, 3});
    values.set({1, 2, 3, 4, 5});
    EXPECT_EQ(CUSPARSE_STATUS_SUCCESS, cusparseCreate(&handle));
    EXPECT_EQ(CUSPARSE_STATUS_SUCCESS,
              cusparseCreateCsr(&matrix, 3, 4, 5, offsets, columns, values, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  }
  ~Csr() {
    cusparseDestroySpMat(matrix);
    cusparseDestroy(handle);
  }
  DeviceArray<int> offsets{4}, columns{5};
  DeviceArray<float> values{5};
  cusparseHandle_t handle;
  cusparseSpMatDescr_t matrix;
};

TEST(Sparse, MatrixTimesVector) {
  const Csr a;
  DeviceArray<float> x(4), y(3, 10.0f);
  x.set({1, 2, 3, 4});
  cusparseDnVecDescr_t in, out;
  cusparseCreateDnVec(&in, 4, x, CUDA_R_32F);
  cusparseCreateDnVec(&out, 3, y, CUDA_R_32F);
  const float alpha = 2, beta = 1;
  const auto multiply = [&](cusparseOperation_t operation, cusparseDnVecDescr_t from,
                            cusparseDnVecDescr_t to) {
    return cusparseSpMV(a.handle, operation, &alpha, a.matrix, from, &beta, to, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  };
  EXPECT_EQ(CUSPARSE_STATUS_SUCCESS, multiply(CUSPARSE_OPERATION_NON_TRANSPOSE, in, out));
  EXPECT_EQ((std::vector<float>{24, 22, 58}), y.get());
  EXPECT_EQ(CUSPARSE_STATUS_INVALID_VALUE, multiply(CUSPARSE_OPERATION_TRANSPOSE, in, out));
  EXPECT_EQ(CUSPARSE_STATUS_SUCCESS, multiply(CUSPARSE_OPERATION_TRANSPOSE, out, in));
  EXPECT_EQ((std::vector<float>{513, 134, 99, 584}), x.get());
  cusparseDestroyDnVec(in);
  cusparseDestroyDnVec(out);
}

TEST(Sparse, MatrixTimesMatrix) {
  const Csr a;
  DeviceArray<float> b(8), c(6, NAN);
  b.set({1, 2, 3, 4, 5, 6, 7, 8});  // 4 x 2 by rows
  cusparseDnMatDescr_t in, out;
  cusparseCreateDnMat(&in, 4, 2, 2, b, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  cusparseCreateDnMat(&out, 3, 2, 3, c, CUDA_R_32F, CUSPARSE_ORDER_COL);
  const float alpha = 1, beta = 0;
  EXPECT_EQ(CUSPARSE_STATUS_SUCCESS,
            cusparseSpMM(a.handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                         CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a.matrix, in, &beta, out,
                         CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
  EXPECT_EQ((std::vector<float>{11, 9, 39, 14, 12, 48}), c.get());
  cusparseDestroyDnMat(in);
  cusparseDestroyDnMat(out);
}

__global__ void write_all(int* memory, int value) { memory[threadIdx.x] = value; }
__global__ void add_to(int* sums, const int* memory) { sums[threadIdx.x] += memory[threadIdx.x]; }

TEST(GraphMemory, BelongsToTheGraph) {
  DeviceArray<int> sums(32, 0);
  cudaGraph_t graph;
  EXPECT_CUDA(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams wanted = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  wanted.bytesize = 32 * sizeof(int);
  cudaGraphNode_t allocation, writer, reader, release;
  EXPECT_CUDA(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &wanted));
  auto* memory = static_cast<int*>(wanted.dptr);
  int value = 3, *sum = sums;
  void *of_writer[] = {&memory, &value}, *of_reader[] = {&sum, &memory};
  cudaKernelNodeParams kernel = {};
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(32);
  kernel.func = (void*)write_all;
  kernel.kernelParams = of_writer;
  EXPECT_CUDA(cudaGraphAddKernelNode(&writer, graph, &allocation, 1, &kernel));
  kernel.func = (void*)add_to;
  kernel.kernelParams = of_reader;
  EXPECT_CUDA(cudaGraphAddKernelNode(&reader, graph, &writer, 1, &kernel));
  EXPECT_CUDA(cudaGraphAddMemFreeNode(&release, graph, &reader, 1, memory));
  cudaGraphNodeType type;
  EXPECT_CUDA(cudaGraphNodeGetType(allocation, &type));
  EXPECT_EQ(cudaGraphNodeTypeMemAlloc, type);
  cudaGraphExec_t exec;
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_CUDA(cudaGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) EXPECT_CUDA(cudaGraphLaunch(exec, nullptr));
  EXPECT_EQ(std::vector<int>(32, 6), sums.get());
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, memory);
  EXPECT_NE(cudaMemoryTypeDevice, attributes.type);
}

}  // namespace
