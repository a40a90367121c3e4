// hostcuda: Thrust's pairs are the standard library's.
#pragma once

#include <utility>

namespace thrust {
using std::make_pair;
using std::pair;
using std::swap;
}  // namespace thrust
