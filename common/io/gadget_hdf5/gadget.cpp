// Gadget's snapshot format 3 (Springel, users' guide of Gadget-2, section 6): HDF5 with /Header and
// a group for each type of body. The size of every part is checked against the size of the file
// before memory for the part is allocated or the part is read.
#include "io/gadget_hdf5/gadget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>
#include <sstream>

#include "io/formats/formats.h"
#include "io/formats/gadget_bodies.h"
#include "io/gadget_hdf5/hdf5_access.h"
#include "io/gadget_hdf5/isolated.h"
#include "io/units.h"
#include "nbody/error.h"
#include "support/memory.h"
#include "support/text.h"

namespace nbody {
namespace {

using formats::GadgetUnits;
using hdf5::Handle;
constexpr std::size_t kTypes = kSpeciesNames.size();
// SWIFT has two more types than Gadget: neutrinos, and one more in the headers of newer files.
constexpr std::size_t kTypesRead = kTypes + 2;
// SWIFT also uses some of Gadget's numbers for other species: background dark matter, sinks, black
// holes.
constexpr std::array<Species, kTypesRead> kSwiftSpecies{
    Species::gas,  Species::dark,     Species::dark, Species::star,
    Species::star, Species::boundary, Species::dark, Species::dark};
constexpr const char* kOwnGroup = "nbody-steps";  // holds data that Gadget's format lacks

// Gadget's solar mass (allvars.h, SOLAR_MASS), which defines Gadget's unit of mass in grams. With
// today's solar mass in grams, the file's unit of 1e10 solar masses would come out 3e-4 too heavy.
constexpr double kSolarMassGrams = 1.989e33, kSwiftSolarMassGrams = 1.98841e33;
constexpr const char* kSwiftLength = "Unit length in cgs (U_L)";

std::string group_of(std::size_t type) { return "PartType" + std::to_string(type); }

double number(const std::string& where, const Handle& parent, const char* name, double fallback) {
  const auto values = hdf5::numbers(where, parent, name, 1);
  return values.empty() ? fallback : values[0];
}

double positive(const std::string& where, const Handle& parent, const char* name) {
  const double value = number(where, parent, name, 0);
  if (!(value > 0) || !std::isfinite(value))
    throw UsageError(where, ": the attribute ", name,
                     ", which gives a unit, is missing or not a positive number");
  return value;
}

bool is_swift(const Handle& root) {
  return hdf5::has(root, "Units") &&
         H5Aexists_by_name(root.id(), "Units", kSwiftLength, H5P_DEFAULT) > 0;
}

Species species_of_type(std::size_t type, bool swift) {
  if (swift) return kSwiftSpecies[type];
  return type < kTypes ? static_cast<Species>(type) : Species::dark;
}

// The group with the parameters of a run of GADGET-4 or AREPO, which have no /Units.
bool has_parameters(const Handle& root) {
  return !hdf5::has(root, "Units") && hdf5::has(root, "Parameters");
}

GadgetUnits units_of_file(const std::string& file, const Handle& root) {
  const char* const name = has_parameters(root) ? "Parameters" : "Units";
  if (!hdf5::has(root, name)) return {};
  const Handle group = hdf5::open_group(file, root, name);
  const std::string where = file + ": /" + name;
  // SWIFT stores a unit of time instead of Gadget's unit of velocity, and converts masses with a
  // more recent value of the solar mass.
  if (is_swift(root)) {
    const double length = positive(where, group, kSwiftLength) * 1e-2;
    return {length,
            positive(where, group, "Unit mass in cgs (U_M)") / kSwiftSolarMassGrams * kSunGm,
            length / positive(where, group, "Unit time in cgs (U_t)")};
  }
  return {positive(where, group, "UnitLength_in_cm") * 1e-2,
          positive(where, group, "UnitMass_in_g") / kSolarMassGrams * kSunGm,
          positive(where, group, "UnitVelocity_in_cm_per_s") * 1e-2};
}

struct Header {
  std::array<std::size_t, kTypesRead> counts{};
  std::array<double, kTypesRead> masses{};  // mass of each body of a type; 0: the masses differ
  double time;
  double hubble = 1;
};

// Returns h of a cosmological run. Runs of other systems have the parameter, but do not use it.
double hubble_of_parameters(const std::string& file, const Handle& root) {
  if (!has_parameters(root)) return 1;
  const Handle group = hdf5::open_group(file, root, "Parameters");
  const std::string where = file + ": /Parameters";
  return number(where, group, "ComovingIntegrationOn", 0) != 0
             ? number(where, group, "HubbleParam", 1)
             : 1;
}

Header header_of(const std::string& file, const Handle& root, std::size_t file_bytes) {
  const Handle group = hdf5::open_group(file, root, "Header");
  const std::string where = file + ": /Header";
  const double files = number(where, group, "NumFilesPerSnapshot", 1);
  if (files != 1)
    throw UsageError(where, ": one of ", shortest(files),
                     " files of a snapshot; only snapshots in one file can be read (export the "
                     "bodies as a table with pynbody; nbody-convert reads such a table)");
  if (number(where, group, "Redshift", 0) != 0)
    throw UsageError(where, ": Redshift is not 0; cosmological snapshots cannot be read");
  Header header;
  header.hubble = number(where, group, "HubbleParam", hubble_of_parameters(file, root));
  header.time = number(where, group, "Time", 0);
  if (!std::isfinite(header.time)) throw UsageError(where, ": Time is not a finite number");
  const auto counts = hdf5::numbers(where, group, "NumPart_ThisFile", kTypesRead);
  const auto total = hdf5::numbers(where, group, "NumPart_Total", kTypesRead);
  const auto masses = hdf5::numbers(where, group, "MassTable", kTypesRead);
  if (counts.empty()) throw UsageError(where, ": the attribute NumPart_ThisFile is missing");
  if (!total.empty() && total != counts)
    throw UsageError(where,
                     ": NumPart_Total differs from NumPart_ThisFile; only snapshots in "
                     "one file can be read");
  double sum = 0;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    sum += counts[t];
    // A body takes at least 24 bytes, and compression saves at most a factor of 100.
    if (!(counts[t] >= 0) || !(sum <= std::numeric_limits<int>::max()) ||
        sum * 24 > 100.0 * static_cast<double>(file_bytes))
      throw UsageError(where, ": NumPart_ThisFile counts ", shortest(counts[t]), " bodies of type ",
                       t, ", which this file cannot hold");
    header.counts[t] = static_cast<std::size_t>(counts[t]);
  }
  if (sum == 0) throw UsageError(file, " holds no bodies");
  for (std::size_t t = 0; t < masses.size(); ++t) {
    if (!std::isfinite(masses[t]) || masses[t] < 0)
      throw UsageError(where, ": MassTable holds ", shortest(masses[t]),
                       "; a mass must be finite and not negative");
    header.masses[t] = masses[t];
  }
  return header;
}

// In Gadget's files a nonzero entry in the mass table replaces the dataset of masses. SWIFT's files
// have both the table and the dataset; their table holds the mass of the first body or the mean
// mass. SWIFT's black holes have two masses, but only the dynamical mass exerts gravity.
template <class Values>
std::vector<double> masses_of_type(const Handle& group, double of_all, bool swift,
                                   std::size_t count, const Values& values) {
  if (of_all > 0 && !swift) return std::vector<double>(count, of_all);
  const char* const dynamical = "DynamicalMasses";
  return values(swift && hdf5::has(group, dynamical) ? dynamical : "Masses", 1);
}

formats::Contents read_here(const std::string& file, std::string_view bytes, bool float64) {
  hdf5::silence();
  const Handle root = hdf5::open_image(file, bytes);
  const Header header = header_of(file, root, bytes.size());
  const bool swift = is_swift(root);
  GadgetUnits from = units_of_file(file, root);
  from.take_out_hubble(file + ": /Header", header.hubble);
  // Reading needs memory for positions, velocities and masses in float64, and for bodies in float32
  // and float64.
  const auto bodies = std::accumulate(header.counts.begin(), header.counts.end(), std::size_t{0});
  require_memory(file, bodies * (8 * sizeof(double) + sizeof(Body) + sizeof(BodyF64)));
  formats::Contents contents;
  Snapshot& snapshot = contents.snapshot;
  snapshot.units = "kpc-100kms";
  if (hdf5::has(root, kOwnGroup)) {
    const std::string where = file + ": /" + kOwnGroup;
    const Handle own = hdf5::open_group(file, root, kOwnGroup);
    snapshot.units = hdf5::text(where, own, "units", kMaxTextBytes);
    snapshot.softening = number(where, own, "softening", 0);
    snapshot.dt = number(where, own, "dt", 0);
    if (!units_of(snapshot.units) || !(snapshot.softening >= 0) ||
        !std::isfinite(snapshot.softening) || !std::isfinite(snapshot.dt))
      throw UsageError(where, ": units, softening or dt are not valid for a snapshot");
  }
  formats::GadgetBodies read(file, from, *units_of(snapshot.units), float64);
  snapshot.time = read.time(header.time);

  for (std::size_t t = 0; t < kTypesRead; ++t) {
    const std::size_t count = header.counts[t];
    if (count == 0) continue;
    const Handle group = hdf5::open_group(file, root, group_of(t).c_str());
    const std::string where = file + ": /" + group_of(t);
    const auto values = [&](const char* name, std::size_t columns) {
      return hdf5::dataset(where, group, name, count, columns, bytes.size());
    };
    const auto x = values("Coordinates", 3), v = values("Velocities", 3);
    const auto m = masses_of_type(group, header.masses[t], swift, count, values);
    const Species species = species_of_type(t, swift);
    for (std::size_t i = 0; i < count; ++i)
      read.add({x[3 * i], x[3 * i + 1], x[3 * i + 2], v[3 * i], v[3 * i + 1], v[3 * i + 2], m[i]},
               species);
    if (hdf5::has(group, "ParticleIDs"))
      for (const double id : values("ParticleIDs", 1)) read.add_id(id);
  }
  read.move_to(contents);
  return contents;
}

// Damaged metadata can make HDF5 crash or allocate without limit. Therefore a separate process
// reads the file and sends the bodies back in BIN format.
formats::Contents read(const std::string& file, std::string_view bytes,
                       const ReadOptions& options) {
  const auto seconds = static_cast<unsigned>(60 + bytes.size() / (10 << 20));
  const std::string bin = isolated(file, seconds, [&] {
    std::ostringstream out;
    formats::kBin.write(out, file,
                        formats::assemble(file, read_here(file, bytes, options.float64), {}));
    return out.str();
  });
  formats::Contents contents = formats::kBin.read(file, bin, options);
  contents.systems.reset();
  contents.snapshot.format = "Gadget HDF5";
  contents.snapshot.left_out =
      "all datasets but coordinates, velocities, masses, and ids (for sorting)";
  return contents;
}

void write_type(const Handle& root, const Snapshot& snapshot, std::size_t type,
                const GadgetUnits& to, const Units& from) {
  const double length = from.length / to.length, velocity = from.velocity() / to.velocity;
  const double mass = from.mass_gm / to.mass_gm;
  std::vector<double> x, v, m;
  std::vector<unsigned> ids;
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i) {
    if (formats::species_at(snapshot, i) != static_cast<Species>(type)) continue;
    const BodyF64 body =
        snapshot.exact.empty() ? widened(snapshot.systems.bodies[i]) : snapshot.exact[i];
    for (const double value : {body.x, body.y, body.z}) x.push_back(value * length);
    for (const double value : {body.vx, body.vy, body.vz}) v.push_back(value * velocity);
    m.push_back(body.mass * mass);
    ids.push_back(static_cast<unsigned>(i) + 1);
  }
  if (ids.empty()) return;
  const Handle group = hdf5::create_group(root, group_of(type).c_str());
  hdf5::write_dataset(group, "Coordinates", 3, x);
  hdf5::write_dataset(group, "Velocities", 3, v);
  hdf5::write_dataset(group, "Masses", 1, m);
  hdf5::write_dataset(group, "ParticleIDs", ids);
}

