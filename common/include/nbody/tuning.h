// Shapes that ./nbody tune found to be faster on this device than the rule's choice (shape.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nbody {

// The shape to use for a problem, stored as its rank. The rule (shape.h) ranks all shapes, and rank
// 0 is the rule's own choice. If the rule or the set of shapes changes, `blocks` and `slots` show
// whether the rank still means the same shape.
struct TunedShape {
  int systems = 0;
  int bodies = 0;
  int rank = 0;
  std::optional<double> blocks = {}, slots = {};
};

struct ChosenShape {
  int rank = 0;
  int of = 0;  // number of shapes to choose from
  double blocks = 0, slots = 0;
  bool tuned = false;
};

// Tuning of this program on this device. step_main fills in the known shapes; the code that chooses
// a shape stores its choice here for the result record.
struct Tuning {
  std::string origin;  // "DEVICE, DATE"
  std::vector<TunedShape> shapes;
  std::optional<ChosenShape> chosen;
};
inline Tuning& tuning() {
  static Tuning tuning;
  return tuning;
}

// Returns the rank of the shape to use, among `count` shapes that the rule has ranked;
// cost_of(rank) returns .blocks and .slots.
template <class CostOf>
int choose_shape(int systems, int bodies, int count, const CostOf& cost_of) {
  Tuning& table = tuning();
  ChosenShape chosen{.of = count};
  for (const TunedShape& shape : table.shapes) {
    if (shape.systems != systems || shape.bodies != bodies || shape.rank >= count) continue;
    const auto cost = cost_of(shape.rank);
    if (shape.blocks.value_or(cost.blocks) != cost.blocks) continue;
    if (shape.slots.value_or(cost.slots) != cost.slots) continue;
    chosen.rank = shape.rank;
    chosen.tuned = true;
  }
  const auto cost = cost_of(chosen.rank);
  chosen.blocks = cost.blocks;
  chosen.slots = cost.slots;
  table.chosen = chosen;
  return chosen.rank;
}

}  // namespace nbody
