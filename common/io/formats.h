// What the readers and writers of all formats share. Private to the library.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
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

// Every reader takes the name of the file, for its messages, and the whole content; those of
// formats that can have more than float32 fill Contents::exact when `float64` asks for it.
Contents read_csv(const std::string& file, std::string_view text, bool float64);
Contents read_bin(const std::string& file, std::string_view bytes, bool float64);
Contents read_raw(const std::string& file, std::string_view bytes);
Contents read_tipsy(const std::string& file, std::string_view bytes);

// Keeps the species and makes the systems that are asked for. Throws UsageError.
Snapshot assemble(const std::string& file, Contents contents, const ReadOptions& options);

// Every writer has checked what its format cannot hold before it writes the first byte.
void write_csv(std::ostream& out, const std::string& file, const Snapshot& snapshot);
void write_bin(std::ostream& out, const std::string& file, const Snapshot& snapshot);
void write_raw(std::ostream& out, const std::string& file, const Snapshot& snapshot);
void write_tipsy(std::ostream& out, const std::string& file, const Snapshot& snapshot,
                 std::endian order);

// Gadget needs a library that most programs do without: enable_gadget() sets these.
struct Gadget {
  Contents (*read)(const std::string& file, std::string_view bytes, bool float64) = nullptr;
  void (*write)(std::ostream& out, const std::string& file, const Snapshot& snapshot) = nullptr;
};
extern Gadget gadget;
bool is_hdf5(std::string_view head);

// The file with a Tipsy file's units, for a file to be written.
std::filesystem::path tipsy_param_of(const std::filesystem::path& file);
// What the .param file beside a Tipsy file says: units, time step, softening. Without one, nothing
// changes.
void read_tipsy_param(const std::filesystem::path& file, Snapshot& snapshot);
void parse_tipsy_param(const std::string& where, std::string_view text, Snapshot& snapshot);
// Throws UsageError when the .param file would replace one that is not ours.
void check_tipsy_param(const std::filesystem::path& file);
void write_tipsy_param(const std::filesystem::path& file, const Snapshot& snapshot);

// True for a file that is meant to be Tipsy, sound or not: its number of dimensions is 1, 2 or 3 in
// one of the byte orders.
bool is_tipsy(std::string_view head);
// As check_bin_header.
void check_tipsy_header(const std::string& file, std::string_view head, std::uint64_t size);

bool is_bin(std::string_view head);
// Throws unless the header at the start of `head` is sound and describes a file of exactly `size`
// bytes. Asked before the rest of the file is read, so that a lying header allocates nothing.
void check_bin_header(const std::string& file, std::string_view head, std::uint64_t size);

// Throws unless every mass is 1: a raw file has none.
void check_unit_masses(const std::string& file, const Snapshot& snapshot);

// Throws unless a raw file can have that many bytes.
void check_raw_size(const std::string& file, std::uint64_t size);

struct Shape {
  int systems;
  int bodies;
};
// Cuts `total` bodies as the file (when it knows) and the options say. Throws UsageError.
Shape shape_of(const std::string& file, std::uint64_t total, std::optional<int> systems_in_file,
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
