// hostcuda: cg::inclusive_scan and cg::exclusive_scan, for tiles and coalesced groups.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

namespace details {
template <class Group, class T, class Operation>
T scan(const Group& group, T value, const Operation& operation, bool with_own, const char* file,
       int line) {
  if constexpr (kIsLarge<Group>) {
    return group.scan(value, operation, with_own, file, line);
  } else {
    const unsigned mask = group.lanes();
    const auto all = hostcuda::gather(mask, value, file, line);
    const unsigned own = 1u << lane(), before = mask & (with_own ? own | (own - 1) : own - 1);
    return before ? hostcuda::fold(all, before, operation) : T{};
  }
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
