// The programs that a sweep runs, all in one: steps and experiments as they are, and with other
// parameters. Each stands in a namespace of its own (nbody_tools/sweep/sources.py writes them).
#pragma once

namespace nbody::sweep {

using Main = int (*)(int argc, char** argv);

// Adds a program under this name, before main() begins.
struct Program {
  Program(const char* name, Main main);
};

}  // namespace nbody::sweep
