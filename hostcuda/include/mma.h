// hostcuda: wmma. CUDA does not say which elements of a fragment a lane holds; here a lane holds
// consecutive elements, row by row.
#pragma once

#include <cstring>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "hostcuda/ptx/matrices.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}  // namespace precision

namespace details {
template <class T>
struct stored {
  using type = T;
};
template <>
struct stored<precision::tf32> {
  using type = float;
};
template <class T>
using Stored = typename stored<T>::type;

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double,
                               std::conditional_t<std::is_same_v<T, int>, int, float>>;

constexpr int kLanes = 32;

template <class Use, int m, int n, int k>
constexpr int kRows = std::is_same_v<Use, matrix_b> ? k : m;
template <class Use, int m, int n, int k>
constexpr int kColumns = std::is_same_v<Use, matrix_a> ? k : n;
}  // namespace details

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  using element_type = T;
  using storage_element_type = details::Stored<T>;
  static constexpr int kRows = details::kRows<Use, m, n, k>;
  static constexpr int kColumns = details::kColumns<Use, m, n, k>;
  static constexpr int num_elements = kRows * kColumns / details::kLanes;
  static constexpr int num_storage_elements = num_elements;
  static constexpr bool kHasLayout = !std::is_void_v<Layout>;
  storage_element_type x[num_elements];
};

inline float __float_to_tf32(float value) { return hostcuda::tf32_value(value); }

template <class Use, int m, int n, int k, class T, class Layout>
void fill_fragment(fragment<Use, m, n, k, T, Layout>& of, const details::Stored<T>& value) {
  for (auto& element : of.x) element = value;
}

namespace details {
// Calls visit(element of the fragment, offset in memory) for each element of this lane.
template <class Fragment, class Visit>
void each_element(Fragment& of, unsigned stride, bool by_rows, const Visit& visit) {
  for (int i = 0; i < Fragment::num_elements; ++i) {
    const unsigned at = static_cast<unsigned>(hostcuda::lane() * Fragment::num_elements + i);
    const unsigned row = at / Fragment::kColumns, column = at % Fragment::kColumns;
    visit(of.x[i], by_rows ? row * stride + column : column * stride + row);
  }
}
}  // namespace details

template <class Use, int m, int n, int k, class T, class Layout>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& to, const details::Stored<T>* from,
                      unsigned stride, HOSTCUDA_HERE) {
  static_assert(!std::is_void_v<Layout>, "an accumulator is loaded with its layout");
  __syncwarp(0xffffffffu, file, line);
  details::each_element(to, stride, std::is_same_v<Layout, row_major>,
                        [&](auto& element, unsigned at) { element = from[at]; });
}
template <int m, int n, int k, class T>
void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const T* from, unsigned stride,
                      layout_t layout, HOSTCUDA_HERE) {
  __syncwarp(0xffffffffu, file, line);
  details::each_element(to, stride, layout == mem_row_major,
                        [&](auto& element, unsigned at) { element = from[at]; });
}
template <int m, int n, int k, class T>
void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& from, unsigned stride,
                       layout_t layout, HOSTCUDA_HERE) {
  details::each_element(from, stride, layout == mem_row_major,
                        [&](const auto& element, unsigned at) { to[at] = element; });
  __syncwarp(0xffffffffu, file, line);
}

// D = A B + C. Each lane gets the elements of all lanes, and computes its own elements of D.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
void mma_sync(fragment<accumulator, m, n, k, D>& d,
              const fragment<matrix_a, m, n, k, T, LayoutA>& a,
              const fragment<matrix_b, m, n, k, T, LayoutB>& b,
              const fragment<accumulator, m, n, k, C>& c, HOSTCUDA_HERE) {
  using Element = details::Stored<T>;
  constexpr int kPerLaneA = m * k / details::kLanes, kPerLaneB = k * n / details::kLanes;
  struct OfA {
    Element x[kPerLaneA];
  };
  struct OfB {
    Element x[kPerLaneB];
  };
  OfA own_a;
  OfB own_b;
  std::memcpy(own_a.x, a.x, sizeof own_a);
  std::memcpy(own_b.x, b.x, sizeof own_b);
  const auto all_a = hostcuda::gather(0xffffffffu, own_a, file, line);
  const auto all_b = hostcuda::gather(0xffffffffu, own_b, file, line);
  constexpr int kPerLane = m * n / details::kLanes;
  for (int i = 0; i < kPerLane; ++i) {
    const int at = hostcuda::lane() * kPerLane + i, row = at / n, column = at % n;
    auto sum = static_cast<details::Sum<C>>(c.x[i]);
    for (int l = 0; l < k; ++l) {
      const int in_a = row * k + l, in_b = l * n + column;
      sum += static_cast<details::Sum<C>>(all_a.of_lane[in_a / kPerLaneA].x[in_a % kPerLaneA]) *
             static_cast<details::Sum<C>>(all_b.of_lane[in_b / kPerLaneB].x[in_b % kPerLaneB]);
    }
    d.x[i] = static_cast<D>(sum);
  }
}

}  // namespace wmma
}  // namespace nvcuda
