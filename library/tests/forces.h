// Shared by the programs for a step and for the library: both make the same bodies, and write the
// accelerations to files in the same format.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "nbody/bodies.h"

constexpr double kSoftening = 0.05;

// Returns n bodies at rest, crowded around the middle. Their masses are all equal or all different.
inline nbody::Systems make_bodies(int n, bool one_mass) {
  nbody::Systems systems(1, n);
  std::uint64_t state = 7;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<double>(state >> 33) / 1073741824.0 - 1);
  };
  for (nbody::Body& body : systems.bodies) {
    const float x = next(), y = next(), z = next(), m = next();
    body = {x * x * x, y * y * y, z * z * z, 0, 0, 0, (one_mass ? 1 : 1.5f + m) / n};
  }
  return systems;
}

inline int write_vectors(const char* name, const std::vector<float>& vectors) {
  std::FILE* const file = std::fopen(name, "wb");
  if (file == nullptr) return 1;
  const std::size_t written = std::fwrite(vectors.data(), sizeof(float), vectors.size(), file);
  return std::fclose(file) != 0 || written != vectors.size();
}
