// Checks initial conditions against known values: energies, periods, an ephemeris.
#include "scenarios/initial_conditions.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "physics/vector3.h"
#include "support/tests/said.h"

namespace nbody {
namespace {

Snapshot make(std::string_view name, int systems, int bodies, std::uint64_t seed = 1,
              double softening = 0.05) {
  return make_scenario(find_scenario(name), {systems, bodies, seed, softening});
}
Snapshot make_default(std::string_view name) {
  const Scenario& scenario = find_scenario(name);
  return make_scenario(scenario, {scenario.systems, scenario.bodies, 1, scenario.softening});
}

// Computes the energy in float64, independently of the library.
double kinetic(std::span<const Body> bodies) {
  double sum = 0;
  for (const Body& b : bodies) sum += 0.5 * b.mass * dot(velocity(b), velocity(b));
  return sum;
}
// Converts the positions to float64 only once, because this file is compiled without optimisation.
double potential(std::span<const Body> bodies, double softening) {
  std::vector<Vector3> positions;
  for (const Body& body : bodies) positions.push_back(position(body));
  const Vector3* const x = positions.data();
  double sum = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    double of_body = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const double dx = x[i].x - x[j].x, dy = x[i].y - x[j].y, dz = x[i].z - x[j].z;
      of_body -= bodies[j].mass / std::sqrt(dx * dx + dy * dy + dz * dz + softening * softening);
    }
    sum += bodies[i].mass * of_body;
  }
  return sum;
}
void expect_at_rest_at_the_origin(std::span<const Body> bodies, double tolerance) {
  Vector3 x, v;
  double mass = 0;
  for (const Body& b : bodies) {
    x += b.mass * position(b);
    v += b.mass * velocity(b);
    mass += b.mass;
  }
  for (const double sum : {x.x, x.y, x.z, v.x, v.y, v.z}) EXPECT_NEAR(sum / mass, 0, tolerance);
}
Vector3 angular_momentum(std::span<const Body> bodies) {
  Vector3 sum;
  for (const Body& b : bodies) sum += b.mass * cross(position(b), velocity(b));
  return sum;
}
bool same_bits(std::span<const Body> a, std::span<const Body> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

TEST(Scenarios, AreKnownByName) {
  std::string names;
  for (const Scenario& s : scenarios()) names += std::string(s.name) + " ";
  EXPECT_EQ(names,
            "plummer galaxies star-cluster uniform cold-sphere kuzmin disk-halo spiral collision "
            "two-body figure-eight solar-system sun-earth-moon test-particles ");
  EXPECT_EQ(refusal_of([] { find_scenario("galaxy"); }),
            "unknown scenario \"galaxy\"; known: plummer, galaxies, star-cluster, uniform, "
            "cold-sphere, kuzmin, disk-halo, spiral, collision, two-body, figure-eight, "
            "solar-system, sun-earth-moon, test-particles");
}

TEST(Scenarios, DefaultsCanBeRun) {
  for (const Scenario& s : scenarios()) {
    SCOPED_TRACE(s.name);
    EXPECT_GE(s.softening, 1e-12);  // the smallest softening that programs accept
    EXPECT_GT(s.dt, 0);
    EXPECT_GT(s.steps, 0);
    EXPECT_FALSE(s.description.empty());
    const Snapshot snapshot = make_default(s.name);
    EXPECT_EQ(snapshot.systems.count, s.systems);
    EXPECT_EQ(snapshot.systems.bodies_per_system, s.bodies);
    EXPECT_EQ(snapshot.scenario, s.name);
    EXPECT_EQ(snapshot.dt, s.dt);
    EXPECT_EQ(snapshot.softening, s.softening);
    EXPECT_LE(snapshot.units.size(), kMaxTextBytes);
    EXPECT_LE(snapshot.scenario.size(), kMaxTextBytes);
    for (const Body& b : snapshot.systems.bodies)
      for (const float value : {b.x, b.y, b.z, b.vx, b.vy, b.vz, b.mass})
        ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(Scenarios, RefuseSizesThatCannotBe) {
  EXPECT_THROW(make("plummer", 0, 5), UsageError);
  EXPECT_THROW(make("plummer", 1, 0), UsageError);
  EXPECT_THROW(make("two-body", 1, 3), UsageError);
  EXPECT_THROW(make("uniform", 1 << 16, 1 << 15), UsageError);  // 2^31 bodies are one too many
  EXPECT_THROW(make("plummer", 1, 5, 1, -1), UsageError);
  EXPECT_THROW(make("plummer", 1, 5, 1, std::numeric_limits<double>::quiet_NaN()), UsageError);
}

TEST(Scenarios, ALoneBodyRestsAtTheOrigin) {
  for (const char* name : {"plummer", "uniform", "galaxies"}) {
    const Snapshot snapshot = make(name, 2, 1);
    for (const Body& b : snapshot.systems.bodies) {
      for (const float value : {b.x, b.y, b.z, b.vx, b.vy, b.vz}) EXPECT_EQ(value, 0) << name;
      EXPECT_EQ(b.mass, 1) << name;
    }
  }
}

TEST(Seeds, GiveTheSameBodiesAgain) {
  for (const char* name :
       {"plummer", "star-cluster", "uniform", "cold-sphere", "kuzmin", "collision"}) {
    const Snapshot first = make(name, 3, 100, 7);
    EXPECT_TRUE(same_bits(first.systems.bodies, make(name, 3, 100, 7).systems.bodies));
    EXPECT_FALSE(same_bits(first.systems.bodies, make(name, 3, 100, 8).systems.bodies));
    // System s of a seed must not depend on the number of systems.
    EXPECT_TRUE(same_bits(first.systems.system(0), make(name, 1, 100, 7).systems.bodies));
    for (int s = 1; s < 3; ++s) {
      EXPECT_FALSE(same_bits(first.systems.system(0), first.systems.system(s)));
      // System s must also differ from the first system of a nearby seed.
      EXPECT_FALSE(same_bits(first.systems.system(s),
                             make(name, 1, 100, 7 + static_cast<unsigned>(s)).systems.bodies));
    }
  }
}

TEST(Seeds, ThreadsChangeNothing) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Snapshot one = make("galaxies", 7, 100);
  omp_set_num_threads(4);
  const Snapshot four = make("galaxies", 7, 100);
  omp_set_num_threads(before);
  EXPECT_TRUE(same_bits(one.systems.bodies, four.systems.bodies));
}

TEST(Uniform, FillsTheCube) {
  const Snapshot snapshot = make("uniform", 1, 100000);
  Vector3 low, high;
  double x2 = 0, v2 = 0;
  for (const Body& b : snapshot.systems.bodies) {
    for (const float value : {b.x, b.y, b.z, b.vx, b.vy, b.vz}) ASSERT_LE(std::abs(value), 1);
    low = {std::fmin(low.x, b.x), std::fmin(low.y, b.y), std::fmin(low.z, b.z)};
    high = {std::fmax(high.x, b.x), std::fmax(high.y, b.y), std::fmax(high.z, b.z)};
    x2 += dot(position(b), position(b));
    v2 += dot(velocity(b), velocity(b));
  }
  for (const double value : {-low.x, -low.y, -low.z, high.x, high.y, high.z})
    EXPECT_GT(value, 0.999);
  EXPECT_NEAR(x2 / 100000, 1, 0.01);  // x2 is three times the variance, which is 1/3
  EXPECT_NEAR(v2 / 100000, 1, 0.01);
}

TEST(Plummer, IsInVirialEquilibriumUpTo2048) {
  for (const int n : {2, 3, 10, 1000, 2048}) {
    for (const double softening : {1e-6, 0.05, 0.3}) {
      const Snapshot snapshot = make("plummer", 2, n, 5, softening);
      for (int s = 0; s < 2; ++s) {
        const auto bodies = snapshot.systems.system(s);
        EXPECT_NEAR(-2 * kinetic(bodies) / potential(bodies, softening), 1, 2e-6) << n;
        expect_at_rest_at_the_origin(bodies, 1e-6);
      }
    }
  }
}

TEST(Plummer, IsNearEquilibriumBeyond) {
  const Snapshot snapshot = make("galaxies", 3, 4096);
  double w = 0;
  for (int s = 0; s < 3; ++s) {
    const auto bodies = snapshot.systems.system(s);
    const double softened = potential(bodies, 0.05);
    EXPECT_NEAR(-2 * kinetic(bodies) / softened, 1, 2e-3);
    EXPECT_NEAR(kinetic(bodies), 0.25, 0.01);
    w += potential(bodies, 1e-9) / 3;
  }
  EXPECT_NEAR(w, -0.5, 0.01);  // in Henon units, without softening
}

// Checks the mass profile, M(<r) = r^3 / (r^2 + a^2)^(3/2) with a = 3 pi / 16. If only the energies
// were checked, a wrong profile of the right size would pass.
TEST(Plummer, HasItsMassProfileAndIsIsotropic) {
  const int n = 200000;
  const Snapshot snapshot = make("plummer", 1, n);
  const double a = 3 * 3.14159265358979 / 16;
  for (const double r : {0.2, 0.5, 1.0, 2.0, 5.0}) {
    int inside = 0;
    for (const Body& b : snapshot.systems.bodies) inside += length(position(b)) < r;
    EXPECT_NEAR(static_cast<double>(inside) / n, std::pow(r * r / (r * r + a * a), 1.5), 0.005)
        << r;
  }
  double vx2 = 0, vy2 = 0, vz2 = 0, radial = 0, v2 = 0, q2 = 0;
  for (const Body& b : snapshot.systems.bodies) {
    vx2 += double{b.vx} * b.vx / n;
    vy2 += double{b.vy} * b.vy / n;
    vz2 += double{b.vz} * b.vz / n;
    const double square = dot(velocity(b), velocity(b)), r = length(position(b));
    radial += std::pow(dot(position(b), velocity(b)) / r, 2) / n;
    v2 += square / n;
    q2 += square / 2 * std::hypot(r, a) / n;  // q: speed in units of the escape speed
  }
  EXPECT_NEAR(vx2 / v2, 1.0 / 3, 0.003);
  EXPECT_NEAR(vy2 / v2, 1.0 / 3, 0.003);
  EXPECT_NEAR(vz2 / v2, 1.0 / 3, 0.003);
  EXPECT_NEAR(radial / v2, 1.0 / 3, 0.003);
  // If q has the density q^2 (1 - q^2)^(7/2), the mean of q^2 is B(5/2, 9/2) / B(3/2, 9/2) = 1/4.
  // Softening reduces this mean.
  EXPECT_NEAR(q2, 0.25 * v2 / 0.5, 0.002);
}

TEST(TwoBody, IsTheEllipseItSays) {
  const Scenario& scenario = find_scenario("two-body");
  const Snapshot snapshot = make_default("two-body");
  const auto& bodies = snapshot.systems.bodies;
  EXPECT_EQ(bodies[0].mass, 1);
  EXPECT_EQ(bodies[1].mass, 0.5);
  expect_at_rest_at_the_origin(bodies, 1e-7);
  // E = -m1 m2 / 2a, L = m1 m2 sqrt(a (1 - e^2) / M), P = 2 pi sqrt(a^3 / M).
  EXPECT_NEAR(kinetic(bodies) + potential(bodies, 0), -0.25, 1e-6);
  EXPECT_NEAR(angular_momentum(bodies).z, 0.5 * std::sqrt(0.75 / 1.5), 1e-6);
  EXPECT_NEAR(scenario.dt * scenario.steps, 2 * 3.14159265358979 * std::sqrt(1 / 1.5), 1e-9);
  EXPECT_NEAR(bodies[1].x - bodies[0].x, 0.5, 1e-7);  // pericentre, a (1 - e)
  EXPECT_EQ(bodies[1].vx, 0);
}

TEST(FigureEight, HasItsEnergyAndNoSpin) {
  const Scenario& scenario = find_scenario("figure-eight");
  const Snapshot snapshot = make_default("figure-eight");
  const auto& bodies = snapshot.systems.bodies;
  EXPECT_NEAR(kinetic(bodies) + potential(bodies, 0), -1.287142, 1e-6);
  EXPECT_NEAR(angular_momentum(bodies).z, 0, 1e-7);
  expect_at_rest_at_the_origin(bodies, 1e-7);
  EXPECT_NEAR(scenario.dt * scenario.steps, 6.32591398, 1e-12);
}

std::filesystem::path data() { return std::filesystem::path(NBODY_SOURCE_DIR) / "data"; }

void expect_the_file(std::string_view scenario, const char* file) {
  const Snapshot made = make_default(scenario);
  const Snapshot read = read_bodies(data() / file);
  EXPECT_TRUE(same_bits(made.systems.bodies, read.systems.bodies)) << file;
  EXPECT_EQ(made.names, read.names);
  EXPECT_EQ(made.units, read.units);
  EXPECT_EQ(made.scenario, read.scenario);
  EXPECT_DOUBLE_EQ(made.dt, read.dt);
  EXPECT_EQ(made.softening, read.softening);
}

TEST(Data, IsWhatIsCompiledIn) {
  expect_the_file("solar-system", "solar_system_j2000.csv");
  expect_the_file("figure-eight", "figure_eight.csv");
}

TEST(SolarSystem, IsBarycentricAndBound) {
  const Snapshot snapshot = make_default("solar-system");
  const auto& bodies = snapshot.systems.bodies;
  ASSERT_EQ(snapshot.names.size(), bodies.size());
  EXPECT_EQ(snapshot.names[4], "Moon");
  // The tolerance is 1e-6, because the barycentre of the ephemeris includes asteroids, and because
  // float32 rounds Neptune's position to 2e-6.
  expect_at_rest_at_the_origin(bodies, 1e-6);
  const double distance = length(position(bodies[3]) - position(bodies[4]));
  EXPECT_NEAR(distance, 0.00269, 1e-4);  // 402,000 km on that day
  const Scenario& scenario = find_scenario("solar-system");
  EXPECT_NEAR(scenario.dt * scenario.steps, 365.25 * 0.01720209895, 1e-12);
}

TEST(FixedBodies, SystemsAreCopies) {
  for (const char* name : {"two-body", "figure-eight", "solar-system", "sun-earth-moon"}) {
    const Snapshot snapshot = make(name, 3, find_scenario(name).bodies);
    for (int s = 1; s < 3; ++s)
      EXPECT_TRUE(same_bits(snapshot.systems.system(0), snapshot.systems.system(s))) << name;
  }
}

}  // namespace
}  // namespace nbody
