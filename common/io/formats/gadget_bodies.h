// Shared by Gadget's HDF5 and binary snapshots: units, and bodies that are sorted by type, in an
// order that changes from one snapshot of a run to the next.
#pragma once

#include <string>
#include <vector>

#include "io/formats/formats.h"
#include "io/units.h"

namespace nbody::formats {

// A file's units of length, mass and velocity; the defaults are Gadget's. G is not 1 in them, so
// the unit of mass is independent and converted separately.
struct GadgetUnits {
  double length = kKpc;            // m
  double mass_gm = 1e10 * kSunGm;  // m^3 s^-2
  double velocity = 1e3;           // m / s

  // Converts lengths, masses and therefore times from units that contain h; units of velocity do
  // not. 0 means that a file does not use h. Throws UsageError.
  void take_out_hubble(const std::string& where, double hubble);
};

class GadgetBodies {
 public:
  GadgetBodies(const std::string& file, const GadgetUnits& from, const Units& to, bool float64);

  double time(double in_file) const;  // throws UsageError if it overflows
  void add(const BodyF64& in_file, Species species);
  void add_id(double id) { ids_.push_back(id); }
  // Sorts by id, so that a body keeps its place from file to file; keeps the file's order if there
  // are no ids or two are equal.
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
