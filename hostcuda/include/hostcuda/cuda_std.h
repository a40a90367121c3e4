// hostcuda: the namespace cuda::std of libcu++, which contains the standard library's names.
#pragma once

#include <cstddef>

namespace cuda::std {
using namespace ::std;
}
