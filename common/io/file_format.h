// The formats of files of bodies: each is one file in io/formats and one line of the table there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "io/snapshot.h"

namespace nbody {

namespace formats {
struct Contents;
}

// What of a snapshot comes back from a file.
struct Keeps {
  bool names = false, float64 = false;
  bool species = false, all_species = false;
  bool order = false;    // of the bodies; otherwise they are sorted by species
  bool systems = false;  // where one ends
  bool run = false;      // the number of the step and the integrator
  bool times = false;    // time, softening, time step
  bool units = false;
};

struct FileFormat {
  std::string_view name;    // for --from and --to
  std::string_view title;   // for people
  std::string_view ending;  // of the names of its files; "": no ending stands for it
  // Of a file that no format recognises: why it is not of this one.
  std::string_view unlike = {};

  // Is a file that begins like this meant to be of this format, sound or not? Without this
  // function, the format is for writing alone.
  bool (*recognise)(std::string_view head) = nullptr;
  // Throws UsageError for what the first bytes or the size of a file give away, before the rest of
  // it is read into memory.
  void (*check_head)(const std::string& file, std::string_view head, std::uint64_t size) = nullptr;
  // `file` is for messages; `bytes` is all of it. Formats that can have more digits than float32
  // fill Contents::exact when `float64` asks for it. Without this function, and without write(),
  // only nbody-convert knows the format: the other programs do without the library it needs.
  formats::Contents (*read)(const std::string& file, std::string_view bytes,
                            bool float64) = nullptr;

  // Throws UsageError for a snapshot that the format cannot hold. Called before the file is
  // created.
  void (*check)(const std::string& file, const Snapshot& snapshot) = nullptr;
  void (*write)(std::ostream& out, const std::string& file, const Snapshot& snapshot) = nullptr;
  // A second file that goes with the first: its name, and what is in it.
  std::filesystem::path (*second_file)(const std::filesystem::path& file) = nullptr;
  void (*write_second)(std::ostream& out, const Snapshot& snapshot) = nullptr;

  Keeps keeps = {};
};

// All that need no library. The order is that of asking: the first that recognises a file reads it.
std::span<const FileFormat> basic_formats();

// By the ending of the name. Throws UsageError for an ending that stands for none.
const FileFormat& format_for_writing(const std::filesystem::path& file,
                                     std::span<const FileFormat> formats = basic_formats());

}  // namespace nbody
