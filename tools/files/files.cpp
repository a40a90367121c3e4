// Reads files of bodies, and writes BIN files, for Python's ctypes. The functions are those of
// common/io; ../nbody_tools/files/library.py declares and calls these functions.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "io/gadget_hdf5/gadget.h"
#include "io/snapshot_file.h"
#include "io/units.h"
#include "nbody/error.h"

// The content of a file, in the order of the fields of library.py. The pointers are valid until
// nbody_files_free.
struct NbodyFile {
  std::int64_t systems, bodies, step;
  double time, softening, dt;
  std::int32_t integrator, staggered, float64;
  const double* values;  // x, y, z, vx, vy, vz and mass of every body
  const char *scenario, *units;
  const char* names;            // one line per body of a system, or empty
  const std::uint8_t* species;  // one per body of all systems, or nullptr
};

namespace {

static_assert(sizeof(nbody::BodyF64) == 7 * sizeof(double) && sizeof(nbody::Species) == 1);

struct Content : NbodyFile {
  nbody::Snapshot snapshot;
  std::string lines;

  explicit Content(nbody::Snapshot read) : NbodyFile{}, snapshot(std::move(read)) {
    systems = snapshot.systems.count, bodies = snapshot.systems.bodies_per_system;
    step = snapshot.step, time = snapshot.time;
    softening = snapshot.softening, dt = snapshot.dt;
    integrator = static_cast<std::int32_t>(snapshot.integrator), staggered = snapshot.staggered;
    float64 = snapshot.format.ends_with("float64");
    values = &snapshot.exact[0].x;
    snapshot.systems.bodies = {};  // the same values in float32
    scenario = snapshot.scenario.c_str(), units = snapshot.units.c_str();
    for (const std::string& name : snapshot.names) lines += name + "\n";
    names = lines.c_str();
    if (!snapshot.species.empty())
      species = reinterpret_cast<const std::uint8_t*>(snapshot.species.data());
  }
};

// Calls a function that may fail. Returns its message, which is valid until this thread's next
// call, or nullptr.
template <class Function>
const char* message_of(const Function& function) {
  thread_local std::string message;
  try {
    function();
    return nullptr;
  } catch (const std::exception& error) {
    message = error.what();
    return message.c_str();
  }
}

}  // namespace

extern "C" {

const char* nbody_files_read(const char* file, const NbodyFile** content) {
  return message_of([&] {
    nbody::Snapshot snapshot =
        nbody::read_bodies(file, {.float64 = true, .formats = nbody::formats_with_gadget()});
    nbody::require_units_of_tipsy(file, snapshot, "nbody-convert --from-units");
    *content = std::make_unique<Content>(std::move(snapshot)).release();
  });
}

void nbody_files_free(const NbodyFile* content) { delete static_cast<const Content*>(content); }

// Writes one system at time 0.
const char* nbody_files_write(const char* file, const float* values, int bodies,
                              const char* scenario, double softening, double dt) {
  return message_of([&] {
    nbody::Snapshot snapshot;
    snapshot.systems = nbody::Systems(1, bodies);
    const auto* const first = reinterpret_cast<const nbody::Body*>(values);
    std::copy_n(first, bodies, snapshot.systems.bodies.begin());
    snapshot.scenario = scenario, snapshot.softening = softening, snapshot.dt = dt;
    nbody::write_bodies(file, snapshot);
  });
}

}  // extern "C"
