// All programs of a sweep in one binary: steps and experiments, unchanged or with other parameters.
// Each is in its own namespace (nbody_tools/sweep/sources.py writes them).
#pragma once

namespace nbody::sweep {

using Main = int (*)(int argc, char** argv);

// Registers a program under this name before main() begins.
struct Program {
  Program(const char* name, Main main);
};

}  // namespace nbody::sweep
