#include "physics/validation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "physics/diagnostics.h"
#include "physics/reference.h"

namespace nbody {
namespace {

// About two seconds of float64 on two cores.
constexpr double kFullBudget = 4e8;
constexpr double kSampleBudget = 4e8;

Vector3 position(const Body& b) { return {b.x, b.y, b.z}; }
Vector3 velocity(const Body& b) { return {b.vx, b.vy, b.vz}; }

// std::max drops a NaN that comes second; a gate must not.
double worst(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

double ratio(double error, double scale) {
  if (error == 0) return 0;
  return scale > 0 ? error / scale : std::numeric_limits<double>::infinity();
}

// Evenly spaced bodies, the first and the last always among them: the last is where a dropped tail
// and an off-by-one show.
std::vector<int> sample(int n, int count) {
  std::vector<int> which;
  count = std::clamp(count, std::min(n, 2), n);
  for (int k = 0; k < count; ++k) {
    which.push_back(
        count == 1 ? 0 : static_cast<int>(static_cast<long long>(k) * (n - 1) / (count - 1)));
  }
  return which;
}

struct ForceErrors {
  double rms = 0, p99 = 0;
};

ForceErrors force_errors(std::span<const Body> kicked, const ReferenceSystem& reference,
                         const std::vector<int>& which, double softening_squared) {
  std::vector<double> relative(which.size());
  double error = 0, scale = 0;
#pragma omp parallel for reduction(+ : error, scale) schedule(static)
  for (std::size_t k = 0; k < which.size(); ++k) {
    const auto force = reference.force(which[k], softening_squared);
    const Vector3 difference =
        velocity(kicked[static_cast<std::size_t>(which[k])]) - force.acceleration;
    error += dot(difference, difference);
    scale += dot(force.acceleration, force.acceleration);
    relative[k] = ratio(length(difference), force.magnitude);
  }
  // A NaN would make the order of the sort undefined: it is the worst error there is.
  for (double& value : relative) {
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  }
  std::sort(relative.begin(), relative.end());
  return {ratio(std::sqrt(error), std::sqrt(scale)), relative[(relative.size() - 1) * 99 / 100]};
}

// Does v1 = v0 + a dt and x1 = x0 + v1 dt hold, given the accelerations the step found itself?
double kick_drift_error(const Systems& before, const Systems& after, const Systems& kicked,
                        double dt) {
  double error = 0;
  double rms = 0;
  for (const Body& body : kicked.bodies) rms += dot(velocity(body), velocity(body));
  rms = std::sqrt(rms / static_cast<double>(kicked.bodies.size()));
  for (std::size_t k = 0; k < before.bodies.size(); ++k) {
    const Vector3 x0 = position(before.bodies[k]), v0 = velocity(before.bodies[k]);
    const Vector3 x1 = position(after.bodies[k]), v1 = velocity(after.bodies[k]);
    const Vector3 a = velocity(kicked.bodies[k]);
    const double speed = length(v0) + (length(a) + rms) * dt;
    error = worst(error, ratio(length(v1 - (v0 + dt * a)), speed));
    error = worst(error, ratio(length(x1 - (x0 + dt * v1)), length(x0) + length(v1) * dt));
  }
  return error;
}

// The largest difference of two states, relative to the size and the speed of the whole.
double state_difference(const Systems& a, const Systems& b) {
  double extent = 0, speed = 0, dx = 0, dv = 0;
  for (std::size_t k = 0; k < a.bodies.size(); ++k) {
    extent = worst(extent, length(position(a.bodies[k])));
    speed = worst(speed, length(velocity(a.bodies[k])));
    dx = worst(dx, length(position(a.bodies[k]) - position(b.bodies[k])));
    dv = worst(dv, length(velocity(a.bodies[k]) - velocity(b.bodies[k])));
  }
  return worst(ratio(dx, extent), ratio(dv, speed));
}

Gate mass_gate(const Systems& initial, const Systems& final) {
  double changed = 0;
  for (std::size_t k = 0; k < initial.bodies.size(); ++k) {
    changed += !(initial.bodies[k].mass == final.bodies[k].mass);
  }
  return {"mass", changed, 0};
}

// Momentum and angular momentum are compared with the sums of the magnitudes that cancel in them.
std::vector<Gate> conservation_gates(const ValidationInput& input, const Systems& kicked) {
  const double time = static_cast<double>(input.run.dt) * input.run.steps;
  double momentum = 0, angular_momentum = 0;
  for (int s = 0; s < input.initial.count; ++s) {
    const auto before = input.initial.system(s), after = input.final.system(s);
    const auto accelerations = kicked.system(s);
    Vector3 dp, dl;
    double p_scale = 0, l_scale = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const double m = before[i].mass;
      const Vector3 x0 = position(before[i]), v0 = velocity(before[i]);
      const Vector3 x1 = position(after[i]), v1 = velocity(after[i]);
      const double speed =
          std::max(length(v0), length(v1)) + length(velocity(accelerations[i])) * time;
      dp += m * (v1 - v0);
      dl += m * (cross(x1, v1) - cross(x0, v0));
      p_scale += m * speed;
      l_scale += m * std::max(length(x0), length(x1)) * speed;
    }
    momentum = worst(momentum, ratio(length(dp), p_scale));
    angular_momentum = worst(angular_momentum, ratio(length(dl), l_scale));
  }
  const double limit = 1e-5 + 1e-6 * std::sqrt(input.run.steps);
  return {{"momentum", momentum, limit}, {"angular_momentum", angular_momentum, limit}};
}

struct Trajectory {
  double error = 0;       // of the step, relative to the RMS distance from the centre
  double divergence = 0;  // of float64 forces on a float32 state, likewise
};

Trajectory trajectory_error(const ValidationInput& input, int s) {
  ReferenceSystem exact(input.initial.system(s)), rounded(input.initial.system(s));
  for (ReferenceSystem* reference : {&exact, &rounded}) {
    reference->drift(input.leading_drift);
    for (int step = 0; step < input.run.steps; ++step) {
      reference->advance(input.run.dt, input.run.softening_squared);
      if (reference == &rounded) reference->round_to_float();
    }
    reference->drift(-input.leading_drift);
  }
  Trajectory result;
  double extent = 0;
  for (int i = 0; i < exact.size(); ++i) {
    const Vector3 x = exact.position(i);
    const Vector3 step = position(input.final.system(s)[static_cast<std::size_t>(i)]) - x;
    const Vector3 rounding = rounded.position(i) - x;
    extent += dot(x, x);
    result.error += dot(step, step);
    result.divergence += dot(rounding, rounding);
  }
  return {ratio(std::sqrt(result.error), std::sqrt(extent)),
          ratio(std::sqrt(result.divergence), std::sqrt(extent))};
}

Gate trajectory_gate(const ValidationInput& input, double force_limit) {
  Gate gate{"trajectory", 0, 0};
  for (int s = 0; s < input.initial.count; ++s) {
    const Trajectory trajectory = trajectory_error(input, s);
    // Forces in float32 err by force_limit where the rounded reference errs by 6e-8.
    const double limit = 2e-6 + trajectory.divergence * 4 * force_limit / 6e-8;
    if (s == 0 || !(ratio(trajectory.error, limit) <= ratio(gate.value, gate.limit))) {
      gate.value = trajectory.error;
      gate.limit = limit;
    }
    gate.decidable = gate.decidable && trajectory.divergence < 1e-2;
  }
  return gate;
}

}  // namespace

bool Validation::passed() const {
  return std::all_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.passed(); });
}

