// Shapes that ./nbody tune found to be faster on this device than the one of the rule in shape.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nbody {

// Which shape to take for a problem: its rank in the order of the rule, whose own has rank 0. The
// rule and its shapes may change; by its blocks and slots a shape is known again.
struct TunedShape {
  int systems = 0;
  int bodies = 0;
  int rank = 0;
  std::optional<double> blocks = {}, slots = {};
};

struct ChosenShape {
  int rank = 0;
  int of = 0;  // so many there are
  double blocks = 0, slots = 0;
  bool tuned = false;
};

// Of this program on this device. step_main fills in what is known; whoever chooses a shape leaves
// the choice for the record.
struct Tuning {
  std::string origin;  // "DEVICE, DATE"
  std::vector<TunedShape> shapes;
  std::optional<ChosenShape> chosen;
};
inline Tuning& tuning() {
  static Tuning tuning;
  return tuning;
}

// Of shapes in the order of the rule, the rank of the one to take; cost_of(rank) has .blocks and
// .slots.
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
