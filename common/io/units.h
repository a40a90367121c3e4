// Units in which G = 1, and the constants that give these units a physical scale.
//
// A length L and a mass M determine the other units: sqrt(L^3 / GM) for time and sqrt(GM / L) for
// velocity. Masses enter only as GM, which is known far better than G and M are, so no value of G
// is needed:
//
//   au       149597870700 m           exact, IAU 2012 Resolution B2
//   pc       648000 / pi au           exact, IAU 2015 Resolution B2, note 4
//   GM(Sun)  1.3271244e20 m^3 s^-2    nominal, exact, IAU 2015 Resolution B3
//
// The presets, with the names that files store (a year is 365.25 days):
//
//   name           length  mass              time               velocity
//   henon          none: M = 1 and E = -1/4 (Henon 1971, Astrophysics and Space Science 14, 151)
//   au-msun-yr2pi  1 au    1 Msun            58.1324409 d       29.7846918 km/s
//   kpc-msun       1 kpc   1 Msun            471.482995 Gyr     2.07386530e-3 km/s
//   kpc-100kms     1 kpc   2.32508541e9 Msun 9.77792222 Myr     100 km/s, exact
//
// With Gauss's constant k, the Gaussian year divided by 2 pi is 1/k days. The unit of time of
// au-msun-yr2pi equals 1/k days to within 2e-10.
#pragma once

#include <numbers>
#include <optional>
#include <string>
#include <string_view>

#include "io/snapshot_file.h"

namespace nbody {

inline constexpr double kAu = 149597870700.0;                          // m
inline constexpr double kKpc = 1e3 * 648000 / std::numbers::pi * kAu;  // m
inline constexpr double kSunGm = 1.3271244e20;                         // m^3 s^-2

// Limits on the units of length and mass, in kpc and solar masses. The units of every real system
// are within these limits, and no conversion between units within the limits overflows.
inline constexpr double kSmallestUnit = 1e-30, kLargestUnit = 1e30;

// Units with a physical scale.
struct Units {
  double length;   // m
  double mass_gm;  // G times the unit of mass, m^3 s^-2

  double time() const;      // s
  double velocity() const;  // m / s
  double kpc() const { return length / kKpc; }
  double msun() const { return mass_gm / kSunGm; }
};

// Returns the units that a text specifies. The text must be the name of a preset with a physical
// scale or have the form "2.5 kpc, 1e10 Msun"; for any other text, such as "henon", returns
// nothing.
std::optional<Units> units_of(std::string_view text);
// Returns the text for units given in kpc and solar masses: the name of the preset with the same
// units (to 1e-9). If there is no such preset, returns a text such as "2.5 kpc, 1e10 Msun", with as
// many digits as kMaxTextBytes allows.
std::string units_text(double kpc, double msun);

// Returns the names of the presets, "henon, au-msun-yr2pi, ...".
std::string unit_presets();
// Throws a UsageError that lists the presets, unless `name` is the name of a preset.
void require_preset(const std::string& option, std::string_view name);

// Throws a UsageError if the snapshot was read from a Tipsy file without units: some programs
// assume that such a file is in kpc and solar masses, others in kpc and 1e10 solar masses. The
// message says that `option` specifies the units.
void require_units_of_tipsy(const std::string& file, const Snapshot& snapshot,
                            std::string_view option);

// Converts from the snapshot's units to a preset, rounding every value once. Throws a UsageError
// that begins with `file` if either system of units has no physical scale, or if a value overflows
// float32.
void convert_units(const std::string& file, Snapshot& snapshot, const std::string& preset);
// Converts from one system of units to another, leaving snapshot.units unchanged.
void rescale(const std::string& file, Snapshot& snapshot, const Units& from, const Units& to);

}  // namespace nbody
