// The formats of files of bodies. Each is one file in io/formats and one line in the table there.
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

// The next bytes of a file, as many as are asked for; they stay until the next call. Throws
// UsageError where the file ends before.
using NextBytes = std::function<std::string_view(std::size_t)>;

// The parts of a snapshot that survive being written and read.
struct Keeps {
  bool names = false, float64 = false;
  bool species = false, all_species = false;
  bool order = false;    // of the bodies; otherwise they are sorted by species
  bool systems = false;  // where one ends
  bool run = false;      // the number of the step and the integrator
  bool times = false;    // time, softening, time step
  bool units = false;
};

// All but these parts.
template <class... Parts>
constexpr Keeps everything_but(Parts... parts) {
  Keeps keeps{.names = true, .float64 = true, .species = true, .all_species = true};
  keeps.order = keeps.systems = keeps.run = keeps.times = keeps.units = true;
  ((keeps.*parts = false), ...);
  return keeps;
}

struct FileFormat {
  std::string_view name;    // for --from and --to
  std::string_view title;   // for people
  std::string_view ending;  // of file names; "": the format must be asked for by its name
  // Said of a file with a softening: what this format's own codes mean by one.
  std::string_view softening = {};
  // Said of a file that no format recognises: why it is not of this one.
  std::string_view unlike = {};

  // True if a file with these first bytes is meant to be of this format, sound or not. nullptr: the
  // format is only written.
  bool (*recognise)(std::string_view head) = nullptr;
  // Said of a file that this program does not read: what does. FILE stands for its name.
  std::string_view reader = {};
  // Throws UsageError if the first bytes and the size of a file already show that it is damaged:
  // called before the rest of it is read into memory.
  void (*check_head)(const std::string& file, std::string_view head, std::uint64_t size) = nullptr;
  // `file` is for messages; `bytes` is its whole content. With options.float64, formats that can
  // hold more digits than float32 fill Contents::exact. nullptr: this program cannot read the
  // format.
  formats::Contents (*read)(const std::string& file, std::string_view bytes,
                            const ReadOptions& options) = nullptr;
  // The same from a file of `size` bytes, of which only a piece is in memory at a time. nullptr:
  // the format needs all of it at once.
  formats::Contents (*read_in_pieces)(const std::string& file, std::uint64_t size,
                                      const NextBytes& next, const ReadOptions& options) = nullptr;

  // Throws UsageError for a snapshot that the format cannot hold; called before the file is
  // created.
  void (*check)(const std::string& file, const Snapshot& snapshot) = nullptr;
  // nullptr: this program cannot write the format.
  void (*write)(std::ostream& out, const std::string& file, const Snapshot& snapshot) = nullptr;
  // Some formats need a second file beside the first: its name (empty: none this time) and content.
  std::filesystem::path (*second_file)(const std::filesystem::path& file) = nullptr;
  void (*write_second)(std::ostream& out, const Snapshot& snapshot) = nullptr;

  bool needs_species = false;  // bodies of unknown ones become dark
  Keeps keeps = {};
};

// All formats that need no library. The first of them that recognises a file reads it.
std::span<const FileFormat> basic_formats();

// Chosen by the ending of the name. Throws UsageError for an ending that belongs to none.
const FileFormat& format_for_writing(const std::filesystem::path& file,
                                     std::span<const FileFormat> formats = basic_formats());

}  // namespace nbody
