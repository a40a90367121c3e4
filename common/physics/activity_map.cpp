#include "physics/activity_map.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nbody {

ActivityMap::ActivityMap(int cells, float extent)
    : cells_(cells),
      extent_(extent),
      counts_(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells)) {}

ActivityMap::ActivityMap(int cells, float extent, std::uint64_t positions,
                         std::vector<std::uint64_t> counts)
    : cells_(cells), extent_(extent), positions_(positions), counts_(std::move(counts)) {}

void ActivityMap::add(const Systems& systems) {
  const auto cells = static_cast<float>(cells_);
  const float per_length = cells / (2 * extent_);
  for (const Body& body : systems.bodies) {
    const float column = std::floor((body.x + extent_) * per_length);
    const float row = std::floor((body.y + extent_) * per_length);
    // Compares cell coordinates as floats, because they may be NaN or too large for an int.
    if (column >= 0 && column < cells && row >= 0 && row < cells) {
      ++counts_[index(static_cast<int>(column), static_cast<int>(row))];
    }
  }
  positions_ += systems.bodies.size();
}

double ActivityMap::share(int column, int row) const {
  return positions_ == 0
             ? 0
             : static_cast<double>(count(column, row)) / static_cast<double>(positions_);
}

float activity_extent(const Systems& systems) {
  std::vector<float> distances;
  for (const Body& body : systems.bodies) {
    distances.push_back(std::max(std::abs(body.x), std::abs(body.y)));
  }
  if (distances.empty()) return 1;
  // The index of the outermost body among the innermost 95 % of all bodies, rounded up.
  const auto last = static_cast<std::ptrdiff_t>((distances.size() * 95 + 99) / 100 - 1);
  std::nth_element(distances.begin(), distances.begin() + last, distances.end());
  const float half_width = distances[static_cast<std::size_t>(last)];
  return half_width > 0 ? 1.1f * half_width : 1;
}

}  // namespace nbody
