// Writes an activity map as two files: numbers as CSV, and a picture in 256 greys as PGM.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "physics/activity_map.h"

namespace nbody {

// Return the names of the two files of a map called `name`: name.csv lists which share of all
// positions is in each cell, and name.pgm contains the picture.
std::filesystem::path activity_csv(const std::filesystem::path& name);
std::filesystem::path activity_pgm(const std::filesystem::path& name);

// Convert the counts to and from text, for a checkpoint: the number of positions, then index:count
// for every non-empty cell, row by row. map_of_counts throws UsageError if the text is malformed.
std::string counts_text(const ActivityMap& map);
ActivityMap map_of_counts(const std::string& file, int cells, float extent, std::string_view text);

// In both files the first line has the cells with the highest y, and each line begins with the cell
// with the lowest x. The brightness of a cell in the picture is
// log(1 + count) / log(1 + highest count).
void write_activity_map(const std::filesystem::path& name, const ActivityMap& map);

}  // namespace nbody
