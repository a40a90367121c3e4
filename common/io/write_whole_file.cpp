// Writes files that are whole or absent: a file is written under a temporary name in the same
// folder and then renamed. If the temporary file were in another folder, the rename might be a copy
// to another file system, and a copy can stop half-way.
#include "io/write_whole_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "nbody/error.h"

namespace nbody {
namespace {

namespace fs = std::filesystem;

// True for pipes and for devices such as /dev/stdout, because a rename would replace them by a
// plain file.
bool is_written_in_place(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return (fs::exists(status) && !fs::is_regular_file(status)) || file.parent_path() == "/dev" ||
         file.parent_path() == "/dev/fd";
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

[[noreturn]] void fail(const fs::path& file, int error) {
  const std::string message = "cannot write " + file.string() + ": " + std::strerror(error);
  // A full disk and similar failures of the system are not usage errors; all other errors are.
  if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EMFILE ||
      error == ENFILE || error == 0)
    throw std::runtime_error(message);
  throw UsageError(message);
}

void check_target(const fs::path& file) {
  std::error_code ignored;
  if (file.empty()) throw UsageError("the name of the file to write is empty");
  struct stat status {};
  if (lstat(file.c_str(), &status) != 0 && errno == ENAMETOOLONG) fail(file, errno);
  if (fs::is_directory(file, ignored) || !file.has_filename())
    throw UsageError("cannot write ", file, ": it is a folder");
  if (!fs::is_directory(folder_of(file), ignored))
    throw UsageError("cannot write ", file, ": there is no folder ", folder_of(file));
  if (fs::exists(file, ignored) && access(file.c_str(), W_OK) != 0) fail(file, errno);
}

constexpr std::string_view kPrefix = ".nbody-", kEnding = ".tmp";

std::string temporary_name(const std::string& middle) {
  return std::string(kPrefix) + middle + std::string(kEnding);
}

// The file exists from construction to rename() or destruction, whichever comes first. The file is
// locked while its writer runs. Unlike a process number, a lock shows on every machine, and in
// every container that shares the directory, whether the writer still runs.
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
    // Without this fsync, a crash of the machine may undo the rename. On a file system that cannot
    // fsync a folder, the file is still whole.
    const int folder = open(folder_of(file_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
  }

 private:
  // Returns false if a killed process with the same number has left a file of this name, or if
  // another program removed the new file as a leftover before it was locked.
  bool create() {
    // The process number and a count make this name unique. The name does not contain the name of
    // the final file, so that it stays short.
    static std::atomic<int> count = 0;
    path_ =
        folder_of(file_) / temporary_name(std::to_string(getpid()) + "-" + std::to_string(count++));
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == EEXIST) return false;
    if (descriptor_ < 0) fail(file_, errno);
    struct stat status {};
    const bool taken = flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && fstat(descriptor_, &status) == 0 && status.st_nlink > 0) {
      keep_mode();
      return true;
    }
    close(descriptor_);
    return false;
  }

  // Gives the temporary file the permissions of the file that it will replace.
  void keep_mode() const {
    struct stat old {};
    if (stat(file_.c_str(), &old) == 0 && fchmod(descriptor_, old.st_mode & 07777) != 0)
      fail(file_, errno);
  }

  fs::path file_;
  fs::path path_;
  int descriptor_ = -1;
};

// Removes the temporary files of killed writers: the files whose locks no process holds.
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
  // flush and close write the last bytes, and either may fail.
  out.flush();
  if (out) out.close();
  if (!out) fail(file, errno);
}

// An FNV-1a hash: the code is short, and the hash is the same in every program.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Identifies a file that may have several names. A file is identified by its inode or, while it
// does not exist, by the inode of its folder and its name in this folder.
struct Identity {
  dev_t device;
  ino_t inode;
  std::string name;
  bool operator==(const Identity&) const = default;
};

// Returns nothing for pipes and devices, because several programs may write to the same pipe or
// device.
std::optional<Identity> identity_of(const fs::path& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return Identity{status.st_dev, status.st_ino, ""};
  }
  const fs::path target = link_target(file);
  if (stat(folder_of(target).c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, target.filename()};
}

void require_different(const NamedFile& output, const NamedFile& other) {
  if (same_file(output.file, other.file))
    refuse(output.name, output.file, other.name, " is the same file");
}

}  // namespace

fs::path link_target(fs::path file) {
  for (int links = 0; links < 40; ++links) {
    std::error_code error;
    const fs::path next = fs::read_symlink(file, error);
    if (error) return file;
    file = folder_of(file) / next;  // equals `next` if `next` is absolute
  }
  fail(file, ELOOP);
}

bool same_file(const fs::path& a, const fs::path& b) {
  const auto identity = identity_of(a);
  return identity && identity == identity_of(b);
}

FileLock::FileLock(const fs::path& file) {
  const fs::path target = link_target(file);
  const std::string name = target.filename().string();
  path_ = folder_of(target) / temporary_name("lock-" + std::to_string(hash_of(name)));
  constexpr int kTries = 50;
  for (int k = 0; k < kTries; ++k) {
    descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) fail(file, errno);
    const bool taken = flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat here {
    }, there{};
    if (!taken && fstat(descriptor_, &here) == 0 && stat(path_.c_str(), &there) == 0 &&
        here.st_ino == there.st_ino)
      return;
    close(descriptor_);
    // Tries again, because the process that holds the lock may not be a writer: remove_leftovers()
    // takes a lock for a moment to find out whether the writer is alive.
    usleep(2000);
  }
  throw UsageError("cannot write ", file, ": another program is writing it now");
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  unlink(path_.c_str());
  close(descriptor_);
}

Outputs::Outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedFile& input : inputs) require_different(outputs[i], input);
    for (std::size_t j = 0; j < i; ++j) require_different(outputs[i], outputs[j]);
  }
  for (const NamedFile& output : outputs) {
    require_writable(output.file);
    if (!is_written_in_place(output.file))
      locks_.push_back(std::make_unique<FileLock>(output.file));
  }
}

void write_whole_file(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  check_target(file);
  if (is_written_in_place(file)) return write_stream(file, file, std::ios::app, write);
  TemporaryFile temporary(link_target(file));
  write_stream(file, temporary.path(), std::ios::trunc, write);
  temporary.synchronize();
  temporary.rename();
}

void append_to_file(const fs::path& file, std::string_view text) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(file, errno);
  const off_t before = lseek(descriptor, 0, SEEK_END);  // fails on a pipe, which has no end
  const ssize_t written = write(descriptor, text.data(), text.size());
  const bool whole = written == static_cast<ssize_t>(text.size());
  const int error = written < 0 ? errno : ENOSPC;
  const bool cut = whole || (before >= 0 && ftruncate(descriptor, before) == 0);
  close(descriptor);
  if (!whole || !cut) fail(file, error);
}

void require_writable(const fs::path& file) {
  check_target(file);
  // Permission bits do not show that a file system is read-only or full, so this function tries to
  // write.
  if (is_written_in_place(file)) return;
  remove_leftovers(folder_of(link_target(file)));
  TemporaryFile{link_target(file)};
}

}  // namespace nbody
