// All programs of a sweep in one binary: steps and experiments, unchanged or with other parameters.
// Each program is in its own namespace, which nbody_tools/sweep/sources.py writes.
#pragma once

namespace nbody::sweep {

using Main = int (*)(int argc, char** argv);

// Registers a program under this name before main() begins.
struct Program {
  Program(const char* name, Main main);
};

}  // namespace nbody::sweep
