// Shared by the four programs: bodies in float64, gravity from libnbody, and the command line.
// G = 1. An integrator moves a System over a span of time; orbits.cpp does everything else.
#pragma once

#include <string_view>
#include <vector>

#include "physics/vector3.h"

namespace nbody::orbits {

using Vectors = std::vector<Vector3>;  // three numbers per body, as in libnbody's arrays

struct System {
  Vectors x, v;           // positions and velocities, n each
  std::vector<double> m;  // masses, n
  double softening = 0;   // 0: point masses
  std::size_t size() const { return m.size(); }
};

struct Derivatives {
  Vectors a, j;  // accelerations and their derivatives in time, the jerks
};

// Computes sums over all bodies with libnbody, in float64, and counts the interactions. Throws
// runtime_error if a position is no longer finite.
class Gravity {
 public:
  // Returns sum_j m_j r_ij / s^3, with s^2 = |r_ij|^2 + softening^2, for every body.
  Vectors accelerations(const System& bodies);
  // Returns the accelerations and sum_j m_j (v_ij / s^3 - 3 (r_ij . v_ij) r_ij / s^5), as above.
  Derivatives derivatives(const System& bodies);
  // Returns the derivatives of the bodies in `active` only. All bodies act on these bodies.
  Derivatives derivatives(const System& bodies, const std::vector<std::size_t>& active);
  // Returns -sum_j m_j / s for every body. These interactions are not counted.
  static std::vector<double> potentials(const System& bodies);
  // Interactions so far: pairs of a target and a source.
  long long interactions() const { return interactions_; }

 private:
  long long interactions_ = 0;
};

struct Steps {
  long long count;     // number of times at which forces were computed
  double least, most;  // shortest and longest step of a body
};

// Moves the bodies forward by a time `span` > 0. `accuracy` is the integrator's parameter: its time
// step, or the eta that determines its steps.
using Integrate = Steps (*)(System& bodies, Gravity& gravity, double span, double accuracy);

struct Integrator {
  std::string_view name;
  std::string_view description;  // one line, for --help
  std::string_view accuracy;     // the option that sets the accuracy: "dt" or "eta"
  Integrate integrate;
};

// Divides a span into equal steps of at most dt. Throws UsageError above 1e12 steps.
long long equal_steps(double span, double dt);

// Throws a runtime_error, because the step is so short that adding it would not change the time.
[[noreturn]] void refuse_short_step();

// The main function of a program; returns its exit code.
int run(const Integrator& integrator, int argc, char** argv);

}  // namespace nbody::orbits
