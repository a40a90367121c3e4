// Reads and writes files of bodies: CSV, the project's own BIN, headerless raw files of six floats
// per body, Tipsy, and Gadget's HDF5 for programs that link it (io/gadget_hdf5/gadget.h).
// docs/formats.md describes these formats.
//
// The content of a file, not its name, decides its format. Invalid input (short rows, NaN,
// infinities, negative masses, counts that do not fit the size) causes a UsageError that gives the
// file and the line or the body. Files are written under a temporary name in the same folder and
// then renamed, so that a file is whole or absent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/file_format.h"
#include "io/write_whole_file.h"

namespace nbody {

struct ReadOptions {
  // How to divide the bodies of a file that does not store the number of systems: a raw, CSV, Tipsy
  // or Gadget file of S * N bodies becomes S systems of N bodies.
  std::optional<int> systems = {};
  std::optional<int> bodies = {};
  bool float64 = false;  // also fill Snapshot::exact with the values in float64
  // Species to keep; empty: keep all. A file that has no body of a requested species is rejected.
  std::vector<Species> species = {};
  // Column names of a table without a header line: "m,x,y,-,-"; "-" is skipped.
  std::string columns = {};
  // The format that the user requests. If this is nullptr, the file's content decides.
  const FileFormat* format = nullptr;
  std::span<const FileFormat> formats = basic_formats();
};

// `file` may be a named pipe; it is rejected if no writer appears within kPatienceSeconds. Throws
// UsageError, or runtime_error if there is too little memory.
inline constexpr int kPatienceSeconds = 5;
Snapshot read_bodies(const std::filesystem::path& file, const ReadOptions& options = {});

// Keeps only the bodies of these species; messages call the snapshot `name`. Throws UsageError if
// the snapshot does not store species, or has no body of a requested species.
Snapshot only_species(Snapshot snapshot, const std::string& name,
                      const std::vector<Species>& species);

// Writes a whole file or none. A program that is killed while it writes leaves the old file and a
// temporary file, .nbody-*.tmp. A Tipsy file gets a second file for its units, with the extension
// .param. Throws UsageError if the directory does not exist or is not writable, or if the format
// cannot hold these bodies; throws runtime_error if the disk is full.
void write_bodies(const std::filesystem::path& file, const Snapshot& snapshot);
void write_bodies(const std::filesystem::path& file, const Snapshot& snapshot,
                  const FileFormat& format);
// Called before a run that starts from this snapshot. Throws the UsageError that write_bodies would
// throw at the end of the run, so that a long run does not fail only at its end. The snapshot may
// be staggered, because the state at the end of the run is not staggered.
void require_can_write(const std::filesystem::path& file, const Snapshot& snapshot,
                       const FileFormat& format);
// Returns, for Outputs, the files that are created or replaced when `file` is written. Messages
// call these files `name`.
std::vector<NamedFile> files_written(const std::string& name, const std::filesystem::path& file,
                                     const FileFormat& format);
// Lists what a conversion to this format loses, one phrase per loss.
std::vector<std::string> what_is_lost(const Snapshot& snapshot, const FileFormat& format);

}  // namespace nbody
