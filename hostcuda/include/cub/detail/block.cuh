// hostcuda: helpers shared by CUB's block-wide primitives.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "../../cuda_runtime.h"
#include "../util_type.cuh"

namespace cub {
namespace detail {

// An array in shared memory; no constructor initialises its elements.
template <class T, int kCount>
struct storage {
  alignas(T) unsigned char bytes[kCount * sizeof(T)];
  T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

// Index of the running thread. X * Y * Z is the block size for which the primitive was compiled.
template <int X, int Y, int Z>
int linear_thread(const char* primitive) {
  if (hostcuda::block_size() != X * Y * Z) hostcuda::refuse_block_size(primitive, X * Y * Z);
  return static_cast<int>(hostcuda::rank_in_block());
}

// The memory of a Primitive that is constructed without TempStorage. `shared` and its registration
// are what the launcher makes of a __shared__ variable (hostcuda/launch.h).
template <class TempStorage, class Primitive>
TempStorage& private_storage() {
  static thread_local __attribute__((aligned(64))) TempStorage shared;
  static thread_local unsigned seen;
  hostcuda::register_shared(seen, shared, "CUB's TempStorage");
  return shared;
}

// Returns NaN, or a conspicuous number, for a value that CUB leaves unspecified.
template <class T>
T unspecified(const T& any) {
  T value = any;
  if constexpr (std::is_trivially_copyable_v<T>)
    std::memset(static_cast<void*>(&value), 0xff, sizeof value);
  return value;
}

template <class T, int N, class Operation>
T reduced(T (&items)[N], Operation operation) {
  T result = items[0];
  for (int i = 1; i < N; ++i) result = operation(result, items[i]);
  return result;
}

}  // namespace detail
}  // namespace cub
