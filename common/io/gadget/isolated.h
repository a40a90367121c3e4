// Work that may crash, in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace nbody {

// Runs `work` in a copy of this process and returns what it returned. If it crashes or does not
// end, only the copy dies, and a UsageError says that `file` is the reason; its exceptions arrive
// here as UsageError or runtime_error. It has `seconds` of processor time.
std::string isolated(const std::string& file, unsigned seconds,
                     const std::function<std::string()>& work);

}  // namespace nbody
