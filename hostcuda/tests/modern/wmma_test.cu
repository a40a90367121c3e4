// Tests wmma: each shape with its types, and both layouts.
#include <mma.h>

#include "support.h"

namespace {

namespace wmma = nvcuda::wmma;

// C = 2 (A B + 1), where A is stored by rows and B by columns.
template <int m, int n, int k, class T, class Sum>
__global__ void product(const T* a, const T* b, Sum* c) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, wmma::row_major> of_a;
  wmma::fragment<wmma::matrix_b, m, n, k, T, wmma::col_major> of_b;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> of_c;
  wmma::fill_fragment(of_c, Sum(1));
  wmma::load_matrix_sync(of_a, a, k);
  wmma::load_matrix_sync(of_b, b, k);
  wmma::mma_sync(of_c, of_a, of_b, of_c);
  for (int i = 0; i < of_c.num_elements; ++i) of_c.x[i] = Sum(2) * of_c.x[i];
  wmma::store_matrix_sync(c, of_c, n, wmma::mem_row_major);
}

template <int m, int n, int k, class T, class Sum>
void check() {
  std::vector<T> of_a, of_b;
  for (int i = 0; i < m * k; ++i) of_a.push_back(T(i % 7));
  for (int i = 0; i < n * k; ++i) of_b.push_back(T(i % 5));
  DeviceArray<T> a(of_a.size()), b(of_b.size());
  a.set(of_a);
  b.set(of_b);
  DeviceArray<Sum> c(m * n);
  product<m, n, k><<<1, 32>>>(static_cast<T*>(a), static_cast<T*>(b), static_cast<Sum*>(c));
  const std::vector<Sum> got = c.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 1;
      for (int l = 0; l < k; ++l) sum += (i * k + l) % 7 * ((j * k + l) % 5);
      ASSERT_EQ(2.0f * sum, static_cast<float>(got[i * n + j])) << i << " " << j;
    }
}

TEST(Wmma, MultipliesMatrices) {
  check<16, 16, 16, half, float>();
  check<32, 8, 16, half, float>();
  check<8, 32, 16, half, half>();
  check<16, 16, 16, __nv_bfloat16, float>();
  check<16, 16, 16, signed char, int>();
  check<8, 8, 4, double, double>();
}

}  // namespace
