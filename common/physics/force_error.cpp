#include "physics/force_error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "physics/reference.h"
#include "physics/validation/tree_reference.h"

namespace nbody {
namespace {

// Returns the smallest error e such that at least the fraction `share` of all errors is at most e
// (nearest rank).
double quantile(const std::vector<double>& sorted, double share) {
  const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

struct Row {
  double theta;
  ErrorLimit monopole, quadrupole;
};

// Limits per angle: twice the largest error of the first step with a tree, with leaves of up to 16
// bodies and groups of 32. The error was measured in 150 random problems of 20 to 1200 bodies
// (tests/step_tests/random_problems_test.cpp, seeds 7000 to 7149), in nine scenarios with 2000
// bodies, and for 40 to 500 bodies evenly spaced on lines, planes and bars. The evenly spaced
// bodies have the largest errors, up to ten times those of the scenarios, because most of the force
// on such a body comes from a few nodes whose errors are similar.
constexpr std::array<Row, 7> kRows = {{
    {0.0, {0, 0}, {0, 0}},
    {0.2, {2.7e-3, 7.6e-3}, {9.6e-5, 2.3e-4}},
    {0.3, {6.5e-3, 1.8e-2}, {4.0e-4, 1.6e-3}},
    {0.4, {1.7e-2, 3.8e-2}, {2.5e-3, 5.1e-3}},
    {0.6, {3.8e-2, 1.1e-1}, {2.4e-2, 3.6e-2}},
    {0.8, {8.2e-2, 2.5e-1}, {3.9e-2, 1.4e-1}},
    {1.0, {2.7e-1, 9.7e-1}, {1.9e-1, 9.4e-1}},
}};

// Limits per unit of the force tolerance: twice the largest error of the first step with one, at
// angle 1 and tolerances of 5e-4 to 5e-2, for the problems above (of the random problems, only
// seeds 7000 to 7059). Nodes without quadrupoles have errors of the same sign all over a sphere, so
// twice the error of 300 to 5000 bodies on one or two spheres applies to them. If a tolerance
// decides which nodes are accepted, all accepted nodes have similar errors, so the shape of a
// system matters less than if an angle decides. Below kFineTolerance, the error falls more slowly
// than the tolerance, because the errors of more and more nodes add up: in galaxies of 20,000
// bodies the error is proportional to the tolerance to the power 0.6.
constexpr double kFineTolerance = 1e-3, kFineMonopoleTolerance = 5e-3;
constexpr ErrorLimit kMonopolePerTolerance = {1.4, 4.2}, kQuadrupolePerTolerance = {0.15, 0.76};
// Step 16 accepts more nodes with series of orders 4 and 5, because it knows their second moments.
constexpr double kOfHighOrders = 1.5;

// A NaN would make the sort order undefined, so it counts as the worst error.
double percentile99(std::vector<double> values) {
  for (double& value : values)
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * 99 / 100];
}

}  // namespace

template <class Real>
ForceError force_error(const BasicSystems<Real>& start, double softening_squared, int count,
                       const Advance<Real>& advance) {
  using W = Wide<Real>;
  BasicSystems<Real> kicked = start;  // a kick of length 1 from rest gives the accelerations
  for (auto& body : kicked.bodies) body.vx = body.vy = body.vz = 0;
  advance(kicked, 1, 1);

  const auto n = static_cast<std::size_t>(start.bodies_per_system);
  const int all = static_cast<int>(start.bodies.size());
  std::vector<std::vector<std::size_t>> bodies(static_cast<std::size_t>(start.count));
  for (const int body : evenly_spaced(all, std::min(count, all)))
    bodies[static_cast<std::size_t>(body) / n].push_back(static_cast<std::size_t>(body) % n);
  std::vector<double> errors;
  for (int s = 0; s < start.count; ++s) {
    const std::vector<std::size_t>& which = bodies[static_cast<std::size_t>(s)];
    if (which.empty()) continue;
    const BasicReference<W> reference(start.system(s));
    std::vector<double> of_system(which.size());
#pragma omp parallel for schedule(static) if (which.size() * n > 10000)
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto a = reference.acceleration(static_cast<int>(which[k]), softening_squared);
      const auto difference = velocity<W>(kicked.system(s)[which[k]]) - a;
      const double error = relative_error(length(difference), length(a));
      // A NaN would make the sort order undefined, so it counts as the worst error.
      of_system[k] = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
    errors.insert(errors.end(), of_system.begin(), of_system.end());
  }
  std::sort(errors.begin(), errors.end());
  double squares = 0;
  for (const double error : errors) squares += error * error;
  return {static_cast<int>(errors.size()), std::sqrt(squares / static_cast<double>(errors.size())),
          quantile(errors, 0.5),           quantile(errors, 0.99),
          quantile(errors, 0.999),         errors.back()};
}

template ForceError force_error(const BasicSystems<float>&, double, int, const Advance<float>&);
template ForceError force_error(const BasicSystems<double>&, double, int, const Advance<double>&);

std::vector<int> evenly_spaced(int n, int count) {
  std::vector<int> which;
  for (long long k = 0; k < count; ++k)
    which.push_back(count == 1 ? 0 : static_cast<int>(k * (n - 1) / (count - 1)));
  return which;
}

// If theta lies between two rows, the row with the larger angle applies.
ErrorLimit error_limit(const Approximation& approximation) {
  const auto row = std::find_if(kRows.begin(), kRows.end() - 1, [&](const Row& candidate) {
    return approximation.theta <= static_cast<float>(candidate.theta);
  });
  const bool monopole = approximation.multipole == 0;
  const ErrorLimit of_angle = monopole ? row->monopole : row->quadrupole;
  if (!approximation.force_tolerance) return of_angle;
  const ErrorLimit& per_tolerance = monopole ? kMonopolePerTolerance : kQuadrupolePerTolerance;
  const double fine = monopole ? kFineMonopoleTolerance : kFineTolerance;
  const double tolerance = (approximation.order.value_or(0) > 3 ? kOfHighOrders : 1) *
                           std::sqrt(*approximation.force_tolerance *
                                     std::max<double>(*approximation.force_tolerance, fine));
  return {std::min(of_angle.rms, tolerance * per_tolerance.rms),
          std::min(of_angle.p99, tolerance * per_tolerance.p99)};
}

std::optional<Approximation> by_angle(const Approximation& approximation) {
  if (!approximation.force_tolerance || approximation.order) return std::nullopt;
  Approximation unlimited = approximation;
  unlimited.theta =
      std::min(unlimited.theta, 0.6f);  // a larger angle would leave few nodes to open
  unlimited.force_tolerance = std::numeric_limits<float>::max();
  return unlimited;
}

std::optional<Approximation> by_series(const Approximation& approximation) {
  if (!approximation.order || !(approximation.theta > 0)) return std::nullopt;
  Approximation coarse = approximation;
  coarse.theta = 1;
  coarse.force_tolerance = 1;
  return coarse;
}

std::optional<Approximation> finer(const Approximation& approximation) {
  const float theta = approximation.multipole == 0 ? 0.2f : 0.3f;  // limits are < kMaxLimit
  if (approximation.theta <= theta) return std::nullopt;
  Approximation fine = approximation;
  fine.theta = theta;
  // Step 16's tolerance shrinks with a power of the angle that grows with the order: so little
  // error would be allowed at a small angle that its series would not be used there. A tolerance of
  // 1 is too large for order 2, whose errors grow with the number of bodies.
  if (fine.order) fine.force_tolerance = *fine.order == 2 ? theta * theta : 1;
  return fine;
}

double acceleration_rms_limit(Summation summation, int bodies_per_system) {
  const double tiled = 5e-7;
  // If there are more than a few hundred tiles, the sum over the tiles is itself a running sum of
  // many terms.
  if (summation == Summation::tiled)
    return tiled * std::max(1.0, std::sqrt(bodies_per_system / 65536.0));
  return tiled + 4e-8 * std::sqrt(bodies_per_system);
}

template <class Real>
double ForceCheck<Real>::rms_limit() const {
  return acceleration_rms_limit(input_.summation, input_.start.bodies_per_system) * kRounding<Real>;
}

template <class Real>
double ForceCheck<Real>::worst_limit() const {
  // Number of roundings in one interaction; a reciprocal square root counts as eight of them.
  constexpr double kOfInteraction = 32;
  const double n = input_.start.bodies_per_system;
  const auto additions = [n](double tile) { return std::min(n, tile + std::ceil(n / tile)); };
  const double depth = input_.summation == Summation::running
                           ? n
                           : std::max(additions(kSmallestTile), additions(kLargestTile));
  return (kOfInteraction + depth) * unit_roundoff<Real>;
}

template <class Real>
double ForceCheck<Real>::worst_error(const Reference& reference, int i, W error,
                                     W magnitude) const {
  if (error <= worst_limit() * magnitude) return relative_error(error, magnitude);
  const W lost = reference.lost_below_range(i, input_.softening_squared);
  return relative_error(error <= lost ? W{0} : error - lost, magnitude);
}

template <class Real>
void ForceCheck<Real>::check_each(Check& worst, Bodies bodies, Bodies kicked,
                                  const std::vector<int>& which) const {
  const Reference reference(bodies);
  for (const int i : which) {
    const auto force = reference.force(i, input_.softening_squared);
    const auto off = velocity<W>(kicked[static_cast<std::size_t>(i)]) - force.acceleration;
    worst.value = max_or_nan(worst.value, worst_error(reference, i, length(off), force.magnitude));
  }
}

template <class Real>
double ForceCheck<Real>::check(ForceChecks& checks, Bodies bodies, Bodies kicked) const {
  const Reference reference(bodies);
  std::vector<double> relative(which_.size()), worst(which_.size());
  std::vector<std::array<W, 4>> squares_of(which_.size());
  // It takes as long to start threads as to compute about ten thousand interactions. The schedule
  // is dynamic, because other threads may be using some of the cores.
#pragma omp parallel for schedule(dynamic, 8) if (which_.size() * kicked.size() > 10000)
  for (std::size_t k = 0; k < which_.size(); ++k) {
    const auto force = reference.force(which_[k], input_.softening_squared);
    const auto difference =
        velocity<W>(kicked[static_cast<std::size_t>(which_[k])]) - force.acceleration;
    squares_of[k] = {dot(difference, difference), dot(force.acceleration, force.acceleration),
                     force.magnitude * force.magnitude, force.squares};
    relative[k] = relative_error(length(difference), force.magnitude);
    worst[k] = worst_error(reference, which_[k], length(difference), force.magnitude);
  }
  // Adds the errors in a fixed order, so that the result does not depend on the number of threads.
  W error = 0, scale = 0, magnitudes = 0, squares = 0;
  for (const auto& [e, a, m, q] : squares_of) {
    error += e;
    scale += a;
    magnitudes += m;
    squares += q;
  }
  for (const double error : worst) checks.worst.value = max_or_nan(checks.worst.value, error);
  const auto of_scale = [&](W sum) { return root_of_ratio(sum, scale); };
  // If a few close pairs dominate, their errors do not average out over the system. If forces
  // cancel, the same error is larger relative to the sum of the forces.
  const double dominance = of_scale(squares), cancellation = of_scale(magnitudes);
  const double rms = of_scale(error), p99 = percentile99(std::move(relative));
  const double rms_limit =
      std::hypot(this->rms_limit() * std::hypot(1, 3 * dominance) * std::max(1.0, cancellation / 4),
                 checks.approximate.rms * cancellation);
  const double p99_limit = std::hypot(4 * this->rms_limit(), checks.approximate.p99);
  const bool close = rms <= rms_limit && p99 <= p99_limit;
  const ErrorLimit loss = close ? ErrorLimit{} : loss_in_sums(bodies);
  checks.rms.keep_worse(rms, std::hypot(rms_limit, loss.rms));
  checks.p99.keep_worse(p99, std::hypot(p99_limit, loss.p99));
  return cancellation;
}

template <>
ErrorLimit ForceCheck<float>::check_tree(Check& check, std::span<const Body> bodies,
                                         std::span<const Body> kicked, float theta,
                                         const std::vector<int>& which) const {
  const ReferenceSystem direct(bodies);
  const TreeReference tree(bodies, *input_.tree, theta);
  std::vector<double> errors(which.size()), own(which.size());
  double squares = 0, errors_squared = 0, magnitudes_squared = 0;
#pragma omp parallel for reduction(+ : squares, errors_squared, magnitudes_squared) \
    schedule(dynamic, 16)
  for (std::size_t k = 0; k < which.size(); ++k) {
    const int i = which[k];
    const auto force = direct.force(i, input_.softening_squared);
    const auto of_tree = tree.force(i, input_.approximation.multipole, input_.softening_squared);
    const double error =
        length(velocity(kicked[static_cast<std::size_t>(i)]) - of_tree.acceleration);
    double allowed = of_tree.allowance;
    if (!(error <= allowed + check.limit * force.magnitude)) allowed += of_tree.lost;
    errors[k] = relative_error(error <= allowed ? 0 : error - allowed, force.magnitude);
    const double off = length(of_tree.acceleration - force.acceleration) + allowed;
    own[k] = relative_error(off, force.magnitude);
    squares += own[k] * own[k];
    errors_squared += off * off;
    magnitudes_squared += force.magnitude * force.magnitude;
  }
  for (const double error : errors) check.value = max_or_nan(check.value, error);
  // The acceleration_rms check measures the second argument of max, which exceeds the first
  // argument if strong forces have larger relative errors.
  const double rms = std::max(std::sqrt(squares / static_cast<double>(which.size())),
                              root_of_ratio(errors_squared, magnitudes_squared));
  return {rms, percentile99(std::move(own))};
}
template <>
ErrorLimit ForceCheck<double>::check_tree(Check&, std::span<const Body>, std::span<const Body>,
                                          float, const std::vector<int>&) const {
  return {};  // no step with a tree computes in float64
}

template <class Real>
ErrorLimit ForceCheck<Real>::loss_in_sums(Bodies bodies) const {
  constexpr double kRoom = 1.25;  // the program may add in another order or round differently
  const Reference reference(bodies);
  const std::vector<int> tiles = input_.summation == Summation::running
                                     ? std::vector{reference.size()}
                                     : std::vector{kSmallestTile, kLargestTile};
  std::vector<double> relative(which_.size());
  std::vector<W> errors(which_.size()), scales(which_.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < which_.size(); ++k) {
    const auto force = reference.force(which_[k], input_.softening_squared);
    W worst = 0;
    for (const int tile : tiles) {
      const auto difference =
          reference.rounded_acceleration(which_[k], input_.softening_squared, tile) -
          force.acceleration;
      worst = std::max(worst, dot(difference, difference));
    }
    errors[k] = worst;
    scales[k] = dot(force.acceleration, force.acceleration);
    relative[k] = relative_error(std::sqrt(worst), force.magnitude);
  }
  const W error = std::accumulate(errors.begin(), errors.end(), W{});
  const W scale = std::accumulate(scales.begin(), scales.end(), W{});
  const double rms = kRoom * root_of_ratio(error, scale);
  const double p99 = kRoom * percentile99(std::move(relative));
  // If the sums overflow Real, the loss cannot be computed, so the limits allow no loss.
  return std::isfinite(rms) && std::isfinite(p99) ? ErrorLimit{rms, p99} : ErrorLimit{};
}

template class ForceCheck<float>;
template class ForceCheck<double>;

}  // namespace nbody
