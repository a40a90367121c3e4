// A short summary of a file of bodies.
#pragma once

#include <string>

#include "io/snapshot_file.h"

namespace nbody::convert {

// Returns several lines: units, systems, species with their masses, extent, centre of mass, its
// velocity, virial ratio (in the frame of that centre), and the parts that were not read. With
// several systems, extent and masses cover all of them; the centre is the first system's.
std::string summary(const Snapshot& snapshot);

}  // namespace nbody::convert
