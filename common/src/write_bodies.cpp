#include <string>

#include "formats.h"
#include "nbody/error.h"

namespace nbody {

FileFormat format_for_writing(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".csv") return FileFormat::csv;
  if (ending == ".bin") return FileFormat::bin;
  if (ending == ".raw") return FileFormat::raw;
  throw UsageError(file.string() + ": the ending \"" + ending +
                   "\" names no format; .csv, .bin and .raw can be written");
}

void write_bodies(const std::filesystem::path& file, const Snapshot& snapshot) {
  const FileFormat format = format_for_writing(file);
  formats::check_snapshot(snapshot);
  write_whole_file(file, [&](std::ostream& out) {
    switch (format) {
      case FileFormat::csv:
        return formats::write_csv(out, file.string(), snapshot);
      case FileFormat::bin:
        return formats::write_bin(out, file.string(), snapshot);
      case FileFormat::raw:
        return formats::write_raw(out, file.string(), snapshot);
    }
  });
}

}  // namespace nbody
