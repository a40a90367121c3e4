// block_steps -- every body has its own step, a power of two; forces are computed only for bodies
// whose step ends. Makino 1991, PASJ 43, 859.
// Parent: hermite4.   Run: block_steps --scenario solar-system --time 6.28 --eta 0.01
#include <cstdint>

#include "hermite.h"
#include "orbits.h"

using namespace nbody::orbits;

namespace {

// Time is counted in ticks, so that comparisons are exact. A step is 1, 2, 4, ... ticks.
using Ticks = std::int64_t;
constexpr Ticks kSpan = Ticks{1} << 52;

// Returns the longest step that is at most `wanted` and at most `largest`. All steps are powers of
// two, and every step begins at a multiple of its own length.
Ticks block(double wanted, Ticks largest) {
  Ticks step = largest;
  while (static_cast<double>(step) > wanted && step > 0) step /= 2;
  if (step == 0) refuse_short_step();
  return step;
}

Steps block_steps(System& bodies, Gravity& gravity, double span, double eta) {
  const std::size_t n = bodies.size();
  const double tick = span / static_cast<double>(kSpan);
  Derivatives old = gravity.derivatives(bodies);
  const std::vector<double> potentials = Gravity::potentials(bodies);
  std::vector<Ticks> at(n, 0), step(n);  // times of the bodies' states, and lengths of their steps
  for (std::size_t i = 0; i < n; ++i)
    step[i] = block(first_step({old.a[i], old.j[i]}, potentials[i], eta) / tick, kSpan);

  Steps steps{0, HUGE_VAL, 0};
  System next = bodies;
  std::vector<Lost> lost(n);
  std::vector<std::size_t> active;
  for (Ticks now = 0; now < kSpan;) {
    now = kSpan;
    for (std::size_t i = 0; i < n; ++i) now = std::min(now, at[i] + step[i]);
    active.clear();
    for (std::size_t i = 0; i < n; ++i) {  // predicts all bodies, because all are sources
      const double h = tick * static_cast<double>(now - at[i]);
      const State s = predicted({bodies.x[i], bodies.v[i]}, {old.a[i], old.j[i]}, h);
      next.x[i] = s.x;
      next.v[i] = s.v;
      if (at[i] + step[i] == now) active.push_back(i);
    }
    const Derivatives found = gravity.derivatives(next, active);
    for (std::size_t k = 0; k < active.size(); ++k) {
      const std::size_t i = active[k];
      const double h = tick * static_cast<double>(step[i]);
      const Force f0{old.a[i], old.j[i]}, f1{found.a[k], found.j[k]};
      correct(bodies.x[i], bodies.v[i], lost[i], f0, f1, h);
      old.a[i] = f1.a;
      old.j[i] = f1.j;
      at[i] = now;
      steps.least = std::min(steps.least, h);
      steps.most = std::max(steps.most, h);
      // A step may double only at a multiple of its doubled length, but may halve at any time.
      const Ticks largest = now % (2 * step[i]) == 0 ? 2 * step[i] : step[i];
      step[i] = block(next_step(f0, f1, h, eta) / tick, largest);
    }
    ++steps.count;
  }
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  return run({"block_steps", "Hermite's scheme of order 4, with a separate step for each body.",
              "eta", block_steps},
             argc, argv);
}
