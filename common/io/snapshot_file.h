// Files of bodies: CSV, the project's own BIN, headerless raw files of six floats per body, Tipsy,
// and Gadget's HDF5 for programs that link it (io/gadget/gadget.h). docs/formats.md describes them.
//
// Readers find the format in the content, not in the name, and reject what they cannot vouch for
// (short rows, NaN, infinities, negative masses, counts that do not fit the size) with a UsageError
// that names the file and the line or the body. Writers write to a temporary name in the same
// folder and rename, so that a file is whole or absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/file_format.h"

namespace nbody {

struct ReadOptions {
  // How a foreign file is to be divided: a raw, CSV, Tipsy or Gadget file of S * N bodies becomes S
  // systems of N bodies.
  std::optional<int> systems = {};
  std::optional<int> bodies = {};
  bool float64 = false;  // fill Snapshot::exact, with the digits that the file has
  // The bodies to keep, in the order of the file; empty: all. A file that does not have one of them
  // is refused.
  std::vector<Species> species = {};
  // What the user says the file is; without it, the content decides.
  const FileFormat* format = nullptr;
  std::span<const FileFormat> formats = basic_formats();
};

// A named pipe may be read; one that has no writer within kPatienceSeconds is refused.
// Throws UsageError, or runtime_error if there is not the memory.
inline constexpr int kPatienceSeconds = 5;
Snapshot read_bodies(const std::filesystem::path& file, const ReadOptions& options = {});

// Writes a whole file or none: a temporary name beside it, flushed, then renamed. A program that is
// killed meanwhile leaves the old file and a .nbody-*.tmp. A Tipsy file gets a second one, FILE
// with the ending .param, for its units. Throws UsageError when the folder does not exist or cannot
// be written or the format cannot hold such bodies, runtime_error when the disk is full.
void write_bodies(const std::filesystem::path& file, const Snapshot& snapshot);
void write_bodies(const std::filesystem::path& file, const Snapshot& snapshot,
                  const FileFormat& format);
// Throws the UsageError that write_bodies would throw: asked before a long run, not after it.
void require_can_write(const std::filesystem::path& file, const Snapshot& snapshot,
                       const FileFormat& format);
// What of this snapshot the format cannot hold and a conversion loses, one phrase each.
std::vector<std::string> what_is_lost(const Snapshot& snapshot, const FileFormat& format);

}  // namespace nbody
