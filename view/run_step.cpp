// The program of a step: the run of common/run, shown by the live view.
#include "live_view.h"
#include "run/step_program.h"

namespace nbody {
namespace {

std::unique_ptr<RunView> open_view(int port, const StepInfo& info, const Platform& platform,
                                   const Job& job, bool may_change_forces) {
  return std::make_unique<LiveView>(port, info, platform, job, may_change_forces);
}

}  // namespace

int run_step(const StepInfo& info, Simulate simulate, QueryDevice query, int argc, char** argv) {
  return run_step_program(info, simulate, query, open_view, argc, argv);
}

}  // namespace nbody
