// The layout of a Tipsy file (T. Quinn, TIPSY, tipsydefs.h), for its reader and its writer.
//
// Header: f64 time; i32 nbodies, ndim, nsph, ndark, nstar, and in most files a pad of 4 bytes. Then
// all gas, all dark, all star bodies, in float32:
//
//   gas   48 bytes  m, x[3], v[3], rho, temp, hsmooth, metals, phi
//   dark  36 bytes  m, x[3], v[3], eps, phi
//   star  44 bytes  m, x[3], v[3], metals, tform, eps, phi
//
// "Standard" files are big-endian, "native" ones as the machine that wrote them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "io/species.h"

namespace nbody::formats::tipsy {

inline constexpr std::size_t kTime = 0, kBodies = 8, kDimensions = 12, kCounts = 16;  // offsets
inline constexpr std::size_t kShortHeader = 28, kHeader = 32;                         // bytes

struct Record {
  Species species;
  std::size_t floats;
  std::optional<std::size_t> eps;  // which of them is the softening length
};
inline constexpr std::array<Record, 3> kRecords{
    {{Species::gas, 12, std::nullopt}, {Species::dark, 9, 7}, {Species::star, 11, 9}}};

// Of Gadget's species Tipsy has no others: what is neither gas nor dark is made of stars.
constexpr Species tipsy_species(Species species) {
  return species == Species::gas || species == Species::dark ? species : Species::star;
}

}  // namespace nbody::formats::tipsy
