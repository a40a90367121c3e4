// What a word of memory remembers of the accesses to it.
#ifndef HOSTCUDA_TRACE_RACES_CELL_H
#define HOSTCUDA_TRACE_RACES_CELL_H

#include <cstdint>

namespace hostcuda::trace {

// Small: there are three for every four bytes of memory.
struct Access {
  std::uint32_t epoch = 0;  // when: Epochs; 0: there was none
  std::uint32_t thread : 10 = 0;
  std::uint32_t bytes : 4 = 0;  // of the word, as a mask
  std::uint32_t is_atomic : 1 = 0;
  std::uint32_t is_volatile : 1 = 0;
  std::uint32_t site : 16 = 0;
};
static_assert(sizeof(Access) == 8);

// The last write, and the last readers: two, so that one is not the writer itself.
struct Cell {
  Access write;
  Access reads[2];
};

}  // namespace hostcuda::trace

#endif
