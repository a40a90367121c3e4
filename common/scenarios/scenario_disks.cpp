// Rotating disks: one disk without a halo, one with a halo, and two galaxies that collide.
#include <cmath>
#include <numbers>

#include "scenarios/disk_halo_model.h"
#include "scenarios/scenario_bodies.h"
#include "scenarios/scenarios.h"

namespace nbody::generators {
namespace {

// Returns a body whose position and velocity are given in cylindrical components.
BodyF64 in_cylinder(double radius, double turns, double z, const Vector3& v, double mass) {
  const auto [cos, sin] = portable::direction(turns);
  return {radius * cos, radius * sin, z, v.x * cos - v.y * sin, v.x * sin + v.y * cos, v.z, mass};
}

// Draws each radius as the sum of two exponential deviates. The density of this sum is R exp(-R),
// as in an exponential disk.
void exponential_disk(std::span<BodyF64> bodies, const DiskHaloModel& model, Random& random) {
  for (BodyF64& body : bodies) {
    double radius;
    do {
      radius = -portable::log((1 - random.uniform()) * (1 - random.uniform()));
    } while (radius == 0 || radius > DiskHaloModel::kDiskCut);
    const double turns = random.uniform();
    // Draws again if the fraction is 0, because z would be infinite.
    double fraction = 0;
    while (fraction == 0) fraction = random.uniform();
    const double z = DiskHaloModel::kDiskThickness / 2 * portable::log(fraction / (1 - fraction));
    const Vector3 deviate = normal_vector(random);
    const auto v = model.disk_velocities(radius);
    body =
        in_cylinder(radius, turns, z,
                    {v.sigma_radial * deviate.x, v.mean_azimuthal + v.sigma_azimuthal * deviate.y,
                     v.sigma_vertical * deviate.z},
                    1 / static_cast<double>(bodies.size()));
  }
}

void hernquist_halo(std::span<BodyF64> bodies, const DiskHaloModel& model, double scale,
                    Random& random) {
  constexpr double kFastest = 0.95;  // fraction of the escape speed
  const double mass = model.halo_mass_within(model.halo_cut());
  for (BodyF64& body : bodies) {
    double r = 0;
    while (r == 0 || r > model.halo_cut()) {
      const double root = std::sqrt(random.uniform());
      r = scale * root / (1 - root);
    }
    const Vector3 x = isotropic(random, r);
    const auto [sigma, escape] = model.halo_velocities(r);
    Vector3 v;
    do {
      v = sigma * normal_vector(random);
    } while (dot(v, v) > kFastest * kFastest * escape * escape);
    body = body_of(x, v, mass / static_cast<double>(bodies.size()));
  }
}

// Centres disk and halo separately; otherwise a random offset between their centres would make disk
// and halo oscillate about each other.
void galaxy(std::span<BodyF64> bodies, const SystemSpec& spec) {
  const DiskHaloModel model({.halo_mass = spec.parameter("halo-mass"),
                             .halo_scale = spec.parameter("halo-scale"),
                             .toomre = spec.parameter("toomre")});
  const auto disk = bodies.first(disk_bodies(bodies.size()));
  const auto halo = bodies.subspan(disk.size());
  exponential_disk(disk, model, spec.random);
  hernquist_halo(halo, model, spec.parameter("halo-scale"), spec.random);
  recentre(disk);
  recentre(halo);
  if (halo.size() < 2) return;
  // No halo body has a speed near the escape speed, which reduces the halo's kinetic energy, and
  // softening weakens the binding. Therefore the halo's speeds are scaled so that 2T = |W| for the
  // whole galaxy.
  const double wanted = -potential_energy(bodies, spec.softening) / 2 - kinetic_energy(disk);
  if (wanted > 0) scale_velocities(halo, std::sqrt(wanted / kinetic_energy(halo)));
}

// Turns the disk's plane about the x axis, then moves the galaxy.
void place(std::span<BodyF64> bodies, double degrees, const Vector3& x, const Vector3& v) {
  const portable::Direction tilt = portable::direction(degrees / 360);
  const auto turned = [&](const Vector3& a) {
    return Vector3{a.x, tilt.cos * a.y - tilt.sin * a.z, tilt.sin * a.y + tilt.cos * a.z};
  };
  for (BodyF64& body : bodies)
    body = body_of(turned(position(body)) + x, turned(velocity(body)) + v, body.mass);
}

}  // namespace

void kuzmin(const SystemSpec& spec) {
  constexpr double kMassFraction = 0.95;       // the mass beyond 20 scale lengths is cut off
  constexpr double kMass = 1 / kMassFraction;  // mass of the whole profile
  for (BodyF64& body : spec.bodies) {
    const double inverse = 1 / (1 - kMassFraction * spec.random.uniform());
    const double radius = std::sqrt(inverse * inverse - 1);
    const double v = std::sqrt(kMass * radius * radius / (inverse * inverse * inverse));
    body = in_cylinder(radius, spec.random.uniform(), 0, {0, v, 0},
                       1 / static_cast<double>(spec.bodies.size()));
  }
  recentre(spec.bodies);
}

void disk_halo(const SystemSpec& spec) { galaxy(spec.bodies, spec); }

void collision(const SystemSpec& spec) {
  const auto first = spec.bodies.first(spec.bodies.size() / 2);
  const auto second = spec.bodies.subspan(first.size());
  galaxy(first, spec);
  galaxy(second, spec);

  double mass = 0;
  for (const BodyF64& body : spec.bodies) mass += body.mass;
  const double distance = spec.parameter("separation");
  const double pericentre = spec.parameter("pericentre");
  const double speed_squared = 2 * mass / distance;
  const double tangential = std::sqrt(2 * mass * pericentre) / distance;
  const double radial = std::sqrt(speed_squared - tangential * tangential);
  const Vector3 x{distance, 0, 0}, v{-radial, tangential, 0};
  place(first, spec.parameter("inclination-1"), -0.5 * x, -0.5 * v);
  place(second, spec.parameter("inclination-2"), 0.5 * x, 0.5 * v);
  recentre(spec.bodies);
}

}  // namespace nbody::generators
