// hostcuda: CUB's iterators, which CUDA 13 replaced by Thrust's.
#pragma once

#include "../../thrust/iterator/counting_iterator.h"
#include "../../thrust/iterator/transform_iterator.h"

namespace cub {

enum CacheLoadModifier {
  LOAD_DEFAULT,
  LOAD_CA,
  LOAD_CG,
  LOAD_CS,
  LOAD_CV,
  LOAD_LDG,
  LOAD_VOLATILE
};

template <class T, class = std::ptrdiff_t>
using CountingInputIterator = thrust::counting_iterator<T>;
template <class T, class = std::ptrdiff_t>
using ConstantInputIterator = thrust::constant_iterator<T>;
template <class, class Function, class Iterator, class = std::ptrdiff_t>
using TransformInputIterator = thrust::transform_iterator<Function, Iterator>;
template <CacheLoadModifier, class T, class = std::ptrdiff_t>
using CacheModifiedInputIterator = const T*;

}  // namespace cub
