// Tests Tipsy files: the layout, both byte orders, both headers, the units file next to them, and
// the messages for invalid files.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "io/formats/formats.h"
#include "io/tests/refusal.h"
#include "nbody/error.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

struct Tipsy : WithFolder {};
struct TipsyParam : WithFolder {};

// Builds a file's bytes without the library: copies the bytes of each number, in reverse order if
// the byte order requires it.
class Bytes {
 public:
  explicit Bytes(std::endian order) : order_(order) {}
  template <typename T>
  Bytes& add(std::initializer_list<T> values) {
    for (const T value : values) {
      std::string bytes(sizeof(T), '\0');
      std::memcpy(bytes.data(), &value, sizeof(T));
      if (order_ != std::endian::native) std::reverse(bytes.begin(), bytes.end());
      text_ += bytes;
    }
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::endian order_;
  std::string text_;
};

// Builds a file of one gas, two dark and one star body.
std::string four_bodies(std::endian order, bool pad = true) {
  Bytes bytes(order);
  bytes.add<double>({0.25}).add<std::int32_t>({4, 3, 1, 2, 1});
  if (pad) bytes.add<std::uint32_t>({0xdeadbeef});  // the pad may hold anything
  bytes.add<float>({1, 2, 3, 4, 5, 6, 7, 80, 81, 82, 83, 84});
  bytes.add<float>({11, 12, 13, 14, 15, 16, 17, 0.5f, 85});
  bytes.add<float>({21, 22, 23, 24, 25, 26, 27, 0.5f, 85});
  bytes.add<float>({31, 32, 33, 34, 35, 36, 37, 86, 87, 0.5f, 88});
  return bytes.text();
}

void expect_the_four(const Snapshot& read) {
  EXPECT_EQ(read.time, 0.25);
  EXPECT_EQ(read.softening, 0.5);
  EXPECT_EQ(read.species,
            (std::vector<Species>{Species::gas, Species::dark, Species::dark, Species::star}));
  ASSERT_EQ(read.systems.bodies.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    const float tens = static_cast<float>(10 * i);
    EXPECT_EQ(values_of(read.systems.bodies[static_cast<std::size_t>(i)]),
              (Values{tens + 2, tens + 3, tens + 4, tens + 5, tens + 6, tens + 7, tens + 1}));
  }
}

TEST_F(Tipsy, BothByteOrdersAndBothHeadersReadAlike) {
  for (const std::endian order : {std::endian::big, std::endian::little})
    for (const bool pad : {true, false}) {
      SCOPED_TRACE(std::string(order == std::endian::big ? "big" : "little") +
                   (pad ? " 32" : " 28"));
      // The content of a file, not its name, decides its format.
      expect_the_four(read_bodies(folder.with("galaxy.csv", four_bodies(order, pad))));
    }
}

TEST_F(Tipsy, IsWrittenAsTheFormatSays) {
  Snapshot snapshot = read_bodies(folder.with("in", four_bodies(std::endian::big)));
  write_bodies(folder / "big.tipsy", snapshot);
  write_bodies(folder / "little.tipsy", snapshot, formats::kTipsyLittle);
  for (const std::endian order : {std::endian::big, std::endian::little}) {
    Bytes bytes(order);
    bytes.add<double>({0.25}).add<std::int32_t>({4, 3, 1, 2, 1, 0});
    bytes.add<float>({1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0});
    bytes.add<float>({11, 12, 13, 14, 15, 16, 17, 0.5f, 0});
    bytes.add<float>({21, 22, 23, 24, 25, 26, 27, 0.5f, 0});
    bytes.add<float>({31, 32, 33, 34, 35, 36, 37, 0, 0, 0.5f, 0});
    EXPECT_EQ(folder.content(order == std::endian::big ? "big.tipsy" : "little.tipsy"),
              bytes.text());
  }
}

TEST_F(Tipsy, SpeciesAndUnitsSurviveTheOtherFormats) {
  Snapshot snapshot = read_bodies(folder.with("in", four_bodies(std::endian::little)));
  snapshot.units = "kpc-100kms";
  snapshot.softening = 0.1;  // not exact in float32, so the .param file must store it
  snapshot.dt = 1.0 / 3;
  write_bodies(folder / "a.tipsy", snapshot);
  write_bodies(folder / "b.csv", read_bodies(folder / "a.tipsy"));
  write_bodies(folder / "c.bin", read_bodies(folder / "b.csv"));
  write_bodies(folder / "d.tipsy", read_bodies(folder / "c.bin"));
  EXPECT_EQ(folder.content("a.tipsy"), folder.content("d.tipsy"));
  EXPECT_EQ(folder.content("a.param"), folder.content("d.param"));
  const Snapshot read = read_bodies(folder / "d.tipsy");
  EXPECT_EQ(read.species, snapshot.species);
  EXPECT_EQ(read.units, "kpc-100kms");
  EXPECT_EQ(read.softening, 0.1);
  EXPECT_EQ(read.dt, 1.0 / 3);
}

TEST_F(Tipsy, SortsBodiesBySpecies) {
  Snapshot snapshot{.systems = Systems(1, 5)};
  for (std::size_t i = 0; i < 5; ++i) snapshot.systems.bodies[i].x = static_cast<float>(i);
  snapshot.species = {Species::star, Species::disk, Species::gas, Species::dark, Species::bulge};
  write_bodies(folder / "a.tipsy", snapshot);
  const Snapshot read = read_bodies(folder / "a.tipsy");
  EXPECT_EQ(read.species, (std::vector<Species>{Species::gas, Species::dark, Species::star,
                                                Species::star, Species::star}));
  std::vector<float> x;
  for (const Body& body : read.systems.bodies) x.push_back(body.x);
  EXPECT_EQ(x, (std::vector<float>{2, 3, 0, 1, 4}));
  EXPECT_EQ(what_is_lost(snapshot, formats::kTipsy),
            (std::vector<std::string>{"the order of the bodies: they are sorted by species",
                                      "the species disk, bulge and boundary: they become star"}));
  EXPECT_TRUE(what_is_lost(read, formats::kTipsy).empty());
}

TEST_F(Tipsy, BodiesThatDifferInSofteningHaveNone) {
  std::string bytes = four_bodies(std::endian::little);
  const float other = 0.75f;
  std::memcpy(bytes.data() + 32 + 48 + 28, &other, 4);  // eps of the first dark body
  EXPECT_EQ(read_bodies(folder.with("a", bytes)).softening, 0);
}

// --- a choice of species ---

TEST(Species, AreChosenAndRefusedByName) {
  const TemporaryFolder folder;
  const auto file = folder.with("a", four_bodies(std::endian::big));
  const auto chosen = [&](std::vector<Species> species) {
    return read_bodies(file, {.species = std::move(species)});
  };
  const Snapshot some = chosen({Species::star, Species::dark});
  EXPECT_EQ(some.species, (std::vector<Species>{Species::dark, Species::dark, Species::star}));
  EXPECT_EQ(some.systems.bodies_per_system, 3);
  EXPECT_EQ(some.systems.bodies[2].mass, 31);
  EXPECT_EQ(refusal(file, {.species = {Species::dark, Species::disk}}),
            file.string() + " has no body of the species disk; it has gas, dark, star");
  // The bodies are divided into systems after the species are selected.
  EXPECT_EQ(read_bodies(file, {.systems = 2, .species = {Species::dark}}).systems.count, 2);
  EXPECT_EQ(
      refusal(file, {.systems = 2, .species = {Species::gas}}),
      file.string() + " holds 1 bodies, which cannot be divided into 2 systems of equal size");
  const auto plain = folder.with("a.csv", "x,y,vx,vy\n0,0,0,0\n");
  EXPECT_TRUE(says(refusal(plain, {.species = {Species::dark}}), "does not say the species"));
}

TEST(Species, OfSystemsMustLeaveSystemsOfOneSize) {
  const TemporaryFolder folder;
  const auto good = folder.with("good.csv",
                                "# systems=2\nname,species,x,y,vx,vy\na,dark,0,0,0,0\n"
                                "b,star,1,0,0,0\na,dark,2,0,0,0\nb,star,3,0,0,0\n");
  const Snapshot stars = read_bodies(good, {.species = {Species::star}});
  EXPECT_EQ(stars.systems.count, 2);
  EXPECT_EQ(stars.systems.bodies_per_system, 1);
  EXPECT_EQ(stars.systems.bodies[1].x, 3);
  EXPECT_EQ(stars.names, std::vector<std::string>{"b"});
  const auto bad = folder.with("bad.csv",
                               "# systems=2\nspecies,x,y,vx,vy\ndark,0,0,0,0\n"
                               "dark,0,0,0,0\nstar,0,0,0,0\nstar,0,0,0,0\n");
  EXPECT_TRUE(says(refusal(bad, {.species = {Species::star}}), "different numbers of bodies"));
}

TEST(Species, ListsAreWholeWords) {
  EXPECT_EQ(parse_species("--species", "dark,star"),
            (std::vector<Species>{Species::dark, Species::star}));
  for (const char* list : {"", "dark,", "Dark", "dark star", "dark,dark", "stars"})
    EXPECT_THROW(parse_species("--species", list), UsageError) << list;
}

// --- units, in the .param file next to a Tipsy file ---

TEST_F(TipsyParam, GivesUnits) {
  const auto file = folder.with("run.00010", four_bodies(std::endian::big));
  const auto units = [&](const char* param) {
    folder.with("run.param", param);
    return read_bodies(file).units;
  };
  EXPECT_EQ(units("dKpcUnit = 1\ndMsolUnit\t= 1 # solar\nnSteps = 5\nachIn = \"x\"\n"), "kpc-msun");
  EXPECT_EQ(units("dMsolUnit=2.32503e9\ndKpcUnit=1\n"), "1 kpc, 2325030000 Msun");
  EXPECT_EQ(units("# units = henon\nbComove = 0\n"), "henon");
  EXPECT_EQ(units("# my galaxy\n\n"), "");
  folder.with("run.param", "dDelta = 0.125\ndSoft = 0.0625\n");
  EXPECT_EQ(read_bodies(file).dt, 0.125);
  EXPECT_EQ(read_bodies(file).softening, 0.0625);
}

TEST_F(TipsyParam, RefusesWhatItCannotVouchFor) {
  const auto file = folder.with("a.tipsy", four_bodies(std::endian::big));
  const auto message = [&](std::string_view param) {
    const std::string where = folder.with("a.param", param).string();
    const std::string text = refusal(file);
    EXPECT_TRUE(text.starts_with(where)) << text;
    return text.substr(std::min(text.size(), where.size()));
  };
  EXPECT_EQ(message("bComove = 1\n"),
            ": bComove is not 0; cosmological simulations cannot be read");
  EXPECT_EQ(message("dKpcUnit = 1\n"),
            ": dKpcUnit and dMsolUnit must be given together: one of them is missing");
  for (const char* value : {"", "one", "0", "-1", "nan", "inf", "1e999", "1e100", "1 2"})
    EXPECT_TRUE(says(message(std::string("dMsolUnit = 1\ndKpcUnit = ") + value), "dKpcUnit is"));
  EXPECT_TRUE(says(message("what is this"), "not of the form key = value"));
  EXPECT_TRUE(says(message(std::string(3 << 20, '#')), "1 MB"));
}

TEST_F(TipsyParam, ReplacesOnlyItsOwn) {
  const std::string theirs = "dKpcUnit = 5\n";
  folder.with("a.param", theirs);
  Snapshot snapshot{.systems = Systems(1, 1)};
  EXPECT_THROW(write_bodies(folder / "a.tipsy", snapshot), UsageError);
  EXPECT_THROW(require_can_write(folder / "a.tipsy", snapshot, formats::kTipsy), UsageError);
  EXPECT_THROW(write_bodies(folder / "b.param", snapshot, formats::kTipsy), UsageError);
  EXPECT_EQ(folder.files(), 1);
  EXPECT_EQ(folder.content("a.param"), theirs);
  for (const char* units : {"henon", "kpc-msun"}) {
    snapshot.units = units;
    write_bodies(folder / "b.tipsy", snapshot);
    EXPECT_EQ(read_bodies(folder / "b.tipsy").units, units);
  }
}

TEST_F(TipsyParam, RefusesUnitsThatWouldNotComeBack) {
  Snapshot snapshot{.systems = Systems(1, 1)};
  for (const char* units : {"a\nb", "henon\ndSoft = 77", " lead", "\"q\"", "\x7f",
                            "longer than the 31 bytes of a BIN file"}) {
    snapshot.units = units;
    EXPECT_THROW(write_bodies(folder / "a.tipsy", snapshot), UsageError) << units;
    EXPECT_EQ(folder.files(), 0);
  }
}

// --- files that must be rejected ---

class BadTipsy : public WithFolder, public testing::WithParamInterface<std::endian> {
 protected:
  std::string message(std::string_view content) {
    const auto file = folder.with("bad", content);
    return refusal(file).substr(file.string().size());
  }
  template <typename T>
  std::string with(std::size_t offset, T value) {
    std::string changed = good_;
    changed.replace(offset, sizeof(T), Bytes(GetParam()).add<T>({value}).text());
    return message(changed);
  }
  const std::string good_ = four_bodies(GetParam());
  const std::string prefix_ =
      std::string(": Tipsy, ") + (GetParam() == std::endian::big ? "big" : "little") + "-endian: ";
};
INSTANTIATE_TEST_SUITE_P(ByteOrders, BadTipsy,
                         testing::Values(std::endian::big, std::endian::little));

TEST_P(BadTipsy, CutAtEveryByte) {
  for (std::size_t size = 0; size < good_.size(); ++size)
    EXPECT_NE(refusal(folder.with("bad", good_.substr(0, size))), "accepted") << size;
  EXPECT_NE(message(good_ + "x"), "accepted");
  // A truncated file must not be accepted as raw bodies, even if it has a size that a raw file can
  // have.
  EXPECT_EQ(message(good_.substr(0, 168)),
            prefix_ +
                "168 bytes, but its header describes 1 gas, 2 dark and 1 star bodies, which take "
                "192 or 196");
}

TEST_P(BadTipsy, CountsThatLie) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(with<std::int32_t>(8, 5),
            prefix_ + "its header counts 5 bodies, but 1 gas, 2 dark and 1 star bodies");
  EXPECT_EQ(with<std::int32_t>(20, -2), prefix_ + "its header counts -2 dark bodies");
  EXPECT_EQ(with<std::int32_t>(16, most),
            prefix_ + "its header counts 4 bodies, but 2147483647 gas, 2 dark and 1 star bodies");
  std::string huge = good_;  // 2^31 - 1 dark bodies: valid in itself, but larger than the file
  huge.replace(8, 4, Bytes(GetParam()).add<std::int32_t>({most}).text());
  huge.replace(16, 12, Bytes(GetParam()).add<std::int32_t>({0, most, 0}).text());
  EXPECT_EQ(message(huge), prefix_ +
                               "196 bytes, but its header describes 0 gas, 2147483647 dark and 0 "
                               "star bodies, which take 77309411320 or 77309411324");
  // The total equals the sum of the three counts only if that sum wraps around in 32 bits.
  std::string wraps = good_;
  wraps.replace(8, 20, Bytes(GetParam()).add<std::int32_t>({-2, 3, most, most, 0}).text());
  EXPECT_TRUE(says(message(wraps), "its header counts -2 bodies"));
  std::string none = good_.substr(0, 32);
  none.replace(8, 20, Bytes(GetParam()).add<std::int32_t>({0, 3, 0, 0, 0}).text());
  EXPECT_EQ(message(none), " holds no bodies");
}

