// A build without HDF5.
#include "io/formats/formats.h"
#include "io/gadget_hdf5/gadget.h"
#include "nbody/error.h"

namespace nbody {
namespace {

[[noreturn]] void fail(const std::string& file) {
  throw UsageError(file,
                   ": this program was built without HDF5, which Gadget files need "
                   "(Debian: libhdf5-dev)");
}

formats::Contents read(const std::string& file, std::string_view, const ReadOptions&) {
  fail(file);
}
void write(std::ostream&, const std::string& file, const Snapshot&) { fail(file); }

}  // namespace

std::span<const FileFormat> formats_with_gadget() {
  static const std::vector<FileFormat> all =
      formats::basic_formats_with_gadget(read, nullptr, write);
  return all;
}

}  // namespace nbody
