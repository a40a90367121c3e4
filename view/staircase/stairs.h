// Shows the same bodies, computed by one step after another, on a page with a button for each step
// and, next to it, the step's speed and energy error. Each step runs as a separate program with its
// own live view, to which only this program connects. A stopped step writes its bodies
// to a file, from which the next one continues.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

namespace nbody::view {

// Runs until Ctrl-C. The first step starts from the file `state`, whose directory also holds the
// other steps' files. Throws UsageError if the port cannot be used.
void run_stairs(int port, const std::vector<std::filesystem::path>& programs,
                const std::filesystem::path& state, std::ostream& out);

}  // namespace nbody::view
