// Compares every kind of sum with float64, for full and for partial blocks and tiles, and tests the
// comparison itself.
#include "production_sums.h"

#include "experiments/on_a_device.h"
#include "scenarios/initial_conditions.h"

namespace production {
namespace {

constexpr double kSoftening = 0.05;

std::vector<nbody::Body> plummer(int n) {
  return nbody::make_scenario(nbody::find_scenario("plummer"), {1, n, 5, kSoftening})
      .systems.bodies;
}

using ProductionSums = experiments::OnADevice<platform>;

TEST_F(ProductionSums, AreThoseOfFloat64) {
  for (const Kind& kind : all_kinds()) {
    for (const int n : {2, 255, 256, 257, 1030}) {
      const auto bodies = plummer(n);
      const Pass pass = sum(kind, bodies, kSoftening, 1, 2);
      EXPECT_EQ(pass.seconds.size(), 2u);
      const Errors found = errors(kind, bodies, kSoftening, pass.sums, n);
      EXPECT_LE(found.acceleration, 1e-6) << kind.name << ", " << n;
      EXPECT_LE(found.jerk, 1e-6) << kind.name << ", " << n;
      EXPECT_LE(found.potential, 1e-6) << kind.name << ", " << n;
      EXPECT_EQ(pass.sums.jerk.size(), kind.jerk ? bodies.size() : 0) << kind.name;
      EXPECT_EQ(pass.sums.potential.size(), kind.potential ? bodies.size() : 0) << kind.name;
    }
  }
}

TEST_F(ProductionSums, WrongOnesAreFound) {
  const auto bodies = plummer(300);
  const Kind& kind = all_kinds().back();
  const Sums right = sum(kind, bodies, kSoftening, 0, 1).sums;
  for (const std::size_t i : {std::size_t{0}, std::size_t{299}}) {
    Sums wrong = right;
    wrong.acceleration[i].x += 1;
    wrong.jerk[i].y += 1;
    wrong.potential[i] += 1;
    const Errors found = errors(kind, bodies, kSoftening, wrong, 100);
    EXPECT_GE(found.acceleration, 1e-3);
    EXPECT_GE(found.jerk, 1e-3);
    EXPECT_GE(found.potential, 1e-3);
  }
}

}  // namespace
}  // namespace production