TEST_P(BadTipsy, HalfOfItInTheOtherByteOrder) {
  const std::endian other = GetParam() == std::endian::big ? std::endian::little : std::endian::big;
  EXPECT_NE(message(good_.substr(0, 16) + four_bodies(other).substr(16)), "accepted");
  EXPECT_NE(message(four_bodies(other).substr(0, 16) + good_.substr(16)), "accepted");
}

TEST_P(BadTipsy, Values) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(says(with(0, std::numeric_limits<double>::quiet_NaN()), "time in the header"));
  EXPECT_EQ(with(32, -1.0f), ": body 0: mass is -1; a mass must not be negative");
  EXPECT_EQ(with(32 + 48 + 4, infinity), ": body 1: x is inf; every value must be a finite number");
  EXPECT_TRUE(says(with(32 + 48 + 36 + 24, nan), ": body 2: vz is "));
  EXPECT_TRUE(says(with(32 + 48 + 28, nan), ": body 1: eps is "));
  EXPECT_EQ(with(32 + 48 + 72 + 36, -0.5f),
            ": body 3: eps is -0.5; a softening length must be finite and not negative");
}

TEST_P(BadTipsy, Float64Positions) {
  EXPECT_EQ(message(good_ + std::string(4 * 12, '\0')),
            prefix_ + "its positions are float64; only files of float32 can be read");
}

TEST_P(BadTipsy, NoiseIsReadOrRefusedButNothingElse) {
  std::mt19937 generator(5);
  int refused = 0;
  for (int k = 0; k < 300; ++k) {
    std::string noisy = good_;
    for (int n = 0; n <= k % 4; ++n)
      noisy[generator() % (k % 2 == 0 ? 32 : noisy.size())] = static_cast<char>(generator());
    refused += refusal(folder.with("noisy", noisy)) != "accepted";
  }
  EXPECT_GT(refused, 75);
  EXPECT_LT(refused, 300);  // a changed byte in a coordinate leaves the file valid
}

}  // namespace
}  // namespace nbody
