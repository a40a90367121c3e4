// Finds the format of a file and passes the file to that format's reader or writer.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "io/formats/formats.h"
#include "io/write_whole_file.h"
#include "nbody/error.h"
#include "support/memory.h"

namespace nbody {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeadBytes = 1024;

// Bytes of memory needed per byte of a file. To read a file at once, the program needs memory for
// the bodies and for the file's content, which exists twice while the buffer grows. To read a file
// in pieces, the program needs memory only for the bodies, but in two precisions if the file holds
// float64.
constexpr std::uint64_t kMemoryPerByte = 4, kMemoryPerByteInPieces = 2;

// A file or a pipe, read once from front to back, so it need not be seekable.
class Input {
 public:
  explicit Input(const std::string& file)
      // Opens without blocking, because opening a pipe would otherwise wait for a writer that may
      // never come.
      : file_(file), descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) fail("cannot be opened: ");
  }
  ~Input() { close(descriptor_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Returns the size of a regular file; 0 if only reading shows the size (pipes, /proc).
  std::uint64_t size() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail("cannot be read: ");
    if (S_ISDIR(status.st_mode)) throw UsageError(file_, " is a folder, not a file of bodies");
    // Rejects devices, because /dev/zero never ends, and a program that reads from a terminal seems
    // to hang.
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
      throw UsageError(file_, " is a device; bodies are read from a file or a pipe");
    return S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  }

  // Reads until `bytes` holds `limit` bytes or the file ends.
  void read_until(std::size_t limit, std::string& bytes) {
    while (bytes.size() < limit) {
      const std::size_t begin = bytes.size();
      bytes.resize(begin + std::min(limit - begin, kChunkBytes));
      const bool timed_out = !wait_readable();
      const ssize_t got = read(descriptor_, bytes.data() + begin, bytes.size() - begin);
      bytes.resize(begin + (got > 0 ? static_cast<std::size_t>(got) : 0));
      // The program that writes to a pipe may be slow, but there must be such a program.
      if (got == 0 && timed_out) throw UsageError(file_, " is a pipe that no program writes to");
      if (got == 0) return;
      if (got < 0 && errno != EINTR && errno != EAGAIN) fail("cannot be read: ");
    }
  }

  static constexpr std::size_t kChunkBytes = 1 << 16;

 private:
  // Returns true as soon as there are bytes to read or the file ends; returns false if neither
  // happens within kPatienceSeconds.
  bool wait_readable() const {
    pollfd waiting{descriptor_, POLLIN, 0};
    return poll(&waiting, 1, 1000 * kPatienceSeconds) != 0;
  }

  [[noreturn]] void fail(const char* what) const {
    throw UsageError(file_, " ", what, std::strerror(errno));
  }

  const std::string& file_;
  int descriptor_;
};

// Delivers a file from its beginning, even though its first bytes have already been read to find
// the format.
class Pieces {
 public:
  Pieces(const std::string& file, Input& input, std::string head)
      : file_(file), input_(input), bytes_(std::move(head)) {}
  std::string_view next(std::size_t count) {
    if (bytes_.size() - given_ < count) {
      bytes_.erase(0, std::exchange(given_, 0));
      input_.read_until(std::max(count, Input::kChunkBytes), bytes_);
    }
    if (bytes_.size() < given_ + count)
      throw UsageError(file_, " became shorter while it was read");
    return std::string_view(bytes_).substr(std::exchange(given_, given_ + count), count);
  }

 private:
  const std::string& file_;
  Input& input_;
  std::string bytes_;
  std::size_t given_ = 0;
};

const FileFormat& recognised(std::string_view head, std::span<const FileFormat> formats) {
  return *std::find_if(formats.begin(), formats.end(), [&](const FileFormat& format) {
    return format.recognise != nullptr && format.recognise(head);
  });
}

std::string with_name(std::string_view text, const std::string& file) {
  const auto place = text.find("FILE");
  return std::string(text.substr(0, place)) + file + std::string(text.substr(place + 4));
}

fs::path second_file(const fs::path& file, const FileFormat& format) {
  return format.second_file != nullptr ? format.second_file(file) : fs::path();
}

