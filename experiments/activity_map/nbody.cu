// activity_map -- two-dimensional gravity with a map of where the bodies are: the optimisations of
// a report, one by one, and three variants of our own.
//
// A time step is three kernels: compute_force (forces.cuh), update_body and normalise_activity_map
// (map.cuh). The report optimised the first kernel, whose cost is proportional to N^2. With a large
// map and few bodies the D^2 cells cost more. normalise_once and touched_cells reduce that cost,
// and map_alone computes no forces at all.
#include <string>

#include "device_state.cuh"
#include "nbody/error.h"
#include "nbody/timeline.h"

namespace activity {
namespace {

using Force = void (*)(const DeviceState&);

template <Root root>
void structs_force(const DeviceState& s) {
  compute_force<root>
      <<<s.blocks(), s.block()>>>(s.structs(), s.force(), s.n(), s.softening_squared());
}
template <Root root>
void floats_force(const DeviceState& s) {
  compute_force_floats<root>
      <<<s.blocks(), s.block()>>>(s.structs(), s.force(), s.n(), s.softening_squared());
}
void constant_force(const DeviceState& s) {
  compute_force_constant<<<s.blocks(), s.block()>>>(s.structs(), s.force());
}
void columns_by_value(const DeviceState& s) {
  compute_force<Root::cubed>
      <<<s.blocks(), s.block()>>>(s.columns(), s.force(), s.n(), s.softening_squared());
}
template <class Column>
void columns_by_pointers(const DeviceState& s) {
  compute_force_pointers<Column>
      <<<s.blocks(), s.block()>>>(s.x(), s.y(), s.mass(), s.force(), s.n(), s.softening_squared());
}
template <class Pointer>
void columns_in_memory(const DeviceState& s) {
  compute_force_in_memory<Pointer>
      <<<s.blocks(), s.block()>>>(s.columns_in_memory(), s.force(), s.n(), s.softening_squared());
}
void shared_force(const DeviceState& s) {
  const size_t tile = static_cast<size_t>(s.block()) * sizeof(float3);
  compute_force_shared<<<s.blocks(), s.block(), tile>>>(s.x(), s.y(), s.mass(), s.force(), s.n(),
                                                        s.softening_squared());
}
void pairs_by_atomics(const DeviceState& s) {
  s.clear_force();
  compute_pairs_atomic<<<s.pair_grid(), s.pair_block()>>>(s.x(), s.y(), s.mass(), s.force(), s.n(),
                                                          s.softening_squared());
}
void pairs_by_matrix(const DeviceState& s) {
  compute_pairs<<<s.pair_grid(), s.pair_block()>>>(s.x(), s.y(), s.mass(), s.pairs(), s.n(),
                                                   s.softening_squared());
  const size_t threads = static_cast<size_t>(s.n()) * 32;
  sum_rows<<<blocks_for(threads, s.block()), s.block()>>>(s.pairs(), s.force(), s.n());
}
void no_force(const DeviceState&) {}

enum class Map { every_cell, unaliased, normalised_at_the_end, touched_cells };

struct Recipe {
  Rung rung;
  Force force;
  bool columns = false;
  Map map = Map::every_cell;
};

using ReadOnly = const float* __restrict__;
using ReadOnlyColumns = const Columns* __restrict__;

// README.md describes what each variant changes.
const Recipe kRecipes[] = {
    {{"one_thread", 1, CpuMode::one_thread}, nullptr},
    {{"openmp", 1, CpuMode::openmp}, nullptr},
    {{"power", 32}, structs_force<Root::power>},
    {{"baseline", 32}, structs_force<Root::division>},
    {{"block_256", 256}, structs_force<Root::division>},
    {{"floats", 256}, floats_force<Root::division>},
    {{"rsqrt_of_cube", 256}, structs_force<Root::of_the_cube>},
    {{"rsqrt", 256}, structs_force<Root::cubed>},
    {{"constant", 256}, constant_force},
    {{"columns_by_value", 256}, columns_by_value, true},
    {{"columns_by_pointers", 256}, columns_by_pointers<float*>, true},
    {{"columns_in_memory", 256}, columns_in_memory<const Columns*>, true},
    {{"read_only", 256}, columns_by_pointers<ReadOnly>, true},
    {{"read_only_in_memory", 256}, columns_in_memory<ReadOnlyColumns>, true},
    {{"unaliased", 256}, columns_by_pointers<ReadOnly>, true, Map::unaliased},
    {{"shared", 256}, shared_force, true},
    {{"pairs_atomic", 256}, pairs_by_atomics, true},
    {{"pairs_matrix", 256}, pairs_by_matrix, true},
    {{"normalise_once", 256}, shared_force, true, Map::normalised_at_the_end},
    {{"touched_cells", 256}, shared_force, true, Map::touched_cells},
    {{"map_alone", 256}, no_force, true},
};

const Recipe& recipe_of(const Rung& rung) {
  for (const Recipe& recipe : kRecipes) {
    if (recipe.rung.name == rung.name) return recipe;
  }
  throw nbody::UsageError("there is no variant " + std::string(rung.name));
}

template <class Bodies>
void run(const Recipe& recipe, const Problem& problem, const DeviceState& s, Bodies bodies) {
  for (int step = 0; step < problem.steps; ++step) {
    recipe.force(s);
    if (recipe.map == Map::touched_cells) {
      s.clear_cells_of(bodies);
    } else {
      s.clear_map();
    }
    if (recipe.map == Map::unaliased) {
      s.update_unaliased();
      s.normalise<float* __restrict__>();
      continue;
    }
    s.update(bodies);
    if (recipe.map == Map::every_cell || step == problem.steps - 1) s.normalise();
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

std::span<const Rung> rungs() {
  static const std::vector<Rung> all = [] {
    std::vector<Rung> result;
    for (const Recipe& recipe : kRecipes) result.push_back(recipe.rung);
    return result;
  }();
  return all;
}

Outcome simulate(const Rung& rung, int block, const Problem& problem,
                 const std::vector<Body2d>& bodies) {
  if (rung.mode != CpuMode::none) return simulate_on_cpu(rung.mode, problem, bodies);
  const Recipe& recipe = recipe_of(rung);
  const nbody::Stopwatch stopwatch;
  nbody::StageTimer timer;
  Outcome outcome;
  const DeviceState s(block, problem, bodies, recipe.force == pairs_by_matrix);
  timer.uploaded();
  if (recipe.columns) {
    run(recipe, problem, s, s.columns());
  } else {
    run(recipe, problem, s, s.structs());
  }
  timer.computed();
  s.download(recipe.columns, outcome);
  timer.downloaded();
  outcome.timing = timer.timing();
  outcome.timing.total = stopwatch.seconds();
  return outcome;
}

nbody::Platform platform() {
  nbody::FoundDevice device = nbody::query_device();
  device.flags = NBODY_FLAGS;  // this file's flags; those of query_device() may differ
  return nbody::platform_of(device);
}

}  // namespace activity
