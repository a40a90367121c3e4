// Gadget's snapshot format 3 (Springel, users' guide of Gadget-2, section 6): HDF5 with /Header and
// a group for each type of body. Everything is checked against the size of the file before it is
// allocated or read.
#include "io/gadget/gadget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>
#include <sstream>

#include "io/formats/formats.h"
#include "io/gadget/hdf5_access.h"
#include "io/gadget/isolated.h"
#include "io/units.h"
#include "nbody/error.h"
#include "support/memory.h"
#include "support/text.h"

namespace nbody {
namespace {

using hdf5::Handle;
constexpr std::size_t kTypes = kSpeciesNames.size();
constexpr const char* kOwnGroup = "nbody-steps";  // for what Gadget has no place for

// The units of length, mass and velocity of a file. In them G is not 1, so the unit of mass is
// independent of the other two and is converted on its own.
struct FileUnits {
  double length = kKpc;            // m
  double mass_gm = 1e10 * kSunGm;  // m^3 s^-2
  double velocity = 1e3;           // m / s
};

// Gadget's own (allvars.h, SOLAR_MASS), and what a unit of mass in grams is meant by: with G and
// the mass in grams as they are best known, a file's 1e10 solar masses would come out 3e-4 heavier.
constexpr double kSolarMassGrams = 1.989e33;

std::string group_of(std::size_t type) { return "PartType" + std::to_string(type); }

double number(const std::string& where, const Handle& parent, const char* name, double fallback) {
  const auto values = hdf5::numbers(where, parent, name, 1);
  return values.empty() ? fallback : values[0];
}

double positive(const std::string& where, const Handle& parent, const char* name) {
  const double value = number(where, parent, name, 0);
  if (!(value > 0) || !std::isfinite(value))
    throw UsageError(where + ": the attribute " + name +
                     " is missing or not a positive number; it gives a unit");
  return value;
}

FileUnits units_of_file(const std::string& file, const Handle& root) {
  if (!hdf5::has(root, "Units")) return {};
  const Handle group = hdf5::open_group(file, root, "Units");
  const std::string where = file + ": /Units";
  return {positive(where, group, "UnitLength_in_cm") * 1e-2,
          positive(where, group, "UnitMass_in_g") / kSolarMassGrams * kSunGm,
          positive(where, group, "UnitVelocity_in_cm_per_s") * 1e-2};
}

struct Header {
  std::array<std::size_t, kTypes> counts{};
  std::array<double, kTypes> masses{};  // 0: each body has its own
  double time;
  double hubble = 1;
};

Header header_of(const std::string& file, const Handle& root, std::size_t file_bytes) {
  const Handle group = hdf5::open_group(file, root, "Header");
  const std::string where = file + ": /Header";
  const double files = number(where, group, "NumFilesPerSnapshot", 1);
  if (files != 1)
    throw UsageError(where + ": one of " + shortest(files) +
                     " files of a snapshot; only snapshots in one file can be read");
  if (number(where, group, "Redshift", 0) != 0)
    throw UsageError(where + ": Redshift is not 0; cosmological snapshots cannot be read");
  Header header;
  // Lengths and masses are then in units per h; so are times, but not velocities. 0: not used.
  if (const double h = number(where, group, "HubbleParam", 1); h != 0) header.hubble = h;
  if (!(header.hubble > 0.01 && header.hubble < 100))
    throw UsageError(where + ": HubbleParam is " + shortest(header.hubble) +
                     "; it must be a number from 0.01 to 100");
  header.time = number(where, group, "Time", 0);
  if (!std::isfinite(header.time)) throw UsageError(where + ": Time is not a finite number");
  const auto counts = hdf5::numbers(where, group, "NumPart_ThisFile", kTypes);
  const auto total = hdf5::numbers(where, group, "NumPart_Total", kTypes);
  const auto masses = hdf5::numbers(where, group, "MassTable", kTypes);
  if (counts.empty()) throw UsageError(where + ": the attribute NumPart_ThisFile is missing");
  if (!total.empty() && total != counts)
    throw UsageError(where + ": NumPart_Total differs from NumPart_ThisFile; only snapshots in " +
                     "one file can be read");
  double sum = 0;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    sum += counts[t];
    // A body takes 24 bytes at least, before any compression.
    if (!(counts[t] >= 0) || !(sum <= std::numeric_limits<int>::max()) ||
        sum * 24 > 100.0 * static_cast<double>(file_bytes))
      throw UsageError(where + ": NumPart_ThisFile counts " + shortest(counts[t]) +
                       " bodies of type " + std::to_string(t) + ", which this file cannot hold");
    header.counts[t] = static_cast<std::size_t>(counts[t]);
  }
  if (sum == 0) throw UsageError(file + " holds no bodies");
  for (std::size_t t = 0; t < masses.size(); ++t) {
    if (!std::isfinite(masses[t]) || masses[t] < 0)
      throw UsageError(where + ": MassTable holds " + shortest(masses[t]) +
                       "; a mass must be finite and not negative");
    header.masses[t] = masses[t];
  }
  return header;
}

formats::Contents read_here(const std::string& file, std::string_view bytes, bool float64) {
  hdf5::silence();
  const Handle root = hdf5::open_image(file, bytes);
  const Header header = header_of(file, root, bytes.size());
  FileUnits from = units_of_file(file, root);
  from.length /= header.hubble;
  from.mass_gm /= header.hubble;
  // Positions, velocities and masses in float64, then the bodies, perhaps in float64 as well.
  const auto bodies = std::accumulate(header.counts.begin(), header.counts.end(), std::size_t{0});
  require_memory(file, bodies * (7 * sizeof(double) + sizeof(Body) + sizeof(BodyF64)));
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
      throw UsageError(where + ": units, softening and dt are not those of a snapshot");
  }
  const Units to = *units_of(snapshot.units);
  const double length = from.length / to.length, velocity = from.velocity / to.velocity();
  const double mass = from.mass_gm / to.mass_gm;
  snapshot.time = header.time * (from.length / from.velocity) / to.time();
  if (!std::isfinite(snapshot.time)) throw UsageError(file + ": its time overflows");

