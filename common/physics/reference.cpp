#include "physics/reference.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "physics/simd_clones.h"

namespace nbody {
namespace {

// Returns x^(-3/2) for a positive number, correct to a few units in the last digit. The
// multiplications and additions of this function take less than half as long as a division and a
// square root, for which a processor has only one slow unit.
[[gnu::always_inline]] inline double inverse_cubed_root(double x) {
  // The first line halves and negates the exponent, which gives 1 / sqrt(x) with an error of 4 %. A
  // third-order step reduces this error to 1e-4.
  double y = std::bit_cast<double>(0x5fe6eb50c7b537a9u - (std::bit_cast<std::uint64_t>(x) >> 1));
  const double far = 1 - x * y * y;
  y += y * far * (0.5 + 0.375 * far);
  // The result is y^3 (1 - e)^(-3/2); the last factor is approximated by the first terms of its
  // series.
  const double e = 1 - x * y * y;
  return y * y * y * (1 + e * (1.5 + e * (1.875 + e * (2.1875 + e * 2.4609375))));
}

}  // namespace

template <class Wide>
template <class Float>
void BasicReference<Wide>::fill(std::span<const BasicBody<Float>> bodies) {
  for (const auto& [member, component] :
       {std::pair(&BasicBody<Float>::x, &x_), std::pair(&BasicBody<Float>::y, &y_),
        std::pair(&BasicBody<Float>::z, &z_), std::pair(&BasicBody<Float>::vx, &vx_),
        std::pair(&BasicBody<Float>::vy, &vy_), std::pair(&BasicBody<Float>::vz, &vz_),
        std::pair(&BasicBody<Float>::mass, &mass_)}) {
    component->reserve(bodies.size());
    for (const BasicBody<Float>& body : bodies) component->push_back(body.*member);
  }
}

// The compiler inlines this function into the functions below, each of which it compiles for
// several vector widths.
template <class Wide>
template <bool kWithScales, bool kDivides>
[[gnu::always_inline]] inline typename BasicReference<Wide>::Force BasicReference<Wide>::sum(
    int i, Wide softening_squared) const {
  const Wide xi = x_[at(i)], yi = y_[at(i)], zi = z_[at(i)];
  const Wide *x = x_.data(), *y = y_.data(), *z = z_.data(), *mass = mass_.data();
  const int n = size();
  constexpr bool kVectors = std::is_same_v<Wide, double>;  // long double has no vector registers
  Wide ax = 0, ay = 0, az = 0, magnitude = 0, squares = 0;
#pragma omp simd reduction(+ : ax, ay, az, magnitude, squares) if (simd : kVectors)
  for (int j = 0; j < n; ++j) {
    const Wide dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    const Wide distance_squared = dx * dx + dy * dy + dz * dz;
    const Wide softened = distance_squared + softening_squared;
    Wide s;
    if constexpr (kDivides)
      s = mass[j] / (softened * std::sqrt(softened));
    else
      s = mass[j] * inverse_cubed_root(softened);
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
    if constexpr (kWithScales) {
      magnitude += s * std::sqrt(distance_squared);
      squares += s * s * distance_squared;
    }
  }
  return {{ax, ay, az}, magnitude, squares};
}

template <>
NBODY_CLONES ReferenceSystem::Force ReferenceSystem::force(int i, double softening_squared) const {
  return sum<true, false>(i, softening_squared);
}
template <>
NBODY_CLONES Vector3 ReferenceSystem::acceleration(int i, double softening_squared) const {
  return sum<false, false>(i, softening_squared).acceleration;
}
template <>
NBODY_CLONES Vector3 ReferenceSystem::divided_acceleration(int i, double softening_squared) const {
  return sum<false, true>(i, softening_squared).acceleration;
}
template <class Wide>
typename BasicReference<Wide>::Force BasicReference<Wide>::force(int i,
                                                                 Wide softening_squared) const {
  return sum<true, true>(i, softening_squared);
}
template <class Wide>
BasicVector3<Wide> BasicReference<Wide>::acceleration(int i, Wide softening_squared) const {
  return sum<false, true>(i, softening_squared).acceleration;
}
template <class Wide>
BasicVector3<Wide> BasicReference<Wide>::divided_acceleration(int i, Wide softening_squared) const {
  return acceleration(i, softening_squared);
}

template <class Wide>
BasicVector3<Wide> BasicReference<Wide>::rounded_acceleration(int i, Wide softening_squared,
                                                              int tile) const {
  // Sums are kept in Real, because g++ 12, if it vectorizes, drops a cast from W to Real and back.
  const auto interaction = [&](int j) -> BasicVector3<Real> {
    const Vector d = position(j) - position(i);
    const Wide softened = dot(d, d) + softening_squared;
    const Wide inverse_cube = 1 / (softened * std::sqrt(softened));
    const Vector a = mass_[at(j)] * inverse_cube * d;
    const Wide lost = nbody::lost_below_range<Real>(mass_[at(j)], inverse_cube, length(d));
    if (lost >= mass_[at(j)] * inverse_cube * length(d)) return {};
    return {static_cast<Real>(a.x), static_cast<Real>(a.y), static_cast<Real>(a.z)};
  };
  BasicVector3<Real> total;
  for (int first = 0, end; first < size(); first = end) {
    end = first + std::min(tile, size() - first);
    int largest = first;
    Real square = 0;
    for (int j = first; j < end; ++j) {
      const auto a = interaction(j);
      if (dot(a, a) > square) square = dot(a, a), largest = j;
    }
    BasicVector3<Real> sum = interaction(largest);
    for (int j = first; j < end; ++j)
      if (j != largest) sum += interaction(j);
    total += sum;
  }
  return {total.x, total.y, total.z};
}

template <class Wide>
Wide BasicReference<Wide>::lost_below_range(int i, Wide softening_squared) const {
  Wide lost = 0;
  for (int j = 0; j < size(); ++j) {
    const Vector d = position(j) - position(i);
    const Wide square = dot(d, d), softened = square + softening_squared;
    const Wide inverse_cube = 1 / (softened * std::sqrt(softened));
    lost += nbody::lost_below_range<Real>(mass_[at(j)], inverse_cube, std::sqrt(square));
  }
  return lost;
}

template <class Wide>
template <class Acceleration>
void BasicReference<Wide>::kick(Wide dt, const Acceleration& acceleration) {
  const int n = size();
  // The schedule is dynamic, because other threads may be using some of the cores.
#pragma omp parallel for schedule(dynamic, 32) if (is_worth_a_team(n))
  for (int i = 0; i < n; ++i) {
    const Vector a = acceleration(i);
    vx_[at(i)] += a.x * dt;
    vy_[at(i)] += a.y * dt;
    vz_[at(i)] += a.z * dt;
  }
}

template <class Wide>
void BasicReference<Wide>::advance(Wide dt, Wide softening_squared) {
  kick(dt, [&](int i) { return acceleration(i, softening_squared); });
  drift(dt);
}

template <class Wide>
void BasicReference<Wide>::advance_by_division(Wide dt, Wide softening_squared) {
  kick(dt, [&](int i) { return divided_acceleration(i, softening_squared); });
  drift(dt);
}

template <class Wide>
void BasicReference<Wide>::advance_rounded(Wide dt, Wide softening_squared, int tile) {
  kick(dt, [&](int i) { return rounded_acceleration(i, softening_squared, tile); });
  drift(dt);
}

template <class Wide>
void BasicReference<Wide>::drift(Wide t) {
  for (int i = 0; i < size(); ++i) {
    x_[at(i)] += vx_[at(i)] * t;
    y_[at(i)] += vy_[at(i)] * t;
    z_[at(i)] += vz_[at(i)] * t;
  }
}

template <class Wide>
void BasicReference<Wide>::advance_roughly(Wide dt, Wide softening_squared, Wide error,
                                           Wide rounding, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const auto drawn = [&] { return static_cast<Wide>(normal(random)); };
  std::vector<Vector> errors(mass_.size());  // one thread draws them, so they are always the same
  for (Vector& e : errors) e = error * Vector{drawn(), drawn(), drawn()};
  kick(dt, [&](int i) {
    const Force f = force(i, softening_squared);
    return f.acceleration + f.magnitude * errors[at(i)];
  });
  drift(dt);
  for (auto* component : {&x_, &y_, &z_, &vx_, &vy_, &vz_}) {
    for (Wide& value : *component) value = static_cast<Real>(value + rounding * value * drawn());
  }
}

template class BasicReference<double>;
template class BasicReference<long double>;
template void BasicReference<double>::fill(std::span<const Body>);
template void BasicReference<double>::fill(std::span<const BodyF64>);
template void BasicReference<long double>::fill(std::span<const BodyF64>);
template void BasicReference<long double>::fill(std::span<const Body>);

void advance(SystemsF64& systems, double dt, int steps, double softening_squared) {
  for (int s = 0; s < systems.count; ++s) {
    const std::span<BodyF64> bodies = systems.system(s);
    ReferenceSystem state(bodies);
    for (int step = 0; step < steps; ++step) state.advance_by_division(dt, softening_squared);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Vector3 x = state.position(static_cast<int>(i));
      const Vector3 v = state.velocity(static_cast<int>(i));
      bodies[i] = {x.x, x.y, x.z, v.x, v.y, v.z, bodies[i].mass};
    }
  }
}

}  // namespace nbody
