#include "nbody/bodies.h"

namespace nbody {

Body rounded(const BodyF64& body) {
  const auto narrow = [](double value) { return static_cast<float>(value); };
  return {narrow(body.x),  narrow(body.y),  narrow(body.z),   narrow(body.vx),
          narrow(body.vy), narrow(body.vz), narrow(body.mass)};
}

BodyF64 widened(const Body& body) {
  return {body.x, body.y, body.z, body.vx, body.vy, body.vz, body.mass};
}

}  // namespace nbody
