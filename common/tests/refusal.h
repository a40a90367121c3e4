// What read_bodies says of a file it must not take.
#pragma once

#include <filesystem>
#include <string>

#include "nbody/error.h"
#include "nbody/input_output.h"

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
