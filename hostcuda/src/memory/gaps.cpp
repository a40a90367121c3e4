#include "memory/gaps.h"

#include <iterator>

namespace hostcuda {

void Gaps::add(char* begin, std::size_t size) {
  auto next = gaps_.lower_bound(begin);
  if (next != gaps_.end() && next->first == begin + size) {
    size += next->second;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin())
    if (const auto before = std::prev(next); before->first + before->second == begin) {
      before->second += size;
      return;
    }
  gaps_[begin] = size;
}

}  // namespace hostcuda
