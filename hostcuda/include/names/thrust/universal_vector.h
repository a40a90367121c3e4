// hostcuda: thrust::universal_vector.
#pragma once

#include "thrust/detail/vector.h"

namespace thrust {
template <class T, class Allocator = void>
using universal_vector = detail::vector<T, detail::universal_memory>;
}
