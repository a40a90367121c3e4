// Text printed for a person before and after a run.
#pragma once

#include <iosfwd>

#include "physics/diagnostics.h"
#include "run/job.h"
#include "run/result.h"

namespace nbody {

// Printed before the run: the effective values, with no silent rounding or defaults.
void print_job(std::ostream& out, const StepInfo& info, const Platform& platform, const Job& job);

void print_result(std::ostream& out, const Result& result);

// Energy, virial ratio, momentum and angular momentum of one state, or before and after a run.
void print_diagnostics(std::ostream& out, const Diagnostics& state);
void print_diagnostics(std::ostream& out, const Diagnostics& before, const Diagnostics& after);

}  // namespace nbody
