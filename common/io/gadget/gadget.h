// Gadget's snapshots in HDF5, for programs that link nbody_gadget.
//
// Most programs do without: Debian's HDF5 library brings 35 shared libraries (curl, OpenSSL and
// Kerberos among them) that a machine it is carried to would need too, and its static form still
// wants most of them.
#pragma once

#include <span>

#include "io/file_format.h"

namespace nbody {

// The basic formats and Gadget's, for read_bodies and format_for_writing. In a build without HDF5
// such a file is refused in one line.
//
// Reading: /Header, /PartTypeN/{Coordinates,Velocities,Masses}, MassTable, /Units; lengths in kpc,
// masses in 1e10 Msun and velocities in km/s where there is no /Units. The snapshot is in the
// preset kpc-100kms, or in the units of the snapshot it was written from.
// Writing needs units that have a size (io/units.h).
std::span<const FileFormat> formats_with_gadget();

}  // namespace nbody
