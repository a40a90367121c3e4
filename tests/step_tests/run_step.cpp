// run_step() for tests: stores what the step passes to it and runs GoogleTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "nbody/error.h"
#include "physics/force_error.h"
#include "physics/integrator.h"
#include "step_under_test.h"

namespace nbody {
namespace test {
namespace {

StepUnderTest current;

Run make_run(double dt, int steps, double softening, Approximation approximation) {
  const int devices = current.info.multi_device ? current.platform.device_count : 1;
  return {static_cast<float>(dt), steps, static_cast<float>(softening * softening), devices,
          approximation};
}

}  // namespace

const StepUnderTest& step() { return current; }

Approximation own_approximation() { return current.info.approximation.value_or(Approximation()); }

bool is_slow() {
#if defined(NBODY_SANITIZED)
  return true;
#else
  return false;
#endif
}

Systems simulate(const Systems& start, double dt, int steps, double softening,
                 Integrator integrator, Approximation approximation) {
  const Run run = make_run(dt, steps, softening, approximation);
  const float half = integrator == Integrator::leapfrog ? run.dt / 2 : 0;
  Systems systems = start;
  drift(systems, half);
  current.simulate(run, systems);
  drift(systems, -half);
  return systems;
}

namespace {

Advance<float> advance_of(double softening, Approximation approximation) {
  return [softening, approximation](Systems& systems, double length, int count) {
    systems = simulate(systems, length, count, softening, Integrator::euler, approximation);
  };
}

Variants<float> variants_of(double softening, Approximation approximation) {
  return {advance_of(softening, finer(approximation).value_or(approximation)),
          advance_of(kOtherLength * softening, approximation),
          advance_of(softening, by_angle(approximation).value_or(approximation)),
          advance_of(softening, by_series(approximation).value_or(approximation))};
}

std::string failed(const Validation& validation) {
  std::string text;
  for (const Check& check : validation.checks) {
    if (!check.failed()) continue;
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, " %.2e > %.2e; ", check.value, check.limit);
    text += check.name + numbers;
  }
  return text;
}

}  // namespace

Validation validated(const Systems& start, double dt, int steps, double softening,
                     ValidationMode mode, Integrator integrator, Approximation approximation) {
  const Run run = make_run(dt, steps, softening, approximation);
  const Advance<float> advance = advance_of(softening, approximation);
  Systems first = start;
  if (integrator == Integrator::leapfrog) drift(first, run.dt / 2);
  Systems end = first;
  advance(end, run.dt, steps);
  return validate<float>({current.info.summation, run.dt, steps, run.softening_squared, first, end,
                          0, approximation, nullptr, current.info.tree, current.info.largest_group},
                         mode, advance, variants_of(softening, approximation));
}

std::string failed_checks(const Systems& start, double dt, int steps, double softening,
                          ValidationMode mode, Approximation approximation) {
  return failed(validated(start, dt, steps, softening, mode, Integrator::euler, approximation));
}

std::string failed_checks_in_float64(const Systems& start, double dt, int steps, double softening) {
  const auto advance_with = [](double eps) -> Advance<double> {
    return [eps](SystemsF64& systems, double length, int count) {
      current.info.float64({length, count, eps * eps, 1, {}}, systems);
    };
  };
  const Advance<double> advance = advance_with(softening);
  SystemsF64 first(start.count, start.bodies_per_system);
  std::ranges::transform(start.bodies, first.bodies.begin(), widened);
  SystemsF64 end = first;
  advance(end, dt, steps);
  return failed(validate<double>(
      {current.info.summation, dt, steps, softening * softening, first, end}, ValidationMode::full,
      advance, {advance, advance_with(kOtherLength * softening)}));
}

std::string failed_checks_of_one_step(const Systems& start, double dt, double softening) {
  const Approximation approximation = own_approximation();
  const Run run = make_run(dt, 1, softening, approximation);
  const Systems end = simulate(start, dt, 1, softening, Integrator::euler, approximation);
  return failed(validate_one_step({current.info.summation, run.dt, 1, run.softening_squared, start,
                                   end, 0, approximation, nullptr, current.info.tree},
                                  advance_of(softening, approximation),
                                  variants_of(softening, approximation)));
}

}  // namespace test

int run_step(const StepInfo& info, Simulate simulate, QueryDevice query, int argc, char** argv) {
  try {
    test::current = {info, simulate, platform_of(query())};
    testing::InitGoogleTest(&argc, argv);  // builds the list of tests, which depends on the step
  } catch (const NoDevice& error) {
    std::cerr << "skipped: " << error.what() << '\n';
    const char* required = std::getenv("NBODY_REQUIRE_GPU");
    return required != nullptr && std::strcmp(required, "1") == 0 ? 1 : 77;
  }
  const int failed = RUN_ALL_TESTS();
  // A test program that runs no test must fail, so that a misspelt filter is noticed.
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::cerr << "no test matches the filter\n";
    return 1;
  }
  return failed;
}

}  // namespace nbody
