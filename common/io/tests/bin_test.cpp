// Tests the project's binary format: its layout, and the messages for invalid headers.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "io/formats/formats.h"
#include "io/tests/refusal.h"
#include "nbody/error.h"
#include "support/crc32.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

struct Bin : WithFolder {};

// Other programs rely on the layout, so the test compares the bytes of the file and does not use
// our reader.
TEST_F(Bin, LayoutIsFixed) {
  Snapshot snapshot{.systems = Systems(1, 1)};
  snapshot.systems.bodies[0] = {1, 2, 3, 4, 5, 6, 7};
  snapshot.time = 1;
  snapshot.step = 2;
  snapshot.softening = 0.5;
  snapshot.dt = 0.25;
  snapshot.integrator = Integrator::leapfrog;
  snapshot.scenario = "ab";
  snapshot.units = "c";
  write_bodies(folder / "a.bin", snapshot);
  using namespace std::string_literals;
  const std::string header =
      "NBODYBIN"s + "\1\0\0\0"s + "\4\3\2\1"s + "\4\0\0\0"s + "\x90\0\0\0"s + "\1\0\0\0"s +
      "\1\0\0\0"s + "\0\0\0\0\0\0\xF0\x3F"s + "\2\0\0\0\0\0\0\0"s + "\0\0\0\0\0\0\xF0\x3F"s +
      "\0\0\0\0\0\0\xE0\x3F"s + "\0\0\0\0\0\0\xD0\x3F"s + "\1\0\0\0"s + "\0\0\0\0"s + "ab"s +
      std::string(30, '\0') + "c"s + std::string(31, '\0');
  const std::string body =
      "\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40\0\0\x80\x40"s + "\0\0\xA0\x40\0\0\xC0\x40\0\0\xE0\x40"s;
  EXPECT_EQ(folder.content("a.bin"), header + body);
}

TEST_F(Bin, SpeciesFollowTheBodies) {
  Snapshot snapshot{.systems = Systems(1, 2)};
  snapshot.species = {Species::star, Species::gas};
  write_bodies(folder / "a.bin", snapshot);
  std::string bytes = folder.content("a.bin");
  EXPECT_EQ(bytes[8], 2);  // version
  EXPECT_EQ(bytes.substr(144 + 2 * 28), std::string("\4\0", 2));
  EXPECT_EQ(read_bodies(folder / "a.bin").species, snapshot.species);
  bytes.back() = 6;
  const auto wrong = folder.with("wrong.bin", bytes);
  EXPECT_EQ(refusal(wrong), wrong.string() + ": body 1: species is 6; it must be 0 to 5");
}

// --- BIN files that must be rejected ---

class BadBin : public WithFolder {
 protected:
  BadBin() {
    Snapshot snapshot{.systems = Systems(2, 3)};
    write_bodies(folder / "good.bin", snapshot);
    bytes_ = folder.content("good.bin");
  }

  template <typename T>
  std::string with(std::size_t offset, T value) {
    std::string changed = bytes_;
    std::memcpy(changed.data() + offset, &value, sizeof(value));  // x86 and ARM are little-endian
    return message(changed);
  }
  std::string message(std::string_view content) {
    const std::string path = folder.with("bad.bin", content).string();
    const std::string text = refusal(path);
    // Every message begins with the file's path, which is removed here so that the rest can be
    // compared.
    EXPECT_TRUE(text.starts_with(path)) << text;
    return text.starts_with(path) ? text.substr(path.size()) : text;
  }

  std::string bytes_;
};

TEST_F(BadBin, TheGoodOneIsAccepted) { EXPECT_EQ(refusal(folder / "good.bin"), "accepted"); }

TEST_F(BadBin, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < bytes_.size(); ++size)
    EXPECT_NE(refusal(folder.with("cut.bin", bytes_.substr(0, size))), "accepted") << size;
  EXPECT_EQ(message(bytes_.substr(0, 143)), ": 143 bytes; the header alone takes 144");
  EXPECT_EQ(message(bytes_.substr(0, 311)),
            ": 311 bytes, but its header describes 2 systems of 3 bodies, which take 312");
}

