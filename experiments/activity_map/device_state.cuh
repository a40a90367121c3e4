// The data of a variant on the device, and the number of threads that the variant uses.
#pragma once

#include "forces.cuh"
#include "map.cuh"
#include "nbody/cuda.h"

namespace activity {

inline int blocks_for(size_t threads, int block) {
  return static_cast<int>((threads + static_cast<size_t>(block) - 1) / static_cast<size_t>(block));
}

using Member = float Body2d::*;
constexpr Member kMembers[] = {&Body2d::x, &Body2d::y, &Body2d::vx, &Body2d::vy, &Body2d::mass};

inline std::vector<float> values_of(const std::vector<Body2d>& bodies, Member member) {
  std::vector<float> values;
  for (const Body2d& body : bodies) values.push_back(body.*member);
  return values;
}

// All data on the device. The bodies are stored in both layouts; each variant uses one of
// them.
class DeviceState {
 public:
  DeviceState(int block, const Problem& problem, const std::vector<Body2d>& bodies, bool matrix)
      : block_(block),
        problem_(problem),
        n_(static_cast<int>(bodies.size())),
        cells_(static_cast<size_t>(problem.cells) * static_cast<size_t>(problem.cells)),
        factor_(1.0f / static_cast<float>(n_)),
        structs_memory_(bodies.size()),
        columns_struct_(1),
        force_(bodies.size()),
        map_(cells_) {
    nbody::upload(bodies, structs_memory_);
    for (const auto member : kMembers) {
      columns_memory_.emplace_back(bodies.size());
      nbody::upload(values_of(bodies, member), columns_memory_.back());
    }
    nbody::upload(std::vector<Columns>{columns()}, columns_struct_);
    if (matrix) pairs_ = nbody::DeviceArray<float2>(bodies.size() * bodies.size());
    CUDA_CHECK(cudaMemcpyToSymbol(constant_n, &n_, sizeof n_));
    CUDA_CHECK(
        cudaMemcpyToSymbol(constant_softening_squared, &problem_.softening_squared, sizeof(float)));
    CUDA_CHECK(cudaMemset(map_.get(), 0, map_.bytes()));
    CUDA_CHECK(cudaMemset(force_.get(), 0, force_.bytes()));
  }

  Structs structs() const { return {structs_memory_.get()}; }
  Columns columns() const { return {x(), y(), column(2), column(3), mass()}; }
  float* x() const { return column(0); }
  float* y() const { return column(1); }
  float* mass() const { return column(4); }
  Columns* columns_in_memory() const { return columns_struct_.get(); }
  float2* force() const { return force_.get(); }
  float2* pairs() const { return pairs_.get(); }
  int n() const { return n_; }
  int block() const { return block_; }
  int blocks() const { return blocks_for(static_cast<size_t>(n_), block_); }
  // A kernel with one thread per pair has blocks with 32 columns of threads.
  dim3 pair_block() const { return dim3(32, static_cast<unsigned>(block_ / 32)); }
  dim3 pair_grid() const {
    return dim3(static_cast<unsigned>(blocks_for(static_cast<size_t>(n_), 32)),
                static_cast<unsigned>(blocks_for(static_cast<size_t>(n_), block_ / 32)));
  }
  float softening_squared() const { return problem_.softening_squared; }

  void clear_force() const { CUDA_CHECK(cudaMemsetAsync(force_.get(), 0, force_.bytes())); }
  void clear_map() const { CUDA_CHECK(cudaMemsetAsync(map_.get(), 0, map_.bytes())); }
  template <class Map = float*>
  void normalise() const {
    normalise_activity_map<Map>
        <<<blocks_for(cells_, block_), block_>>>(map_.get(), cells_, factor_);
  }
  template <class Bodies>
  void clear_cells_of(Bodies bodies) const {
    clear_cells<<<blocks(), block_>>>(bodies, map_.get(), n_, problem_);
  }
  template <class Bodies>
  void update(Bodies bodies) const {
    update_body<<<blocks(), block_>>>(bodies, force(), map_.get(), n_, problem_);
  }
  void update_unaliased() const {
    update_body_unaliased<<<blocks(), block_>>>(x(), y(), column(2), column(3), force(), map_.get(),
                                                n_, problem_);
  }

  void download(bool as_columns, Outcome& outcome) const {
    outcome.map.resize(cells_);
    nbody::download(map_, outcome.map);
    outcome.bodies.resize(static_cast<size_t>(n_));
    if (!as_columns) return nbody::download(structs_memory_, outcome.bodies);
    std::vector<float> values(static_cast<size_t>(n_));
    for (size_t k = 0; k < columns_memory_.size(); ++k) {
      nbody::download(columns_memory_[k], values);
      for (size_t i = 0; i < values.size(); ++i) outcome.bodies[i].*kMembers[k] = values[i];
    }
  }

 private:
  float* column(size_t k) const { return columns_memory_[k].get(); }

  int block_;
  Problem problem_;
  int n_;
  size_t cells_;
  float factor_;
  nbody::DeviceArray<Body2d> structs_memory_;
  std::vector<nbody::DeviceArray<float>> columns_memory_;
  nbody::DeviceArray<Columns> columns_struct_;
  nbody::DeviceArray<float2> force_, pairs_;
  nbody::DeviceArray<float> map_;
};

}  // namespace activity
