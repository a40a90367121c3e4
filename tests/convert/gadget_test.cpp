// Gadget files: there and back, files as other programs write them, and every file that must be
// refused.
#include "io/gadget/gadget.h"

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

namespace nbody {
namespace {

// As read_bodies and refusal, with Gadget among the formats.
std::string refusal_of_any(const std::filesystem::path& file, ReadOptions options = {}) {
  options.formats = formats_with_gadget();
  return refusal(file, options);
}

}  // namespace
}  // namespace nbody

#ifdef NBODY_HDF5
#include "io/gadget/hdf5_access.h"
#include "io/gadget/isolated.h"

namespace nbody {
namespace {

Snapshot read_any(const std::filesystem::path& file, ReadOptions options = {}) {
  options.formats = formats_with_gadget();
  return read_bodies(file, options);
}

const FileFormat& gadget() { return format_for_writing("a.hdf5", formats_with_gadget()); }

Snapshot galaxy() {
  Snapshot snapshot;
  snapshot.systems = Systems(1, 6);
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
  for (std::size_t i = 0; i < a.systems.bodies.size(); ++i) {
    const Body &p = a.systems.bodies[i], &q = b.systems.bodies[i];
    for (const auto field :
         {&Body::x, &Body::y, &Body::z, &Body::vx, &Body::vy, &Body::vz, &Body::mass})
      EXPECT_EQ(p.*field, q.*field) << i;
  }
}

TEST(Gadget, KeepsEveryBit) {
  const TemporaryFolder folder;
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

TEST(Gadget, KeepsFloat64) {
  const TemporaryFolder folder;
  Snapshot written = galaxy();
  for (const Body& body : written.systems.bodies) written.exact.push_back(widened(body));
  written.exact[2].vy += 1e-12;
  write_bodies(folder / "a.hdf5", written, gadget());
  const Snapshot read = read_any(folder / "a.hdf5", {.float64 = true});
  ASSERT_EQ(read.exact.size(), 6u);
  EXPECT_NEAR(read.exact[2].vy, written.exact[2].vy, 1e-15);
}

TEST(Gadget, NeedsUnitsThatHaveASize) {
  const TemporaryFolder folder;
  for (const char* units : {"", "henon"}) {
    Snapshot snapshot = galaxy();
    snapshot.units = units;
    EXPECT_THROW(write_bodies(folder / "a.hdf5", snapshot, gadget()), UsageError);
  }
  EXPECT_EQ(folder.files(), 0);
}

// --- files of other programs ---

using hdf5::Handle;
using Change = std::function<void(const Handle& root, const Handle& header, const Handle& dark)>;

Handle group(const Handle& parent, const char* name) {
  return {H5Gcreate2(parent.id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

// Two dark bodies as a plain Gadget-2 would write them; `change` may add to it, and what it adds is
// not written again.
std::string foreign(const Change& change = {}) {
  const Handle root = hdf5::create_image();
  const Handle header = group(root, "Header"), dark = group(root, "PartType1");
  if (change) change(root, header, dark);
  const auto has_attribute = [&](const char* name) { return H5Aexists(header.id(), name) > 0; };
  if (!has_attribute("NumPart_ThisFile"))
    hdf5::write_integers(header, "NumPart_ThisFile", {0, 2, 0, 0, 0, 0});
  if (!has_attribute("MassTable")) hdf5::write_numbers(header, "MassTable", {0, 0, 0, 0, 0, 0});
  if (!hdf5::has(dark, "Coordinates"))
    hdf5::write_dataset(dark, "Coordinates", 3, {1, 2, 3, -1, -2, -3});
  if (!hdf5::has(dark, "Velocities"))
    hdf5::write_dataset(dark, "Velocities", 3, {100, 200, 300, -100, -200, -300});
  if (!hdf5::has(dark, "Masses")) hdf5::write_dataset(dark, "Masses", 1, {1, 2});
  return hdf5::image_of(root);
}

class GadgetFile : public testing::Test {
 protected:
  void SetUp() override { hdf5::silence(); }
  std::filesystem::path file(const Change& change) const {
    return folder_.with("g", foreign(change));
  }
  std::string message(const Change& change) const {
    const std::string text = refusal_of_any(file(change));
    const std::string path = (folder_ / "g").string();
    return text.starts_with(path) ? text.substr(path.size()) : text;
  }
  TemporaryFolder folder_;
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

TEST_F(GadgetFile, UnitsAreHonoured) {
  const Body body = read_any(file([](const Handle& root, const Handle&, const Handle&) {
                      const Handle units = group(root, "Units");
                      hdf5::write_number(units, "UnitLength_in_cm", 3.0856775814913673e24);  // Mpc
                      hdf5::write_number(units, "UnitMass_in_g", 1.989e33);
                      hdf5::write_number(units, "UnitVelocity_in_cm_per_s", 1e7);
                    })).systems.bodies[0];
  EXPECT_FLOAT_EQ(body.y, 2000);
  EXPECT_FLOAT_EQ(body.vy, 200);
  EXPECT_NEAR(body.mass * 2.32508541e9, 1, 1e-6);
}

// Lengths of kpc/h, masses of 1e10 Msun/h, velocities of km/s; so times are in kpc/h/(km/s).
TEST_F(GadgetFile, UnitsPerHAreConverted) {
  const auto with_h = [&](double h) {
    return read_any(file([&](const Handle&, const Handle& header, const Handle&) {
      hdf5::write_number(header, "HubbleParam", h);
      hdf5::write_number(header, "Time", 3);
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
  const Snapshot read = read_any(file([](const Handle&, const Handle& header, const Handle&) {
    hdf5::write_numbers(header, "MassTable", {0, 0.25, 0, 0, 0, 0});
  }));
  for (const Body& body : read.systems.bodies) EXPECT_NEAR(body.mass * 2.32508541e9, 0.25e10, 1e3);
}

// Gadget writes bodies in the order of its tree, which changes.
TEST_F(GadgetFile, BodiesComeInTheOrderOfTheirIds) {
  const auto ids = [&](const std::vector<unsigned>& ids) {
    return read_any(file([&](const Handle&, const Handle&, const Handle& dark) {
      hdf5::write_dataset(dark, "ParticleIDs", ids);
    }));
  };
  EXPECT_EQ(ids({3, 7}).systems.bodies[0].x, 1);
  EXPECT_EQ(ids({7, 3}).systems.bodies[0].x, -1);
  EXPECT_EQ(ids({7, 7}).systems.bodies[0].x, 1);  // no order
  // So our own keep theirs, whatever their species.
  Snapshot mixed = galaxy();
  std::reverse(mixed.species.begin(), mixed.species.end());
  write_bodies(folder_ / "mixed.hdf5", mixed, gadget());
  const Snapshot read = read_any(folder_ / "mixed.hdf5");
  expect_same_bodies(read, mixed);
  EXPECT_EQ(read.species, mixed.species);
}

TEST_F(GadgetFile, SwiftHasEightTypesAndItsOwnUnits) {
  const Snapshot read = read_any(file([](const Handle& root, const Handle& header, const Handle&) {
    hdf5::write_numbers(header, "NumPart_ThisFile", {0, 2, 0, 0, 0, 1, 1, 0});
    hdf5::write_numbers(header, "MassTable", {0, 99, 0, 0, 0, 99, 99, 0});
    const Handle units = group(root, "Units"), neutrinos = group(root, "PartType6"),
                 black_holes = group(root, "PartType5");
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
  EXPECT_NE(refusal_of_any(folder_ / "g", {.species = {Species::star}}).find("it has dark"),
            std::string::npos);
}

// --- files that must be refused ---

TEST_F(GadgetFile, NotOfTheKindThatIsRead) {
  const auto header_says = [&](const char* name, double value) {
    return message([&](const Handle&, const Handle& header, const Handle&) {
      hdf5::write_number(header, name, value);
    });
  };
  EXPECT_EQ(header_says("NumFilesPerSnapshot", 8),
            ": /Header: one of 8 files of a snapshot; a snapshot must be one file (pynbody reads "
            "the others, and nbody-convert a table of their bodies)");
  EXPECT_EQ(header_says("Redshift", 0.5),
            ": /Header: Redshift is not 0; cosmological snapshots cannot be read");
  EXPECT_EQ(header_says("HubbleParam", -0.7),
            ": /Header: HubbleParam is -0.7; it must be a number from 0.01 to 100");
  EXPECT_EQ(header_says("HubbleParam", 1), "accepted");
  EXPECT_NE(header_says("Time", std::nan("")).find("Time is not a finite number"),
            std::string::npos);
  EXPECT_NE(message([](const Handle& root, const Handle&, const Handle&) {
              group(root, "Units");
            }).find("UnitLength_in_cm"),
            std::string::npos);
  const Handle empty = hdf5::create_image();
  EXPECT_NE(
      refusal_of_any(folder_.with("e", hdf5::image_of(empty))).find("without a group /Header"),
      std::string::npos);
}

TEST_F(GadgetFile, CountsThatLie) {
  const auto counts = [&](const std::vector<double>& numbers) {
    return message([&](const Handle&, const Handle& header, const Handle&) {
      hdf5::write_numbers(header, "NumPart_ThisFile", numbers);
    });
  };
  EXPECT_NE(counts({0, 2147483648.0, 0, 0, 0, 0}).find("this file cannot hold"), std::string::npos);
  EXPECT_NE(counts({0, -1, 0, 0, 0, 0}).find("this file cannot hold"), std::string::npos);
  EXPECT_NE(counts({0, std::nan(""), 0, 0, 0, 0}).find("cannot hold"), std::string::npos);
  EXPECT_EQ(counts({0, 3, 0, 0, 0, 0}),
            ": /PartType1/Coordinates should have 3 x 3 values, as the header counts bodies");
  EXPECT_NE(counts({1, 2, 0, 0, 0, 0}).find("without a group /PartType0"), std::string::npos);
  EXPECT_EQ(counts({0, 0, 0, 0, 0, 0}), " holds no bodies");
  EXPECT_NE(counts(std::vector<double>(9)).find("has 9 values"), std::string::npos);
  EXPECT_NE(message([](const Handle&, const Handle& header, const Handle&) {
              hdf5::write_integers(header, "NumPart_Total", {0, 4, 0, 0, 0, 0});
            }).find("NumPart_Total differs"),
            std::string::npos);
}

TEST_F(GadgetFile, Values) {
  const auto dark_has = [&](const char* name, std::size_t columns, std::vector<double> values) {
    return message([&](const Handle&, const Handle&, const Handle& dark) {
      hdf5::write_dataset(dark, name, columns, values);
    });
  };
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(dark_has("Coordinates", 3, {1, 2, 3, 4, nan, 6}).find(": body 1: y is "),
            std::string::npos);
  EXPECT_NE(dark_has("Velocities", 3, {infinity, 2, 3, 4, 5, 6}).find(": body 0: vx is "),
            std::string::npos);
  EXPECT_NE(dark_has("Coordinates", 3, {1, 2, 1e300, 4, 5, 6}).find(": body 0: z is "),
            std::string::npos);
  EXPECT_NE(dark_has("Masses", 1, {1, -1}).find("must not be negative"), std::string::npos);
  EXPECT_NE(dark_has("Coordinates", 2, {1, 2, 3, 4}).find("should have 2 x 3"), std::string::npos);
  EXPECT_NE(dark_has("Masses", 1, {1, 2, 3}).find("should have 2 x 1"), std::string::npos);
  for (const double mass : {-1.0, nan, infinity})
    EXPECT_NE(message([&](const Handle&, const Handle& header, const Handle&) {
                hdf5::write_numbers(header, "MassTable", {0, mass, 0, 0, 0, 0});
              }).find("MassTable holds"),
              std::string::npos);
}

// Datasets that would read what is not in the file.
TEST_F(GadgetFile, DatasetsThatAreNotThere) {
  EXPECT_NE(message([](const Handle&, const Handle&, const Handle& dark) {
              H5Lcreate_external("/etc/passwd", "/x", dark.id(), "Masses", H5P_DEFAULT,
                                 H5P_DEFAULT);
            }).find("Masses is missing or not a dataset of this file"),
            std::string::npos);
  EXPECT_NE(message([](const Handle&, const Handle&, const Handle& dark) {
              group(dark, "Masses");
            }).find("Masses is missing"),
            std::string::npos);

  // Counted, dimensioned, never stored: 2^30 bodies in a few kilobytes.
  constexpr hsize_t kMany = 1 << 30;
  const auto unstored = [&](double count) {
    return message([&](const Handle&, const Handle& header, const Handle& dark) {
      hdf5::write_numbers(header, "NumPart_ThisFile", {0, count, 0, 0, 0, 0});
      const hsize_t extent[2] = {static_cast<hsize_t>(count), 3}, chunk[2] = {2, 3};
      const Handle space(H5Screate_simple(2, extent, nullptr), H5Sclose);
      const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      H5Pset_chunk(layout.id(), 2, chunk);
      const Handle data(H5Dcreate2(dark.id(), "Coordinates", H5T_IEEE_F64LE, space.id(),
                                   H5P_DEFAULT, layout.id(), H5P_DEFAULT),
                        H5Dclose);
    });
  };
  EXPECT_NE(unstored(kMany).find("this file cannot hold"), std::string::npos);
  EXPECT_NE(unstored(2).find("values that this file cannot hold"), std::string::npos);

  EXPECT_NE(message([](const Handle&, const Handle&, const Handle& dark) {
              const hsize_t extent = 2;
              const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
              const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
              const Handle data(H5Dcreate2(dark.id(), "Masses", type.id(), space.id(), H5P_DEFAULT,
                                           H5P_DEFAULT, H5P_DEFAULT),
                                H5Dclose);
            }).find("Masses does not hold numbers"),
            std::string::npos);
}

// What the library cannot survive, the program does.
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
  EXPECT_EQ(message(9,
                    []() -> std::string {
                      raise(SIGKILL);
                      return "";
                    }),
            corrupt + "crashed on it (Killed)");
  EXPECT_EQ(message(9, []() -> std::string { _exit(3); }), corrupt + "failed on it");
  volatile bool forever = true;
  EXPECT_EQ(message(1,
                    [&]() -> std::string {
                      while (forever) continue;
                      return "";
                    }),
            corrupt + "crashed on it (Killed)");
}

// Reading starts a process each time: every byte is for the nightly tests.
TEST_F(GadgetFile, CutHereAndThere) {
  const std::string whole = foreign();
  for (std::size_t size = 0; size < whole.size(); size += size < 96 ? 1 : 97)
    ASSERT_NE(refusal_of_any(folder_.with("cut", whole.substr(0, size))), "accepted") << size;
  EXPECT_NE(refusal_of_any(folder_.with("cut", whole.substr(0, whole.size() - 1))), "accepted");
}

TEST_F(GadgetFile, NightlyCutAtEveryByte) {
  const std::string whole = foreign();
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_NE(refusal_of_any(folder_.with("cut", whole.substr(0, size))), "accepted") << size;
}

// Found by fuzzing; HDF5 1.10.8 reads freed memory.
TEST_F(GadgetFile, WhatCrashesTheLibraryIsRefused) {
  const std::string file = NBODY_SOURCE_DIR "/tests/convert/crashes_hdf5_1.10.8.hdf5";
  EXPECT_TRUE(refusal_of_any(file).starts_with(file + ": ")) << refusal_of_any(file);
}

}  // namespace
}  // namespace nbody

#else

namespace nbody {
namespace {

TEST(Gadget, WithoutHdf5SaysSo) {
  const TemporaryFolder folder;
  const auto file = folder.with("a", "\x89HDF\r\n\x1a\n");
  EXPECT_NE(refusal_of_any(file).find("built without HDF5"), std::string::npos);
  GTEST_SKIP() << "Gadget files are not tested: this build lacks HDF5 (Debian: libhdf5-dev)";
}

}  // namespace
}  // namespace nbody

#endif