TEST_F(BadBin, ExtraBytesAreRefused) {
  EXPECT_EQ(message(bytes_ + "x"),
            ": 313 bytes, but its header describes 2 systems of 3 bodies, which take 312");
}

TEST_F(BadBin, HeaderFields) {
  EXPECT_EQ(with(12, 0x04030201u), ": big-endian; only little-endian files can be read");
  EXPECT_EQ(with(12, 7u), ": endian tag 7 is unknown; only 16909060 can be read");
  EXPECT_EQ(with(8, 4u), ": version 4 is unknown; only 1, 2 and 3 can be read");
  EXPECT_EQ(with(8, 3u), ": header size 144 is unknown; only 160 can be read");
  EXPECT_EQ(with(8, 2u),
            ": 312 bytes, but its header describes 2 systems of 3 bodies, which take 318");
  EXPECT_EQ(with(16, 2u), ": float size 2 is unknown; only 4 and 8 can be read");
  EXPECT_EQ(with(16, 8u),
            ": 312 bytes, but its header describes 2 systems of 3 bodies, which take 480");
  EXPECT_EQ(with(20, 145u), ": header size 145 is unknown; only 144 can be read");
  EXPECT_EQ(with(72, 2u), ": integrator 2 is unknown; only 0 (Euler) and 1 (leapfrog) can be read");
  EXPECT_EQ(with(76, 2u), ": staggered is 2; it must be 0 or 1");
  EXPECT_EQ(with(40, std::int64_t{-1}), ": step -1 is negative");
  EXPECT_EQ(with(48, 2.0), ": G is 2; only units where G = 1 can be read");
  EXPECT_EQ(with(56, -1.0), ": the softening is negative");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with(32, nan), ": time in the header is not a finite number");
  EXPECT_EQ(with(56, nan), ": softening in the header is not a finite number");
  EXPECT_EQ(with(64, 1 / 0.0), ": dt in the header is not a finite number");
}

TEST_F(BadBin, Texts) {
  std::string full = bytes_;
  full.replace(80, 32, 32, 'a');
  EXPECT_EQ(message(full), ": scenario is 32 bytes long; at most 31 can be kept");
  std::string two_lines = bytes_;
  two_lines.replace(112, 3, "a\nb");
  EXPECT_EQ(message(two_lines), ": units holds a control character; it must be one line of text");
}

TEST_F(BadBin, CountsThatLie) {
  EXPECT_EQ(with(24, 0u), ": its header describes 0 systems of 3 bodies");
  EXPECT_EQ(with(28, 0u), ": its header describes 2 systems of 0 bodies");
  // 2^31 bodies take 60 GB, so the reader must reject the file after reading only the header.
  EXPECT_EQ(with(28, 0x40000000u),
            ": its header describes 2 systems of 1073741824 bodies; at most 2147483647 bodies are "
            "possible");
  EXPECT_EQ(with(28, 0x3fffffffu),
            ": 312 bytes, but its header describes 2 systems of 1073741823 bodies, which take "
            "60129542232");
  // In 64 bits, the size of 2^32 systems of 2^32 bodies, 28 bytes each, would wrap around to a
  // small number.
  std::string both = bytes_;
  both.replace(24, 8, 8, '\xff');
  EXPECT_EQ(message(both),
            ": its header describes 4294967295 systems of 4294967295 bodies; at most 2147483647 "
            "bodies are possible");
  // In 32 bits, the product 2^15 * 2^17 = 2^32 would wrap around to 0.
  std::string wraps = bytes_;
  const std::uint32_t counts[] = {1u << 15, 1u << 17};
  std::memcpy(wraps.data() + 24, counts, 8);
  EXPECT_TRUE(says(message(wraps), "at most 2147483647"));
}

