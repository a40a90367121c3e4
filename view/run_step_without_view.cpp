// The program of a step: the run of common/run, without the live view.
#include "nbody/error.h"
#include "run/step_program.h"

namespace nbody {
namespace {

std::unique_ptr<RunView> refuse_view(int, const StepInfo&, const Platform&, const Job&, bool) {
  throw UsageError("--view: this program was built without the live view; use ./nbody view");
}

}  // namespace

int run_step(const StepInfo& info, Simulate simulate, QueryDevice query, int argc, char** argv) {
  return run_step_program(info, simulate, query, refuse_view, argc, argv);
}

}  // namespace nbody
