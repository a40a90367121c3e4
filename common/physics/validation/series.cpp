#include "physics/validation/series.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "physics/validation/systems.h"
#include "support/text.h"

namespace nbody {
namespace {

constexpr double kLimit = 4e-6;
constexpr int kSystems = 6;  // in other directions, so that every coefficient counts in some
constexpr double kSmallMass = 1e-4;  // of the source in one of the systems
// The distance |h| of the two points from their middle, in units of the source's distance: the
// highest order counts far more than rounding, and steps accept the node.
constexpr double kReach = 0.25;
// Far massless bodies make the whole system larger, in units of the source's distance, so that the
// two points are in a small cell without the source.
constexpr double kEdge = 2;
// The source is two points, at this distance from their centre, so it has a quadrupole. Its higher
// moments count less than rounding.
constexpr double kSpread = 0.02;
// The number of targets at h. Sorted along the curve, these come first or last. So of 32 targets a
// group of 32 has bodies at both points; of 256 a group of 64, 128 or 256 has, but none of 32.
constexpr int targets_at_h(int targets) { return targets * 3 / 8; }

// Returns a direction whose components are all large, so that no coefficient counts for little.
Vector3 drawn_direction(SystemRandom& random) {
  const auto component = [&random] { return random() % 2 == 0 ? random.drawn() : -random.drawn(); };
  const Vector3 v{component(), component(), component()};
  return 1 / length(v) * v;
}

// Returns a distance at which the softening counts.
double distance_of_source(double softening_squared) {
  const double softening = std::sqrt(softening_squared);
  return softening > 0 ? std::clamp(4 * softening, 0x1p-30, 0x1p30) : 1;
}

Body at_rest_at(const Vector3& x, double mass) {
  const auto rounded = [](double value) { return static_cast<float>(value); };
  return {rounded(x.x), rounded(x.y), rounded(x.z), 0, 0, 0, rounded(mass)};
}

// Fills a system with three clusters of `size` bodies: targets at h and -h, the source, and the far
// bodies. They all lie in one octant, so the two points are in a corner of the cube around all
// bodies, in a small cell without the source: no other body comes between them on the curve.
void place(std::span<Body> bodies, int size, double distance, double mass, double spread,
           SystemRandom random) {
  const Vector3 h = kReach * distance * drawn_direction(random);
  const Vector3 source = distance * drawn_direction(random);
  const Vector3 u = spread * distance * drawn_direction(random);
  const auto far = [&](double x) { return std::copysign(kEdge * distance, x); };
  for (int k = 0; k < size; ++k) {
    const auto at = [&](int cluster) -> Body& {
      return bodies[static_cast<std::size_t>(cluster * size + k)];
    };
    at(0) = at_rest_at(k < targets_at_h(size) ? h : -1.0 * h, 0);
    at(1) = at_rest_at(k % 2 == 0 ? source + u : source - u, mass / size);
    at(2) = at_rest_at({far(source.x), far(source.y), far(source.z)}, 0);
  }
}

// Compares the accelerations of one system, which are the velocities in `kicked`. Returns true if
// some of them come from a series.
bool compare(Check& check, std::span<const Body> bodies, std::span<const Body> kicked,
             double softening_squared, int order) {
  const std::size_t size = bodies.size() / 3;
  const double half = 0.5 * static_cast<double>(size) * bodies[size].mass;
  const Vector3 one = position(bodies[size]), other = position(bodies[size + 1]);
  const Vector3 centre = 0.5 * (one + other), x = -1.0 * centre;
  bool from_a_series = false;
  for (std::size_t i = 0; i < size; ++i) {
    const Vector3 a = velocity(kicked[i]);
    Vector3 exact{}, series{};
    for (const Vector3& point : {one, other}) {
      const Vector3 d = position(bodies[i]) - (point - centre);
      exact += acceleration_by_series(half, x + d, {}, softening_squared, 0);
      series += acceleration_by_series(half, x, d, softening_squared, order);
    }
    const double of_sum = length(a - exact), of_series = length(a - series);
    from_a_series |= of_series < of_sum;
    add_error(check, std::min(of_sum, of_series), length(exact));
  }
  return from_a_series;
}

}  // namespace

Vector3 acceleration_by_series(double mass, const Vector3& x, const Vector3& d,
                               double softening_squared, int order) {
  const double square = dot(x, x) + softening_squared;
  const double q = -dot(x, d) / square, ratio = dot(d, d) / square;
  double before = 0, term = 1;
  Vector3 sum = x;
  for (int n = 1; n <= order; ++n) {
    const double next = ((2 * n + 1) * q * term - (n + 1) * ratio * before) / n;
    sum += next * x + term * d;  // both have order n
    before = term;
    term = next;
  }
  return -mass / (square * std::sqrt(square)) * sum;
}

Check series_check(const Approximation& approximation, double softening_squared,
                   const Advance<float>& advance, int largest_group) {
  Check check{"series", 0, kLimit};
  const int order = approximation.order.value();
  const double distance = distance_of_source(softening_squared);
  const double mass = std::max(distance * distance, 1.0);  // not too small for float32
  const double spread = approximation.multipole == 0 ? 0 : kSpread;
  for (const int size : {32, 256}) {
    if (size > 32 && largest_group <= 32) break;
    Systems start(kSystems, 3 * size);
    for (int s = 0; s < kSystems; ++s)
      place(start.system(s), size, distance, s == 0 ? kSmallMass * mass : mass, spread,
            SystemRandom(4, s));
    Systems kicked = start;
    advance(kicked, 1, 1);
    int used = 0;
    for (int s = 0; s < kSystems; ++s)
      used += compare(check, start.system(s), kicked.system(s), softening_squared, order);
    if (used == kSystems) continue;
    check.open += format("%sno series for groups of %d bodies in %d of %d systems",
                         check.open.empty() ? "" : ", ", size, kSystems - used, kSystems);
  }
  return check;
}

}  // namespace nbody
