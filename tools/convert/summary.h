// What a person wants to know of a file of bodies at a glance.
#pragma once

#include <string>

#include "io/snapshot_file.h"

namespace nbody::convert {

// Several lines: format, units, systems, species with their masses, extent, centre of mass, its
// velocity, virial ratio (about that centre). Of several systems the extent and the masses are of
// all, the centre is of the first.
std::string summary(const Snapshot& snapshot);

}  // namespace nbody::convert
