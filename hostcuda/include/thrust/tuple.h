// hostcuda: Thrust's tuples, which here are those of the standard library.
#pragma once

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
