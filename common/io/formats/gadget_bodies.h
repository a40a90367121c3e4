// What Gadget's snapshots in HDF5 and its binary ones have in common: units, and bodies that come
// type after type, in an order that changes from one snapshot of a run to the next.
#pragma once

#include <string>
#include <vector>

#include "io/formats/formats.h"
#include "io/units.h"

namespace nbody::formats {

// The units of length, mass and velocity of a file. In them G is not 1, so the unit of mass is
// independent of the other two and is converted on its own. These are Gadget's own.
struct GadgetUnits {
  double length = kKpc;            // m
  double mass_gm = 1e10 * kSunGm;  // m^3 s^-2
  double velocity = 1e3;           // m / s

  // Of files in units per h: lengths, masses and with them times, but not velocities. 0 stands for
  // a parameter that is not used. Throws UsageError.
  void take_out_hubble(const std::string& where, double hubble);
};

class GadgetBodies {
 public:
  GadgetBodies(const std::string& file, const GadgetUnits& from, const Units& to, bool float64);

  double time(double in_file) const;  // throws UsageError if it overflows
  void add(const BodyF64& in_file, Species species);
  void add_id(double id) { ids_.push_back(id); }
  // In the order of the ids, so that a body keeps its place from file to file; in that of the file
  // if there are none, or if two are the same.
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
