#include "physics/validation/disguise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace nbody {
namespace {

// True if none of the following is close to overflow or underflow in Real: the cubes of distances,
// the inverses of these cubes, and the moments that trees compute from masses.
template <class Real>
bool has_room(const BasicSystems<Real>& systems, double softening_squared, double length) {
  double reach = std::sqrt(softening_squared), heaviest = 0, lightest = INFINITY;
  for (const BasicBody<Real>& body : systems.bodies) {
    for (const Real x : {body.x, body.y, body.z}) reach = std::max(reach, std::abs(double{x}));
    heaviest = std::max(heaviest, double{body.mass});
    if (body.mass > 0) lightest = std::min(lightest, double{body.mass});
  }
  constexpr double kRoom = 256;
  const double largest = std::numeric_limits<Real>::max() / kRoom,
               smallest = std::numeric_limits<Real>::min() * kRoom;
  const double far = 4 * reach * length;
  const double mass = heaviest * systems.bodies_per_system * length * length;
  return far * far * far < largest && 1 / (far * far * far) > smallest && mass < largest &&
         mass * far * far < largest && lightest * length * length / (far * far * far) > smallest;
}

}  // namespace

template <class Real>
Disguise<Real>::Disguise(const BasicSystems<Real>& systems, double softening_squared, double length)
    : count_(systems.count),
      order_(static_cast<std::size_t>(systems.bodies_per_system)),
      length_(has_room(systems, softening_squared, length) ? static_cast<Real>(length) : Real{1}) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::shuffle(order_.begin(), order_.end(), std::mt19937(1));
}

template <class Real>
BasicSystems<Real> Disguise<Real>::of(const BasicSystems<Real>& systems) const {
  BasicSystems<Real> result(systems.count, systems.bodies_per_system);
#pragma omp parallel for schedule(static) if (systems.bodies.size() > 100000)
  for (int s = 0; s < systems.count; ++s) {
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const BasicBody<Real>& b = systems.system(system(s))[body(k)];
      result.system(s)[k] = {length_ * b.y,
                             -length_ * b.z,
                             -length_ * b.x,
                             b.vy,
                             -b.vz,
                             -b.vx,
                             length_ * length_ * b.mass};
    }
  }
  return result;
}

template class Disguise<float>;
template class Disguise<double>;

}  // namespace nbody
