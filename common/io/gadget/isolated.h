// Work that may crash, in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace nbody {

// Runs `work` in a copy of this process and returns its result. If it crashes or takes more than
// `seconds` of processor time, only the copy ends, and a UsageError says that `file` is the reason.
// Its exceptions are thrown here, as UsageError or runtime_error.
std::string isolated(const std::string& file, unsigned seconds,
                     const std::function<std::string()>& work);

}  // namespace nbody
