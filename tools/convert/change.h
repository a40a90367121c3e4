// What nbody-convert does to bodies between reading and writing them.
#pragma once

#include <span>

#include "io/snapshot_file.h"
#include "physics/vector3.h"

namespace nbody::convert {

struct Centre {
  double mass = 0;
  Vector3 position;  // of the centre of mass; the mean of the bodies if none has mass
  Vector3 velocity;
};
Centre centre_of(std::span<const Body> bodies);
Centre centre_of(std::span<const BodyF64> bodies);

// Moves the centre of mass of every system to the origin, at rest.
void move_to_centre(Snapshot& snapshot);

// Drops Snapshot::exact if no value in it says more than the float32 does, or than the nine digits
// of the float32 that a CSV file has.
void drop_needless_float64(Snapshot& snapshot);

}  // namespace nbody::convert
