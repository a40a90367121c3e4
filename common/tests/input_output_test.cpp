// Bodies to files and back, and every file that must be refused, with its message.
#include "nbody/input_output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <locale>
#include <random>
#include <thread>

#include "nbody/error.h"
#include "temporary_folder.h"

namespace nbody {
namespace {

std::string refusal(const std::filesystem::path& file, const ReadOptions& options = {}) {
  try {
    read_bodies(file, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

// Finite floats of every exponent, subnormal ones and both zeros included.
Systems random_bits(int count, int bodies, bool unit_masses = false) {
  std::mt19937 generator(17);
  Systems systems(count, bodies);
  const auto any = [&] {
    for (;;) {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(generator()));
      if (std::isfinite(value)) return value;
    }
  };
  for (Body& b : systems.bodies)
    b = {any(), any(), any(), any(), any(), any(), unit_masses ? 1.0f : std::abs(any())};
  systems.bodies[0].x = -0.0f;
  systems.bodies[0].y = std::numeric_limits<float>::denorm_min();
  systems.bodies[0].z = std::numeric_limits<float>::max();
  return systems;
}

void expect_same_bits(const Systems& a, const Systems& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.bodies_per_system, b.bodies_per_system);
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  EXPECT_EQ(std::memcmp(a.bodies.data(), b.bodies.data(), a.bodies.size() * sizeof(Body)), 0);
}

Snapshot full_snapshot() {
  Snapshot snapshot;
  snapshot.systems = random_bits(3, 50);
  snapshot.time = 0.1 + 0.2;  // needs all 17 digits
  snapshot.step = 1234567890123;
  snapshot.softening = 1.0 / 3;
  snapshot.dt = 1e-3 / 7;
  snapshot.integrator = Integrator::leapfrog;
  snapshot.staggered = true;
  snapshot.scenario = "thirty-one bytes, the most ever";
  snapshot.units = "AU, Msun, yr/2pi = G";
  return snapshot;
}

void expect_same(const Snapshot& a, const Snapshot& b) {
  expect_same_bits(a.systems, b.systems);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.softening, b.softening);
  EXPECT_EQ(a.dt, b.dt);
  EXPECT_EQ(a.integrator, b.integrator);
  EXPECT_EQ(a.staggered, b.staggered);
  EXPECT_EQ(a.scenario, b.scenario);
  EXPECT_EQ(a.units, b.units);
  EXPECT_EQ(a.names, b.names);
}

// --- round trips ---

TEST(RoundTrip, BinKeepsEveryBit) {
  const TemporaryFolder folder;
  const Snapshot written = full_snapshot();
  write_bodies(folder / "a.bin", written);
  EXPECT_EQ(folder.content("a.bin").size(), 144u + 150u * 28u);
  expect_same(read_bodies(folder / "a.bin"), written);
}

TEST(RoundTrip, CsvKeepsEveryBit) {
  const TemporaryFolder folder;
  const Snapshot written = full_snapshot();
  write_bodies(folder / "a.csv", written);
  expect_same(read_bodies(folder / "a.csv"), written);
}

TEST(RoundTrip, CsvKeepsNames) {
  const TemporaryFolder folder;
  Snapshot written = full_snapshot();
  written.systems = random_bits(2, 3);
  written.names = {"Sun", "Moon and Earth", "Sedna \xC3\xA9"};
  write_bodies(folder / "a.csv", written);
  expect_same(read_bodies(folder / "a.csv"), written);
}

TEST(RoundTrip, RawKeepsEveryBit) {
  const TemporaryFolder folder;
  Snapshot written;
  written.systems = random_bits(2, 40, true);
  write_bodies(folder / "a.raw", written);
  EXPECT_EQ(folder.content("a.raw").size(), 80u * 24u);
  expect_same(read_bodies(folder / "a.raw", {.systems = 2, .bodies = {}}), written);
}

TEST(RoundTrip, DefaultsSurvive) {
  const TemporaryFolder folder;
  Snapshot written;
  written.systems = random_bits(1, 1);
  for (const char* name : {"a.bin", "a.csv"}) {
    write_bodies(folder / name, written);
    expect_same(read_bodies(folder / name), written);
  }
}

struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(RoundTrip, CsvIgnoresTheLocale) {
  const TemporaryFolder folder;
  const Snapshot written = full_snapshot();
  write_bodies(folder / "classic.csv", written);
  const std::string before_c = std::setlocale(LC_ALL, nullptr);
  // The locale of C is changed where one with a comma is installed, that of C++ always.
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8"})
    if (std::setlocale(LC_ALL, locale) != nullptr) break;
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new DecimalComma));
  write_bodies(folder / "comma.csv", written);
  const Snapshot read = read_bodies(folder / "classic.csv");
  std::locale::global(before);
  std::setlocale(LC_ALL, before_c.c_str());
  EXPECT_EQ(folder.content("comma.csv"), folder.content("classic.csv"));
  expect_same(read, written);
}

