// hostcuda: Thrust's tuples are the standard library's.
#ifndef HOSTCUDA_THRUST_TUPLE_H
#define HOSTCUDA_THRUST_TUPLE_H

#include <tuple>

#include "pair.h"

namespace thrust {
using std::get;
using std::ignore;
using std::make_tuple;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
}  // namespace thrust

#endif
