// Chooses the writer of a file, and says what its format cannot hold.
#include <algorithm>
#include <string>

#include "io/formats.h"
#include "io/tipsy.h"
#include "io/write_whole_file.h"
#include "nbody/error.h"

namespace nbody {
namespace {

bool is_tipsy(FileFormat format) {
  return format == FileFormat::tipsy || format == FileFormat::tipsy_little;
}

// A pipe has nothing beside it.
bool has_param(const std::filesystem::path& file, FileFormat format) {
  std::error_code ignored;
  const auto status = std::filesystem::status(file, ignored);
  return is_tipsy(format) &&
         (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status));
}

void write_as(std::ostream& out, const std::string& file, const Snapshot& snapshot,
              FileFormat format) {
  switch (format) {
    case FileFormat::csv:
      return formats::write_csv(out, file, snapshot);
    case FileFormat::bin:
      return formats::write_bin(out, file, snapshot);
    case FileFormat::raw:
      return formats::write_raw(out, file, snapshot);
    case FileFormat::tipsy:
      return formats::write_tipsy(out, file, snapshot, std::endian::big);
    case FileFormat::tipsy_little:
      return formats::write_tipsy(out, file, snapshot, std::endian::little);
    case FileFormat::gadget:
      return formats::gadget.write(out, file, snapshot);
  }
}

void check_format(const std::filesystem::path& file, const Snapshot& snapshot, FileFormat format) {
  if (has_param(file, format)) formats::check_tipsy_param(file);
  if (format == FileFormat::raw) formats::check_unit_masses(file.string(), snapshot);
  if (format == FileFormat::gadget && formats::gadget.write == nullptr)
    throw UsageError(file.string() +
                     ": Gadget files are written by nbody-convert alone; here .bin keeps as much");
}

bool mixes_species(const Snapshot& snapshot) {
  return !std::is_sorted(snapshot.species.begin(), snapshot.species.end());
}

}  // namespace

FileFormat format_for_writing(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".csv") return FileFormat::csv;
  if (ending == ".bin") return FileFormat::bin;
  if (ending == ".raw") return FileFormat::raw;
  if (ending == ".tipsy") return FileFormat::tipsy;
  if (ending == ".hdf5") return FileFormat::gadget;
  throw UsageError(file.string() + ": the ending \"" + ending +
                   "\" names no format; .csv, .bin, .raw, .tipsy and .hdf5 do");
}

void require_can_write(const std::filesystem::path& file, const Snapshot& snapshot,
                       FileFormat format) {
  require_writable(file);
  check_format(file, snapshot, format);
}

void write_bodies(const std::filesystem::path& file, const Snapshot& snapshot) {
  write_bodies(file, snapshot, format_for_writing(file));
}

void write_bodies(const std::filesystem::path& file, const Snapshot& snapshot, FileFormat format) {
  formats::check_snapshot(snapshot);
  check_format(file, snapshot, format);
  const bool param = has_param(file, format);
  write_whole_file(file,
                   [&](std::ostream& out) { write_as(out, file.string(), snapshot, format); });
  if (param) formats::write_tipsy_param(file, snapshot);
}

std::vector<std::string> what_is_lost(const Snapshot& snapshot, FileFormat format) {
  std::vector<std::string> lost;
  const auto lose = [&](bool there, const char* what) {
    if (there) lost.emplace_back(what);
  };
  const bool sorted = is_tipsy(format) || format == FileFormat::gadget;
  const bool raw = format == FileFormat::raw;
  lose(!snapshot.names.empty() && format != FileFormat::csv, "the names of the bodies");
  lose(!snapshot.exact.empty() && (is_tipsy(format) || raw), "the digits beyond float32");
  lose(!snapshot.species.empty() && raw, "species");
  lose(mixes_species(snapshot) && sorted, "the order of the bodies: they are sorted by species");
  const auto becomes_star = [](Species s) {
    return s != Species::star && formats::tipsy::tipsy_species(s) == Species::star;
  };
  lose(is_tipsy(format) &&
           std::any_of(snapshot.species.begin(), snapshot.species.end(), becomes_star),
       "disk, bulge and boundary, which become star");
  lose(snapshot.species.empty() && sorted, "that the species are not known: all become dark");
  lose(snapshot.systems.count > 1 && (sorted || raw), "where one system ends");
  lose(snapshot.step > 0 && (sorted || raw), "the number of the step");
  lose(snapshot.integrator == Integrator::leapfrog && (sorted || raw), "the integrator");
  lose((snapshot.time != 0 || snapshot.softening > 0 || snapshot.dt > 0) && raw,
       "time, softening and time step");
  lose(!snapshot.units.empty() && raw, "units");
  return lost;
}

}  // namespace nbody
