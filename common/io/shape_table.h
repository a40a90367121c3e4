// The table that ./nbody tune writes. For each device, the table lists the shapes that are faster
// than the shapes that the rule (shape.h) chooses.
#pragma once

#include <filesystem>
#include <string>

#include "nbody/tuning.h"

namespace nbody {

// Returns $XDG_CONFIG_HOME/nbody-steps/shapes.json, or ~/.config/...; empty if neither directory is
// known.
std::filesystem::path users_shape_table();

// Returns the table's entry for a program on a device. Throws UsageError if the file is not a table
// that ./nbody tune wrote.
Tuning read_shape_table(const std::filesystem::path& file, const std::string& program,
                        const std::string& device);

// Returns "rule" or "tuned on DEVICE, DATE"; empty if no shape was chosen.
std::string shape_origin(const Tuning& tuning);

}  // namespace nbody
