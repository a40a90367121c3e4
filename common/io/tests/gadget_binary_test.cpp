// Tests Gadget's binary snapshots as other programs write them: both formats, both byte orders.
#include <gtest/gtest.h>

#include "io/formats/byte_order.h"
#include "io/snapshot_file.h"
#include "io/tests/refusal.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

struct GadgetBinary : WithFolder {};
struct Nemo : WithFolder {};

struct Written {
  std::endian order = std::endian::little;
  bool names = false;
  bool float64 = false;
  std::uint32_t files = 1, halo = 2;
  double redshift = 0, hubble = 0, time = 2;
};

// Builds a file of two halo bodies, each with its own mass, and a star whose mass is in the header.
std::string gadget(const Written& how = {}) {
  std::string file;
  const auto block = [&](const char* name, const std::string& content) {
    const auto framed = [&](const std::string& bytes) {
      byte_order::append(file, static_cast<std::uint32_t>(bytes.size()), how.order);
      file += bytes;
      byte_order::append(file, static_cast<std::uint32_t>(bytes.size()), how.order);
    };
    if (how.names) {
      std::string label = name;
      byte_order::append(label, static_cast<std::uint32_t>(content.size() + 8), how.order);
      framed(label);
    }
    framed(content);
  };
  const auto numbers = [&](const std::vector<double>& values) {
    std::string bytes;
    for (const double value : values) {
      if (how.float64)
        byte_order::append(bytes, value, how.order);
      else
        byte_order::append(bytes, static_cast<float>(value), how.order);
    }
    return bytes;
  };
  std::string header;
  for (const std::uint32_t count : {0u, how.halo, 0u, 0u, 1u, 0u})
    byte_order::append(header, count, how.order);
  for (const double mass : {0., 0., 0., 0., 3., 0.}) byte_order::append(header, mass, how.order);
  byte_order::append(header, how.time, how.order);
  byte_order::append(header, how.redshift, how.order);
  header.resize(124);
  byte_order::append(header, how.files, how.order);
  header.resize(152);
  byte_order::append(header, how.hubble, how.order);
  header.resize(256);
  std::string ids;
  for (const std::uint32_t id : {9u, 4u, 7u}) byte_order::append(ids, id, how.order);
  block("HEAD", header);
  block("POS ", numbers({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  block("VEL ", numbers({100, 0, 0, 0, 200, 0, 0, 0, 300}));
  block("ID  ", ids);
  block("MASS", numbers({1, 2}));
  block("POT ", numbers({0, 0, 0}));
  return file;
}

constexpr float kMass = 10 / 2.32508541f;  // 1e10 Msun in units of kpc-100kms

TEST_F(GadgetBinary, BothFormatsAndByteOrdersReadAlike) {
  for (const bool names : {false, true})
    for (const auto order : {std::endian::little, std::endian::big})
      for (const bool float64 : {false, true}) {
        SCOPED_TRACE(testing::Message() << names << (order == std::endian::big) << float64);
        const Snapshot read = read_bodies(folder.with(
            "snapshot_000", gadget({.order = order, .names = names, .float64 = float64})));
        ASSERT_EQ(read.systems.bodies.size(), 3u);
        // The bodies are sorted by id.
        EXPECT_EQ(read.species, (std::vector{Species::dark, Species::star, Species::dark}));
        const Body &second = read.systems.bodies[0], &star = read.systems.bodies[1],
                   &first = read.systems.bodies[2];
        EXPECT_EQ(first.x, 1);
        EXPECT_FLOAT_EQ(first.vx, 1);
        EXPECT_NEAR(first.mass, kMass, 1e-6);
        EXPECT_EQ(second.z, 6);
        EXPECT_NEAR(second.mass, 2 * kMass, 1e-6);
        EXPECT_EQ(star.y, 8);
        EXPECT_FLOAT_EQ(star.vz, 3);
        EXPECT_NEAR(star.mass, 3 * kMass, 1e-6);
        EXPECT_EQ(read.units, "kpc-100kms");
        EXPECT_NEAR(read.time, 200, 1e-9);  // from kpc / (km/s) to kpc / (100 km/s)
      }
}

TEST_F(GadgetBinary, UnitsPerHAreConverted) {
  const Snapshot read = read_bodies(folder.with("s", gadget({.hubble = 0.5})));
  EXPECT_EQ(read.systems.bodies[2].x, 2);
  EXPECT_FLOAT_EQ(read.systems.bodies[2].vx, 1);
  EXPECT_NEAR(read.systems.bodies[2].mass, 2 * kMass, 1e-6);
}

TEST_F(GadgetBinary, RefusesWhatItCannotRead) {
  const auto said_of = [&](const Written& how) { return refusal(folder.with("s", gadget(how))); };
  EXPECT_TRUE(says(said_of({.files = 8}), "one of 8 files; only snapshots in one file"));
  EXPECT_TRUE(says(said_of({.redshift = 1}), "redshift is not 0"));
  EXPECT_TRUE(says(said_of({.hubble = -1}), "HubbleParam is -1"));
  EXPECT_TRUE(says(said_of({.halo = 4000000000}), "more than the file can hold"));
  EXPECT_TRUE(says(said_of({.halo = 3}), "the block POS has 36 bytes; it must hold 12 numbers"));
}

TEST_F(GadgetBinary, CutAtEveryByte) {
  for (const bool names : {false, true}) {
    const std::string whole = gadget({.names = names});
    // The last block is optional: a file without this block is complete. A file that lacks only a
    // part of this block, or any part of another block, is not complete.
    const std::size_t needed = whole.size() - 20 - (names ? 16 : 0);
    for (std::size_t size = 264 + (names ? 16 : 0); size < whole.size(); ++size) {
      const std::string text = refusal(folder.with("s", whole.substr(0, size)));
      const bool sound = size == needed || (!names && size > needed);
      EXPECT_EQ(text == "accepted", sound) << size << " of " << whole.size() << ": " << text;
    }
  }
}

TEST_F(Nemo, IsReadByItsOwnPrograms) {
  const std::string text = refusal(folder.with("p10.snap", std::string("\x92\x0b"
                                                                       "c\0History\0",
                                                                       12)));
  EXPECT_TRUE(says(text, "NEMO cannot be read here: NEMO's snapprint in="));
  EXPECT_TRUE(says(text, "p10.snap options=m,x,y,z,vx,vy,vz"));
}

}  // namespace
}  // namespace nbody
