// hostcuda: the namespace cuda::std of libcu++, which contains the standard library's names.
#pragma once

#include <cstddef>
#if defined HOSTCUDA_SEMANTICS && __cplusplus < 202002L
#include "semantics/std.h"
#endif

namespace cuda::std {
using namespace ::std;
}
