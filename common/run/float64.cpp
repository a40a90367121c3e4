#include "run/float64.h"

#include <algorithm>
#include <cmath>

#include "nbody/stopwatch.h"
#include "physics/reference.h"

namespace nbody {
namespace {

constexpr double kPerFloat32 = 0x1p-29;  // a rounding in float64 over one in float32

Vector3 position(const BodyF64& b) { return {b.x, b.y, b.z}; }
Vector3 velocity(const BodyF64& b) { return {b.vx, b.vy, b.vz}; }

std::size_t bodies_per_system(const Snapshot& snapshot) {
  return static_cast<std::size_t>(snapshot.systems.bodies_per_system);
}

void round_all(Snapshot& state) {
  std::transform(state.exact.begin(), state.exact.end(), state.systems.bodies.begin(), rounded);
}

struct Wide {
  long double x = 0, y = 0, z = 0;
};
Vector3 acceleration(std::span<const BodyF64> bodies, std::size_t i, long double eps) {
  Wide a;
  for (const BodyF64& b : bodies) {
    const long double dx = b.x - static_cast<long double>(bodies[i].x);
    const long double dy = b.y - static_cast<long double>(bodies[i].y);
    const long double dz = b.z - static_cast<long double>(bodies[i].z);
    const long double square = dx * dx + dy * dy + dz * dz + eps * eps;
    const long double s = b.mass / (square * std::sqrt(square));
    a.x += s * dx;
    a.y += s * dy;
    a.z += s * dz;
  }
  return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
}

double ratio(double error, double scale) { return error == 0 ? 0 : error / scale; }
// std::max drops a NaN that comes second; a gate must not.
double worst(double a, double b) { return std::isnan(b) || b > a ? b : a; }

// One step from rest with dt = 1 makes the velocities the accelerations; one step from the start
// must then be v1 = v0 + a dt, x1 = x0 + v1 dt.
std::vector<Gate> one_step(const Snapshot& start) {
  constexpr std::size_t kSamples = 100;  // of each system
  Snapshot kicked = start, moved = start;
  for (BodyF64& b : kicked.exact) b.vx = b.vy = b.vz = 0;
  kicked.dt = 1;
  simulate_float64(kicked, 1);
  simulate_float64(moved, 1);

  const std::size_t n = bodies_per_system(start), stride = (n - 1) / kSamples + 1;
  double error = 0, scale = 0, kick_drift = 0;
  for (std::size_t first = 0; first < start.exact.size(); first += n)
    for (std::size_t i = 0; i < n; i += stride) {
      const BodyF64 &before = start.exact[first + i], &after = moved.exact[first + i];
      const Vector3 a = acceleration({start.exact.data() + first, n}, i, start.softening);
      const Vector3 difference = velocity(kicked.exact[first + i]) - a;
      error += dot(difference, difference);
      scale += dot(a, a);
      const Vector3 v = velocity(before) + start.dt * a;
      const Vector3 x = position(before) + start.dt * velocity(after);
      kick_drift = worst(kick_drift, ratio(length(velocity(after) - v),
                                           length(velocity(before)) + length(a) * start.dt));
      kick_drift = worst(kick_drift, ratio(length(position(after) - x),
                                           length(x) + length(velocity(after)) * start.dt));
    }
  const double limit =
      acceleration_rms_limit(Summation::running, static_cast<int>(n)) * kPerFloat32;
  return {{"acceleration_rms", ratio(std::sqrt(error), std::sqrt(scale)), limit},
          {"kick_drift", kick_drift, 1e-6 * kPerFloat32}};
}

Gate conserved(const char* name, const Vector3& before, const Vector3& after, double scale,
               long long steps) {
  const double limit = (1e-5 + 1e-6 * std::sqrt(static_cast<double>(steps))) * kPerFloat32;
  return {name, ratio(length(after - before), scale), limit};
}

}  // namespace

Timing simulate_float64(Snapshot& state, int steps) {
  const Stopwatch stopwatch;
  const std::size_t n = bodies_per_system(state);
  for (std::size_t first = 0; first < state.exact.size(); first += n) {
    const std::span<BodyF64> bodies{state.exact.data() + first, n};
    ReferenceSystem system(bodies);
    for (int step = 0; step < steps; ++step)
      system.advance(state.dt, state.softening * state.softening);
    for (std::size_t i = 0; i < n; ++i) {
      const Vector3 x = system.position(static_cast<int>(i));
      const Vector3 v = system.velocity(static_cast<int>(i));
      bodies[i] = {x.x, x.y, x.z, v.x, v.y, v.z, bodies[i].mass};
    }
  }
  round_all(state);
  const double seconds = stopwatch.seconds();
  return {.compute = seconds, .total = seconds};
}

void drift_float64(Snapshot& state, double t) {
  for (BodyF64& b : state.exact) {
    b.x += b.vx * t;
    b.y += b.vy * t;
    b.z += b.vz * t;
  }
  round_all(state);
}

Diagnostics diagnose_float64(const Snapshot& snapshot) {
  Diagnostics sum;
  const std::size_t n = bodies_per_system(snapshot);
  for (std::size_t first = 0; first < snapshot.exact.size(); first += n) {
    sum += diagnose(std::span(snapshot.exact).subspan(first, n), snapshot.softening);
  }
  return sum;
}

Validation validate_float64(const Snapshot& initial, const Snapshot& final) {
  Validation result;
  result.sampled = true;
  result.gates = one_step(initial);

  double bad = 0, changed = 0, p_scale = 0, l_scale = 0;
  for (std::size_t k = 0; k < initial.exact.size(); ++k) {
    const BodyF64 &a = initial.exact[k], &b = final.exact[k];
    for (const double value : {b.x, b.y, b.z, b.vx, b.vy, b.vz, b.mass})
      bad += !std::isfinite(value);
    changed += !(a.mass == b.mass);
    const double speed = std::max(length(velocity(a)), length(velocity(b)));
    p_scale += a.mass * speed;
    l_scale += a.mass * speed * std::max(length(position(a)), length(position(b)));
  }
  result.gates.push_back({"finite", bad, 0});
  result.gates.push_back({"mass", changed, 0});
  const Diagnostics before = diagnose_float64(initial), after = diagnose_float64(final);
  const long long steps = final.step - initial.step;
  result.gates.push_back(conserved("momentum", before.momentum, after.momentum, p_scale, steps));
  result.gates.push_back(conserved("angular_momentum", before.angular_momentum,
                                   after.angular_momentum, l_scale, steps));
  return result;
}

}  // namespace nbody
