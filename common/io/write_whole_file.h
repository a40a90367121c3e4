// Writes files that are whole or absent, whatever happens to the program or to the disk.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nbody {

// Writes a file under a temporary name in the same directory, flushes it to disk and renames it.
// The new file has the mode of the file that it replaces; if `file` is a symbolic link, its target
// is replaced. Throws the same errors as write_bodies.
void write_whole_file(const std::filesystem::path& file,
                      const std::function<void(std::ostream&)>& write);

// Appends all of `text` to a file or, if the disk is full, nothing. Throws the same errors as
// write_bodies.
void append_to_file(const std::filesystem::path& file, std::string_view text);

// Throws UsageError unless `file` could be created: its directory must exist and be writable, and
// `file` must not be a directory itself. Call this function before a long run. It also removes the
// temporary files (.nbody-*.tmp) that killed programs left in the directory of `file`.
void require_writable(const std::filesystem::path& file);

// Follows a chain of symbolic links and returns the path at its end, even if no file exists there.
std::filesystem::path link_target(std::filesystem::path file);

// True if two names lead to the same file, even if this file does not exist yet. Always false for
// pipes and devices.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// A lock on a file: only the program that holds the lock may write the file.
class FileLock {
 public:
  // Throws UsageError if another program holds the lock.
  explicit FileLock(const std::filesystem::path& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

struct NamedFile {
  std::string name;  // name of the option, for messages
  std::filesystem::path file;
};

// The files that a program will write, locked against other programs.
class Outputs {
 public:
  // Throws UsageError unless all outputs can be written. Also throws if two outputs, or an output
  // and an input, are the same file, however their names are spelled.
  Outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

 private:
  std::vector<std::unique_ptr<FileLock>> locks_;
};

}  // namespace nbody
