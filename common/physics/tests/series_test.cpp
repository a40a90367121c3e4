#include "physics/validation/series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "physics/force_error.h"
#include "physics/reference.h"

namespace nbody {
namespace {

constexpr double kSquaredSoftening = 0.3 * 0.3;

double error_of_order(int order, const Vector3& x, const Vector3& d) {
  const Vector3 exact = acceleration_by_series(2, x + d, {}, kSquaredSoftening, 0);
  return length(acceleration_by_series(2, x, d, kSquaredSoftening, order) - exact);
}

TEST(Series, OfOrderZeroIsTheForceAtTheMiddle) {
  const Vector3 a = acceleration_by_series(2, {1, 2, 2}, {0.5, 0, 0}, 16, 0);
  EXPECT_NEAR(length(a - -2.0 / 125 * Vector3{1, 2, 2}), 0, 1e-16);
}

// The error of order n is proportional to the distance to the power n + 1.
TEST(Series, ErrsByTheFirstOmittedOrder) {
  const Vector3 x{0.6, -0.5, 0.7}, d{0.02, 0.03, -0.01};
  for (int order = 0; order <= 5; ++order) {
    const double ratio = error_of_order(order, x, d) / error_of_order(order, x, 0.5 * d);
    EXPECT_NEAR(ratio, std::exp2(order + 1), 0.1 * ratio) << order;
  }
  EXPECT_LT(error_of_order(40, x, d), 1e-15);
}

// Returns a step that expands the field of all masses, which are at two points, around the middle
// of every `size` bodies, but at most of a third of all bodies. The last order counts `weight`
// times.
Advance<float> expanding(int size, int order, double weight) {
  return [=](Systems& systems, double dt, int) {
    const auto of_group = static_cast<std::size_t>(std::min(size, systems.bodies_per_system / 3));
    for (int s = 0; s < systems.count; ++s) {
      const auto bodies = systems.system(s);
      std::vector<Vector3> sources;  // the masses are equal
      double mass = 0;
      for (const Body& b : bodies) {
        if (b.mass > 0 && sources.size() < 2) sources.push_back(position(b));
        mass += b.mass;
      }
      const Vector3 centre = 0.5 * (sources[0] + sources[1]);
      for (std::size_t begin = 0; begin < bodies.size(); begin += of_group) {
        const auto group = bodies.subspan(begin, of_group);
        const Vector3 middle = 0.5 * (position(group.front()) + position(group.back()));
        for (Body& b : group) {
          const auto of_order = [&](int highest) {
            Vector3 sum{};
            for (const Vector3& source : sources)
              sum += acceleration_by_series(mass / 2, middle - centre,
                                            position(b) - middle - (source - centre),
                                            kSquaredSoftening, highest);
            return sum;
          };
          const Vector3 a = (1 - weight) * of_order(order - 1) + weight * of_order(order);
          b.vx = static_cast<float>(dt * a.x);
          b.vy = static_cast<float>(dt * a.y);
          b.vz = static_cast<float>(dt * a.z);
        }
      }
    }
  };
}

TEST(SeriesCheck, PassesSeriesOfGroupsOfAnySize) {
  for (int order = 2; order <= 5; ++order) {
    for (const int size : {16, 32, 64, 128, 256}) {
      const Check check =
          series_check({.order = order}, kSquaredSoftening, expanding(size, order, 1));
      EXPECT_LT(check.value, 1e-6) << order << ' ' << size;
      EXPECT_EQ(check.open.empty(), size > 32) << order << ' ' << size << ' ' << check.open;
    }
    // A step without larger groups need not expand a field for one.
    EXPECT_TRUE(series_check({.order = order}, kSquaredSoftening, expanding(32, order, 1), 32)
                    .open.empty());
  }
}

TEST(SeriesCheck, FailsIfTheLastOrderIsWrongByAHundredth) {
  for (int order = 2; order <= 5; ++order) {
    EXPECT_TRUE(
        series_check({.order = order}, kSquaredSoftening, expanding(256, order, 0.99)).failed());
    EXPECT_TRUE(
        series_check({.order = order}, kSquaredSoftening, expanding(256, order - 1, 1)).failed());
  }
}

TEST(SeriesCheck, PassesADirectSumButSaysThatItHasNoSeries) {
  const Advance<float> direct = [](Systems& systems, double dt, int steps) {
    SystemsF64 wide(systems.count, systems.bodies_per_system);
    std::transform(systems.bodies.begin(), systems.bodies.end(), wide.bodies.begin(), widened);
    advance(wide, dt, steps, kSquaredSoftening);
    std::transform(wide.bodies.begin(), wide.bodies.end(), systems.bodies.begin(), rounded);
  };
  const Check check = series_check({.order = 3}, kSquaredSoftening, direct);
  EXPECT_FALSE(check.failed());
  EXPECT_EQ(check.open,
            "no series for groups of 32 bodies in 6 of 6 systems, "
            "no series for groups of 256 bodies in 6 of 6 systems");
}

TEST(SeriesCheck, FailsForNaN) {
  const Advance<float> none = [](Systems& systems, double, int) { systems.system(1)[3].vy = NAN; };
  EXPECT_TRUE(series_check({.order = 3}, 0, none).failed());
}

TEST(BySeries, NeedsAnOrderAndAnAngle) {
  EXPECT_FALSE(by_series({.theta = 1, .force_tolerance = 0.01f}));
  EXPECT_FALSE(by_series({.theta = 0, .force_tolerance = 0.01f, .order = 3}));
  EXPECT_EQ(by_series({.theta = 0.1f, .force_tolerance = 1e-6f, .order = 3})->theta, 1);
}

}  // namespace
}  // namespace nbody
