// Reads and writes files and makes scenarios for Python, with the functions of common/. Bodies are
// float64 rows x, y, z, vx, vy, vz, mass.
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "extension.h"
#include "io/snapshot_file.h"
#include "io/units.h"
#include "nbody/error.h"
#include "scenarios/initial_conditions.h"
#include "threads.h"

namespace nb = nanobind;

namespace {

constexpr std::size_t kColumns = 7;
static_assert(sizeof(nbody::BodyF64) == kColumns * sizeof(double));
using Rows = nb::ndarray<nb::numpy, double, nb::ndim<3>>;
using RowsIn = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Calls a function without the interpreter's lock, and with one thread in a forked process. Invalid
// input becomes a ValueError.
template <class Function>
auto without_lock(const Function& function) {
  try {
    const nb::gil_scoped_release unlocked;
    const nbody::library::Threads threads(0);
    return function();
  } catch (const nbody::UsageError& error) {
    throw nb::value_error(error.what());
  }
}

// Moves a snapshot's bodies into an array of shape (systems, bodies, 7).
nb::dict to_python(nbody::Snapshot snapshot) {
  if (snapshot.exact.empty())
    for (const nbody::Body& body : snapshot.systems.bodies)
      snapshot.exact.push_back(nbody::widened(body));
  auto* const bodies = new std::vector<nbody::BodyF64>(std::move(snapshot.exact));
  const nb::capsule owner(bodies, [](void* memory) noexcept {
    delete static_cast<std::vector<nbody::BodyF64>*>(memory);
  });
  const auto systems = static_cast<std::size_t>(snapshot.systems.count);
  const auto n = static_cast<std::size_t>(snapshot.systems.bodies_per_system);
  nb::dict result;
  result["rows"] =
      Rows(reinterpret_cast<double*>(bodies->data()), {systems, n, kColumns}, owner).cast();
  result["time"] = snapshot.time;
  result["softening"] = snapshot.softening;
  result["dt"] = snapshot.dt;
  result["units"] = snapshot.units;
  result["names"] = snapshot.names;
  std::vector<std::string> species;
  for (const nbody::Species one : snapshot.species) species.emplace_back(nbody::to_string(one));
  result["species"] = species;
  return result;
}

void set_units(const std::string& file, nbody::Snapshot& snapshot,
               const std::optional<std::string>& from_units) {
  if (!from_units) return nbody::require_units_of_tipsy(file, snapshot, "from_units");
  if (nbody::units_of(snapshot.units))
    throw nbody::UsageError("from_units: \"", *from_units, "\" is not allowed; ", file,
                            " says that its units are ", snapshot.units);
  snapshot.units = *from_units;
}

nb::dict read_file(const std::string& file, std::optional<int> systems, const std::string& species,
                   const std::string& columns, const std::optional<std::string>& units,
                   const std::optional<std::string>& from_units) {
  return to_python(without_lock([&] {
    nbody::ReadOptions options{.systems = systems, .float64 = true};
    options.columns = columns;
    if (!species.empty()) options.species = nbody::parse_species("species", species);
    if (units) nbody::require_preset("units", *units);
    if (from_units) nbody::require_preset("from_units", *from_units);
    nbody::Snapshot snapshot = nbody::read_bodies(file, options);
    set_units(file, snapshot, from_units);
    if (units) nbody::convert_units(file, snapshot, *units);
    return snapshot;
  }));
}

void write_file(const std::string& file, const RowsIn& rows, double time, double softening,
                double dt, const std::string& units, const std::vector<std::string>& names,
                const std::vector<std::string>& species) {
  without_lock([&] {
    nbody::Snapshot snapshot;
    snapshot.systems =
        nbody::Systems(static_cast<int>(rows.shape(0)), static_cast<int>(rows.shape(1)));
    const auto* const bodies = reinterpret_cast<const nbody::BodyF64*>(rows.data());
    snapshot.exact.assign(bodies, bodies + snapshot.systems.bodies.size());
    std::transform(snapshot.exact.begin(), snapshot.exact.end(), snapshot.systems.bodies.begin(),
                   [](const nbody::BodyF64& body) { return nbody::rounded(body); });
    snapshot.time = time, snapshot.softening = softening, snapshot.dt = dt;
    snapshot.units = units, snapshot.names = names;
    for (const std::string& name : species) {
      const auto one = nbody::species_of(name);
      if (!one) throw nbody::UsageError("species: \"", name, "\" is not one of Gadget's");
      snapshot.species.push_back(*one);
    }
    nbody::write_bodies(file, snapshot);
  });
}

nb::dict scenario(const std::string& name, std::optional<int> bodies, std::optional<int> systems,
                  std::uint64_t seed, std::optional<double> softening,
                  const std::map<std::string, double>& parameters) {
  return to_python(without_lock([&] {
    const nbody::Scenario& found = nbody::find_scenario(name);
    nbody::ScenarioSize size{.systems = systems.value_or(1),
                             .bodies = bodies.value_or(found.bodies),
                             .seed = seed,
                             .softening = softening.value_or(found.softening),
                             .parameters = {parameters.begin(), parameters.end()},
                             .float64 = true};
    nbody::Snapshot snapshot = nbody::make_scenario(found, size);
    snapshot.softening = size.softening;
    snapshot.dt = found.dt;
    return snapshot;
  }));
}

std::map<std::string, std::string> scenarios() {
  std::map<std::string, std::string> found;
  for (const nbody::Scenario& one : nbody::scenarios()) found.emplace(one.name, one.description);
  return found;
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("read", &read_file, nb::arg("file"), nb::arg("systems").none(), nb::arg("species"),
             nb::arg("columns"), nb::arg("units").none(), nb::arg("from_units").none());
  module.def("write", &write_file, nb::arg("file"), nb::arg("rows"), nb::arg("time"),
             nb::arg("softening"), nb::arg("dt"), nb::arg("units"), nb::arg("names"),
             nb::arg("species"));
  module.def("scenario", &scenario, nb::arg("name"), nb::arg("bodies").none(),
             nb::arg("systems").none(), nb::arg("seed"), nb::arg("softening").none(),
             nb::arg("parameters"));
  module.def("scenarios", &scenarios);
}
