// How a run advances its bodies in time.
#pragma once

#include "nbody/bodies.h"

namespace nbody {

enum class Integrator { euler, leapfrog };  // kick-drift (semi-implicit Euler); drift-kick-drift

constexpr const char* to_string(Integrator integrator) {
  return integrator == Integrator::euler ? "euler" : "leapfrog";
}

// Moves every body by leapfrog's half drift, x += v t, in the precision of the state.
template <class Real>
void drift(BasicSystems<Real>& systems, Real t) {
  for (BasicBody<Real>& body : systems.bodies) {
    body.x += body.vx * t;
    body.y += body.vy * t;
    body.z += body.vz * t;
  }
}

}  // namespace nbody
