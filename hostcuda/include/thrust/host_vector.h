// hostcuda: thrust::host_vector.
#ifndef HOSTCUDA_THRUST_HOST_VECTOR_H
#define HOSTCUDA_THRUST_HOST_VECTOR_H

#include "detail/vector.h"

namespace thrust {
template <class T, class Allocator = void>
using host_vector = detail::vector<T, detail::host_memory>;
}

#endif
