// A file of bodies at a glance.
#pragma once

#include <string>

#include "io/snapshot_file.h"

namespace nbody::convert {

// Several lines: units, systems, species with their masses, extent, centre of mass, its velocity,
// virial ratio (about that centre), and what was not read. Of several systems, extent and masses
// are those of all, the centre is that of the first.
std::string summary(const Snapshot& snapshot);

}  // namespace nbody::convert
