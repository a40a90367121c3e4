// Tests that bodies are the same after writing and reading, and that each invalid file is rejected
// with its message.
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

#include "io/snapshot_file.h"
#include "io/tests/refusal.h"
#include "nbody/error.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

struct Raw : WithFolder {};
struct Cut : WithFolder {};
struct Read : WithFolder {};
struct Write : WithFolder {};
struct Float64 : WithFolder {};

// Returns finite floats of every exponent, including subnormal ones and both zeros.
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
  Snapshot snapshot{.systems = random_bits(3, 50)};
  snapshot.time = 0.1 + 0.2;  // needs all 17 digits
  snapshot.step = 1234567890123;
  snapshot.softening = 1.0 / 3;
  snapshot.dt = 1e-3 / 7;
  snapshot.integrator = Integrator::leapfrog;
  snapshot.staggered = true;
  snapshot.scenario = "thirty-one bytes, the most ever";
  snapshot.units = "AU, Msun, yr/2pi = G";
  for (std::size_t i = 0; i < 150; ++i) snapshot.species.push_back(static_cast<Species>(i % 6));
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
  EXPECT_EQ(a.species, b.species);
}

// --- round trips ---

struct RoundTrip : WithFolder {
  void expect_it_back(const Snapshot& written, const char* name,
                      const ReadOptions& options = {}) const {
    write_bodies(folder / name, written);
    expect_same(read_bodies(folder / name, options), written);
  }
};

TEST_F(RoundTrip, BinKeepsEveryBit) {
  expect_it_back(full_snapshot(), "a.bin");
  EXPECT_EQ(folder.content("a.bin").size(), 144u + 150u * (28u + 1u));
}

TEST_F(RoundTrip, CsvKeepsEveryBit) { expect_it_back(full_snapshot(), "a.csv"); }

TEST_F(RoundTrip, CsvKeepsNames) {
  Snapshot written = full_snapshot();
  written.systems = random_bits(2, 3);
  written.species.resize(6);
  written.names = {"Sun", "Moon and Earth", "Sedna \xC3\xA9"};
  expect_it_back(written, "a.csv");
}

TEST_F(RoundTrip, RawKeepsEveryBit) {
  expect_it_back({.systems = random_bits(2, 40, true)}, "a.raw", {.systems = 2, .bodies = {}});
  EXPECT_EQ(folder.content("a.raw").size(), 80u * 24u);
}

TEST_F(RoundTrip, AStaggeredStateStaysOneOrIsNotWritten) {
  Snapshot staggered{.systems = random_bits(1, 2, true)};
  staggered.staggered = true;
  for (const FileFormat& format : basic_formats()) {
    if (format.write == nullptr) continue;
    const auto file = folder / ("a." + std::string(format.name));
    // A run that resumes from this state may write the file, because its final state is not
    // staggered.
    require_can_write(file, staggered, format);
    if (format.keeps.run) {
      write_bodies(file, staggered, format);
      EXPECT_TRUE(read_bodies(file).staggered) << format.name;
    } else {
      EXPECT_EQ(refusal_of([&] { write_bodies(file, staggered, format); }),
                file.string() +
                    ": positions and velocities of a leapfrog checkpoint are half a step apart, "
                    "which the format " +
                    std::string(format.name) + " cannot represent: write .bin or .csv");
    }
  }
  EXPECT_EQ(folder.files(), 2);  // .bin and .csv
}

TEST_F(RoundTrip, DefaultsSurvive) {
  for (const char* name : {"a.bin", "a.csv"}) expect_it_back({.systems = random_bits(1, 1)}, name);
}

struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_F(RoundTrip, CsvIgnoresTheLocale) {
  const Snapshot written = full_snapshot();
  write_bodies(folder / "classic.csv", written);
  const std::string before_c = std::setlocale(LC_ALL, nullptr);
  // Sets the C locale to a locale with a decimal comma, if such a locale is installed, and always
  // gives the C++ locale a decimal comma.
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

// --- raw ---

TEST_F(Raw, IsReadFieldByField) {
  using namespace std::string_literals;
  const auto file = folder.with("course",
                                "\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40"s
                                "\0\0\x80\x40\0\0\xA0\x40\0\0\xC0\x40"s);
  const Body body = read_bodies(file).systems.bodies.at(0);
  EXPECT_EQ(values_of(body), (Values{1, 2, 3, 4, 5, 6, 1}));
}

TEST_F(Raw, RefusesOddSizesAndOddValues) {
  const auto odd = folder.with("odd", std::string(25, '\0'));
  EXPECT_EQ(refusal(odd),
            odd.string() +
                ": not BIN (it does not begin with NBODYBIN), not HDF5 (it lacks the signature), "
                "not Gadget (no header of 256 bytes), "
                "not Tipsy (bytes 12 to 15 are not 1, 2 or 3), not CSV (it is not text) and not "
                "raw (25 bytes are not a multiple of 24, the size of a body)");
  const auto nan = folder.with("nan", std::string(24, '\0') + std::string(24, '\xff'));
  EXPECT_TRUE(says(refusal(nan), ": body 1: x is "));
}

TEST_F(Raw, HoldsOnlyUnitMasses) {
  Snapshot snapshot{.systems = random_bits(1, 3, true)};
  snapshot.systems.bodies[2].mass = std::nextafter(1.0f, 0.0f);
  EXPECT_TRUE(says(refusal_of([&] { write_bodies(folder / "a.raw", snapshot); }),
                   "body 2 has mass 0.99999994;"));
  EXPECT_EQ(folder.files(), 0);
}

// --- S systems of N bodies ---

TEST_F(Cut, ForeignFiles) {
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
            holds + "which cannot be divided into 5 systems of equal size");
  EXPECT_EQ(refusal(file, {.systems = {}, .bodies = 24}),
            holds + "which cannot be divided into systems of 24");
  EXPECT_EQ(refusal(file, {.systems = 4, .bodies = 4}), holds + "not 4 systems of 4");
  // In 32 bits, (2^30 + 1) * 12 wraps around to 12.
  EXPECT_EQ(refusal(file, {.systems = 1073741825, .bodies = 12}),
            holds + "not 1073741825 systems of 12");
  EXPECT_EQ(refusal(file, {.systems = 0, .bodies = {}}),
            "the numbers of systems and of bodies must be at least 1");
}

