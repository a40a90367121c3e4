// hostcuda: cuSPARSE's products of a sparse matrix with a dense vector (SpMV) or matrix (SpMM). The
// matrix is in CSR, CSC or COO, with numbers of type float or double.
#pragma once

#include <cstdint>
#include <vector>

#include "hostcuda/launch.h"
#include "library_types.h"

#define CUSPARSEAPI  // headers of NVIDIA's samples test this macro

typedef enum {
  CUSPARSE_STATUS_SUCCESS,
  CUSPARSE_STATUS_NOT_INITIALIZED,
  CUSPARSE_STATUS_ALLOC_FAILED,
  CUSPARSE_STATUS_INVALID_VALUE,
  CUSPARSE_STATUS_ARCH_MISMATCH,
  CUSPARSE_STATUS_MAPPING_ERROR,
  CUSPARSE_STATUS_EXECUTION_FAILED,
  CUSPARSE_STATUS_INTERNAL_ERROR,
  CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
  CUSPARSE_STATUS_ZERO_PIVOT,
  CUSPARSE_STATUS_NOT_SUPPORTED,
  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
} cusparseStatus_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I } cusparseIndexType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE } cusparseIndexBase_t;
typedef enum {
  CUSPARSE_OPERATION_NON_TRANSPOSE,
  CUSPARSE_OPERATION_TRANSPOSE,
  CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
} cusparseOperation_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW } cusparseOrder_t;
typedef enum { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE } cusparsePointerMode_t;
typedef enum {
  CUSPARSE_SPMV_ALG_DEFAULT,
  CUSPARSE_SPMV_COO_ALG1,
  CUSPARSE_SPMV_CSR_ALG1,
  CUSPARSE_SPMV_CSR_ALG2,
  CUSPARSE_SPMV_COO_ALG2
} cusparseSpMVAlg_t;
typedef enum {
  CUSPARSE_SPMM_ALG_DEFAULT,
  CUSPARSE_SPMM_COO_ALG1,
  CUSPARSE_SPMM_COO_ALG2,
  CUSPARSE_SPMM_COO_ALG3,
  CUSPARSE_SPMM_CSR_ALG1,
  CUSPARSE_SPMM_COO_ALG4,
  CUSPARSE_SPMM_CSR_ALG2
} cusparseSpMMAlg_t;

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t mode = CUSPARSE_POINTER_MODE_HOST;
};
typedef cusparseContext* cusparseHandle_t;

namespace hostcuda {
namespace sparse {

enum class Format { csr, csc, coo };
struct Matrix {
  Format format;
  std::int64_t rows, columns, nonzeros;
  // In CSR, `row` says where each row begins; in CSC, `column` says where each column begins.
  const void *row, *column;
  bool wide_row, wide_column;
  std::int64_t base;
  const void* values;
  cudaDataType type;
};
struct Dense {
  std::int64_t rows, columns, leading;
  bool by_rows;
  void* values;
  cudaDataType type;
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(by_rows ? row * leading + column : column * leading + row);
  }
};

inline std::int64_t index_at(const void* indices, bool wide, std::int64_t i) {
  return wide ? static_cast<const std::int64_t*>(indices)[i]
              : static_cast<const std::int32_t*>(indices)[i];
}

// Calls visit(row, column, value) for each stored element.
template <class Real, class Visit>
void each_element(const Matrix& a, const Visit& visit) {
  const auto* values = static_cast<const Real*>(a.values);
  const auto row = [&](std::int64_t i) { return index_at(a.row, a.wide_row, i) - a.base; };
  const auto column = [&](std::int64_t i) { return index_at(a.column, a.wide_column, i) - a.base; };
  if (a.format == Format::coo)
    for (std::int64_t i = 0; i < a.nonzeros; ++i) visit(row(i), column(i), values[i]);
  if (a.format == Format::csr)
    for (std::int64_t r = 0; r < a.rows; ++r)
      for (std::int64_t i = row(r); i < row(r + 1); ++i) visit(r, column(i), values[i]);
  if (a.format == Format::csc)
    for (std::int64_t c = 0; c < a.columns; ++c)
      for (std::int64_t i = column(c); i < column(c + 1); ++i) visit(row(i), c, values[i]);
}

// C = alpha op(A) op(B) + beta C, with sums in double.
template <class Real>
void multiply(const Matrix& a, bool transposes_a, const Dense& b, bool transposes_b, const Dense& c,
              double alpha, double beta) {
  const auto* from = static_cast<const Real*>(b.values);
  auto* to = static_cast<Real*>(c.values);
  std::vector<double> sums(static_cast<std::size_t>(c.rows * c.columns));
  const auto sum = [&](std::int64_t row, std::int64_t column) -> double& {
    return sums[static_cast<std::size_t>(row * c.columns + column)];
  };
  each_element<Real>(a, [&](std::int64_t row, std::int64_t column, Real value) {
    if (transposes_a) std::swap(row, column);
    for (std::int64_t j = 0; j < c.columns; ++j)
      sum(row, j) += double{value} * from[transposes_b ? b.at(j, column) : b.at(column, j)];
  });
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.columns; ++j) {
      Real& result = to[c.at(i, j)];
      const double old = beta == 0 ? 0 : beta * result;  // beta = 0 also discards NaN
      result = static_cast<Real>(alpha * sum(i, j) + old);
    }
}

