#include "nbody/bodies.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "nbody/error.h"

namespace nbody {
namespace {

Systems resized(const Systems& systems, int bodies_per_system) {
  Systems result(systems.count, bodies_per_system);
  const int kept = std::min(bodies_per_system, systems.bodies_per_system);
  for (int s = 0; s < systems.count; ++s)
    std::copy_n(systems.system(s).begin(), kept, result.system(s).begin());
  return result;
}

}  // namespace

Body rounded(const BodyF64& body) {
  const auto narrow = [](double value) { return static_cast<float>(value); };
  return {narrow(body.x),  narrow(body.y),  narrow(body.z),   narrow(body.vx),
          narrow(body.vy), narrow(body.vz), narrow(body.mass)};
}

BodyF64 widened(const Body& body) {
  return {body.x, body.y, body.z, body.vx, body.vy, body.vz, body.mass};
}

Systems padded(const Systems& systems, int multiple) {
  if (multiple < 1) throw std::invalid_argument("padded: the multiple must be at least 1");
  // 64 bits: N near 2^31 rounded up does not fit an int.
  const long long n = systems.bodies_per_system;
  const long long rounded_up = (n + multiple - 1) / multiple * multiple;
  if (rounded_up * systems.count > std::numeric_limits<int>::max())
    throw UsageError(std::to_string(systems.count) + " systems of " + std::to_string(n) +
                     " bodies, each padded to " + std::to_string(rounded_up) +
                     ", are more than 2147483647 bodies");
  return resized(systems, static_cast<int>(rounded_up));
}

Systems stripped(const Systems& systems, int bodies_per_system) {
  if (bodies_per_system < 0 || bodies_per_system > systems.bodies_per_system)
    throw std::invalid_argument("stripped: a system does not have that many bodies");
  return resized(systems, bodies_per_system);
}

}  // namespace nbody
