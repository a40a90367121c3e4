// hostcuda: Thrust's pairs are the standard library's.
#ifndef HOSTCUDA_THRUST_PAIR_H
#define HOSTCUDA_THRUST_PAIR_H

#include <utility>

namespace thrust {
using std::make_pair;
using std::pair;
using std::swap;
}  // namespace thrust

#endif