inline cusparseStatus_t enqueue(cusparseHandle_t handle, cusparseOperation_t of_a,
                                cusparseOperation_t of_b, const void* alpha, const Matrix* a,
                                const Dense* b, const void* beta, const Dense* c,
                                cudaDataType type) {
  if (!handle) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!alpha || !a || !b || !beta || !c) return CUSPARSE_STATUS_INVALID_VALUE;
  const bool is_double = type == CUDA_R_64F;
  if ((type != CUDA_R_32F && !is_double) || a->type != type || b->type != type || c->type != type)
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  const bool ta = of_a != CUSPARSE_OPERATION_NON_TRANSPOSE;
  const bool tb = of_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
  const std::int64_t inner = ta ? a->rows : a->columns, outer = ta ? a->columns : a->rows;
  if ((tb ? b->columns : b->rows) != inner || c->rows != outer ||
      (tb ? b->rows : b->columns) != c->columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  const auto number = [is_double](const void* at) {
    return is_double ? *static_cast<const double*>(at) : *static_cast<const float*>(at);
  };
  const bool on_device = handle->mode == CUSPARSE_POINTER_MODE_DEVICE;
  const double alpha_now = on_device ? 0 : number(alpha), beta_now = on_device ? 0 : number(beta);
  const auto work = [=, a = *a, b = *b, c = *c] {
    const double x = on_device ? number(alpha) : alpha_now, y = on_device ? number(beta) : beta_now;
    if (is_double)
      multiply<double>(a, ta, b, tb, c, x, y);
    else
      multiply<float>(a, ta, b, tb, c, x, y);
  };
  return enqueue_work(handle->stream, work) == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                                                           : CUSPARSE_STATUS_EXECUTION_FAILED;
}

template <class Descriptor>
cusparseStatus_t create(Descriptor** descriptor, const Descriptor& value) {
  if (!descriptor) return CUSPARSE_STATUS_INVALID_VALUE;
  *descriptor = new Descriptor(value);
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace sparse
}  // namespace hostcuda

typedef hostcuda::sparse::Matrix* cusparseSpMatDescr_t;
typedef const hostcuda::sparse::Matrix* cusparseConstSpMatDescr_t;
typedef hostcuda::sparse::Dense* cusparseDnVecDescr_t;
typedef const hostcuda::sparse::Dense* cusparseConstDnVecDescr_t;
typedef hostcuda::sparse::Dense* cusparseDnMatDescr_t;
typedef const hostcuda::sparse::Dense* cusparseConstDnMatDescr_t;

inline const char* cusparseGetErrorName(cusparseStatus_t status) {
  static const char* const kNames[] = {"CUSPARSE_STATUS_SUCCESS",
                                       "CUSPARSE_STATUS_NOT_INITIALIZED",
                                       "CUSPARSE_STATUS_ALLOC_FAILED",
                                       "CUSPARSE_STATUS_INVALID_VALUE",
                                       "CUSPARSE_STATUS_ARCH_MISMATCH",
                                       "CUSPARSE_STATUS_MAPPING_ERROR",
                                       "CUSPARSE_STATUS_EXECUTION_FAILED",
                                       "CUSPARSE_STATUS_INTERNAL_ERROR",
                                       "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                       "CUSPARSE_STATUS_ZERO_PIVOT",
                                       "CUSPARSE_STATUS_NOT_SUPPORTED",
                                       "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
  return status <= CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? kNames[status] : "unknown status";
}
inline const char* cusparseGetErrorString(cusparseStatus_t status) {
  return cusparseGetErrorName(status);
}
inline cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  return hostcuda::sparse::create(handle, cusparseContext{});
}
inline cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle,
                                               cusparsePointerMode_t mode) {
  handle->mode = mode;
  return CUSPARSE_STATUS_SUCCESS;
}

