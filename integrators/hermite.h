// Hermite's formulas for one body, which hermite4 and block_steps share (Makino & Aarseth 1992,
// PASJ 44, 141). Aarseth (1985, in Multiple Time Scales, p. 377) proposed the time step.
#pragma once

#include <algorithm>
#include <cmath>

#include "physics/vector3.h"

namespace nbody::orbits {

struct State {
  Vector3 x, v;
};
// Digits of a body's position and velocity that were lost when sums were rounded (Kahan 1965, Comm.
// ACM 8, 40). Without these digits, a pair whose distance is 1e-4 of the system's size would lose
// four digits of its orbit in every step.
struct Lost {
  Vector3 x, v;
};
struct Force {
  Vector3 a, j;  // acceleration and jerk
};

// Returns the state after a time h, by Taylor's series up to the jerk.
inline State predicted(const State& s, const Force& f, double h) {
  return {s.x + h * (s.v + h / 2 * (f.a + h / 3 * f.j)), s.v + h * (f.a + h / 2 * f.j)};
}

inline void add(Vector3& sum, Vector3& lost, const Vector3& change) {
  const Vector3 old = sum, whole = change + lost;
  sum += whole;
  lost = whole - (sum - old);
}

// A cubic matches the accelerations and jerks at both ends of the step. Integrates this cubic
// to get the velocity, and integrates the velocity to get the position. The error is of order h^5
// per step, so the method is of order 4.
inline void correct(Vector3& x, Vector3& v, Lost& lost, const Force& f0, const Force& f1,
                    double h) {
  const Vector3 dv = h / 2 * (f0.a + f1.a) + h * h / 12 * (f0.j - f1.j);
  add(x, lost.x, h * v + h / 2 * dv + h * h / 12 * (f0.a - f1.a));
  add(v, lost.v, dv);
}

// The second and third derivatives of correct()'s cubic at the end of the step give the time scale
// on which the acceleration changes. eta is the square of the next step in units of this scale.
inline double next_step(const Force& f0, const Force& f1, double h, double eta) {
  const Vector3 third = 12 / (h * h * h) * (f0.a - f1.a) + 6 / (h * h) * (f0.j + f1.j);
  const Vector3 second = -6 / (h * h) * (f0.a - f1.a) - 2 / h * (2 * f0.j + f1.j) + h * third;
  const double s = length(second), j = length(f1.j);
  const double fast = j * length(third) + s * s;
  return fast > 0 ? std::sqrt(eta * (length(f1.a) * s + j * j) / fast) : HUGE_VAL;
}

// Before the first step there is no cubic. The speed sqrt(-potential) gives one time scale with the
// acceleration and another with the jerk; the shorter one is used. If a vector is zero, its time
// scale is ignored.
inline double first_step(const Force& f, double potential, double eta) {
  const double speed = std::sqrt(-potential), a = length(f.a), j = length(f.j);
  const double by_a = a > 0 ? speed / a : HUGE_VAL;
  const double by_j = j > 0 ? std::sqrt(speed / j) : HUGE_VAL;
  return 0.1 * std::sqrt(eta) * std::min(by_a, by_j);
}

}  // namespace nbody::orbits