// Returns a box size for yt, which cannot plot if the size is 0. The bodies stay around the origin,
// and the box is so wide that the periodic images that yt adds are far away.
double box_size(const Snapshot& snapshot) {
  float extent = 0;
  for (const Body& body : snapshot.systems.bodies)
    for (const float x : {body.x, body.y, body.z}) extent = std::max(extent, std::abs(x));
  return extent > 0 ? 3.0 * static_cast<double>(extent) : 1;
}

void write_header(const Handle& root, const Snapshot& snapshot, const GadgetUnits& to,
                  const Units& from) {
  std::vector<unsigned> counts(kTypes);
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i)
    ++counts[static_cast<std::size_t>(formats::species_at(snapshot, i))];
  const double seconds = snapshot.time * from.time(), length = from.length / to.length;
  const Handle group = hdf5::create_group(root, "Header");
  hdf5::write_integers(group, "NumPart_ThisFile", counts);
  hdf5::write_integers(group, "NumPart_Total", counts);
  hdf5::write_integers(group, "NumPart_Total_HighWord", std::vector<unsigned>(kTypes));
  hdf5::write_numbers(group, "MassTable", std::vector<double>(kTypes));
  hdf5::write_number(group, "Time", seconds / (to.length / to.velocity));
  hdf5::write_number(group, "Redshift", 0);
  hdf5::write_number(group, "BoxSize", box_size(snapshot) * length);
  hdf5::write_integer(group, "NumFilesPerSnapshot", 1);
  // pynbody reads this attribute; if it is missing, pynbody assumes that the time of the snapshot
  // is the age of the universe.
  hdf5::write_number(group, "Time_GYR", seconds / (365.25 * 86400 * 1e9));
  if (!(snapshot.softening > 0)) return;
  // Uses Gadget-4's names for Plummer-equivalent softening lengths, from which pynbody takes eps.
  for (std::size_t t = 0; t < kTypes; ++t)
    hdf5::write_integer(group, ("SofteningClassOfPartType" + std::to_string(t)).c_str(), 0);
  for (const char* name : {"SofteningComovingClass0", "SofteningMaxPhysClass0"})
    hdf5::write_number(group, name, snapshot.softening * length);
}

