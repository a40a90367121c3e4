// hostcuda: asynchronous copies that a group starts. The copies take place when the group waits for
// them.
#pragma once

#include "../cooperative_groups.h"
#include "../cuda/barrier"

namespace cooperative_groups {

// `bytes` may be an integer or a cuda::aligned_size_t.
template <class Group, class T, class Size>
void memcpy_async(const Group& group, T* to, const T* from, Size bytes) {
  cuda::details::copy_by(group, to, from, bytes);
  hostcuda::async_copies::commit();
}
template <class Group, class T, class From>
void memcpy_async(const Group& group, T* to, std::size_t elements, const From* from,
                  std::size_t available) {
  const std::size_t both = elements < available ? elements : available;
  memcpy_async(group, to, from, both * sizeof(T));
}
template <class Group>
void wait(const Group& group, HOSTCUDA_HERE) {
  hostcuda::async_copies::wait_all();
  group.sync(file, line);
}
template <unsigned kLeft, class Group>
void wait_prior(const Group& group, HOSTCUDA_HERE) {
  hostcuda::async_copies::wait(kLeft);
  group.sync(file, line);
}

}  // namespace cooperative_groups
