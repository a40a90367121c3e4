// A build without HDF5.
#include "io/formats.h"
#include "io/gadget/gadget.h"
#include "nbody/error.h"

namespace nbody {
namespace {

[[noreturn]] void fail(const std::string& file) {
  throw UsageError(file + ": this program was built without HDF5, which Gadget files need " +
                   "(Debian: libhdf5-dev)");
}

formats::Contents read(const std::string& file, std::string_view, bool) { fail(file); }
void write(std::ostream&, const std::string& file, const Snapshot&) { fail(file); }

}  // namespace

void enable_gadget() { formats::gadget = {read, write}; }

}  // namespace nbody
