// Gadget's snapshots in HDF5, for programs that link nbody_gadget.
//
// Most of our programs do not link HDF5, because Debian's library depends on 35 shared libraries,
// among them curl, OpenSSL and Kerberos. Every machine that runs the program would need these
// libraries, and linking HDF5 statically would avoid only a few of them.
#pragma once

#include <span>

#include "io/file_format.h"

namespace nbody {

// Returns the basic formats and Gadget's, for read_bodies and format_for_writing. A build without
// HDF5 rejects a Gadget HDF5 file with a one-line message.
//
// Reads /Header, /PartTypeN/{Coordinates,Velocities,Masses}, MassTable, and the units in /Units or,
// as GADGET-4 and AREPO write them, in /Parameters. Without these groups, lengths are in kpc,
// masses in 1e10 Msun and velocities in km/s. The bodies are converted to the preset kpc-100kms or,
// if this project wrote the file, to the units that the bodies had before they were written. Only
// bodies in units with a physical scale (io/units.h) can be written.
std::span<const FileFormat> formats_with_gadget();

}  // namespace nbody
