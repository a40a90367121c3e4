// Compares the presets with independent constants, and converts units there and back.
#include "io/units.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tests/said.h"

namespace nbody {
namespace {

constexpr double kDay = 86400;

TEST(Units, PresetsAreWhatTheHeaderSays) {
  const Units solar = *units_of("au-msun-yr2pi");
  // 0.01720209895 is Gauss's constant, which defined the astronomical unit for a century.
  EXPECT_NEAR(solar.time() / kDay * 0.01720209895, 1, 3e-10);
  EXPECT_NEAR(solar.velocity() / 1e3, 29.7846918, 1e-7);  // the mean speed of the Earth

  // Galactic dynamics uses G = 4.30091e-6 kpc (km/s)^2 / Msun, a value of six digits.
  const Units galaxy = *units_of("kpc-msun");
  EXPECT_NEAR(galaxy.velocity() / 1e3, std::sqrt(4.30091e-6), 1e-6 * std::sqrt(4.30091e-6));
  EXPECT_NEAR(galaxy.time() / (365.25e9 * kDay), 471.482995, 1e-6);

  const Units round = *units_of("kpc-100kms");
  EXPECT_DOUBLE_EQ(round.velocity(), 1e5);
  EXPECT_NEAR(round.msun(), 2.32508541e9, 2);
  EXPECT_NEAR(round.time() / (365.25e6 * kDay), 9.77792222, 1e-8);
  EXPECT_DOUBLE_EQ(kKpc, 3.0856775814913673e19);  // IAU 2015

  EXPECT_FALSE(units_of("henon"));
  EXPECT_EQ(unit_presets(), "henon, au-msun-yr2pi, kpc-msun, kpc-100kms");
}

TEST(Units, InEveryPresetGIsOne) {
  for (const char* name : {"au-msun-yr2pi", "kpc-msun", "kpc-100kms", "25000 kpc, 2.31e15 Msun"}) {
    const Units u = *units_of(name);
    EXPECT_NEAR(u.mass_gm / (u.length * u.velocity() * u.velocity()), 1, 1e-15) << name;
    EXPECT_NEAR(u.length / u.time() / u.velocity(), 1, 1e-15) << name;
  }
}

TEST(Units, TextsOfOtherFiles) {
  EXPECT_EQ(units_of("AU, Msun, yr/2pi")->length, kAu);  // data/solar_system_j2000.csv
  EXPECT_DOUBLE_EQ(units_of("2.5 kpc, 1e10 Msun")->kpc(), 2.5);
  EXPECT_DOUBLE_EQ(units_of("2.5 kpc, 1e10 Msun")->msun(), 1e10);
  for (const char* text :
       {"", "kpc", "G = 1", "1 kpc", "1 kpc, 1 Msun ", "-1 kpc, 1 Msun", "0 kpc, 1 Msun",
        "1e100 kpc, 1 Msun", "nan kpc, 1 Msun", "1 kpc, inf Msun"})
    EXPECT_FALSE(units_of(text)) << text;

  EXPECT_EQ(units_text(1, 1), "kpc-msun");
  EXPECT_EQ(units_text(1, 2325085411.3535757), "kpc-100kms");
  EXPECT_EQ(units_text(1, 2.32503e9), "1 kpc, 2325030000 Msun");
  const std::string longest = units_text(1.23456789e-10, 1.23456789e-10);
  EXPECT_LE(longest.size(), kMaxTextBytes);
  EXPECT_NEAR(units_of(longest)->kpc(), 1.23456789e-10, 1e-14);
}

Snapshot earth() {
  Snapshot snapshot{.systems = Systems(1, 2)};
  snapshot.systems.bodies[0].mass = 1;
  snapshot.systems.bodies[1] = {1, 0, 0, 0, 1, 0, 3.0034896e-6f};
  snapshot.units = "au-msun-yr2pi";
  snapshot.time = 1;
  snapshot.dt = 0.25;
  snapshot.softening = 0.5;
  return snapshot;
}

TEST(Units, ConversionIsPhysics) {
  Snapshot snapshot = earth();
  convert_units("a", snapshot, "kpc-100kms");
  const Body& body = snapshot.systems.bodies[1];
  EXPECT_EQ(snapshot.units, "kpc-100kms");
  EXPECT_NEAR(body.x * kKpc / kAu, 1, 1e-7);
  EXPECT_NEAR(body.vy, 0.297846918, 1e-7);
  EXPECT_NEAR(snapshot.systems.bodies[0].mass * 2.32508541e9, 1, 1e-7);
  EXPECT_NEAR(snapshot.time * 9.77792222e6 * 365.25, 58.1324409, 1e-6);
  EXPECT_NEAR(snapshot.dt / snapshot.time, 0.25, 1e-15);
  EXPECT_NEAR(snapshot.softening / body.x, 0.5, 1e-7);
  convert_units("a", snapshot, "au-msun-yr2pi");
  EXPECT_NEAR(snapshot.systems.bodies[1].x, 1, 2e-7);
  EXPECT_NEAR(snapshot.systems.bodies[1].vy, 1, 2e-7);
  EXPECT_NEAR(snapshot.time, 1, 1e-14);
}

TEST(Units, Float64IsConvertedInFloat64) {
  Snapshot snapshot = earth();
  snapshot.exact = {widened(snapshot.systems.bodies[0]), widened(snapshot.systems.bodies[1])};
  snapshot.exact[1].x = 1 + 1e-12;
  convert_units("a", snapshot, "kpc-msun");
  convert_units("a", snapshot, "au-msun-yr2pi");
  EXPECT_NEAR(snapshot.exact[1].x - 1, 1e-12, 1e-15);
  EXPECT_EQ(snapshot.systems.bodies[1].x, static_cast<float>(snapshot.exact[1].x));
}

std::string complaint(Snapshot snapshot, const std::string& preset) {
  return refusal_of([&] { convert_units("a.csv", snapshot, preset); });
}

TEST(Units, WithoutSizeAreNotConverted) {
  Snapshot snapshot = earth();
  EXPECT_EQ(complaint(snapshot, "henon"),
            "a.csv: cannot be converted to henon units, which have no physical scale");
  snapshot.units = "Henon units";
  EXPECT_EQ(complaint(snapshot, "kpc-msun"),
            "a.csv: its units are \"Henon units\", which have no physical scale; they cannot "
            "be converted to kpc-msun");
  EXPECT_EQ(complaint(snapshot, "henon"), "accepted");
  snapshot.units = "";
  EXPECT_EQ(complaint(snapshot, "kpc-msun"),
            "a.csv: its units are not known; they cannot be converted to kpc-msun");
}

TEST(Units, ValuesMustFitAFloat32) {
  Snapshot snapshot = earth();
  snapshot.units = "1e30 kpc, 1 Msun";
  snapshot.systems.bodies[1].x = 1e20f;
  EXPECT_EQ(complaint(snapshot, "au-msun-yr2pi"),
            "a.csv in other units: body 1: x is inf; every value must be a finite number");
  snapshot = earth();
  snapshot.systems.bodies[1].mass = 1e-40f;
  EXPECT_EQ(complaint(snapshot, "kpc-100kms"),
            "a.csv in other units: body 1: its mass is too small for a float32");
  snapshot = earth();
  snapshot.units = "1e30 kpc, 1 Msun";
  snapshot.systems.bodies[1] = {};
  snapshot.time = 1e300;
  EXPECT_EQ(complaint(snapshot, "au-msun-yr2pi"),
            "a.csv in other units: its time, time step or softening overflows");
}

}  // namespace
}  // namespace nbody
