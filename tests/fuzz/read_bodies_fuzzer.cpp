// Treats any bytes as a file of bodies. Accepted bodies must be valid, and writing and reading them
// again must preserve their bits.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "fuzzing.h"
#include "io/formats/formats.h"
#include "io/gadget_hdf5/gadget.h"
#include "nbody/error.h"

namespace {

using nbody::Snapshot;
using nbody::fuzz::fail;

// A file in memory that has a name, because readers and libraries open files by name.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("no file in memory");
    name_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  const std::string& with(std::string_view bytes) {
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      fail("cannot write to memory");
    return name_;
  }

 private:
  int descriptor_;
  std::string name_;
};

std::optional<Snapshot> read(const std::string& file, nbody::ReadOptions options) {
  options.formats = nbody::formats_with_gadget();
  try {
    return nbody::read_bodies(file, options);
  } catch (const nbody::UsageError& error) {
    nbody::fuzz::check_message(error.what());
    return std::nullopt;
  }
}

void check_sound(const Snapshot& snapshot) {
  nbody::formats::check_snapshot(snapshot);
  if (snapshot.step < 0) fail("negative step");
  if (!std::isfinite(snapshot.time) || !std::isfinite(snapshot.dt) || !(snapshot.softening >= 0))
    fail("time, dt or softening");
  for (const nbody::Body& b : snapshot.systems.bodies) {
    for (const float value : {b.x, b.y, b.z, b.vx, b.vy, b.vz, b.mass})
      if (!std::isfinite(value)) fail("a value is not finite");
    if (!(b.mass >= 0)) fail("negative mass");
  }
}

void check_same(const Snapshot& a, const Snapshot& b) {
  const auto& x = a.systems.bodies;
  const auto& y = b.systems.bodies;
  if (a.systems.count != b.systems.count || x.size() != y.size() ||
      std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) != 0)
    fail("bodies change when written and read");
  if (a.exact.size() != b.exact.size() ||
      (!a.exact.empty() &&
       std::memcmp(a.exact.data(), b.exact.data(), a.exact.size() * sizeof a.exact[0]) != 0))
    fail("float64 bodies change when written and read");
  if (a.time != b.time || a.step != b.step || a.softening != b.softening || a.dt != b.dt ||
      a.integrator != b.integrator || a.staggered != b.staggered || a.scenario != b.scenario ||
      a.units != b.units || a.checkpoint != b.checkpoint)
    fail("the header changes when written and read");
}

void check_round_trips(const Snapshot& snapshot) {
  static MemoryFile memory;
  const nbody::ReadOptions options{.float64 = !snapshot.exact.empty()};
  std::ostringstream bin, csv;
  nbody::formats::kBin.write(bin, "bin", snapshot);
  check_same(nbody::read_bodies(memory.with(bin.str()), options), snapshot);
  nbody::formats::kCsv.write(csv, "csv", snapshot);
  const Snapshot again = nbody::read_bodies(memory.with(csv.str()), options);
  check_same(again, snapshot);
  if (again.names != snapshot.names) fail("names change when written and read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static MemoryFile memory;
  const std::string& file = memory.with({reinterpret_cast<const char*>(data), size});
  for (const nbody::ReadOptions& options :
       {nbody::ReadOptions{}, {.systems = 2}, {.bodies = 3, .float64 = true}}) {
    const auto snapshot = read(file, options);
    if (!snapshot) continue;
    check_sound(*snapshot);
    check_round_trips(*snapshot);
  }
  return 0;
}