Snapshot read_content(const std::string& file, const ReadOptions& options) {
  Input input(file);
  const std::uint64_t size = input.size();
  std::string content;
  input.read_until(kHeadBytes, content);
  if (content.empty()) throw UsageError(file, " is empty");
  const FileFormat& format =
      options.format != nullptr ? *options.format : recognised(content, options.formats);
  if (format.read == nullptr)
    throw UsageError(file, ": ", format.title,
                     " cannot be read here: ", with_name(format.reader, file));
  if (!options.columns.empty() && !format.has_columns)
    throw UsageError("--columns: ", file, " is ", format.title, ", not a table in text");
  if (size > 0 && format.check_head != nullptr) format.check_head(file, content, size);

  const bool in_pieces = size > 0 && format.read_in_pieces != nullptr;
  const std::uint64_t limit =
      available_memory() / (in_pieces ? kMemoryPerByteInPieces : kMemoryPerByte);
  if (size < limit && !in_pieces) {
    content.reserve(size + Input::kChunkBytes);  // one chunk more, for the read that finds the end
    input.read_until(limit, content);
  }
  if (std::max(size, content.size()) >= limit)
    throw std::runtime_error(
        joined(file, " is larger than the ", limit >> 20, " MB of available memory"));
  Pieces pieces(file, input, in_pieces ? std::exchange(content, {}) : "");
  formats::Contents contents =
      in_pieces ? format.read_in_pieces(
                      file, size, [&](std::size_t count) { return pieces.next(count); }, options)
                : format.read(file, content, options);
  contents.snapshot.sources = {file};
  if (contents.snapshot.softening > 0) contents.snapshot.caution = format.softening;
  if (const fs::path second = second_file(file, format); !second.empty() && fs::exists(second))
    contents.snapshot.sources.push_back(second);
  content = {};  // no longer needed: the bodies hold the same data
  return formats::assemble(file, std::move(contents), options);
}

void check(const fs::path& file, const Snapshot& snapshot, const FileFormat& format) {
  if (format.write == nullptr)
    throw UsageError(file, ": only nbody-convert writes ", format.title,
                     " files; this program writes .bin, which stores the same data");
  if (format.check != nullptr) format.check(file.string(), snapshot);
}

// In a staggered state, positions are half a step ahead of velocities. A format that does not store
// this fact would present positions and velocities as if they belonged to the same time.
void check_one_time(const fs::path& file, const Snapshot& snapshot, const FileFormat& format) {
  if (snapshot.staggered && !format.keeps.run)
    throw UsageError(file,
                     ": positions and velocities of a leapfrog checkpoint are half a step apart, "
                     "which the format ",
                     format.name, " cannot represent: write .bin or .csv");
}

}  // namespace

Snapshot read_bodies(const fs::path& file, const ReadOptions& options) {
  try {
    Snapshot snapshot = read_content(file.string(), options);
    if (options.float64 && snapshot.exact.empty()) {
      snapshot.exact.reserve(snapshot.systems.bodies.size());
      for (const Body& body : snapshot.systems.bodies) snapshot.exact.push_back(widened(body));
    }
    return snapshot;
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(file.string() + " does not fit into memory");
  }
}

void require_can_write(const fs::path& file, const Snapshot& snapshot, const FileFormat& format) {
  require_writable(file);
  check(file, snapshot, format);
}

void write_bodies(const fs::path& file, const Snapshot& snapshot) {
  write_bodies(file, snapshot, format_for_writing(file));
}

void write_bodies(const fs::path& file, const Snapshot& snapshot, const FileFormat& format) {
  formats::check_snapshot(snapshot);
  check_one_time(file, snapshot, format);
  check(file, snapshot, format);
  const fs::path second = second_file(file, format);  // checked before the first file changes
  write_whole_file(file, [&](std::ostream& out) { format.write(out, file.string(), snapshot); });
  if (!second.empty())
    write_whole_file(second, [&](std::ostream& out) { format.write_second(out, snapshot); });
}

std::vector<NamedFile> files_written(const std::string& name, const fs::path& file,
                                     const FileFormat& format) {
  std::vector<NamedFile> files{{name, file}};
  if (const fs::path second = second_file(file, format); !second.empty())
    files.push_back({name, second});
  return files;
}

std::vector<std::string> what_is_lost(const Snapshot& snapshot, const FileFormat& format) {
  const Keeps& keeps = format.keeps;
  const auto& species = snapshot.species;
  const auto needs_all = [](Species s) {
    return s == Species::disk || s == Species::bulge || s == Species::boundary;
  };
  std::vector<std::string> lost;
  const auto lose = [&](bool there, bool kept, const char* what) {
    if (there && !kept) lost.emplace_back(what);
  };
  lose(!snapshot.names.empty(), keeps.names, "the names of the bodies");
  lose(!snapshot.exact.empty(), keeps.float64, "the digits beyond float32");
  lose(!species.empty(), keeps.species, "species");
  lose(!std::is_sorted(species.begin(), species.end()), keeps.order || !keeps.species,
       "the order of the bodies: they are sorted by species");
  lose(keeps.species && std::any_of(species.begin(), species.end(), needs_all), keeps.all_species,
       "the species disk, bulge and boundary: they become star");
  lose(species.empty(), !format.needs_species, "unknown species: all become dark");
  lose(snapshot.systems.count > 1, keeps.systems, "the boundaries between systems");
  lose(snapshot.step > 0, keeps.run, "the number of the step");
  lose(snapshot.integrator == Integrator::leapfrog, keeps.run, "the integrator");
  lose(!snapshot.checkpoint.empty(), keeps.run, "the checkpoint data that --resume needs");
  lose(snapshot.time != 0 || snapshot.softening > 0 || snapshot.dt != 0, keeps.times,
       "time, softening and time step");
  lose(!snapshot.units.empty(), keeps.units, "units");
  return lost;
}

}  // namespace nbody
