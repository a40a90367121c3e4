// hostcuda: thrust::device_vector.
#ifndef HOSTCUDA_THRUST_DEVICE_VECTOR_H
#define HOSTCUDA_THRUST_DEVICE_VECTOR_H

#include "detail/vector.h"

namespace thrust {
template <class T, class Allocator = void>
using device_vector = detail::vector<T, detail::device_memory>;
}

#endif
