// What read_bodies says of a file it must not take.
#pragma once

#include <filesystem>
#include <string>

#include "io/snapshot_file.h"
#include "nbody/error.h"

namespace nbody {

inline std::string refusal(const std::filesystem::path& file, const ReadOptions& options = {}) {
  try {
    read_bodies(file, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace nbody
