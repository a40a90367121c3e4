// hostcuda: thrust::device_vector.
#pragma once

#include "detail/vector.h"

namespace thrust {
template <class T, class Allocator = void>
using device_vector = detail::vector<T, detail::device_memory>;
}
