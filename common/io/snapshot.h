// The state of a simulation at one time: its bodies, and data about them that a file can hold.
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

// The maximum length, in bytes, of the scenario's name and of the units. Both must fit into the
// header of a BIN file, so readers and writers reject longer texts.
inline constexpr std::size_t kMaxTextBytes = 31;

// The bodies of all systems at one time, and the data about them.
struct Snapshot {
  Systems systems = {};
  // Empty, or the bodies in float64; systems.bodies then holds them rounded to float32. CSV, BIN
  // and Gadget files can store float64.
  std::vector<BodyF64> exact = {};
  double time = 0;       // time of the state, in units where G = 1
  long long step = 0;    // time steps taken so far
  double softening = 0;  // Plummer softening length; 0: not in the file
  double dt = 0;         // 0: not in the file
  Integrator integrator = Integrator::euler;
  // Between leapfrog's first and last drift, positions are half a step ahead of velocities. A
  // checkpoint stores this state unchanged, so that a resumed run ends with the same bits as an
  // uninterrupted run.
  bool staggered = false;
  std::string scenario = {};  // name of the initial condition, "" when read from a foreign file
  std::string units = {};     // a preset of io/units.h, or any other text, stored unchanged
  std::vector<std::string> names = {};  // names of one system's bodies: empty or N (CSV only)
  std::vector<Species> species = {};    // species of all S * N bodies; empty: not in the file
  // Other data that a resumed run needs (run/checkpoint.h); empty: not a checkpoint. CSV and BIN
  // files can store such data.
  std::map<std::string, std::string, std::less<>> checkpoint = {};
  // The files that the snapshot was read from: one, or two if its units are in a second file.
  std::vector<std::filesystem::path> sources = {};
  // For messages: the format of the file ("Tipsy, big-endian"), and the parts that were not read.
  std::string format = {}, left_out = {};
  std::string caution = {};  // FileFormat::softening, if the file has a softening
};

}  // namespace nbody