void check(const std::string& file, const Snapshot& snapshot) {
  if (!units_of(snapshot.units))
    throw UsageError(
        file, ": Gadget files are in kpc, 1e10 Msun and km/s, and the units of these bodies are ",
        (snapshot.units.empty() ? "not known"
                                : "\"" + snapshot.units + "\", which have no physical scale"),
        ": specify the units with --from-units");
}

void write(std::ostream& out, const std::string&, const Snapshot& snapshot) {
  hdf5::silence();
  const auto from = units_of(snapshot.units);
  const GadgetUnits to;
  const Handle root = hdf5::create_image();
  write_header(root, snapshot, to, *from);
  const Handle units = hdf5::create_group(root, "Units");
  hdf5::write_number(units, "UnitLength_in_cm", to.length * 1e2);
  hdf5::write_number(units, "UnitMass_in_g", to.mass_gm / kSunGm * kSolarMassGrams);
  hdf5::write_number(units, "UnitVelocity_in_cm_per_s", to.velocity * 1e2);
  const Handle own = hdf5::create_group(root, kOwnGroup);
  hdf5::write_text(own, "units", snapshot.units);
  hdf5::write_number(own, "softening", snapshot.softening);
  hdf5::write_number(own, "dt", snapshot.dt);
  for (std::size_t t = 0; t < kTypes; ++t) write_type(root, snapshot, t, to, *from);
  const std::string bytes = hdf5::image_of(root);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

std::span<const FileFormat> formats_with_gadget() {
  static const std::vector<FileFormat> all = formats::basic_formats_with_gadget(read, check, write);
  return all;
}

}  // namespace nbody
