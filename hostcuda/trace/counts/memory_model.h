// A model of the work that one memory request of a warp causes on a GPU: sectors of global memory
// and wavefronts of shared memory. docs/inspect.md compares the model's counts with those of Nsight
// Compute on an H200.
#ifndef HOSTCUDA_TRACE_MEMORY_MODEL_H
#define HOSTCUDA_TRACE_MEMORY_MODEL_H

#include <array>
#include <cstdint>

namespace hostcuda::trace {

constexpr unsigned kSectorBytes = 32;  // the unit in which global memory is fetched
constexpr unsigned kBanks = 32;        // number of banks of shared memory
constexpr unsigned kWordBytes = 4;   // width of a bank; one fetch of a word can serve several lanes
constexpr unsigned kMaxAccess = 16;  // largest number of bytes that a lane loads or stores at once

// The addresses of one instruction, indexed by lane; `active` has a bit for each lane that takes
// part.
struct Request {
  std::array<std::uint64_t, 32> address;
  std::uint32_t active = 0;
};

// The work that a request causes, and the least work that an access to the same number of distinct
// bytes needs.
struct Cost {
  unsigned actual;
  unsigned ideal;
};

// Counts the sectors that the lanes touch if each accesses `bytes` bytes.
Cost sectors(const Request& request, unsigned bytes);

// Counts the passes through shared memory. The lanes are served in groups: a whole warp for
// accesses of up to four bytes, half a warp for eight bytes, a quarter of a warp for sixteen. Two
// neighbouring groups are served as one group if each of their lanes reads the same address as a
// neighbouring lane. A group needs one pass per distinct word that it reads in its busiest bank.
Cost wavefronts(const Request& request, unsigned bytes);

// Counts the passes if all lanes read one aligned address in shared memory. (In global memory such
// a request needs one sector.)
Cost wavefronts_of_one_address(std::uint32_t lanes, unsigned bytes);

}  // namespace hostcuda::trace

#endif
