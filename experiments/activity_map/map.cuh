// Kernels 2 and 3: update_body moves the bodies and counts them in the map's cells, and
// normalise_activity_map turns the counts into shares.
#pragma once

#include "layouts.cuh"

namespace activity {

// Returns the cell at (x, y), or -1. Compares floats, because the cell of a distant body would
// overflow an integer.
__device__ inline long long cell_of(float x, float y, const Problem& problem) {
  const auto cells = static_cast<float>(problem.cells);
  const float per_length = cells / (2 * problem.extent);
  const float column = floorf((x + problem.extent) * per_length);
  const float row = floorf((y + problem.extent) * per_length);
  if (!(column >= 0 && column < cells && row >= 0 && row < cells)) return -1;
  return static_cast<long long>(row) * problem.cells + static_cast<long long>(column);
}

// Kicks, drifts and counts the bodies. Threads that add to one cell at once must do so atomically.
// Otherwise they would read the same count, and only one of their bodies would be counted.
template <class Bodies>
__device__ void move_and_count(Bodies bodies, const float2* force, float* map, int n,
                               const Problem& problem) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  bodies.vx(i) += force[i].x * problem.dt;
  bodies.vy(i) += force[i].y * problem.dt;
  bodies.x(i) += bodies.vx(i) * problem.dt;
  bodies.y(i) += bodies.vy(i) * problem.dt;
  const long long cell = cell_of(bodies.x(i), bodies.y(i), problem);
  if (cell >= 0) atomicAdd(&map[cell], 1.0f);
}

template <class Bodies>
__global__ void update_body(Bodies bodies, const float2* force, float* map, int n,
                            Problem problem) {
  move_and_count(bodies, force, map, n, problem);
}

// A version of update_body whose arrays are declared not to overlap (__restrict__).
__global__ void update_body_unaliased(float* __restrict__ x, float* __restrict__ y,
                                      float* __restrict__ vx, float* __restrict__ vy,
                                      const float2* __restrict__ force, float* __restrict__ map,
                                      int n, Problem problem) {
  move_and_count(Columns{x, y, vx, vy, nullptr}, force, map, n, problem);
}

// Normalises the map with one thread per cell. Map is float* or, because the report tried that,
// float* __restrict__.
template <class Map>
__global__ void normalise_activity_map(Map map, size_t cells, float factor) {
  const size_t cell = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (cell < cells) map[cell] *= factor;
}

// Before the bodies move, clears the cells that contain them. All other cells are zero already.
template <class Bodies>
__global__ void clear_cells(Bodies bodies, float* map, int n, Problem problem) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const long long cell = cell_of(bodies.x(i), bodies.y(i), problem);
  if (cell >= 0) map[cell] = 0.0f;
}

}  // namespace activity
