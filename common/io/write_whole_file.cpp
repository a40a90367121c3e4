// A file that is whole or absent: written under a temporary name in its folder (a rename across
// file systems would be a copy, and a copy can stop half-way), then renamed.
#include "io/write_whole_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "nbody/error.h"

namespace nbody {
namespace {

namespace fs = std::filesystem;

// A pipe or a device, /dev/stdout among them: a rename would put a plain file in its place.
bool is_written_in_place(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return (fs::exists(status) && !fs::is_regular_file(status)) || file.parent_path() == "/dev" ||
         file.parent_path() == "/dev/fd";
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// A symbolic link stays one: the file it points to is replaced.
fs::path target_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_symlink(file, error)) return file;
  const fs::path target = fs::canonical(file, error);
  return error ? file : target;
}

[[noreturn]] void fail(const fs::path& file, int error) {
  const std::string message = "cannot write " + file.string() + ": " + std::strerror(error);
  // A full disk and its like are no mistake on the command line; the other errors are.
  if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EMFILE ||
      error == ENFILE || error == 0)
    throw std::runtime_error(message);
  throw UsageError(message);
}

void check_target(const fs::path& file) {
  std::error_code ignored;
  if (file.empty()) throw UsageError("the name of the file to write is empty");
  if (fs::is_directory(file, ignored) || !file.has_filename())
    throw UsageError("cannot write " + file.string() + ": it is a folder");
  if (!fs::is_directory(folder_of(file), ignored))
    throw UsageError("cannot write " + file.string() + ": there is no folder " +
                     folder_of(file).string());
  if (fs::exists(file, ignored) && access(file.c_str(), W_OK) != 0) fail(file, errno);
}

constexpr std::string_view kPrefix = ".nbody-", kEnding = ".tmp";

// Exists from construction to rename() or destruction, whichever comes first. Locked as long as its
// writer lives: the lock, unlike the number of a process, means the same on every machine that
// shares the folder, and in every container.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& file) : file_(file) {
    while (!create()) {
    }
  }
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
    close(descriptor_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const fs::path& path() const { return path_; }

  // Without fsync, a crash soon after the rename may leave an empty file under the final name.
  void synchronize() const {
    if (fsync(descriptor_) != 0) fail(file_, errno);
  }

  void rename() {
    if (std::rename(path_.c_str(), file_.c_str()) != 0) fail(file_, errno);
    path_.clear();
  }

 private:
  // False if the name was taken by a killed process of the same number, or if another program removed
  // the file as a leftover before it was locked.
  bool create() {
    // The process and a count make it unique; without the name of the file it is never too long.
    static std::atomic<int> count = 0;
    path_ = folder_of(file_) / (std::string(kPrefix) + std::to_string(getpid()) + "-" +
                                std::to_string(count++) + std::string(kEnding));
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == EEXIST) return false;
    if (descriptor_ < 0) fail(file_, errno);
    struct stat status {};
    const bool taken = flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && fstat(descriptor_, &status) == 0 && status.st_nlink > 0) return true;
    close(descriptor_);
    return false;
  }

  fs::path file_;
  fs::path path_;
  int descriptor_ = -1;
};

// Files of killed writers: no process holds their locks.
void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kEnding)) continue;
    const int descriptor = open(entry.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlink(entry.path().c_str());
    close(descriptor);
  }
}

void write_stream(const fs::path& file, const fs::path& path, std::ios::openmode mode,
                  const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | mode);
  if (!out) fail(file, errno);
  write(out);
  // The last bytes reach the disk, or fail to, in flush and close.
  out.flush();
  if (out) out.close();
  if (!out) fail(file, errno);
}

}  // namespace

void write_whole_file(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  check_target(file);
  if (is_written_in_place(file)) return write_stream(file, file, std::ios::app, write);
  TemporaryFile temporary(target_of(file));
  write_stream(file, temporary.path(), std::ios::trunc, write);
  temporary.synchronize();
  temporary.rename();
}

void append_to_file(const fs::path& file, std::string_view text) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(file, errno);
  const off_t before = lseek(descriptor, 0, SEEK_END);  // fails on a pipe, which cannot be cut
  const ssize_t written = write(descriptor, text.data(), text.size());
  const bool whole = written == static_cast<ssize_t>(text.size());
  const int error = written < 0 ? errno : ENOSPC;
  const bool cut = whole || (before >= 0 && ftruncate(descriptor, before) == 0);
  close(descriptor);
  if (!whole || !cut) fail(file, error);
}

void require_writable(const fs::path& file) {
  check_target(file);
  // Permission bits do not tell of read-only or full file systems: try.
  if (is_written_in_place(file)) return;
  remove_leftovers(folder_of(target_of(file)));
  TemporaryFile{target_of(file)};
}

}  // namespace nbody
