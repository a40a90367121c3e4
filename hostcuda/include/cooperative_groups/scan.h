// hostcuda: cg::inclusive_scan and cg::exclusive_scan, for tiles and coalesced groups.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

namespace details {
template <class Group, class T, class Operation>
T scan(const Group& group, T value, const Operation& operation, bool with_own, const char* file,
       int line) {
  const unsigned mask = group.lanes();
  const auto all = hostcuda::gather(mask, value, file, line);
  T result{};
  bool any = false;
  for (unsigned other = 0; other < lane() + with_own; ++other) {
    if (!(mask >> other & 1)) continue;
    result = any ? operation(result, all.of_lane[other]) : all.of_lane[other];
    any = true;
  }
  return result;
}
}  // namespace details

template <class Group, class T, class Operation = plus<T>>
T inclusive_scan(const Group& group, T value, const Operation& operation = {}, HOSTCUDA_HERE) {
  return details::scan(group, value, operation, true, file, line);
}
template <class Group, class T, class Operation = plus<T>>
T exclusive_scan(const Group& group, T value, const Operation& operation = {}, HOSTCUDA_HERE) {
  return details::scan(group, value, operation, false, file, line);
}

}  // namespace cooperative_groups
