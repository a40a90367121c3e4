// Prints one line if a plain run shows signs of a mistake; `hostcuda check` then finds the cause of
// the mistake.
#ifndef HOSTCUDA_SRC_SUPPORT_HINT_H
#define HOSTCUDA_SRC_SUPPORT_HINT_H

#include <string>

namespace hostcuda {

// Writes the sentence and recommends `hostcuda check`, but only once per process, because a second
// mistake is often a consequence of the first. Writes nothing if there is an observer, because the
// observer finds the cause of the mistake itself.
void hint(const std::string& sentence);

// Writes the hint that follows a fault's message; for the signal handler.
void hint_at_fault();

}  // namespace hostcuda

#endif
