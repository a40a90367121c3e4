// leapfrog -- drift, kick, drift: order 2, one force computation per step, bounded energy error.
// Run: leapfrog --scenario figure-eight --time 6.3 --dt 0.01
#include "orbits.h"

using namespace nbody::orbits;

namespace {

void drift(System& bodies, double h) {
  for (std::size_t i = 0; i < bodies.size(); ++i) bodies.x[i] += h * bodies.v[i];
}

void kick(System& bodies, Gravity& gravity, double h) {
  const Vectors a = gravity.accelerations(bodies);
  for (std::size_t i = 0; i < bodies.size(); ++i) bodies.v[i] += h * a[i];
}

// Each of the three moves is exact for the kinetic or the potential energy. A step is therefore the
// exact motion of a Hamiltonian that is close to their sum, and conserves that Hamiltonian.
Steps leapfrog(System& bodies, Gravity& gravity, double span, double dt) {
  const long long steps = equal_steps(span, dt);
  const double h = span / static_cast<double>(steps);
  for (long long step = 0; step < steps; ++step) {
    drift(bodies, h / 2);
    kick(bodies, gravity, h);
    drift(bodies, h / 2);
  }
  return {steps, h, h};
}

}  // namespace

int main(int argc, char** argv) {
  return run(
      {"leapfrog", "Leapfrog (drift-kick-drift) of order 2, with one time step.", "dt", leapfrog},
      argc, argv);
}