// The file is sparse: a terabyte without data. A reader that checked the size after reading would
// run out of memory.
TEST_F(BadBin, TheSizeIsCheckedBeforeTheRestIsRead) {
  const auto file = folder.with("holes.bin", bytes_);
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);
  EXPECT_EQ(refusal(file), file.string() +
                               ": 1099511627776 bytes, but its header describes 2 systems of 3 "
                               "bodies, which take 312");
}

TEST_F(BadBin, Bodies) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const char* rule = "; every value must be a finite number";
  const char* names[] = {"x", "y", "z", "vx", "vy", "vz", "mass"};
  for (std::size_t k = 0; k < 7; ++k)
    EXPECT_EQ(with(144 + 4 * 28 + 4 * k, nan),
              ": body 4: " + std::string(names[k]) + " is nan" + rule);
  EXPECT_EQ(with(144 + 24, -1e-9f), ": body 0: mass is -1e-09; a mass must not be negative");
}

// Rounded to float32, this mass is zero.
TEST_F(BadBin, TinyNegativeMassInFloat64) {
  Snapshot snapshot{.systems = Systems(1, 1), .exact = {{0, 0, 0, 0, 0, 0, -1e-300}}};
  write_bodies(folder / "tiny.bin", snapshot);
  EXPECT_TRUE(says(refusal(folder / "tiny.bin", {.float64 = true}), "mass is -1e-300"));
}

// --- checkpoints ---

class BinCheckpoint : public WithFolder {
 protected:
  BinCheckpoint() {
    snapshot_.systems = Systems(1, 2);
    snapshot_.systems.bodies[1] = {1, 2, 3, 4, 5, 6, 7};
    snapshot_.species = {Species::star, Species::gas};
    snapshot_.checkpoint = {{"program", "step03_tiling"}, {"activity-map-counts", "0:3 9:1"}};
    write_bodies(folder / "c.bin", snapshot_);
    bytes_ = folder.content("c.bin");
  }
  Snapshot snapshot_;
  std::string bytes_;
};

// Checks the whole layout independently of the writer, and the checksum against zlib's known value.
TEST_F(BinCheckpoint, LayoutIsFixed) {
  using namespace std::string_literals;
  const std::string text = "activity-map-counts=0:3 9:1\nprogram=step03_tiling\n";
  EXPECT_EQ(bytes_.substr(8, 4), "\3\0\0\0"s);
  EXPECT_EQ(bytes_.substr(20, 4), "\xA0\0\0\0"s);
  EXPECT_EQ(bytes_.substr(144, 16),
            "\1\0\0\0"s + "\0\0\0\0"s + static_cast<char>(text.size()) + "\0\0\0\0\0\0\0"s);
  EXPECT_EQ(bytes_.substr(160 + 2 * 28, bytes_.size() - 160 - 2 * 28 - 4), "\4\0"s + text);
  Crc32 checksum;
  checksum.add("123456789");
  EXPECT_EQ(checksum.value(), 0xcbf43926u);  // the check value of CRC-32
}

TEST_F(BinCheckpoint, ComesBack) {
  const Snapshot read = read_bodies(folder / "c.bin");
  EXPECT_EQ(read.checkpoint, snapshot_.checkpoint);
  EXPECT_EQ(read.species, snapshot_.species);
  EXPECT_EQ(read.systems.bodies[1].mass, 7);
}

TEST_F(BinCheckpoint, NoBitOfItCanChange) {
  const auto said_of = [](std::string_view bytes) {
    return refusal_of([&] { formats::kBin.read("a.bin", bytes, {}); });
  };
  EXPECT_EQ(said_of(bytes_), "accepted");
  // Starts after the magic number, because a file with another magic number would not be read as
  // BIN.
  for (std::size_t i = 8; i < bytes_.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes_;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_NE(said_of(changed), "accepted") << "byte " << i << ", bit " << bit;
    }
  for (std::size_t size = 0; size < bytes_.size(); ++size)
    EXPECT_NE(said_of(bytes_.substr(0, size)), "accepted") << size;
}

}  // namespace
}  // namespace nbody
