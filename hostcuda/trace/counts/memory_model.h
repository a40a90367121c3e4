// A model of a GPU's work for one memory request of a warp: sectors of global memory, wavefronts of
// shared memory. docs/inspect.md compares it with Nsight Compute's counts on an H200.
#ifndef HOSTCUDA_TRACE_MEMORY_MODEL_H
#define HOSTCUDA_TRACE_MEMORY_MODEL_H

#include <array>
#include <cstdint>

namespace hostcuda::trace {

constexpr unsigned kSectorBytes = 32;  // the unit in which global memory is fetched
constexpr unsigned kBanks = 32;        // in shared memory
constexpr unsigned kWordBytes = 4;     // per bank and wavefront, delivered to any number of lanes
constexpr unsigned kMaxAccess = 16;    // bytes that one lane can load or store at once

// One instruction's addresses, by lane, and a bit for each lane that takes part.
struct Request {
  std::array<std::uint64_t, 32> address;
  std::uint32_t active = 0;
};

// The work that a request causes, and the least work for the same number of distinct bytes.
struct Cost {
  unsigned actual;
  unsigned ideal;
};

// Sectors that the lanes touch, `bytes` bytes each.
Cost sectors(const Request& request, unsigned bytes);

// Passes through shared memory. A group of lanes is served together: a warp for up to four bytes
// per lane, half a warp for eight, a quarter for sixteen; two neighbouring groups if every lane in
// them reads the same address as its neighbour. A group takes as many passes as the number of
// distinct words in its fullest bank.
Cost wavefronts(const Request& request, unsigned bytes);

// The same for lanes that all read one aligned address. (In global memory that is one
// sector.)
Cost wavefronts_of_one_address(std::uint32_t lanes, unsigned bytes);

}  // namespace hostcuda::trace

#endif
