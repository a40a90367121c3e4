// File formats for bodies. Each format has one file in io/formats, and one line in the table of
// io/formats/table.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "io/snapshot.h"

namespace nbody {

struct ReadOptions;
namespace formats {
struct Contents;
}

// Returns the next bytes of a file, as many as requested; they are valid until the next call.
// Throws UsageError if the file ends earlier.
using NextBytes = std::function<std::string_view(std::size_t)>;

// The parts of a snapshot that survive being written and read.
struct Keeps {
  bool names = false, float64 = false;
  bool species = false, all_species = false;
  bool order = false;    // order of bodies; if false, they are sorted by species
  bool systems = false;  // boundaries of systems
  bool run = false;      // step number, integrator, and whether the bodies are staggered
  bool times = false;    // time, softening, time step
  bool units = false;
};

// Keeps everything except these parts.
template <class... Parts>
constexpr Keeps everything_but(Parts... parts) {
  Keeps keeps{.names = true, .float64 = true, .species = true, .all_species = true};
  keeps.order = keeps.systems = keeps.run = keeps.times = keeps.units = true;
  ((keeps.*parts = false), ...);
  return keeps;
}

struct FileFormat {
  std::string_view name;    // name in --from and --to
  std::string_view title;   // name in messages
  std::string_view ending;  // extension; "": the user must request the format by name
  // Message about files that contain a softening. It says how the codes that write this format
  // define the softening.
  std::string_view softening = {};
  // Part of the message about a file that no format recognises: why the file is not in this format.
  std::string_view unlike = {};

  // True if a file with these first bytes is meant to be in this format, whether valid or not.
  // nullptr: the format is only written.
  bool (*recognise)(std::string_view head) = nullptr;
  // Message for files that this program cannot read. It suggests a program that can read them; FILE
  // stands for the name of the file.
  std::string_view reader = {};
  // Throws UsageError if the first bytes and the size of a file already show that it is damaged.
  // Called before the rest of the file is read into memory.
  void (*check_head)(const std::string& file, std::string_view head, std::uint64_t size) = nullptr;
  // Reads a file: `file` is its name in messages, and `bytes` its whole content. If options.float64
  // is set, formats that can hold more digits than float32 fill Contents::exact. nullptr: this
  // program cannot read the format.
  formats::Contents (*read)(const std::string& file, std::string_view bytes,
                            const ReadOptions& options) = nullptr;
  // Reads a file of `size` bytes as `read` does, but holds only a part of the file in memory at a
  // time. nullptr: the format needs the whole file at once.
  formats::Contents (*read_in_pieces)(const std::string& file, std::uint64_t size,
                                      const NextBytes& next, const ReadOptions& options) = nullptr;

  // Throws UsageError for a snapshot that the format cannot hold; called before the file is
  // created.
  void (*check)(const std::string& file, const Snapshot& snapshot) = nullptr;
  // nullptr: this program cannot write the format.
  void (*write)(std::ostream& out, const std::string& file, const Snapshot& snapshot) = nullptr;
  // Name and content of the second file that some formats need; the name is empty if `file` needs
  // no second file.
  std::filesystem::path (*second_file)(const std::filesystem::path& file) = nullptr;
  void (*write_second)(std::ostream& out, const Snapshot& snapshot) = nullptr;

  bool needs_species = false;  // bodies of unknown species become dark
  bool has_columns = false;    // ReadOptions::columns can give names to its columns
  Keeps keeps = {};
};

// All formats that need no library. The first of them that recognises a file reads it.
std::span<const FileFormat> basic_formats();

// Selects a format by file extension. Throws UsageError for an unknown extension.
const FileFormat& format_for_writing(const std::filesystem::path& file,
                                     std::span<const FileFormat> formats = basic_formats());

}  // namespace nbody
