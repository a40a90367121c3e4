// Shows the same bodies, computed by one step after another. The page has a button for each step,
// and shows the step's speed and energy error next to the button. Each step runs as a separate
// program with its own live view, to which only this program connects. A step that is stopped
// writes its bodies to a file, and the next step continues from this file.
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
