// The same bodies, computed by one step after the other: a page with a button for each, and beside
// it how fast the step was and what became of the energy. Each runs as a program of its own, with a
// view that only this one looks at; a step that is stopped leaves its bodies to the next in a file.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

namespace nbody::view {

// Until Ctrl-C. `state` is the file that the first one starts from; its folder takes the files of
// the others. Throws UsageError if the port cannot be used.
void run_stairs(int port, const std::vector<std::filesystem::path>& programs,
                const std::filesystem::path& state, std::ostream& out);

}  // namespace nbody::view
