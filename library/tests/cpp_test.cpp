// Tests the errors of the C++ header, and compares its results for two bodies with known numbers.
#include <cmath>
#include <cstdio>

#include "nbody.hpp"

// The device to test. This file is also compiled into a second program, which tests NBODY_CUDA.
#ifndef DEVICE
#define DEVICE NBODY_CPU
#endif

namespace {
int failures = 0;
void expect(bool holds, const char* what) {
  if (!holds) std::printf("FAILED: %s\n", what), ++failures;
}

template <class Real>
void check() {
  using nbody::gravity::Bodies;
  const std::vector<Real> x{0, 0, 0, 3, 0, 0}, v{0, 0, 0, 0, 2, 0}, m{1, 5}, at{0, 4, 0};
  const Bodies<Real> bodies{x, v};
  const std::span<const Real> masses(m);
  nbody::gravity::Options options;
  options.device = DEVICE;
  const auto near = [](Real a, double b) { return std::abs(a - b) < 1e-6; };
  const auto a = nbody::gravity::accelerations(bodies, masses, 4.0, {}, options);  // s = 5
  expect(a.size() == 6 && near(a[0], 15.0 / 125) && near(a[3], -3.0 / 125), "accelerations");
  const auto p = nbody::gravity::potential(bodies, masses, 0.0, {Bodies<Real>{at}}, options);
  expect(p.size() == 1 && near(p[0], -1 / 4.0 - 5 / 5.0), "potential");
  const auto [b, j] = nbody::gravity::jerk(bodies, masses, 4.0, {}, options);
  expect(near(b[0], 15.0 / 125) && near(j[1], 10.0 / 125) && near(j[4], -2.0 / 125), "jerk");
  expect(nbody::gravity::accelerations(bodies, masses, 4.0, {Bodies<Real>{}}, options).empty(),
         "no targets");
  try {
    nbody::gravity::accelerations(bodies, masses, -1.0, {}, options);
    expect(false, "a negative softening");
  } catch (const nbody::gravity::Error& error) {
    expect(error.code() == NBODY_BAD_SOFTENING, error.what());
  }
  try {
    nbody::gravity::accelerations(bodies, masses.first(1), 1.0, {}, options);
    expect(false, "a missing mass");
  } catch (const std::invalid_argument&) {
  }
}
}  // namespace

int main() {
  check<float>();
  check<double>();
  return failures;
}
