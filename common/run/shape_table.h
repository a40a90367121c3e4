// The table that ./nbody tune writes. For each device, it lists the shapes that are faster than
// those that the rule chooses.
#pragma once

#include <filesystem>
#include <string>

#include "nbody/tuning.h"

namespace nbody {

// Returns $XDG_CONFIG_HOME/nbody-steps/shapes.json, or ~/.config/...; empty if neither directory is
// known.
std::filesystem::path users_shape_table();

// Returns the table's entry for a program on a device. Throws UsageError if the file is not such a
// table.
Tuning read_shape_table(const std::filesystem::path& file, const std::string& program,
                        const std::string& device);

// Returns "rule" or "tuned on DEVICE, DATE"; empty if no shape was chosen.
std::string shape_origin(const Tuning& tuning);

}  // namespace nbody
