// Changes that nbody-convert makes to bodies between reading and writing them.
#pragma once

#include <span>

#include "io/snapshot_file.h"
#include "physics/vector3.h"

namespace nbody::convert {

struct Centre {
  double mass = 0;
  Vector3 position;  // of the centre of mass; the mean position if no body has mass
  Vector3 velocity;
};
Centre centre_of(std::span<const Body> bodies);
Centre centre_of(std::span<const BodyF64> bodies);

// Moves the centre of mass of every system to the origin and sets its velocity to zero.
void move_to_centre(Snapshot& snapshot);

// Drops Snapshot::exact if it adds nothing to the float32 values: each of its values must equal the
// float32 value, either exactly or as written with nine digits in a CSV file.
void drop_needless_float64(Snapshot& snapshot);

}  // namespace nbody::convert
