// hostcuda: libcu++'s namespace cuda::std offers the standard library's names.
#pragma once

#include <cstddef>

namespace cuda::std {
using namespace ::std;
}
