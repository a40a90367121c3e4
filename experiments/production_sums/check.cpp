#include <algorithm>
#include <cmath>

#include "production_sums.h"

namespace production {

Errors errors(const Kind& kind, const std::vector<nbody::Body>& bodies, double softening,
              const Sums& sums, int compared) {
  const std::size_t n = bodies.size(), count = std::min<std::size_t>(compared, n);
  const double softening_squared =
      static_cast<double>(static_cast<float>(softening * softening));  // rounds as the kernels do
  double wrong_a = 0, all_a = 0, wrong_j = 0, all_j = 0, wrong_p = 0, all_p = 0;
#pragma omp parallel for reduction(+ : wrong_a, all_a, wrong_j, all_j, wrong_p, all_p)
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = count == 1 ? 0 : k * (n - 1) / (count - 1);
    const nbody::Body& body = bodies[i];
    double ax = 0, ay = 0, az = 0, jx = 0, jy = 0, jz = 0, potential = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const nbody::Body& other = bodies[j];
      const double x = double{other.x} - body.x, vx = double{other.vx} - body.vx;
      const double y = double{other.y} - body.y, vy = double{other.vy} - body.vy;
      const double z = double{other.z} - body.z, vz = double{other.vz} - body.vz;
      const double squared = x * x + y * y + z * z + softening_squared;
      const double of_potential = other.mass / std::sqrt(squared), s = of_potential / squared;
      const double t = -3 * (x * vx + y * vy + z * vz) / squared;
      ax += s * x, ay += s * y, az += s * z;
      jx += s * (vx + t * x), jy += s * (vy + t * y), jz += s * (vz + t * z);
      if (i != j) potential -= of_potential;
    }
    const auto squares = [](double x, double y, double z) { return x * x + y * y + z * z; };
    const Vector& a = sums.acceleration[i];
    wrong_a += squares(a.x - ax, a.y - ay, a.z - az), all_a += squares(ax, ay, az);
    if (kind.jerk) {
      const Vector& jerk = sums.jerk[i];
      wrong_j += squares(jerk.x - jx, jerk.y - jy, jerk.z - jz), all_j += squares(jx, jy, jz);
    }
    if (kind.potential) {
      wrong_p += squares(sums.potential[i] - potential, 0, 0), all_p += squares(potential, 0, 0);
    }
  }
  // If the error is zero, the result is zero, even if all correct values are zero (0 / 0).
  const auto relative = [](double wrong, double all) {
    return wrong == 0 ? 0 : std::sqrt(wrong / all);
  };
  return {relative(wrong_a, all_a), relative(wrong_j, all_j), relative(wrong_p, all_p)};
}

}  // namespace production
