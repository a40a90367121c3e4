// Kernel 1, compute_force, in the report's first version and after each change. Every version
// computes
//   a_i = sum_j m_j (x_j - x_i) / (|x_j - x_i|^2 + eps^2)^(3/2)
// in two dimensions, with one thread per body (compute_pairs: with one thread per pair).
#pragma once

#include "layouts.cuh"

namespace activity {

enum class Root { power, division, of_the_cube, cubed };

template <Root root>
__device__ float inverse_cube(float distance_squared) {
  if constexpr (root == Root::power) {
    return 1.0f / powf(distance_squared, 1.5f);
  } else if constexpr (root == Root::division) {
    return 1.0f / (distance_squared * sqrtf(distance_squared));
  } else if constexpr (root == Root::of_the_cube) {
    return rsqrtf(distance_squared * distance_squared * distance_squared);
  } else {
    const float inverse_distance = rsqrtf(distance_squared);
    return inverse_distance * inverse_distance * inverse_distance;
  }
}

// Returns the acceleration that a body at (from_x, from_y) causes at (x, y).
template <Root root>
__device__ float2 pull(float x, float y, float from_x, float from_y, float mass,
                       float softening_squared) {
  const float dx = from_x - x, dy = from_y - y;
  const float s = mass * inverse_cube<root>(dx * dx + dy * dy + softening_squared);
  return make_float2(s * dx, s * dy);
}

__device__ inline void add(float2& sum, float2 term) {
  sum.x += term.x;
  sum.y += term.y;
}

__device__ inline int thread_index() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

// Takes the bodies, which are structs or columns, by value.
template <Root root, class Bodies>
__global__ void compute_force(Bodies bodies, float2* force, int n, float softening_squared) {
  const int i = thread_index();
  if (i >= n) return;
  float2 sum = make_float2(0, 0);
  for (int j = 0; j < n; ++j) {
    add(sum, pull<root>(bodies.x(i), bodies.y(i), bodies.x(j), bodies.y(j), bodies.mass(j),
                        softening_squared));
  }
  force[i] = sum;
}

// Sums the forces without vector types: each difference and each sum is a separate float.
template <Root root>
__global__ void compute_force_floats(Structs bodies, float2* force, int n,
                                     float softening_squared) {
  const int i = thread_index();
  if (i >= n) return;
  float sum_x = 0, sum_y = 0;
  for (int j = 0; j < n; ++j) {
    const float x = bodies.x(j) - bodies.x(i);
    const float y = bodies.y(j) - bodies.y(i);
    const float s = bodies.mass(j) * inverse_cube<root>(x * x + y * y + softening_squared);
    sum_x += s * x;
    sum_y += s * y;
  }
  force[i].x = sum_x;
  force[i].y = sum_y;
}

// Values that are equal for all threads. They are in constant memory, not among the arguments.
__constant__ int constant_n;
__constant__ float constant_softening_squared;

__global__ void compute_force_constant(Structs bodies, float2* force) {
  const int i = thread_index();
  if (i >= constant_n) return;
  float2 sum = make_float2(0, 0);
  for (int j = 0; j < constant_n; ++j) {
    add(sum, pull<Root::cubed>(bodies.x(i), bodies.y(i), bodies.x(j), bodies.y(j), bodies.mass(j),
                               constant_softening_squared));
  }
  force[i] = sum;
}

// Takes columns as separate pointers: float* or, read-only, const float* __restrict__.
template <class Column>
__global__ void compute_force_pointers(Column x, Column y, Column mass, float2* force, int n,
                                       float softening_squared) {
  const int i = thread_index();
  if (i >= n) return;
  float2 sum = make_float2(0, 0);
  for (int j = 0; j < n; ++j) {
    add(sum, pull<Root::cubed>(x[i], y[i], x[j], y[j], mass[j], softening_squared));
  }
  force[i] = sum;
}

// Takes a pointer to a struct of columns. Like the columns, the struct is in device
// memory.
template <class Pointer>
__global__ void compute_force_in_memory(Pointer bodies, float2* force, int n,
                                        float softening_squared) {
  const int i = thread_index();
  if (i >= n) return;
  float2 sum = make_float2(0, 0);
  for (int j = 0; j < n; ++j) {
    add(sum, pull<Root::cubed>(bodies->x(i), bodies->y(i), bodies->x(j), bodies->y(j),
                               bodies->mass(j), softening_squared));
  }
  force[i] = sum;
}

// Loads tiles of bodies into shared memory. A thread past the last body loads and waits like all
// others, because a barrier that some threads of a block do not reach is undefined behaviour.
__global__ void compute_force_shared(const float* __restrict__ x, const float* __restrict__ y,
                                     const float* __restrict__ mass, float2* force, int n,
                                     float softening_squared) {
  extern __shared__ float3 tile[];
  const int i = thread_index(), block = static_cast<int>(blockDim.x);
  const float own_x = i < n ? x[i] : 0.0f, own_y = i < n ? y[i] : 0.0f;
  float2 sum = make_float2(0, 0);
  for (int first = 0; first < n; first += block) {
    const int j = first + static_cast<int>(threadIdx.x);
    tile[threadIdx.x] = j < n ? make_float3(x[j], y[j], mass[j]) : make_float3(0, 0, 0);
    __syncthreads();  // no thread may read the tile before it is complete
    for (int k = 0; k < block; ++k) {
      add(sum, pull<Root::cubed>(own_x, own_y, tile[k].x, tile[k].y, tile[k].z, softening_squared));
    }
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i < n) force[i] = sum;
}

// Uses N x N threads: thread (j, i) adds the force of body j on body i to the sum for i.
__global__ void compute_pairs_atomic(const float* __restrict__ x, const float* __restrict__ y,
                                     const float* __restrict__ mass, float2* force, int n,
                                     float softening_squared) {
  const int j = thread_index(), i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (i >= n || j >= n) return;
  const float2 term = pull<Root::cubed>(x[i], y[i], x[j], y[j], mass[j], softening_squared);
  atomicAdd(&force[i].x, term.x);
  atomicAdd(&force[i].y, term.y);
}

// Uses N x N threads, which write the forces to an N x N matrix. Then one warp sums each
// row.
__global__ void compute_pairs(const float* __restrict__ x, const float* __restrict__ y,
                              const float* __restrict__ mass, float2* pairs, int n,
                              float softening_squared) {
  const int j = thread_index(), i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (i >= n || j >= n) return;
  pairs[static_cast<size_t>(i) * n + j] =
      pull<Root::cubed>(x[i], y[i], x[j], y[j], mass[j], softening_squared);
}

__global__ void sum_rows(const float2* __restrict__ pairs, float2* force, int n) {
  const int row = thread_index() / warpSize, lane = static_cast<int>(threadIdx.x) % warpSize;
  if (row >= n) return;
  float2 sum = make_float2(0, 0);
  for (int j = lane; j < n; j += warpSize) add(sum, pairs[static_cast<size_t>(row) * n + j]);
  for (int delta = warpSize / 2; delta > 0; delta /= 2) {
    const float x = __shfl_down_sync(0xffffffffu, sum.x, delta);
    const float y = __shfl_down_sync(0xffffffffu, sum.y, delta);
    add(sum, make_float2(x, y));
  }
  if (lane == 0) force[row] = sum;
}

}  // namespace activity
