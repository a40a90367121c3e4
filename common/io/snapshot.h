// The state of a simulation at one time: its bodies, and what a file can say about them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/species.h"
#include "nbody/bodies.h"
#include "physics/integrator.h"

namespace nbody {

// Scenario and units fit the header of a BIN file: readers and writers refuse longer ones.
inline constexpr std::size_t kMaxTextBytes = 31;

// What a file can say about its bodies besides the bodies.
struct Snapshot {
  Systems systems;
  // Empty, or systems.bodies in float64: then those are these, rounded. CSV and BIN keep it.
  std::vector<BodyF64> exact;
  double time = 0;       // of the state, in units where G = 1
  long long step = 0;    // time steps taken so far
  double softening = 0;  // Plummer softening length; 0: the file does not say
  double dt = 0;         // 0: the file does not say
  Integrator integrator = Integrator::euler;
  // Leapfrog keeps positions half a step ahead of velocities between its first and its last drift.
  // A checkpoint stores that state untouched, so that a resumed run repeats the bits of a whole
  // one.
  bool staggered = false;
  std::string scenario;  // name of the initial condition, "" when read from a foreign file
  std::string units;     // a preset of nbody/units.h or any other text, kept
  std::vector<std::string> names;  // of the bodies of one system, empty or N (CSV only)
  std::vector<Species> species;    // of all S * N bodies; empty: the file does not say
  // For people: what it was read from ("Tipsy, big-endian"), and which of its fields were not read.
  std::string format, left_out;
};

}  // namespace nbody
