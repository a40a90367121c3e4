// Files that are whole or absent, whatever happens to the program or to the disk.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string_view>

namespace nbody {

// Writes to a temporary name in the same folder, flushes it to the disk and renames it. Throws as
// write_bodies does.
void write_whole_file(const std::filesystem::path& file,
                      const std::function<void(std::ostream&)>& write);

// Adds to the end of a file in one piece: all of `text` or, when the disk is full, nothing.
// Throws as write_bodies does.
void append_to_file(const std::filesystem::path& file, std::string_view text);

// Throws UsageError unless `file` could be created (its folder exists and is writable, and it is
// not itself a folder): asked before a long run, not after it. Removes the temporary files
// (.nbody-*.tmp) that killed programs left in that folder.
void require_writable(const std::filesystem::path& file);

}  // namespace nbody
