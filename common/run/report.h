// Prints what a user reads before and after a run.
#pragma once

#include <iosfwd>

#include "physics/diagnostics.h"
#include "run/job.h"
#include "run/result.h"

namespace nbody {

// Prints the values that the run will use, so that rounding and defaults do not stay hidden.
void print_job(std::ostream& out, const StepInfo& info, const Platform& platform, const Job& job);

void print_result(std::ostream& out, const Result& result);

// Prints energy, virial ratio, momentum and angular momentum: of one state, or of the states before
// and after a run.
void print_diagnostics(std::ostream& out, const Diagnostics& state);
void print_diagnostics(std::ostream& out, const Diagnostics& before, const Diagnostics& after);

}  // namespace nbody
