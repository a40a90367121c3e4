// Says in one line that a run shows a mistake whose cause `hostcuda check` finds.
#ifndef HOSTCUDA_SRC_SUPPORT_HINT_H
#define HOSTCUDA_SRC_SUPPORT_HINT_H

#include <string>

namespace hostcuda {

// Writes the sentence and the name of the command, once per process: a second mistake is often a
// consequence of the first. Writes nothing if an observer finds the cause itself.
void hint(const std::string& sentence);

// A hint after the message of a fault, for the signal handler.
void hint_at_fault();

}  // namespace hostcuda

#endif
