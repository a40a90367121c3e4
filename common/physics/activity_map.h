// A map of where the bodies are or have been: a histogram of their x-y positions in D x D cells
// over the square -extent <= x, y < extent. The map ignores z, so it treats two- and
// three-dimensional systems alike. One map counts the bodies of all systems; a body outside the
// square is not counted in any cell.
#pragma once

#include <cstdint>
#include <vector>

#include "nbody/bodies.h"

namespace nbody {

inline constexpr int kMaxActivityCells = 8192;  // per side; all counts then take 512 MiB

class ActivityMap {
 public:
  ActivityMap(int cells, float extent);
  // Continues from earlier counts, one per cell, row by row.
  ActivityMap(int cells, float extent, std::uint64_t positions, std::vector<std::uint64_t> counts);

  // Counts every body once. Cells are computed in float32, as on a device, so the same state gives
  // the same counts everywhere.
  void add(const Systems& systems);

  int cells() const { return cells_; }
  float extent() const { return extent_; }
  // Column 0 has the lowest x, row 0 the lowest y.
  std::uint64_t count(int column, int row) const { return counts_[index(column, row)]; }
  const std::vector<std::uint64_t>& counts() const { return counts_; }  // row by row
  // Number of bodies counted, including those outside the square. Shares are fractions of this
  // number.
  std::uint64_t positions() const { return positions_; }
  // Returns the fraction of all positions that are in this cell. The sum over all cells is the
  // fraction of the positions that are in the square.
  double share(int column, int row) const;

 private:
  std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(cells_) +
           static_cast<std::size_t>(column);
  }

  int cells_;
  float extent_;
  std::uint64_t positions_ = 0;
  std::vector<std::uint64_t> counts_;
};

// Returns an extent that shows these systems: 1.1 times the half width of the smallest square
// around the origin that holds 95 % of their bodies. If the square held all bodies, a few distant
// bodies would shrink the rest to a dot.
float activity_extent(const Systems& systems);

}  // namespace nbody
