// Gadget's snapshots in HDF5, for programs that link nbody_gadget.
//
// Most of our programs do without HDF5: Debian's library brings 35 shared libraries (curl, OpenSSL
// and Kerberos among them), which a machine that receives the program would need too; the static
// form needs most of them as well.
#pragma once

#include <span>

#include "io/file_format.h"

namespace nbody {

// The basic formats and Gadget's, for read_bodies and format_for_writing. A build without HDF5
// rejects such a file with a one-line message.
//
// Reads /Header, /PartTypeN/{Coordinates,Velocities,Masses}, MassTable and /Units. Without /Units,
// lengths are in kpc, masses in 1e10 Msun and velocities in km/s. The snapshot gets the preset
// kpc-100kms, or the units of the snapshot from which the file was written. Writing needs units
// that have a size (io/units.h).
std::span<const FileFormat> formats_with_gadget();

}  // namespace nbody
