// hostcuda: thrust::universal_vector.
#ifndef HOSTCUDA_THRUST_UNIVERSAL_VECTOR_H
#define HOSTCUDA_THRUST_UNIVERSAL_VECTOR_H

#include "thrust/detail/vector.h"

namespace thrust {
template <class T, class Allocator = void>
using universal_vector = detail::vector<T, detail::universal_memory>;
}

#endif