// The layout is a promise to other programs: spelled out byte by byte, not by our own reader.
TEST(Bin, LayoutIsFixed) {
  const TemporaryFolder folder;
  Snapshot snapshot;
  snapshot.systems = Systems(1, 1);
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

// --- BIN that must be refused ---

class BadBin : public testing::Test {
 protected:
  BadBin() {
    Snapshot snapshot;
    snapshot.systems = Systems(2, 3);
    write_bodies(folder_ / "good.bin", snapshot);
    bytes_ = folder_.content("good.bin");
  }

  template <typename T>
  std::string with(std::size_t offset, T value) {
    std::string changed = bytes_;
    std::memcpy(changed.data() + offset, &value, sizeof(value));  // tests run on x86 and ARM
    return message(changed);
  }
  std::string message(std::string_view content) {
    const std::string path = folder_.with("bad.bin", content).string();
    const std::string text = refusal(path);
    // Every message begins with the file; without the folder, it can be compared.
    EXPECT_TRUE(text.starts_with(path)) << text;
    return text.starts_with(path) ? text.substr(path.size()) : text;
  }

  TemporaryFolder folder_;
  std::string bytes_;
};

TEST_F(BadBin, TheGoodOneIsAccepted) { EXPECT_EQ(refusal(folder_ / "good.bin"), "accepted"); }

TEST_F(BadBin, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < bytes_.size(); ++size)
    EXPECT_NE(refusal(folder_.with("cut.bin", bytes_.substr(0, size))), "accepted") << size;
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
  EXPECT_EQ(with(8, 2u), ": version 2 is unknown; only 1 can be read");
  EXPECT_EQ(with(16, 8u), ": float size 8 is unknown; only 4 can be read");
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
  // 2^31 bodies take 60 GB: must be refused from the header alone.
  EXPECT_EQ(with(28, 0x40000000u),
            ": its header describes 2 systems of 1073741824 bodies; at most 2147483647 bodies are "
            "possible");
  EXPECT_EQ(with(28, 0x3fffffffu),
            ": 312 bytes, but its header describes 2 systems of 1073741823 bodies, which take "
            "60129542232");
  // 2^32 systems * 2^32 bodies * 28 would wrap around to a small size.
  std::string both = bytes_;
  both.replace(24, 8, 8, '\xff');
  EXPECT_EQ(message(both),
            ": its header describes 4294967295 systems of 4294967295 bodies; at most 2147483647 "
            "bodies are possible");
  // 2^15 * 2^17 = 2^32, which a 32-bit product would take for 0.
  std::string wraps = bytes_;
  const std::uint32_t counts[] = {1u << 15, 1u << 17};
  std::memcpy(wraps.data() + 24, counts, 8);
  EXPECT_NE(message(wraps).find("at most 2147483647"), std::string::npos);
}

// Read first and checked later, a terabyte of holes would not fit into memory.
TEST_F(BadBin, TheSizeIsCheckedBeforeTheRestIsRead) {
  const auto file = folder_.with("holes.bin", bytes_);
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

// --- raw ---

TEST(Raw, IsReadFieldByField) {
  const TemporaryFolder folder;
  using namespace std::string_literals;
  const auto file = folder.with("course",
                                "\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40"s
                                "\0\0\x80\x40\0\0\xA0\x40\0\0\xC0\x40"s);
  const Body body = read_bodies(file).systems.bodies.at(0);
  EXPECT_EQ(body.x, 1);
  EXPECT_EQ(body.y, 2);
  EXPECT_EQ(body.z, 3);
  EXPECT_EQ(body.vx, 4);
  EXPECT_EQ(body.vy, 5);
  EXPECT_EQ(body.vz, 6);
  EXPECT_EQ(body.mass, 1);
}

TEST(Raw, RefusesOddSizesAndOddValues) {
  const TemporaryFolder folder;
  const auto odd = folder.with("odd", std::string(25, '\0'));
  EXPECT_EQ(refusal(odd),
            odd.string() +
                ": not BIN (it does not begin with NBODYBIN), not CSV (it is not text) and not raw "
                "(25 bytes are not a multiple of the 24 of a body)");
  const auto nan = folder.with("nan", std::string(24, '\0') + std::string(24, '\xff'));
  EXPECT_NE(refusal(nan).find(": body 1: x is "), std::string::npos) << refusal(nan);
}

TEST(Raw, HoldsOnlyUnitMasses) {
  const TemporaryFolder folder;
  Snapshot snapshot;
  snapshot.systems = random_bits(1, 3, true);
  snapshot.systems.bodies[2].mass = std::nextafter(1.0f, 0.0f);
  try {
    write_bodies(folder / "a.raw", snapshot);
    FAIL() << "written without its masses";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("body 2 has mass 0.99999994;"), std::string::npos);
  }
  EXPECT_EQ(folder.files(), 0);
}

// --- S systems of N bodies ---

