// cuBLAS's products of matrices whose types differ from the type in which they are computed. The
// matrices are converted, and OpenBLAS multiplies them as float or double.
#include <cuda_bf16.h>

#include <cstdint>
#include <vector>

#include "calls.h"

namespace hostcuda {
namespace {

struct Matrix {
  cudaDataType type;
  int rows, columns, ld;
};

// Calls use(pointer to elements of the type).
template <class Pointer, class Use>
void with_type(cudaDataType type, Pointer* data, const Use& use) {
  const auto as = [&](auto element) {
    using Element =
        std::conditional_t<std::is_const_v<Pointer>, const decltype(element), decltype(element)>;
    use(static_cast<Element*>(data));
  };
  if (type == CUDA_R_16F) as(__half{});
  if (type == CUDA_R_16BF) as(__nv_bfloat16{});
  if (type == CUDA_R_32F) as(float{});
  if (type == CUDA_R_64F) as(double{});
  if (type == CUDA_R_8I) as(std::int8_t{});
  if (type == CUDA_R_32I) as(std::int32_t{});
}

// A scalar of any type, in host or device memory.
class AnyScalar {
 public:
  AnyScalar(cublasHandle_t handle, cudaDataType type, const void* pointer)
      : pointer_(pointer),
        type_(type),
        is_device_(handle && handle->mode == CUBLAS_POINTER_MODE_DEVICE) {
    if (pointer && !is_device_) value_ = load();
  }
  double get() const { return is_device_ ? load() : value_; }

 private:
  double load() const {
    double value = 0;
    with_type(type_, pointer_, [&](auto* from) {
      if constexpr (sizeof *from == 2)
        value = static_cast<float>(*from);
      else
        value = static_cast<double>(*from);
    });
    return value;
  }
  const void* pointer_;
  cudaDataType type_;
  bool is_device_;
  double value_ = 0;
};

template <class Real>
std::vector<Real> converted(const Matrix& matrix, const void* data) {
  std::vector<Real> all(static_cast<std::size_t>(matrix.rows) * matrix.columns);
  with_type(matrix.type, data, [&](auto* from) {
    for (std::ptrdiff_t j = 0; j < matrix.columns; ++j)
      for (std::ptrdiff_t i = 0; i < matrix.rows; ++i) {
        if constexpr (sizeof *from == 2)
          all[i + j * matrix.rows] = static_cast<float>(from[i + j * matrix.ld]);
        else
          all[i + j * matrix.rows] = static_cast<Real>(from[i + j * matrix.ld]);
      }
  });
  return all;
}

template <class Real>
void convert_back(const Matrix& matrix, const std::vector<Real>& all, void* data) {
  with_type(matrix.type, data, [&](auto* to) {
    using Element = std::remove_pointer_t<decltype(to)>;
    for (std::ptrdiff_t j = 0; j < matrix.columns; ++j)
      for (std::ptrdiff_t i = 0; i < matrix.rows; ++i) {
        const Real value = all[i + j * matrix.rows];
        // Sums of integers wrap around.
        if constexpr (std::is_integral_v<Element>)
          to[i + j * matrix.ld] = static_cast<Element>(static_cast<std::int64_t>(value));
        else
          to[i + j * matrix.ld] = static_cast<Element>(value);
      }
  });
}

void multiply(CBLAS_TRANSPOSE of_a, CBLAS_TRANSPOSE of_b, int k, double alpha,
              const std::vector<float>& a, int lda, const std::vector<float>& b, int ldb,
              double beta, std::vector<float>& c, const Matrix& to) {
  cblas_sgemm(CblasColMajor, of_a, of_b, to.rows, to.columns, k, static_cast<float>(alpha),
              a.data(), lda, b.data(), ldb, static_cast<float>(beta), c.data(), to.rows);
}
void multiply(CBLAS_TRANSPOSE of_a, CBLAS_TRANSPOSE of_b, int k, double alpha,
              const std::vector<double>& a, int lda, const std::vector<double>& b, int ldb,
              double beta, std::vector<double>& c, const Matrix& to) {
  cblas_dgemm(CblasColMajor, of_a, of_b, to.rows, to.columns, k, alpha, a.data(), lda, b.data(),
              ldb, beta, c.data(), to.rows);
}

// The arguments that do not depend on the batch.
struct Product {
  cublasOperation_t operation_a, operation_b;
  int k;
  Matrix a, b, c;
  cublasComputeType_t compute;