TEST_F(Cut, FilesThatKnow) {
  Snapshot snapshot{.systems = random_bits(2, 3)};
  for (const char* name : {"a.bin", "a.csv"}) {
    write_bodies(folder / name, snapshot);
    const std::string holds = (folder / name).string() + " holds 2 systems of 3 bodies, not ";
    EXPECT_EQ(refusal(folder / name, {.systems = 2, .bodies = 3}), "accepted");
    EXPECT_EQ(refusal(folder / name, {.systems = 3, .bodies = 2}), holds + "3 of 2");
    EXPECT_EQ(refusal(folder / name, {.systems = {}, .bodies = 6}), holds + "2 of 6");
  }
}

// --- files that do not hold bodies ---

TEST_F(Read, NamesWhatItCannotRead) {
  const std::string path = folder.path().string();
  EXPECT_EQ(refusal(folder / "none"), path + "/none cannot be opened: No such file or directory");
  EXPECT_EQ(refusal(folder.path()), path + " is a folder, not a file of bodies");
  EXPECT_EQ(refusal(folder.with("empty", "")), path + "/empty is empty");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero is a device; bodies are read from a file or a pipe");
  if (geteuid() == 0) return;  // root may read everything
  chmod(folder.with("locked", "x").c_str(), 0);
  EXPECT_EQ(refusal(folder / "locked"), path + "/locked cannot be opened: Permission denied");
}

TEST_F(Read, TakesAPipe) {
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

TEST_F(Write, NeedsAKnownEnding) {
  EXPECT_EQ(format_for_writing("a.csv").name, "csv");
  EXPECT_EQ(format_for_writing("b.c/a.bin").name, "bin");
  EXPECT_EQ(format_for_writing("a.raw").name, "raw");
  EXPECT_EQ(format_for_writing("a.tipsy").name, "tipsy");
  EXPECT_EQ(format_for_writing("a.hdf5").name, "gadget");
  EXPECT_THROW(format_for_writing("a.txt"), UsageError);
  EXPECT_THROW(format_for_writing("csv"), UsageError);
}

TEST_F(Write, RefusesASnapshotThatContradictsItself) {
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

TEST_F(Write, RefusesTextsThatWouldNotComeBack) {
  Snapshot snapshot{.systems = Systems(1, 1)};
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

// A float64 needs 17 digits in CSV, or 8 bytes in BIN. Programs that compute in float32 read the
// same file and round the values.
TEST_F(Float64, ComesBackBitForBit) {
  Snapshot snapshot{.systems = Systems(2, 3)};
  for (std::size_t i = 0; i < 6; ++i) {
    const double x = 1.0 / (3.0 + static_cast<double>(i));
    snapshot.exact.push_back({x, -x * 1e-5, x * 1e5, x / 7, x * x, std::sqrt(x), x});
    snapshot.systems.bodies[i] = rounded(snapshot.exact.back());
  }
  for (const char* name : {"a.csv", "a.bin"}) {
    SCOPED_TRACE(name);
    write_bodies(folder / name, snapshot);
    const Snapshot wide = read_bodies(folder / name, {.float64 = true});
    ASSERT_EQ(wide.exact.size(), 6u);
    EXPECT_EQ(std::memcmp(wide.exact.data(), snapshot.exact.data(), 6 * sizeof(BodyF64)), 0);
    expect_same_bits(wide.systems, snapshot.systems);
    const Snapshot narrow = read_bodies(folder / name);
    EXPECT_TRUE(narrow.exact.empty());
    expect_same_bits(narrow.systems, snapshot.systems);
  }
}

TEST_F(Float64, AFloat32FileIsWidened) {
  Snapshot snapshot{.systems = Systems(1, 1)};
  snapshot.systems.bodies[0] = {0.1f, 2, 3, 4, 5, 6, 7};
  write_bodies(folder / "a.bin", snapshot);
  const Snapshot read = read_bodies(folder / "a.bin", {.float64 = true});
  ASSERT_EQ(read.exact.size(), 1u);
  EXPECT_EQ(read.exact[0].x, double{0.1f});
}

}  // namespace
}  // namespace nbody
