// Finds the format of a file in its content and hands it to the reader of that format.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

#include "io/formats.h"
#include "nbody/error.h"
#include "support/memory.h"

namespace nbody {
namespace {

constexpr std::size_t kHeadBytes = 1024;

// The content, twice while its buffer grows, and the bodies made of it.
constexpr std::uint64_t kMemoryPerByte = 4;

// A file or a pipe, read once from front to back: it need not be seekable.
class Input {
 public:
  explicit Input(const std::string& file)
      // Not blocking: to open a pipe would otherwise wait for a writer who may never come.
      : file_(file), descriptor_(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) fail("cannot be opened: ");
  }
  ~Input() { close(descriptor_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Of a regular file; 0 where the system cannot say before reading (pipes, /proc).
  std::uint64_t size() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail("cannot be read: ");
    if (S_ISDIR(status.st_mode)) throw UsageError(file_ + " is a folder, not a file of bodies");
    // /dev/zero never ends, and a terminal looks like a program that hangs.
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
      throw UsageError(file_ + " is a device; bodies are read from a file or a pipe");
    return S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  }

  // Until `bytes` holds `limit` bytes or the file ends.
  void read_until(std::size_t limit, std::string& bytes) {
    while (bytes.size() < limit) {
      const std::size_t begin = bytes.size();
      bytes.resize(begin + std::min(limit - begin, kChunkBytes));
      const bool waited_in_vain = !came();
      const ssize_t got = read(descriptor_, bytes.data() + begin, bytes.size() - begin);
      bytes.resize(begin + (got > 0 ? static_cast<std::size_t>(got) : 0));
      // A writer may take as long as it likes, but there must be one.
      if (got == 0 && waited_in_vain) throw UsageError(file_ + " is a pipe that nobody writes to");
      if (got == 0) return;
      if (got < 0 && errno != EINTR && errno != EAGAIN) fail("cannot be read: ");
    }
  }

  static constexpr std::size_t kChunkBytes = 1 << 16;

 private:
  // True as soon as there is something to read, or the end; false if there is neither for a while.
  bool came() const {
    pollfd waiting{descriptor_, POLLIN, 0};
    return poll(&waiting, 1, 1000 * kPatienceSeconds) != 0;
  }

  [[noreturn]] void fail(const char* what) const {
    throw UsageError(file_ + " " + what + std::strerror(errno));
  }

  const std::string& file_;
  int descriptor_;
};

FileFormat recognise(std::string_view head) {
  if (formats::is_bin(head)) return FileFormat::bin;
  if (formats::is_hdf5(head)) return FileFormat::gadget;
  if (formats::is_tipsy(head)) return FileFormat::tipsy;
  return formats::is_text(head, formats::Cut::anywhere) ? FileFormat::csv : FileFormat::raw;
}

// Of a file of `size` bytes. What a header or a size gives away is refused before the rest is read
// into memory.
void check_head(const std::string& file, FileFormat format, std::string_view head,
                std::uint64_t size) {
  if (format == FileFormat::bin) formats::check_bin_header(file, head, size);
  if (format == FileFormat::tipsy) formats::check_tipsy_header(file, head, size);
  if (format == FileFormat::raw) formats::check_raw_size(file, size);
}

formats::Contents read_as(FileFormat format, const std::string& file, std::string_view content,
                          bool float64) {
  switch (format) {
    case FileFormat::csv:
      return formats::read_csv(file, content, float64);
    case FileFormat::bin:
      return formats::read_bin(file, content, float64);
    case FileFormat::raw:
      return formats::read_raw(file, content);
    case FileFormat::tipsy:
    case FileFormat::tipsy_little:
      return formats::read_tipsy(file, content);
    case FileFormat::gadget:
      if (formats::gadget.read != nullptr) return formats::gadget.read(file, content, float64);
  }
  throw UsageError(file + " is an HDF5 file, which only nbody-convert reads: nbody-convert " +
                   file + " bodies.bin");
}

Snapshot read_content(const std::string& file, const ReadOptions& options) {
  Input input(file);
  const std::uint64_t size = input.size();
  std::string content;
  input.read_until(kHeadBytes, content);
  if (content.empty()) throw UsageError(file + " is empty");
  const FileFormat format = options.format ? *options.format : recognise(content);
  if (format == FileFormat::gadget && formats::gadget.read == nullptr)
    throw UsageError(file + " is an HDF5 file, which only nbody-convert reads: nbody-convert " +
                     file + " bodies.bin");
  if (size > 0) check_head(file, format, content, size);

  const std::uint64_t limit = available_memory() / kMemoryPerByte;
  if (size < limit) {
    content.reserve(size + Input::kChunkBytes);  // one chunk more: the read that finds the end
    input.read_until(limit, content);
  }
  if (std::max(size, content.size()) >= limit)
    throw std::runtime_error(file + " is larger than the " + std::to_string(limit >> 20) +
                             " MB that there is memory for");
  formats::Contents contents = read_as(format, file, content, options.float64);
  content = {};  // the bodies are a second copy: not for longer than needed
  if (format == FileFormat::tipsy) formats::read_tipsy_param(file, contents.snapshot);
  return formats::assemble(file, std::move(contents), options);
}

}  // namespace

formats::Gadget formats::gadget;

bool formats::is_hdf5(std::string_view head) { return head.starts_with("\x89HDF\r\n\x1a\n"); }

Snapshot read_bodies(const std::filesystem::path& file, const ReadOptions& options) {
  try {
    Snapshot snapshot = read_content(file.string(), options);
    if (options.float64 && snapshot.exact.empty())
      for (const Body& body : snapshot.systems.bodies) snapshot.exact.push_back(widened(body));
    return snapshot;
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(file.string() + " does not fit into memory");
  }
}

}  // namespace nbody
