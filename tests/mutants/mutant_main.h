// The main() of a program that contains many wrong variants of a step.
//
//   PROGRAM VARIANT [option of a step...]
//
// The program runs one variant as the real program would run the step. If NBODY_WEAK_CHECKS
// contains the path of a file, it also writes the results of the weak checks to that file.
#pragma once

#include <initializer_list>

#include "nbody/step.h"

namespace nbody::test {

int run_mutant(const StepInfo& info, Simulate simulate, QueryDevice query, int argc, char** argv);

// An edited source calls this function instead of nbody::step_main.
inline int mutant_main(const StepInfo& info, Simulate simulate, int argc, char** argv) {
  return run_mutant(info, simulate, query_device, argc, argv);
}

struct Variant {
  const char* name;
  int (*main)(int argc, char** argv);
};
int main_of(std::initializer_list<Variant> variants, int argc, char** argv);

}  // namespace nbody::test
