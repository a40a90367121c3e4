// hostcuda: Thrust's pairs, which here are those of the standard library.
#pragma once

#include <utility>

namespace thrust {
using std::make_pair;
using std::pair;
using std::swap;
}  // namespace thrust
