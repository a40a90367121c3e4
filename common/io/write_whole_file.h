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

// Writes a file under a temporary name in the same directory, flushes it to disk and renames it. A
// replaced file keeps its mode; a symbolic link is followed and its target replaced. Throws as
// write_bodies does.
void write_whole_file(const std::filesystem::path& file,
                      const std::function<void(std::ostream&)>& write);

// Appends all of `text` to a file or, if the disk is full, nothing. Throws as write_bodies does.
void append_to_file(const std::filesystem::path& file, std::string_view text);

// Throws UsageError unless `file` could be created: its directory exists and is writable, and it is
// not a directory itself. Call it before a long run. It removes the temporary files (.nbody-*.tmp)
// that killed programs left in that directory.
void require_writable(const std::filesystem::path& file);

// Returns the path at the end of a chain of symbolic links, whether a file exists there or not.
std::filesystem::path link_target(std::filesystem::path file);

// True if two names lead to one file, whether it exists or not; always false for pipes and devices.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

// A lock on a file: only the program that holds it may write the file.
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
  // Throws UsageError unless all outputs can be written and each output differs from all others and
  // from the inputs, however the names are spelled.
  Outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

 private:
  std::vector<std::unique_ptr<FileLock>> locks_;
};

}  // namespace nbody
