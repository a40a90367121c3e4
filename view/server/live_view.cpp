#include "live_view.h"

#include <cmath>
#include <limits>
#include <mutex>
#include <ostream>

#include "energy_watch.h"
#include "frame.h"
#include "meter.h"
#include "page.h"
#include "run_control.h"
#include "server.h"
#include "support/text.h"

namespace nbody {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kFrameSeconds = 1.0 / 60;
constexpr auto kFrameTime =
    std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kFrameSeconds));

view::Info describe(const StepInfo& info, const Platform& platform, const Job& job,
                    bool may_change_forces) {
  view::Info shown;
  shown.program = info.name;
  shown.device = platform.device_name;
  shown.backend = platform.backend;
  shown.may_change_forces = may_change_forces;
  shown.approximates = info.approximation.has_value();
  if (job.last_step < std::numeric_limits<int>::max()) shown.last_step = job.last_step;
  return shown;
}

}  // namespace

// The values of dt and softening to which a run may switch: the range of a slider around the values
// at the start.
class ForceLimits {
 public:
  ForceLimits(const Job& job, bool may_change)
      : may_change_(may_change),
        dt_(job.start.dt),
        softening_(job.start.softening),
        heaviest_(heaviest_mass(job.start.systems)),
        float64_(is_float64(job.start)) {}

  // Throws UnknownCommand.
  void check(const view::Command& asked) const {
    if (!may_change_)
      throw view::UnknownCommand(
          "forces: dt and softening are fixed with --steps, --json, --checkpoint or --diagnostics");
    check("dt", asked.dt, dt_);
    check("softening", asked.softening, softening_);
    const auto refusal = softening_refusal(asked.softening, heaviest_, float64_);
    if (!refusal.empty()) throw view::UnknownCommand("softening: " + refusal);
  }

 private:
  static constexpr double kMaxFactor = 64;
  static void check(const std::string& name, double asked, double at_start) {
    const double factor = asked / at_start;
    if (factor >= 1 / kMaxFactor && factor <= kMaxFactor &&
        std::isnormal(static_cast<float>(asked)))
      return;
    throw view::UnknownCommand(name + " must be within a factor of 64 of its initial value, " +
                               shortest(at_start));
  }

  bool may_change_;
  double dt_, softening_;
  float heaviest_;
  bool float64_;
};

struct LiveView::Parts {
  view::RunControl control;
  view::Meter meter;
  const ForceLimits force_limits;
  const view::Thinning thinning;
  std::uint64_t frames = 0;
  Clock::time_point last_frame;

  std::mutex mutex;  // guards `status`, which several threads change
  view::Status status;
  // These members are declared last, because their threads use the members above.
  view::Server server;
  view::EnergyWatch energy;

  Parts(int port, const StepInfo& info, const Platform& platform, const Job& job,
        bool may_change_forces)
      : control(view::watchable_steps(job.start.systems, job.start.dt)),
        meter(job.start.systems),
        force_limits(job, may_change_forces),
        thinning(job.start.systems),
        status{.dt = job.start.dt, .softening = job.start.softening, .energy = {}},
        server(port, view::live_page(),
               view::info_message(describe(info, platform, job, may_change_forces), job.start,
                                  thinning),
               handlers()),
        energy(job.start.softening, [this](const view::Status::Energy& measured) {
          change_status([&] { status.energy = measured; });
        }) {}

  view::Handlers handlers() {
    return {.command =
                [this](const view::Command& command) {
                  if (command.type == view::Command::Type::forces) force_limits.check(command);
                  if (command.type == view::Command::Type::stair)
                    throw view::UnknownCommand("stair: this view has only one step");
                  control.handle(command);
                  change_status([] {});
                },
            .viewers = [this](int count) { control.set_viewers(count); },
            .interrupted = [this] { control.stop(); }};
  }

  template <class Change>
  void change_status(const Change& change) {
    const std::lock_guard lock(mutex);
    change();
    status.paused = control.paused();
    status.steps_per_frame = control.steps_per_frame();
    server.show(view::Text::status, view::status_message(status));
  }

  void take_forces(Simulation& simulation) {
    const view::Command asked = control.take_forces();
    simulation.change(asked.dt, asked.softening);
    energy.restart(asked.softening);
    change_status([&] {
      status.dt = asked.dt;
      status.softening = asked.softening;
      status.energy.reset();
    });
    energy.offer(simulation.snapshot());  // energy errors refer to this state
  }

  // Copies the whole state only when the energy is computed. A million bodies are 28 MB, and a copy
  // takes longer than a time step on a GPU.
  void show(Simulation& simulation) {
    last_frame = Clock::now();
    const bool finished = simulation.finished();
    if (finished || energy.is_idle()) energy.offer(simulation.snapshot());
    const Snapshot& state = simulation.checkpoint();
    const double drift = state.staggered ? -state.dt / 2 : 0;
    server.show_frame(
        view::encode_frame({.step = state.step,
                            .time = state.time,
                            .steps_per_second = meter.steps_per_second(),
                            .interactions_per_second = meter.interactions_per_second(),
                            .number = ++frames},
                           state.systems, thinning, static_cast<float>(drift)));
    if (finished || frames == 1) change_status([&] { status.finished = finished; });
  }
};

LiveView::LiveView(int port, const StepInfo& info, const Platform& platform, const Job& job,
                   bool may_change_forces)
    : parts_(std::make_unique<Parts>(port, info, platform, job, may_change_forces)) {}

LiveView::~LiveView() = default;

void LiveView::print_address(std::ostream& out) const { parts_->server.print_address(out); }

int LiveView::next_piece(Simulation& simulation) {
  Parts& parts = *parts_;
  parts.meter.take(simulation);
  parts.control.wait_until(parts.last_frame + kFrameTime);
  parts.show(simulation);
  if (simulation.finished()) return 0;
  const int fitting = parts.meter.steps_in(kFrameSeconds);
  int steps = parts.control.wait_for_turn(fitting);
  while (steps == view::RunControl::kForcesAsked) {
    parts.take_forces(simulation);
    steps = parts.control.wait_for_turn(fitting);
  }
  return steps;
}

bool LiveView::stopped() const { return parts_->control.stopped(); }

void LiveView::hold(std::ostream& out) {
  if (stopped()) return;
  out << "  view         shows the last state until Ctrl-C\n" << std::flush;
  parts_->control.wait_for_stop();
}

}  // namespace nbody
