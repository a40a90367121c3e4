// An activity map as two files: CSV, for numbers, and PGM (netpbm's grey map, 8 bits), for a look.
#pragma once

#include <filesystem>

#include "physics/activity_map.h"

namespace nbody {

// The two files of a map called `name`: name.csv with the shares, name.pgm with a picture.
std::filesystem::path activity_csv(const std::filesystem::path& name);
std::filesystem::path activity_pgm(const std::filesystem::path& name);

// Both show the highest y in their first line and the lowest x at its beginning. In the picture the
// brightness of a cell is log(1 + count) / log(1 + highest count).
void write_activity_map(const std::filesystem::path& name, const ActivityMap& map);

}  // namespace nbody
