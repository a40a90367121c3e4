// Random choices. A choice depends on the seed, the launch and the block, never on timing.
#ifndef HOSTCUDA_SRC_SUPPORT_RANDOM_H
#define HOSTCUDA_SRC_SUPPORT_RANDOM_H

#include <cstdint>
#include <utility>

namespace hostcuda {

// SplitMix64 has a small state and can be seeded cheaply for each block. A run with a given seed
// therefore uses the same orders no matter how its blocks are distributed over threads.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed = 0) : state_(seed) {}
  RandomNumbers(std::uint64_t seed, std::uint64_t launch, std::uint64_t block) : state_(seed) {
    state_ = next() ^ launch;
    state_ = next() ^ block;
  }

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Taking the remainder makes some numbers slightly more likely, which does not matter here.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  template <class Container>
  void shuffle(Container& items) {
    for (std::size_t left = items.size(); left > 1; --left)
      std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace hostcuda

#endif
