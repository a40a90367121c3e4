// How a run advances its bodies in time.
#pragma once

#include "nbody/bodies.h"

namespace nbody {

enum class Integrator { euler, leapfrog };  // kick-drift (semi-implicit Euler); drift-kick-drift

constexpr const char* to_string(Integrator integrator) {
  return integrator == Integrator::euler ? "euler" : "leapfrog";
}

// Takes leapfrog's half drift with every body, in the state's precision: x += v t.
template <class Real>
void drift(BasicSystems<Real>& systems, Real t) {
  for (BasicBody<Real>& body : systems.bodies) {
    body.x += body.vx * t;
    body.y += body.vy * t;
    body.z += body.vz * t;
  }
}

}  // namespace nbody
