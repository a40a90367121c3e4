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

namespace nbody {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kFrameSeconds = 1.0 / 60;
constexpr auto kFrameTime =
    std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kFrameSeconds));

view::Info describe(const StepInfo& info, const Platform& platform, const Job& job) {
  view::Info shown;
  shown.program = info.name;
  shown.device = platform.device_name;
  shown.backend = platform.backend;
  shown.integrator = to_string(job.start.integrator);
  shown.dt = job.start.dt;
  shown.softening = job.start.softening;
  if (job.last_step < std::numeric_limits<int>::max()) shown.last_step = job.last_step;
  shown.shown_every = view::shown_every(job.start.systems);
  return shown;
}

}  // namespace

struct LiveView::Parts {
  view::RunControl control;
  view::Meter meter;
  const int shown_every;
  std::uint64_t frames = 0;
  Clock::time_point last_frame;

  std::mutex mutex;  // guards status: commands, the watch and the run change it
  view::Status status;
  // Declared last: their threads use the members above.
  view::Server server;
  view::EnergyWatch energy;

  Parts(int port, const StepInfo& info, const Platform& platform, const Job& job)
      : control(view::watchable_steps(job.start.systems, job.start.dt)),
        meter(job.start.systems),
        shown_every(view::shown_every(job.start.systems)),
        server(port, view::live_page(),
               view::info_message(describe(info, platform, job), job.start), handlers()),
        energy(job.start.softening, [this](const view::Status::Energy& measured) {
          change_status([&] { status.energy = measured; });
        }) {}

  view::Handlers handlers() {
    return {.command =
                [this](const view::Command& command) {
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
    server.show_status(view::status_message(status));
  }

  void show(const Simulation& simulation) {
    const Snapshot snapshot = simulation.snapshot();
    const bool finished = simulation.finished();
    if (finished || energy.is_idle()) energy.offer(snapshot);
    server.show_frame(
        view::encode_frame({.step = snapshot.step,
                            .time = snapshot.time,
                            .steps_per_second = meter.steps_per_second(),
                            .interactions_per_second = meter.interactions_per_second(),
                            .number = ++frames},
                           snapshot.systems, shown_every));
    if (finished || frames == 1) change_status([&] { status.finished = finished; });
    last_frame = Clock::now();
  }
};

LiveView::LiveView(int port, const StepInfo& info, const Platform& platform, const Job& job)
    : parts_(std::make_unique<Parts>(port, info, platform, job)) {}

LiveView::~LiveView() = default;

void LiveView::print_address(std::ostream& out) const { parts_->server.print_address(out); }

int LiveView::next_piece(const Simulation& simulation) {
  Parts& parts = *parts_;
  parts.meter.take(simulation);
  parts.control.wait_until(parts.last_frame + kFrameTime);
  parts.show(simulation);
  if (simulation.finished()) return 0;
  return parts.control.wait_for_turn(parts.meter.steps_in(kFrameSeconds));
}

bool LiveView::stopped() const { return parts_->control.stopped(); }

void LiveView::hold(std::ostream& out) {
  if (stopped()) return;
  out << "  view         shows the last state until Ctrl-C\n" << std::flush;
  parts_->control.wait_for_stop();
}

}  // namespace nbody
