// Bodies in device memory, as structs or as columns. Both layouts have the same members.
#pragma once

#include "activity_map.h"

namespace activity {

struct Structs {
  Body2d* bodies;
  __device__ float& x(int i) const { return bodies[i].x; }
  __device__ float& y(int i) const { return bodies[i].y; }
  __device__ float& vx(int i) const { return bodies[i].vx; }
  __device__ float& vy(int i) const { return bodies[i].vy; }
  __device__ float mass(int i) const { return bodies[i].mass; }
};

struct Columns {
  float *xs, *ys, *vxs, *vys, *masses;
  __device__ float& x(int i) const { return xs[i]; }
  __device__ float& y(int i) const { return ys[i]; }
  __device__ float& vx(int i) const { return vxs[i]; }
  __device__ float& vy(int i) const { return vys[i]; }
  __device__ float mass(int i) const { return masses[i]; }
};

}  // namespace activity
