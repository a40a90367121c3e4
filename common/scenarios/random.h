// Random numbers that are the same on every platform. The C++ standard fixes the output of
// std::mt19937_64, but not the output of std::uniform_real_distribution, which is therefore not
// used.
#pragma once

#include <cstdint>
#include <random>

namespace nbody {

// Vigna's splitmix64: a bijection whose output for neighbouring inputs looks unrelated.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Random {
 public:
  // Each system has its own generator, so the bodies of system s do not depend on the number of
  // systems. The seed is hashed, so that system 2 of seed 1 differs from system 1 of seed 2.
  Random(std::uint64_t seed, int system)
      : generator_(splitmix64(splitmix64(seed) + static_cast<std::uint64_t>(system))) {}

  // Returns a number in [0, 1) from the upper 53 bits, because a double has 53 significant bits.
  double uniform() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

 private:
  std::mt19937_64 generator_;
};

}  // namespace nbody
