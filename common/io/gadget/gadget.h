// Gadget's snapshots in HDF5, for programs that link nbody_gadget and call this once.
//
// Most programs do without: Debian's HDF5 library brings 35 shared libraries (curl, OpenSSL and
// Kerberos among them) that a machine it is carried to would need too, and its static form still
// wants most of them.
#pragma once

namespace nbody {

// From here on read_bodies and write_bodies know FileFormat::gadget. In a build without HDF5 they
// say so, in one line, when they meet such a file.
//
// Reading: /Header, /PartTypeN/{Coordinates,Velocities,Masses}, MassTable, /Units; lengths in kpc,
// masses in 1e10 Msun and velocities in km/s where there is no /Units. The snapshot is in the
// preset kpc-100kms, or in the units of the snapshot it was written from.
// Writing needs units that have a size (nbody/units.h).
void enable_gadget();

}  // namespace nbody
