#include "nbody/hilbert.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>

namespace nbody {
namespace {

// Returns the cells of a cube, ordered by key. The cube's edge has `edge` cells, and its lowest
// corner is cell (x, y, z).
std::map<CurveKey, std::array<int, 3>> cube(int edge, int x, int y, int z) {
  std::map<CurveKey, std::array<int, 3>> cells;
  for (int i = 0; i < edge * edge * edge; ++i) {
    const std::array<int, 3> cell{x + i % edge, y + i / edge % edge, z + i / edge / edge};
    cells[hilbert_key(static_cast<unsigned>(cell[0]), static_cast<unsigned>(cell[1]),
                      static_cast<unsigned>(cell[2]))] = cell;
  }
  return cells;
}

// Checks that the keys in a cube are consecutive, and that cells with consecutive keys share a
// face.
void expect_a_path(int edge, int x, int y, int z) {
  const auto cells = cube(edge, x, y, z);
  ASSERT_EQ(cells.size(), static_cast<std::size_t>(edge * edge * edge));
  EXPECT_EQ(cells.rbegin()->first - cells.begin()->first, cells.size() - 1);
  auto before = cells.begin()->second;
  for (auto it = std::next(cells.begin()); it != cells.end(); before = it++->second) {
    int apart = 0;
    for (int k = 0; k < 3; ++k)
      apart +=
          std::abs(it->second[static_cast<std::size_t>(k)] - before[static_cast<std::size_t>(k)]);
    ASSERT_EQ(apart, 1) << "key " << it->first;
  }
}

TEST(Hilbert, GoesFromCellToNeighbouringCell) {
  expect_a_path(32, 0, 0, 0);
  expect_a_path(16, 16, 32, 48);
  const int last = 1 << kCoordinateBits;
  expect_a_path(8, last - 8, last - 8, last - 8);
  expect_a_path(8, last / 2 - 8, last / 2, 0);
}

// Checks the places where the curve enters the next eighth of the whole cube. There the highest
// bits of the keys change.
TEST(Hilbert, GoesThroughTheLargestPartsInTheSameWay) {
  const unsigned half = 1u << (kCoordinateBits - 1);
  std::map<CurveKey, unsigned> parts;
  for (unsigned part = 0; part < 8; ++part)
    parts[hilbert_key((part & 1) * half, (part >> 1 & 1) * half, (part >> 2) * half) >>
          (3 * (kCoordinateBits - 1))] = part;
  ASSERT_EQ(parts.size(), 8u);
  EXPECT_EQ(parts.begin()->first, 0u);
  EXPECT_EQ(parts.rbegin()->first, 7u);
  for (auto it = parts.begin(), next = std::next(it); next != parts.end(); it = next++)
    EXPECT_EQ(__builtin_popcount(it->second ^ next->second), 1);
}

TEST(Hilbert, PositionsOutsideAreInACellAtTheSide) {
  const Box box{{-1, -1, 0}, {1, 1, 1}};  // cells have an edge of 2^-20
  const unsigned last = (1u << kCoordinateBits) - 1;
  const float cell = 0x1p-20f;
  EXPECT_EQ(hilbert_key({-1 + 3.5f * cell, -1, 9.9f * cell}, box), hilbert_key(3, 0, 9));
  EXPECT_EQ(hilbert_key({-7, NAN, INFINITY}, box), hilbert_key(0, 0, last));
  EXPECT_EQ(hilbert_key({3, 3, 3}, {{3, 3, 3}, {3, 3, 3}}), hilbert_key(0, 0, 0));
}

}  // namespace
}  // namespace nbody
