// A float64 vector, for the reference and the diagnostics. Kernels spell their components out.
#pragma once

#include <cmath>

namespace nbody {

struct Vector3 {
  double x = 0, y = 0, z = 0;

  Vector3& operator+=(const Vector3& b) { return *this = {x + b.x, y + b.y, z + b.z}; }
  friend Vector3 operator+(const Vector3& a, const Vector3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend Vector3 operator-(const Vector3& a, const Vector3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend Vector3 operator*(double s, const Vector3& a) { return {s * a.x, s * a.y, s * a.z}; }
};

inline double dot(const Vector3& a, const Vector3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline double length(const Vector3& a) { return std::sqrt(dot(a, a)); }
inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace nbody
