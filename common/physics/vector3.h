// A vector of float64 or wider, used by the reference and the diagnostics. Kernels do not use this
// type.
#pragma once

#include <cmath>

#include "nbody/bodies.h"

namespace nbody {

template <class Real>
struct BasicVector3 {
  Real x = 0, y = 0, z = 0;

  BasicVector3& operator+=(const BasicVector3& b) { return *this = *this + b; }
  friend BasicVector3 operator+(const BasicVector3& a, const BasicVector3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend BasicVector3 operator-(const BasicVector3& a, const BasicVector3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend BasicVector3 operator*(Real s, const BasicVector3& a) {
    return {s * a.x, s * a.y, s * a.z};
  }
  friend Real dot(const BasicVector3& a, const BasicVector3& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
  }
  friend Real length(const BasicVector3& a) { return std::sqrt(dot(a, a)); }
  friend BasicVector3 cross(const BasicVector3& a, const BasicVector3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  }
};
using Vector3 = BasicVector3<double>;

// Returns a body's position or velocity, in float64 or wider.
template <class Wide = double, class Real>
BasicVector3<Wide> position(const BasicBody<Real>& b) {
  return {static_cast<Wide>(b.x), static_cast<Wide>(b.y), static_cast<Wide>(b.z)};
}
template <class Wide = double, class Real>
BasicVector3<Wide> velocity(const BasicBody<Real>& b) {
  return {static_cast<Wide>(b.vx), static_cast<Wide>(b.vy), static_cast<Wide>(b.vz)};
}

}  // namespace nbody
