#include "meter.h"

#include <algorithm>
#include <cmath>

#include "messages.h"
#include "physics/vector3.h"

namespace nbody::view {
namespace {

constexpr double kWindow = 1.0;  // seconds
}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Meter::Meter(const Systems& systems)
    : interactions_per_step_(static_cast<double>(systems.bodies.size()) *
                             systems.bodies_per_system) {}

void Meter::take(const Simulation& simulation) {
  const Timing& timing = simulation.timing();
  readings_.push_back({stopwatch_.seconds(), timing.compute, timing.total, simulation.step()});
  while (readings_.size() > 2 && readings_[1].wall < readings_.back().wall - kWindow)
    readings_.pop_front();
}

int Meter::steps_in(double seconds) const {
  if (readings_.size() < 2) return 1;
  const Reading &last = readings_.back(), &before = readings_[readings_.size() - 2];
  const double fit = static_cast<double>(last.step - before.step) * seconds /
                     std::max(last.total - before.total, 1e-9);
  return static_cast<int>(std::clamp<double>(fit, 1, kMaxStepsPerFrame));
}

double Meter::rate(double Reading::*clock) const {
  if (readings_.size() < 2) return 0;
  const Reading &last = readings_.back(), &first = readings_.front();
  return static_cast<double>(last.step - first.step) / std::max(last.*clock - first.*clock, 1e-9);
}

int watchable_steps(const Systems& systems, double dt) {
  Vector3 centre;
  for (const Body& body : systems.bodies) centre += Vector3{body.x, body.y, body.z};
  centre = (1.0 / static_cast<double>(systems.bodies.size())) * centre;
  std::vector<double> distances, speeds;
  for (const Body& body : systems.bodies) {
    distances.push_back(length(Vector3{body.x, body.y, body.z} - centre));
    speeds.push_back(length(Vector3{body.vx, body.vy, body.vz}));
  }
  const double steps = median(distances) / 200 / (median(speeds) * std::abs(dt));
  // The quotient is infinite for bodies at rest, and NaN if they also coincide.
  if (!(steps >= 1)) return 1;
  return static_cast<int>(std::min<double>(steps, kMaxStepsPerFrame));
}

}  // namespace nbody::view
