// Checks galaxies, collapsing spheres and Kuzmin disks against their formulas. The tolerances are
// three to five times the sampling noise for the numbers of bodies used here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "nbody/error.h"
#include "physics/diagnostics.h"
#include "physics/reference.h"
#include "scenarios/disk_halo_model.h"
#include "scenarios/initial_conditions.h"
#include "scenarios/portable_math.h"

namespace nbody {
namespace {

constexpr double kPi = std::numbers::pi;

Systems make(std::string_view name, int bodies,
             std::map<std::string, double, std::less<>> asked = {}, double softening = 0.05) {
  return make_scenario(find_scenario(name), {1, bodies, 11, softening, std::move(asked)}).systems;
}

template <class Value>
double median(std::span<const Body> bodies, Value value) {
  std::vector<double> values;
  for (const Body& body : bodies) values.push_back(value(body));
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}
double cylinder_radius(const Body& b) { return std::hypot(double{b.x}, double{b.y}); }
double sphere_radius(const Body& b) { return length(position(b)); }

// The mass of a system, and the position and velocity of its centre of mass.
struct Sum {
  double mass = 0;
  Vector3 x, v;
};
Sum sum_of(std::span<const Body> bodies) {
  Sum sum;
  for (const Body& b : bodies) {
    sum.mass += b.mass;
    sum.x += b.mass * position(b);
    sum.v += b.mass * velocity(b);
  }
  sum.x = (1 / sum.mass) * sum.x;
  sum.v = (1 / sum.mass) * sum.v;
  return sum;
}
double mass_of(std::span<const Body> bodies) { return sum_of(bodies).mass; }

TEST(PortableMath, AgreesWithTheLibrary) {
  for (int k = 1; k < 4000; ++k) {
    const double x = k * k * 1e-4;
    EXPECT_NEAR(portable::log(x), std::log(x), 4e-16 * (1 + std::abs(std::log(x))));
    const double y = (k - 2000) * 0.3;
    EXPECT_NEAR(portable::exp(y) / std::exp(y), 1, 1e-15) << y;
    const double turns = k / 4000.0;
    EXPECT_NEAR(portable::direction(turns).cos, std::cos(2 * kPi * turns), 1e-15);
    EXPECT_NEAR(portable::direction(turns).sin, std::sin(2 * kPi * turns), 1e-15);
  }
}

TEST(Parameters, OnlyThoseThatMakeSenseAreTaken) {
  EXPECT_THROW(make("plummer", 10, {{"toomre", 1}}), UsageError);
  EXPECT_THROW(make("disk-halo", 10, {{"toomre", -1}}), UsageError);
  EXPECT_THROW(make("disk-halo", 10, {{"toomre", NAN}}), UsageError);
  EXPECT_THROW(make("two-body", 2, {{"eccentricity", 1}}), UsageError);
}

TEST(TwoBody, HasTheOrbitThatIsAskedFor) {
  const Systems pair = make(
      "two-body", 2, {{"eccentricity", 0.2}, {"semi-major-axis", 3}, {"mass-ratio", 0.1}}, 1e-9);
  const Diagnostics energy = diagnose(pair, 0);
  EXPECT_NEAR(energy.energy(), -0.1 / (2 * 3), 1e-7);
  EXPECT_NEAR(length(position(pair.bodies[1]) - position(pair.bodies[0])), 3 * 0.8, 1e-6);
  EXPECT_NEAR(length(energy.momentum), 0, 1e-7);
  EXPECT_NEAR(energy.angular_momentum.z, 0.1 * std::sqrt(3 * (1 - 0.04) / 1.1), 1e-6);
}

TEST(ColdSphere, IsUniformAndAtRest) {
  const Systems sphere = make("cold-sphere", 20000);
  EXPECT_EQ(diagnose(sphere, 0.05).kinetic, 0);
  EXPECT_NEAR(mass_of(sphere.bodies), 1, 1e-4);
  EXPECT_NEAR(diagnose(make("cold-sphere", 3000), 1e-6).potential, -0.6, 0.01);
  EXPECT_NEAR(median(sphere.bodies, sphere_radius), std::cbrt(0.5), 0.01);
  EXPECT_LE(std::abs(median(sphere.bodies, [](const Body& b) { return b.z; })), 0.02);
}

TEST(ColdSphere, HasTheVirialRatioThatIsAskedFor) {
  const Systems sphere = make("cold-sphere", 2000, {{"virial-ratio", 0.3}});
  EXPECT_NEAR(diagnose(sphere, 0.05).virial_ratio(), 0.3, 1e-5);
}

// A cold sphere collapses after t_ff = (pi/2) sqrt(R^3 / 2M). Until then the radius of a
// shell obeys r'' = -M(<r) / r^2, whose parametric solution is r = cos^2 b.
TEST(ColdSphere, FallsAsAFreeFallDoes) {
  const Systems start = make("cold-sphere", 1000);
  ReferenceSystem sphere(start.bodies);
  const double b = kPi / 4;  // r = 1/2 at t / t_ff = (2 b + sin 2b) / pi
  const double time = kPi / std::sqrt(8.0) * (2 * b + std::sin(2 * b)) / kPi;
  sphere.drift(time / 100 / 2);
  for (int step = 0; step < 100; ++step) sphere.advance(time / 100, 0.02 * 0.02);
  sphere.drift(-time / 100 / 2);
  std::vector<double> radii;
  for (int i = 0; i < sphere.size(); ++i) radii.push_back(length(sphere.position(i)));
  std::nth_element(radii.begin(), radii.begin() + 500, radii.end());
  EXPECT_NEAR(radii[500] / median(start.bodies, sphere_radius), 0.5, 0.04);
}

TEST(Kuzmin, IsAFlatDiskOnCircles) {
  const int n = 20000;
  const Systems disk = make("kuzmin", n);
  // The cut disk has 95 % of the mass M, and half of these 95 % lies within the median radius R.
  // The mass within R is M (1 - 1 / sqrt(1 + R^2)).
  EXPECT_NEAR(median(disk.bodies, cylinder_radius), std::sqrt(std::pow(1 - 0.475, -2) - 1), 0.05);
  EXPECT_NEAR(mass_of(disk.bodies), 1, 1e-4);
  for (const Body& b : disk.bodies) {
    ASSERT_EQ(b.z, 0);
    ASSERT_EQ(b.vz, 0);
  }
  // Near R = 1, gravity must have the strength that circular orbits with the speed v_c need, except
  // that the force of the mass that was cut off (5 %) is missing.
  const ReferenceSystem reference(disk.bodies);
  double asked = 0, moving = 0;
  for (int i = 0; i < n; ++i) {
    const Body& b = disk.bodies[static_cast<std::size_t>(i)];
    const double radius = cylinder_radius(b);
    if (radius < 0.9 || radius > 1.1) continue;
    asked -= dot(reference.acceleration(i, 0.01 * 0.01), position(b));
    moving += dot(velocity(b), velocity(b));
  }
  EXPECT_NEAR(moving / asked, 1, 0.06);
}

constexpr int kGalaxy = 30000;
const generators::DiskHaloModel& model() {
  static const generators::DiskHaloModel galaxy({.halo_mass = 6, .halo_scale = 3, .toomre = 1.5});
  return galaxy;
}
const Systems& galaxy() {
  static const Systems systems = make("disk-halo", kGalaxy);
  return systems;
}
std::span<const Body> disk() { return galaxy().system(0).first(kGalaxy / 3); }
std::span<const Body> halo() { return galaxy().system(0).subspan(kGalaxy / 3); }

TEST(DiskHalo, HasItsMassesAndProfiles) {
  EXPECT_NEAR(mass_of(disk()), 1, 1e-4);
  EXPECT_NEAR(mass_of(halo()), 6 * std::pow(10.0 / 11, 2), 1e-3);
  EXPECT_NEAR(median(disk(), cylinder_radius), 1.678, 0.05);  // solves 1 - (1 + R) exp(-R) = 1/2
  // The radius that contains half of the mass within the cut obeys
  // (r / (r + 3))^2 = (10/11)^2 / 2.
  const double ratio = std::sqrt(0.5) * 10 / 11;
  EXPECT_NEAR(median(halo(), sphere_radius), 3 * ratio / (1 - ratio), 0.2);
  // Half of the mass of a disk with the profile sech^2(z / 0.1) lies within |z| < 0.1 artanh(1/2).
  EXPECT_NEAR(median(disk(), [](const Body& b) { return std::abs(b.z); }), 0.1 * std::atanh(0.5),
              0.003);
  for (const auto part : {disk(), halo()}) {
    const Sum sum = sum_of(part);
    EXPECT_LE(sum.mass * length(sum.x), 1e-5);
    EXPECT_LE(sum.mass * length(sum.v), 1e-5);
  }
}

// Compares the formula for the rotation curve, which uses Bessel functions, with the forces that
// the bodies of disk and halo exert.
TEST(DiskHalo, TurnsAsFastAsItsGravityAsks) {
  const ReferenceSystem reference(galaxy().bodies);
  for (const double radius : {1.0, 2.0, 4.0}) {
    double asked = 0, formula = 0;
    int count = 0;
    for (int i = 0; i < kGalaxy / 3 && count < 300; ++i) {
      const Body& b = galaxy().bodies[static_cast<std::size_t>(i)];
      if (std::abs(cylinder_radius(b) - radius) > 0.1) continue;
      const Vector3 a = reference.acceleration(i, 0.01 * 0.01);
      asked -= a.x * b.x + a.y * b.y;
      formula += model().rotation(cylinder_radius(b)).circular_velocity_squared;
      ++count;
    }
    ASSERT_GE(count, 100);
    EXPECT_NEAR(asked / formula, 1, 0.08) << radius;  // inexact: the formula is for a thin disk
  }
}

TEST(DiskHalo, EpicyclicFrequencyIsTheSlopeOfTheRotationCurve) {
  for (const double radius : {0.1, 1.0, 2.0, 8.0}) {
    const double h = 1e-4;
    const double slope = (model().rotation(radius + h).circular_velocity_squared -
                          model().rotation(radius - h).circular_velocity_squared) /
                         (2 * h);
    const auto r = model().rotation(radius);
    EXPECT_NEAR(r.epicyclic_frequency_squared, 2 * r.angular_frequency_squared + slope / radius,
                1e-6);
  }
}

TEST(DiskHalo, HasItsToomreQ) {
  const auto r = model().rotation(2);
  const double sigma = std::exp(-2.0) / (2 * kPi);
  EXPECT_NEAR(model().disk_velocities(2).sigma_radial * std::sqrt(r.epicyclic_frequency_squared) /
                  (3.36 * sigma),
              1.5, 1e-9);
  // The bodies must also have the model's dispersion.
  double squares = 0;
  int count = 0;
  for (const Body& b : disk()) {
    if (std::abs(cylinder_radius(b) - 2) > 0.2) continue;
    squares += std::pow((double{b.x} * b.vx + double{b.y} * b.vy) / cylinder_radius(b), 2);
    ++count;
  }
  EXPECT_NEAR(std::sqrt(squares / count) / model().disk_velocities(2).sigma_radial, 1, 0.06);
}

TEST(DiskHalo, HaloObeysTheJeansEquation) {
  // Squared dispersion of an infinite Hernquist sphere without a disk (Hernquist 1990, ApJ 356,
  // 359, equation 10). The cut at ten scale lengths hardly changes the dispersion where most of the
  // mass is.
  const generators::DiskHaloModel heavy({.halo_mass = 1e6, .halo_scale = 1, .toomre = 1});
  for (const double x : {0.1, 0.5, 1.0}) {
    const double expected = 1e6 / 12 *
                            (12 * x * std::pow(1 + x, 3) * std::log((1 + x) / x) -
                             x / (1 + x) * (25 + 52 * x + 42 * x * x + 12 * x * x * x));
    EXPECT_NEAR(std::pow(heavy.halo_velocities(x).sigma, 2) / expected, 1, 5e-3) << x;
    // The square of the escape speed from the cut sphere is
    // -2 Phi = 2 M [1/(1+x) - 1/11 + 10/121].
    EXPECT_NEAR(std::pow(heavy.halo_velocities(x).escape, 2) /
                    (2e6 * (1 / (1 + x) - 1.0 / 11 + 10.0 / 121)),
                1, 1e-3);
  }
}

TEST(DiskHalo, IsInVirialEquilibrium) {
  EXPECT_NEAR(diagnose(make("disk-halo", 2000), 0.05).virial_ratio(), 1, 1e-4);
}

TEST(DiskHalo, SpiralIsColdInThePlane) {
  const Systems spiral = make("spiral", 3000);
  double radial = 0, azimuthal = 0;
  for (const Body& b : spiral.system(0).first(1000)) {
    radial += std::pow((double{b.x} * b.vx + double{b.y} * b.vy) / cylinder_radius(b), 2);
    azimuthal += std::pow((double{b.x} * b.vy - double{b.y} * b.vx) / cylinder_radius(b), 2);
  }
  EXPECT_LE(std::sqrt(radial / azimuthal), 0.06);  // not 0, because recentre() changes velocities
}

// Runs a small disk for three rotations at two scale lengths. Its halo bodies are so massive that
// they heat the disk; ./nbody disk-halo checks a large disk.
TEST(DiskHalo, StaysWhatItIs) {
  const int n = 2000, stars = n / 3;
  const double softening = 0.1,
               period = 2 * kPi / std::sqrt(model().rotation(2).angular_frequency_squared);
  Systems state = make("disk-halo", n, {}, softening);
  const double half_mass = median(state.system(0).first(stars), cylinder_radius);
  ReferenceSystem bodies(state.bodies);
  const int steps = 240;
  const double dt = 3 * period / steps;
  bodies.drift(dt / 2);
  for (int step = 0; step < steps; ++step) bodies.advance(dt, softening * softening);
  bodies.drift(-dt / 2);
  for (int i = 0; i < n; ++i) {
    const Vector3 x = bodies.position(i), v = bodies.velocity(i);
    state.bodies[static_cast<std::size_t>(i)] =
        rounded({x.x, x.y, x.z, v.x, v.y, v.z, state.bodies[static_cast<std::size_t>(i)].mass});
  }
  EXPECT_NEAR(diagnose(state, softening).virial_ratio(), 1, 0.03);
  EXPECT_NEAR(median(state.system(0).first(stars), cylinder_radius) / half_mass, 1, 0.1);
}

TEST(Collision, MeetsOnAParabola) {
  const int n = 12000;
  const Systems pair = make("collision", n, {{"pericentre", 3}, {"separation", 40}});
  const Sum first = sum_of(pair.system(0).first(n / 2)),
            second = sum_of(pair.system(0).last(n / 2));
  EXPECT_NEAR(first.mass, second.mass, 1e-3);
  const Vector3 dx = second.x - first.x, dv = second.v - first.v;
  const double total = first.mass + second.mass, h = length(cross(dx, dv));
  EXPECT_NEAR(length(dx), 40, 1e-3);
  EXPECT_NEAR(dot(dv, dv) / 2 - total / length(dx), 0, 1e-4);  // the energy of a parabola is 0
  EXPECT_NEAR(h * h / (2 * total), 3, 1e-3);                   // the parabola's pericentre is 3
  EXPECT_LT(dot(dx, dv), 0);                                   // the galaxies are approaching
}

// Every disk has mass 1. The number of bodies, 1001, is not divisible by two or three.
TEST(Galaxies, SayWhichBodiesAreTheirDisks) {
  const std::pair<const char*, int> cases[] = {{"disk-halo", 1}, {"spiral", 1}, {"collision", 2}};
  for (const auto& [name, galaxies] : cases) {
    const auto made = make_scenario(find_scenario(name), {2, 1001, 11, 0.05});
    ASSERT_EQ(made.species.size(), 2002u) << name;
    double disks = 0;
    for (std::size_t i = 0; i < made.species.size(); ++i) {
      ASSERT_TRUE(made.species[i] == Species::disk || made.species[i] == Species::dark);
      if (made.species[i] == Species::disk) disks += made.systems.bodies[i].mass;
    }
    EXPECT_NEAR(disks, 2 * galaxies, 1e-4) << name;
  }
  EXPECT_TRUE(make_scenario(find_scenario("kuzmin"), {1, 10, 1, 0.05}).species.empty());
}

TEST(Collision, InclinesTheDisks) {
  const int n = 6000;
  const Systems pair = make("collision", n, {{"inclination-1", 90}, {"inclination-2", 0}});
  for (int k = 0; k < 2; ++k) {
    const auto stars = pair.system(0).subspan(static_cast<std::size_t>(k * n / 2), n / 6);
    const Sum sum = sum_of(stars);
    Vector3 spin;
    for (const Body& b : stars) spin += cross(position(b) - sum.x, velocity(b) - sum.v);
    const Vector3 axis = (1 / length(spin)) * spin;
    EXPECT_NEAR(k == 0 ? -axis.y : axis.z, 1, 0.01) << k;
  }
}

TEST(SunEarthMoon, IsTheSolarSystemsSeenFromItsCentre) {
  const Scenario& scenario = find_scenario("sun-earth-moon");
  const Snapshot made = make_scenario(scenario, {1, 3, 1, 1e-6, {}, true});
  EXPECT_EQ(made.names, (std::vector<std::string>{"Sun", "Earth", "Moon"}));
  double x = 0, vy = 0;
  for (const BodyF64& b : made.exact) {
    x += b.mass * b.x;
    vy += b.mass * b.vy;
  }
  EXPECT_NEAR(x, 0, 1e-17);
  EXPECT_NEAR(vy, 0, 1e-17);
  EXPECT_NEAR(made.exact[1].x - made.exact[0].x, -0.184271561909 + 0.007136458940, 1e-12);
}

}  // namespace
}  // namespace nbody
