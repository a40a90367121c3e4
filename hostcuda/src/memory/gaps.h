// Released ranges of addresses, which later allocations use again.
#ifndef HOSTCUDA_SRC_MEMORY_GAPS_H
#define HOSTCUDA_SRC_MEMORY_GAPS_H

#include <cstddef>
#include <map>

namespace hostcuda {

class Gaps {
 public:
  void add(char* begin, std::size_t size);  // joins the gap with its neighbours

  // Takes a block out of the first gap that is large enough, or returns null. `aligned` returns the
  // first address, at or after the beginning of a gap, at which the block may begin.
  template <class Aligned>
  char* take(std::size_t size, const Aligned& aligned) {
    for (const auto& [begin, length] : gaps_) {
      char* const block = aligned(begin);
      const auto skipped = static_cast<std::size_t>(block - begin);
      if (skipped + size > length) continue;
      const std::size_t rest = length - skipped - size;
      char* const from = begin;  // the erased element's key
      gaps_.erase(from);
      if (skipped) gaps_[from] = skipped;
      if (rest) gaps_[block + size] = rest;
      return block;
    }
    return nullptr;
  }

 private:
  std::map<char*, std::size_t> gaps_;
};

}  // namespace hostcuda

#endif
