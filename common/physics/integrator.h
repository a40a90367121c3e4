// How a run advances its bodies in time.
#pragma once

namespace nbody {

enum class Integrator { euler, leapfrog };  // semi-implicit Euler (kick, drift); drift-kick-drift

constexpr const char* to_string(Integrator integrator) {
  return integrator == Integrator::euler ? "euler" : "leapfrog";
}

}  // namespace nbody
