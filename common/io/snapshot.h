// The state of a simulation at one time: its bodies, and what a file can say about them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/species.h"
#include "nbody/bodies.h"
#include "physics/integrator.h"

namespace nbody {

// Scenario and units fit the header of a BIN file: readers and writers refuse longer ones.
inline constexpr std::size_t kMaxTextBytes = 31;

// Bodies, and what a file can say about them.
struct Snapshot {
  Systems systems = {};
  // Empty, or the bodies in float64; systems.bodies are then these, rounded. CSV, BIN and Gadget
  // keep it.
  std::vector<BodyF64> exact = {};
  double time = 0;       // of the state, in units where G = 1
  long long step = 0;    // time steps taken so far
  double softening = 0;  // Plummer softening length; 0: the file does not say
  double dt = 0;         // 0: the file does not say
  Integrator integrator = Integrator::euler;
  // Leapfrog keeps positions half a step ahead of velocities between its first and its last drift.
  // A checkpoint stores that state untouched, so that a resumed run ends with the same bits as an
  // uninterrupted one.
  bool staggered = false;
  std::string scenario = {};  // name of the initial condition, "" when read from a foreign file
  std::string units = {};     // a preset of io/units.h or any other text, kept as it is
  std::vector<std::string> names = {};  // of the bodies of one system, empty or N (CSV only)
  std::vector<Species> species = {};    // of all S * N bodies; empty: the file does not say
  // What a run that is resumed needs besides (run/checkpoint.h); empty: not a checkpoint. CSV and
  // BIN keep it.
  std::map<std::string, std::string, std::less<>> checkpoint = {};
  // The files it was read from: one, or two where units are in a second one.
  std::vector<std::filesystem::path> sources = {};
  // For people: the format it was read from ("Tipsy, big-endian"), and what of it was not read.
  std::string format = {}, left_out = {};
  std::string caution = {};  // FileFormat::softening, where the file has one
};

}  // namespace nbody
