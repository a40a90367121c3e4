// hostcuda: libcu++: the standard library's names in cuda::std.
#pragma once

#include <cstddef>

namespace cuda::std {
using namespace ::std;
}
