#include "physics/reference.h"

#include "physics/simd_clones.h"

namespace nbody {

ReferenceSystem::ReferenceSystem(std::span<const Body> bodies) {
  for (const Body& body : bodies) append(widened(body));
}

ReferenceSystem::ReferenceSystem(std::span<const BodyF64> bodies) {
  for (const BodyF64& body : bodies) append(body);
}

void ReferenceSystem::append(const BodyF64& body) {
  x_.push_back(body.x);
  y_.push_back(body.y);
  z_.push_back(body.z);
  vx_.push_back(body.vx);
  vy_.push_back(body.vy);
  vz_.push_back(body.vz);
  mass_.push_back(body.mass);
}

NBODY_CLONES
ReferenceSystem::Force ReferenceSystem::force(int i, double softening_squared) const {
  const double xi = x_[at(i)], yi = y_[at(i)], zi = z_[at(i)];
  const double *x = x_.data(), *y = y_.data(), *z = z_.data(), *mass = mass_.data();
  const int n = size();
  double ax = 0, ay = 0, az = 0, magnitude = 0;
#pragma omp simd reduction(+ : ax, ay, az, magnitude)
  for (int j = 0; j < n; ++j) {
    const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    const double distance_squared = dx * dx + dy * dy + dz * dz;
    const double softened = distance_squared + softening_squared;
    const double s = mass[j] / (softened * std::sqrt(softened));
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
    magnitude += s * std::sqrt(distance_squared);
  }
  return {{ax, ay, az}, magnitude};
}

NBODY_CLONES
Vector3 ReferenceSystem::acceleration(int i, double softening_squared) const {
  const double xi = x_[at(i)], yi = y_[at(i)], zi = z_[at(i)];
  const double *x = x_.data(), *y = y_.data(), *z = z_.data(), *mass = mass_.data();
  const int n = size();
  double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
  for (int j = 0; j < n; ++j) {
    const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    const double softened = dx * dx + dy * dy + dz * dz + softening_squared;
    const double s = mass[j] / (softened * std::sqrt(softened));
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  return {ax, ay, az};
}

void ReferenceSystem::advance(double dt, double softening_squared) {
  const int n = size();
#pragma omp parallel for schedule(static) if (n > 64)
  for (int i = 0; i < n; ++i) {
    const Vector3 a = acceleration(i, softening_squared);
    vx_[at(i)] += a.x * dt;
    vy_[at(i)] += a.y * dt;
    vz_[at(i)] += a.z * dt;
  }
  drift(dt);
}

void ReferenceSystem::drift(double t) {
  for (int i = 0; i < size(); ++i) {
    x_[at(i)] += vx_[at(i)] * t;
    y_[at(i)] += vy_[at(i)] * t;
    z_[at(i)] += vz_[at(i)] * t;
  }
}

void ReferenceSystem::round_to_float() {
  for (auto* component : {&x_, &y_, &z_, &vx_, &vy_, &vz_}) {
    for (double& value : *component) value = static_cast<float>(value);
  }
}

}  // namespace nbody
