#include "thinning.h"

#include <cstdint>

namespace nbody::view {
namespace {

int groups(int bodies, int level) { return ((bodies - 1) >> level) + 1; }

// Decides pseudo-randomly which of two bodies is shown. If a file lists the points of a lattice in
// order, a fixed pattern, such as every second body, would show only one of every two layers.
bool second_of(std::uint64_t pair, int level) {
  std::uint64_t x = pair * 64 + static_cast<std::uint64_t>(level);
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;  // MurmurHash3's 64-bit finalizer
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
  return ((x >> 40) & 1) != 0;
}

// Returns the body that stands for a group of 2^level bodies. It is one of the two bodies that
// stand for the halves of the group.
int chosen(int group, int level, int bodies) {
  for (; level > 0; --level) {
    const int second = 2 * group + 1;
    const bool exists = second < groups(bodies, level - 1);
    group = exists && second_of(static_cast<std::uint64_t>(group), level) ? second : 2 * group;
  }
  return group;
}

}  // namespace

Thinning::Thinning(const Systems& systems) {
  const int n = systems.bodies_per_system;
  const auto shown = [&] { return static_cast<long long>(groups(n, level_)) * systems.count; };
  while (shown() > kMaxShownBodies && groups(n, level_) > 1) ++level_;
  bodies_.reserve(static_cast<std::size_t>(groups(n, level_)));
  for (int group = 0; group < groups(n, level_); ++group)
    bodies_.push_back(chosen(group, level_, n));
}

}  // namespace nbody::view
