// A small main program for any step except 14. With this file, one command builds the step, without
// the rest of the repository. The first line builds a GPU step; the second builds step 00, which
// runs on the CPU:
//
//   nvcc -O3 -std=c++20 -arch=native -I. -Icommon/include stepNN/nbody.cu common/alone/main.cpp
//   g++ -O3 -std=c++20 -fopenmp -I. -Icommon/include stepNN/nbody.cpp common/alone/main.cpp
//
// The program makes Plummer spheres, checks the step against float64 sums, and times it. Files,
// scenarios, snapshots, checkpoints, leapfrog and a stricter validation are missing here; they come
// with the full command line of common/run.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <random>
#include <string_view>

#include "nbody/error.h"
#include "nbody/step.h"

// The library functions that a step calls are compiled into this file.
#include "../physics/bodies.cpp"
#include "../support/cuda_failed.cpp"
#include "../support/error.cpp"
#include "../support/stage_times.cpp"
#include "../support/stopwatch.cpp"

namespace nbody {
namespace {

struct Option {
  const char* name;
  double value, lowest, highest;
};
constexpr double kIntegers = 1e9;  // an option with this upper limit takes an integer
Option systems{"--systems", 4, 1, kIntegers}, bodies{"--bodies", 4096, 1, kIntegers},
    steps{"--steps", 10, 1, kIntegers}, devices{"--devices", kIntegers, 1, kIntegers},
    dt{"--dt", 0.01, -1e3, 1e3}, softening{"--softening", 0.05, 1e-12, 1e3};

void read_options(int argc, char** argv) {
  for (int k = 1; k < argc; k += 2) {
    Option* found = nullptr;
    for (Option* option : {&systems, &bodies, &steps, &devices, &dt, &softening})
      if (std::string_view(argv[k]) == option->name) found = option;
    if (found == nullptr)
      throw UsageError(argv[k], " is not an option; allowed: --systems, --bodies, --steps, ",
                       "--devices, --dt and --softening");
    const char* const text = k + 1 < argc ? argv[k + 1] : "";
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    const bool fits = found->highest < kIntegers || value == std::floor(value);
    if (*text == '\0' || *end != '\0' || !fits || !(value >= found->lowest) ||
        !(value <= found->highest)) {
      char range[80];
      std::snprintf(range, sizeof range, "%s from %g to %g",
                    found->highest < kIntegers ? "a number" : "an integer", found->lowest,
                    found->highest);
      throw UsageError(found->name, ": \"", text, "\" is not allowed; ", range);
    }
    found->value = value;
  }
}

// Makes Plummer spheres (Aarseth, Henon and Wielen 1974, A&A 37, 183) with mass 1 and a Plummer
// radius of 1.
Systems plummer_spheres(int count, int n) {
  std::mt19937 random;
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto on_sphere = [&](double radius, auto& x, auto& y, auto& z) {
    const double cosine = 2 * uniform(random) - 1, angle = 2 * std::numbers::pi * uniform(random);
    const double across = radius * std::sqrt(1 - cosine * cosine);
    x = static_cast<float>(across * std::cos(angle));
    y = static_cast<float>(across * std::sin(angle));
    z = static_cast<float>(radius * cosine);
  };
  Systems spheres(count, n);
  for (Body& body : spheres.bodies) {
    const double inside = 0.001 + 0.998 * uniform(random);  // mass inside the radius
    const double radius = 1 / std::sqrt(std::pow(inside, -2.0 / 3) - 1);
    double q = 0, y = 1;  // the speed, as a fraction of the escape speed
    while (y > q * q * std::pow(1 - q * q, 3.5)) {
      q = uniform(random);
      y = 0.1 * uniform(random);
    }
    on_sphere(radius, body.x, body.y, body.z);
    on_sphere(q * std::sqrt(2 / std::sqrt(1 + radius * radius)), body.vx, body.vy, body.vz);
    body.mass = 1.0f / static_cast<float>(n);
  }
  return spheres;
}

struct Vector {
  double x = 0, y = 0, z = 0;
};

// Returns a_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2).
Vector acceleration(std::span<const BodyF64> all, std::size_t i, double softening_squared) {
  Vector a;
  for (const BodyF64& b : all) {
    const double dx = b.x - all[i].x, dy = b.y - all[i].y, dz = b.z - all[i].z;
    const double squared = dx * dx + dy * dy + dz * dz + softening_squared;
    const double s = b.mass / (squared * std::sqrt(squared));
    a = {a.x + s * dx, a.y + s * dy, a.z + s * dz};
  }
  return a;
}

SystemsF64 as_float64(const Systems& from) {
  SystemsF64 to(from.count, from.bodies_per_system);
  for (std::size_t k = 0; k < from.bodies.size(); ++k) to.bodies[k] = widened(from.bodies[k]);
  return to;
}

void require(const char* what, double error, double limit) {
  std::printf("%-13s error %.1e, limit %.1e\n", what, error, limit);
  if (!(error <= limit)) throw std::runtime_error(joined(what, " is wrong"));  // a NaN is wrong too
}

// Checks 64 bodies of every system: after a time step of length 1 from rest, a body's velocity
// equals its acceleration.
void check_forces(Simulate simulate, Run run, const Systems& start, double limit) {
  Systems kicked = start;
  for (Body& body : kicked.bodies) body.vx = body.vy = body.vz = 0;
  const SystemsF64 exact = as_float64(start);
  run.dt = 1;
  run.steps = 1;
  simulate(run, kicked);
  double squared_error = 0, squared_sum = 0;
  for (int s = 0; s < start.count; ++s) {
    const std::size_t n = exact.system(s).size();
    for (std::size_t i = 0; i < n; i += (n - 1) / 64 + 1) {
      const Vector a = acceleration(exact.system(s), i, run.softening_squared);
      const Body& b = kicked.system(s)[i];
      squared_error += std::pow(b.vx - a.x, 2) + std::pow(b.vy - a.y, 2) + std::pow(b.vz - a.z, 2);
      squared_sum += a.x * a.x + a.y * a.y + a.z * a.z;
    }
  }
  require("force", std::sqrt(squared_error / std::max(squared_sum, 1e-300)), limit);
}

// Takes five time steps of small systems, and compares every body with the same steps in float64.
void check_steps(Simulate simulate, Run run, double limit) {
  Systems systems = plummer_spheres(3, 301);
  SystemsF64 exact = as_float64(systems);
  run.dt = 0.01f;
  run.steps = 5;
  simulate(run, systems);
  simulate_float64({run.dt, run.steps, run.softening_squared, 1}, exact);
  double largest = 0;
  for (std::size_t k = 0; k < systems.bodies.size(); ++k) {
    const Body& b = systems.bodies[k];
    const BodyF64& e = exact.bodies[k];
    const double error = std::hypot(b.x - e.x, b.y - e.y, b.z - e.z);
    largest = error <= largest ? largest : error / std::max(1.0, std::hypot(e.x, e.y, e.z));
  }
  require("five steps", largest, limit);
}

int check_and_time(const StepInfo& info, Simulate simulate, const FoundDevice& device) {
  const int n = static_cast<int>(bodies.value);
  const Systems start = plummer_spheres(static_cast<int>(systems.value), n);
  const float eps = static_cast<float>(softening.value);
  Run run{static_cast<float>(dt.value), static_cast<int>(steps.value), eps * eps,
          static_cast<int>(std::min<double>(devices.value, device.count)),
          info.approximation.value_or(Approximation{})};
  // A tree's error is about 1e-3 at its default angle, so its limit is wide. For direct sums the
  // limit grows with sqrt(n), as the accumulated rounding error of n terms does.
  const double limit = info.approximation ? 2e-2 : 1e-6 + 1e-7 * std::sqrt(n);
  check_forces(simulate, run, start, limit);
  check_steps(simulate, run, info.approximation ? 1e-4 : 1e-5);

  Systems moving = start;  // the checks above served as the warm-up
  const Timing timing = simulate(run, moving);
  const double interactions = systems.value * n * static_cast<double>(n) * run.steps;
  std::printf("%s on %s: %g systems of %d bodies, %d steps\n", info.name,
              *device.name ? device.name : device.backend, systems.value, n, run.steps);
  if (std::string_view(device.backend) == "hostcuda")
    std::printf("right; emulated on the CPU, so its time says nothing about a GPU\n");
  else
    std::printf("right; compute %.6f s, %.4g G interactions/s (N^2 per step)\n", timing.compute,
                interactions / timing.compute * 1e-9);
  return 0;
}

}  // namespace

// Takes kick-then-drift steps in float64.
Timing simulate_float64(const RunF64& run, SystemsF64& systems) {
  for (int step = 0; step < run.steps; ++step) {
    for (int s = 0; s < systems.count; ++s) {
      const auto all = systems.system(s);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Vector a = acceleration(all, i, run.softening_squared);
        all[i].vx += a.x * run.dt;
        all[i].vy += a.y * run.dt;
        all[i].vz += a.z * run.dt;
      }
    }
    for (BodyF64& b : systems.bodies) {
      b.x += b.vx * run.dt;
      b.y += b.vy * run.dt;
      b.z += b.vz * run.dt;
    }
  }
  return {};
}

int run_step(const StepInfo& info, Simulate simulate, QueryDevice query, int argc, char** argv) {
  try {
    read_options(argc, argv);
    const FoundDevice device = query();
    if (device.count > 0) return check_and_time(info, simulate, device);
    std::fprintf(stderr, "%s: no CUDA device: %s\n", info.name, device.missing);
    return 77;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s\n", info.name, error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", info.name, error.what());
    return 1;
  }
}

}  // namespace nbody
