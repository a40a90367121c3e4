// edge_sharing -- every pair once, on the cores of a CPU: the force acts on both bodies of a pair.
//
// Only half the interactions remain, but the thread that computes a pair writes the sums of both
// bodies. Every thread therefore has its own sums, which are added up at the end. The first body is
// paired with all others, and the second-to-last body with only one. Equal numbers of bodies
// therefore mean unequal work. The program offers three ways to divide the work.
//
// Parent: step00_cpu_omp.   Run: edge_sharing --scenario plummer --bodies 20000 --steps 1
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "nbody/step.h"

namespace {

using nbody::Body;

enum class Sharing { blocks, lowest_and_highest, linear_index };
constexpr Sharing kSharing = static_cast<Sharing>(TUNABLE(SHARING, 1));

struct Sum {
  float x, y, z;
};

// Adds to the sum of each body of a pair the acceleration that the other body causes.
void interact(const Body* bodies, long long i, long long j, Sum* sums, float softening_squared) {
  const float dx = bodies[j].x - bodies[i].x;
  const float dy = bodies[j].y - bodies[i].y;
  const float dz = bodies[j].z - bodies[i].z;
  const float distance_squared = dx * dx + dy * dy + dz * dz + softening_squared;
  const float inverse_distance = 1.0f / sqrtf(distance_squared);
  const float cubed = inverse_distance * inverse_distance * inverse_distance;
  const float s = bodies[j].mass * cubed, t = bodies[i].mass * cubed;
  sums[i].x += s * dx;
  sums[i].y += s * dy;
  sums[i].z += s * dz;
  sums[j].x -= t * dx;
  sums[j].y -= t * dy;
  sums[j].z -= t * dz;
}

inline void meet_later_ones(const Body* bodies, long long i, long long n, Sum* sums,
                            float softening_squared) {
  for (long long j = i + 1; j < n; ++j) interact(bodies, i, j, sums, softening_squared);
}

// Computes the pairs of thread `thread`, which is one of `threads`.
void accelerate(const Body* bodies, long long n, int thread, int threads, Sum* sums,
                float softening_squared) {
  if constexpr (kSharing == Sharing::blocks) {
    for (long long i = n * thread / threads; i < n * (thread + 1) / threads; ++i) {
      meet_later_ones(bodies, i, n, sums, softening_squared);
    }
  } else if constexpr (kSharing == Sharing::lowest_and_highest) {
    // Together, body k and body n - 1 - k have n - 1 pairs, whatever k is.
    const long long pairs = (n + 1) / 2;
    for (long long k = pairs * thread / threads; k < pairs * (thread + 1) / threads; ++k) {
      meet_later_ones(bodies, k, n, sums, softening_squared);
      if (n - 1 - k != k) meet_later_ones(bodies, n - 1 - k, n, sums, softening_squared);
    }
  } else {
    // The row of a pair is computed from the pair's index, at the cost of one square root per pair.
    const long long pairs = n * (n - 1) / 2;
    const auto row_start = [n](long long i) { return i * (2 * n - i - 1) / 2; };
    const double b = 2.0 * static_cast<double>(n) - 1.0;
    for (long long k = pairs * thread / threads; k < pairs * (thread + 1) / threads; ++k) {
      auto i = static_cast<long long>((b - std::sqrt(b * b - 8.0 * static_cast<double>(k))) / 2.0);
      while (i > 0 && row_start(i) > k) --i;  // rounding may have given the next row
      while (row_start(i + 1) <= k) ++i;
      interact(bodies, i, i + 1 + k - row_start(i), sums, softening_squared);
    }
  }
}

// Kicks and drifts all bodies of a system after all threads have computed their pairs.
void update(Body* bodies, int n, const std::vector<std::vector<Sum>>& sums, float dt) {
#pragma omp for schedule(static)
  for (int i = 0; i < n; ++i) {
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (const auto& of_thread : sums) {
      const Sum& sum = of_thread[static_cast<std::size_t>(i)];
      ax += sum.x;
      ay += sum.y;
      az += sum.z;
    }
    Body& body = bodies[i];
    body.vx += ax * dt;
    body.vy += ay * dt;
    body.vz += az * dt;
    body.x += body.vx * dt;
    body.y += body.vy * dt;
    body.z += body.vz * dt;
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const nbody::Stopwatch stopwatch;
  const int n = systems.bodies_per_system, threads = omp_get_max_threads();
  std::vector<std::vector<Sum>> sums(static_cast<std::size_t>(threads),
                                     std::vector<Sum>(static_cast<std::size_t>(n)));
#pragma omp parallel num_threads(threads)
  for (int step = 0; step < run.steps; ++step) {
    for (int s = 0; s < systems.count; ++s) {
      const int thread = omp_get_thread_num();
      auto& own = sums[static_cast<std::size_t>(thread)];
      std::fill(own.begin(), own.end(), Sum{});
      Body* const bodies = systems.system(s).data();
      accelerate(bodies, n, thread, threads, own.data(), run.softening_squared);
#pragma omp barrier
      update(bodies, n, sums, run.dt);  // ends with a barrier, so sums may then be cleared
    }
  }
  return {.compute = stopwatch.seconds()};
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "edge_sharing", .parent = "step00_cpu_omp"}, simulate, argc,
                          argv);
}
