// plan_numbers BODIES TILE RANKS... prints the work of each rank in step 14's plan, for
// model_test.py.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "nbody/cuda.h"
#include "step14_cluster/plan.h"

int main(int argc, char** argv) {
  nbody::ranks().asked = nbody::Distribution::bodies;
  const int bodies = std::atoi(argv[1]), tile = std::atoi(argv[2]);
  for (int k = 3; k < argc; ++k) {
    const plan::Plan plan(1, bodies, tile, std::atoi(argv[k]));
    std::vector<long> work(plan.ranks);
    long all_work = 0;
    for (const auto& [row, column, rank] : plan.meetings) {
      const long a = plan.tiles_in(row), b = plan.tiles_in(column);
      const long tiles = row == column ? a * (a + 1) / 2 : a * b;
      work.at(rank) += tiles;
      all_work += tiles;
    }
    size_t sums = 0;
    for (int rank = 0; rank < plan.ranks; ++rank) {
      const plan::Slots slots(plan, rank);
      std::vector<nbody::Message> sent, received;
      slots.add_messages(nullptr, plan.segment, rank, sent, received);
      size_t bytes = 0;
      for (const nbody::Message& message : received) bytes += message.bytes;
      sums = std::max(sums, bytes);
    }
    // In an all_gather, all parts have the same size, and each rank receives the parts of all other
    // ranks (share.h).
    const size_t part = sizeof(float4) * plan.kept * plan.segment;
    std::printf("%d %zu %zu %ld %ld\n", plan.ranks, (plan.ranks - 1) * part, sums,
                *std::ranges::max_element(work), all_work);
  }
}