TEST(Cut, ForeignFiles) {
  const TemporaryFolder folder;
  const auto file = folder.with("a.raw", std::string(24 * 12, '\0'));
  const auto shape = [&](const ReadOptions& options) {
    const Systems systems = read_bodies(file, options).systems;
    return std::to_string(systems.count) + "x" + std::to_string(systems.bodies_per_system);
  };
  EXPECT_EQ(shape({}), "1x12");
  EXPECT_EQ(shape({.systems = 3, .bodies = {}}), "3x4");
  EXPECT_EQ(shape({.systems = {}, .bodies = 2}), "6x2");
  EXPECT_EQ(shape({.systems = 4, .bodies = 3}), "4x3");
  const std::string holds = file.string() + " holds 12 bodies, ";
  EXPECT_EQ(refusal(file, {.systems = 5, .bodies = {}}),
            holds + "which cannot be cut into 5 systems of one size");
  EXPECT_EQ(refusal(file, {.systems = {}, .bodies = 24}),
            holds + "which cannot be cut into systems of 24");
  EXPECT_EQ(refusal(file, {.systems = 4, .bodies = 4}), holds + "not 4 systems of 4");
  // (2^30 + 1) * 12 is 12 in 32 bits.
  EXPECT_EQ(refusal(file, {.systems = 1073741825, .bodies = 12}),
            holds + "not 1073741825 systems of 12");
  EXPECT_EQ(refusal(file, {.systems = 0, .bodies = {}}),
            "the numbers of systems and of bodies must be at least 1");
}

TEST(Cut, FilesThatKnow) {
  const TemporaryFolder folder;
  Snapshot snapshot;
  snapshot.systems = random_bits(2, 3);
  for (const char* name : {"a.bin", "a.csv"}) {
    write_bodies(folder / name, snapshot);
    const std::string holds = (folder / name).string() + " holds 2 systems of 3 bodies, not ";
    EXPECT_EQ(refusal(folder / name, {.systems = 2, .bodies = 3}), "accepted");
    EXPECT_EQ(refusal(folder / name, {.systems = 3, .bodies = 2}), holds + "3 of 2");
    EXPECT_EQ(refusal(folder / name, {.systems = {}, .bodies = 6}), holds + "2 of 6");
  }
}

// --- what is not a file of bodies ---

TEST(Read, NamesWhatItCannotRead) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  EXPECT_EQ(refusal(folder / "none"), path + "/none cannot be opened: No such file or directory");
  EXPECT_EQ(refusal(folder.path()), path + " is a folder, not a file of bodies");
  EXPECT_EQ(refusal(folder.with("empty", "")), path + "/empty is empty");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero is a device; bodies are read from a file or a pipe");
  if (geteuid() == 0) return;  // root reads everything
  chmod(folder.with("locked", "x").c_str(), 0);
  EXPECT_EQ(refusal(folder / "locked"), path + "/locked cannot be opened: Permission denied");
}

TEST(Read, TakesAPipe) {
  const TemporaryFolder folder;
  const Snapshot written = full_snapshot();
  for (const char* name : {"a.bin", "a.csv"}) {
    write_bodies(folder / name, written);
    const auto pipe = folder / (std::string(name) + ".pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << folder.content(name); });
    expect_same(read_bodies(pipe), written);
    writer.join();
  }
}

// --- writing ---

TEST(Write, NeedsAKnownEnding) {
  EXPECT_EQ(format_for_writing("a.csv"), FileFormat::csv);
  EXPECT_EQ(format_for_writing("b.c/a.bin"), FileFormat::bin);
  EXPECT_EQ(format_for_writing("a.raw"), FileFormat::raw);
  EXPECT_THROW(format_for_writing("a.txt"), UsageError);
  EXPECT_THROW(format_for_writing("csv"), UsageError);
}

TEST(Write, RefusesASnapshotThatContradictsItself) {
  const TemporaryFolder folder;
  Snapshot snapshot;
  EXPECT_THROW(write_bodies(folder / "a.bin", snapshot), std::invalid_argument);
  snapshot.systems = Systems(1, 2);
  snapshot.names = {"one"};
  EXPECT_THROW(write_bodies(folder / "a.csv", snapshot), std::invalid_argument);
  snapshot.names.clear();
  snapshot.systems.bodies.pop_back();
  EXPECT_THROW(write_bodies(folder / "a.bin", snapshot), std::invalid_argument);
  EXPECT_EQ(folder.files(), 0);
}

TEST(Write, RefusesTextsThatWouldNotComeBack) {
  const TemporaryFolder folder;
  Snapshot snapshot;
  snapshot.systems = Systems(1, 1);
  for (const char* text : {"thirty-two bytes, one too many..", "two\nlines", " space"}) {
    snapshot.units = text;
    EXPECT_THROW(write_bodies(folder / "a.csv", snapshot), UsageError) << text;
    EXPECT_THROW(write_bodies(folder / "a.bin", snapshot), UsageError) << text;
  }
  snapshot.units.clear();
  for (const char* name : {"a,b", "a\nb", "#a", " a"}) {
    snapshot.names = {name};
    EXPECT_THROW(write_bodies(folder / "a.csv", snapshot), UsageError) << name;
  }
  EXPECT_EQ(folder.files(), 0);
}

}  // namespace
}  // namespace nbody