  bool in_double() const {
    return compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC || of_integers();
  }
  bool of_integers() const {
    return compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC;
  }
  cudaDataType scalars() const {
    if (of_integers()) return CUDA_R_32I;
    if (in_double()) return CUDA_R_64F;
    return compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC ? CUDA_R_16F
                                                                                   : CUDA_R_32F;
  }
  bool is_supported() const {
    if (a.type != b.type) return false;
    switch (compute) {
      case CUBLAS_COMPUTE_16F:
      case CUBLAS_COMPUTE_16F_PEDANTIC:
        return a.type == CUDA_R_16F && c.type == CUDA_R_16F;
      case CUBLAS_COMPUTE_32I:
      case CUBLAS_COMPUTE_32I_PEDANTIC:
        // Bytes are loaded in groups of four.
        return a.type == CUDA_R_8I && c.type == CUDA_R_32I && a.ld % 4 == 0 && b.ld % 4 == 0;
      case CUBLAS_COMPUTE_64F:
      case CUBLAS_COMPUTE_64F_PEDANTIC:
        return a.type == CUDA_R_64F && c.type == CUDA_R_64F;
      case CUBLAS_COMPUTE_32F:
      case CUBLAS_COMPUTE_32F_PEDANTIC:
        if (a.type == CUDA_R_16F || a.type == CUDA_R_16BF)
          return c.type == a.type || c.type == CUDA_R_32F;
        return (a.type == CUDA_R_32F || a.type == CUDA_R_8I) && c.type == CUDA_R_32F;
      default:  // the fast variants
        return a.type == CUDA_R_32F && c.type == CUDA_R_32F;
    }
  }
  template <class Real>
  void run_as(double alpha, double beta, const void* from_a, const void* from_b, void* to) const {
    const std::vector<Real> of_a = converted<Real>(a, from_a), of_b = converted<Real>(b, from_b);
    // Where beta is 0, C is not read.
    std::vector<Real> sum =
        beta == 0 ? std::vector<Real>(std::size_t(c.rows) * c.columns) : converted<Real>(c, to);
    if (c.rows > 0 && c.columns > 0)
      multiply(transposed(operation_a), transposed(operation_b), k, alpha, of_a,
               std::max(1, a.rows), of_b, std::max(1, b.rows), beta, sum, c);
    convert_back(c, sum, to);
  }
  void run(double alpha, double beta, const void* from_a, const void* from_b, void* to) const {
    in_double() ? run_as<double>(alpha, beta, from_a, from_b, to)
                : run_as<float>(alpha, beta, from_a, from_b, to);
  }
};

std::size_t size_of(cudaDataType type) {
  std::size_t size = 0;
  with_type(type, static_cast<const void*>(nullptr), [&](auto* from) { size = sizeof *from; });
  return size;
}

// a(i), b(i) and c(i) return the addresses of the i-th matrices when the stream reaches the call.
template <class A, class B, class C>
cublasStatus_t multiply_all(cublasHandle_t handle, const Product& product, int count,
                            const void* alpha, const void* beta, A a, B b, C c) {
  const Matrix& to = product.c;
  if (handle &&
      is_product(product.operation_a, product.operation_b, to.rows, to.columns, product.k,
                 product.a.ld, product.b.ld, to.ld, count, alpha, beta) &&
      !product.is_supported())
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return update(handle,
                is_product(product.operation_a, product.operation_b, to.rows, to.columns, product.k,
                           product.a.ld, product.b.ld, to.ld, count, alpha, beta),
                [=, alpha = AnyScalar(handle, product.scalars(), alpha),
                 beta = AnyScalar(handle, product.scalars(), beta)] {
                  for (int i = 0; i < count; ++i)
                    product.run(alpha.get(), beta.get(), a(i), b(i), c(i));
                });
}

Product product_of(cublasOperation_t operation_a, cublasOperation_t operation_b, int m, int n,
                   int k, cudaDataType type_a, int lda, cudaDataType type_b, int ldb,
                   cudaDataType type_c, int ldc, cublasComputeType_t compute) {
  const bool plain_a = operation_a == CUBLAS_OP_N, plain_b = operation_b == CUBLAS_OP_N;
  return {operation_a,
          operation_b,
          k,
          {type_a, plain_a ? m : k, plain_a ? k : m, lda},
          {type_b, plain_b ? k : n, plain_b ? n : k, ldb},
          {type_c, m, n, ldc},
          compute};
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t operation_a,
                                          cublasOperation_t operation_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  const auto at = [](auto* first, cudaDataType type, long long stride) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(first)>>,
                                    const char, char>;
    return [=](int i) {
      return static_cast<Byte*>(first) + i * stride * static_cast<long long>(size_of(type));
    };
  };
  return multiply_all(
      handle,
      product_of(operation_a, operation_b, m, n, k, type_a, lda, type_b, ldb, type_c, ldc, compute),
      count, alpha, beta, at(a, type_a, stride_a), at(b, type_b, stride_b),
      at(c, type_c, stride_c));
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t operation_a,
                            cublasOperation_t operation_b, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, operation_a, operation_b, m, n, k, alpha, a, type_a,
                                    lda, 0, b, type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute,
                                    algorithm);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t operation_a,
                                   cublasOperation_t operation_b, int m, int n, int k,
                                   const void* alpha, const void* const a[], cudaDataType type_a,
                                   int lda, const void* const b[], cudaDataType type_b, int ldb,
                                   const void* beta, void* const c[], cudaDataType type_c, int ldc,
                                   int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
  const auto at = [](auto* pointers) { return [=](int i) { return pointers[i]; }; };
  return multiply_all(
      handle,
      product_of(operation_a, operation_b, m, n, k, type_a, lda, type_b, ldb, type_c, ldc, compute),
      count, alpha, beta, at(a), at(b), at(c));
}
