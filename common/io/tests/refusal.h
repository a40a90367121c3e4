// Returns the message with which read_bodies rejects a file, or "accepted".
#pragma once

#include <array>
#include <bit>
#include <filesystem>
#include <string>

#include "io/snapshot_file.h"
#include "support/tests/said.h"

namespace nbody {

// The values x, y, z, vx, vy, vz and mass.
using Values = std::array<float, 7>;
inline Values values_of(const Body& body) { return std::bit_cast<Values>(body); }

inline std::string refusal(const std::filesystem::path& file, const ReadOptions& options = {}) {
  return refusal_of([&] { read_bodies(file, options); });
}

}  // namespace nbody
