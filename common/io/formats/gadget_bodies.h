// Converts the units and the bodies of Gadget's snapshots, for the readers of HDF5 and of binary
// files. In a file, the bodies are sorted by type; within a type, the order of bodies changes from
// one snapshot of a run to the next.
#pragma once

#include <string>
#include <vector>

#include "io/formats/formats.h"
#include "io/units.h"

namespace nbody::formats {

// A file's units of length, mass and velocity; the defaults are Gadget's. G is not 1 in these
// units, so the mass is converted independently of length and velocity.
struct GadgetUnits {
  double length = kKpc;            // m
  double mass_gm = 1e10 * kSunGm;  // m^3 s^-2
  double velocity = 1e3;           // m / s

  // Divides the units of length and mass by h (`hubble`), and so also the unit of time; units of
  // velocity contain no h. If `hubble` is 0, the file does not use h. Throws UsageError.
  void take_out_hubble(const std::string& where, double hubble);
};

class GadgetBodies {
 public:
  GadgetBodies(const std::string& file, const GadgetUnits& from, const Units& to, bool float64);

  double time(double in_file) const;  // throws UsageError if it overflows
  void add(const BodyF64& in_file, Species species);
  void add_id(double id) { ids_.push_back(id); }
  // Sorts bodies by id, so that each body has the same index in all files of a run. If there are no
  // ids, or if two ids are equal, keeps the file's order.
  void move_to(Contents& contents);

 private:
  const std::string& file_;
  double length_, velocity_, mass_, time_;
  bool float64_;
  std::vector<Body> bodies_;
  std::vector<BodyF64> exact_;
  std::vector<Species> species_;
  std::vector<double> ids_;
};

}  // namespace nbody::formats
