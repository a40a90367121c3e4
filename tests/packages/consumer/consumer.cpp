// A program of another project. It uses the command line of the steps, but its own simulate().
#include "nbody/step.h"

namespace {

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  nbody::SystemsF64 exact(systems.count, systems.bodies_per_system);
  for (std::size_t k = 0; k < exact.bodies.size(); ++k)
    exact.bodies[k] = nbody::widened(systems.bodies[k]);
  const nbody::Timing timing =
      nbody::simulate_float64({run.dt, run.steps, run.softening_squared, run.devices}, exact);
  for (std::size_t k = 0; k < exact.bodies.size(); ++k)
    systems.bodies[k] = nbody::rounded(exact.bodies[k]);
  return timing;
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "consumer"}, simulate, argc, argv);
}