inline cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, std::int64_t rows,
                                          std::int64_t columns, std::int64_t nonzeros,
                                          void* row_offsets, void* column_indices, void* values,
                                          cusparseIndexType_t row_type,
                                          cusparseIndexType_t column_type, cusparseIndexBase_t base,
                                          cudaDataType type) {
  return hostcuda::sparse::create(
      matrix,
      {hostcuda::sparse::Format::csr, rows, columns, nonzeros, row_offsets, column_indices,
       row_type == CUSPARSE_INDEX_64I, column_type == CUSPARSE_INDEX_64I, base, values, type});
}
inline cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* matrix, std::int64_t rows,
                                          std::int64_t columns, std::int64_t nonzeros,
                                          void* column_offsets, void* row_indices, void* values,
                                          cusparseIndexType_t column_type,
                                          cusparseIndexType_t row_type, cusparseIndexBase_t base,
                                          cudaDataType type) {
  return hostcuda::sparse::create(
      matrix,
      {hostcuda::sparse::Format::csc, rows, columns, nonzeros, row_indices, column_offsets,
       row_type == CUSPARSE_INDEX_64I, column_type == CUSPARSE_INDEX_64I, base, values, type});
}
inline cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* matrix, std::int64_t rows,
                                          std::int64_t columns, std::int64_t nonzeros,
                                          void* row_indices, void* column_indices, void* values,
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                          cudaDataType type) {
  const bool wide = index_type == CUSPARSE_INDEX_64I;
  return hostcuda::sparse::create(
      matrix, {hostcuda::sparse::Format::coo, rows, columns, nonzeros, row_indices, column_indices,
               wide, wide, base, values, type});
}
inline cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, std::int64_t size,
                                            void* values, cudaDataType type) {
  return hostcuda::sparse::create(vector, {size, 1, size, false, values, type});
}
inline cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
  delete vector;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, std::int64_t rows,
                                            std::int64_t columns, std::int64_t leading,
                                            void* values, cudaDataType type,
                                            cusparseOrder_t order) {
  return hostcuda::sparse::create(
      matrix, {rows, columns, leading, order == CUSPARSE_ORDER_ROW, values, type});
}
inline cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}

// The products do not need a buffer, but programs allocate a buffer of the returned size, so the
// size is not 0.
inline cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnVecDescr_t, const void*,
                                                cusparseDnVecDescr_t, cudaDataType,
                                                cusparseSpMVAlg_t, std::size_t* size) {
  *size = 4;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t of_a,
                                     const void* alpha, cusparseConstSpMatDescr_t a,
                                     cusparseConstDnVecDescr_t x, const void* beta,
                                     cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t,
                                     void*) {
  return hostcuda::sparse::enqueue(handle, of_a, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, a, x,
                                   beta, y, type);
}
inline cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t, cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnVecDescr_t, const void*,
                                                cusparseDnVecDescr_t, cudaDataType,
                                                cusparseSpMVAlg_t, void*) {
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnMatDescr_t, const void*,
                                                cusparseDnMatDescr_t, cudaDataType,
                                                cusparseSpMMAlg_t, std::size_t* size) {
  *size = 4;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t of_a,
                                     cusparseOperation_t of_b, const void* alpha,
                                     cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                     const void* beta, cusparseDnMatDescr_t c, cudaDataType type,
                                     cusparseSpMMAlg_t, void*) {
  return hostcuda::sparse::enqueue(handle, of_a, of_b, alpha, a, b, beta, c, type);
}

// The descriptor of cuSPARSE's older functions. Its settings are kept, but no emulated function
// uses them.
typedef enum {
  CUSPARSE_MATRIX_TYPE_GENERAL,
  CUSPARSE_MATRIX_TYPE_SYMMETRIC,
  CUSPARSE_MATRIX_TYPE_HERMITIAN,
  CUSPARSE_MATRIX_TYPE_TRIANGULAR
} cusparseMatrixType_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT } cusparseDiagType_t;
struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};
typedef cusparseMatDescr* cusparseMatDescr_t;
inline cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descriptor) {
  if (!descriptor) return CUSPARSE_STATUS_INVALID_VALUE;
  *descriptor = new cusparseMatDescr;
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
#define HOSTCUDA_SETTING(Name, Type, member)                                                \
  inline cusparseStatus_t cusparseSetMat##Name(cusparseMatDescr_t descriptor, Type value) { \
    if (!descriptor) return CUSPARSE_STATUS_INVALID_VALUE;                                  \
    descriptor->member = value;                                                             \
    return CUSPARSE_STATUS_SUCCESS;                                                         \
  }                                                                                         \
  inline Type cusparseGetMat##Name(const cusparseMatDescr* descriptor) {                    \
    return descriptor->member;                                                              \
  }
HOSTCUDA_SETTING(Type, cusparseMatrixType_t, type)
HOSTCUDA_SETTING(FillMode, cusparseFillMode_t, fill)
HOSTCUDA_SETTING(DiagType, cusparseDiagType_t, diagonal)
HOSTCUDA_SETTING(IndexBase, cusparseIndexBase_t, base)
#undef HOSTCUDA_SETTING
