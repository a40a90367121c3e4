// Types and functions shared by the readers and writers of all formats. Private to the library.
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

// The content of a file, before species are selected and the bodies are divided into systems.
struct Contents {
  Snapshot snapshot;               // everything except the bodies, their names and their species
  std::vector<Body> bodies;        // bodies of all systems
  std::vector<BodyF64> exact;      // these bodies in float64, or empty
  std::vector<std::string> names;  // name of every body, or empty
  std::vector<Species> species;    // species of every body, or empty
  std::optional<int> systems;      // number of systems, if the file gives it
};

// The entries of the table of formats. Each entry is defined in the file of its format.
extern const FileFormat kBin, kCsv, kGadgetBinary, kRaw, kTipsy, kTipsyLittle;
// NEMO's format: recognised only so that a message can suggest the NEMO program that writes tables.
extern const FileFormat kNemo;
// Gadget's HDF5 format in builds without HDF5: recognised, but neither read nor written.
extern const FileFormat kGadgetElsewhere;
// Returns the table of formats, in which Gadget's HDF5 format has these functions.
std::vector<FileFormat> basic_formats_with_gadget(decltype(FileFormat::read) read,
                                                  decltype(FileFormat::check) check,
                                                  decltype(FileFormat::write) write);

// Selects species and forms the systems that `options` request. Throws UsageError.
Snapshot assemble(const std::string& file, Contents contents, const ReadOptions& options);

// Returns the .param file that holds the units of a Tipsy file.
std::filesystem::path tipsy_param_of(const std::filesystem::path& file);
// Fills in the units from the .param file of `file`, if it exists.
void read_tipsy_param(const std::filesystem::path& file, Snapshot& snapshot);
// Throws UsageError if writing would replace a file that this project did not write.
void check_tipsy_param(const std::filesystem::path& file, const Snapshot& snapshot);
void write_tipsy_param(std::ostream& out, const Snapshot& snapshot);

struct Division {
  int systems;
  int bodies;  // number of bodies in each system
  bool operator==(const Division&) const = default;
};
// Divides `total` bodies into as many systems as the file (if it gives a number) or the options
// require. Throws UsageError.
Division divide(const std::string& file, std::uint64_t total, std::optional<int> systems_in_file,
                const ReadOptions& options);

// Throws unless all seven values are finite and the mass is not negative. The message contains
// `index`, which counts the bodies of all systems from 0. The CSV reader has its own checks, whose
// messages contain the line number instead.
template <class Real>
void check_body(const std::string& file, std::size_t index, const BasicBody<Real>& body);

// True for valid UTF-8 whose only control characters are tabs and line ends. If invalid UTF-8 were
// accepted, a raw file of a single body (24 bytes) could pass for text. With Cut::anywhere, `text`
// may end within a multi-byte character.
enum class Cut { nowhere, anywhere };
bool is_text(std::string_view text, Cut cut);

// Throws unless `text` is one printable line that fits the fields of the BIN header.
void check_text(const std::string& where, std::string_view key, std::string_view text);

// Returns the species of a body. If the snapshot has no species, every body counts as dark matter,
// the plainest kind of collisionless body.
inline Species species_at(const Snapshot& snapshot, std::size_t i) {
  return snapshot.species.empty() ? Species::dark : snapshot.species[i];
}

// Convert Snapshot::checkpoint to and from lines key=value. Keys consist of letters, digits and
// hyphens; values are printable UTF-8 of any length, without a blank at either end.
// parse_checkpoint throws UsageError for other lines.
std::string checkpoint_text(const decltype(Snapshot::checkpoint)& checkpoint);
decltype(Snapshot::checkpoint) parse_checkpoint(const std::string& where, std::string_view text);

// Throws std::invalid_argument for a Snapshot that contradicts itself.
void check_snapshot(const Snapshot& snapshot);

}  // namespace nbody::formats
