// hermite4 -- also computes jerks: order 4, one force computation per step, adaptive step.
// All bodies share one step, which is the shortest that any body needs.
// Parent: yoshida4.   Run: hermite4 --input data/pythagorean.csv --time 70 --eta 1e-4
#include "hermite.h"
#include "orbits.h"

using namespace nbody::orbits;

namespace {

Steps hermite4(System& bodies, Gravity& gravity, double span, double eta) {
  const std::size_t n = bodies.size();
  Derivatives old = gravity.derivatives(bodies);
  const std::vector<double> potentials = Gravity::potentials(bodies);
  double wanted = span;
  for (std::size_t i = 0; i < n; ++i)
    wanted = std::min(wanted, first_step({old.a[i], old.j[i]}, potentials[i], eta));

  Steps steps{0, HUGE_VAL, 0};
  System next = bodies;
  std::vector<Lost> lost(n);
  for (double t = 0; t < span;) {
    const bool last = wanted >= span - t;
    const double h = last ? span - t : wanted;
    if (t + h == t) refuse_short_step();
    for (std::size_t i = 0; i < n; ++i) {
      const State s = predicted({bodies.x[i], bodies.v[i]}, {old.a[i], old.j[i]}, h);
      next.x[i] = s.x;
      next.v[i] = s.v;
    }
    const Derivatives now = gravity.derivatives(next);
    wanted = 2 * h;  // no step is more than twice as long as the step before it
    for (std::size_t i = 0; i < n; ++i) {
      const Force f0{old.a[i], old.j[i]}, f1{now.a[i], now.j[i]};
      correct(bodies.x[i], bodies.v[i], lost[i], f0, f1, h);
      wanted = std::min(wanted, next_step(f0, f1, h, eta));
    }
    old = now;
    t = last ? span : t + h;
    ++steps.count;
    steps.most = std::max(steps.most, h);
    if (!last) steps.least = std::min(steps.least, h);
  }
  steps.least = std::min(steps.least, steps.most);
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  return run({"hermite4", "Hermite's scheme of order 4, with one adaptive step for all bodies.",
              "eta", hermite4},
             argc, argv);
}
