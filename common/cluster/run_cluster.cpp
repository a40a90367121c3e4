// Runs a step on several ranks: the root runs the main program, and whenever it calls simulate(),
// the other ranks call simulate() too.
#include <chrono>
#include <thread>

#include "cluster/ranks.h"
#include "nbody/stopwatch.h"
#include "nbody/tuning.h"

namespace nbody {
namespace {

struct Order {
  bool simulate = false;  // false: the run has ended
  int exit_code = 0;
  Run run{};
  int systems = 0, bodies = 0;
  Distribution asked = Distribution::automatic;
  std::size_t shapes = 0;
};

Simulate simulate_here = nullptr;  // global, because run_step takes a function pointer

// Receives data from the root. Sleeps while it waits, because the root's validation may need this
// core.
void receive(void* data, std::size_t bytes) {
  MPI_Request request;
  MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, 0, rank_state().comm, &request);
  const Stopwatch stopwatch;
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;)
    if (stopwatch.seconds() > 2e-3) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void give(Order order) {
  std::vector<TunedShape>& shapes = tuning().shapes;
  order.shapes = shapes.size();
  receive(&order, sizeof order);
  if (order.shapes > 0) receive(shapes.data(), order.shapes * sizeof shapes[0]);
}

Order take() {
  Order order;
  receive(&order, sizeof order);
  tuning().shapes.resize(order.shapes);
  if (order.shapes > 0) receive(tuning().shapes.data(), order.shapes * sizeof(TunedShape));
  return order;
}

Timing simulate_on_all(const Run& run, Systems& systems) {
  try {
    give({.simulate = true,
          .run = run,
          .systems = systems.count,
          .bodies = systems.bodies_per_system,
          .asked = ranks().asked});
    Timing timing = simulate_here(run, systems);
    rank_state().watchdog->stop_if_ending();
    return timing;
  } catch (const std::exception& error) {
    rank_state().given_up = true;
    rank_state().watchdog->give_up(error.what());
    throw;
  }
}

int help() {
  while (true) {
    const Order order = take();
    if (!order.simulate) return order.exit_code;
    ranks().asked = order.asked;
    Systems sizes;
    sizes.count = order.systems;
    sizes.bodies_per_system = order.bodies;
    simulate_here(order.run, sizes);
  }
}

}  // namespace

int run_cluster(StepInfo info, Simulate simulate, QueryDevice query, int argc, char** argv) {
  info.cluster = true;
  simulate_here = simulate;
  return run_on_ranks(info.name, query, argc, argv, [&] {
    if (rank_in(rank_state().comm) != 0) return help();
    const int code = run_step(info, simulate_on_all, query, argc, argv);
    if (!rank_state().given_up) give({.exit_code = code});
    return code;
  });
}

}  // namespace nbody
