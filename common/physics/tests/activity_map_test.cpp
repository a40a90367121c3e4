#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "io/activity_map_file.h"
#include "support/tests/temporary_folder.h"

namespace nbody {
namespace {

struct ActivityFiles : WithFolder {};

Systems bodies_at(const std::vector<std::pair<float, float>>& points) {
  Systems systems(1, static_cast<int>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    systems.bodies[i].x = points[i].first;
    systems.bodies[i].y = points[i].second;
    systems.bodies[i].z = 1e9f;  // the map ignores z
  }
  return systems;
}

std::uint64_t total(const ActivityMap& map) {
  return std::accumulate(map.counts().begin(), map.counts().end(), std::uint64_t{0});
}

TEST(ActivityMap, CountsXAlongColumnsAndYAlongRows) {
  ActivityMap map(4, 2.0f);  // cells have sides of length 1
  map.add(bodies_at({{-1.5f, 0.5f}}));
  EXPECT_EQ(map.count(0, 2), 1u);
  EXPECT_EQ(total(map), 1u);
}

TEST(ActivityMap, ACellHasItsLowerEdgeAndNotItsUpper) {
  ActivityMap map(4, 2.0f);
  const float below_zero = -std::numeric_limits<float>::epsilon();
  map.add(bodies_at({{-2, -2}, {0, 0}, {below_zero, below_zero}, {1.9999998f, 1.9999998f}}));
  EXPECT_EQ(map.count(0, 0), 1u);
  EXPECT_EQ(map.count(2, 2), 1u);
  EXPECT_EQ(map.count(1, 1), 1u);
  EXPECT_EQ(map.count(3, 3), 1u);
}

TEST(ActivityMap, BodiesOutsideAreInNoCellButInTheSum) {
  ActivityMap map(2, 1.0f);
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  map.add(bodies_at({{1, 0},
                     {0, 1},
                     {-1.0000001f, 0},
                     {0, -1.0000001f},
                     {1e30f, 0},
                     {nan, 0},
                     {0, nan},
                     {-infinity, infinity},
                     {0.5f, 0.5f},
                     {0.5f, -0.5f}}));
  EXPECT_EQ(total(map), 2u);
  EXPECT_EQ(map.positions(), 10u);
  EXPECT_DOUBLE_EQ(map.share(1, 1), 0.1);
  EXPECT_DOUBLE_EQ(map.share(1, 0), 0.1);
}

TEST(ActivityMap, AddsUpStatesAndSystems) {
  ActivityMap map(3, 1.5f);
  Systems systems(2, 1);
  systems.bodies[1].x = 1;
  map.add(systems);
  map.add(systems);
  EXPECT_EQ(map.count(1, 1), 2u);
  EXPECT_EQ(map.count(2, 1), 2u);
  EXPECT_DOUBLE_EQ(map.share(2, 1), 0.5);
}

// Compares the counts with the definition: a cell holds the bodies between its edges.
TEST(ActivityMap, AgreesWithTheEdgesOfItsCells) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<float> anywhere(-1.2f, 1.2f);
  std::vector<std::pair<float, float>> points(2000);
  for (auto& [x, y] : points) x = anywhere(generator), y = anywhere(generator);
  for (const int cells : {1, 2, 7, 64}) {
    ActivityMap map(cells, 1.0f);
    map.add(bodies_at(points));
    const double side = 2.0 / cells;
    for (int row = 0; row < cells; ++row) {
      for (int column = 0; column < cells; ++column) {
        const double left = -1 + side * column, bottom = -1 + side * row;
        const auto inside = std::count_if(points.begin(), points.end(), [&](const auto& point) {
          return point.first >= left && point.first < left + side && point.second >= bottom &&
                 point.second < bottom + side;
        });
        ASSERT_EQ(map.count(column, row), static_cast<std::uint64_t>(inside))
            << column << ' ' << row << " of " << cells;
      }
    }
  }
}

TEST(ActivityExtent, HoldsTheBodiesButForAFewThatAreFarOut) {
  EXPECT_FLOAT_EQ(activity_extent(bodies_at({{1, -3}, {2, 0}})), 3.3f);
  std::vector<std::pair<float, float>> points(100, {0.0f, 2.0f});
  for (std::size_t i = 0; i < 5; ++i) points[i] = {500.0f, 0.0f};
  EXPECT_FLOAT_EQ(activity_extent(bodies_at(points)), 2.2f);
  points[5] = {0.0f, -500.0f};
  EXPECT_FLOAT_EQ(activity_extent(bodies_at(points)), 550.0f);
  EXPECT_EQ(activity_extent(bodies_at({{0, 0}})), 1.0f);
}

TEST_F(ActivityFiles, ShowTheHighestYFirst) {
  ActivityMap map(2, 1.0f);
  map.add(bodies_at({{-0.5f, 0.5f}, {-0.5f, 0.5f}, {-0.5f, 0.5f}, {0.5f, -0.5f}}));
  write_activity_map(folder / "map", map);
  EXPECT_EQ(folder.content("map.csv"),
            "# share of all positions in each cell; first line: highest y, first value: lowest x\n"
            "# cells=2\n# extent=1\n# positions=4\n0.75,0\n0,0.25\n");
  // Grey values are logarithmic, so the cell with one body has half the value of the cell with
  // three.
  EXPECT_EQ(folder.content("map.pgm"), std::string("P5\n2 2\n255\n\xff\0\0\x80", 15));
  EXPECT_EQ(folder.files(), 2);
}

TEST_F(ActivityFiles, OfNoBodiesAreBlack) {
  write_activity_map(folder / "map", ActivityMap(1, 1.0f));
  EXPECT_EQ(folder.content("map.pgm"), std::string("P5\n1 1\n255\n\0", 12));
}

}  // namespace
}  // namespace nbody
