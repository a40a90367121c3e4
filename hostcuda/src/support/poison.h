// Fills new memory with a pattern, so that a result shows whether unwritten memory was read.
#ifndef HOSTCUDA_SRC_SUPPORT_POISON_H
#define HOSTCUDA_SRC_SUPPORT_POISON_H

#include <cstddef>
#include <cstdint>

namespace hostcuda {

// NaN as float, double, half and bfloat16, and a negative int. The payload of the NaN survives
// arithmetic, so that a NaN in a result can be traced back to unwritten memory.
constexpr std::uint32_t kPoison = 0xfff97fc5;

void fill_with_poison(void* begin, std::size_t size);
// Poisoning larger allocations would cost too much time and memory.
constexpr std::size_t kPoisonLimit = std::size_t{256} << 20;

// True if these bytes, which were copied to the host, contain more poison than the padding in
// structs and at the end of rows can explain. A NaN that results from arithmetic with poison
// counts as poison.
bool is_poisoned(const void* begin, std::size_t size);

}  // namespace hostcuda

#endif
