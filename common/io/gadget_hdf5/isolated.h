// Runs work in a separate process, because the work may crash.
#pragma once

#include <functional>
#include <string>

namespace nbody {

// Runs `work` in a child process and returns the result of `work`. If the child crashes or takes
// more than `seconds` of processor time, only the child ends, and this function throws a UsageError
// that blames `file`. An exception that `work` throws is rethrown here as UsageError or
// runtime_error.
std::string isolated(const std::string& file, unsigned seconds,
                     const std::function<std::string()>& work);

}  // namespace nbody
