// What the force on a body does: it changes the velocity, and the new velocity the position.
#pragma once

#include "nbody/cuda.h"
#include "nbody/float3.h"

namespace motion {
using namespace nbody;

// A time step of symplectic Euler, as in all steps.
struct KickAndDrift {
  float4* positions;   // w: mass
  float4* velocities;  // w is 0
  float dt;

  // Moves body k, which has this mass and the acceleration a.
  __device__ void operator()(int k, float3 a, float mass) const {
    const float3 v = xyz(velocities[k]) + dt * a, x = xyz(positions[k]) + dt * v;
    velocities[k] = {v.x, v.y, v.z, 0};
    positions[k] = {x.x, x.y, x.z, mass};
  }
};

}  // namespace motion
