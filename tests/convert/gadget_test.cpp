// Tests Gadget files: files that we write and read again, files that other programs wrote, and
// files that must be rejected.
#include "io/gadget_hdf5/gadget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <limits>

#include "io/tests/refusal.h"
#include "io/units.h"
#include "nbody/error.h"
#include "support/tests/temporary_folder.h"

#ifdef NBODY_HDF5
#include "io/gadget_hdf5/hdf5_access.h"
#include "io/gadget_hdf5/isolated.h"
#endif

namespace nbody {
namespace {

struct Gadget : WithFolder {};

// refusal_of_any() and read_any() do the same as refusal() and read_bodies(), but also accept
// Gadget's format.
std::string refusal_of_any(const std::filesystem::path& file, ReadOptions options = {}) {
  options.formats = formats_with_gadget();
  return refusal(file, options);
}

#ifdef NBODY_HDF5

Snapshot read_any(const std::filesystem::path& file, ReadOptions options = {}) {
  options.formats = formats_with_gadget();
  return read_bodies(file, options);
}

const FileFormat& gadget() { return format_for_writing("a.hdf5", formats_with_gadget()); }

Snapshot galaxy() {
  Snapshot snapshot{.systems = Systems(1, 6)};
  for (std::size_t i = 0; i < 6; ++i) {
    const float k = static_cast<float>(i) + 1.0f / 3;
    snapshot.systems.bodies[i] = {k, -2 * k, 3 * k, 0.1f * k, 0.2f * k, -0.3f * k, 0.7f * k};
    snapshot.species.push_back(static_cast<Species>(i));
  }
  snapshot.units = "kpc-100kms";
  snapshot.time = 0.1;
  snapshot.softening = 0.3;
  snapshot.dt = 0.7;
  return snapshot;
}

void expect_same_bodies(const Snapshot& a, const Snapshot& b) {
  ASSERT_EQ(a.systems.bodies.size(), b.systems.bodies.size());
  for (std::size_t i = 0; i < a.systems.bodies.size(); ++i)
    EXPECT_EQ(values_of(a.systems.bodies[i]), values_of(b.systems.bodies[i])) << i;
}

TEST_F(Gadget, KeepsEveryBit) {
  for (const char* units : {"kpc-100kms", "kpc-msun", "au-msun-yr2pi", "25000 kpc, 2.31e15 Msun"}) {
    SCOPED_TRACE(units);
    Snapshot written = galaxy();
    written.units = units;
    write_bodies(folder / "a.hdf5", written, gadget());
    const Snapshot read = read_any(folder / "a.hdf5");
    expect_same_bodies(read, written);
    EXPECT_EQ(read.species, written.species);
    EXPECT_EQ(read.units, units);
    EXPECT_EQ(read.softening, 0.3);
    EXPECT_EQ(read.dt, 0.7);
    EXPECT_NEAR(read.time, 0.1, 1e-15);
  }
}

TEST_F(Gadget, KeepsFloat64) {
  Snapshot written = galaxy();
  for (const Body& body : written.systems.bodies) written.exact.push_back(widened(body));
  written.exact[2].vy += 1e-12;
  write_bodies(folder / "a.hdf5", written, gadget());
  const Snapshot read = read_any(folder / "a.hdf5", {.float64 = true});
  ASSERT_EQ(read.exact.size(), 6u);
  EXPECT_NEAR(read.exact[2].vy, written.exact[2].vy, 1e-15);
}

TEST_F(Gadget, NeedsUnitsThatHaveASize) {
  for (const char* units : {"", "henon"}) {
    Snapshot snapshot = galaxy();
    snapshot.units = units;
    EXPECT_THROW(write_bodies(folder / "a.hdf5", snapshot, gadget()), UsageError);
  }
  EXPECT_EQ(folder.files(), 0);
}

// --- files that other programs wrote ---

using hdf5::Handle;

struct Written {
  Handle root = hdf5::create_image(), header = hdf5::create_group(root, "Header"),
         dark = hdf5::create_group(root, "PartType1");
};
using Change = std::function<void(const Written&)>;

Change in_header(const char* name, const std::vector<double>& values) {
  return [=](const Written& file) { hdf5::write_numbers(file.header, name, values); };
}
Change in_dark(const char* name, std::size_t columns, const std::vector<double>& values) {
  return [=](const Written& file) { hdf5::write_dataset(file.dark, name, columns, values); };
}

// Returns a file with two dark bodies as a plain Gadget-2 would write it. `change` may write parts
// of the file first; only missing parts are then added.
std::string foreign(const Change& change = {}) {
  const Written file;
  if (change) change(file);
  if (H5Aexists(file.header.id(), "NumPart_ThisFile") <= 0)
    hdf5::write_integers(file.header, "NumPart_ThisFile", {0, 2, 0, 0, 0, 0});
  if (H5Aexists(file.header.id(), "MassTable") <= 0)
    in_header("MassTable", std::vector<double>(6))(file);
  if (!hdf5::has(file.dark, "Coordinates")) in_dark("Coordinates", 3, {1, 2, 3, -1, -2, -3})(file);
  if (!hdf5::has(file.dark, "Velocities"))
    in_dark("Velocities", 3, {100, 200, 300, -100, -200, -300})(file);
  if (!hdf5::has(file.dark, "Masses")) in_dark("Masses", 1, {1, 2})(file);
  return hdf5::image_of(file.root);
}

class GadgetFile : public WithFolder {
 protected:
  void SetUp() override { hdf5::silence(); }
  std::filesystem::path file(const Change& change) const {
    return folder.with("g", foreign(change));
  }
  std::string message(const Change& change) const {
    const std::string text = refusal_of_any(file(change)), path = folder / "g";
    return text.starts_with(path) ? text.substr(path.size()) : text;
  }
};

TEST_F(GadgetFile, WithoutUnitsIsInKpcAndKmPerSecond) {
  const Snapshot read = read_any(file({}));
  EXPECT_EQ(read.units, "kpc-100kms");
  EXPECT_EQ(read.species, (std::vector<Species>{Species::dark, Species::dark}));
  const Body& body = read.systems.bodies[1];
  EXPECT_FLOAT_EQ(body.x, -1);
  EXPECT_FLOAT_EQ(body.z, -3);
  EXPECT_FLOAT_EQ(body.vy, -2);
  EXPECT_NEAR(body.mass * 2.32508541e9, 2e10, 1e4);
}

void write_units(const Handle& group) {
  hdf5::write_number(group, "UnitLength_in_cm", 3.0856775814913673e24);  // Mpc
  hdf5::write_number(group, "UnitMass_in_g", 1.989e33);
  hdf5::write_number(group, "UnitVelocity_in_cm_per_s", 1e7);
}

TEST_F(GadgetFile, UnitsAreHonoured) {
  const Body body = read_any(file([](const Written& file) {
                      write_units(hdf5::create_group(file.root, "Units"));
                    })).systems.bodies[0];
  EXPECT_FLOAT_EQ(body.y, 2000);
  EXPECT_FLOAT_EQ(body.vy, 200);
  EXPECT_NEAR(body.mass * 2.32508541e9, 1, 1e-6);
}

// GADGET-4 and AREPO write all parameters of a run, which include the units. Only cosmological runs
// have units per h.
TEST_F(GadgetFile, UnitsInParametersAreHonoured) {
  const auto read = [&](double cosmological) {
    return read_any(file([=](const Written& file) {
             const Handle parameters = hdf5::create_group(file.root, "Parameters");
             write_units(parameters);
             hdf5::write_number(parameters, "ComovingIntegrationOn", cosmological);
             hdf5::write_number(parameters, "HubbleParam", 0.5);
           }))
        .systems.bodies[0];
  };
  const Body own = read(0), per_h = read(1);
  EXPECT_FLOAT_EQ(own.y, 2000);
  EXPECT_FLOAT_EQ(own.vy, 200);
  EXPECT_NEAR(own.mass * 2.32508541e9, 1, 1e-6);
  EXPECT_FLOAT_EQ(per_h.y, 4000);
  EXPECT_FLOAT_EQ(per_h.vy, 200);
  EXPECT_NEAR(per_h.mass * 2.32508541e9, 2, 1e-6);
}

// Lengths are in kpc/h, masses in 1e10 Msun/h and velocities in km/s, so times are in kpc/h/(km/s).
TEST_F(GadgetFile, UnitsPerHAreConverted) {
  const auto with_h = [&](double h) {
    return read_any(file([&](const Written& file) {
      hdf5::write_number(file.header, "HubbleParam", h);
      hdf5::write_number(file.header, "Time", 3);
    }));
  };
  const Snapshot plain = with_h(1), half = with_h(0.5);
  const Body &a = plain.systems.bodies[1], &b = half.systems.bodies[1];
  EXPECT_FLOAT_EQ(b.x, 2 * a.x);
  EXPECT_FLOAT_EQ(b.mass, 2 * a.mass);
  EXPECT_FLOAT_EQ(b.vy, a.vy);
  EXPECT_NEAR(half.time, 2 * plain.time, 1e-12);
}

TEST_F(GadgetFile, MassTableIsHonoured) {
  const Snapshot read = read_any(file(in_header("MassTable", {0, 0.25, 0, 0, 0, 0})));
  for (const Body& body : read.systems.bodies) EXPECT_NEAR(body.mass * 2.32508541e9, 0.25e10, 1e3);
}

// Gadget writes bodies in the order of its tree, which changes during a run, so readers use the
// ids.
TEST_F(GadgetFile, BodiesComeInTheOrderOfTheirIds) {
  const auto ids = [&](const std::vector<unsigned>& ids) {
    return read_any(
        file([&](const Written& file) { hdf5::write_dataset(file.dark, "ParticleIDs", ids); }));
  };
  EXPECT_EQ(ids({3, 7}).systems.bodies[0].x, 1);
  EXPECT_EQ(ids({7, 3}).systems.bodies[0].x, -1);
  EXPECT_EQ(ids({7, 7}).systems.bodies[0].x, 1);  // equal ids give no order
  // Readers sort by id, so the ids in our files follow the order of the bodies, whatever their
  // species.
  Snapshot mixed = galaxy();
  std::reverse(mixed.species.begin(), mixed.species.end());
  write_bodies(folder / "mixed.hdf5", mixed, gadget());
  const Snapshot read = read_any(folder / "mixed.hdf5");
  expect_same_bodies(read, mixed);
  EXPECT_EQ(read.species, mixed.species);
}

TEST_F(GadgetFile, SwiftHasEightTypesAndItsOwnUnits) {
  const Snapshot read = read_any(file([](const Written& file) {
    hdf5::write_numbers(file.header, "NumPart_ThisFile", {0, 2, 0, 0, 0, 1, 1, 0});
    hdf5::write_numbers(file.header, "MassTable", {0, 99, 0, 0, 0, 99, 99, 0});
    const Handle units = hdf5::create_group(file.root, "Units"),
                 neutrinos = hdf5::create_group(file.root, "PartType6"),
                 black_holes = hdf5::create_group(file.root, "PartType5");
    hdf5::write_dataset(black_holes, "Coordinates", 3, {1, 1, 1});
    hdf5::write_dataset(black_holes, "Velocities", 3, {0, 0, 0});
    hdf5::write_dataset(black_holes, "DynamicalMasses", 1, {4});
    hdf5::write_number(units, "Unit length in cgs (U_L)", 3.0856775814913673e24);
    hdf5::write_number(units, "Unit mass in cgs (U_M)", 1.98841e43);
    hdf5::write_number(units, "Unit time in cgs (U_t)", 3.0856775814913673e19);
    hdf5::write_dataset(neutrinos, "Coordinates", 3, {7, 8, 9});
    hdf5::write_dataset(neutrinos, "Velocities", 3, {0, 0, 1});
    hdf5::write_dataset(neutrinos, "Masses", 1, {3});
  }));
  ASSERT_EQ(read.systems.bodies.size(), 4u);
  EXPECT_EQ(read.species,
            (std::vector<Species>{Species::dark, Species::dark, Species::boundary, Species::dark}));
  EXPECT_NEAR(read.systems.bodies[3].x, 7000, 1e-2);
  EXPECT_NEAR(read.systems.bodies[3].vz, 0.01, 1e-8);
  EXPECT_NEAR(read.systems.bodies[2].mass * 2.32508541e9 / 4e10, 1, 1e-6);
  EXPECT_NEAR(read.systems.bodies[3].mass * 2.32508541e9 / 3e10, 1, 1e-6);
}

TEST_F(GadgetFile, ContentDecidesAndSpeciesAreChosen) {
  EXPECT_EQ(read_any(file({}), {.species = {Species::dark}}).systems.bodies_per_system, 2);
  EXPECT_TRUE(says(refusal_of_any(folder / "g", {.species = {Species::star}}), "it has dark"));
}

// --- files that must be rejected ---

TEST_F(GadgetFile, NotOfTheKindThatIsRead) {
  const auto header_says = [&](const char* name, double value) {
    return message([&](const Written& file) { hdf5::write_number(file.header, name, value); });
  };
  EXPECT_EQ(header_says("NumFilesPerSnapshot", 8),
            ": /Header: one of 8 files of a snapshot; only snapshots in one file can be read "
            "(export the bodies as a table with pynbody; nbody-convert reads such a table)");
  EXPECT_EQ(header_says("Redshift", 0.5),
            ": /Header: Redshift is not 0; cosmological snapshots cannot be read");
  EXPECT_EQ(header_says("HubbleParam", -0.7),
            ": /Header: HubbleParam is -0.7; it must be a number from 0.01 to 100");
  EXPECT_EQ(header_says("HubbleParam", 1), "accepted");
  EXPECT_TRUE(says(header_says("Time", std::nan("")), "Time is not a finite number"));
  EXPECT_TRUE(says(message([](const Written& file) { hdf5::create_group(file.root, "Units"); }),
                   "/Units: the attribute UnitLength_in_cm"));
  EXPECT_TRUE(
      says(message([](const Written& file) { hdf5::create_group(file.root, "Parameters"); }),
           "/Parameters: the attribute UnitLength_in_cm"));
  const Handle empty = hdf5::create_image();
  EXPECT_TRUE(
      says(refusal_of_any(folder.with("e", hdf5::image_of(empty))), "without a group /Header"));
}

TEST_F(GadgetFile, CountsThatLie) {
  const auto counts = [&](const std::vector<double>& numbers) {
    return message(in_header("NumPart_ThisFile", numbers));
  };
  EXPECT_TRUE(says(counts({0, 2147483648.0, 0, 0, 0, 0}), "this file cannot hold"));
  EXPECT_TRUE(says(counts({0, -1, 0, 0, 0, 0}), "this file cannot hold"));
  EXPECT_TRUE(says(counts({0, std::nan(""), 0, 0, 0, 0}), "cannot hold"));
  EXPECT_EQ(counts({0, 3, 0, 0, 0, 0}),
            ": /PartType1/Coordinates should have 3 x 3 values for the header's number of bodies");
  EXPECT_TRUE(says(counts({1, 2, 0, 0, 0, 0}), "without a group /PartType0"));
  EXPECT_EQ(counts({0, 0, 0, 0, 0, 0}), " holds no bodies");
  EXPECT_TRUE(says(counts(std::vector<double>(9)), "has 9 values"));
  EXPECT_TRUE(
      says(message(in_header("NumPart_Total", {0, 4, 0, 0, 0, 0})), "NumPart_Total differs"));
}

TEST_F(GadgetFile, Values) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(says(message(in_dark("Coordinates", 3, {1, 2, 3, 4, nan, 6})), ": body 1: y is "));
  EXPECT_TRUE(
      says(message(in_dark("Velocities", 3, {infinity, 2, 3, 4, 5, 6})), ": body 0: vx is "));
  EXPECT_TRUE(says(message(in_dark("Coordinates", 3, {1, 2, 1e300, 4, 5, 6})), ": body 0: z is "));
  EXPECT_TRUE(says(message(in_dark("Masses", 1, {1, -1})), "must not be negative"));
  EXPECT_TRUE(says(message(in_dark("Coordinates", 2, {1, 2, 3, 4})), "should have 2 x 3"));
  EXPECT_TRUE(says(message(in_dark("Masses", 1, {1, 2, 3})), "should have 2 x 1"));
  for (const double mass : {-1.0, nan, infinity})
    EXPECT_TRUE(says(message(in_header("MassTable", {0, mass, 0, 0, 0, 0})), "MassTable holds"));
}

// The file declares datasets whose data it does not contain.
TEST_F(GadgetFile, DatasetsThatAreNotThere) {
  EXPECT_TRUE(says(message([](const Written& file) {
                     H5Lcreate_external("/etc/passwd", "/x", file.dark.id(), "Masses", H5P_DEFAULT,
                                        H5P_DEFAULT);
                   }),
                   "Masses is missing or not a dataset of this file"));
  EXPECT_TRUE(says(message([](const Written& file) { hdf5::create_group(file.dark, "Masses"); }),
                   "Masses is missing"));

  // The header declares 2^30 bodies, and the dataset declares a matching size, but the file stores
  // no values and takes only a few kilobytes.
  constexpr hsize_t kMany = 1 << 30;
  const auto unstored = [&](double count) {
    return message([&](const Written& file) {
      hdf5::write_numbers(file.header, "NumPart_ThisFile", {0, count, 0, 0, 0, 0});
      const hsize_t extent[2] = {static_cast<hsize_t>(count), 3}, chunk[2] = {2, 3};
      const Handle space(H5Screate_simple(2, extent, nullptr), H5Sclose);
      const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      H5Pset_chunk(layout.id(), 2, chunk);
      const Handle data(H5Dcreate2(file.dark.id(), "Coordinates", H5T_IEEE_F64LE, space.id(),
                                   H5P_DEFAULT, layout.id(), H5P_DEFAULT),
                        H5Dclose);
    });
  };
  EXPECT_TRUE(says(unstored(kMany), "this file cannot hold"));
  EXPECT_TRUE(says(unstored(2), "values, which this file cannot hold"));

  EXPECT_TRUE(says(message([](const Written& file) {
                     const hsize_t extent = 2;
                     const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
                     const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
                     const Handle data(H5Dcreate2(file.dark.id(), "Masses", type.id(), space.id(),
                                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                       H5Dclose);
                   }),
                   "Masses does not hold numbers"));
}

// A crash of the library must end only the copied process, not the program.
TEST(Isolated, OnlyTheCopyDies) {
  const auto message = [](unsigned seconds, const std::function<std::string()>& work) {
    try {
      return isolated("a.hdf5", seconds, work);
    } catch (const UsageError& error) {
      return std::string(error.what());
    } catch (const std::runtime_error& error) {
      return std::string("runtime: ") + error.what();
    }
  };
  const std::string long_text(3 << 20, 'x');
  EXPECT_EQ(message(9, [&] { return long_text; }), long_text);
  EXPECT_EQ(message(9, []() -> std::string { throw UsageError("no"); }), "no");
  EXPECT_EQ(message(9, []() -> std::string { throw std::runtime_error("no"); }), "runtime: no");
  const std::string corrupt = "a.hdf5: corrupt file: the HDF5 library ";
  const auto dies = []() -> std::string {
    raise(SIGKILL);
    return "";
  };
  EXPECT_EQ(message(9, dies), corrupt + "crashed on it (Killed)");
  EXPECT_EQ(message(9, []() -> std::string { _exit(3); }), corrupt + "failed on it");
  volatile bool forever = true;
  const auto hangs = [&]() -> std::string {
    while (forever) continue;
    return "";
  };
  EXPECT_EQ(message(1, hangs), corrupt + "crashed on it (Killed)");
}

// Each read starts a process, so the quick tests cut the file only at some bytes; the nightly tests
// cut it at every byte.
TEST_F(GadgetFile, CutHereAndThere) {
  const std::string whole = foreign();
  for (std::size_t size = 0; size < whole.size(); size += size < 96 ? 1 : 97)
    ASSERT_NE(refusal_of_any(folder.with("cut", whole.substr(0, size))), "accepted") << size;
  EXPECT_NE(refusal_of_any(folder.with("cut", whole.substr(0, whole.size() - 1))), "accepted");
}

TEST_F(GadgetFile, NightlyCutAtEveryByte) {
  const std::string whole = foreign();
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_NE(refusal_of_any(folder.with("cut", whole.substr(0, size))), "accepted") << size;
}

// The file was found by fuzzing; it makes HDF5 1.10.8 read freed memory.
TEST_F(GadgetFile, WhatCrashesTheLibraryIsRefused) {
  const std::string file = NBODY_SOURCE_DIR "/tests/convert/crashes_hdf5_1.10.8.hdf5";
  EXPECT_TRUE(refusal_of_any(file).starts_with(file + ": ")) << refusal_of_any(file);
}

#else

TEST_F(Gadget, WithoutHdf5SaysSo) {
  const auto file = folder.with("a", "\x89HDF\r\n\x1a\n");
  EXPECT_TRUE(says(refusal_of_any(file), "built without HDF5"));
  GTEST_SKIP() << "Gadget files are not tested: this build lacks HDF5 (Debian: libhdf5-dev)";
}

#endif

}  // namespace
}  // namespace nbody
