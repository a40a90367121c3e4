// yoshida4 -- takes three leapfrog steps, the middle one backwards, so that the errors cancel to
// fourth order. Yoshida 1990, Phys. Lett. A 150, 262.
// Parent: leapfrog.   Run: yoshida4 --scenario figure-eight --time 6.3 --dt 0.01
#include <cmath>

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

// A leapfrog step of length h has an error of c h^3 + d h^5 + ..., without even powers, because
// leapfrog is reversible. Steps of w1 h, w0 h and w1 h cover a time h if 2 w1 + w0 = 1, and their
// terms in h^3 cancel if 2 w1^3 + w0^3 = 0.
const double kOuter = 1 / (2 - std::cbrt(2.0));
const double kInner = 1 - 2 * kOuter;  // -1.70

Steps yoshida4(System& bodies, Gravity& gravity, double span, double dt) {
  const long long steps = equal_steps(span, dt);
  const double h = span / static_cast<double>(steps);
  for (long long step = 0; step < steps; ++step) {
    drift(bodies, kOuter * h / 2);
    kick(bodies, gravity, kOuter * h);
    drift(bodies, (kOuter + kInner) * h / 2);  // two half drifts in one
    kick(bodies, gravity, kInner * h);
    drift(bodies, (kInner + kOuter) * h / 2);
    kick(bodies, gravity, kOuter * h);
    drift(bodies, kOuter * h / 2);
  }
  return {3 * steps, h, h};
}

}  // namespace

int main(int argc, char** argv) {
  return run({"yoshida4", "Yoshida's method of order 4: three leapfrog steps.", "dt", yoshida4},
             argc, argv);
}
