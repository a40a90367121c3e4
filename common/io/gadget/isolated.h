// Runs work that may crash in a separate process.
#pragma once

#include <functional>
#include <string>

namespace nbody {

// Runs `work` in a child process and returns its result. If it crashes or takes more than `seconds`
// of processor time, only the child ends, and a UsageError blames `file`. Its exceptions are
// rethrown here as UsageError or runtime_error.
std::string isolated(const std::string& file, unsigned seconds,
                     const std::function<std::string()>& work);

}  // namespace nbody
