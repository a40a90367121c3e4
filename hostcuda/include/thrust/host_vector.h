// hostcuda: thrust::host_vector.
#pragma once

#include "detail/vector.h"

namespace thrust {
template <class T, class Allocator = void>
using host_vector = detail::vector<T, detail::host_memory>;
}
