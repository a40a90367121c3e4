// step00_cpu_omp -- the textbook program: the force of every body on every other, one OpenMP loop.
//
// An honest baseline for all the steps: plain C++, -O3, no fast math, no vector intrinsics. The
// loop runs over the bodies of all systems at once, so that one large system uses every core, too.
//
// Parent: none.   Run: step00_cpu_omp --systems 4 --bodies 4096 --steps 10
#include <cmath>

#include "nbody/step.h"

namespace {

using nbody::Body;

// With fewer interactions, one thread ends the loop before a team of threads has woken up.
constexpr long long kWorthATeam = 1 << 18;

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
void update_velocity(Body* bodies, int i, int n, float dt, float softening_squared) {
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = bodies[j].x - bodies[i].x;
    const float dy = bodies[j].y - bodies[i].y;
    const float dz = bodies[j].z - bodies[i].z;
    const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
    const float inverse_distance = 1.0f / sqrtf(distance_squared);
    const float s = bodies[j].mass * inverse_distance * inverse_distance * inverse_distance;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  bodies[i].vx += ax * dt;
  bodies[i].vy += ay * dt;
  bodies[i].vz += az * dt;
}

// Drift: x_i += v_i dt.
void update_position(Body* bodies, int i, float dt) {
  bodies[i].x += bodies[i].vx * dt;
  bodies[i].y += bodies[i].vy * dt;
  bodies[i].z += bodies[i].vz * dt;
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const nbody::Stopwatch stopwatch;
  const int n = systems.bodies_per_system;
  const long long total = static_cast<long long>(systems.count) * n;
  for (int step = 0; step < run.steps; ++step) {
    // Two loops, because no body may drift before all forces of this step have been computed.
#pragma omp parallel for schedule(static) if (total * n >= kWorthATeam)
    for (long long k = 0; k < total; ++k) {
      Body* const system = systems.bodies.data() + k / n * n;
      update_velocity(system, static_cast<int>(k % n), n, run.dt, run.softening_squared);
    }
#pragma omp parallel for schedule(static) if (total >= kWorthATeam)
    for (long long k = 0; k < total; ++k) {
      Body* const system = systems.bodies.data() + k / n * n;
      update_position(system, static_cast<int>(k % n), run.dt);
    }
  }
  return {.compute = stopwatch.seconds()};
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step00_cpu_omp", .float64 = nbody::simulate_float64}, simulate,
                          argc, argv);
}
