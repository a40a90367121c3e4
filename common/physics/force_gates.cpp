#include "physics/force_gates.h"

#include <algorithm>
#include <cmath>

namespace nbody {
namespace {

// A NaN would make the order of the sort undefined: it is the worst error there is.
double percentile99(std::vector<double> values) {
  for (double& value : values)
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * 99 / 100];
}

}  // namespace

double acceleration_rms_limit(Summation summation, int bodies_per_system) {
  const double tiled = 5e-7;
  // Beyond some hundred tiles the sum of the tiles is a long running sum itself.
  if (summation == Summation::tiled)
    return tiled * std::max(1.0, std::sqrt(bodies_per_system / 65536.0));
  return tiled + 4e-8 * std::sqrt(bodies_per_system);
}

template <class Real>
double ForceCheck<Real>::rms_limit() const {
  return acceleration_rms_limit(input_.summation, input_.start.bodies_per_system) * kRounding<Real>;
}

template <class Real>
void ForceCheck<Real>::check(ForceGates& gates, Bodies bodies, Bodies kicked) const {
  using W = Wide<Real>;
  const BasicReference<W> reference(bodies);
  std::vector<double> relative(which_.size());
  W error = 0, scale = 0, magnitudes = 0, squares = 0;
  // Threads cost more than some ten thousand interactions.
#pragma omp parallel for reduction(+ : error, scale, magnitudes, squares) schedule(static) \
    if (which_.size() * kicked.size() > 10000)
  for (std::size_t k = 0; k < which_.size(); ++k) {
    const auto force = reference.force(which_[k], input_.softening_squared);
    const auto difference =
        velocity<W>(kicked[static_cast<std::size_t>(which_[k])]) - force.acceleration;
    error += dot(difference, difference);
    scale += dot(force.acceleration, force.acceleration);
    magnitudes += force.magnitude * force.magnitude;
    squares += force.squares;
    relative[k] = relative_error(length(difference), force.magnitude);
  }
  const auto of_scale = [&](W sum) { return root_of_ratio(sum, scale); };
  // Where a few close pairs rule, their errors do not average out over the system; where forces
  // cancel, there is less to compare the errors with.
  const double dominance = of_scale(squares), cancelled = std::max(1.0, of_scale(magnitudes) / 4);
  const double rms = of_scale(error), p99 = percentile99(std::move(relative));
  const double rms_limit = std::hypot(this->rms_limit() * std::hypot(1, 3 * dominance) * cancelled,
                                      gates.approximate.rms * of_scale(magnitudes));
  const double p99_limit = std::hypot(4 * this->rms_limit(), gates.approximate.p99);
  const bool close = rms <= rms_limit && p99 <= p99_limit;
  const ErrorLimit loss = close ? ErrorLimit{} : loss_in_sums(bodies);
  gates.rms.keep_worse(rms, std::hypot(rms_limit, loss.rms));
  gates.p99.keep_worse(p99, std::hypot(p99_limit, loss.p99));
}

template <class Real>
ErrorLimit ForceCheck<Real>::loss_in_sums(Bodies bodies) const {
  using W = Wide<Real>;
  constexpr double kRoom = 1.25;  // the order and the products of the program are its own
  const BasicReference<W> reference(bodies);
  const std::vector<int> tiles = input_.summation == Summation::running
                                     ? std::vector{reference.size()}
                                     : std::vector{kSmallestTile, kLargestTile};
  std::vector<double> relative(which_.size());
  W error = 0, scale = 0;
#pragma omp parallel for reduction(+ : error, scale) schedule(static)
  for (std::size_t k = 0; k < which_.size(); ++k) {
    const auto force = reference.force(which_[k], input_.softening_squared);
    W worst = 0;
    for (const int tile : tiles) {
      const auto difference =
          reference.rounded_acceleration(which_[k], input_.softening_squared, tile) -
          force.acceleration;
      worst = std::max(worst, dot(difference, difference));
    }
    error += worst;
    scale += dot(force.acceleration, force.acceleration);
    relative[k] = relative_error(std::sqrt(worst), force.magnitude);
  }
  const double rms = kRoom * root_of_ratio(error, scale);
  const double p99 = kRoom * percentile99(std::move(relative));
  // Accelerations beyond what Real can hold excuse nothing.
  return std::isfinite(rms) && std::isfinite(p99) ? ErrorLimit{rms, p99} : ErrorLimit{};
}

template class ForceCheck<float>;
template class ForceCheck<double>;

}  // namespace nbody
