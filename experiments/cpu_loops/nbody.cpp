// cpu_loops -- the CPU program of a lab report: a loop over galaxies, and a second layout of
// bodies.
//
// Step 00 divides the bodies of all galaxies among the threads. The report divides the galaxies, so
// threads are idle if there are fewer galaxies than threads. The report's first optimisation
// separates positions from velocities, so that the inner loop reads 16 bytes of each body instead
// of 28.
//
// Parent: step00_cpu_omp.   Run: cpu_loops --systems 4 --bodies 4096 --steps 10
#include <cmath>

#include "nbody/step.h"

namespace {

constexpr bool kOverGalaxies = TUNABLE(OVER_GALAXIES, 1);  // false: loops over all galaxies' bodies
constexpr bool kApart = TUNABLE(APART, 1);                 // positions and velocities in two arrays

struct Position {
  float x, y, z, mass;
};
struct Velocity {
  float x, y, z;
};

// Bodies as structs, or as positions and velocities. The two layouts have the same member
// functions.
struct Together {
  nbody::Body* bodies;
  const nbody::Body& position(int i) const { return bodies[i]; }
  void kick(int i, float x, float y, float z) const {
    bodies[i].vx += x;
    bodies[i].vy += y;
    bodies[i].vz += z;
  }
  void drift(int i, float dt) const {
    bodies[i].x += bodies[i].vx * dt;
    bodies[i].y += bodies[i].vy * dt;
    bodies[i].z += bodies[i].vz * dt;
  }
  Together from(long long first) const { return {bodies + first}; }
};
struct Apart {
  Position* positions;
  Velocity* velocities;
  const Position& position(int i) const { return positions[i]; }
  void kick(int i, float x, float y, float z) const {
    velocities[i].x += x;
    velocities[i].y += y;
    velocities[i].z += z;
  }
  void drift(int i, float dt) const {
    positions[i].x += velocities[i].x * dt;
    positions[i].y += velocities[i].y * dt;
    positions[i].z += velocities[i].z * dt;
  }
  Apart from(long long first) const { return {positions + first, velocities + first}; }
};

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
template <class Bodies>
void update_velocity(const Bodies& bodies, int i, int n, const nbody::Run& run) {
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  const auto& body = bodies.position(i);
  for (int j = 0; j < n; ++j) {
    const auto& source = bodies.position(j);
    const float dx = source.x - body.x;
    const float dy = source.y - body.y;
    const float dz = source.z - body.z;
    const float distance_squared = dx * dx + dy * dy + dz * dz + run.softening_squared;
    const float inverse_distance = 1.0f / sqrtf(distance_squared);
    const float s = source.mass * inverse_distance * inverse_distance * inverse_distance;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  bodies.kick(i, ax * run.dt, ay * run.dt, az * run.dt);
}

// Computes all time steps. Each time step has two loops, because no body may drift before all
// forces of the step have used its position.
template <class Bodies>
void advance(const Bodies& all_bodies, int count, int n, const nbody::Run& run) {
  if constexpr (kOverGalaxies) {
    // One thread computes all time steps of a galaxy, because no other thread needs its bodies.
#pragma omp parallel for schedule(static)
    for (int system = 0; system < count; ++system) {
      const Bodies bodies = all_bodies.from(static_cast<long long>(system) * n);
      for (int step = 0; step < run.steps; ++step) {
        for (int i = 0; i < n; ++i) update_velocity(bodies, i, n, run);
        for (int i = 0; i < n; ++i) bodies.drift(i, run.dt);
      }
    }
  } else {
    const long long all = static_cast<long long>(count) * n;
    for (int step = 0; step < run.steps; ++step) {
#pragma omp parallel for schedule(static)
      for (long long k = 0; k < all; ++k) {
        update_velocity(all_bodies.from(k / n * n), static_cast<int>(k % n), n, run);
      }
#pragma omp parallel for schedule(static)
      for (long long k = 0; k < all; ++k) all_bodies.from(k).drift(0, run.dt);
    }
  }
}

void advance_apart(const nbody::Run& run, nbody::Systems& systems) {
  std::vector<Position> positions;
  std::vector<Velocity> velocities;
  for (const nbody::Body& b : systems.bodies) {
    positions.push_back({b.x, b.y, b.z, b.mass});
    velocities.push_back({b.vx, b.vy, b.vz});
  }
  advance(Apart{positions.data(), velocities.data()}, systems.count, systems.bodies_per_system,
          run);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const Position& p = positions[k];
    const Velocity& v = velocities[k];
    systems.bodies[k] = {p.x, p.y, p.z, v.x, v.y, v.z, p.mass};
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const nbody::Stopwatch stopwatch;
  if constexpr (kApart) {
    advance_apart(run, systems);
  } else {
    advance(Together{systems.bodies.data()}, systems.count, systems.bodies_per_system, run);
  }
  return {.compute = stopwatch.seconds()};
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "cpu_loops", .parent = "step00_cpu_omp"}, simulate, argc, argv);
}
