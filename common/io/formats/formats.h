// What the readers and writers of all formats share. Private to the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/snapshot_file.h"

namespace nbody::formats {

// What a reader found in a file, before a choice of species and a cut into systems.
struct Contents {
  Snapshot snapshot;               // everything but the bodies, their names and their species
  std::vector<Body> bodies;        // of all systems
  std::vector<BodyF64> exact;      // the same in float64, or empty
  std::vector<std::string> names;  // of every body, or empty
  std::vector<Species> species;    // of every body, or empty
  std::optional<int> systems;      // when the file knows
};

// The entries of the table, each defined in the file of its format.
extern const FileFormat kBin, kCsv, kRaw, kTipsy, kTipsyLittle;
// Gadget's, for programs that do without HDF5; io/gadget has the other.
extern const FileFormat kGadgetElsewhere;
// The table with this format in the place of the one of the same name.
std::vector<FileFormat> basic_formats_with(const FileFormat& format);

// Keeps the species and makes the systems that are asked for. Throws UsageError.
Snapshot assemble(const std::string& file, Contents contents, const ReadOptions& options);

// The file with the units of a Tipsy file.
std::filesystem::path tipsy_param_of(const std::filesystem::path& file);
// Reads it if it is there; without one, nothing changes.
void read_tipsy_param(const std::filesystem::path& file, Snapshot& snapshot);
// Throws UsageError when it would replace one that is not ours.
void check_tipsy_param(const std::filesystem::path& file);
void write_tipsy_param(std::ostream& out, const Snapshot& snapshot);

struct Division {
  int systems;
  int bodies;  // of each
};
// Divides `total` bodies as the file (when it knows) and the options say. Throws UsageError.
Division divide(const std::string& file, std::uint64_t total, std::optional<int> systems_in_file,
                const ReadOptions& options);

// Throws unless all seven values are finite and the mass is not negative. `index` counts from 0
// over all systems. CSV does not use it: there, the line is the better address.
void check_body(const std::string& file, std::size_t index, const Body& body);

// Valid UTF-8 without control characters but tabs and line ends. That UTF-8 must be valid keeps a
// raw file of a single body, 24 bytes, from passing for text. Cut::anywhere: a sequence that the
// end of `text` cuts is let through.
enum class Cut { nowhere, anywhere };
bool is_text(std::string_view text, Cut cut);

// Throws unless `text` is one printable line that fits the fields of the BIN header.
void check_text(const std::string& where, std::string_view key, std::string_view text);

// Of every body of a snapshot that says it; of a collisionless body that does not say, dark matter
// is the plainest reading.
inline Species species_at(const Snapshot& snapshot, std::size_t i) {
  return snapshot.species.empty() ? Species::dark : snapshot.species[i];
}

// Throws std::invalid_argument for a Snapshot that contradicts itself.
void check_snapshot(const Snapshot& snapshot);

}  // namespace nbody::formats
