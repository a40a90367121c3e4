// Files of bodies: CSV, the project's own BIN, and headerless raw files of six floats a body.
//
// Readers find the format in the content, not in the name, and reject what they cannot vouch for
// (short rows, NaN, infinities, negative masses, counts that do not fit the size) with a UsageError
// that names the file and the line or the body. Writers write to a temporary name in the same
// folder and rename, so that a file is whole or absent.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nbody/bodies.h"

namespace nbody {

enum class Integrator { euler, leapfrog };  // semi-implicit Euler (kick, drift); drift-kick-drift
const char* to_string(Integrator integrator);

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
  std::string units;     // free text, kept
  std::vector<std::string> names;  // of the bodies of one system, empty or N (CSV only)
};

// How a foreign file is to be cut: a raw or CSV file of S * N bodies becomes S systems of N bodies.
struct ReadOptions {
  std::optional<int> systems = {};
  std::optional<int> bodies = {};
  bool float64 = false;  // fill Snapshot::exact, with the digits that the file has
};

// Reads CSV, BIN or raw by content. Throws UsageError.
Snapshot read_bodies(const std::filesystem::path& file, const ReadOptions& options = {});

enum class FileFormat { csv, bin, raw };
// By ending: .csv, .bin, .raw. Throws UsageError for any other.
FileFormat format_for_writing(const std::filesystem::path& file);

// Writes a whole file or none: a temporary name beside it, flushed, then renamed.
// Throws UsageError when the folder does not exist or cannot be written, runtime_error when the
// disk is full.
void write_bodies(const std::filesystem::path& file, const Snapshot& snapshot);
void write_whole_file(const std::filesystem::path& file,
                      const std::function<void(std::ostream&)>& write);

// Adds to the end of a file in one piece: all of `text` or, when the disk is full, nothing.
// Throws as write_bodies does.
void append_to_file(const std::filesystem::path& file, std::string_view text);

// Throws UsageError unless `file` could be created (its folder exists and is writable, and it is
// not itself a folder): asked before a long run, not after it.
void require_writable(const std::filesystem::path& file);

}  // namespace nbody
