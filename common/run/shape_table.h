// The table that ./nbody tune writes: for each device, which shapes are faster than those of the
// rule.
#pragma once

#include <filesystem>
#include <string>

#include "nbody/tuning.h"

namespace nbody {

// $XDG_CONFIG_HOME/nbody-steps/shapes.json, or ~/.config/...; empty where neither is known.
std::filesystem::path users_shape_table();

// What the table says of a program on a device. Throws UsageError if it is no such table.
Tuning read_shape_table(const std::filesystem::path& file, const std::string& program,
                        const std::string& device);

// "rule" or "tuned on DEVICE, DATE"; nothing where no shape was chosen.
std::string shape_origin(const Tuning& tuning);

}  // namespace nbody
