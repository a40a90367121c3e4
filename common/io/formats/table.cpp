// The table of all file formats.
#include <algorithm>
#include <vector>

#include "io/formats/formats.h"
#include "nbody/error.h"
#include "support/text.h"

namespace nbody {
namespace formats {

const FileFormat kGadgetElsewhere{
    .name = "gadget",
    .title = "Gadget HDF5",
    .ending = ".hdf5",
    .unlike = "not HDF5 (it lacks the signature)",
    .recognise = [](std::string_view head) { return head.starts_with("\x89HDF\r\n\x1a\n"); },
    .reader = "nbody-convert FILE bodies.bin writes a file that all programs read",
    .needs_species = true,
    .keeps = everything_but(&Keeps::names, &Keeps::systems, &Keeps::run)};

// NEMO's files begin with a magic number of two bytes, then the type and the name of an item
// (NEMO's manual, filestruct(5)).
const FileFormat kNemo{
    .name = "nemo",
    .title = "NEMO",
    .ending = "",
    .recognise =
        [](std::string_view head) {
          return head.starts_with("\x92\x0b") || head.starts_with("\x92\x09") ||
                 head.starts_with("\x0b\x92") || head.starts_with("\x09\x92");
        },
    .reader =
        "NEMO's snapprint in=FILE options=m,x,y,z,vx,vy,vz tab=bodies.txt makes a table, and "
        "nbody-convert bodies.txt bodies.csv --columns m,x,y,z,vx,vy,vz reads it"};

std::vector<FileFormat> basic_formats_with_gadget(decltype(FileFormat::read) read,
                                                  decltype(FileFormat::check) check,
                                                  decltype(FileFormat::write) write) {
  const auto basic = basic_formats();
  std::vector<FileFormat> all(basic.begin(), basic.end());
  FileFormat& gadget = *std::ranges::find(all, kGadgetElsewhere.name, &FileFormat::name);
  gadget.read = read;
  gadget.check = check;
  gadget.write = write;
  return all;
}

}  // namespace formats

std::span<const FileFormat> basic_formats() {
  using namespace formats;
  static const std::vector<FileFormat> all{kBin,   kGadgetElsewhere, kGadgetBinary, kNemo,
                                           kTipsy, kTipsyLittle,     kCsv,          kRaw};
  return all;
}

const FileFormat& format_for_writing(const std::filesystem::path& file,
                                     std::span<const FileFormat> formats) {
  const std::string ending = file.extension().string();
  for (const FileFormat& format : formats)
    if (!ending.empty() && format.ending == ending) return format;
  const auto known = [](const FileFormat& format) {
    return format.write != nullptr ? format.ending : "";
  };
  throw UsageError(file, ": the extension \"", ending,
                   "\" belongs to no format; known: ", listed(formats, known));
}

}  // namespace nbody
