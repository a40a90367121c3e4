// Chooses the bodies that a page shows if there are too many. Level 0 shows all bodies. Each
// further level shows one of every two bodies that the level before it shows, so level L shows one
// of every 2^L bodies. The choice depends only on the indices of the bodies, so all frames show the
// same bodies, and nothing flickers.
#pragma once

#include <cstddef>
#include <vector>

#include "nbody/bodies.h"

namespace nbody::view {

// At most this many bodies are sent (4 MiB per frame), but at least one body of each system.
inline constexpr int kMaxShownBodies = 1 << 18;

class Thinning {
 public:
  explicit Thinning(const Systems& systems);

  int level() const { return level_; }
  // Returns how many bodies one shown body stands for, 2^level.
  int every() const { return 1 << level_; }
  // Returns the indices of the shown bodies within a system, in ascending order. They are the same
  // in all systems.
  const std::vector<int>& bodies() const { return bodies_; }

 private:
  int level_ = 0;
  std::vector<int> bodies_;
};

}  // namespace nbody::view