double Validation::value(const std::string& name) const {
  for (const Gate& gate : gates) {
    if (gate.name == name) return gate.value;
  }
  return NAN;
}

double acceleration_rms_limit(Summation summation, int bodies_per_system) {
  const double tiled = 5e-7;
  // Beyond some hundred tiles the sum of the tiles is a long running sum itself.
  if (summation == Summation::tiled)
    return tiled * std::max(1.0, std::sqrt(bodies_per_system / 65536.0));
  return tiled + 4e-8 * std::sqrt(bodies_per_system);
}

Validation validate(const ValidationInput& input, ValidationMode mode, const Advance& advance) {
  const Systems& initial = input.initial;
  const int n = initial.bodies_per_system;
  const double pairs = static_cast<double>(initial.count) * n * n;
  Validation result;
  result.sampled = mode == ValidationMode::sampled || (mode == ValidationMode::automatic &&
                                                       pairs * (input.run.steps + 1) > kFullBudget);

  // The state the kernels see: for leapfrog the positions are half a step ahead.
  Systems start = initial;
  drift(start, static_cast<float>(input.leading_drift));
  const auto step = [&](Systems systems, float dt, int steps) {
    Run run = input.run;
    run.dt = dt;
    run.steps = steps;
    advance(run, systems);
    return systems;
  };

  Systems at_rest = start;
  for (Body& body : at_rest.bodies) body.vx = body.vy = body.vz = 0;
  const Systems kicked = step(at_rest, 1.0f, 1);

  const double affordable = kSampleBudget / (static_cast<double>(initial.count) * n);
  const auto which = sample(n, result.sampled ? static_cast<int>(std::min(1e6, affordable)) : n);
  ForceErrors force;
  for (int s = 0; s < initial.count; ++s) {
    const auto errors = force_errors(kicked.system(s), ReferenceSystem(start.system(s)), which,
                                     input.run.softening_squared);
    force.rms = worst(force.rms, errors.rms);
    force.p99 = worst(force.p99, errors.p99);
  }
  const double rms_limit = acceleration_rms_limit(input.info.summation, n);
  result.gates.push_back({"acceleration_rms", force.rms, rms_limit});
  result.gates.push_back({"acceleration_p99", force.p99, 4 * rms_limit});

  const Systems once = step(start, input.run.dt, 1);
  result.gates.push_back({"kick_drift", kick_drift_error(start, once, kicked, input.run.dt), 1e-6});
  const Systems twice = step(start, input.run.dt, 2);
  result.gates.push_back(
      {"composition", state_difference(twice, step(once, input.run.dt, 1)), 1e-6});

  result.gates.push_back(mass_gate(initial, input.final));
  for (Gate& gate : conservation_gates(input, kicked)) result.gates.push_back(std::move(gate));
  if (!result.sampled) result.gates.push_back(trajectory_gate(input, rms_limit));
  return result;
}

}  // namespace nbody
