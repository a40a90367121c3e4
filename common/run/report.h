// What a person reads after a run.
#pragma once

#include <iosfwd>

#include "physics/diagnostics.h"
#include "run/job.h"
#include "run/result.h"

namespace nbody {

// Before the run: the effective values, nothing rounded or defaulted in silence.
void print_job(std::ostream& out, const StepInfo& info, const Platform& platform, const Job& job);

void print_result(std::ostream& out, const Result& result);

// Energy, virial ratio, momentum and angular momentum: of one state, and before and after.
void print_diagnostics(std::ostream& out, const Diagnostics& state);
void print_diagnostics(std::ostream& out, const Diagnostics& before, const Diagnostics& after);

}  // namespace nbody