  for (std::size_t t = 0; t < kTypes; ++t) {
    const std::size_t count = header.counts[t];
    if (count == 0) continue;
    const Handle group = hdf5::open_group(file, root, group_of(t).c_str());
    const std::string where = file + ": /" + group_of(t);
    const auto values = [&](const char* name, std::size_t columns) {
      return hdf5::dataset(where, group, name, count, columns, bytes.size());
    };
    const auto x = values("Coordinates", 3), v = values("Velocities", 3);
    const auto m =
        header.masses[t] > 0 ? std::vector<double>(count, header.masses[t]) : values("Masses", 1);
    for (std::size_t i = 0; i < count; ++i) {
      const BodyF64 exact{x[3 * i] * length,   x[3 * i + 1] * length,   x[3 * i + 2] * length,
                          v[3 * i] * velocity, v[3 * i + 1] * velocity, v[3 * i + 2] * velocity,
                          m[i] * mass};
      const Body body = rounded(exact);
      formats::check_body(file, contents.bodies.size(), body);
      contents.bodies.push_back(body);
      if (float64) contents.exact.push_back(exact);
    }
    contents.species.insert(contents.species.end(), count, static_cast<Species>(t));
  }
  return contents;
}

// Files with damaged metadata make HDF5 crash or allocate without end. So it reads a file in
// another process, which sends the bodies here as the bytes of a BIN file.
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
      "ParticleIDs, and all datasets but coordinates, velocities and masses";
  return contents;
}

void write_type(const Handle& root, const Snapshot& snapshot, std::size_t type, const FileUnits& to,
                const Units& from) {
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
  const Handle group(
      H5Gcreate2(root.id(), group_of(type).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Gclose);
  hdf5::write_dataset(group, "Coordinates", 3, x);
  hdf5::write_dataset(group, "Velocities", 3, v);
  hdf5::write_dataset(group, "Masses", 1, m);
  hdf5::write_dataset(group, "ParticleIDs", ids);
}

void write_header(const Handle& root, const Snapshot& snapshot, double time) {
  std::vector<unsigned> counts(kTypes);
  for (std::size_t i = 0; i < snapshot.systems.bodies.size(); ++i)
    ++counts[static_cast<std::size_t>(formats::species_at(snapshot, i))];
  const Handle group(H5Gcreate2(root.id(), "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Gclose);
  hdf5::write_integers(group, "NumPart_ThisFile", counts);
  hdf5::write_integers(group, "NumPart_Total", counts);
  hdf5::write_integers(group, "NumPart_Total_HighWord", std::vector<unsigned>(kTypes));
  hdf5::write_numbers(group, "MassTable", std::vector<double>(kTypes));
  hdf5::write_number(group, "Time", time);
  hdf5::write_number(group, "Redshift", 0);
  hdf5::write_number(group, "BoxSize", 0);
  hdf5::write_integer(group, "NumFilesPerSnapshot", 1);
}

void check(const std::string& file, const Snapshot& snapshot) {
  if (!units_of(snapshot.units))
    throw UsageError(
        file + ": Gadget files are in kpc, 1e10 Msun and km/s, and the units here are " +
        (snapshot.units.empty() ? "not known" : "\"" + snapshot.units + "\", which have no size") +
        ": --from-units can give them one");
  if (snapshot.staggered)
    throw UsageError(file +
                     ": positions and velocities of a leapfrog checkpoint are half a step apart, " +
                     "which Gadget cannot represent: write .bin or .csv");
}

void write(std::ostream& out, const std::string&, const Snapshot& snapshot) {
  hdf5::silence();
  const auto from = units_of(snapshot.units);
  const FileUnits to;
  const Handle root = hdf5::create_image();
  write_header(root, snapshot, snapshot.time * from->time() / (to.length / to.velocity));
  const Handle units(H5Gcreate2(root.id(), "Units", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                     H5Gclose);
  hdf5::write_number(units, "UnitLength_in_cm", to.length * 1e2);
  hdf5::write_number(units, "UnitMass_in_g", to.mass_gm / kSunGm * kSolarMassGrams);
  hdf5::write_number(units, "UnitVelocity_in_cm_per_s", to.velocity * 1e2);
  const Handle own(H5Gcreate2(root.id(), kOwnGroup, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Gclose);
  hdf5::write_text(own, "units", snapshot.units);
  hdf5::write_number(own, "softening", snapshot.softening);
  hdf5::write_number(own, "dt", snapshot.dt);
  for (std::size_t t = 0; t < kTypes; ++t) write_type(root, snapshot, t, to, *from);
  const std::string bytes = hdf5::image_of(root);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

FileFormat gadget() {
  FileFormat format = formats::kGadgetElsewhere;
  format.read = read;
  format.check = check;
  format.write = write;
  return format;
}

}  // namespace

std::span<const FileFormat> formats_with_gadget() {
  static const std::vector<FileFormat> all = formats::basic_formats_with(gadget());
  return all;
}

}  // namespace nbody
